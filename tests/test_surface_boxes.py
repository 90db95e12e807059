# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around the ways of whole surfaces in a step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fixtures.scenes import Run, block, pose
from sinew.solver.contact.detection.surface_boxes import SIZE_MARGIN, _surface_boxes, surfaces_may_meet
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.simulation.step_attempt import StepAttempt
from sinew.solver.simulation.step_interval import StepPart

DT = 0.01


def test_boxes_hold_the_ways_of_all_vertices_with_their_margins(tmp_path):
    """Against vertex by vertex; bodies and a collider that turns."""
    bodies = tuple(
        replace(block((1, 1, 1), (0.2, 0.2, 0.2), at=(0.5 * k, 0.0, 0.4), key=f"b{k}"), collision=Collision())
        for k in range(3)
    )
    cube = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                      [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)  # fmt: skip
    wall = Collider("wall", "Wall", "mesh", cube + [2.0, 0.0, 0.0], faces)
    turn = ([0.0, 1.0], [pose(), pose(move=(0.3, 0.0, 0.0))], "rigid")
    run = Run(tmp_path, Scene(bodies, (wall,), Settings()), collider__wall__matrix=turn)
    contacts = StepAttempt(run.simulation, run.built.model, StepPart(0.0, DT), None).contacts
    assert contacts is not None and contacts.surfaces
    given, model = contacts.surfaces.collider_surfaces, run.built.model
    surfaces, start = given.surfaces, model.X
    end = start + np.random.default_rng(0).normal(size=start.shape) * 0.02
    low, high = _surface_boxes(given, model, start, end)
    assert len(surfaces) == 4 and (surfaces.body < 0).sum() == 1
    for surface in range(4):
        own = surfaces.vertices_of(surface)
        if surfaces.body[surface] >= 0:
            nodes = model.bodies[surfaces.body[surface]].nodes
            reached = np.concatenate([start[nodes], end[nodes]])
        else:
            at = surfaces.edges.surface_of_rest == surface
            reached = np.concatenate([given.start[own], given.end[own], given.corners_start[at], given.corners_end[at]])
        margin = surfaces.thickness[surface] + SIZE_MARGIN * surfaces.size[own].max()
        margin = margin + 0.5 * (surfaces.levers[surface] - 1.0) * np.ptp(reached, axis=0)
        np.testing.assert_allclose(low[surface], reached.min(axis=0) - margin, rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(high[surface], reached.max(axis=0) + margin, rtol=0.0, atol=1e-15)
    assert not surfaces_may_meet(given, model, start, start)
    beside = start.copy()
    beside[model.bodies[1].nodes] -= [0.3, 0.0, 0.0]
    assert surfaces_may_meet(given, model, start, beside)
