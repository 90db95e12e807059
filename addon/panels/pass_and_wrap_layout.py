# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the layers of a character: the pass of a body, and the Wrap at which fat ends."""

from __future__ import annotations

import bpy

from .property_rows import locked_column


def draw_layers(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the pass and the Wrap of a body."""
    settings, column = context.object.sinew, locked_column(layout, context)
    column.prop(settings, "bake_pass")
    column.prop(settings, "wrap")
