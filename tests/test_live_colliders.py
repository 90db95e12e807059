# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that are moved and bent while a scene runs live: bodies feel them, and what is put elsewhere is no blow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import Given, drive
from fixtures.scenes import block
from sinew.solver.live.collider_shapes import ColliderShapesWriter, read_shape
from sinew.solver.live.commands import parse_command
from sinew.solver.live.keep import keep
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.live_run import LiveRun
from sinew.solver.live.pacing import NoPace
from sinew.solver.live.recording import read_inputs
from sinew.solver.runtime.errors import BadInput, SinewError
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks, NoTracks, Track

MATRIX, VERTICES = "collider.table.matrix", "collider.table.vertices"


def box(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [[a, b, c] for a, b, c, d in faces] + [[a, c, d] for a, b, c, d in faces]
    return np.array(low) + corners * (np.array(high) - np.array(low)), np.array(triangles, np.int32)


def on_a_table(gravity: float = -9.81) -> Scene:
    """A block of 0.1 m, 2 mm above a table of 0.4 × 0.4 × 0.1 m."""
    vertices, triangles = box((-0.15, -0.15, -0.102), (0.25, 0.25, -0.002))
    return Scene(
        (block((3, 3, 3), (0.1, 0.1, 0.1), (0.0, 0.0, 0.0)),),
        (Collider("table", "Table", "mesh", vertices=vertices, triangles=triangles),),
        settings=Settings(fps=30.0, gravity=(0.0, 0.0, gravity)),
    )


def moved(x: float = 0.0, z: float = 0.0) -> list[list[float]]:
    matrix = np.eye(4)
    matrix[:3, 3] = x, 0.0, z
    return matrix.tolist()


def set_matrix(x: float = 0.0, z: float = 0.0) -> Given:
    return {"command": "set", "track": MATRIX, "value": moved(x, z)}


def height(sample: Any) -> float:
    return float(sample.positions["block"][:, 2].min())


def bent(scene: Scene, rise: float) -> np.ndarray:
    """The table with its top higher by `rise`."""
    vertices = scene.colliders[0].vertices.copy()
    vertices[vertices[:, 2] > -0.05, 2] += rise
    return vertices


def deforming_tracks(scene: Scene) -> MemoryTracks:
    return MemoryTracks({VERTICES: Track([0.0], [scene.colliders[0].vertices])})


def test_a_shape_that_changes_lifts_what_lies_on_it(tmp_path: Path) -> None:
    scene = on_a_table()
    writer = ColliderShapesWriter(tmp_path / "live")
    run = LiveRun(scene, deforming_tracks(scene), cache=tmp_path)

    def hand(step: int) -> list[Given]:
        if not 30 <= step < 60:
            return []
        sample = writer.append("table", bent(scene, 0.1 * (step - 29) / 30.0))
        return [{"command": "deform", "collider": "table", "sample": sample}]

    samples = drive(run, 120, hand)
    assert abs(height(samples[30])) < 0.01
    assert abs(height(samples[120]) - 0.098) < 0.01, "it lies on the top, 0.1 m higher"


def test_samples_of_a_shape_are_read_as_they_were_written(tmp_path: Path) -> None:
    shapes = np.random.default_rng(2).normal(size=(3, 5, 3)).astype(np.float32)
    writer = ColliderShapesWriter(tmp_path / "live")
    assert [writer.append("table", shape) for shape in shapes] == [0, 1, 2]
    for number in (2, 0, 1):
        assert np.array_equal(read_shape(tmp_path, "table", number, 5), shapes[number].astype(np.float64))
    (tmp_path / "live" / "nan.shapes").write_bytes(np.full(15, np.nan, np.float32).tobytes())
    for key, number in (("table", 3), ("chair", 0), ("nan", 0)):
        with pytest.raises(BadInput) as caught:
            read_shape(tmp_path, key, number, 5)
        assert caught.value.kind == "live-no-such-shape"
    assert ColliderShapesWriter(tmp_path / "live").append("table", shapes[0]) == 0, "of the next run"
    assert (tmp_path / "live" / "table.shapes").stat().st_size == 60


@pytest.mark.parametrize(("given", "kind"), [
    ({"command": "deform", "collider": "table", "sample": -1}, "live-command-invalid"),
    ({"command": "deform", "collider": "table", "sample": 7}, "live-no-such-shape"),
    ({"command": "deform", "collider": "chair", "sample": 0}, "live-no-such-control"),
])  # fmt: skip
def test_what_cannot_be_is_refused_and_the_run_goes_on(tmp_path: Path, given: Given, kind: str) -> None:
    scene = on_a_table()
    run = LiveRun(scene, deforming_tracks(scene), cache=tmp_path)

    def hand(step: int) -> list[Given]:
        with pytest.raises(BadInput) as caught:
            run.apply(parse_command(given))
        assert caught.value.kind == kind
        return []

    assert len(drive(run, 2, hand)) == 3


@pytest.mark.slow
def test_a_bent_collider_is_repeated_and_kept_to_the_bit(tmp_path: Path) -> None:
    scene, cache = on_a_table(), tmp_path / "c.sinew"
    scene.save(cache / "scene")
    deforming_tracks(scene).save(cache / "scene")
    queue, events = SimpleQueue[Mapping[str, Any]](), list[Mapping[str, Any]]()
    writer = ColliderShapesWriter(cache / "live")
    for rise in (0.01, 0.02, 0.03):
        queue.put({"command": "deform", "collider": "table", "sample": writer.append("table", bent(scene, rise))})
    run_live(cache, scene, queue, lambda: False, events.append, LiveOptions(90, NoPace))
    assert not [event for event in events if event["event"] == "warning"]
    recorded = read_inputs(cache)
    last = recorded.commands[0][-1]
    assert last.pop("arrives") == pytest.approx(1.285, abs=1e-3), "it rises by 2.1 cm in the mean"
    assert last == {"command": "deform", "collider": "table", "sample": 2}
    told: list[Mapping[str, Any]] = []
    replay(cache, scene, lambda: False, told.append)
    assert told[-1] == {"event": "done", "steps": 90, "compared": 2}
    keep(cache, scene, lambda: False, told.append)
    (cache / "live" / "table.shapes").write_bytes(bent(scene, 0.0).astype("<f4").tobytes() * 3)
    with pytest.raises(SinewError) as caught:
        replay(cache, scene, lambda: False, told.append)
    assert caught.value.kind == "live-replay-differs"


@pytest.mark.parametrize("is_dragged", [False, True])
def test_what_is_put_elsewhere_in_one_look_is_no_blow(is_dragged: bool) -> None:
    """Through a floating block, 3 m in a step, also out of a drag; as a motion that is 180 m/s."""
    run = LiveRun(on_a_table(gravity=0.0), NoTracks(), {MATRIX: moved(z=-1.5)})

    def hand(step: int) -> list[Given]:
        drag = 0.02 * min(step, 10) if is_dragged else 0.0  # 1.2 m/s
        return [set_matrix(z=-1.5 + drag + (3.0 if step >= 10 else 0.0))]

    samples = drive(run, 40, hand)
    assert np.abs(samples[40].positions["block"] - samples[0].positions["block"]).max() < 1.0e-6


def test_a_hand_that_moves_less_than_its_size_pushes() -> None:
    run = LiveRun(on_a_table(gravity=0.0), NoTracks(), {MATRIX: moved(z=-0.2)})
    samples = drive(run, 40, lambda step: [set_matrix(z=-0.2 + 0.02 * min(step, 15))])
    assert height(samples[40]) > 0.09


def test_what_lands_around_a_body_lets_it_out_without_a_blow() -> None:
    run = LiveRun(on_a_table(gravity=0.0), NoTracks(), {MATRIX: moved(z=-2.0)})
    samples = drive(run, 90, lambda step: [set_matrix(z=0.06)] if step == 5 else [])
    way = np.linalg.norm(samples[90].positions["block"].mean(0) - samples[0].positions["block"].mean(0))
    assert way < 1.0, "it was flung 200 m"


def test_a_rigid_collider_that_is_scaled_says_so_and_stays() -> None:
    run = LiveRun(on_a_table(), NoTracks(), {MATRIX: moved()})
    wide = np.diag([2.0, 2.0, 2.0, 1.0]).tolist()
    with pytest.raises(BadInput) as caught:
        drive(run, 10, lambda step: [{"command": "set", "track": MATRIX, "value": wide}] if step == 3 else [])
    assert caught.value.kind == "collider-changes-size" and "Table" in caught.value.sentence


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("pause", [0, 10])
@pytest.mark.parametrize("way", [0.02, 0.05, 0.15])
def test_a_table_that_is_put_back_in_one_look_carries_what_lies_on_it(way: float, pause: int, is_wide: bool) -> None:
    """As by Escape after a drag: it was thrown up by 3.5 m at once, and fell through the table after a pause."""
    scene = on_a_table()
    if is_wide:
        vertices, triangles = box((-3.0, -3.0, -0.102), (3.0, 3.0, -0.002))
        table = Collider("table", "Table", "mesh", vertices=vertices, triangles=triangles)
        scene = replace(scene, colliders=(table,))
    run = LiveRun(scene, NoTracks(), {MATRIX: moved()})

    def hand(step: int) -> list[Given]:
        if 30 <= step < 60:
            return [set_matrix(z=-way * (step - 29) / 30)]
        return [set_matrix(z=0.0)] if step == 60 + pause else []

    heights = [height(sample) for sample in drive(run, 200, hand)]
    assert max(heights) < -0.002 + 0.6 * 0.1, "half the size of the body, by the speed of the table"
    assert heights[-1] == pytest.approx(-0.002, abs=1e-3)


def test_a_collider_that_is_late_goes_at_the_speed_of_a_fall_and_says_when_it_arrives() -> None:
    run, speed = LiveRun(on_a_table(gravity=0.0), NoTracks(), {MATRIX: moved(z=-0.5)}), math.sqrt(9.80665 * 0.1)
    arrivals = list[float]()

    def hand(step: int) -> list[Given]:
        if step in (3, 9):
            arrivals.append(run.apply(parse_command(set_matrix(z=-0.4 if step == 3 else -0.35))))
        return []

    drive(run, 30, hand)
    at = [run.tracks.sample(MATRIX, step / 60.0)[2, 3] for step in range(31)]
    assert arrivals == pytest.approx([3 + 60 * 0.1 / speed, 9 + 60 * (0.05 + 0.1 - 6 / 60 * speed) / speed])
    assert np.diff(at).max() <= speed / 60.0 + 1.0e-9 and at[-1] == pytest.approx(-0.35)


def test_a_collider_that_is_animated_is_there_at_once() -> None:
    run = LiveRun(on_a_table(gravity=0.0), NoTracks(), {MATRIX: moved(z=-0.5)})

    def hand(step: int) -> list[Given]:
        if step == 3:
            assert run.apply(parse_command({**set_matrix(z=-0.4), "at_once": True})) == 4
        return []

    drive(run, 5, hand)
    assert run.tracks.sample(MATRIX, 4 / 60.0)[2, 3] == pytest.approx(-0.4)
    with pytest.raises(BadInput, match="at_once"):
        parse_command({**set_matrix(), "at_once": 1})
