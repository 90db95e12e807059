# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the panels of features that flesh does not have: plasticity, heat, fracture, a rigid core."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.scene.settings.setting import Setting
from ..objects import roles
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

FLESH_WITHOUT_FEATURES_NOTE = "Flesh does not flow, take heat or break: choose Soft Body as Type for that"


def draw_flesh_note(
    layout: bpy.types.UILayout, context: bpy.types.Context, note: str = FLESH_WITHOUT_FEATURES_NOTE
) -> None:
    """Draws why all of a panel is grey for flesh."""
    if roles.is_flesh(context.object):
        draw_wrapped(layout, note, "INFO", context)


def feature_column(layout: bpy.types.UILayout, context: bpy.types.Context, is_on: bool) -> bpy.types.UILayout:
    """Returns a column that is locked with a bake and for flesh, and grey while the feature is off."""
    column = locked_column(layout, context)
    column.enabled = column.enabled and not roles.is_flesh(context.object)
    column.active = is_on
    return column


def draw_feature(
    layout: bpy.types.UILayout, context: bpy.types.Context, is_on: bool, said: str | None, settings: Iterable[Setting]
) -> bpy.types.UILayout:
    """Draws what a bake says of a feature that is on, and its settings; returns the column of these."""
    draw_flesh_note(layout, context)
    if said is not None and is_on:
        layout.label(text=said, icon="INFO")
    column = feature_column(layout, context, is_on)
    draw_settings(column, context.object, settings)
    return column
