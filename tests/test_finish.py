# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass: the final mesh moves as it was baked, and where a crack is closed it is so to the last bit."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from breaking_bakes import FRAMES, breaking_scene, write_breaking
from mortal import Dead, Mortal
from sinew.solver.arrays import indices
from sinew.solver.attributes.ply import read_ply
from sinew.solver.cache import CacheReader, delete_cache
from sinew.solver.cutting.cut_surface import CutSurface
from sinew.solver.errors import BadInput, Cancelled, SolveFailed, StorageFailed
from sinew.solver.finish import finish_body
from sinew.solver.finish.body_frames import BodyFrames
from sinew.solver.finish.corrections import carried_over
from sinew.solver.finish.finish import finish
from sinew.solver.finish.moving import drawn_samples
from sinew.solver.finish.opening import Opening
from sinew.solver.finish.result import parting
from sinew.solver.finish.ties import tie
from sinew.solver.object_space import in_object_space
from sinew.solver.pc2 import read_head, read_samples
from sinew.solver.scene import Body, Fracture, Scene
from sinew.solver.simulate import simulate
from sinew.solver.stop_request import StopRequest
from sinew.solver.tracks import TrackReader
from tiny_bakes import baked

KEY = "pulled"
ASKED = ("stress", "velocity")


def nothing(_: Mapping[str, Any]) -> None:
    """Hears an event."""


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bake in which a bar broke, with two samples a frame."""
    cache = tmp_path_factory.mktemp("broken") / "Take 1.sinew"
    write_breaking(cache, breaking_scene(attributes=ASKED, samples_per_frame=2))
    simulate(cache, nothing)
    return cache


def surface_of(cache: Path) -> tuple[CutSurface, dict[str, np.ndarray]]:
    made = CacheReader(cache).read_result(KEY)
    assert made is not None
    return CutSurface(**{field.name: made[field.name] for field in dataclasses.fields(CutSurface)}), made


def world_samples(cache: Path) -> list[np.ndarray]:
    """Returns the positions of the final mesh at every sample, before they are rounded."""
    surface, _ = surface_of(cache)
    frames = BodyFrames(CacheReader(cache), KEY)
    ties = tie(frames.mesh.tets, surface.rest, surface.tet, surface.weights)
    opening = Opening(frames.mesh.tets, parting(surface)[1])
    return [world for _, world in drawn_samples(frames, ties, {}, opening)]


def copies(cache: Path) -> np.ndarray:
    """Returns pairs of corners, (p, 2) vertices, of broken faces and the faces they fitted to, at the same point."""
    surface, _ = surface_of(cache)
    pairs = []
    for face in np.flatnonzero(surface.partner >= 0):
        here = surface.corners[surface.face_start[face] : surface.face_start[face + 1]]
        other = surface.partner[face]
        there = surface.corners[surface.face_start[other] : surface.face_start[other + 1]]
        at = {surface.rest[vertex].tobytes(): vertex for vertex in there}
        pairs += [(face, vertex, at[surface.rest[vertex].tobytes()]) for vertex in here]
    return np.array(pairs)


def test_the_bar_broke_in_the_middle_of_a_frame(through: Path) -> None:
    reader = CacheReader(through)
    assert reader.is_done() and reader.integrity() == []
    (told,) = reader.results()
    assert told["name"] == "Pulled Bar" and told["broken_faces"] > 20
    assert told["pieces"] == reader.report()[-1]["bodies"][KEY]["pieces"] >= 3
    numbers = reader.topologies()
    assert numbers and any(number % 2 for number in numbers), "a sample between two frames has its own topology"
    for number in numbers:
        frame = -(-number // 2) + 1  # the first that is not before the sample
        assert reader.read_frame(frame).topology >= number > reader.read_frame(frame - 1).topology


def test_every_edge_has_two_faces_that_agree(through: Path) -> None:
    surface, _ = surface_of(through)
    after = surface.next_corner
    sides = np.stack([surface.corners, surface.corners[after]], axis=1)
    there, back = {tuple(side) for side in sides.tolist()}, {tuple(side) for side in sides[:, ::-1].tolist()}
    assert len(there) == len(sides) and there == back, "closed, by indices alone: so at every frame"


def test_the_motion_has_every_sample(through: Path) -> None:
    surface, made = surface_of(through)
    head = read_head(through / "result" / f"{KEY}.pc2")
    assert (head.vertices, head.samples, head.rate) == (len(surface.rest), 2 * FRAMES - 1, 0.5)
    assert int(made["last_frame"]) == FRAMES
    tracks, settings = TrackReader(through / "scene"), Scene.load(through / "scene").settings
    for number, world in enumerate(world_samples(through)):
        local = in_object_space(tracks, KEY, world, settings.time(1 + number / 2))
        stored = read_samples(through / "result" / f"{KEY}.pc2", number, 1)[0]
        np.testing.assert_allclose(stored, local, atol=2e-6)  # but for what pins corrected


def test_it_begins_as_the_render_mesh(through: Path) -> None:
    surface, _ = surface_of(through)
    body = Scene.load(through / "scene").bodies[1]
    is_source = surface.source_vertex >= 0
    assert set(surface.source_vertex[is_source]) == set(range(len(body.vertices)))
    first = world_samples(through)[0]
    size = np.ptp(body.vertices, axis=0).max()
    assert np.abs(first[is_source] - body.vertices[surface.source_vertex[is_source]]).max() < 1e-9 * size
    assert np.abs(first - surface.rest).max() < 1e-9 * size


def test_before_it_breaks_it_moves_as_the_render_mesh(through: Path) -> None:
    surface, _ = surface_of(through)
    is_source = surface.source_vertex >= 0
    for number in range(CacheReader(through).topologies()[0]):
        shown = read_samples(through / "result" / f"{KEY}.pc2", number, 1)[0, is_source]
        played = read_samples(through / "play" / f"{KEY}.pc2", number, 1)[0, surface.source_vertex[is_source]]
        assert np.abs(shown - played).max() < 1e-6


def test_closed_cracks_are_closed_to_the_last_bit(through: Path) -> None:
    _, made = surface_of(through)
    pairs = copies(through)
    assert len(pairs) > 100
    opens = 2 * (made["opens"][pairs[:, 0]] - 1)  # as number of the sample
    apart = 0.0
    for number in range(2 * FRAMES - 1):
        shown = read_samples(through / "result" / f"{KEY}.pc2", number, 1)[0]
        one, other = shown[pairs[:, 1]], shown[pairs[:, 2]]
        closed = opens > number
        assert (one[closed] == other[closed]).all(), f"sample {number}"
        apart = np.abs(one - other).max()
    assert apart > 0.05, "it is torn apart at the end"


def test_faces_open_when_their_tets_part(through: Path) -> None:
    surface, made = surface_of(through)
    frames = BodyFrames(CacheReader(through), KEY)
    whole = frames.mesh.tets
    for face in np.flatnonzero(surface.partner >= 0)[::5]:
        tets = [surface.face_tet[face], surface.face_tet[surface.partner[face]]]
        shared = set(whole[tets[0]]) & set(whole[tets[1]])
        first = None
        for number in [0, *frames.numbers]:
            now = frames.topology(number)
            copies_of = [{n: now[tet][list(whole[tet]).index(n)] for n in shared} for tet in tets]
            if first is None and copies_of[0] != copies_of[1]:
                first = number
        assert first is not None and made["opens"][face] == 1 + first / 2
    assert (made["opens"][surface.source_face >= 0] == 0.0).all()


def test_copies_in_tets_of_other_shapes_are_tied_alike() -> None:
    random = np.random.default_rng(1)
    nodes = random.random((7, 3))
    tets = indices([[0, 1, 2, 3], [2, 4, 1, 0], [5, 1, 2, 6]])
    edge = random.random((20, 2))
    face = random.dirichlet([1.0, 1.0, 1.0], 20)
    on_face = face @ nodes[:3]
    on_edge = np.sort(edge)[:, :1] * nodes[1] + (1.0 - np.sort(edge)[:, :1]) * nodes[2]
    rest = np.concatenate([on_face, on_face, on_edge, on_edge, on_edge])
    tet = indices(np.repeat([0, 1, 0, 1, 2], 20))
    inner = np.linalg.solve(
        (nodes[tets[tet, 1:]] - nodes[tets[tet, :1]]).transpose(0, 2, 1), (rest - nodes[tets[tet, 0]])[:, :, None]
    )[:, :, 0]
    weights = np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)
    ties = tie(tets, rest, tet, weights)
    moved = random.random((7, 3)) * 1e3
    drawn = ties.draw(moved, ties.nodes(tets))
    np.testing.assert_allclose(drawn, np.einsum("ka,kai->ki", weights, moved[tets[tet]]), rtol=1e-11, atol=1e-9)
    assert (drawn[:20] == drawn[20:40]).all()
    assert (drawn[40:60] == drawn[60:80]).all() and (drawn[40:60] == drawn[80:]).all()
    naive = np.einsum("ka,kai->ki", weights, moved[tets[tet]])
    assert (naive[:20] != naive[20:40]).any(), "without ties they differ by round-off"


def test_what_is_at_one_place_but_no_copy_is_left_alone() -> None:
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2], [2, 0, 0], [0, 2, 0], [0, 0, 2.0]])
    tets = indices([[0, 1, 2, 3], [4, 5, 6, 7]])  # they overlap
    rest = np.tile([0.21, 0.22, 0.23], (2, 1))
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    inner = np.linalg.solve(edges.transpose(0, 2, 1), (rest - nodes[tets[:, 0]])[:, :, None])[:, :, 0]
    weights = np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)
    ties = tie(tets, rest, indices([0, 1]), weights)
    moved = nodes + np.repeat([[0.0], [5.0]], 4, axis=0)
    np.testing.assert_allclose(ties.draw(moved, ties.nodes(tets)), [[0.21, 0.22, 0.23], [5.21, 5.22, 5.23]])


def test_what_pins_correct_is_carried_over(through: Path) -> None:
    surface, _ = surface_of(through)
    body = Scene.load(through / "scene").bodies[1]
    frames = BodyFrames(CacheReader(through), KEY)
    first = tie(frames.mesh.tets, surface.rest, surface.tet, surface.weights).first
    size = frames.mesh.report.tet_size
    matrix = carried_over(body, KEY, size, surface, first)
    assert matrix is not None and carried_over(body, f"{KEY}.attached", size, surface, first) is None
    moved = matrix @ np.random.default_rng(2).random((matrix.shape[1], 3))
    is_pinned = np.isin(surface.source_vertex, body.pinned)
    rows = {int(vertex): row for row, vertex in enumerate(body.pinned)}
    wanted = np.random.default_rng(2).random((matrix.shape[1], 3))[[rows[v] for v in surface.source_vertex[is_pinned]]]
    np.testing.assert_allclose(moved[is_pinned], wanted, atol=1e-12)
    pairs = copies(through)
    assert (moved[pairs[:, 1]] == moved[pairs[:, 2]]).all()
    lies_on = np.flatnonzero(surface.corner_triangle >= 0)
    whole = np.zeros((len(body.vertices), 3))
    source = surface.source_vertex >= 0
    whole[surface.source_vertex[source]] = moved[source]
    between = np.einsum(
        "ca,cai->ci", surface.corner_weights[lies_on], whole[body.triangles[surface.corner_triangle[lies_on]]]
    )
    np.testing.assert_allclose(moved[surface.corners[lies_on]], between, atol=1e-9)


@pytest.mark.parametrize("last", [2, 4, 9])
def test_a_bake_that_is_made_longer_has_the_same_bytes(through: Path, tmp_path: Path, last: int) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    simulate(cache, nothing, frame_end=last)
    made = CacheReader(cache).read_result(KEY)
    assert (made is None) == (last == 2)
    assert made is None or int(made["last_frame"]) == last
    simulate(cache, nothing, resume=True)
    assert baked(cache) == baked(through)


def test_stopped_it_is_finished_as_far_as_it_went(through: Path, tmp_path: Path) -> None:
    cache, stop, told = tmp_path / "c", StopRequest(), []
    shutil.copytree(through / "scene", cache / "scene")

    def hear(event: Mapping[str, Any]) -> None:
        told.append(event)
        if event["event"] == "frame" and event["frame"] == 7:
            stop.set()

    with pytest.raises(Cancelled):
        simulate(cache, hear, stop, on_stopped=stop.take)
    names = [event["event"] for event in told]
    assert names[-1] == "finished" and "done" not in names
    made = CacheReader(cache).read_result(KEY)
    assert made is not None and int(made["last_frame"]) == 7
    assert read_head(cache / "result" / f"{KEY}.pc2").samples == CacheReader(cache).head.sample_count(7)
    simulate(cache, nothing, resume=True)
    assert baked(cache) == baked(through)


def test_a_second_wish_leaves_the_finishing_too(through: Path, tmp_path: Path) -> None:
    cache, stop = tmp_path / "c", StopRequest()
    shutil.copytree(through / "scene", cache / "scene")

    def hear(event: Mapping[str, Any]) -> None:
        if event["event"] == "frame" and event["frame"] == 7 or event.get("fraction", 0.0) > 0.6:
            stop.set()

    with pytest.raises(Cancelled):
        simulate(cache, hear, stop, on_stopped=stop.take)
    reader = CacheReader(cache)
    assert reader.last_frame() == reader.resume_frame() == 7 and reader.results() == []
    assert not [path for path in cache.rglob("*") if path.name.endswith(".part")]
    finish(cache, nothing)
    assert reader.results()


def test_finishing_again_gives_the_same_bytes(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    (cache / "result" / f"{KEY}.npz").unlink()
    (cache / "attributes" / KEY / "000003.ply").write_bytes(b"damaged")
    told: list[Mapping[str, Any]] = []
    simulate(cache, told.append, resume=True)  # all frames are there, the result is not
    assert [event["event"] for event in told if event["event"] != "finishing"] == ["finished", "done"]
    assert told[-1]["results"] == CacheReader(through).results()
    assert baked(cache) == baked(through)
    told.clear()
    simulate(cache, told.append, resume=True)
    assert [event["event"] for event in told] == ["done"] and told[0]["results"] == CacheReader(through).results()


def test_death_in_any_disk_operation(through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    with monkeypatch.context() as patch:
        counter = Mortal(patch, 10**9)
        finish(cache, nothing)
    assert counter.count > 60 and baked(cache) == baked(through)
    for die_at in (*range(1, 20, 3), *range(20, counter.count, 13), *range(counter.count - 8, counter.count + 1)):
        with monkeypatch.context() as patch:
            Mortal(patch, die_at)
            with contextlib.suppress(Dead):
                finish(cache, nothing)
        reader = CacheReader(cache)
        made = reader.read_result(KEY)  # whole or not there
        assert made is None or baked(cache) == baked(through)
        for path in (cache / "attributes" / KEY).glob("*.ply"):
            assert path.read_bytes() == (through / "attributes" / KEY / path.name).read_bytes()
        assert reader.is_done() and reader.integrity() == []
    finish(cache, nothing)
    assert baked(cache) == baked(through)
    assert delete_cache(cache) == [] and not cache.exists()


def test_a_full_disk_is_named_and_costs_no_frame(
    through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(StorageFailed) as caught:
                finish(cache, nothing)
        assert caught.value.kind == "disk-full"
        assert CacheReader(cache).is_done() and CacheReader(cache).results() == []
        assert not [path for path in cache.rglob("*") if path.name.endswith(".part")]


def resaved(cache: Path, fracture: Fracture | None) -> None:
    scene = Scene.load(cache / "scene")
    cube, pulled = scene.bodies
    dataclasses.replace(scene, bodies=(cube, dataclasses.replace(pulled, fracture=fracture))).save(cache / "scene")


def test_fracture_is_turned_on_in_a_bake_that_is_there(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    fracture = Scene.load(cache / "scene").bodies[1].fracture
    resaved(cache, None)
    simulate(cache, nothing, frame_end=3)
    resaved(cache, fracture)
    simulate(cache, nothing, resume=True, accept_changes=True)
    reader = CacheReader(cache)
    assert reader.is_done() and reader.results() == CacheReader(through).results()
    surface, _ = surface_of(cache)
    is_source = surface.source_vertex >= 0
    for number in range(5):
        shown = read_samples(cache / "result" / f"{KEY}.pc2", number, 1)[0, is_source]
        played = read_samples(cache / "play" / f"{KEY}.pc2", number, 1)[0, surface.source_vertex[is_source]]
        # between the frames that were kept it moves evenly
        assert np.abs(shown - played).max() < (5e-3 if number % 2 else 2e-6)


def test_fracture_is_turned_off_in_a_bake_that_broke(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    resaved(cache, None)
    with pytest.raises(StorageFailed) as caught:
        simulate(cache, nothing, resume=True, from_frame=15, accept_changes=True)
    assert caught.value.kind == "cache-broken-body" and "Pulled Bar" in caught.value.text
    simulate(cache, nothing, resume=True, from_frame=3, accept_changes=True)
    assert CacheReader(cache).is_done() and not (cache / "result" / f"{KEY}.pc2").exists()


def test_a_step_that_fails_leaves_what_is_there_finished(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    simulate(cache, nothing, frame_end=8)
    scene = Scene.load(cache / "scene")
    hard = dataclasses.replace(scene.settings, max_iterations=1, tolerance=1e-12, frame_end=FRAMES)
    dataclasses.replace(scene, settings=hard).save(cache / "scene")
    with pytest.raises(SolveFailed):
        simulate(cache, nothing, resume=True, accept_changes=True, strict=True)
    made = CacheReader(cache).read_result(KEY)
    assert made is not None and int(made["last_frame"]) == CacheReader(cache).last_frame() == 8


def test_a_mesh_that_leaves_its_tets_is_told_before_the_bake(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    scene = Scene.load(cache / "scene")
    cube, pulled = scene.bodies
    large = dataclasses.replace(pulled, vertices=pulled.vertices * [1.0, 1.2, 1.0])
    dataclasses.replace(scene, bodies=(cube, large)).save(cache / "scene")
    with pytest.raises(BadInput) as caught:
        simulate(cache, nothing)
    assert caught.value.kind == "cut-uncovered" and baked(cache).keys() == baked(through).keys()


def test_a_damaged_result_is_told(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    whole = (cache / "result" / f"{KEY}.pc2").read_bytes()
    for damaged in (b"", whole[:-100], whole[:28] + b"\1\0\0\0" + whole[32:]):
        (cache / "result" / f"{KEY}.pc2").write_bytes(damaged)
        assert KEY in CacheReader(cache).integrity()[0]
    (cache / "result" / f"{KEY}.npz").write_bytes(b"abc")
    assert KEY in CacheReader(cache).integrity()[0]
    finish(cache, nothing)
    assert CacheReader(cache).integrity() == [] and baked(cache) == baked(through)


def test_what_holds_has_no_result(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_breaking(cache, breaking_scene(6, ASKED, strength=1.0e9))
    simulate(cache, nothing)
    assert not (cache / "topology").exists() and CacheReader(cache).results() == []
    assert len(list((cache / "attributes" / KEY).iterdir())) == 6


def two_islands(strength: float) -> Body:
    """Returns a body of two bars that could break, its tets taken from both in turn."""
    bar = breaking_scene().bodies[1]
    assert bar.tet_nodes is not None and bar.tets is not None and bar.fracture is not None
    vertices, nodes = (np.concatenate([a + [0, 3, 0], a + [0, 5, 0]]) for a in (bar.vertices, bar.tet_nodes))
    return dataclasses.replace(
        bar,
        key="two",
        name="Two Bars",
        vertices=vertices,
        triangles=indices(np.concatenate([bar.triangles, bar.triangles + len(bar.vertices)])),
        tet_nodes=nodes,
        tets=indices(np.stack([bar.tets, bar.tets + len(bar.tet_nodes)], axis=1).reshape(-1, 4)),
        fracture=dataclasses.replace(bar.fracture, breaking_stress=strength),
        pinned=indices([]),
        pin_weights=np.zeros(0),
        attributes=("velocity", "damage"),
    )


@pytest.mark.parametrize("strength", [1e9, 3e3])
@pytest.mark.parametrize("is_first", [True, False])
def test_bodies_beside_one_that_broke(tmp_path: Path, is_first: bool, strength: float) -> None:
    scene, cache = breaking_scene(18), tmp_path / "c"
    bodies = (two_islands(strength), *scene.bodies) if is_first else (*scene.bodies, two_islands(strength))
    write_breaking(cache, dataclasses.replace(scene, bodies=bodies))
    simulate(cache, nothing)
    reader = CacheReader(cache)
    assert reader.integrity() == []
    assert [made["key"] for made in reader.results()] == (
        [KEY] if strength > 1e6 else ["two", KEY] if is_first else [KEY, "two"]
    )
    made = reader.read_result("two")
    source = np.arange(len(bodies[0 if is_first else 2].vertices)) if made is None else made["source_vertex"]
    which = np.flatnonzero(source >= 0)
    for frame in (1, 2, 18):
        columns = read_ply((cache / "attributes" / "two" / f"{frame:06d}.ply").read_bytes())
        shown = np.stack([columns[axis] for axis in "xyz"], axis=1)[which]
        if frame < 3 or made is None:
            np.testing.assert_allclose(shown, reader.read_samples("two", frame - 1)[0][source[which]], atol=2e-6)
        if frame == 2:
            np.testing.assert_allclose(columns["velocity_z"], -9.81 / 24.0, rtol=0.05)


def test_a_mesh_that_cannot_be_cut_costs_no_frame(
    through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, told = tmp_path / "c", []
    shutil.copytree(through / "scene", cache / "scene")

    def refuse(*_: Any) -> None:
        raise BadInput("cut-open", name="Pulled Bar", edges=42)

    monkeypatch.setattr(finish_body, "cut", refuse)
    simulate(cache, told.append)
    assert told[-1]["event"] == "done" and told[-1]["results"] == []
    assert [event["kind"] for event in told if event["event"] == "warning"] == ["cut-open"]
    assert len(list((cache / "attributes" / KEY).iterdir())) == FRAMES
    assert CacheReader(cache).is_done() and CacheReader(cache).integrity() == []
