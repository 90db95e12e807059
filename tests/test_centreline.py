# SPDX-License-Identifier: GPL-3.0-or-later
"""Centrelines through level sets, and the polygons with the fewest corners that are nearly as long."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fixtures.muscle_bodies import bent, revolved
from sinew.solver.mesh.geometry.centreline import (
    departure_from_chord,
    fewest_corners,
    level_set_centroids,
    polyline_length,
)

RADIUS, ANGLE = 0.5, 0.5 * np.pi


def arc(angles: np.ndarray) -> np.ndarray:
    return RADIUS * np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)


def test_centroids_of_sections_of_a_torus_are_on_its_centreline() -> None:
    s = np.sort(np.random.default_rng(3).uniform(0.0, 1.0, 40))  # rings at uneven places
    tube = revolved(np.full(42, 0.08), np.concatenate([[0.0], s, [1.0]]), 24)
    vertices = bent(tube.vertices * [1.0, 1.0, RADIUS * ANGLE], RADIUS)
    levels = np.linspace(s[0] + 0.01, s[-1] - 0.01, 9)
    found = level_set_centroids(vertices, tube.triangles, tube.vertices[:, 2], levels)
    # sections between two rings of 24-gons are chords of their arc
    assert found == pytest.approx(arc(ANGLE * levels), abs=2e-3)
    assert np.isnan(level_set_centroids(vertices, tube.triangles, tube.vertices[:, 2], np.array([2.0]))).all()


def test_the_size_of_triangles_has_no_weight() -> None:
    """The left half of a box's walls has many triangles."""
    x = np.concatenate([[1.0], np.linspace(-1.0, -0.5, 40)])
    low, high = (np.stack([x, 0.0 * x + y, 0.0 * x], axis=1) for y in (0.0, 1.0))
    places = np.concatenate([low, high, low + [0, 0, 1.0], high + [0, 0, 1.0]])
    n, faces = len(x), []
    ring = [*range(1, n), 0]
    for level in (0, 2 * n):
        assert level + n < len(places)
    loop = [*ring, *[n + i for i in ring[::-1]]]
    for a, b in zip(loop, loop[1:] + loop[:1], strict=True):
        faces += [(a, b, 2 * n + b), (a, 2 * n + b, 2 * n + a)]
    found = level_set_centroids(places, np.array(faces, np.int32), places[:, 2], np.array([0.25]))[0]
    # of the outline of a rectangle, wherever its corners are divided
    assert found == pytest.approx([0.0, 0.5, 0.25], abs=1e-12)


def test_the_departure_of_an_arc_is_its_sagitta() -> None:
    line = arc(np.linspace(0.0, ANGLE, 101))
    assert departure_from_chord(line) == pytest.approx(RADIUS * (1.0 - np.cos(0.5 * ANGLE)), rel=1e-3)
    assert departure_from_chord(np.outer(np.linspace(0.0, 1.0, 7) ** 2, [1.0, 2.0, 3.0])) < 1e-12
    # a hook that comes back leaves the segment, not its line
    assert departure_from_chord(np.array([[0.0, 0, 0], [3.0, 0, 0], [1.0, 0, 0]])) == pytest.approx(2.0)


@pytest.mark.parametrize("seed", range(6))
def test_no_polygon_of_as_many_corners_is_longer(seed: int) -> None:
    points = np.cumsum(np.random.default_rng(seed).normal(size=(9, 3)), axis=0)
    full = polyline_length(points)
    for share in (0.5, 0.8, 0.95, 1.0 - 1e-12):
        found = fewest_corners(points, share * full, 8)
        best = [
            max(polyline_length(points[[0, *inner, 8]]) for inner in combinations(range(1, 8), count))
            for count in range(8)
        ]
        assert polyline_length(points[[0, *found, 8]]) == pytest.approx(best[len(found)])
        assert len(found) == next(count for count in range(8) if best[count] >= share * full)
        assert (np.diff(found) > 0).all()


def test_a_quarter_of_a_circle_has_two_corners_and_a_line_has_none() -> None:
    line = arc(np.linspace(0.0, ANGLE, 31))
    length = polyline_length(line)
    assert fewest_corners(line, 0.985 * length, 8).tolist() == [10, 20]  # at thirds
    assert len(fewest_corners(line, 2.0 * length, 3)) == 3  # never long enough
    straight = np.outer(np.linspace(0.0, 1.0, 31), [1.0, 0.0, 0.0])
    assert not len(fewest_corners(straight, 0.985, 8))
