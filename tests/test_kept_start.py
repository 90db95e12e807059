# SPDX-License-Identifier: GPL-3.0-or-later
"""What was pressed by hand is the first frame: a body begins at a kept shape with its plastic strain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import drive
from fixtures.scenes import block
from fixtures.tet_meshes import bar
from sinew.solver.bake.cache import layout
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.live_run import LiveRun
from sinew.solver.live.pacing import NoPace
from sinew.solver.live.refused_starts import read_refused
from sinew.solver.live.sample_files import remove_samples
from sinew.solver.mechanics.state_fields import FLOWED, FP_INVERSE, PLASTIC_STRAIN
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import QUASISTATIC, Flesh
from sinew.solver.scene.material import Material, Plasticity
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.start import Start
from sinew.solver.scene.tracks import NoTracks, TrackWriter
from sinew.solver.simulation.kept_start import keep_start
from sinew.solver.simulation.simulation import Simulation

SIZE = 0.1
PUSH = {"command": "push", "brush": 1, "place": [0.05, 0.05, 0.115], "radius": 0.04}
LIFT = {"command": "lift", "brush": 1}


def clay(cells: int = 4, law: str = "multiplicative") -> Scene:
    """Returns a block that lies on its pinned lower side and flows where it is pressed, with so many cells of tets."""
    body = block((4, 4, 4), (SIZE,) * 3)
    nodes, tets = bar((cells,) * 3, (SIZE,) * 3)
    below = np.flatnonzero(body.vertices[:, 2] < 1.0e-9).astype(np.int32)
    body = replace(
        body,
        tet_nodes=nodes,
        tets=tets,
        material=Material(youngs_modulus=2.0e4, poisson_ratio=0.4, density=1000.0, mass_damping=2.0),
        plasticity=Plasticity(law=law, yield_strain=0.02, flow=40.0, maximum_strain=2.0),
        pinned=below,
    )
    return Scene((body,), settings=Settings(fps=30.0, gravity=(0.0, 0.0, 0.0), frame_end=31))


def pressed(law: str = "multiplicative") -> LiveRun:
    """Returns a run in which a ball has pressed a dent into the block, and was taken away."""
    run = LiveRun(clay(law=law), NoTracks())
    hand = {0: [PUSH], 60: [LIFT]}
    drive(run, 120, lambda step: hand.get(step, []))
    return run


def begun(start: Start | None, cells: int = 4, law: str = "multiplicative") -> Simulation:
    scene = clay(cells, law)
    return Simulation(replace(scene, bodies=(replace(scene.bodies[0], start=start),)))


@pytest.mark.parametrize(("law", "field"), [("multiplicative", FP_INVERSE), ("additive", PLASTIC_STRAIN)])
def test_a_block_begins_as_it_was_pressed_to_the_bit_and_stays_so(law: str, field: str) -> None:
    run = pressed(law)
    start = keep_start(run.simulation, 0)
    again = begun(start, law=law)
    first = again.start().positions["block"].copy()
    assert np.array_equal(again.state.x, run.simulation.state.x)
    assert np.array_equal(again.state.fields[field], run.simulation.state.fields[field])
    assert np.abs(first - run.scene.bodies[0].vertices).max() > 0.05 * SIZE, "it is pressed"
    last = list(again.run())[-1].positions["block"]
    elastic = begun(replace(start, Fp_inverse=None, flowed=None, plastic_strain=None), law=law)
    back = list(elastic.run())[-1].positions["block"]
    stays, springs = np.abs(last - first).max(), np.abs(back - first).max()
    assert stays < 0.01 * SIZE and springs > 5.0 * stays, (stays, springs)


def test_finer_tets_take_shape_and_strain_of_those_they_lie_in() -> None:
    run = pressed()
    start = keep_start(run.simulation, 0)
    fine = begun(start, cells=8)
    first = fine.start().positions["block"]
    assert first == pytest.approx(run.simulation.positions()["block"], abs=1e-9), "they lie in the coarse tets"
    assert np.abs(fine.state.fields[FLOWED]).max() == np.abs(start.flowed).max()
    last = list(fine.run())[-1].positions["block"]
    assert np.abs(last - first).max() < 0.03 * SIZE  # 0.017: set after it was seen


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_start_goes_into_another_space_and_back(mirror: float) -> None:
    """Strains turn with the body: those of a turned body, F = R F₀ Rᵀ, are the turned ones."""
    start = keep_start(pressed("additive").simulation, 0)
    start = replace(start, Fp_inverse=np.eye(3) + 0.1 * np.random.default_rng(2).normal(size=(len(start.tets), 3, 3)))
    matrix = np.eye(4)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    matrix[:3, :3], matrix[:3, 3] = 2.0 * turn @ np.diag([1.0, 1.0, mirror]), (1.0, 2.0, 3.0)
    there = start.transformed(matrix)
    q = matrix[:3, :3] / 2.0
    assert there.Fp_inverse[5] == pytest.approx(q @ start.Fp_inverse[5] @ q.T)
    xx, yy, zz, xy, yz, zx = start.plastic_strain[np.argmax(np.abs(start.plastic_strain).sum(axis=1))]
    whole = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    turned = q @ whole @ q.T
    found = there.plastic_strain[np.argmax(np.abs(start.plastic_strain).sum(axis=1))]
    assert found == pytest.approx(turned[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]])
    back = there.transformed(np.linalg.inv(matrix))
    for name in ("vertices", "nodes", "positions", "Fp_inverse", "plastic_strain"):
        assert getattr(back, name) == pytest.approx(getattr(start, name), abs=1e-12), name


def test_bytes_hold_it_and_damaged_ones_are_named() -> None:
    start = keep_start(pressed().simulation, 0)
    data = start.to_bytes()
    again = Start.from_bytes(data, "Block")
    assert np.array_equal(again.Fp_inverse, start.Fp_inverse) and again.plastic_strain is None
    with pytest.raises(BadInput, match='"Block" cannot be read'):
        Start.from_bytes(data[: len(data) // 2], "Block")


def test_another_mesh_cannot_begin_so_and_another_size_of_the_tets_can() -> None:
    start = keep_start(pressed().simulation, 0)
    moved = replace(start, vertices=start.vertices + 0.01 * SIZE)
    for other in (moved, replace(start, vertices=start.vertices[:-1])):
        with pytest.raises(BadInput, match='mesh of "Block" has another shape'):
            begun(other)
    assert np.array_equal(begun(start, cells=3).state.v, np.zeros_like(begun(None, cells=3).state.v)), "at rest"


@pytest.mark.slow
def test_flesh_that_follows_its_pose_has_no_start() -> None:
    scene = clay()
    flesh = replace(scene.bodies[0], plasticity=None, flesh=Flesh(motion=QUASISTATIC))
    with pytest.raises(BadInput, match="follows its pose"):
        keep_start(Simulation(replace(scene, bodies=(flesh,))), 0)


def test_a_scene_with_a_start_is_another_one_and_is_read_again(tmp_path: Path) -> None:
    start = keep_start(pressed().simulation, 0)
    plain = clay()
    scene = replace(plain, bodies=(replace(plain.bodies[0], start=start),))
    scene.save(tmp_path)
    again = Scene.load(tmp_path)
    assert again.digest() == scene.digest() != plain.digest()
    assert np.array_equal(again.bodies[0].start.positions, start.positions)


def test_a_run_writes_starts_in_the_space_of_the_object_when_asked_and_at_its_end(tmp_path: Path) -> None:
    scene, cache = clay(), tmp_path / "Take 1.sinew"
    matrix = np.array([[0.0, -1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    scene.save(cache / layout.SCENE_FOLDER)
    tracks = TrackWriter(cache / layout.SCENE_FOLDER)
    tracks.append("body.block.matrix", np.zeros(1), matrix[None], "rigid")
    tracks.close()
    queue, events = SimpleQueue[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for command in (PUSH, {"command": "keep_starts"}):
        queue.put(command)
    run_live(cache, scene, queue, lambda: False, events.append, LiveOptions(60, NoPace))
    told = [event for event in events if event["event"] == "starts"]
    assert told == [{"event": "starts", "step": step} for step in (0, 60)] and read_refused(cache) == {}
    stored = Start.from_bytes(layout.live_start_path(cache, "block").read_bytes(), "Block").transformed(matrix)
    assert stored.vertices == pytest.approx(scene.bodies[0].vertices, abs=1e-12)
    assert stored.positions[:, 2].min() >= -1e-3 and np.abs(stored.positions - stored.nodes).max() > 0.05 * SIZE
    replay(cache, scene, lambda: False, events.append)  # as it was: what is kept is no input
    assert events[-1]["event"] == "done"
    remove_samples(cache / layout.LIVE_FOLDER)
    assert not layout.live_start_path(cache, "block").exists() and read_refused(cache) is None
