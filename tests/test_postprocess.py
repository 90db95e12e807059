# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass: the final mesh moves as it was baked, and where a crack is closed it is so to the last bit."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.finished_fracture_bakes import ASKED, KEY, nothing, surface_of
from fixtures.finished_fracture_bakes import through as through
from fixtures.fracture_bake import FRAMES, breaking_scene, write_breaking
from fixtures.read_point_ply import read_ply
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_header, read_samples
from sinew.solver.bake.postprocess import finish_body
from sinew.solver.bake.postprocess.body_frames import BodyFrameReader
from sinew.solver.bake.postprocess.crack_binding import bind_crack_vertices
from sinew.solver.bake.postprocess.crack_opening_times import CrackOpening
from sinew.solver.bake.postprocess.pin_correction import pin_corrections
from sinew.solver.bake.postprocess.result_npz import broken_face_pairs
from sinew.solver.bake.postprocess.vertex_replay import replay_samples
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.mesh.world_to_object import to_object_space
from sinew.solver.runtime.arrays import indices
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Body, Scene
from sinew.solver.scene.tracks import TrackReader


def world_samples(cache: Path) -> list[np.ndarray]:
    """Returns the positions of the final mesh at every sample, before they are rounded."""
    surface, _ = surface_of(cache)
    frames = BodyFrameReader(CacheReader(cache), KEY)
    ties = bind_crack_vertices(frames.mesh.tets, surface.rest, surface.tet, surface.weights)
    opening = CrackOpening(frames.mesh.tets, broken_face_pairs(surface)[1])
    return [world for _, world in replay_samples(frames, ties, {}, opening)]


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
    assert reader.is_done() and reader.integrity_problems() == []
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
    head = read_header(through / "result" / f"{KEY}.pc2")
    assert (head.vertices, head.samples, head.rate) == (len(surface.rest), 2 * FRAMES - 1, 0.5)
    assert int(made["last_frame"]) == FRAMES
    tracks, settings = TrackReader(through / "scene"), Scene.load(through / "scene").settings
    for number, world in enumerate(world_samples(through)):
        local = to_object_space(tracks, KEY, world, settings.time(1 + number / 2))
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
    frames = BodyFrameReader(CacheReader(through), KEY)
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
    ties = bind_crack_vertices(tets, rest, tet, weights)
    moved = random.random((7, 3)) * 1e3
    drawn = ties.positions(moved, ties.nodes(tets))
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
    ties = bind_crack_vertices(tets, rest, indices([0, 1]), weights)
    moved = nodes + np.repeat([[0.0], [5.0]], 4, axis=0)
    np.testing.assert_allclose(ties.positions(moved, ties.nodes(tets)), [[0.21, 0.22, 0.23], [5.21, 5.22, 5.23]])


def test_what_pins_correct_is_carried_over(through: Path) -> None:
    surface, _ = surface_of(through)
    body = Scene.load(through / "scene").bodies[1]
    frames = BodyFrameReader(CacheReader(through), KEY)
    first = bind_crack_vertices(frames.mesh.tets, surface.rest, surface.tet, surface.weights).first
    size = frames.mesh.report.tet_size
    matrix = pin_corrections(body, KEY, size, surface, first)
    assert matrix is not None and pin_corrections(body, f"{KEY}.attached", size, surface, first) is None
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


def test_a_mesh_that_leaves_its_tets_is_told_before_the_bake(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    scene = Scene.load(cache / "scene")
    cube, pulled = scene.bodies
    large = dataclasses.replace(pulled, vertices=pulled.vertices * [1.0, 1.2, 1.0])
    dataclasses.replace(scene, bodies=(cube, large)).save(cache / "scene")
    with pytest.raises(BadInput) as caught:
        run_bake(cache, nothing)
    assert caught.value.kind == "cut-uncovered" and baked(cache).keys() == baked(through).keys()


def test_what_holds_has_no_result(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_breaking(cache, breaking_scene(6, ASKED, strength=1.0e9))
    run_bake(cache, nothing)
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


@pytest.mark.slow
@pytest.mark.parametrize("strength", [1e9, 3e3])
@pytest.mark.parametrize("is_first", [True, False])
def test_bodies_beside_one_that_broke(tmp_path: Path, is_first: bool, strength: float) -> None:
    scene, cache = breaking_scene(18), tmp_path / "c"
    bodies = (two_islands(strength), *scene.bodies) if is_first else (*scene.bodies, two_islands(strength))
    write_breaking(cache, dataclasses.replace(scene, bodies=bodies))
    run_bake(cache, nothing)
    reader = CacheReader(cache)
    assert reader.integrity_problems() == []
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

    monkeypatch.setattr(finish_body, "cut_surface", refuse)
    run_bake(cache, told.append)
    assert told[-1]["event"] == "done" and told[-1]["results"] == []
    assert [event["kind"] for event in told if event["event"] == "warning"] == ["cut-open"]
    assert len(list((cache / "attributes" / KEY).iterdir())) == FRAMES
    assert CacheReader(cache).is_done() and CacheReader(cache).integrity_problems() == []
