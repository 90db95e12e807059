# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints about bodies that are too soft for their own weight, with the buttons that let them stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from ..baking import bake_status
from ..objects import roles, self_weight_collapse
from ..runtime.quantity_text import stress_text
from .hints import Fix, Hint

HANGING_NOTE = "So soft that it may hang far off its bones or pins: stiffen it, or let bones hold more of it"


def hints_of_all_bodies(scene: bpy.types.Scene) -> list[Hint]:
    """Returns what lets all bodies stand that are too soft, selected or not, while they can still be changed."""
    soft = self_weight_collapse.collapsing_bodies(roles.bodies(scene), scene)
    if not soft or bake_status.status(scene).is_locked:
        return []
    if len(soft) == 1:
        return [_standing_hint(soft[0], scene, f"{soft[0].name} is too soft to stand at its size", every=True)]
    fixes = (
        Fix("sinew.stiffen", "Stiffen Them", "MOD_THICKNESS", {"every": True}),
        Fix("sinew.stand_up", "Simulate Them as if Small", "FULLSCREEN_EXIT", {"every": True}),
    )
    return [Hint("soft", f"{len(soft)} bodies are too soft to stand at their size", fixes)]


def body_hints(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[Hint]:
    """Returns what lets a body stand, or flesh stay on its bones, where it is too soft."""
    if self_weight_collapse.collapses(obj, scene):
        return [_standing_hint(obj, scene, "Too soft to stand at this size")]
    if self_weight_collapse.is_too_soft_to_hang(obj, scene):
        return [Hint("soft", HANGING_NOTE, (_stiffening(obj, scene),))]
    return []


def _standing_hint(obj: bpy.types.Object, scene: bpy.types.Scene, sentence: str, every: bool = False) -> Hint:
    options = {"every": True} if every else {}
    smaller = Fix(
        "sinew.stand_up", f"Simulate as if {_standing_size_text(obj, scene)} Long", "FULLSCREEN_EXIT", options
    )
    return Hint("soft", sentence, (_stiffening(obj, scene, options), smaller))


def _stiffening(obj: bpy.types.Object, scene: bpy.types.Scene, options: Mapping[str, Any] | None = None) -> Fix:
    words = f"Stiffen to {stress_text(self_weight_collapse.standing_stiffness(obj, scene))}"
    return Fix("sinew.stiffen", words, "MOD_THICKNESS", options or {})


def _standing_size_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    return length_text(self_weight_collapse.standing_size(obj, scene), scene)


def length_text(units: float, scene: bpy.types.Scene) -> str:
    """Returns a length as Blender writes it in this scene: "5 cm"."""
    settings = scene.unit_settings
    if settings.system == "NONE":
        return f"{units:.2g}"
    metres = units * settings.scale_length
    return bpy.utils.units.to_string(settings.system, "LENGTH", metres, precision=2, compatible_unit=False)
