# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the rigid core of a body."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.rigid_core import CORE_SETTINGS, USE_CORE
from ..baking import bake_status
from ..export import rigid_core
from ..objects import roles
from .bake_layout import draw_wrapped
from .property_rows import draw_settings

FLESH_NOTE = "Bones hold flesh from inside: choose Soft Body as Motion for a rigid core"
INCOMPATIBLE_NOTE = "A rigid core does not support {feature}: change that, or turn Rigid Core off"
FREE_NOTE = "It moves freely. A Hinge lets it only turn, a Spring Target pulls it along"
HINGE_NOTE = "It turns about the Z axis of {name}, and goes where that goes"
# after a bake
TET_COUNT_NOTE = "{core} of {all} tets are rigid: the Viewport Display of Tets shows them in yellow"
PULL_NOTE = "A spring pulls it to {name}, from where {name} is in the rest pose"


def draw_core(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws where the core begins, what it turns about, and what pulls it."""
    obj, own = context.object, context.object.sinew
    is_flesh = roles.is_flesh(obj)
    if is_flesh:
        draw_wrapped(layout, FLESH_NOTE, "INFO", context)
    else:
        for feature in rigid_core.incompatible_features(obj):
            draw_wrapped(layout, INCOMPATIBLE_NOTE.format(feature=feature), "ERROR", context)
    column = layout.column()
    column.enabled = not bake_status.status(context.scene).is_locked and not is_flesh
    column.active = own.use_core
    draw_settings(column, obj, (setting for setting in CORE_SETTINGS if setting != USE_CORE))
    if own.use_core:
        for line in _motion_notes(own):
            draw_wrapped(column, line, "INFO", context)
        _draw_tet_count(layout, context)


def _draw_tet_count(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how much of the body is core, once that is known."""
    scene, obj = context.scene, context.object
    core = bake_status.core_tet_count(scene, obj)
    if core and not bake_status.status(scene).outdated:
        words = TET_COUNT_NOTE.format(core=f"{core:,}", all=f"{bake_status.tet_count(scene, obj):,}")
        draw_wrapped(layout, words, "INFO", context)


def _motion_notes(own: bpy.types.PropertyGroup) -> list[str]:
    """Returns what the objects do to the core."""
    found = [(HINGE_NOTE, own.core_hinge), (PULL_NOTE, own.core_pull)]
    return [words.format(name=obj.name) for words, obj in found if obj is not None] or [FREE_NOTE]
