# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with the list of what Check has found."""

from __future__ import annotations

import bpy

from ..baking import bake_status, scene_check
from ..baking.check_process import CheckResult, CheckRow
from ..objects.diagnostic_fixes import FIXES
from .text_rows import count_text, draw_wrapped

MAX_ROWS = 20  # that are drawn
NOTHING_NOTE = "Nothing found"
OLD_NOTE = "The scene has changed since: check again"
SEPARATE_TEXT = "Separate"
LOOKING_NOTE = "Looking through the scene"


def draw_check(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the button that looks through the scene, and a row for everything that it has found."""
    scene = context.scene
    if scene_check.is_checking(scene):
        row = layout.row(align=True)
        row.label(text=LOOKING_NOTE, icon="TIME")
        row.operator("sinew.stop_check", text="", icon="CANCEL")
        return
    row = layout.row()
    row.enabled = not bake_status.status(scene).is_running
    row.operator("sinew.check", icon="VIEWZOOM")
    result = scene_check.result_of(scene)
    if result is not None:
        _draw_result(layout, context, result)


def _draw_result(layout: bpy.types.UILayout, context: bpy.types.Context, result: CheckResult) -> None:
    if not scene_check.is_current(context.scene, result):
        draw_wrapped(layout, OLD_NOTE, "INFO", context)
    elif not result.rows:
        layout.label(text=NOTHING_NOTE, icon="CHECKMARK")
    for number, row in enumerate(result.rows[:MAX_ROWS]):
        _draw_row(layout.box().column(align=True), context, row, number)
    more = len(result.rows) - MAX_ROWS
    if more > 0:
        layout.label(text=f"and {count_text(more, 'other')}")


def _draw_row(layout: bpy.types.UILayout, context: bpy.types.Context, row: CheckRow, number: int) -> None:
    draw_wrapped(layout, row.line, "ERROR" if row.is_refused else "INFO", context)
    if not row.object_uid:
        return
    buttons = layout.row(align=True)
    buttons.operator("sinew.check_select", icon="RESTRICT_SELECT_OFF").index = number
    if row.kind in FIXES:
        fixes = buttons.row(align=True)
        fixes.enabled = not bake_status.status(context.scene).is_locked
        text = SEPARATE_TEXT if row.moves else None  # None: that of the operator
        fixes.operator("sinew.check_fix", text=text, icon="TOOL_SETTINGS").index = number
