# SPDX-License-Identifier: GPL-3.0-or-later
"""F and Shift F in the tools for live runs: the mouse sets radius or strength by a circle, as for Blender's brushes.

Blender's own radial control draws lengths in pixels; these radii are lengths in the scene.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty
from mathutils import Vector

from ..baking.addon_session import session
from ..live import brushes
from ..overlays.radial_control_circle import draw_circle
from . import radial_control_keys
from .body_under_mouse import body_under
from .grab import FIRST_RADIUS_SHARE
from .units_per_pixel import units_per_pixel

RADII = frozenset(brushes.RADIUS_SETTINGS.values())
CIRCLE_PIXELS = 200.0  # radius of the circle at the largest strength
DEFAULT_PIXELS = 50.0  # radius of the circle where neither a radius nor a body says another
CONTROLLED = (
    ("grab_radius", "Radius of Grab", ""),
    ("grab_strength", "Strength of Grab", ""),
    ("heat_gun_radius", "Radius of the Heat Gun", ""),
    ("heat_gun_temperature", "Temperature of the Heat Gun", ""),
    ("stiffness_brush_radius", "Radius of Soften", ""),
    ("stiffness_brush_strength", "Strength of Soften", ""),
)


class SINEW_OT_radial_control(bpy.types.Operator):
    """Set radius or strength by the distance from the mouse. Left or Enter: done; right or Esc: as it was"""

    bl_idname = radial_control_keys.OPERATOR
    bl_label = "Radius or Strength"
    bl_options: set[str] = {"INTERNAL"}  # no undo step, which would end the run

    setting: EnumProperty(items=CONTROLLED, name="Setting")

    _before = 0.0
    _centre = (0.0, 0.0)
    _per_pixel = 1.0
    _handle: Any = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """In a 3D view."""
        return context.area is not None and context.area.type == "VIEW_3D" and context.region_data is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Draws the circle with the mouse on it."""
        mouse = (event.mouse_region_x, event.mouse_region_y)
        self._before = float(getattr(context.scene.sinew, self.setting))
        if self.setting in RADII:
            first, self._per_pixel = _radius_at(context, self.setting, mouse, self._before)
        else:
            first, self._per_pixel = self._before, _largest(context, self.setting) / CIRCLE_PIXELS
        self._centre = (mouse[0] - max(first, 0.0) / self._per_pixel, float(mouse[1]))
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (context,), "WINDOW", "POST_PIXEL")
        context.window_manager.modal_handler_add(self)
        context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follows the mouse until it is clicked; Escape is not for the run meanwhile."""
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            away = Vector((event.mouse_region_x, event.mouse_region_y)) - Vector(self._centre)
            setattr(context.scene.sinew, self.setting, away.length * self._per_pixel)
        elif event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            self._end(context)
            return {"FINISHED"}
        elif event.type in {"RIGHTMOUSE", "ESC"} and event.value == "PRESS":
            setattr(context.scene.sinew, self.setting, self._before)
            self._end(context)
            return {"CANCELLED"}
        context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Ends with the window or the file."""
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None
        if context.area is not None:
            context.area.tag_redraw()

    def _draw(self, context: bpy.types.Context) -> None:
        if bpy.context.region != context.region:
            return
        settings = context.scene.sinew
        value, digits = float(getattr(settings, self.setting)), 3 if self.setting in RADII else 2
        draw_circle(self._centre, max(value / self._per_pixel, 1.0), f"{value:.{digits}f}")


def _radius_at(context: bpy.types.Context, setting: str, mouse: tuple[int, int], radius: float) -> tuple[float, float]:
    """Returns the radius that a tool has now, and the Blender units in a pixel, both at what is under the mouse."""
    run, obj = session.live, None
    place = np.array(context.region_data.view_location, np.float64)
    found = None if run is None or not run.is_moving else body_under(context, run, mouse)
    if run is not None and found is not None:
        place, obj = found.place, run.bodies[found.key].find()
    per_pixel = units_per_pixel(context.region, context.region_data, place, mouse)
    return radius or _first_radius(setting, obj, DEFAULT_PIXELS * per_pixel), per_pixel


def _first_radius(setting: str, obj: bpy.types.Object | None, otherwise: float) -> float:
    if obj is None:
        return otherwise
    if setting == brushes.GRAB_RADIUS:
        return FIRST_RADIUS_SHARE * max(obj.dimensions)
    return brushes.automatic_radius(setting, obj)


def _largest(context: bpy.types.Context, setting: str) -> float:
    return float(context.scene.sinew.bl_rna.properties[setting].soft_max)


CLASSES = (SINEW_OT_radial_control,)
