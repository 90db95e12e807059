# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets and their seams that tear in a live run: the mesh that is seen, and the same again in a repetition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from sinew.solver.bake.cache import layout
from sinew.solver.bake.postprocess.result_npz import FinalMesh
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.pacing import NoPace
from sinew.solver.runtime.npz_reader import read_arrays
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.tracks import TrackWriter
from test_seams import hung
from test_tearing_sheets import CELLS, strip

pytestmark = pytest.mark.slow
Events = list[Mapping[str, Any]]


def live(folder: Path, scene: Scene, steps: int) -> tuple[Path, Events]:
    """Runs a scene live for some steps, and returns its cache and events."""
    cache, events = folder / "Take 1.sinew", list[Mapping[str, Any]]()
    scene.save(cache / layout.SCENE_FOLDER)
    TrackWriter(cache / layout.SCENE_FOLDER).close()
    run_live(cache, scene, SimpleQueue(), lambda: False, events.append, LiveOptions(steps, NoPace))
    return cache, events


def repeated(cache: Path, scene: Scene) -> Mapping[str, Any]:
    """Returns the last event of a repetition, which compares digests."""
    events: Events = []
    replay(cache, scene, lambda: False, events.append)
    return events[-1]


def test_a_sheet_tears_live_and_is_seen_with_whole_faces(tmp_path: Path) -> None:
    scene = Scene((strip(),), settings=Settings(fps=60.0))
    cache, events = live(tmp_path, scene, 90)
    torn = [event for event in events if event["event"] == "torn"]
    assert torn and torn[-1]["bodies"][0]["faces"] == CELLS[0] * CELLS[1]
    generation = torn[-1]["generation"]
    arrays = read_arrays(layout.live_mesh_path(cache / layout.LIVE_FOLDER, "strip", generation))
    mesh = FinalMesh(**{name: arrays[name] for name in FinalMesh.__dataclass_fields__})
    assert mesh.piece_count >= 2 and len(mesh.rest) > len(scene.bodies[0].vertices)
    assert not [event for event in events if event["event"] == "warning"]
    found = repeated(cache, scene)
    assert found["event"] == "done" and found["compared"] >= 1


def test_seams_tear_live_and_in_a_repetition(tmp_path: Path) -> None:
    body = hung(2.0, breaking_force=0.1)
    body = replace(body, collision=replace(Collision(), self_contact=True))
    scene = Scene((body,), settings=Settings(fps=60.0))
    cache, events = live(tmp_path, scene, 90)
    assert events[-1]["event"] == "done" and not [event for event in events if event["event"] == "warning"]
    found = repeated(cache, scene)
    assert found["event"] == "done" and found["compared"] >= 1
