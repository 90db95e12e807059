# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that nobody plays any more: a line in the panel until a person decides, and a list in the preferences."""

from __future__ import annotations

import time as clock

import bpy

from ..baking import lost_caches_timer
from ..baking.lost_caches import DAY_SECONDS, KEPT_DAYS, LostCache
from ..baking.status import size


def draw_line(layout: bpy.types.UILayout) -> None:
    """Draws how much they take, with a button that deletes them and one that puts it off."""
    found = lost_caches_timer.found()
    if not found or lost_caches_timer.is_put_off:
        return
    row = layout.row(align=True)
    words = f"Delete {size(_sum(found))} of Unsaved Files"
    row.operator("sinew.delete_lost_caches", text=words, icon="TRASH")
    row.operator("sinew.put_off_lost_caches", text="", icon="X")


def draw_list(layout: bpy.types.UILayout) -> None:
    """Draws each of them with its size, and a button that deletes it."""
    found = lost_caches_timer.found()
    if not found:
        return
    box = layout.box().column()
    box.label(text=f"Caches of files that were never saved: {size(_sum(found))}, kept for {KEPT_DAYS} days")
    for lost in found:
        row = box.row()
        row.label(text=f"{lost.folder}: {size(lost.size)}, {_age(lost)}")
        row.operator("sinew.delete_lost_caches", text="", icon="TRASH").folder = str(lost.folder)
    box.operator("sinew.delete_lost_caches", text="Delete All", icon="TRASH")


def _sum(found: list[LostCache]) -> int:
    return sum(lost.size for lost in found)


def _age(lost: LostCache) -> str:
    days = int(max(clock.time() - lost.written, 0.0) / DAY_SECONDS)
    return {0: "today", 1: "a day ago"}.get(days, f"{days} days ago")
