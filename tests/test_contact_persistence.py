# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts hang on, and which of those remembered are none any more: each has pushed bodies about for nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.collision_surfaces import previous_contacts, skins_from
from sinew.solver.contact.detection import contact_binding
from sinew.solver.contact.surfaces import contact_tracking

LEVEL = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def test_a_place_hangs_on_the_tet_that_it_is_least_outside_of(monkeypatch):
    monkeypatch.setattr(contact_binding, "barycentric_weights", contact_binding.barycentric_weights.py_func)
    random = np.random.default_rng(7)
    triangles, tet, under = np.array([[0, 1, 2]]), np.array([0, 1, 2]), np.array([3])
    chosen = set()
    for _ in range(40):
        X, tets, q = random.normal(size=(16, 3)), np.arange(16).reshape(4, 4), 0.5 * random.normal(size=3)
        tried, weights = np.empty(4), np.empty(4)
        found = contact_binding.find_support_tet.py_func(q, 0, X, tets, tet, under, triangles, tried, weights)
        twin = [np.linalg.solve(np.vstack([X[nodes].T, np.ones(4)]), np.append(q, 1.0)) for nodes in tets]
        assert found == np.argmax([each.min() for each in twin])
        np.testing.assert_allclose(weights, twin[found], rtol=1e-9, atol=1e-9)
        chosen.add(int(found))
    assert chosen == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("before", "distance", "shift", "is_left"),
    [(1.0, -0.1, 0.0, False), (-1.0, -0.1, 0.0, True), (0.2, -0.1, 0.0, True), (-1.0, 0.1, 0.0, False),
     (-1.0, -0.1, -0.05, False)],
)  # fmt: skip
def test_a_point_behind_a_face_that_looks_elsewhere_is_in_no_contact(before, distance, shift, is_left):
    triangles = np.array([[0, 1, 2]], np.int32)
    normal = np.array([[np.sqrt(1.0 - before**2), 0.0, before]])
    distances = np.array([distance])
    up, face = np.array([[0.0, 0.0, 1.0]]), np.zeros(1, np.int32)
    contact_tracking.drop_far_side_contacts(normal, np.array([shift]), face, LEVEL, triangles, up, distances)
    assert np.isinf(distances[0]) == is_left


def test_a_point_around_a_thin_plate_is_not_behind_its_far_face():
    vertices, triangles = shapes.cube(4)
    vertices = (vertices - vertices.mean(axis=0)) / np.ptp(vertices, axis=0) * [1.0, 1.0, 0.04]
    above = [[0.1, 0.2, 0.2]]
    skins = skins_from([(vertices, triangles), (above, np.zeros((0, 3)))])
    corners = skins.rest[skins.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    below = int(np.argmin(np.linalg.norm(corners.mean(axis=1) - [0.1, 0.2, -0.02], axis=1)))
    assert normal[below, 2] < -0.99
    known = previous_contacts(
        np.array([0 * len(skins.rest) + len(vertices)]), np.array([below], np.int32), np.ones(1, np.int8), np.zeros(1)
    )
    kept = contact_tracking.track_contacts(skins, known, skins.rest, np.ones((2, 2), bool))
    assert len(kept) == 1 and normal[kept.triangle[0], 2] > 0.99
    place = np.einsum("c,ci->i", kept.place[0], corners[kept.triangle[0]])
    np.testing.assert_allclose(place, [0.1, 0.2, 0.02], atol=1e-12)
