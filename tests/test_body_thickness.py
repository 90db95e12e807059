# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with a thickness keep their distance: from rigid colliders, whose own is added, and from other bodies."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.scenes import Run, block
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Material, Scene

CALM = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.05)
FRAMES = 40


def ground() -> Collider:
    return Collider("ground", "Ground", thickness=0.03)


def slab() -> Collider:
    vertices, triangles = shapes.cube(1)
    return Collider("ground", "Slab", "mesh", vertices * [9.0, 9.0, 1.0] - [0.0, 0.0, 0.5], triangles, thickness=0.03)


def sheet() -> Collider:
    """Returns two triangles at z = 0."""
    corners = np.array([[-5.0, -5.0, 0.0], [5.0, -5.0, 0.0], [5.0, 5.0, 0.0], [-5.0, 5.0, 0.0]])
    return Collider("ground", "Sheet", "mesh", corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), thickness=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("collider", [ground(), slab(), sheet()], ids=lambda collider: collider.name)
def test_each_body_keeps_its_own_thickness_and_the_colliders(tmp_path, collider):
    kept = {"bare": 0.0, "thick": 0.05, "thicker": 0.1}
    bodies = tuple(
        block((2, 2, 2), at=(x, 0.0, 0.2), key=key, material=CALM, collision=Collision(thickness=kept[key]))
        for x, key in zip((-3.0, 0.0, 3.0), kept, strict=True)
    )
    run = Run(tmp_path, Scene(bodies, (collider,)))
    for _ in range(FRAMES):
        run.advance()
    for key, places in run.render.items():
        assert places[:, 2].min() == pytest.approx(0.03 + kept[key], abs=2e-3), key
    assert max(report.unsettled for report in run.reports[-5:]) == 0


def test_where_no_body_is_thick_nothing_is_asked_twice(tmp_path):
    run = Run(tmp_path, Scene((block((2, 2, 2)),), (ground(),)))
    assert run.built.colliders[0].extra_thickness == () and run.built.colliders[0].max_thickness == 0.03


@pytest.mark.slow
def test_two_bodies_keep_both_thicknesses(tmp_path):
    low = block((3, 3, 3), key="low", material=CALM, collision=Collision(thickness=0.02))
    # inside the top of the other, which is flat there
    high = block(
        (2, 2, 2), (0.5,) * 3, (0.25, 0.25, 1.1), key="high", material=CALM, collision=Collision(thickness=0.05)
    )
    run = Run(tmp_path, Scene((low, high), (Collider("ground", "Ground"),)))
    for _ in range(FRAMES):
        run.advance()
    top = run.render["low"]
    assert run.render["high"][:, 2].min() - top[:, 2].max() == pytest.approx(0.07, abs=6e-3)
