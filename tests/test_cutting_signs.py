# SPDX-License-Identifier: GPL-3.0-or-later
"""Sides told without error, polygons cut into triangles, edges that fall on each other."""

from __future__ import annotations

from fractions import Fraction

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from sinew.solver.mesh.cutting.duplicate_edges import split_parallel_edges
from sinew.solver.mesh.cutting.ear_clipping import cut_ears
from sinew.solver.mesh.cutting.general_position import (
    GRID_CELLS,
    NODE_PERTURBATION,
    DegeneratePosition,
    PerturbedPoints,
    exact_volumes,
    fill_volumes,
    perturb_points,
)
from sinew.solver.mesh.cutting.polygon_holes import triangulate_with_holes
from sinew.solver.mesh.cutting.polygons import (
    DIAGONAL_SIDE,
    TET_EDGE_SIDE,
    NotWatertight,
    Polygons,
    concatenate_polygons,
    side_names,
    unpack_side_names,
)
from sinew.solver.mesh.cutting.stitch import glue_corners, paired_sides

FIRST = np.arange(4, dtype=np.int32)[None]


def twin(corners):
    """Slow twin: the determinant in fractions."""
    a, b, c, d = ([Fraction(float(x)) for x in corner] for corner in corners)
    u, v, w = ([q - p for q, p in zip(end, a, strict=True)] for end in (b, c, d))
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])


@pytest.mark.parametrize("height", [1.0, 1e-6, 1e-10, 1e-13, 1e-15, 2e-16])
def test_volumes_have_the_sign_and_the_digits_of_their_twin(height):
    rng = np.random.default_rng(1)
    corners = rng.uniform(-0.5, 0.5, (200, 4, 3))
    inside = rng.dirichlet([1, 1, 1], 200)
    corners[:, 3] = np.einsum("kj,kji->ki", inside, corners[:, :3]) + height * rng.normal(size=(200, 3))
    corners = np.clip(np.round(corners * GRID_CELLS) / GRID_CELLS, -0.5, 0.5)
    quads = np.arange(800, dtype=np.int32).reshape(-1, 4)
    points = PerturbedPoints(corners.reshape(-1, 3), 0)
    found = points.signed_volumes(*quads.T)
    for value, corner in zip(found, corners, strict=True):
        assert value == pytest.approx(float(twin(corner)), rel=1e-8, abs=0.0)


def test_volumes_that_two_numbers_cannot_tell_are_counted_in_whole_numbers():
    """Edges of the least volume there is, 1/GRID³, made long by adding them to each other."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        edges = [[int(i == j) for j in range(3)] for i in range(3)]
        for _ in range(6):
            i, j = rng.choice(3, 2, replace=False)
            factor = int(rng.integers(-400, 400))
            edges[i] = [p + factor * q for p, q in zip(edges[i], edges[j], strict=True)]
        corners = np.concatenate([np.zeros((1, 3)), np.array(edges, float)]) / GRID_CELLS
        if np.abs(corners).max() > 0.5:
            continue
        out, in_doubt = np.empty(1), np.empty(1, bool)
        fill_volumes(corners, FIRST, out, in_doubt)
        assert exact_volumes(corners[None])[0] == 1.0 / GRID_CELLS**3 == float(twin(corners))
        assert in_doubt[0] or out[0] > 0.0
        assert PerturbedPoints(corners, 0).signed_volumes(0, 1, 2, 3) > 0.0


def test_two_numbers_know_when_they_do_not_know():
    long = np.array([[0, 0, 0], [2**49, 2**49 - 1, 3], [2**48 + 1, 2**49 + 5, 7]])
    for off in (0, 1):
        last = long[1] + long[2] + [0, 0, off]
        corners = np.concatenate([long, last[None]]) / GRID_CELLS
        out, in_doubt = np.empty(1), np.empty(1, bool)
        fill_volumes(corners, FIRST, out, in_doubt)
        assert in_doubt[0] == (off == 0) and (out[0] == 0.0) == (off == 0)
    with pytest.raises(DegeneratePosition):
        PerturbedPoints(np.concatenate([long, (long[1] + long[2])[None]]) / GRID_CELLS, 0).signed_volumes(0, 1, 2, 3)


def test_points_move_by_next_to_nothing_and_the_same_each_time():
    rng = np.random.default_rng(0)
    nodes, vertices = rng.normal(size=(20, 3)) + 100.0, rng.normal(size=(30, 3)) + 100.0
    tets = rng.integers(0, 20, (12, 4)).astype(np.int32)
    first, second = (perturb_points(nodes, tets, vertices, 0) for _ in range(2))
    assert (first.positions == second.positions).all()
    assert (first.positions != perturb_points(nodes, tets, vertices, 1).positions).any()
    assert (first.positions * GRID_CELLS == np.round(first.positions * GRID_CELLS)).all() and np.abs(
        first.positions
    ).max() <= 0.5
    both = np.concatenate([nodes, vertices])
    middle, size = (both.min(axis=0) + both.max(axis=0)) / 2, 1.001 * np.ptp(both, axis=0).max()
    assert np.abs(first.positions - (both - middle) / size).max() < 2 * NODE_PERTURBATION


def area(flat, triangles):
    a, b, c = (flat[:, triangles[:, k]] for k in range(3))
    return ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2


def star(rng, count, middle, size):
    """A polygon round a point, (2, n)."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, count)) + np.arange(count) * 1e-3
    radius = size * rng.uniform(0.3, 1.0, count)
    return np.array(middle)[:, None] + radius * np.array([np.cos(angle), np.sin(angle)])


@hypothesis.given(st.integers(0, 10**6), st.integers(8, 40), st.integers(0, 5))
def test_outlines_with_holes_are_filled_without_overlap(seed, count, hole_count):
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    outer = np.array([np.cos(angle), np.sin(angle)]) * rng.uniform(0.9, 1.1, count)
    loops, flat = [list(range(count))], [outer]
    begin = list(range(count))
    for k in range(hole_count):
        middle = 0.55 * np.array([np.cos(2 * np.pi * k / 5), np.sin(2 * np.pi * k / 5)])
        hole = star(rng, int(rng.integers(3, 12)), middle, 0.3)[:, ::-1]
        if _area(hole) > -1e-4:
            continue
        loops.append(list(range(len(begin), len(begin) + hole.shape[1])))
        flat.append(hole)
        begin += loops[-1]
    places = np.concatenate(flat, axis=1)
    end = [after for loop in loops for after in loop[1:] + loop[:1]]
    areas = [_area(each) for each in flat]

    def add_inner(a, b):
        begin.extend([a, b])
        end.extend([b, a])
        return len(begin) - 2, len(begin) - 1

    polygons = triangulate_with_holes(loops, flat, areas, begin, add_inner)
    used = sorted(side for polygon in polygons for side in polygon)
    assert used == list(range(len(begin))), "every side of the loops once, every cut from both sides"
    for polygon in polygons:
        assert [end[side] for side in polygon] == [begin[side] for side in polygon[1:] + polygon[:1]]
    found = [_area(places[:, [begin[side] for side in polygon]]) for polygon in polygons]
    assert min(found) > 0.0 and sum(found) == pytest.approx(sum(areas), rel=1e-12)


def _area(loop):
    x, y = loop
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())


@hypothesis.given(st.integers(0, 10**6), st.integers(3, 30))
def test_any_polygon_is_cut_into_triangles(seed, count):
    """A star without overlap; a scribble, or all corners on one line, into chords that close all the same."""
    rng = np.random.default_rng(seed)
    shape = star(rng, count, (0.0, 0.0), 1.0)
    scribble, line = rng.normal(size=(2, count)), np.array([rng.normal(size=count), np.zeros(count)])
    for flat in (shape, scribble, line):
        triangles = cut_ears(flat, np.arange(count))
        assert triangles.shape == (count - 2, 3)
        sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        inner = sides[(sides[:, 0] + 1) % count != sides[:, 1]]
        assert len(inner) == len(sides) - count
        assert sorted(map(tuple, inner.tolist())) == sorted(map(tuple, inner[:, ::-1].tolist()))
    angle = np.arctan2(shape[1], shape[0])
    if (np.diff(np.r_[angle, angle[0] + 2 * np.pi]) % (2 * np.pi)).max() < np.pi:  # else the middle is outside
        assert area(shape, cut_ears(shape, np.arange(count))).min() >= 0.0


def pillow(names):
    """Two triangles back to back and two more on one of their edges: four on the edge of the vertices 0 and 1."""
    loops = [[0, 1, 2], [1, 0, 2], [0, 1, 3], [1, 0, 3]]
    side = side_names(*np.array(names).reshape(-1, 3).T)
    size = np.full(4, 3)
    return Polygons(
        size,
        np.array(loops).ravel(),
        side,
        np.zeros(12, int),
        np.full(12, -1),
        np.zeros(4, int),
        np.full(4, -1),
        np.full(4, -1),
    )


RIM = (TET_EDGE_SIDE, 1, 0), (TET_EDGE_SIDE, 2, 0)
OTHER = (TET_EDGE_SIDE, 3, 0), (TET_EDGE_SIDE, 4, 0)


def test_edges_that_fall_on_each_other_get_a_vertex_between():
    """Each pair of triangles is closed in itself; glued at corners they would have one edge of four faces."""
    first, second = (TET_EDGE_SIDE, 0, 0), (DIAGONAL_SIDE, 0, 0)
    table = pillow([first, *RIM, first, RIM[1], RIM[0], second, *OTHER, second, OTHER[1], OTHER[0]])
    a, b = paired_sides(table)
    vertex = table.point  # as if their corners were one by neighbours elsewhere
    polygons, vertex, is_new, ends = split_parallel_edges(table, vertex, a, b, point_count=4)
    assert polygons.size.tolist() == [3, 3, 4, 4] and is_new.sum() == 2 and ends.tolist() == [[0, 1]]
    assert polygons.point.tolist() == [0, 1, 2, 1, 0, 2, 0, 4, 1, 3, 1, 4, 0, 3]
    assert (vertex == polygons.point).all()


def test_edges_stay_as_they_are_where_none_is_twice():
    first, second = (TET_EDGE_SIDE, 0, 0), (DIAGONAL_SIDE, 0, 0)
    table = pillow([first, *RIM, first, RIM[1], RIM[0], second, *OTHER, second, OTHER[1], OTHER[0]])
    a, b = paired_sides(table)
    vertex = glue_corners(table, a, b)
    assert vertex.tolist() == [0, 1, 2, 1, 0, 2, 3, 4, 5, 4, 3, 5]
    polygons, after, is_new, ends = split_parallel_edges(table, vertex, a, b, point_count=4)
    assert (after == vertex).all() and not is_new.any() and len(ends) == 0
    assert (polygons.side == table.side).all()


def test_sides_without_a_partner_are_seen():
    first, second = (TET_EDGE_SIDE, 0, 0), (DIAGONAL_SIDE, 0, 0)
    right = [first, *RIM, first, RIM[1], RIM[0], second, *OTHER, second, OTHER[1], OTHER[0]]
    paired_sides(pillow(right))
    for wrong in (
        [first, *RIM, first, RIM[1], RIM[0], second, *OTHER, (DIAGONAL_SIDE, 1, 0), OTHER[1], OTHER[0]],
        [first, *RIM, first, RIM[1], RIM[0], first, *OTHER, first, OTHER[1], OTHER[0]],
        [first, *RIM, first, *RIM, second, *OTHER, second, OTHER[1], OTHER[0]],
    ):
        with pytest.raises(NotWatertight):
            paired_sides(pillow(wrong))
    table = pillow(right)
    assert concatenate_polygons([table, table]).size.sum() == 24
    with pytest.raises(NotWatertight):
        paired_sides(concatenate_polygons([table, table]))


def test_names_are_told_apart():
    kinds, a, b = np.meshgrid(np.arange(5), [0, 1, 2**29 - 1], [0, 1, 2**31 - 1], indexing="ij")
    names = side_names(kinds, a, b)
    assert len(np.unique(names)) == names.size
    assert all((found == given).all() for found, given in zip(unpack_side_names(names), (kinds, a, b), strict=True))
