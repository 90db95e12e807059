# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh at rest against rigid things: forces, tangents, the sides of sheets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.flesh_contact_scenes import NoTracks, box, flesh
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.quasistatic.contact import contact_penalty_at_poses
from sinew.solver.scene.scene import Collider

RNG = np.random.default_rng(7)
HERE = np.vstack([np.eye(3), np.zeros(3)])


def ball(thickness=0.0):
    vertices, triangles = sphere(6, 0.6)
    return build_collider(Collider("ball", "Ball", "mesh", vertices, triangles, 0.0, thickness), NoTracks())


def sheet():
    vertices = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    return build_collider(
        Collider("sheet", "Sheet", "mesh", vertices, np.array([[0, 1, 2], [0, 2, 3]], np.int32), 0.0, 0.0), NoTracks()
    )


def plane(thickness=0.0):
    return build_collider(
        Collider("plane", "Plane", "plane", np.zeros((0, 3)), np.zeros((0, 3), np.int32), 0.0, thickness), NoTracks()
    )


@pytest.mark.parametrize(
    ("collider", "overlap"),
    [(plane(0.05), 0.0), (ball(), 0.0), (ball(0.05), 0.0), (sheet(), 0.0), (ball(), 0.2)],
    ids=["plane", "ball", "skin", "sheet", "overlap"],
)
def test_forces_of_colliders_are_those_of_their_energy(collider, overlap):
    scene = flesh([box((-0.31, -0.27, -0.05))], 0.25, colliders=(collider,), self_contact=False)
    if overlap:
        known = {collider.key: np.full(len(scene.contact.points), overlap)}
        scene = replace(scene, contact=replace(scene.contact, rest_overlap=known))
    x = scene.X + 0.003 * RNG.standard_normal(scene.X.shape)
    side = np.ones(len(scene.contact.points), np.int8)
    touching = contact_penalty_at_poses(scene.contact, [HERE], [side])
    values, force = np.zeros((scene.model.pattern.block_count, 9)), np.zeros_like(x)
    energies = touching.add(x, values, force)
    assert energies.sum() > 0.0 and np.array_equal(energies, touching.energies(x))
    assert touching.max_depth(x, np.ones(len(x), bool))[0] > 0.0
    d, h = RNG.standard_normal(x.shape), 1e-7
    slope = (touching.energies(x + h * d).sum() - touching.energies(x - h * d).sum()) / (2 * h)
    assert slope == pytest.approx(-float(np.sum(force * d)), rel=1e-4)
    K = np.zeros((3 * len(x), 3 * len(x)))
    pattern = scene.model.pattern
    for row in range(len(x)):
        for b in range(pattern.row_start[row], pattern.row_start[row + 1]):
            column = pattern.column[b]
            K[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] = values[b].reshape(3, 3)
    np.testing.assert_allclose(K, K.T, atol=1e-9 * np.abs(K).max())
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * np.abs(K).max()


def test_points_stay_on_the_side_of_a_sheet_that_they_came_from():
    scene = flesh([box((-0.5, -0.5, 0.02))], 0.25, colliders=(sheet(),), self_contact=False)
    touching = contact_penalty_at_poses(scene.contact, [HERE])
    x = scene.X - [0.0, 0.0, 0.1]
    force = np.zeros_like(x)
    touching.add(x, np.zeros((scene.model.pattern.block_count, 9)), force)
    assert force[:, 2].sum() > 0.0 and touching.count(x) > 10
    below = flesh([box((-0.5, -0.5, -1.02))], 0.25, colliders=(sheet(),), self_contact=False)
    touching, force = contact_penalty_at_poses(below.contact, [HERE]), np.zeros_like(below.X)
    touching.add(below.X + [0.0, 0.0, 0.1], np.zeros((below.model.pattern.block_count, 9)), force)
    assert force[:, 2].sum() < 0.0
