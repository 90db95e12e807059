# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about bodies that are too soft for their own weight, with the buttons that let them stand."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..objects import roles, self_weight
from .text_rows import draw_wrapped

HANGING_NOTE = "So soft that it may hang far off its bones or pins: stiffen it, or let bones hold more of it"


def draw_fixes_for_all_bodies(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws what lets all bodies stand that are too soft, selected or not, while they can still be changed."""
    soft = self_weight.collapsing_bodies(roles.bodies(scene), scene)
    if not soft or bake_status.status(scene).is_locked:
        return
    box = layout.box().column(align=True)
    if len(soft) == 1:
        box.label(text=f"{soft[0].name} is too soft to stand at its size", icon="INFO")
        stiffness, size = (
            f"{self_weight.standing_stiffness(soft[0], scene):,.0f} Pa",
            _standing_size_text(soft[0], scene),
        )
        texts = f"Stiffen to {stiffness}", f"Simulate as if {size} Long"
    else:
        box.label(text=f"{len(soft)} bodies are too soft to stand at their size", icon="INFO")
        texts = "Stiffen Them", "Simulate Them as if Small"
    box.operator("sinew.stiffen", text=texts[0], icon="MOD_THICKNESS").every = True
    box.operator("sinew.stand_up", text=texts[1], icon="FULLSCREEN_EXIT").every = True


def draw_fixes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what lets a body stand, or flesh stay on its bones, where it is too soft."""
    obj, scene = context.object, context.scene
    if self_weight.collapses(obj, scene):
        _draw_standing_fixes(layout.box().column(align=True), obj, scene)
    elif self_weight.is_too_soft_to_hang(obj, scene):
        _draw_hanging_fix(layout.box().column(align=True), context)


def _draw_standing_fixes(layout: bpy.types.UILayout, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    layout.label(text="Too soft to stand at this size", icon="INFO")
    stiffness = self_weight.standing_stiffness(obj, scene)
    layout.operator("sinew.stiffen", text=f"Stiffen to {stiffness:,.0f} Pa", icon="MOD_THICKNESS")
    text = f"Simulate as if {_standing_size_text(obj, scene)} Long"
    layout.operator("sinew.stand_up", text=text, icon="FULLSCREEN_EXIT")


def _draw_hanging_fix(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    draw_wrapped(layout, HANGING_NOTE, "INFO", context)
    stiffness = self_weight.standing_stiffness(context.object, context.scene)
    layout.operator("sinew.stiffen", text=f"Stiffen to {stiffness:,.0f} Pa", icon="MOD_THICKNESS")


def _standing_size_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    return length_text(self_weight.standing_size(obj, scene), scene)


def length_text(units: float, scene: bpy.types.Scene) -> str:
    """Returns a length as Blender writes it in this scene: "5 cm"."""
    settings = scene.unit_settings
    if settings.system == "NONE":
        return f"{units:.2g}"
    metres = units * settings.scale_length
    return bpy.utils.units.to_string(settings.system, "LENGTH", metres, precision=2, compatible_unit=False)
