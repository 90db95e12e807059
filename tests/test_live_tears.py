# SPDX-License-Identifier: GPL-3.0-or-later
"""Tears of live runs: what is pulled past its Breaking Stress parts at once, and another process sees both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.fracture_specimens import breakable
from fixtures.live_runs import drive
from fixtures.tet_meshes import bar
from sinew.solver.bake.cache import layout
from sinew.solver.bake.cache.pc2 import HEADER_BYTES
from sinew.solver.bake.postprocess.result_npz import FinalMesh
from sinew.solver.live import torn_meshes
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.live_run import LiveRun
from sinew.solver.live.pacing import NoPace
from sinew.solver.live.sample_files import KEPT_GENERATIONS, SLOTS, SampleReader, SampleWriter, remove_samples
from sinew.solver.mesh.cutting.cut import cut_surface
from sinew.solver.runtime.npz_reader import read_arrays
from sinew.solver.scene.scene import Fracture, Material, Scene, Settings
from sinew.solver.scene.tracks import NoTracks, TrackWriter

Given = Mapping[str, Any]
SOFT = Material(youngs_modulus=1.0e5, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.01)
LONG, WIDE = 0.4, 0.1


def scene() -> Scene:
    """Returns a bar along x whose one end is held, and one beside it that cannot break."""
    nodes, tets = bar((8, 2, 2), (LONG, WIDE, WIDE))
    body = breakable(nodes, tets, Fracture(breaking_stress=2.0e4), material=SOFT)
    middle = 0.5 * np.array([LONG, WIDE, WIDE])
    body = replace(body, vertices=middle + 0.98 * (body.vertices - middle))  # tets cover it
    held = np.flatnonzero(body.vertices[:, 0] < 0.02).astype(np.int32)
    body = replace(body, pinned=held, pin_weights=np.ones(len(held)))
    other = replace(body, key="other", fracture=None, tet_nodes=nodes + [0.0, 1.0, 0.0])
    other = replace(other, vertices=body.vertices + [0.0, 1.0, 0.0])
    return Scene((body, other), settings=Settings(fps=60.0, gravity=(0.0, 0.0, 0.0)))


def cache_of(folder: Path) -> Path:
    cache = folder / "Take 1.sinew"
    scene().save(cache / layout.SCENE_FOLDER)
    TrackWriter(cache / layout.SCENE_FOLDER).close()
    return cache


def tear(cache: Path, steps: int = 60) -> tuple[list[Given], list[dict[str, Any]]]:
    """Pulls the free end away by its own length in half a second; returns events, and what a reader saw after steps."""
    queue, events, seen = SimpleQueue[Given](), list[Given](), list[dict[str, Any]]()
    reader: SampleReader | None = None
    end = [LONG, 0.5 * WIDE, 0.5 * WIDE]

    def before_step() -> bool:
        nonlocal reader
        number = len(seen)
        if number:
            reader = reader or SampleReader(cache / layout.LIVE_FOLDER)
            head = reader.newest()
            assert head is not None and head.step == number
            places = {key: reader.positions(key, head) for key in ("bar", "other")}
            seen.append({"head": head, "of": reader.generation_of("bar", head), **places})
        else:
            seen.append({})
        if number == 0:
            queue.put({"command": "grab", "grab": 1, "body": "bar", "place": end, "radius": 0.08})
        queue.put({"command": "move", "grab": 1, "place": [LONG * (1.0 + min(number, 30) / 30), *end[1:]]})
        return False

    run_live(cache, scene(), queue, before_step, events.append, LiveOptions(steps, NoPace))
    return events, seen[1:]


def mesh_of(cache: Path, generation: int) -> FinalMesh:
    arrays = read_arrays(layout.live_mesh_path(cache / layout.LIVE_FOLDER, "bar", generation))
    return FinalMesh(**{name: arrays[name] for name in FinalMesh.__dataclass_fields__})


def open_sides(mesh: FinalMesh) -> int:
    """Returns how many sides of faces have no other face on them."""
    here, there = mesh.corners, mesh.corners[mesh.next_corner]
    count = len(mesh.rest)
    forward, back = here.astype(np.int64) * count + there, there.astype(np.int64) * count + here
    return len(np.setxor1d(forward, back))


def test_what_is_held_is_known_at_the_step_that_tears() -> None:
    """Copies of nodes are held as those that they come from: here none that the hand has, and all of the pinned end."""
    alone = replace(scene(), bodies=scene().bodies[:1])
    run, end = LiveRun(alone, NoTracks()), [LONG, 0.5 * WIDE, 0.5 * WIDE]
    count = run.simulation.built.model.node_count

    def pull(step: int) -> list[Given]:
        assert run.held_grabs() == []
        if step == 0:
            return [{"command": "grab", "grab": 1, "body": "bar", "place": end, "radius": 0.08}]
        return [{"command": "move", "grab": 1, "place": [LONG * (1.0 + min(step, 30) / 30), *end[1:]]}]

    drive(run, 60, pull)
    model, held = run.simulation.built.model, run.simulation.held_nodes
    assert model.node_count > count, "it is torn"
    assert held is not None
    held, along = held[model.bodies[0].nodes], model.X[model.bodies[0].nodes, 0]
    assert held[along < 0.01].all() and not held[along > LONG / 8 + 0.01].any(), "the tets of pinned vertices are held"


@pytest.mark.slow
def test_what_is_pulled_too_far_tears_and_both_sides_are_closed(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    events, seen = tear(cache)
    torn = [event for event in events if event["event"] == "torn"]
    assert torn and not [event for event in events if event["event"] == "warning"]
    assert [event["generation"] for event in torn] == list(range(1, len(torn) + 1))
    told = torn[-1]["bodies"][0]
    mesh = mesh_of(cache, torn[-1]["generation"])
    assert told == {"key": "bar", "vertices": len(mesh.rest), "faces": mesh.face_count, "pieces": mesh.piece_count}
    assert mesh.piece_count >= 2 and mesh.is_broken.sum() >= 2 and open_sides(mesh) == 0
    assert len(mesh.rest) > len(scene().bodies[0].vertices)


@pytest.mark.slow
def test_a_reader_sees_the_mesh_that_the_head_tells_of(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    events, seen = tear(cache)
    begins = {event["step"]: event["generation"] for event in events if event["event"] == "torn"}
    generation = 0
    for sample in seen:
        generation = begins.get(sample["head"].step, generation)
        assert sample["head"].generation == sample["of"] == generation
        assert np.isfinite(sample["bar"]).all() and len(sample["other"]) == len(scene().bodies[1].vertices)
    last = mesh_of(cache, generation)
    assert len(seen[-1]["bar"]) == len(last.rest)
    pieces = np.zeros(len(last.rest), np.int32)
    pieces[last.corners] = last.piece[last.face_of_corner]
    gap = [seen[-1]["bar"][pieces == number, 0] for number in range(last.piece_count)]
    nearest = sorted((float(x.min()), float(x.max())) for x in gap)
    assert nearest[1][0] - nearest[0][1] > 0.02  # the torn piece has gone away, and no face spans the gap


@pytest.mark.slow
def test_the_mesh_is_that_of_a_bake_for_the_same_tets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cut in parts that are computed once, and as a whole."""
    found: list[tuple[Any, ...]] = []
    whole = torn_meshes.cut_embedded_surface

    def listen(embedded: Any, *arguments: Any) -> FinalMesh:
        found.append((arguments, whole(embedded, *arguments)))
        return found[-1][1]

    monkeypatch.setattr(torn_meshes, "cut_embedded_surface", listen)
    tear(cache_of(tmp_path), 40)
    tets = scene().bodies[0].tets
    assert found
    for (nodes, parted, *rest), mesh in found:
        twin = cut_surface(nodes, tets, parted, *rest)
        for name in FinalMesh.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(mesh, name), getattr(twin, name))


@pytest.mark.slow
def test_a_torn_run_repeats_to_the_bit_whenever_meshes_were_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = cache_of(tmp_path)
    monkeypatch.setattr(torn_meshes, "PAUSE", 1.0e6)  # only the first cut is made
    events, _ = tear(cache, 70)
    assert len([event for event in events if event["event"] == "torn"]) == 1
    told: list[Given] = []
    replay(cache, scene(), lambda: False, told.append)
    assert told[-1] == {"event": "done", "steps": 70, "compared": 2}


@pytest.mark.slow
def test_a_mesh_that_cannot_be_cut_is_told_once_and_shown_stretched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise torn_meshes.SinewError("cut-not-closed", name="Bar")

    monkeypatch.setattr(torn_meshes, "cut_embedded_surface", fail)
    events, seen = tear(cache_of(tmp_path))
    assert [event["kind"] for event in events if event["event"] == "warning"] == ["cut-not-closed"]
    assert seen[-1]["head"].generation == 0 and len(seen[-1]["bar"]) == len(scene().bodies[0].vertices)


def test_old_generations_go_and_samples_of_the_newest_before_are_there(tmp_path: Path) -> None:
    def positions(count: int, value: float) -> dict[str, np.ndarray]:
        return {"a": np.full((count, 3), value), "b": np.zeros((2, 3))}

    writer = SampleWriter(tmp_path, positions(4, 0.0))
    reader = SampleReader(tmp_path)
    writer.write(1, 0, 0.0, positions(4, 1.0))
    before = reader.newest()
    last = KEPT_GENERATIONS + 3
    for generation in range(1, last + 1):
        count = 4 + generation
        writer.begin_generation({"a": (b"mesh", np.full((count, 3), 7.0))})
        if generation == 1:
            early = reader.positions("a", before)
            assert early is not None and early.shape == (4, 3) and (early == 1.0).all()
        torn = positions(count, float(generation))
        writer.write(1 + generation, 0, 0.0, positions(4, -1.0), {"a": torn["a"]})
        head = reader.newest()
        assert head is not None and head.generation == generation == reader.generation_of("a", head)
        found = reader.positions("a", head)
        assert found is not None and found.shape == (count, 3) and (found == generation).all()
        assert reader.generation_of("b", head) == 0
        whole = np.memmap(tmp_path / "a.pc2", "<f4", "r", HEADER_BYTES, (SLOTS, 4, 3))
        assert (whole[head.slot] == -1.0).all()  # who does not know of tears sees it stretched
    kept = [last - number for number in reversed(range(KEPT_GENERATIONS + 1))]
    assert layout.live_generations(tmp_path, "a") == kept and kept[0] > 1
    assert all(layout.is_sinew_file(Path("live") / path.name) for path in tmp_path.iterdir())
    writer.close()
    reader.close()
    (tmp_path / "live").mkdir()
    for path in [path for path in tmp_path.iterdir() if path.is_file()]:
        path.rename(tmp_path / "live" / path.name)
    remove_samples(tmp_path / "live")
    assert not list((tmp_path / "live").iterdir())


@pytest.mark.slow
def test_the_inside_of_a_torn_piece_can_be_grabbed() -> None:
    """The middle of a crack is as far from the render vertices as the bar is half wide."""
    run = LiveRun(scene(), NoTracks())
    end = np.array([LONG, 0.5 * WIDE, 0.5 * WIDE])

    def hand(step: int) -> list[Given]:
        taken = [{"command": "grab", "grab": 1, "body": "bar", "place": end.tolist(), "radius": 0.08}]
        moved = {"command": "move", "grab": 1, "place": [LONG * (1.0 + min(step, 30) / 30), *end[1:].tolist()]}
        return [*(taken if step == 0 else []), moved]

    drive(run, 60, hand)
    simulation = run.simulation
    built, x = simulation.built, simulation.state.x
    body = built.bodies[0]
    tets = built.model.tets[body.range.tets]
    copies = {old: np.unique(tets[body.mesh.tets == old]) for old in range(len(body.mesh.nodes))}
    on_cracks = [node for nodes in copies.values() if len(nodes) > 1 for node in nodes]
    inside = [n for n in on_cracks if np.allclose(body.mesh.nodes[_origin(copies, n)][1:], 0.5 * WIDE)]
    assert len(inside) >= 2, "there are nodes in the middle of the crack, on both sides"
    for node in inside:
        run.apply(parse_command({"command": "grab", "grab": 2, "body": "bar", "place": x[node].tolist()}))
        grab = run.grabs.held[2]
        assert np.abs(grab.offsets).max() < 1.0e-12
        assert node in built.model.tets[grab.points.tet[0]]


def _origin(copies: dict[int, np.ndarray], node: int) -> int:
    return next(old for old, nodes in copies.items() if node in nodes)
