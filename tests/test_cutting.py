# SPDX-License-Identifier: GPL-3.0-or-later
"""Cutting the render mesh: closed pieces, nothing lost, whatever lies on what."""

from __future__ import annotations

import dataclasses

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.optimize
import scipy.spatial

from fixtures.closed_surfaces import cube, sphere, torus
from fixtures.cut_surface_checks import area_vectors, broken_rules, piece_volumes, shattered, whole_faces
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.mesh.cutting.cut import check_covered, cut_surface, embed_surface
from sinew.solver.mesh.cutting.node_winding_numbers import node_windings
from sinew.solver.mesh.embedding import barycentric_weights
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Meshing


def welded(vertices, triangles):
    """The same surface with one vertex for all at one place."""
    places, number = np.unique(np.round(vertices, 12), axis=0, return_inverse=True)
    return places, number.ravel()[triangles].astype(np.int32)


def box(lower, upper, n=1):
    vertices, triangles = welded(*cube(n))
    return np.array(lower) + (vertices + 0.5) * (np.array(upper) - lower), triangles


def together(*surfaces):
    shift = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)])
    return (
        np.concatenate([vertices for vertices, _ in surfaces]),
        np.concatenate([triangles + s for (_, triangles), s in zip(surfaces, shift, strict=False)]).astype(np.int32),
    )


def turned(surface):
    return surface[0], surface[1][:, ::-1]


def volume(vertices, triangles):
    return float(np.linalg.det(vertices[triangles] - vertices.mean(axis=0)).sum() / 6)


def checked(nodes, tets, parted, surface, faces=None):
    """Cuts, and asserts all that holds of every cut."""
    vertices, triangles = surface
    faces = np.arange(len(triangles), dtype=np.int32) if faces is None else faces
    result = cut_surface(nodes, tets, parted, vertices, triangles, faces, "Thing")
    assert not broken_rules(result, nodes, tets, parted, vertices, triangles, faces)
    if len(np.unique(faces)) == len(faces):
        whole = volume(vertices, triangles)
        assert abs(piece_volumes(result).sum() - whole) <= 1e-12 * np.ptp(vertices, axis=0).max() ** 3
    return result


LATTICE = lattice_bar((5, 5, 5), (1.25, 1.25, 1.25))  # from 0 to 1.25
SURFACES = {
    "a cube that lies along the lattice": box((0.25, 0.25, 0.25), (1.0, 1.0, 1.0)),
    "a cube whose vertices are nodes and middles of cells": box((0.25, 0.25, 0.25), (1.0, 1.0, 1.0), n=6),
    "a cube in general position": box((0.213, 0.224, 0.271), (1.01, 1.02, 1.003), n=3),
    "a sphere": (0.62 + 0.45 * welded(*sphere(8))[0], welded(*sphere(8))[1]),
    "a torus": (torus(24, 12)[0] * 0.5 + 0.61, torus(24, 12)[1]),
    "a plate in the middle of a cell": box((0.2, 0.2, 0.6), (1.1, 1.1, 0.601), n=4),
    "a plate on a face of the lattice": box((0.2, 0.2, 0.5), (1.1, 1.1, 0.5 + 1e-7), n=4),
    "a plate without thickness": box((0.2, 0.2, 0.55), (1.1, 1.1, 0.55), n=3),
    "a wall with a cavity": together(
        (0.62 + 0.5 * welded(*sphere(8))[0], welded(*sphere(8))[1]),
        turned((0.62 + 0.4 * welded(*sphere(8))[0], welded(*sphere(8))[1])),
    ),
    "a cavity along the lattice": together(
        box((0.25, 0.25, 0.25), (1.0, 1.0, 1.0)), turned(box((0.5, 0.5, 0.5), (0.75, 0.75, 0.75)))
    ),
    "balls in a cavity": together(
        (0.62 + 0.5 * welded(*sphere(8))[0], welded(*sphere(8))[1]),
        turned((0.62 + 0.4 * welded(*sphere(6))[0], welded(*sphere(6))[1])),
        (0.62 + 0.2 * welded(*sphere(4))[0], welded(*sphere(4))[1]),
        box((0.3, 0.5, 0.5), (0.34, 0.54, 0.54)),
    ),
    "shells that cross each other": together(
        (0.55 + 0.35 * welded(*sphere(6))[0], welded(*sphere(6))[1]), box((0.5, 0.5, 0.5), (1.1, 1.1, 1.1), n=2)
    ),
    "a ball inside out": turned((0.62 + 0.5 * welded(*sphere(6))[0], welded(*sphere(6))[1])),
    "two shells in one tet": together(
        box((0.62, 0.51, 0.60), (0.64, 0.53, 0.62)), box((0.62, 0.51, 0.64), (0.64, 0.53, 0.66))
    ),
}


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("count", [2, 60])
def test_a_shattered_surface_stays_closed(name, count):
    nodes, tets = LATTICE
    result = checked(nodes, tets, shattered(nodes, tets, count, 3), SURFACES[name])
    if name != "two shells in one tet":
        assert result.is_broken.any() and result.piece_count >= 2


@pytest.mark.parametrize("name", SURFACES)
def test_cracks_that_end_inside_stay_closed(name):
    nodes, tets = LATTICE
    for seed, is_split in enumerate([nodes[:, 0] < 0.5, nodes @ [1.0, 1.0, 0.3] < 1.2]):
        checked(nodes, tets, shattered(nodes, tets, 12, seed, is_split), SURFACES[name])


def test_nothing_is_cut_where_nothing_parted():
    nodes, tets = LATTICE
    vertices, triangles = SURFACES["a sphere"]
    result = checked(nodes, tets, tets, (vertices, triangles))
    assert (np.sort(result.source_vertex) == np.arange(len(vertices))).all()
    assert (vertices[triangles].reshape(-1, 3) == result.rest[result.corners]).all()


def test_faces_of_the_mesh_stay_whole_where_no_crack_is():
    """Quads stay quads; beside a cut they get corners; what is cut has lost none of its area."""
    nodes, tets = LATTICE
    vertices, triangles = box((0.213, 0.224, 0.271), (1.01, 1.02, 1.003), n=12)
    faces = quads_of(vertices, triangles)
    parted = shattered(nodes, tets, 4, 0)
    result = checked(nodes, tets, parted, (vertices, triangles), faces)
    sizes = np.diff(result.face_start)
    is_whole = whole_faces(result, triangles, faces)
    assert 0.2 < is_whole.sum() / 864 < 0.9
    assert (sizes[is_whole] >= 4).all() and (sizes[is_whole] > 4).any() and (sizes[is_whole] == 4).sum() > 200


def test_faces_that_are_no_polygons_stand_as_triangles():
    """One face for all triangles, for two that do not touch, for a ring: each has no single outline."""
    nodes, tets = LATTICE
    vertices, triangles = box((0.213, 0.224, 0.271), (1.01, 1.02, 1.003), n=12)
    quads = quads_of(vertices, triangles)
    apart, ring = quads.copy(), quads.copy()
    apart[apart == 500] = 100
    middle = np.argmin(np.linalg.norm(vertices - [0.6, 0.6, 1.003], axis=1))
    near = np.linalg.norm(vertices[triangles].mean(axis=1) - vertices[middle], axis=1)
    ring[(near > 0.1) & (near < 0.2)] = 0
    for faces, least in ((np.zeros(len(quads), np.int32), 1728), (apart, 866), (ring, 870)):
        result = checked(nodes, tets, tets, (vertices, triangles), faces)
        assert least <= result.face_count <= 1728
    assert checked(nodes, tets, tets, (vertices, triangles), quads).face_count == 864


def quads_of(vertices, triangles):
    """Two triangles each that share their longest side."""
    corner = vertices[triangles]
    lengths = np.linalg.norm(np.roll(corner, -1, axis=1) - corner, axis=2)
    longest = lengths.argmax(axis=1)
    rows = np.arange(len(triangles))
    ends = np.sort(np.stack([triangles[rows, longest], triangles[rows, (longest + 1) % 3]], axis=1), axis=1)
    return np.unique(ends, axis=0, return_inverse=True)[1].ravel().astype(np.int32)


def test_a_crack_between_two_tets_of_four():
    """By hand: a bar of cells; one side of x = 0.5 parts from the other; the broken faces cover the section."""
    nodes, tets = bar((4, 2, 2), (1.0, 0.5, 0.5))
    side = nodes[tets].mean(axis=1)[:, 0] > 0.5
    parted = np.where(side[:, None] & (nodes[tets][..., 0] == 0.5), tets + len(nodes), tets)
    surface = box((0.1, 0.07, 0.06), (0.93, 0.41, 0.37))
    result = checked(nodes, tets, parted, surface)
    assert result.piece_count == 2
    areas = area_vectors(result)[result.is_broken]
    assert np.allclose(np.abs(areas).sum(axis=0), [2 * 0.34 * 0.31, 0, 0], atol=1e-8)
    assert np.allclose(sorted(piece_volumes(result)), [0.4 * 0.34 * 0.31, 0.43 * 0.34 * 0.31], atol=1e-8)
    # tets that no crack touches keep their faces: the two ends of the box
    assert whole_faces(result, surface[1], np.arange(12)).sum() == 4


def test_pieces_of_a_convex_body_have_the_volume_of_its_parts_in_their_tets():
    """Slow twin: the part of every tet that lies within the planes of the body."""
    nodes, tets = lattice_bar((2, 2, 2), (1.0, 1.0, 1.0))
    rng = np.random.default_rng(5)
    hull = scipy.spatial.ConvexHull(0.5 + 0.42 * unit(rng.normal(size=(16, 3))))
    assert len(hull.vertices) == len(hull.points)
    out = np.einsum("ti,ti->t", np.cross(*np.diff(hull.points[hull.simplices], axis=1).swapaxes(0, 1)),
                    hull.equations[:, :3])  # fmt: skip
    triangles = np.where(out[:, None] > 0, hull.simplices, hull.simplices[:, ::-1]).astype(np.int32)
    result = checked(nodes, tets, np.arange(4 * len(tets)).reshape(-1, 4), (hull.points, triangles))
    volumes = dict(zip(result.face_tet.tolist(), piece_volumes(result)[result.piece].tolist(), strict=True))
    expected = [common_volume(nodes[tet], hull.equations) for tet in tets]
    assert len(volumes) == sum(value > 0 for value in expected) > 30
    for tet, value in enumerate(expected):
        assert volumes.get(tet, 0.0) == pytest.approx(value, abs=1e-9)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def common_volume(corners, planes):
    """Volume of a tet within planes n · x + d ≤ 0."""
    planes = np.concatenate([planes, scipy.spatial.ConvexHull(corners).equations])
    # the middle and the radius of the largest ball that all planes leave room for
    ball = scipy.optimize.linprog(
        [0, 0, 0, -1], np.c_[planes[:, :3], np.ones(len(planes))], -planes[:, 3], bounds=[(None, None)] * 4
    )
    if ball.x[3] <= 1e-7:
        return 0.0
    found = scipy.spatial.HalfspaceIntersection(planes, ball.x[:3]).intersections
    return scipy.spatial.ConvexHull(found).volume


def test_broken_faces_of_a_hollow_body_leave_its_cavity_open():
    """A hollow box sawn through: what closes the crack is the section less the cavity's, nothing overlaps."""
    nodes, tets = bar((4, 2, 2), (1.0, 0.5, 0.5))
    side = nodes[tets].mean(axis=1)[:, 0] > 0.5
    parted = np.where(side[:, None] & (nodes[tets][..., 0] == 0.5), tets + len(nodes), tets)
    surface = together(
        box((0.1, 0.07, 0.06), (0.93, 0.41, 0.37), n=5),
        turned(box((0.3, 0.11, 0.11), (0.7, 0.15, 0.15), n=2)),
        turned(box((0.3, 0.11, 0.25), (0.7, 0.35, 0.31), n=3)),
    )
    result = checked(nodes, tets, parted, surface)
    areas = area_vectors(result)[result.is_broken]
    section = 0.34 * 0.31 - 0.04 * 0.04 - 0.24 * 0.06
    assert np.allclose(np.abs(areas).sum(axis=0), [2 * section, 0, 0], atol=1e-8)
    assert (np.diff(result.face_start)[result.is_broken] >= 3).all()


def test_walls_that_cross_each_other_are_closed_each():
    """Where two boxes overlap the material counts twice, and so does what closes the crack."""
    nodes, tets = bar((4, 2, 2), (1.0, 0.5, 0.5))
    side = nodes[tets].mean(axis=1)[:, 0] > 0.5
    parted = np.where(side[:, None] & (nodes[tets][..., 0] == 0.5), tets + len(nodes), tets)
    surface = together(box((0.1, 0.07, 0.06), (0.93, 0.41, 0.37), n=3), box((0.3, 0.21, 0.21), (0.7, 0.45, 0.47), n=2))
    result = checked(nodes, tets, parted, surface)
    areas = area_vectors(result)[result.is_broken]
    assert np.allclose(np.abs(areas).sum(axis=0), [2 * (0.34 * 0.31 + 0.24 * 0.26), 0, 0], atol=1e-8)
    assert np.allclose(
        sorted(piece_volumes(result)),
        sorted([0.4 * 0.34 * 0.31 + 0.2 * 0.24 * 0.26, 0.43 * 0.34 * 0.31 + 0.2 * 0.24 * 0.26]),
        atol=1e-8,
    )


@pytest.mark.parametrize("name", SURFACES)
def test_windings_counted_along_edges_are_those_of_solid_angles(name):
    nodes, tets = LATTICE
    vertices, triangles = SURFACES[name]
    points, whole, _, _, crossings = embed_surface(nodes, tets, vertices, triangles, name)
    counted = node_windings(points, whole, triangles, crossings)
    place = points.positions[points.node_count :]
    exact = winding_numbers(build_bvh(place, triangles), points.positions[: points.node_count])
    far = np.abs(exact - np.round(exact)) < 0.2  # those on the surface are told by signs alone
    assert far.sum() > 100 and (counted[far] == np.round(exact[far])).all()


def test_loose_vertices_do_not_matter_however_far_they_are():
    nodes, tets = LATTICE
    vertices, triangles = SURFACES["a torus"]
    parted = shattered(nodes, tets, 20, 1)
    here = checked(nodes, tets, parted, (vertices, triangles))
    faces = np.arange(len(triangles), dtype=np.int32)
    there = cut_surface(nodes, tets, parted, np.r_[vertices, [[1e9, 0.0, 0.0]]], triangles, faces, "Thing")
    for name in ("rest", "tet", "weights", "corners", "source_vertex", "corner_weights"):
        assert (getattr(here, name) == getattr(there, name)).all()


def test_the_order_of_tets_nodes_and_triangles_does_not_matter_for_what_is_cut():
    nodes, tets = LATTICE
    vertices, triangles = SURFACES["a torus"]
    parted = shattered(nodes, tets, 20, 1)
    first = checked(nodes, tets, parted, (vertices, triangles))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(tets))
    even = np.array([[0, 1, 2, 3], [1, 2, 0, 3], [3, 2, 1, 0]])[rng.integers(3, size=len(tets))]
    mixed = np.take_along_axis(tets[order], even, axis=1), np.take_along_axis(parted[order], even, axis=1)
    second = checked(nodes, *mixed, (vertices, triangles[::-1]))
    assert first.face_count == second.face_count and len(first.rest) == len(second.rest)
    assert np.allclose(np.sort(piece_volumes(first)), np.sort(piece_volumes(second)), atol=1e-12)


def test_far_away_and_small():
    nodes, tets = LATTICE
    vertices, triangles = SURFACES["a torus"]
    parted = shattered(nodes, tets, 20, 1)
    here = checked(nodes, tets, parted, (vertices, triangles))
    for scale, shift in ((1e-3, 0.0), (1.0, 1e4)):
        moved = [scale * each + shift for each in (nodes, vertices)]
        faces = np.arange(len(triangles), dtype=np.int32)
        there = cut_surface(moved[0], tets, parted, moved[1], triangles, faces, "Thing")
        assert len(there.rest) == len(here.rest) and there.piece_count == here.piece_count


corner = st.tuples(*[st.integers(0, 12)] * 3)


@hypothesis.settings(max_examples=30)
@hypothesis.given(st.lists(st.tuples(corner, corner, st.booleans()), min_size=1, max_size=3), st.integers(0, 10**6))
def test_boxes_anywhere_on_a_grid_and_tets_broken_anyhow(boxes, seed):
    """Boxes whose corners lie on nodes, edges and faces, on each other and across each other, even without a size."""
    nodes, tets = lattice_bar((3, 3, 3), (1.0, 1.0, 1.0))
    surfaces = []
    for a, b, is_turned in boxes:
        ends = np.sort(np.array([a, b]) / 18.0 + 1.0 / 6.0, axis=0)
        surface = box(ends[0], ends[1])
        surfaces.append(turned(surface) if is_turned else surface)
    vertices, triangles = together(*surfaces)
    if not np.ptp(vertices, axis=0).max() > 0:
        return
    rng = np.random.default_rng(seed)
    copies = rng.integers(0, rng.integers(2, 5), tets.shape)
    parted = np.unique(copies * len(nodes) + tets, return_inverse=True)[1].reshape(-1, 4).astype(np.int32)
    checked(nodes, tets, parted, (vertices, triangles))


@pytest.mark.slow
@hypothesis.settings(max_examples=30)
@hypothesis.given(st.integers(0, 10**6))
def test_crumpled_surfaces_in_random_tets(seed):
    """Spheres whose vertices are thrown about: walls go through each other anyhow."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(size=(30, 3)), 9.0 * unit(rng.normal(size=(40, 3)))])
    tets = scipy.spatial.Delaunay(points).simplices.astype(np.int32)
    vertices, triangles = welded(*sphere(int(rng.integers(1, 5))))
    vertices = vertices + rng.normal(0.0, 0.4, vertices.shape)
    copies = rng.integers(0, 3, tets.shape) * (rng.random(len(points)) < 0.6)[tets]
    parted = np.unique(copies * len(points) + tets, return_inverse=True)[1].reshape(-1, 4).astype(np.int32)
    checked(points, tets, parted, (vertices, triangles))


@pytest.mark.parametrize("name", ["spot_control_quads.obj", "fox_ascii.stl", "blub_fish_low.obj"])
def test_development_surfaces_stay_closed(shared, name):
    """Walls that cross each other, few triangles, many; all surfaces are in validate_cutting.py."""
    surface = read_surface(shared / "testdata" / "surface" / name)
    vertices, triangles = welded(surface.vertices, surface.triangles)
    mesh = tetrahedralize(surface, Meshing("robust", divisions=7), name, 1)
    result = checked(mesh.nodes, mesh.tets, shattered(mesh.nodes, mesh.tets, 60, 0), (vertices, triangles))
    assert result.piece_count >= 50


def test_what_is_not_closed_is_refused_and_told():
    vertices, triangles = box((0.2, 0.2, 0.2), (0.9, 0.9, 0.9), n=2)
    assert find_manifold_defects(triangles) is None
    assert find_manifold_defects(triangles[1:]) == (3, 0, 0, 0)
    assert find_manifold_defects(np.r_[triangles, triangles[:1]]) == (0, 3, 0, 0)
    assert find_manifold_defects(np.r_[triangles[:1, ::-1], triangles[1:]]) == (0, 0, 3, 0)
    assert find_manifold_defects(np.r_[triangles, [[0, 0, 1]]]) == (0, 0, 0, 1)
    nodes, tets = LATTICE
    with pytest.raises(BadInput) as problem:
        cut_surface(nodes, tets, tets, vertices, triangles[1:], np.arange(len(triangles) - 1), "Lamp")
    assert (
        problem.value.kind == "cut-open"
        and "3 of its edges are open" in str(problem.value)
        and '"Lamp"' in str(problem.value)
    )


def test_a_surface_that_leaves_the_tets_is_refused_and_told():
    nodes, tets = LATTICE
    surface = box((0.2, 0.2, 0.2), (0.9, 0.9, 0.9), n=2)
    check_covered(nodes, tets, *surface, "Lamp")
    for lower, upper in (((0.2, 0.2, 0.2), (0.9, 0.9, 1.3)), ((-0.1, -0.1, 0.2), (1.3, 1.3, 0.9))):
        with pytest.raises(BadInput) as problem:
            check_covered(nodes, tets, *box(lower, upper), "Lamp")
        assert problem.value.kind == "cut-uncovered"
    # both ends inside, the middle not
    kept = (nodes[tets].mean(axis=1)[:, 0] < 0.5) | (nodes[tets].mean(axis=1)[:, 0] > 0.8)
    with pytest.raises(BadInput):
        check_covered(nodes, tets[kept], *box((0.2, 0.2, 0.2), (1.0, 0.9, 0.9)), "Lamp")


def test_the_checks_see_what_is_wrong():
    """A face left out, turned round, lifted, or tied to the wrong tet: each breaks a rule."""
    nodes, tets = LATTICE
    parted = shattered(nodes, tets, 8, 2)
    vertices, triangles = SURFACES["a cube in general position"]
    arguments = (nodes, tets, parted, vertices, triangles, np.arange(len(triangles), dtype=np.int32))
    right = checked(nodes, tets, parted, (vertices, triangles))
    first = slice(right.face_start[0], right.face_start[1])
    corners = right.corners.copy()
    corners[first] = corners[first][::-1]
    assert "no edge twice" in broken_rules(dataclasses.replace(right, corners=corners), *arguments)
    merged = right.corners.copy()
    merged[merged == merged.max()] = 0
    assert len(broken_rules(dataclasses.replace(right, corners=merged), *arguments)) > 2
    tet = np.where(np.arange(len(right.tet)) == len(right.tet) // 2, 0, right.tet)
    assert "vertices are in place" in broken_rules(dataclasses.replace(right, tet=tet), *arguments)
    partner = np.where(right.partner >= 0, np.roll(right.partner, 1), -1)
    assert broken_rules(dataclasses.replace(right, partner=partner), *arguments)
    # tied to the tet on the other side of a crack, in the same place
    k = int(right.corners[right.face_start[:-1][right.is_broken][0]])
    other = int(right.face_tet[right.partner[right.is_broken][0]])
    tied = (right.tet.copy(), right.weights.copy())
    tied[0][k], tied[1][k] = other, barycentric_weights(nodes, tets, right.rest[[k]], np.array([other]))[0]
    loose = broken_rules(dataclasses.replace(right, tet=tied[0], weights=tied[1]), *arguments)
    assert loose == ["a face moves with its tet"]


def test_tets_that_overlap_are_refused_and_told():
    """A tet twice, one turned inside out over its neighbour, one without volume on a face."""
    nodes, tets = LATTICE
    surface = box((0.2, 0.2, 0.2), (0.9, 0.9, 0.9), n=2)
    flat = np.r_[nodes, nodes[tets[100, :3]].mean(axis=0)[None]]
    over = np.r_[nodes, nodes[tets[100]].mean(axis=0)[None]]
    for points, extra in (
        (nodes, tets[100]),
        (over, [*tets[100, :3], len(nodes)]),
        (flat, [*tets[100, :3], len(nodes)]),
    ):
        with pytest.raises(BadInput) as problem:
            check_covered(points, np.r_[tets, [extra]].astype(np.int32), *surface, "Lamp")
        assert problem.value.kind == "cut-tets"
