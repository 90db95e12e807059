# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth tets: conforming, never inverted, within the paper's bound, true to the volume."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from sinew.solver.mesh.embedding import bind
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.connected_components import connected_components
from sinew.solver.mesh.geometry.surface_exit_points import exit_points
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.mesh.mesh_npz import from_arrays, to_arrays
from sinew.solver.mesh.tet_quality import dihedral_angles, dihedral_range, signed_volumes
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.bcc_lattice import lattice_around, lattice_tets
from sinew.solver.mesh.tetrahedralize.cut_edges import cut_edges
from sinew.solver.mesh.tetrahedralize.fill_warnings import fill_warnings
from sinew.solver.mesh.tetrahedralize.isosurface_stuffing import cut_lattice, stuff_lattice
from sinew.solver.mesh.tetrahedralize.lattice_snapping import snap_lattice
from sinew.solver.mesh.tetrahedralize.octree_grading import graded_tets, leaf_levels
from sinew.solver.mesh.tetrahedralize.stuffing_stencils import split_tets
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Body, Meshing

BOUND = 10.7, 164.8
SHAPES = {"sphere": sphere(16), "torus": torus(64, 32), "cube": cube(3)}


def boundary_faces(tets):
    """Faces that one tet has, outward; fails where one face has more than two tets or both on one side."""
    faces = np.concatenate([tets[:, [1, 2, 3]], tets[:, [0, 3, 2]], tets[:, [0, 1, 3]], tets[:, [0, 2, 1]]])
    ordered = np.sort(faces, axis=1)
    a, b, c = faces.T
    parity = np.where((a < b).astype(int) + (b < c) + (c < a) == 2, 1, -1)  # two rises on the way round: even
    _, first, place, count = np.unique(ordered, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert count.max() <= 2
    sides = np.bincount(place.ravel(), parity)
    assert np.all(sides[count == 2] == 0)
    return faces[first[count == 1]]


def slow_dihedral_angles(x):
    """Angles of one tet, (4, 3): at each edge, between the directions to the other two nodes, across the edge."""
    angles = []
    for i, j, k, m in ((2, 3, 0, 1), (1, 3, 0, 2), (1, 2, 0, 3), (0, 3, 1, 2), (0, 2, 1, 3), (0, 1, 2, 3)):
        along = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
        a, b = ((x[o] - x[i]) - ((x[o] - x[i]) @ along) * along for o in (k, m))
        angles.append(np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))))
    return angles


def test_quality_equals_the_slow_twin():
    rng = np.random.default_rng(0)
    nodes = rng.normal(size=(40, 3))
    tets = np.array([rng.permutation(40)[:4] for _ in range(60)], np.int32)
    angles = dihedral_angles(nodes, tets)
    assert np.allclose(angles, [slow_dihedral_angles(nodes[t]) for t in tets])
    assert dihedral_range(nodes, tets) == pytest.approx((angles.min(), angles.max()))
    edges = [
        np.linalg.det(np.diff(nodes[t[[0, 1]]], axis=0).repeat(3, 0) * 0 + nodes[t[1:]] - nodes[t[0]]) for t in tets
    ]
    assert np.allclose(signed_volumes(nodes, tets), np.array(edges) / 6)


def test_lattice_has_twelve_equal_tets_per_cell():
    lattice = lattice_around(np.zeros(3), np.array([1.0, 2.0, 3.0]), 0.5)
    assert lattice.cell_counts == (4, 6, 8)
    coordinates = lattice.coordinates()
    tets = lattice_tets(lattice, np.ones(lattice.point_count, bool))
    volumes = signed_volumes(lattice.positions(coordinates), tets)
    assert np.allclose(volumes, 0.5**3 / 12)
    assert np.allclose(np.unique(dihedral_angles(lattice.positions(coordinates), tets).round(9)), [60, 90])
    boundary_faces(tets)
    middle = lattice_tets(lattice, (coordinates == [4, 6, 8]).all(axis=1))
    assert len(middle) == 24  # a point of the lattice has 24 tets
    assert np.isin(middle[:, :2], np.arange(lattice.corner_count, lattice.point_count)).all()


@pytest.mark.parametrize("seed", range(4))
def test_any_cuts_whatever_give_good_conforming_tets(seed):
    """Random signs and cuts, far wilder than a surface's, and cuts exactly where warping begins."""
    rng = np.random.default_rng(seed)
    lattice = lattice_around(np.zeros(3), np.full(3, 8.0), 1.0)
    coordinates = lattice.coordinates()
    positions = lattice.positions(coordinates)
    is_inside = rng.random(len(positions)) < (0.5, 0.3, 0.8, 0.5)[seed]
    is_inside &= ((coordinates > 1) & (coordinates < 2 * np.array(lattice.cell_counts) - 1)).all(axis=1)
    tets = lattice_tets(lattice, is_inside)
    edges = cut_edges(tets, is_inside)
    is_long = (np.abs(coordinates[edges.inside] - coordinates[edges.outside]) == 2).any(axis=1)
    cuts = rng.random(len(is_long)) if seed < 2 else rng.choice([0.0, 0.25, 0.412, 0.5, 0.588, 0.75, 1.0], len(is_long))
    points = positions[edges.inside] + cuts[:, None] * (positions[edges.outside] - positions[edges.inside])
    before = positions.copy()
    signs = snap_lattice(positions, is_inside, edges, is_long, cuts)
    moved = np.linalg.norm(positions - before, axis=1)
    assert moved.max() < 0.412 and np.all(signs[moved > 0] == 0)
    has_inside = (signs[tets] > 0).any(axis=1)
    is_cut = has_inside & (signs[tets] < 0).any(axis=1)
    split = split_tets(tets[is_cut], signs, coordinates, edges.edges_of_tet[is_cut] + np.int32(len(positions)))
    filled = np.concatenate([tets[has_inside & ~is_cut], split])
    nodes = np.concatenate([positions, points])
    assert signed_volumes(nodes, filled).min() > 0
    least, most = dihedral_range(nodes, filled)
    assert least > BOUND[0] and most < BOUND[1]
    on_surface = np.concatenate([signs, np.zeros(len(points))])
    assert np.all(on_surface[boundary_faces(filled)] == 0)


def test_segments_leave_where_the_surface_is():
    vertices, triangles = torus(40, 20)
    bvh = build_bvh(vertices, triangles)
    rng = np.random.default_rng(6)
    points = rng.uniform(-1, 1, (4000, 3)) * [1, 1, 0.4]
    winding = winding_numbers(bvh, points)
    count = min((winding > 0.5).sum(), (winding < 0.5).sum())
    inside, outside = points[winding > 0.5][:count], points[winding < 0.5][:count]
    at = exit_points(bvh, inside, outside, winding[winding > 0.5][:count])[0]
    there = inside + at[:, None] * (outside - inside)
    assert closest_points(bvh, there).distance.max() < 1e-9
    before = np.round(winding_numbers(bvh, inside + 0.999 * at[:, None] * (outside - inside)))
    assert np.all(before == 1)


def test_segments_leave_an_open_surface_at_one_half():
    vertices, triangles = sphere(16)
    triangles = triangles[vertices[triangles].mean(axis=1)[:, 2] < 0.8]
    bvh = build_bvh(vertices, triangles)
    inside, outside = np.array([[0.0, 0.01, 0]]), np.array([[0.0, 0.02, 3]])
    at = exit_points(bvh, inside, outside, winding_numbers(bvh, inside))[0][0]
    around = [winding_numbers(bvh, inside + (at + d) * (outside - inside))[0] for d in (-1e-3, 1e-3)]
    assert 0.2 < at < 0.4 and around[0] > 0.5 > around[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("divisions", [5, 12, 20])
def test_smooth_tets_of_simple_shapes(name, divisions):
    vertices, triangles = SHAPES[name]
    mesh = tetrahedralize(Surface(vertices, triangles), Meshing("smooth", divisions=divisions), name)
    assert signed_volumes(mesh.nodes, mesh.tets).min() > 0
    assert mesh.report.min_dihedral > BOUND[0] and mesh.report.max_dihedral < BOUND[1]
    faces = boundary_faces(mesh.tets)
    bvh = build_bvh(vertices, triangles)
    assert closest_points(bvh, mesh.nodes[np.unique(faces)]).distance.max() < 0.11 * mesh.report.tet_size
    assert mesh.report.tet_size == pytest.approx(np.ptp(vertices, axis=0).max() / divisions)
    assert mesh.report.volume == pytest.approx(signed_volumes(mesh.nodes, mesh.tets).sum())
    assert np.array_equal(np.unique(mesh.tets), np.arange(len(mesh.nodes)))
    assert mesh.report.volume_ratio == pytest.approx(1, abs=0.02 if divisions == 5 else 0.003)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_scale_and_place_do_not_matter(scale, offset):
    vertices, triangles = torus(48, 24)
    vertices = vertices @ [[0.8, 0.1, 0.3], [-0.2, 0.9, 0.1], [0.15, 0.3, 0.7]]  # no symmetry for roundings to break
    mesh = tetrahedralize(Surface((vertices + offset) * scale, triangles), Meshing(divisions=12), "Torus")
    plain = tetrahedralize(Surface(vertices, triangles), Meshing(divisions=12), "Torus")
    assert np.array_equal(mesh.tets, plain.tets)
    assert np.allclose(mesh.nodes / scale - offset, plain.nodes, atol=1e-9)
    assert mesh.report.volume == pytest.approx(plain.report.volume * scale**3)
    assert mesh.report.tet_size == pytest.approx(plain.report.tet_size * scale)


def test_the_same_surface_gives_the_same_bytes():
    from sinew.solver.runtime.threads.thread_count import set_thread_count

    results = []
    for threads in (1, 2):
        set_thread_count(threads)
        mesh = tetrahedralize(Surface(*torus(48, 24)), Meshing(divisions=16), "Torus")
        results.append(mesh.nodes.tobytes() + mesh.tets.tobytes())
    set_thread_count(None)
    assert results[0] == results[1]


def test_boundary_lies_on_the_surface_before_it_grows():
    vertices, triangles = torus(64, 32)
    bvh = build_bvh(vertices, triangles)
    lattice = lattice_around(vertices.min(0), vertices.max(0), 0.11)
    coordinates = lattice.coordinates()
    positions = lattice.positions(coordinates)
    winding = winding_numbers(bvh, positions)
    cut = cut_lattice(positions, coordinates, lattice_tets(lattice, winding > 0.5), winding, bvh)
    plain, grown = stuff_lattice(cut), stuff_lattice(cut, 0.01)
    assert closest_points(bvh, plain.nodes[np.unique(boundary_faces(plain.tets))]).distance.max() < 1e-9
    distance = closest_points(bvh, grown.nodes[np.unique(boundary_faces(grown.tets))]).distance
    assert np.median(distance) == pytest.approx(0.01, rel=0.1) and distance.max() < 0.012
    larger = signed_volumes(grown.nodes, grown.tets).sum() - signed_volumes(plain.nodes, plain.tets).sum()
    assert larger == pytest.approx(0.01 * Surface(vertices, triangles).area, rel=0.1)


def test_specks_that_hang_on_nothing_are_left_out():
    vertices, triangles = sphere(12)
    needle = vertices.copy()
    needle[:, 0] = np.where(vertices[:, 0] > 0.9, 1 + 40 * (vertices[:, 0] - 0.9), vertices[:, 0])
    radius = np.linalg.norm(needle[:, 1:], axis=1)
    bulb = (needle[:, 0] > 3.5) & (radius > 0)
    needle[bulb, 1:] *= 0.2 / radius[bulb, None]
    mesh = tetrahedralize(Surface(needle, triangles), Meshing(divisions=40), "Needle")
    pieces = connected_components(np.repeat(mesh.tets[:, 0], 3), mesh.tets[:, 1:].ravel(), len(mesh.nodes))
    assert pieces.max() == 0
    two = Surface(np.r_[vertices, 0.3 * vertices + [2, 0, 0]], np.r_[triangles, triangles + len(vertices)])
    mesh = tetrahedralize(two, Meshing(divisions=20), "Two")
    assert connected_components(np.repeat(mesh.tets[:, 0], 3), mesh.tets[:, 1:].ravel(), len(mesh.nodes)).max() == 1


PLANE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("part", "meshing", "kind"),
    [
        (PLANE, Meshing(), "no-inside"),
        (
            (np.concatenate([PLANE[0], PLANE[0] + [0, 0, 2]]), np.concatenate([PLANE[1], PLANE[1] + 4])),
            Meshing(),
            "no-inside",
        ),
        ((cube(1)[0] * [1, 1, 1e-3], cube(1)[1]), Meshing(divisions=8), "nothing-inside"),
        ((cube(2)[0] * [1, 1, 0], cube(2)[1]), Meshing(), "no-inside"),
        ((np.zeros((3, 3)), np.array([[0, 1, 2]])), Meshing(), "mesh-flat"),
        ((np.outer(np.arange(3.0), [1, 2, 3]), np.array([[0, 1, 2]])), Meshing(), "mesh-flat"),
        (cube(1), Meshing(tet_size=2.0), "tet-size-too-large"),
        (cube(1), Meshing(tet_size=0.0), "setting-out-of-range"),
        (cube(1), Meshing(divisions=0), "setting-out-of-range"),
    ],
)
def test_what_cannot_be_filled_is_refused(part, meshing, kind):
    with pytest.raises(BadInput) as refused:
        tetrahedralize(Surface(part[0], part[1].astype(np.int32)), meshing, "Thing")
    assert refused.value.kind == kind
    assert '"Thing"' in refused.value.text


def soup(vertices, triangles, turned, apart=0.02):
    """Returns the triangles of a surface apart from each other, a share of them turned inwards."""
    corners = vertices[triangles]
    flip = np.random.default_rng(0).random(len(corners)) < turned
    corners[flip] = corners[flip, ::-1]
    middle = corners.mean(axis=1, keepdims=True)
    return (middle + (1.0 - apart) * (corners - middle)).reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)


def test_a_polygon_soup_is_covered_and_told():
    surface = Surface(*soup(*sphere(8), 0.5))
    mesh = tetrahedralize(surface, Meshing(divisions=8), "Soup")
    assert mesh.report.is_covered_soup and len(mesh.tets) > 200
    body = Body(surface.vertices, surface.triangles, name="Soup")
    assert [told.kind for told in fill_warnings(body, surface, mesh)][:1] == ["soup-covered"]
    robust = tetrahedralize(surface, Meshing("robust", divisions=8), "Soup")
    assert np.array_equal(mesh.nodes, robust.nodes) and np.array_equal(mesh.tets, robust.tets)
    assert not robust.report.is_covered_soup
    binding = bind(mesh.nodes, mesh.tets, surface.vertices)
    reports = [json.loads(str(to_arrays(body, each, binding)["report"])) for each in (mesh, robust)]
    assert "is_covered_soup" not in reports[1], "other files are as they were"
    stored, _ = from_arrays(to_arrays(body, mesh, binding))
    assert stored.report.is_covered_soup, "a resumed bake says it too"


def test_pieces_that_agree_where_inside_is_are_filled():
    mesh = tetrahedralize(Surface(*soup(*sphere(8), 0.0)), Meshing(divisions=8), "Shell")
    assert not mesh.report.is_covered_soup and mesh.report.volume_ratio == pytest.approx(1.0, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("interior_size", [2, 4])
@pytest.mark.parametrize(("name", "divisions"), [("sphere", 24), ("cube", 17), ("torus", 44)])
def test_larger_tets_inside_are_fewer_conforming_and_as_good(name, divisions, interior_size):
    surface = Surface(*SHAPES[name])
    mesh = tetrahedralize(surface, Meshing(divisions=divisions, interior_size=interior_size), name)
    plain = tetrahedralize(surface, Meshing(divisions=divisions), name)
    assert len(mesh.tets) < 0.95 * len(plain.tets)
    faces = boundary_faces(mesh.tets)
    bvh = build_bvh(surface.vertices, surface.triangles)
    assert closest_points(bvh, mesh.nodes[np.unique(faces)]).distance.max() < 0.11 * mesh.report.tet_size
    assert mesh.report.min_dihedral > BOUND[0] and mesh.report.max_dihedral < BOUND[1]
    assert mesh.report.volume == pytest.approx(plain.report.volume, rel=0.01)
    volumes = signed_volumes(mesh.nodes, mesh.tets)
    assert volumes.max() > 3 * volumes.min() and volumes.max() > 3 * mesh.report.tet_size**3 / 12


@pytest.mark.parametrize("seed", range(3))
def test_leaves_of_any_shape_fill_space(seed):
    """Random insides: the tets of the octree are conforming and fill what the lattice's tets fill."""
    rng = np.random.default_rng(seed)
    lattice = lattice_around(np.zeros(3), np.full(3, 30.0), 1.0, 4)
    coordinates = lattice.coordinates()
    centres = 2 * rng.uniform(8, 24, (3, 3))
    is_inside = (np.linalg.norm(coordinates[:, None] - centres, axis=2) < 2 * rng.uniform(6, 9, 3)).any(axis=1)
    is_inside &= ((coordinates > 1) & (coordinates < 2 * np.array(lattice.cell_counts) - 1)).all(axis=1)
    level = leaf_levels(lattice, is_inside, 2)
    assert (level == 1).any()
    tets, plain = graded_tets(lattice, level, is_inside), lattice_tets(lattice, is_inside)
    positions = lattice.positions(coordinates)
    volumes = signed_volumes(positions, tets)
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(signed_volumes(positions, plain).sum(), rel=1e-12)
    assert np.array_equal(np.unique(boundary_faces(tets)), np.unique(boundary_faces(plain)))
    large = np.unique(tets[~np.isclose(volumes, volumes.min())])
    neighbours = plain[np.isin(plain, large).any(axis=1)]
    assert is_inside[neighbours].all()


@pytest.mark.parametrize(
    ("file", "ratio"),
    [("surface/bunny_libigl_3k.off", 0.01), ("surface/skull_low.obj", 0.03), ("wild/suzanne.ply", 0.03)],
)
def test_smooth_tets_of_real_surfaces(shared, file, ratio):
    """All of them at more sizes: tests/validate_tetrahedralize.py."""
    surface = read_surface(shared / "testdata" / file)
    mesh = tetrahedralize(surface, Meshing(divisions=16, interior_size=2), file)
    boundary_faces(mesh.tets)
    assert signed_volumes(mesh.nodes, mesh.tets).min() > 0
    assert mesh.report.min_dihedral > BOUND[0] and mesh.report.max_dihedral < BOUND[1]
    assert mesh.report.volume_ratio == pytest.approx(1, abs=ratio)
