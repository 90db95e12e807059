# SPDX-License-Identifier: GPL-3.0-or-later
"""Grab: takes a place of a body that runs live, and pulls it in the plane of the view."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ...solver.runtime.errors import BadInput
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..live import grabs, pen_pressure
from ..live.brushes import PUSH
from . import tool_cursor
from .body_under_mouse import body_under
from .error_reporting import reporting_errors
from .radial_control_keys import radial_control_keys

POINT = "Radius (Point)"  # what is grabbed without a radius
PIN_PIXELS = 15.0  # from a pin, within which it is taken again
RADIUS_STEP = 1.2  # per click of the wheel
FIRST_RADIUS_SHARE = 0.1  # of the size of the body, for a wheel that is turned from nothing
WHEEL = {"WHEELUPMOUSE": RADIUS_STEP, "WHEELDOWNMOUSE": 1.0 / RADIUS_STEP}


class SINEW_OT_grab(bpy.types.Operator):
    """Pull a place of a body that runs live. Shift pins it, a pin can be taken again, Ctrl pushes. Wheel: radius"""

    bl_idname = "sinew.grab"
    bl_label = "Grab"
    bl_options: set[str] = set()  # no undo step: the file is not changed

    _run: LiveRun | None = None
    _number = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """In a 3D view."""
        return context.area is not None and context.area.type == "VIEW_3D" and context.region_data is not None

    @reporting_errors
    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Takes what is under the mouse, or with Ctrl pushes it."""
        if event.ctrl:
            bpy.ops.sinew.brush("INVOKE_DEFAULT", kind=PUSH)
            return {"FINISHED"}
        run = session.live
        if run is None or not run.is_moving:
            raise BadInput("live-not-running")
        mouse = (event.mouse_region_x, event.mouse_region_y)
        number = _pin_under(context, run, mouse) or _take_under(context, run, event)
        if number is None:
            return missed(event)
        self._run, self._number = run, number
        make_active(context, run, run.grabs[number].body)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Pulls, until the button is let go."""
        run = self._run
        grab = None if run is None else run.grabs.get(self._number)
        if run is None or grab is None or session.live is not run:
            return {"CANCELLED"}
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            mouse = (event.mouse_region_x, event.mouse_region_y)
            place = view3d_utils.region_2d_to_location_3d(*_view(context), mouse, Vector(grab.hand))
            grabs.move(run, self._number, np.array(place, np.float64), _strength(context, event))
            context.area.tag_redraw()
            return {"RUNNING_MODAL"}
        if event.type in WHEEL:
            _turn_radius(context, run, self._number, WHEEL[event.type])
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE" and event.shift:
            grab.is_pin = True
            return {"FINISHED"}
        if event.type in {"LEFTMOUSE", "RIGHTMOUSE", "ESC"} and (event.type != "LEFTMOUSE" or event.value == "RELEASE"):
            grabs.release(run, self._number)
            return {"FINISHED"}
        return {"PASS_THROUGH"}


def _view(context: bpy.types.Context) -> tuple[bpy.types.Region, bpy.types.RegionView3D]:
    return context.region, context.region_data


def _pin_under(context: bpy.types.Context, run: LiveRun, mouse: tuple[int, int]) -> int | None:
    """Returns the number of the pin that is under the mouse, or None."""
    for number, grab in run.grabs.items():
        at = view3d_utils.location_3d_to_region_2d(*_view(context), Vector(grab.hand))
        if at is not None and (at - Vector(mouse)).length <= PIN_PIXELS:
            grab.is_pin = False
            return number
    return None


def _strength(context: bpy.types.Context, event: bpy.types.Event) -> float:
    return float(context.scene.sinew.grab_strength) * pen_pressure.pressure(event)


def _take_under(context: bpy.types.Context, run: LiveRun, event: bpy.types.Event) -> int | None:
    """Takes the place of a body under the mouse, and returns the number of the grab; None: there is no body."""
    found = body_under(context, run, (event.mouse_region_x, event.mouse_region_y))
    radius = context.scene.sinew.grab_radius
    return None if found is None else grabs.take(run, found.key, found.place, radius, _strength(context, event))


def make_active(context: bpy.types.Context, run: LiveRun, key: str) -> None:
    """Makes a body that is handled the active object, so that its settings are in the panels.

    What is selected stays, since Keep Shape and Keep as Start are about that. So does the mode: in another than Object
    Mode, the active object is the one that is in it.
    """
    obj = run.bodies[key].find()
    if obj is not None and context.mode == "OBJECT" and obj.name in context.view_layer.objects:
        context.view_layer.objects.active = obj


def missed(event: bpy.types.Event) -> set[str]:
    """Returns what an operator of a tool returns where no body of the run is under the mouse.

    A press goes on to Blender, which selects with a click. A drag does not: Object Mode would move what is selected.
    """
    return {"CANCELLED"} if event.value == "CLICK_DRAG" else {"CANCELLED", "PASS_THROUGH"}


def left_button_keys(operator: str, **properties: str) -> tuple[tuple[Any, ...], ...]:
    """Returns the keys of a tool whose operator begins with the left button, and takes drags beside bodies too."""
    given = {"properties": list(properties.items())}
    return tuple((operator, {"type": "LEFTMOUSE", "value": v, "any": True}, given) for v in ("PRESS", "CLICK_DRAG"))


def _turn_radius(context: bpy.types.Context, run: LiveRun, number: int, factor: float) -> None:
    own, obj = context.scene.sinew, run.bodies[run.grabs[number].body].find()
    first = 0.0 if obj is None else FIRST_RADIUS_SHARE * max(obj.dimensions)
    own.grab_radius = own.grab_radius * factor if own.grab_radius > 0.0 else first
    grabs.take_again(run, number, own.grab_radius)


def draw_start(layout: bpy.types.UILayout) -> None:
    """Draws what starts a run, or stops it."""
    is_on = session.live is not None
    layout.operator("sinew.stop_live" if is_on else "sinew.live", icon="CANCEL" if is_on else "PHYSICS")


def draw_radius(layout: bpy.types.UILayout, scene: bpy.types.Scene, setting: str, at_zero: str) -> None:
    """Draws the radius of a tool; a label says what 0 means, which as a length says nothing."""
    text = {} if getattr(scene.sinew, setting) > 0.0 else {"text": at_zero}
    layout.prop(scene.sinew, setting, **text)


class _GrabTool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_label = "Grab Live"
    bl_description = (
        "Pull bodies that run live, with Ctrl push them. Shift keeps a place where it is. F or the wheel: radius"
    )
    bl_icon = "brush.uv_sculpt.grab"
    bl_cursor = "HAND"
    bl_keymap = (
        *left_button_keys("sinew.grab"),
        *radial_control_keys("grab_radius", "grab_strength"),
    )

    @staticmethod
    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, _tool: Any) -> None:
        """Draws what starts the run, radius and strength."""
        draw_start(layout)
        draw_radius(layout, context.scene, "grab_radius", POINT)
        layout.prop(context.scene.sinew, "grab_strength")

    @staticmethod
    def draw_cursor(context: bpy.types.Context, _tool: Any, xy: tuple[int, int]) -> None:
        """Draws the radius around the mouse."""
        tool_cursor.draw(context, "grab_radius", xy)


class SINEW_WT_grab_object(_GrabTool):
    """The tool in Object Mode."""

    bl_context_mode = "OBJECT"
    bl_idname = "sinew.grab_tool"


class SINEW_WT_grab_pose(_GrabTool):
    """The tool in Pose Mode."""

    bl_context_mode = "POSE"
    bl_idname = "sinew.grab_tool_pose"


CLASSES = (SINEW_OT_grab,)
TOOLS = (SINEW_WT_grab_object, SINEW_WT_grab_pose)


def register_tools() -> None:
    """Adds the tool to the toolbars of the 3D view, where there is a window."""
    if not bpy.app.background:
        for tool in TOOLS:
            bpy.utils.register_tool(tool, separator=True)


def unregister_tools() -> None:
    """Takes it away."""
    if not bpy.app.background:
        for tool in reversed(TOOLS):
            bpy.utils.unregister_tool(tool)
