# SPDX-License-Identifier: GPL-3.0-or-later
"""The papers' scenes run live, reduced: they are dragged in real time, and the dragon tears."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")
pytest.importorskip("bpy", reason="Blender's module makes the scenes")

from papers import live_scenes, mdmjc02_live, mg04_live

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("experiment", [mdmjc02_live, mg04_live])
def test_what_is_dragged_runs_in_real_time(experiment) -> None:
    rows = [row for row in experiment.run(True).rows if row.agrees is not None]
    assert rows and all(row.agrees for row in rows)


def test_the_dragon_is_torn_by_hand(tmp_path: Path) -> None:
    scene, tracks = live_scenes.load_scene("dragon", tmp_path)
    found = live_scenes.run_live(scene, tracks, 150, tears=True)
    assert found.pieces > 1 and 0 < found.whole < len(found.steps) == 150 and "while it does" in found.rate_text


def test_scenes_are_filled_with_as_many_tets_as_are_asked_for(tmp_path: Path) -> None:
    scene, tracks = live_scenes.load_scene("snake", tmp_path)
    finer = live_scenes.with_tets(scene, tracks, 2000)
    found = live_scenes.run_live(finer, tracks, 1, tears=False)
    assert 2000 <= found.tets < 2600 and np.isfinite(found.steps).all()
