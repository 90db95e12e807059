# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes in panels: the sentence, a button that shows where it is about, and the numbers behind it as a tooltip."""

from __future__ import annotations

import bpy

from ..baking.addon_session import MAX_PLACES, Note
from .text_rows import draw_wrapped


def draw_note(layout: bpy.types.UILayout, note: Note, icon: str, context: bpy.types.Context) -> None:
    """Draws a note with its buttons."""
    draw_wrapped(layout, note.line, icon, context)
    if not note.places and not note.measured:
        return
    row = layout.row(align=True)
    if note.places:
        unit = context.scene.unit_settings.scale_length
        shown = [x / unit for place in note.places[:MAX_PLACES] for x in place]
        button = row.operator("sinew.show_place", icon="HIDE_OFF")
        button.places = [*shown, *[0.0] * (3 * MAX_PLACES - len(shown))]
        button.count = min(len(note.places), MAX_PLACES)
    if note.measured:
        row.operator("sinew.explain_note", icon="QUESTION").measured = note.measured
