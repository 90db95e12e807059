# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that nobody plays any more: found with their sizes, deleted when asked for or old, never while in use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh, write_cache
from fixtures.fake_layout import FakeLayout
from sinew.addon import handlers
from sinew.addon.baking.orphaned_caches_search import orphan_search
from sinew.addon.cache import cache_folder_status, cache_paths, orphaned_caches
from sinew.addon.cache.temporary_folders import temporary_folders
from sinew.addon.objects import roles
from sinew.addon.panels import bake_layout, orphaned_caches_layout
from sinew.solver.bake.cache import is_cache
from sinew.solver.bake.cache.lock import CacheLock

NAMES = [f"sinew-{number:012x}" for number in range(4)]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files with the caches of three closed Blenders, and others' files."""
    for name in NAMES[:3]:
        (tmp_path / name).mkdir()
        write_cache(tmp_path / name / "untitled.sinew", {"Box": np.zeros((3, 8, 3))})
    for other in ("sinew-blender-x1", "sinew-0123", "another"):
        (tmp_path / other / "untitled.sinew").mkdir(parents=True)
        (tmp_path / other / "untitled.sinew" / "cache.json").write_text("{}")
    monkeypatch.setattr(orphan_search, "orphans", [])
    monkeypatch.setattr(orphan_search, "is_dismissed", False)
    yield tmp_path
    temporary_folders.lock(())


def names(temporary: Path) -> list[str]:
    return sorted(orphan.folder.name for orphan in orphaned_caches.find_orphaned(temporary))


def age(folder: Path, days: float) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            now = path.stat().st_mtime
            os.utime(path, (now - days * 86400.0,) * 2)


def test_they_are_found_with_their_sizes(temporary: Path) -> None:
    assert names(temporary) == NAMES[:3]
    for orphan in orphaned_caches.find_orphaned(temporary):
        assert orphan.size == sum(path.stat().st_size for path in orphan.folder.rglob("*") if path.is_file()) > 0


def test_what_a_blender_holds_or_writes_is_not_lost(temporary: Path) -> None:
    temporary_folders.lock([temporary / NAMES[0], temporary / "another", temporary / "none"])
    assert not (temporary / "another" / "lock").exists(), "only folders with Sinew's own names"
    writing = CacheLock(temporary / NAMES[1] / "untitled.sinew")
    assert names(temporary) == [NAMES[2]]
    for name in NAMES[:2]:
        age(temporary / name, 400.0)
        orphaned_caches.delete(temporary / name)
    assert orphaned_caches.delete_old(temporary) == [] and is_cache(temporary / NAMES[0] / "untitled.sinew")
    writing.release()
    temporary_folders.lock(())
    assert names(temporary) == NAMES[:3]


def test_deleting_takes_what_is_sinews_and_nothing_else(temporary: Path) -> None:
    mine = temporary / NAMES[1] / "untitled.sinew" / "mine.txt"
    mine.write_text("mine")
    for name in [*NAMES[:2], "another"]:
        orphaned_caches.delete(temporary / name)
    assert not (temporary / NAMES[0]).exists() and mine.read_text() == "mine"
    assert (temporary / "another" / "untitled.sinew" / "cache.json").exists()
    assert names(temporary) == [NAMES[2]]


def test_they_go_by_themselves_after_some_days(temporary: Path) -> None:
    age(temporary / NAMES[0], orphaned_caches.EXPIRY_DAYS + 0.5)
    age(temporary / NAMES[1], orphaned_caches.EXPIRY_DAYS - 0.5)
    assert orphaned_caches.delete_old(temporary) == [temporary / NAMES[0]]
    assert names(temporary) == NAMES[1:3]


def test_they_are_offered_in_the_panel_and_in_the_preferences(temporary: Path) -> None:
    fresh()
    orphan_search.search(temporary)
    assert len(orphan_search.orphans) == 3
    layout = FakeLayout()
    orphaned_caches_layout.draw_notice(layout)
    total = sum(orphan.size for orphan in orphan_search.orphans)
    assert layout.lines == [f"Delete Old Caches ({bake_layout.size_text(total)})", ""]
    layout = FakeLayout()
    orphaned_caches_layout.draw_list(layout)
    assert sum(NAMES[i] in line for i in range(3) for line in layout.lines) == 3 and "Delete All" in layout.lines
    assert bpy.ops.sinew.delete_lost_caches(folder=str(temporary / NAMES[1])) == {"FINISHED"}
    assert names(temporary) == [NAMES[0], NAMES[2]] and len(orphan_search.orphans) == 2
    assert bpy.ops.sinew.put_off_lost_caches() == {"FINISHED"}
    layout = FakeLayout()
    orphaned_caches_layout.draw_notice(layout)
    assert not layout.lines
    assert bpy.ops.sinew.delete_lost_caches() == {"FINISHED"}
    assert names(temporary) == [] and not orphan_search.orphans


def test_what_the_open_file_plays_is_held_until_another_is_open(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = fresh()
    monkeypatch.setattr(cache_paths, "temporary_home", lambda: temporary / NAMES[0])
    roles.make_body(add_box("Box"))
    cache_folder_status.invalidate()
    cache_paths.lock_temporary_folders()
    assert names(temporary) == NAMES[1:3] and cache_paths.cache_folder(scene).parent == temporary / NAMES[0]
    monkeypatch.setattr(cache_paths, "temporary_home", lambda: temporary / NAMES[3])
    handlers.load_post()
    assert names(temporary) == NAMES[:3]
