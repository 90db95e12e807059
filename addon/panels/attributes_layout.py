# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about attributes that a bake writes for materials."""

from __future__ import annotations

import bpy

from ...solver.scene.scene import ATTRIBUTES
from ..cache.attribute_columns import RENAMED_ATTRIBUTES, VELOCITY_ATTRIBUTE
from .property_rows import locked_column
from .text_rows import draw_wrapped

# attributes that materials find under another name
MATERIAL_ATTRIBUTE_NAMES = {**RENAMED_ATTRIBUTES, "velocity": VELOCITY_ATTRIBUTE}
NOT_CARRIED_NOTE = "They play from the cache, also without Sinew. Shape keys and Alembic do not carry them"


def draw_attributes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what is written per vertex for materials."""
    layout.use_property_split = False
    layout = locked_column(layout, context)
    chosen = context.object.sinew.attributes
    layout.column(align=True).prop(context.object.sinew, "attributes")
    if chosen:
        names = ", ".join(MATERIAL_ATTRIBUTE_NAMES.get(name, name) for name in ATTRIBUTES if name in chosen)
        draw_wrapped(layout, f"Materials read them with Attribute nodes of these names: {names}", "INFO", context)
        draw_wrapped(layout, NOT_CARRIED_NOTE, "BLANK1", context)
