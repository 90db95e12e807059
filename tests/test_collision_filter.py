# SPDX-License-Identifier: GPL-3.0-or-later
"""Who passes through whom, in a bake: bodies and rigid colliders that a scene says ignore each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.scenes import Run, block
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Collider, Scene
from sinew.solver.scene.tracks import TrackReader

GROUND = Collider("ground", "Ground")
FRAMES = 12


def slab(**settings) -> Collider:
    """Returns a solid slab whose upper side is at z = 0."""
    vertices, triangles = shapes.cube(1)
    return Collider("slab", "Slab", "mesh", vertices * [8.0, 8.0, 1.0] - [0.0, 0.0, 0.5], triangles, **settings)


def lowest(run: Run, number: int) -> float:
    return float(run.state.x[run.built.bodies[number].range.nodes, 2].min())


@pytest.mark.parametrize("collider", [GROUND, slab()])
def test_a_body_passes_through_a_collider_that_it_ignores_and_another_does_not(tmp_path, collider):
    bodies = tuple(block((2, 2, 2), at=(x, 0.0, 0.05), key=key) for x, key in ((-2.0, "one"), (2.0, "two")))
    run = Run(tmp_path, Scene(bodies, (collider,), ignored_pairs=(("two", collider.key),)))
    for _ in range(FRAMES):
        run.advance()
    fallen = 0.5 * 9.81 * (FRAMES / 24.0) ** 2
    assert abs(lowest(run, 0)) < 0.02
    assert lowest(run, 1) == pytest.approx(0.05 - fallen, rel=0.1)


def test_what_ignores_a_collider_may_begin_inside_it(tmp_path):
    body = block((4, 4, 4), at=(0.0, 0.0, -0.6))
    with pytest.raises(BadInput):
        Run(tmp_path / "felt", Scene((body,), (slab(),))).advance()
    run = Run(tmp_path / "ignored", Scene((body,), (slab(),), ignored_pairs=(("slab", "block"),)))
    run.advance()
    assert run.reports[-1].contacts == 0


def test_bodies_that_ignore_each_other_pass_through_each_other(tmp_path):
    bodies = (block((2, 2, 2), key="low"), block((2, 2, 2), at=(0.1, 0.1, 1.1), key="high"))
    heights = {}
    for name, ignored in (("felt", ()), ("ignored", (("high", "low"),))):
        run = Run(tmp_path / name, Scene(bodies, (GROUND,), ignored_pairs=ignored))
        for _ in range(FRAMES):
            run.advance()
        heights[name] = lowest(run, 1)
    assert heights["felt"] > 0.55 and heights["ignored"] < 0.1


def test_points_feel_a_collider_outside_of_the_tets_that_pass(tmp_path):
    collider = replace(build_collider(GROUND, TrackReader(tmp_path)), ignored_tets=((2, 4), (7, 8)))
    tets = np.arange(10, dtype=np.int32)
    assert tets[~collider.collides_with(tets)].tolist() == [2, 3, 7]
