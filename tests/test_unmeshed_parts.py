# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told about parts that get no tet, and about tets that join what lies far apart along the mesh."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere
from sinew.solver.mesh.geometry.self_intersections import crossing_faces
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.geometry.welding import weld
from sinew.solver.mesh.tet_mesh import FilledTets, UnmeshedPart
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.surface_samples import sample_surface, sample_triangles
from sinew.solver.runtime.errors import SinewError
from sinew.solver.scene.scene import Meshing


def together(*parts: tuple[np.ndarray, np.ndarray]) -> Surface:
    """Returns one surface of several."""
    vertices, triangles, count = [], [], 0
    for points, faces in parts:
        vertices.append(points)
        triangles.append(faces + count)
        count += len(points)
    return Surface(np.concatenate(vertices), np.concatenate(triangles))


def box(lower, upper, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    points, faces = cube(n)
    lower, upper = np.array(lower, float), np.array(upper, float)
    return lower + (points + 0.5) * (upper - lower), faces


def extruded(outline: np.ndarray, depth: float, layers: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Returns the walls of a closed outline (k, 2), counterclockwise, along z; both ends are fans of strips."""
    count = len(outline)
    z = np.linspace(0, depth, layers + 1)
    vertices = np.concatenate([np.column_stack([outline, np.full(count, height)]) for height in z])
    i = np.arange(count)
    j = (i + 1) % count
    walls = []
    for layer in range(layers):
        low, high = layer * count, (layer + 1) * count
        walls += [np.stack([low + i, low + j, high + j], axis=1), np.stack([low + i, high + j, high + i], axis=1)]
    half = count // 2
    k = np.arange(half - 1)
    strip = np.concatenate(
        [np.stack([k, count - 1 - k, k + 1], axis=1), np.stack([k + 1, count - 1 - k, count - 2 - k], axis=1)]
    )
    top = layers * count
    return vertices, np.concatenate([*walls, strip, strip[:, ::-1] + top])


def horseshoe(gap: float) -> Surface:
    """A bar bent to a U whose ends face each other across a gap, like lips."""
    angle = np.linspace(0.5 * gap, 2 * np.pi - 0.5 * gap, 60)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return Surface(*extruded(np.concatenate([1.0 * circle, 0.5 * circle[::-1]]), 0.6))


def lost(surface: Surface, tet_size: float) -> tuple[UnmeshedPart, ...]:
    return tetrahedralize(surface, Meshing("smooth", tet_size=tet_size), "body").report.lost_parts


def test_a_body_with_no_thin_parts_loses_nothing():
    assert lost(Surface(*sphere(16)), 0.15) == ()
    points, faces = box([0, 0, 0], [1, 1, 1])
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    for tet_size in (0.08, 0.2, 0.26):  # its corners are cut off, whichever way they point
        assert lost(Surface(points @ turn, faces), tet_size) == ()


@pytest.mark.slow
def test_a_small_piece_is_named_and_the_size_told_keeps_it():
    surface = together(sphere(16), box([1.5, 0, 0], [1.58, 0.08, 0.5]))
    (part,) = lost(surface, 0.2)
    assert part.name == "Piece 1 (432 faces)" and np.allclose(part.place, [1.54, 0.04, 0.25], atol=1e-9)
    assert 0.02 < part.tet_size_needed < 0.08
    areas = 2 * 0.08**2 + 4 * 0.08 * 0.5, Surface(*sphere(16)).area
    assert part.area_share == pytest.approx(areas[0] / sum(areas), rel=1e-6)
    assert lost(surface, part.tet_size_needed) == ()


def test_of_many_lost_pieces_the_largest_are_named():
    hairs = [box([1.5, 0.1 * i, 0], [1.52, 0.1 * i + 0.02, 0.2 + 0.02 * i], n=2) for i in range(14)]
    parts = lost(together(sphere(16), *hairs), 0.2)
    assert len(parts) == 10 and parts[-1].name == "5 smaller parts"
    assert sum(part.count for part in parts) == 14
    whole = together(sphere(16), *hairs).area
    assert sum(part.area_share for part in parts) == pytest.approx(1.0 - Surface(*sphere(16)).area / whole, rel=1e-6)
    assert parts[0].name == "Piece 1 (48 faces)" and 0.0 < parts[-1].tet_size_needed < 0.02
    assert np.allclose(parts[0].place[:2], [1.51, 1.31], atol=1e-9) and parts[-1].place == ()


def test_a_thin_fin_of_a_body_is_a_part_of_it():
    """A fin 0.05 thick grows out of a block; only its far end is lost."""
    outline = np.array([[0, 0], [1, 0], [2, 0.45], [2, 0.5], [1, 1], [0, 1]], float)
    outline[2:4] = [[1.05, 0.475], [2.0, 0.475]]
    outline = np.array(
        [[0, 0], [0.5, 0], [1, 0], [1.02, 0.475], [2, 0.475], [2, 0.525], [1.02, 0.525], [1, 1], [0.5, 1], [0, 1]]
    )
    surface = Surface(*extruded(outline, 1.0))
    parts = lost(surface, 0.2)
    assert parts and all(part.name.startswith("Part") for part in parts)
    assert parts[0].tet_size_needed == pytest.approx(0.05 / 1.5, rel=0.2)


def test_a_sheet_needs_the_robust_method():
    points = np.array([[2, 0, 0], [3, 0, 0], [3, 1, 0], [2, 1, 0]], float)
    surface = together(sphere(16), (points, np.array([[0, 1, 2], [0, 2, 3]])))
    (part,) = lost(surface, 0.2)
    assert part.name.startswith("Piece 1 (2 faces") and part.tet_size_needed == 0.0
    told = SinewError("part-without-inside", name="Body", part=part.name)
    assert "Robust" in told.text
    assert tetrahedralize(surface, Meshing("robust", tet_size=0.2), "body").report.lost_parts == ()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["smooth", "robust"])
def test_tets_that_close_a_gap_are_counted_and_lie_in_it(method):
    surface = horseshoe(0.12)  # 0.06 to 0.12 wide
    mesh = tetrahedralize(surface, Meshing(method, tet_size=0.2), "U")
    joined = mesh.report.joined_tets
    assert len(joined) >= 5
    assert np.array_equal(joined, np.unique(joined))
    middles = mesh.nodes[mesh.tets[joined]].mean(axis=1)
    assert (middles[:, 0] > 0.3).all() and np.abs(middles[:, 1]).max() < 0.3
    fine = tetrahedralize(surface, Meshing("smooth", tet_size=0.04), "U")
    assert len(fine.report.joined_tets) == 0


@pytest.mark.parametrize("method", ["smooth", "robust"])
def test_two_sides_of_a_thin_plate_are_not_joined(method):
    surface = Surface(*box([0, 0, 0], [1, 1, 0.13], n=16))
    assert len(tetrahedralize(surface, Meshing(method, tet_size=0.12), "plate").report.joined_tets) == 0


def test_pieces_that_go_through_each_other_are_one_body_there():
    surface = together(sphere(16), (sphere(16)[0] + [1.2, 0.03, 0.01], sphere(16)[1]))
    assert len(tetrahedralize(surface, Meshing("robust", tet_size=0.2), "two").report.joined_tets) == 0


def test_pieces_side_by_side_are_joined():
    surface = together(box([0, 0, 0], [1, 1, 1]), box([1.05, 0, 0], [2.05, 1, 1]))
    mesh = tetrahedralize(surface, Meshing("robust", tet_size=0.21), "two")
    middles = mesh.nodes[mesh.tets[mesh.report.joined_tets]].mean(axis=1)
    assert len(middles) > 80
    assert np.abs(middles[:, 0] - 1.025).max() < 0.21


def test_points_are_spread_over_faces_of_any_form():
    corners = np.array(
        [[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [9, 0, 0], [4, 0.01, 0]], [[0, 0, 0]] * 3], float
    )
    points, face = sample_triangles(corners, 0.1)
    assert np.bincount(face).tolist() == [15 * 8, 90, 1]
    u, v = points[face == 0][:, :2].T
    assert u.min() > 0 and v.min() > 0 and (u + v).max() < 1
    for place in np.random.default_rng(1).dirichlet([1, 1, 1], 300) @ corners[0]:
        assert np.linalg.norm(points[face == 0] - place, axis=1).min() <= 0.1
    assert np.diff(np.sort(points[face == 1][:, 0])).max() <= 0.11


def test_every_sample_knows_its_tet():
    surface = Surface(*sphere(8))
    mesh = tetrahedralize(surface, Meshing("robust", divisions=6), "ball")
    samples = sample_surface(surface, FilledTets(mesh.nodes, mesh.tets, mesh.fill), mesh.report.tet_size)
    assert samples.distance.max() == 0.0
    assert set(samples.face) == set(range(len(surface.triangles)))
    corners = mesh.nodes[mesh.tets[samples.tet]]
    weights = np.linalg.solve(
        np.concatenate([corners, np.ones((len(corners), 4, 1))], axis=2).transpose(0, 2, 1),
        np.concatenate([samples.points, np.ones((len(corners), 1))], axis=1)[:, :, None],
    )
    assert weights.min() >= -1e-9


def test_crossing_faces_are_found_and_neighbours_are_not():
    surface = together(sphere(6), (np.array([[-2, 0.1, 0.2], [2, 0.3, 0.1], [0, 2, 0.3]]), np.array([[0, 1, 2]])))
    bvh = build_bvh(surface.vertices, surface.triangles)
    a, b = crossing_faces(bvh, weld(surface))
    last = len(surface.triangles) - 1
    assert len(a) >= 4
    assert ((a == last) | (b == last)).all()
