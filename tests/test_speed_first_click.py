# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of the first click: its scenes bake, and what it measures is what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from sinew.solver.runtime.kernel_cache.cache_folder import cache_root
from speed import bake_startup, first_click

pytestmark = pytest.mark.slow

SECONDS = {
    "cold": 16.0,
    "announced": 1.0,
    "fresh": 1.2,
    "waiting": 0.3,
    "processor": 16.0,
    "libraries": 0.7,
    "yardstick": 0.4,
}


def test_what_is_too_late_is_not_reached() -> None:
    rows = first_click._rows(SECONDS, 200.0, 70, 0)
    assert [row.reached for row in rows] == [False, True, False, True] + 6 * [None]
    assert [row.line for row in rows[:4]] == [8] * 4


@pytest.mark.parametrize("is_held", [False, True])
def test_both_ways_reach_the_first_step(tmp_path: Path, is_held: bool) -> None:
    """With this machine's kernels: an empty folder would take half a minute."""
    bake_startup.write_cube(tmp_path / "cube.sinew", is_held)
    for bake in (bake_startup.time_new_process, bake_startup.time_warm_process):
        when = bake(cache_root(), tmp_path / "cube.sinew")
        assert not when.get("memory", 100.0) < 20.0 and when.get("processor", 0.0) >= 0.0
        assert 0.0 < when["started"] <= when["built"] <= when["step"] <= when["done"]
    assert not list(tmp_path.rglob("*.nbc")) and bake_startup.compiled_kernel_count(cache_root()) > 0


def test_the_yardsticks_take_time() -> None:
    assert bake_startup.yardstick_seconds() > 0.01 and bake_startup.library_load_seconds() > 0.01
