# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes for bodies that run live: a heat gun, one that softens, and a ball that pushes."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..live import brushes, pen_pressure
from . import tool_cursor
from .body_under_mouse import body_under
from .error_reporting import reporting_errors
from .grab import WHEEL, draw_radius, draw_start, left_button_keys, make_active, missed
from .radial_control_keys import radial_control_keys

KINDS = (
    (brushes.HEAT, "Heat Gun", "Heat what is under the mouse, with Ctrl cool it"),
    (brushes.SOFTEN, "Soften", "Soften what is under the mouse, with Ctrl harden it"),
    (brushes.PUSH, "Push", "Push what is under the mouse with a ball"),
)


AUTOMATIC = "Radius (Automatic)"  # of the size of the body
# How high above the surface the middle of a ball that pushes begins, in radii. On it, the ball presses the upper face
# of a thin body sideways and the lower one down; one radius above, it slides along a face that it is dragged along.
PUSH_HEIGHT = 0.5


class SINEW_OT_brush(bpy.types.Operator):
    """Heat, soften or push a body that runs live, while the button is held. Ctrl cools and hardens. Wheel: radius"""

    bl_idname = "sinew.brush"
    bl_label = "Brush"
    bl_options: set[str] = set()  # no undo step: the file is not changed

    kind: EnumProperty(items=KINDS, name="Brush")

    _run: LiveRun | None = None
    _does = ""
    _body = ""
    _normal: Floats = np.zeros(3)
    _radius = 0.0
    _place: Floats | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """In a 3D view."""
        return context.area is not None and context.area.type == "VIEW_3D" and context.region_data is not None

    @reporting_errors
    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begins where a body is under the mouse."""
        run = session.live
        if run is None or not run.is_moving:
            raise BadInput("live-not-running")
        mouse = (event.mouse_region_x, event.mouse_region_y)
        found = body_under(context, run, mouse)
        obj = None if found is None else run.bodies[found.key].find()
        if found is None or obj is None:
            return missed(event)
        self._does = brushes.OPPOSITES.get(self.kind, self.kind) if event.ctrl else self.kind
        self._run, self._radius = run, brushes.radius_on(context.scene.sinew, self._does, obj)
        self._body, self._normal = found.key, found.normal
        self._hold(context, found.place, event)
        make_active(context, run, found.key)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follows the mouse, until the button is let go."""
        run = self._run
        if run is None or session.live is not run or self._place is None:
            return {"CANCELLED"}
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            self._hold(context, self._place_under(context, run, event), event)
            return {"RUNNING_MODAL"}
        if event.type in WHEEL:
            self._radius *= WHEEL[event.type]
            setattr(context.scene.sinew, brushes.RADIUS_SETTINGS[self._does], self._radius)
            self._hold(context, self._place, event)
            return {"RUNNING_MODAL"}
        if event.type in {"LEFTMOUSE", "RIGHTMOUSE", "ESC"} and (event.type != "LEFTMOUSE" or event.value == "RELEASE"):
            brushes.lift(run)
            context.area.tag_redraw()
            return {"FINISHED"}
        return {"PASS_THROUGH"}

    def _hold(self, context: bpy.types.Context, place: Floats, event: bpy.types.Event) -> None:
        assert self._run is not None
        self._place = place
        middle = place + PUSH_HEIGHT * self._radius * self._normal if self._does == brushes.PUSH else place
        brushes.hold(self._run, self._does, middle, self._radius, pen_pressure.pressure(event), self._body)
        context.area.tag_redraw()

    def _place_under(self, context: bpy.types.Context, run: LiveRun, event: bpy.types.Event) -> Floats:
        """Returns where the brush goes: along the surface, or for a ball that pushes in the plane of the view."""
        mouse = (event.mouse_region_x, event.mouse_region_y)
        found = None if self._does == brushes.PUSH else body_under(context, run, mouse)
        if found is not None:
            return found.place
        place = view3d_utils.region_2d_to_location_3d(context.region, context.region_data, mouse, Vector(self._place))
        return np.array(place, np.float64)


def _draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, *names: str) -> None:
    """Draws what starts the run, the radius of a brush, and other settings of it."""
    draw_start(layout)
    radius, *others = names
    draw_radius(layout, context.scene, radius, AUTOMATIC)
    for name in others:
        layout.prop(context.scene.sinew, name)


class _BrushTool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_cursor = "PAINT_CROSS"


class SINEW_WT_heat_gun(_BrushTool):
    """The heat gun in the toolbar."""

    bl_idname = "sinew.heat_gun_tool"
    bl_label = "Heat Gun"
    bl_description = "Heat bodies with Heat that run live, with Ctrl cool them. F or the wheel: radius"
    bl_icon = "ops.sculpt.mask_by_color"
    bl_keymap = (
        *left_button_keys("sinew.brush", kind=brushes.HEAT),
        *radial_control_keys("heat_gun_radius", "heat_gun_temperature"),
    )

    @staticmethod
    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, _tool: Any) -> None:
        """Draws the radius and both temperatures."""
        _draw_settings(context, layout, "heat_gun_radius", "heat_gun_temperature", "cool_gun_temperature")

    @staticmethod
    def draw_cursor(context: bpy.types.Context, _tool: Any, xy: tuple[int, int]) -> None:
        """Draws the radius around the mouse."""
        tool_cursor.draw(context, "heat_gun_radius", xy)


class SINEW_WT_soften(_BrushTool):
    """The brush that softens in the toolbar."""

    bl_idname = "sinew.soften_tool"
    bl_label = "Soften Live"
    bl_description = "Soften soft bodies that run live, with Ctrl harden them. F or the wheel: radius"
    bl_icon = "ops.sculpt.cloth_filter"
    bl_keymap = (
        *left_button_keys("sinew.brush", kind=brushes.SOFTEN),
        *radial_control_keys("stiffness_brush_radius", "stiffness_brush_strength"),
    )

    @staticmethod
    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, _tool: Any) -> None:
        """Draws radius and strength."""
        _draw_settings(context, layout, "stiffness_brush_radius", "stiffness_brush_strength")

    @staticmethod
    def draw_cursor(context: bpy.types.Context, _tool: Any, xy: tuple[int, int]) -> None:
        """Draws the radius around the mouse."""
        tool_cursor.draw(context, "stiffness_brush_radius", xy)


CLASSES = (SINEW_OT_brush,)
TOOLS = (SINEW_WT_heat_gun, SINEW_WT_soften)


def register_tools() -> None:
    """Adds the brushes to the toolbar of the 3D view, where there is a window."""
    if not bpy.app.background:
        for tool in TOOLS:
            bpy.utils.register_tool(tool)


def unregister_tools() -> None:
    """Takes them away."""
    if not bpy.app.background:
        for tool in reversed(TOOLS):
            bpy.utils.unregister_tool(tool)
