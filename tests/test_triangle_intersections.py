# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles that intersect are found without error: against fractions, on positions made to mislead."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.sheets import grid
from reference.triangle_intersections import intersect_beyond_shared
from sinew.solver.mesh.geometry.exact_orientation import EXPANSION_SIZE, orientation_sign, plane_orientation_sign
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles, surface_intersections


def welded_sphere(n):
    """Returns a sphere whose faces share vertices: vertices, (n, 3), and triangles, (t, 3)."""
    vertices, triangles = sphere(n)
    _, first, number = np.unique(np.round(vertices, 9), axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.ravel()[triangles].astype(np.int32)


def sign_of(value):
    return (value > 0) - (value < 0)


def determinant(rows):
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def misleading_points(rng, count):
    """Returns quads of points, coplanar but for rounding, of all sizes, some with equal points, (count, 4, 3)."""
    quads = rng.uniform(-1.0, 1.0, (count, 4, 3))
    weights = rng.uniform(-2.0, 2.0, (count, 2, 1))
    quads[:, 3] = (
        quads[:, 0] + weights[:, 0] * (quads[:, 1] - quads[:, 0]) + weights[:, 1] * (quads[:, 2] - quads[:, 0])
    )
    quads[count // 4 : count // 2] = quads[count // 4 : count // 2].astype(np.float32)
    quads[count // 2 :] += 10.0 ** rng.uniform(-6, 6, (count - count // 2, 1, 1))  # far from the origin
    moved = rng.integers(0, 3, count)
    quads[moved == 1, 3] = np.nextafter(quads[moved == 1, 3], np.inf)
    same = rng.integers(0, 8, count) == 0
    quads[same, 2] = quads[same, 1]
    return quads * 10.0 ** rng.uniform(-5, 5, (count, 1, 1))


def test_signs_are_those_of_fractions() -> None:
    scratch, kinds = np.empty(EXPANSION_SIZE), set()
    for quad in misleading_points(np.random.default_rng(1), 3000):
        a, *others = ([Fraction(float(x)) for x in point] for point in quad)
        rows = [[x - y for x, y in zip(other, a, strict=True)] for other in others]
        wanted = sign_of(determinant(rows))
        assert orientation_sign(*quad, scratch) == wanted
        kinds.add(wanted)
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            area = rows[0][i] * rows[1][j] - rows[0][j] * rows[1][i]
            assert plane_orientation_sign(*quad[:3], axis, scratch) == sign_of(area)
    assert kinds == {-1, 0, 1}


def reference(vertices, triangles):
    """Returns the pairs that intersect, in fractions, (k, 2)."""
    pairs = []
    for i, j in itertools.combinations(range(len(triangles)), 2):
        shared = sorted(set(triangles[i].tolist()) & set(triangles[j].tolist()))
        one, other = vertices[triangles[i]], vertices[triangles[j]]
        if len(shared) == 3 or intersect_beyond_shared(one, other, vertices[shared]):
            pairs.append((i, j))
    return pairs


def soup(rng, kind, count):
    """Returns a soup of triangles, of which many share corners: vertices, (n, 3), and triangles, (count, 3)."""
    triangles = np.array([rng.choice(9, 3, replace=False) for _ in range(count)], np.int32)
    if kind == "coarse grid":  # edges meet edges and corners, planes coincide, triangles have no area
        vertices = rng.integers(0, 3, (9, 3)).astype(float)
    elif kind == "one plane":
        vertices = np.concatenate([rng.integers(0, 4, (9, 2)).astype(float), np.full((9, 1), 0.1)], axis=1)
    elif kind == "one line":
        vertices = rng.integers(-3, 4, (9, 1)) * np.array([[1.0, 2.0, -1.0]])
    elif kind == "turned plane":  # not quite one plane any more
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        vertices = np.concatenate([rng.integers(0, 4, (9, 2)).astype(float), np.zeros((9, 1))], axis=1) @ turn + 0.3
    else:
        vertices = rng.uniform(0.0, 1.0, (9, 3))
    return vertices, triangles


@pytest.mark.parametrize("kind", ["coarse grid", "one plane", "one line", "turned plane", "anywhere"])
def test_intersecting_triangles_are_those_of_fractions(kind) -> None:
    rng, found = np.random.default_rng(3), 0
    for _ in range(4):
        vertices, triangles = soup(rng, kind, 8)
        wanted = reference(vertices, triangles)
        assert list(map(tuple, intersecting_triangles(vertices, triangles).tolist())) == wanted
        found += len(wanted)
    assert 10 < found < 4 * 28


def test_many_triangles_are_found_as_pair_by_pair() -> None:
    rng = np.random.default_rng(5)
    corners = rng.uniform(0.0, 1.0, (80, 1, 3)) + rng.uniform(-0.25, 0.25, (80, 3, 3))
    vertices, triangles = corners.reshape(-1, 3), np.arange(240, dtype=np.int32).reshape(-1, 3)
    pairs = intersecting_triangles(vertices, triangles)
    near = (corners.min(axis=1)[:, None] <= corners.max(axis=1)[None]).all(axis=2)
    wanted = [
        (i, j)
        for i, j in np.argwhere(np.triu(near & near.T, 1)).tolist()
        if intersect_beyond_shared(corners[i], corners[j], [])
    ]
    assert list(map(tuple, pairs.tolist())) == wanted and len(wanted) > 20


def test_clean_surfaces_do_not_intersect() -> None:
    for vertices, triangles in (grid((20, 20), (0.7, 0.7)), welded_sphere(12)):
        for turn in (np.eye(3), np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]):
            assert not len(intersecting_triangles(vertices @ turn + 0.1, triangles))


def test_intersections_name_the_surfaces_and_the_place() -> None:
    vertices, triangles = welded_sphere(12)
    sheet, faces = grid((4, 4), (4.0, 4.0))
    sheet = sheet - [2.0, 2.0, 0.0]
    height = vertices[:, 2].max()
    assert not surface_intersections({"ball": (vertices, triangles), "sheet": (sheet + [0, 0, 1.1 * height], faces)})
    found = surface_intersections({"ball": (vertices, triangles), "sheet": (sheet + [0, 0, 0.5 * height], faces)})
    assert found and {each.surfaces for each in found} == {("ball", "sheet")}
    assert all(abs(each.place[2] - 0.5 * height) < 1e-9 for each in found)
    for each in found:
        assert 0 <= each.triangles[0] < len(triangles) and 0 <= each.triangles[1] < len(faces)
    assert surface_intersections({}) == []


def test_a_fold_onto_itself_is_found_and_a_sharp_one_is_not() -> None:
    flat = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 1.0, 0], [0.4, 0.9, 0.0]])
    triangles = np.array([[0, 1, 2], [1, 0, 3]], np.int32)
    assert intersecting_triangles(flat, triangles).tolist() == [[0, 1]]
    flat[3, 2] = 1.0e-300
    assert not len(intersecting_triangles(flat, triangles))
