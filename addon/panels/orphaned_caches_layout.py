# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that no file plays any more: a line in the panel until a person decides, and a list in the preferences."""

from __future__ import annotations

import time as clock

import bpy

from ..baking.orphaned_caches_search import orphan_search
from ..cache.orphaned_caches import EXPIRY_DAYS, SECONDS_PER_DAY, OrphanedCache
from ..runtime.quantity_text import size_text


def draw_notice(layout: bpy.types.UILayout) -> None:
    """Draws how much they take, with a button that deletes them and one that puts it off."""
    found = orphan_search.orphans
    if not found or orphan_search.is_dismissed:
        return
    row = layout.row(align=True)
    words = f"Delete Old Caches ({size_text(_total_size(found))})"
    row.operator("sinew.delete_lost_caches", text=words, icon="TRASH")
    row.operator("sinew.put_off_lost_caches", text="", icon="X")


def draw_list(layout: bpy.types.UILayout) -> None:
    """Draws each of them with its size, and a button that deletes it."""
    found = orphan_search.orphans
    if not found:
        return
    box = layout.box().column()
    box.label(
        text=f"Caches of files that were never saved: {size_text(_total_size(found))}, kept for {EXPIRY_DAYS} days"
    )
    for orphan in found:
        row = box.row()
        row.label(text=f"{orphan.folder}: {size_text(orphan.size)}, {_age_text(orphan)}")
        row.operator("sinew.delete_lost_caches", text="", icon="TRASH").folder = str(orphan.folder)
    box.operator("sinew.delete_lost_caches", text="Delete All", icon="TRASH")


def _total_size(found: list[OrphanedCache]) -> int:
    return sum(orphan.size for orphan in found)


def _age_text(orphan: OrphanedCache) -> str:
    days = int(max(clock.time() - orphan.written, 0.0) / SECONDS_PER_DAY)
    return {0: "today", 1: "a day ago"}.get(days, f"{days} days ago")
