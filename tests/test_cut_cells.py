# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets cut by any triangles: how many parts there are, how large they are, and where they hang together."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from fixtures.closed_surfaces import cube, sphere
from fixtures.cutters import NO_CUTTER, concatenated, square, wavy_sheet
from fixtures.tet_meshes import bar, kuhn_bar, lattice_bar
from sinew.solver.mesh.cut_cells.carve import carve_tets
from sinew.solver.mesh.cut_cells.cell_complex import CELLS, FACES, OPEN, TET_FACE_COUNT
from sinew.solver.mesh.cut_cells.cut import cut_tets, divide_tets
from sinew.solver.mesh.cut_cells.exact_signs import exact_sign
from sinew.solver.mesh.cut_cells.piece_surfaces import enclosed_volumes, is_closed
from sinew.solver.mesh.cut_cells.vertex_signs import PositionedTets
from sinew.solver.mesh.geometry.connected_components import mesh_components

ONE_TET = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]], np.int32)
TET_ROWS = np.array([[-1.0, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]]), np.array([0.0, 0, 0, 1])


def piece_volumes(nodes, tets, cut):
    """Returns the volumes of the pieces into which tets have been cut, rising."""
    corner = nodes[tets]
    volume = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6
    piece = mesh_components(cut.tets, len(cut.origin))[cut.tets[:, 0]]
    return np.sort(np.bincount(np.unique(piece, return_inverse=True)[1].ravel(), cut.filled * volume[cut.parent]))


def arrangement_count(normals, heights, rows, bounds):
    """Returns into how many cells planes cut {x: rows · x ≤ bounds}.

    It is 1, and one more for each plane, each line of two planes and each point of three that meet its inside
    (Zaslavsky 1975, for planes in general position).
    """
    count = 1
    for size in (1, 2, 3):
        for chosen in map(list, itertools.combinations(range(len(normals)), size)):
            count += meets_inside(normals[chosen], heights[chosen], rows, bounds)
    return count


def meets_inside(normals, heights, rows, bounds):
    """Returns whether planes have a point in common with rows · x < bounds: the one that is deepest within."""
    if len(normals) == 3:
        return bool((rows @ np.linalg.solve(normals, heights) < bounds).all())
    if len(normals) == 2:
        along = np.cross(*normals)
        point = np.linalg.lstsq(normals, heights, rcond=None)[0]
        slope, room = rows @ along, bounds - rows @ point
        return bool((room[slope > 0] / slope[slope > 0]).min() > (room[slope < 0] / slope[slope < 0]).max())
    found = scipy.optimize.linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([rows, np.linalg.norm(rows, axis=1)]),
        b_ub=bounds,
        A_eq=np.append(normals[0], 0.0)[None],
        b_eq=heights,
        bounds=[(None, None)] * 4,
    )
    return bool(found.x[3] > 0.0)


def random_squares(seed, count):
    """Returns squares much larger than a tet of size one, through random points in it, normals and heights."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    points = rng.uniform(0.1, 0.3, (count, 3))
    squares = [square(normal, point, 4.0) for normal, point in zip(normals, points, strict=True)]
    return concatenated(squares), normals, np.einsum("pi,pi->p", normals, points)


def random_triangles(seed, count):
    """Returns triangles in and around a tet, most of which end inside."""
    corners = np.random.default_rng(seed).uniform(-0.1, 0.7, (3 * count, 3))
    return corners, np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def clip_area(triangle, rows, bounds):
    """Returns the area of what of a triangle lies in {x: rows · x ≤ bounds}, side by side (Sutherland, Hodgman)."""
    polygon = list(triangle)
    for row, bound in zip(rows, bounds, strict=True):
        room = [bound - row @ point for point in polygon]
        clipped = []
        for k, point in enumerate(polygon):
            after = (k + 1) % len(polygon)
            if room[k] >= 0:
                clipped.append(point)
            if room[k] * room[after] < 0:
                clipped.append(point + room[k] / (room[k] - room[after]) * (polygon[after] - point))
        polygon = clipped
        if not polygon:
            return 0.0
    return polygon_area(np.array(polygon))


def polygon_area(points):
    edges = points[1:] - points[0]
    return np.linalg.norm(np.cross(edges[:-1], edges[1:]).sum(axis=0)) / 2


def face_vertices(cells, face):
    first, count = cells.face_sides[face]
    sides = cells.sides[first : first + count]
    return cells.edge_vertices[sides >> 1, sides & 1]


def undivided_faces(cells):
    return np.flatnonzero(cells.face_children[: cells.used[FACES], 0] < 0)


@pytest.mark.parametrize("count", [1, 3, 6, 9])
def test_a_tet_falls_into_as_many_parts_as_planes_have_cells_in_it(count: int) -> None:
    for seed in range(3):
        cutter, normals, heights = random_squares(seed + 10 * count, count)
        cut = cut_tets(*ONE_TET, ONE_TET[0], *cutter)
        assert len(cut.tets) == arrangement_count(normals, heights, *TET_ROWS)
        assert cut.filled.sum() == pytest.approx(1.0, abs=1e-12)
        assert len(np.unique(cut.tets)) == 4 * len(cut.tets)  # copies of one tet hang together nowhere


def test_a_tet_falls_into_more_than_a_thousand_parts() -> None:
    cutter, normals, heights = random_squares(1, 22)
    cut = cut_tets(*ONE_TET, ONE_TET[0], *cutter)
    assert len(cut.tets) == arrangement_count(normals, heights, *TET_ROWS)
    assert len(cut.tets) > 1000


def test_triangles_that_end_inside_cover_exactly_what_they_reach() -> None:
    """All faces between cells are covered where a triangle lies, nowhere else, so parts are what triangles leave."""
    vertices, triangles = random_triangles(3, 50)
    divided = divide_tets(*ONE_TET, ONE_TET[0], vertices, triangles)
    cells, parts = divided.cells, divided.parts
    covered = np.zeros(len(triangles))
    for face in undivided_faces(cells):
        places = cells.vertex_place[face_vertices(cells, face), :3]
        source = cells.face_source[face]
        if source != OPEN:
            covered[source] += polygon_area(places)
        elif cells.face_plane[face] >= TET_FACE_COUNT and polygon_area(places) > 1e-9:
            assert not lies_in_any(places.mean(axis=0), vertices[triangles])
    wanted = [clip_area(triangle, *TET_ROWS) for triangle in vertices[triangles]]
    assert covered == pytest.approx(np.array(wanted), abs=1e-12)
    assert min(wanted) == 0.0 < max(wanted)
    assert parts.fraction.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(parts.fraction) < int(cells.used[CELLS])  # most cells are parts of larger ones


def lies_in_any(point, triangles):
    """Returns whether a point lies in a triangle, away from its edges."""
    origin, edges = triangles[:, 0], triangles[:, 1:] - triangles[:, :1]
    normal = np.cross(edges[:, 0], edges[:, 1])
    weights = np.einsum("tij,tj->ti", np.linalg.pinv(np.swapaxes(edges, 1, 2)), point - origin)
    height = np.einsum("ti,ti->t", normal, point - origin) / np.linalg.norm(normal, axis=1)
    inside = (weights > 1e-9).all(axis=1) & (weights.sum(axis=1) < 1 - 1e-9)
    return bool((inside & (np.abs(height) < 1e-9)).any())


@pytest.mark.parametrize("case", ["random", "degenerate"])
def test_all_cells_are_convex_without_error(case: str) -> None:
    """Their vertices, solved for in fractions, lie on the right side of all their walls, and `exact_sign` says so."""
    if case == "random":
        nodes, tets = ONE_TET
        cutter = random_triangles(1, 8)
    else:
        nodes, tets = kuhn_bar((1, 1, 1), (1.0, 1.0, 1.0))
        ball = sphere(2, 0.4)
        cutter = concatenated([(ball[0] + 0.5, ball[1]), square([0, 0, 1], [0.5, 0.5, 0.5], 0.3)])
    divided = divide_tets(nodes, tets, nodes, *cutter)
    cells, planes = divided.cells, divided.planes
    positioned = PositionedTets(divided.whole.tets, nodes)
    checked = 0
    for cell in range(int(cells.used[CELLS])):
        first, count = cells.cell_walls[cell]
        walls = [int(wall) for wall in cells.walls[first : first + count]]
        corners = {int(vertex) for wall in walls for vertex in face_vertices(cells, wall >> 1)}
        points = {vertex: exact_point(cells, planes, positioned, vertex) for vertex in corners}
        for wall in walls:
            plane = int(cells.face_plane[wall >> 1]) - TET_FACE_COUNT
            if plane < 0:
                continue
            for vertex, point in points.items():
                height = exact_height(planes.points[plane], point)
                sign = (height > 0) - (height < 0)
                assert sign * (-1 if wall & 1 else 1) >= 0
                assert exact_sign(cells, planes, positioned, vertex, plane) == sign
                checked += 1
    assert checked > 100


def fractions(values):
    return [Fraction(float(value)) for value in values]


def exact_height(points, place):
    a, b, c = (fractions(point) for point in points)
    u, v, w = ([end - start for end, start in zip(each, a, strict=True)] for each in (b, c, place))
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])


def exact_point(cells, planes, tets, vertex):
    """Returns where three planes meet, by Cramer's rule in fractions."""
    corners = tets.positions[tets.tets[cells.vertex_tet[vertex]]]
    rows, right = [], []
    for code in cells.vertex_planes[vertex]:
        points = planes.points[code - TET_FACE_COUNT] if code >= TET_FACE_COUNT else np.delete(corners, code, axis=0)
        a, b, c = (fractions(point) for point in points)
        u, v = [p - q for p, q in zip(b, a, strict=True)], [p - q for p, q in zip(c, a, strict=True)]
        normal = [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)]
        rows.append(normal)
        right.append(sum(n * p for n, p in zip(normal, a, strict=True)))

    def determinant(m):
        return sum(m[0][i] * (m[1][i - 2] * m[2][i - 1] - m[1][i - 1] * m[2][i - 2]) for i in range(3))

    whole = determinant(rows)
    assert whole != 0
    return [
        determinant([[right[k] if i == axis else rows[k][i] for i in range(3)] for k in range(3)]) / whole
        for axis in range(3)
    ]


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 1, 0), (1, 0, -1), (1, 1, 1)])
def test_planes_through_nodes_edges_and_faces_cut_a_cube_in_two(normal) -> None:
    nodes, tets = kuhn_bar((4, 4, 4), (1.0, 1.0, 1.0))
    cut = cut_tets(nodes, tets, nodes, *square(normal, [0.5, 0.5, 0.5], 4.0))
    assert piece_volumes(nodes, tets, cut) == pytest.approx([0.5, 0.5], abs=1e-12)
    if normal == (0, 0, 1):  # it runs along faces alone: no tet is cut
        assert len(cut.tets) == len(tets)
        assert len(cut.origin) == len(nodes) + 25


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12])
def test_planes_close_to_nodes_cut_a_cube_in_two(distance: float) -> None:
    nodes, tets = lattice_bar((3, 3, 3), (1.0, 1.0, 1.0))
    cut = cut_tets(nodes, tets, nodes, *square((0, 0, 1), [0.5, 0.5, 1 / 3 + distance], 4.0))
    assert piece_volumes(nodes, tets, cut) == pytest.approx([1 / 3 + distance, 2 / 3 - distance], abs=1e-12)
    assert cut.filled.min() > 0.0


def test_thirty_two_planes_make_289_sticks() -> None:
    """S07, figures 6.11 and 7.4: a cube of 320 tets."""
    nodes, tets = bar((4, 4, 4), (1.0, 1.0, 1.0))
    assert len(tets) == 320
    lower, upper = nodes.min(axis=0), nodes.max(axis=0)
    at = (np.arange(16) + 1) / 17
    planes = [square(np.eye(3)[axis], lower + share * (upper - lower), 4.0) for axis in (0, 1) for share in at]
    sticks = piece_volumes(nodes, tets, cut_tets(nodes, tets, nodes, *concatenated(planes)))
    assert sticks == pytest.approx(np.full(289, np.prod(upper - lower) / 289), abs=1e-12)


def test_a_cut_that_ends_inside_holds_and_a_second_one_completes_it() -> None:
    nodes, tets = kuhn_bar((3, 3, 3), (1.0, 1.0, 1.0))
    left, right = square((0, 0, 1), [0.0, 0.5, 0.4], 0.55), square((0, 0, 1), [1.0, 0.5, 0.4], 0.55)
    half = cut_tets(nodes, tets, nodes, *left)
    assert len(piece_volumes(nodes, tets, half)) == 1
    assert len(half.origin) > len(nodes)  # it opens as far as it goes
    both = cut_tets(nodes, tets, nodes, *concatenated([left, right]))
    assert piece_volumes(nodes, tets, both) == pytest.approx([0.4, 0.6], abs=1e-12)


def test_a_t_cut_leaves_three_pieces() -> None:
    nodes, tets = lattice_bar((3, 3, 3), (1.0, 1.0, 1.0))
    flat = square((0, 0, 1), [0.5, 0.5, 0.45], 4.0)
    corners = np.array([[0.52, -1, 0.45], [0.52, 2, 0.45], [0.52, 2, 2], [0.52, -1, 2]])
    upright = corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    cut = cut_tets(nodes, tets, nodes, *concatenated([flat, upright]))
    wanted = [0.45, 0.55 * 0.52, 0.55 * 0.48]
    assert piece_volumes(nodes, tets, cut) == pytest.approx(np.sort(wanted), abs=1e-12)


def test_the_order_of_triangles_changes_nothing() -> None:
    nodes, tets = lattice_bar((3, 3, 3), (1.0, 1.0, 1.0))
    ball = sphere(4, 0.35)
    vertices, triangles = concatenated([(ball[0] + 0.5, ball[1]), wavy_sheet(5, -0.1, 1.1)])
    first = cut_tets(nodes, tets, nodes, vertices, triangles)
    shuffled = np.random.default_rng(2).permutation(triangles)
    second = cut_tets(nodes, tets, nodes, vertices, shuffled)
    assert len(first.tets) == len(second.tets)
    assert piece_volumes(nodes, tets, first) == pytest.approx(piece_volumes(nodes, tets, second), abs=1e-12)
    assert len(piece_volumes(nodes, tets, first)) == 4


def test_a_cut_in_the_present_shape_is_carried_to_the_shape_at_rest() -> None:
    nodes, tets = kuhn_bar((3, 3, 3), (1.0, 1.0, 1.0))
    bend = np.array([[1.2, 0.3, 0.0], [0.0, 0.9, -0.4], [0.2, 0.0, 1.1]])
    vertices, triangles = square((1, 2, 3), [0.5, 0.45, 0.48], 4.0)
    at_rest = cut_tets(nodes, tets, nodes, vertices, triangles)
    bent = cut_tets(nodes, tets, nodes @ bend.T, vertices @ bend.T, triangles)
    assert np.array_equal(at_rest.tets, bent.tets)
    assert bent.filled == pytest.approx(at_rest.filled, abs=1e-12)


def carved(nodes, tets, surface, cutter=NO_CUTTER):
    """Returns the volumes of pieces of material, which must be those that their closed surfaces enclose."""
    found = carve_tets(nodes, tets, surface, cutter)
    assert is_closed(found.surfaces, found.surface_piece).all()
    volumes = np.bincount(found.piece, found.volume)
    assert enclosed_volumes(found.surfaces, found.surface_piece) == pytest.approx(volumes, abs=1e-12)
    return np.sort(volumes)


def solid(surface, middle):
    """Returns a surface with welded vertices around a point, and what it encloses."""
    vertices, triangles = surface
    welded, number = np.unique(np.round(vertices, 12), axis=0, return_inverse=True)
    triangles = number.ravel()[triangles]
    corner = welded[triangles]
    volume = np.einsum("ti,ti->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    return (welded + np.asarray(middle), triangles.astype(np.int32)), volume


@pytest.mark.parametrize("middle", [(0.5, 0.5, 0.5), (0.51, 0.48, 0.507)])
def test_a_ball_is_carved_out_of_tets(middle) -> None:
    nodes, tets = kuhn_bar((4, 4, 4), (1.0, 1.0, 1.0))
    ball, volume = solid(sphere(8, 0.37), middle)
    assert carved(nodes, tets, ball) == pytest.approx([volume], abs=1e-12)
    halves = carved(nodes, tets, ball, square((1, 2, 3), middle, 4.0))
    assert halves == pytest.approx([volume / 2, volume / 2], abs=1e-12)


def test_balls_that_share_tets_are_apart() -> None:
    nodes, tets = kuhn_bar((3, 3, 3), (1.0, 1.0, 1.0))
    one, volume = solid(sphere(4, 0.15), (0.31, 0.5, 0.48))
    other, _ = solid(sphere(4, 0.15), (0.62, 0.5, 0.48))
    assert carved(nodes, tets, concatenated([one, other])) == pytest.approx([volume, volume], abs=1e-12)


def test_cubes_that_cross_are_one() -> None:
    nodes, tets = lattice_bar((3, 3, 3), (1.0, 1.0, 1.0))
    one, _ = solid(cube(1, 0.4), (0.4, 0.4, 0.4))
    other, _ = solid(cube(1, 0.4), (0.55, 0.5, 0.45))
    found = carve_tets(nodes, tets, concatenated([one, other]), NO_CUTTER)
    assert found.volume.sum() == pytest.approx(2 * 0.4**3 - 0.25 * 0.3 * 0.35, abs=1e-12)
    assert found.piece.max() == 0


def test_only_touched_tets_are_copied() -> None:
    nodes, tets = kuhn_bar((8, 8, 8), (1.0, 1.0, 1.0))
    cut = cut_tets(nodes, tets, nodes, *square((0, 0, 1), [0.5, 0.5, 0.3], 4.0))
    below = nodes[tets][:, :, 2].min(axis=1) < 0.3
    above = nodes[tets][:, :, 2].max(axis=1) > 0.3
    assert len(cut.tets) == len(tets) + (below & above).sum()


@pytest.mark.parametrize("case", ["far away", "no triangles", "no area"])
def test_what_touches_nothing_cuts_nothing(case: str) -> None:
    nodes, tets = kuhn_bar((2, 2, 2), (1.0, 1.0, 1.0))
    cutter = {
        "far away": square((0, 0, 1), [9.0, 9.0, 9.0], 1.0),
        "no triangles": NO_CUTTER,
        "no area": (np.full((3, 3), 0.4), np.array([[0, 1, 2]], np.int32)),
    }[case]
    cut = cut_tets(nodes, tets, nodes, *cutter)
    assert np.array_equal(cut.tets, tets)
    assert np.array_equal(cut.origin, np.arange(len(nodes)))
    assert (cut.filled == 1.0).all()
