# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about how much a body feels gravity and force fields."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.field_settings import EFFECTOR_COLLECTION, FIELD_CHARGE, FIELD_SIZE, FIELD_WEIGHTS
from ...solver.scene.settings.flesh_settings import POSE
from ..objects import field_objects
from .property_rows import draw_settings, locked_column
from .text_rows import count_text, draw_wrapped

POSE_NOTE = "Force fields do not act on flesh that follows the pose"
NO_FIELDS_NOTE = "No force field acts on this body"


def draw_field_weights(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the weights of a body, and which fields act on it."""
    obj = context.object
    column = locked_column(layout, context)
    draw_settings(column, obj, (EFFECTOR_COLLECTION,))
    draw_settings(column, obj, FIELD_WEIGHTS)
    draw_settings(column, obj, (FIELD_CHARGE, FIELD_SIZE))
    if obj.sinew.motion == POSE:
        draw_wrapped(layout, POSE_NOTE, "INFO", context)
        return
    acting = [field for field in field_objects.force_fields(context.scene) if field_objects.acts_on(field, obj)]
    words = f"{count_text(len(acting), 'force field')} in the scene" if acting else NO_FIELDS_NOTE
    draw_wrapped(layout, words, "INFO", context)
