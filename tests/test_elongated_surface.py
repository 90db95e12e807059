# SPDX-License-Identifier: GPL-3.0-or-later
"""Elongated surfaces: where their ends are, how thick they are, and how long their thin ends."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.muscle_bodies import revolved
from sinew.solver.mesh.geometry.longitudinal_profile import elongated_surface


def spindle(belly=0.04, end=0.01, squash=1.0, bend=0.0):
    """A spindle of 0.3 m whose middle three fifths are thick, flattened and bent."""
    z = np.linspace(0.0, 0.3, 61)
    radius = np.where(np.abs(z - 0.15) < 0.09, belly, end)
    surface = revolved(np.concatenate([[0.0], radius, [0.0]]), np.concatenate([[0.0], z, [0.3]]), 24)
    vertices = surface.vertices * [1.0, squash, 1.0]
    vertices[:, 0] += bend * (vertices[:, 2] - 0.15) ** 2
    return vertices, surface.triangles


@pytest.mark.parametrize("bend", [0.0, 3.0])
def test_its_ends_are_where_it_is_farthest_apart(bend):
    vertices, triangles = spindle(bend=bend)
    found = elongated_surface(vertices, triangles)
    at_zero, at_one = (vertices[found.along <= 0.05], vertices[found.along >= 0.95])
    low, high = sorted((at_zero, at_one), key=lambda part: part[:, 2].mean())
    assert low[:, 2].max() < 0.05 and high[:, 2].min() > 0.25
    assert found.length >= 0.29
    order = np.argsort(vertices[:, 2])
    along = found.along if found.along[order[0]] < 0.5 else 1.0 - found.along
    assert np.corrcoef(along, vertices[:, 2])[0, 1] > 0.98


def test_it_is_as_thick_as_the_shorter_side_of_its_middle():
    assert elongated_surface(*spindle()).thickness() == pytest.approx(0.08, rel=0.05)
    assert elongated_surface(*spindle(squash=0.25)).thickness() == pytest.approx(0.02, rel=0.1)


def test_thin_ends_are_measured_and_a_cylinder_has_none():
    first, last = elongated_surface(*spindle()).thin_ends()
    assert [first, last] == pytest.approx([0.1 * elongated_surface(*spindle()).length] * 2)
    assert max(elongated_surface(*spindle(end=0.04)).thin_ends()) < 0.04


def test_a_loose_piece_does_not_count():
    vertices, triangles = spindle()
    crumb = np.array([[0.0, 0.0, 1.0], [0.01, 0.0, 1.0], [0.0, 0.01, 1.0]])
    both = np.vstack([triangles, [[len(vertices), len(vertices) + 1, len(vertices) + 2]]]).astype(np.int32)
    found = elongated_surface(np.vstack([vertices, crumb]), both)
    assert found.length == pytest.approx(elongated_surface(vertices, triangles).length, rel=0.05)
    assert np.isnan(found.along[-3:]).all()
