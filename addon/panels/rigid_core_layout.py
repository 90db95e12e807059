# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the rigid core of a body."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.rigid_core_settings import CORE_SETTINGS, USE_CORE
from ..baking import bake_status
from ..export import rigid_core
from ..objects import roles
from .flesh_locked_rows import draw_flesh_note, feature_column
from .property_rows import draw_settings
from .text_rows import draw_wrapped

FLESH_WITHOUT_CORE_NOTE = "Bones hold flesh from inside: choose Soft Body as Type for a rigid core"
INCOMPATIBLE_NOTE = "A rigid core does not support {feature}: change that, or turn Rigid Core off"
FREE_NOTE = "It moves freely. A Hinge lets it only turn, a Spring Target pulls it along"
HINGE_NOTE = "It turns about the Z axis of {name}, and goes where that goes"
# after a bake
TET_COUNT_NOTE = "{core} of {all} tets are rigid: the Viewport Display of Tets shows them in yellow"
PULL_NOTE = "A spring joins {name} to the point of the core where {name} is in the rest pose"


def draw_core(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws where the core begins, what it turns about, and what pulls it."""
    obj, settings = context.object, context.object.sinew
    draw_flesh_note(layout, context, FLESH_WITHOUT_CORE_NOTE)
    if not roles.is_flesh(obj):
        for feature in rigid_core.incompatible_features(obj):
            draw_wrapped(layout, INCOMPATIBLE_NOTE.format(feature=feature), "ERROR", context)
    column = feature_column(layout, context, settings.use_core)
    draw_settings(column, obj, (setting for setting in CORE_SETTINGS if setting != USE_CORE))
    if settings.use_core:
        for line in _motion_notes(settings):
            draw_wrapped(column, line, "INFO", context)
        _draw_tet_count(layout, context)


def _draw_tet_count(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how much of the body is core, once that is known."""
    scene, obj = context.scene, context.object
    core = bake_status.core_tet_count(scene, obj)
    if core and not bake_status.status(scene).outdated:
        words = TET_COUNT_NOTE.format(core=f"{core:,}", all=f"{bake_status.tet_count(scene, obj):,}")
        draw_wrapped(layout, words, "INFO", context)


def _motion_notes(settings: bpy.types.PropertyGroup) -> list[str]:
    """Returns what the objects do to the core."""
    found = [(HINGE_NOTE, settings.core_hinge), (PULL_NOTE, settings.core_pull)]
    return [words.format(name=obj.name) for words, obj in found if obj is not None] or [FREE_NOTE]
