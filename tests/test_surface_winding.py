# SPDX-License-Identifier: GPL-3.0-or-later
"""How often surfaces of several pieces wind around points, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from fixtures.collision_surfaces import skins_from
from fixtures.slow_winding_numbers import slow_winding_numbers
from fixtures.triangle_patches import faces_of
from sinew.solver.contact.surfaces import surface_winding
from sinew.solver.contact.surfaces.collision_surfaces import CollisionSurfaces
from sinew.solver.contact.surfaces.surface_winding import surface_winding_numbers
from sinew.solver.runtime.arrays import Floats, Indices


def pieces() -> tuple[Floats, Indices]:
    """Returns two balls in each other, one apart, and one without some of its triangles."""
    vertices, triangles = [], []
    for number, at in enumerate([(0.0, 0.0, 0.0), (0.5, 0.2, 0.0), (3.0, 0.0, 0.0), (0.0, 2.6, 0.0)]):
        ball, faces = faces_of(trimesh.creation.icosphere(2))
        triangles.append((faces if number < 3 else faces[40:]) + len(ball) * number)
        vertices.append(ball + at)
    return np.concatenate(vertices), np.concatenate(triangles).astype(np.int32)


def asked() -> tuple[CollisionSurfaces, Floats, Indices, Indices]:
    """Returns surfaces with these pieces, their vertices where they have moved to, points, and the surface asked."""
    points = np.random.default_rng(0).uniform((-1.3, -1.3, -1.3), (4.3, 4.0, 1.3), (300, 3))
    surfaces = skins_from([pieces(), faces_of(trimesh.creation.icosphere(1)), (points, np.zeros((0, 3)))])
    at = surfaces.rest * [1.0, 1.2, 0.9] + [0.1, 0.0, 0.2]
    point = np.arange(surfaces.vertex_start[2], surfaces.vertex_count, dtype=np.int32)
    return surfaces, at, point, np.tile(np.array([0, 0, 1], np.int32), 100)


def wanted(surfaces: CollisionSurfaces, at: Floats, point: Indices, surface: Indices) -> Floats:
    out = np.empty(len(point))
    for number in (0, 1):
        corners = at[surfaces.triangles[surfaces.triangles_of(number)]]
        out[surface == number] = slow_winding_numbers(corners, at[point[surface == number]])
    return out


def test_winding_numbers_of_pieces_are_those_of_numpy() -> None:
    given = asked()
    numbers = wanted(*given)
    np.testing.assert_allclose(surface_winding_numbers(*given), numbers, atol=1e-12)
    assert {0, 1, 2} <= set(np.round(numbers).astype(int).tolist())
    assert (np.abs(numbers - np.round(numbers)) > 0.01).any()  # around the open one


def test_a_tree_is_asked_where_there_is_too_much_to_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    given = asked()
    monkeypatch.setattr(surface_winding, "MAX_DIRECT_SOLID_ANGLES", 0)
    assert np.abs(surface_winding_numbers(*given) - wanted(*given)).max() < 0.1


def test_pieces_elsewhere_cost_nothing() -> None:
    surfaces, at, point, _ = asked()
    triangles = surface_winding._piece_triangles(surfaces)
    assert triangles.is_closed[:4].tolist() == [True, True, True, False]
    boxes = np.empty((len(triangles.is_closed), 6))
    surface_winding.bound_piece_triangles(triangles, at, boxes)
    far = np.array([[30.0, 0.0, 0.0]])
    assert surface_winding.count_solid_angles(far, triangles, boxes, 0, 4) == 280
