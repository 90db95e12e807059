# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that tear: where, into what, with what is pinned, sewn and attached, in contact, resumed, and as a mesh."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.rigid_bodies import FLOOR, momenta, run_of
from fixtures.scenes import Run, block
from fixtures.sheets import grid
from fixtures.shells import unit_sphere
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.final_mesh_check import check_final_mesh
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.mesh.cutting.final_mesh import FinalMesh
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.constant_wind import Wind
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.scene import Body, Fracture, Meshing, Scene, Settings
from sinew.solver.scene.seams import Seams
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

COTTON = SHEET_PRESETS["COTTON"]
CELLS, LENGTHS, TOP = (12, 4), (0.36, 0.12), 0.5
DENSITY = 20000.0  # so heavy that the strip stretches by what it weighs [kg/m³]
WEIGHT = DENSITY * 9.81 * LENGTHS[0]  # stress that it hangs by [Pa]


def strip(weak: float = 0.1, **settings: Any) -> Body:
    """Returns a strip of quads that hangs by its upper end; in the middle it bears a share `weak` of 3 WEIGHT."""
    flat, triangles = grid(CELLS, LENGTHS)
    vertices = np.stack([np.zeros(len(flat)), flat[:, 1], TOP - flat[:, 0]], axis=1)
    paint = np.where(np.abs(flat[:, 0] - 0.5 * LENGTHS[0]) < 1.1 * LENGTHS[0] / CELLS[0], weak, 1.0)
    defaults: dict[str, Any] = {
        "material": replace(COTTON.material, density=DENSITY, mass_damping=1.0),
        "fracture": Fracture(3.0 * WEIGHT, strength_paint=paint, scatter=0.0),
        "pinned": np.flatnonzero(flat[:, 0] < 1e-9).astype(np.int32),
    }
    return Body(
        vertices, triangles, key="strip", name="Strip", meshing=Meshing("sheet"), sheet=COTTON.sheet,
        face_of_triangle=np.arange(len(triangles), dtype=np.int32) // 2, **(defaults | settings),
    )  # fmt: skip


def strong_later(time: float) -> tuple[Floats, Floats]:
    """Returns keys of a breaking stress that is endless from a time on [s]: what has torn stays so."""
    return np.array([0.0, time, time + 1e-3, 99.0]), np.array([3.0 * WEIGHT, 3.0 * WEIGHT, 1e12, 1e12])


def pieces(run: Run) -> int:
    return run.built.model.pattern.island_count


def node_of(run: Run, place: Floats) -> int:
    """Returns the node of the strip nearest to a place at rest."""
    return int(np.linalg.norm(run.built.model.X - place, axis=1).argmin())


def test_a_strip_tears_in_two_where_it_is_weak(tmp_path: Path) -> None:
    run = run_of(tmp_path, strip(), frame_end=60)
    mass = run.built.model.mass.sum()
    run.advance(16)
    model = run.built.model
    assert pieces(run) == 2 and sum(report.not_converged for report in run.reports) == 0
    assert model.mass.sum() == pytest.approx(mass, rel=1e-14)
    assert run.reports[-1].bodies["strip"]["pieces"] == 2.0
    first = slice(*model.pattern.island_start[:2].tolist())
    heights = [model.X[first, 2], np.delete(model.X, np.arange(first.start, first.stop), axis=0)[:, 2]]
    middle, cell = TOP - 0.5 * LENGTHS[0], LENGTHS[0] / CELLS[0]
    assert min(heights[0]) > middle - 1.5 * cell and max(heights[1]) < middle + 1.5 * cell
    # the lower piece falls, the upper one hangs
    fallen = run.state.x[first.stop :, 2]
    assert fallen.min() < 0.0 and np.ptp(fallen) < 0.6 * LENGTHS[0]
    assert run.state.x[first, 2].min() > middle - 1.6 * cell


def test_a_strip_that_bears_its_weight_stays_whole(tmp_path: Path) -> None:
    run = run_of(tmp_path, strip(0.8), frame_end=60)
    run.advance(12)
    assert pieces(run) == 1 and len(run.state.x) == len(run.scene.bodies[0].vertices)
    assert 0.8 * WEIGHT < run.reports[-1].bodies["strip"]["largest_stress"] < 2.0 * WEIGHT


def test_splitting_keeps_momentum_and_places(tmp_path: Path) -> None:
    free = strip(pinned=np.zeros(0, np.int32), material=replace(COTTON.material, density=DENSITY))
    run = run_of(tmp_path, free, gravity=(0.0, 0.0, 0.0), frame_end=60)
    state, built = run.state, run.built
    state.v[:] = [0.1, 0.2, 0.0] + (state.x - state.x.mean(axis=0)) * [0.0, 0.0, 12.0]  # pulled apart
    for _ in range(8):
        before = momenta(run)
        run.advance()
        after = momenta(run)
        size = np.abs(run.built.model.mass[:, None] * run.state.v).sum()
        assert np.abs(after[0] - before[0]).max() < 1e-9 * size
    # two rows are pulled alike: at a tolerance of 1e-8 both tear, at others one or both
    assert pieces(run) in (2, 3) and built.model.mass.sum() == pytest.approx(run.built.model.mass.sum(), rel=1e-14)


def test_faces_stay_whole_and_both_pieces_rest_on_the_floor(tmp_path: Path) -> None:
    """All copies of a node touch colliders, and no quad is torn along its diagonal."""
    body = strip()
    body = replace(body, vertices=body.vertices - [0.0, 0.0, 0.12])
    run = run_of(tmp_path, body, colliders=(FLOOR,), frame_end=200, body__strip__breaking_stress=strong_later(0.2))
    run.advance(12)
    assert pieces(run) == 2
    lower = run.state.x[run.built.model.pattern.island_start[1] :]
    assert -0.005 < lower[:, 2].min() < 0.02 and lower[:, 2].max() < 0.6 * LENGTHS[0]
    triangles = run.built.model.tets[: len(body.triangles), :3]
    for face in range(len(triangles) // 2):
        assert len(np.unique(triangles[2 * face : 2 * face + 2])) == 4


@pytest.mark.slow
def test_torn_pieces_lie_on_a_soft_body(tmp_path: Path) -> None:
    below = block((3, 3, 2), (0.4, 0.4, 0.1), (-0.2, -0.14, -0.1), key="jelly")
    body = strip(collision=Collision(0.3, 0.0, True))
    body = replace(body, vertices=body.vertices - [0.0, 0.0, 0.12])
    run = run_of(tmp_path, body, block_held(below), frame_end=200, body__strip__breaking_stress=strong_later(0.2))
    run.advance(10)
    assert pieces(run) == 3  # with the block
    model = run.built.model
    lower = run.state.x[model.pattern.island_start[1] : model.bodies[0].nodes.stop]
    assert lower[:, 2].min() > -0.01 and lower[:, 2].max() < 0.2
    assert sum(report.not_converged for report in run.reports) == 0


def block_held(body: Body) -> Body:
    return replace(body, pinned=np.flatnonzero(body.vertices[:, 2] < body.vertices[:, 2].min() + 1e-9).astype(np.int32))


def test_pins_hold_all_copies_of_their_vertices(tmp_path: Path) -> None:
    body = strip()
    held = np.flatnonzero(np.abs(body.vertices[:, 2] - (TOP - 0.5 * LENGTHS[0])) < 1e-6)
    run = run_of(tmp_path, replace(body, pinned=held.astype(np.int32)), frame_end=60)
    run.advance(10)
    model, x = run.built.model, run.state.x
    at_middle = np.abs(model.X[:, 2] - (TOP - 0.5 * LENGTHS[0])) < 1e-6
    assert at_middle.sum() >= len(held)
    np.testing.assert_allclose(x[at_middle], model.X[at_middle], atol=1e-6)


def test_what_is_sewn_and_attached_stays_on_its_piece(tmp_path: Path) -> None:
    """A button and a panel that is sewn on fall with the lower piece."""
    body, row = strip(), CELLS[1] + 1
    count = len(body.vertices)
    flat, triangles = grid((2, CELLS[1]), (0.06, LENGTHS[1]))
    panel = np.stack([np.zeros(len(flat)), flat[:, 1], TOP - LENGTHS[0] - flat[:, 0]], axis=1)
    edges = np.stack([np.arange(count - row, count), count + np.arange(row)], axis=1).astype(np.int32)
    paint = np.concatenate([body.fracture.strength_paint, np.ones(len(flat))])
    sewn = replace(
        body, vertices=np.concatenate([body.vertices, panel]), seams=Seams(edges),
        triangles=np.concatenate([body.triangles, triangles + count]).astype(np.int32),
        face_of_triangle=np.zeros(0, np.int32), fracture=replace(body.fracture, strength_paint=paint),
    )  # fmt: skip
    button = block((1, 1, 1), (0.02, 0.02, 0.02), (0.001, 0.05, TOP - LENGTHS[0] + 0.005), key="button")
    button = replace(button, attachments=(Attachment("strip", "fixed", 0.1),))
    run = run_of(tmp_path, sewn, button, frame_end=60, body__strip__breaking_stress=strong_later(0.2))
    run.advance(12)
    assert pieces(run) == 4  # the upper piece, the lower one, the panel, the button
    x, model = run.render["strip"], run.built.model
    assert np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).max() < 0.005
    middle = run.state.x[model.bodies[1].nodes].mean(axis=0)
    assert np.linalg.norm(x[count - 2 * row : count] - middle, axis=1).min() < 0.03
    assert middle[2] < 0.0 and x[:row, 2].min() > TOP - 0.01


def test_wind_blows_every_piece_by_its_own_faces(tmp_path: Path) -> None:
    """Both pieces fly as one did: no face of a piece is taken to reach to another."""
    settings: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "frame_end": 60}
    body = strip(pinned=np.zeros(0, np.int32))
    scene = Scene((body,), (), Settings(**settings), wind=Wind((2.0, 0.0, 0.0)))
    run = Run(tmp_path, scene)
    run.state.v[:] = (run.state.x - run.state.x.mean(axis=0)) * [0.0, 0.0, 6.0]
    run.advance(16)
    assert pieces(run) == 2
    model, v = run.built.model, run.state.v
    parts = [slice(0, int(model.pattern.island_start[1])), slice(int(model.pattern.island_start[1]), len(v))]
    speeds = [model.mass[part] @ v[part, 0] / model.mass[part].sum() for part in parts]
    assert speeds[0] > 0.0 and speeds[1] == pytest.approx(speeds[0], rel=0.2)


def test_a_sheet_tears_beside_a_body_that_breaks(tmp_path: Path) -> None:
    glass = block((4, 1, 1), (0.4, 0.1, 0.1), (1.0, 0.0, 0.3), key="glass", fracture=Fracture(2.0e3, scatter=0.0))
    ends = np.flatnonzero(glass.vertices[:, 0] < 1.0 + 1e-9).astype(np.int32)
    run = run_of(tmp_path, strip(), replace(glass, pinned=ends), frame_end=60)
    run.advance(14)
    found = run.reports[-1].bodies
    assert found["strip"]["pieces"] == 2.0 and found["glass"]["pieces"] >= 2.0


def test_contacts_have_a_vertex_for_every_copy_and_all_edges(tmp_path: Path) -> None:
    run = run_of(tmp_path, strip(collision=Collision(0.3, 0.0, True)), frame_end=60)
    whole = run.built.contact_materials.surfaces
    run.advance(10)
    built, body = run.built, run.scene.bodies[0]
    surfaces, tets = built.contact_materials.surfaces, built.model.tets
    triangles = tets[: len(body.triangles), :3]
    now = surfaces.nodes[surfaces.triangles, 0]
    assert {frozenset(t) for t in now.tolist()} == {frozenset(t) for t in triangles.tolist()}
    assert len(np.unique(surfaces.nodes[:, 0])) == surfaces.vertex_count == built.model.node_count
    np.testing.assert_array_equal(surfaces.rest, built.model.X[surfaces.nodes[:, 0]])
    bound = np.einsum("va,vai->vi", surfaces.weights, built.model.X[tets[surfaces.tet]])
    np.testing.assert_allclose(bound, surfaces.rest, atol=1e-12)
    assert (np.diff(surfaces.vertex_key) > 0).all() and np.array_equal(surfaces.triangle_key, whole.triangle_key)
    sides = np.sort(np.concatenate([now[:, [0, 1]], now[:, [1, 2]], now[:, [2, 0]]]), axis=1)
    found = np.sort(surfaces.nodes[surfaces.edges.ends[:, :2], 0], axis=1)
    assert len(found) == len(np.unique(sides, axis=0))
    np.testing.assert_array_equal(np.unique(found, axis=0), np.unique(sides, axis=0))
    edges = surfaces.edges
    for (a, b), triangle, tet in zip(edges.ends[:, :2].tolist(), edges.triangle, edges.tet, strict=True):
        assert {a, b} < set(surfaces.triangles[triangle].tolist())
        assert {int(surfaces.nodes[v, 0]) for v in (a, b)} < set(tets[tet].tolist())
    assert (np.diff(edges.chain) >= 0).all() and edges.chains == whole.edges.chains
    same = np.flatnonzero(np.bincount(_origins(run)) > 1)
    assert len(same)
    for origin in same:
        copies = np.flatnonzero(_origins(run) == origin)
        for vertex in copies:  # none meets what is at the other
            assert set(surfaces.nodes[copies, 0].tolist()) <= set(surfaces.nodes[vertex].tolist())


def _origins(run: Run) -> np.ndarray:
    """Returns the node of the whole strip that each vertex of its surface is a copy of."""
    found: np.ndarray = run.state.fields["topology.origin"][run.built.contact_materials.surfaces.nodes[:, 0]]
    return found


def test_a_blown_up_sheet_bursts_and_its_pressure_ends(tmp_path: Path) -> None:
    """A ball of rubber whose skin bears p r / 2 h tears where it is weak; then nothing presses on it any more."""
    vertices, triangles = unit_sphere(2)
    rubber = SHEET_PRESETS["RUBBER"]
    weak = np.where(vertices[:, 2] > 0.7, 0.2, 1.0)
    pressure, radius = 400.0, 0.1
    stress = pressure * radius / 2.0 / rubber.sheet.thickness
    body = Body(
        radius * vertices, triangles, key="ball", name="Ball", meshing=Meshing("sheet"), sheet=rubber.sheet,
        material=replace(rubber.material, mass_damping=20.0), pressure=Pressure(pressure),
        fracture=Fracture(2.0 * stress, strength_paint=weak, scatter=0.0),
    )  # fmt: skip
    run = run_of(tmp_path, body, gravity=(0.0, 0.0, 0.0), frame_end=60)
    run.advance(24)
    (force,) = (each for each in run.built.forces if each.kind == "pressure")
    assert len(run.state.x) > len(vertices) and force.chambers[0].is_open
    speed = np.linalg.norm(run.state.v, axis=1).max()
    run.advance(12)
    assert np.linalg.norm(run.state.v, axis=1).max() < 0.5 * speed + 1e-3
    assert sum(report.not_converged for report in run.reports) == 0


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Scene]:
    """A bake of a strip that tears, and its scene."""
    folder = tmp_path_factory.mktemp("torn")
    scene = Scene((strip(collision=Collision(0.3, 0.0, True)),), (), Settings(frame_end=14))
    sinew.bake(scene, folder / "whole.sinew")
    return folder, scene


def result_of(folder: Path) -> tuple[FinalMesh, dict[str, np.ndarray]]:
    made = CacheReader(folder).read_result("strip")
    assert made is not None
    check_final_mesh(made)
    return FinalMesh(**{field.name: made[field.name] for field in dataclasses.fields(FinalMesh)}), made


def test_the_final_mesh_has_the_faces_and_opens_along_the_tear(baked: tuple[Path, Scene]) -> None:
    folder, scene = baked[0] / "whole.sinew", baked[1]
    body = scene.bodies[0]
    mesh, made = result_of(folder)
    assert mesh.face_count == CELLS[0] * CELLS[1] and (np.diff(mesh.face_start) == 4).all()
    np.testing.assert_array_equal(np.sort(mesh.source_face), np.arange(mesh.face_count))
    assert mesh.piece_count == 2 and not mesh.is_broken.any()
    for face in range(mesh.face_count):  # the corners of each are those of the face that it was
        corners = mesh.corners[mesh.face_start[face] : mesh.face_start[face + 1]]
        own = body.triangles[body.face_of_triangle == mesh.source_face[face]]
        assert set(mesh.source_vertex[corners].tolist()) == set(own.ravel().tolist())
    np.testing.assert_array_equal(mesh.rest, body.vertices[mesh.source_vertex])
    copies = np.bincount(mesh.source_vertex)[mesh.source_vertex] > 1
    assert copies.any() and (made["vertex_opens"][copies] <= 14).all() and (made["vertex_opens"][~copies] > 1e8).all()
    motion = [read_samples(folder / "result" / "strip.pc2", sample, 1)[0] for sample in range(14)]
    played = [read_samples(folder / "play" / "strip.pc2", sample, 1)[0] for sample in range(14)]
    first = int(made["vertex_opens"].min())
    for sample in range(first - 1):  # closed to the last bit until it opens
        assert np.array_equal(motion[sample], played[sample][mesh.source_vertex])
    apart = np.linalg.norm(motion[-1] - played[-1][mesh.source_vertex], axis=1)
    assert apart[copies].max() > 0.05 and apart[~copies].max() < 1e-6


def test_a_resumed_bake_has_the_same_bytes(baked: tuple[Path, Scene]) -> None:
    """The checkpoint at frame 10 lies in the middle of the fall, after the sheet has begun to tear."""
    (folder, scene), parts = baked, baked[0] / "parts.sinew"
    whole = folder / "whole.sinew"
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=10)), parts)
    assert result_of(parts)[0].piece_count >= 1
    sinew.bake(scene, parts, resume=True)
    for path in ("play/strip.pc2", "result/strip.npz", "result/strip.pc2", "frames/000014.npz"):
        assert (whole / path).read_bytes() == (parts / path).read_bytes(), path


def test_a_sheet_that_has_no_strength_is_refused_by_name(tmp_path: Path) -> None:
    body = strip()
    nothing = replace(body.fracture, strength_paint=np.zeros(len(body.vertices)))
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, replace(body, fracture=nothing))
    assert caught.value.kind == "strength-all-zero" and caught.value.details["name"] == "Strip"
