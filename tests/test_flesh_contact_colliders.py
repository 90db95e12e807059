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
from sinew.solver.quasistatic.contact.collider_sdf import (
    ColliderClearance,
    SearchedPoints,
    find_penetrating_points,
    select_unclear,
)
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


@pytest.mark.parametrize("collider", [plane(0.05), ball(), ball(0.05), sheet()], ids=["plane", "ball", "skin", "sheet"])
def test_points_that_are_clear_of_a_collider_are_left_out_and_nothing_else_changes(collider):
    """A penalty that has seen the way of the nodes gives the bits of one that has not."""
    scene = flesh([box((-0.31, -0.27, 0.55))], 0.25, colliders=(collider,), self_contact=False)
    pose = np.vstack([np.array([[0.6, 0.0, -0.8], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6]]), [0.02, 0.01, 0.03]])
    touching, pressed = contact_penalty_at_poses(scene.contact, [pose]), 0
    sides, blocks = touching.sides, scene.model.pattern.block_count
    for step in range(40):
        x = scene.X - [0.0, 0.0, 0.05 * abs(20 - step)] + 0.02 * RNG.standard_normal(scene.X.shape)
        found = []
        for each in (touching, contact_penalty_at_poses(scene.contact, [pose], sides)):
            values, force = np.zeros((blocks, 9)), np.zeros_like(x)
            found.append((each.add(x, values, force), values, force))
        pressed += bool(found[0][2].any())
        assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))
    assert pressed > 10


def test_few_points_are_searched_again_where_nodes_hardly_move():
    scene = flesh([box((-0.31, -0.27, 0.3))], 0.1, colliders=(ball(),), self_contact=False)
    points = SearchedPoints(
        scene.contact.positions(scene.X),
        np.ones(len(scene.contact.points), np.int8),
        np.zeros(len(scene.contact.points)),
        scene.contact.extra_thickness,
    )
    clearance = ColliderClearance.unknown(len(points.positions))
    inside = find_penetrating_points(ball(), HERE, points, clearance).point
    which = np.empty(len(points.positions), np.int64)
    moved = points.positions + 0.002 * RNG.standard_normal(points.positions.shape)
    again = which[: select_unclear(moved, clearance.origin, clearance.distance, which)]
    assert 10 < len(inside) <= len(again) < 1.2 * len(inside) < 0.5 * len(which)
    assert np.isin(inside, again).all()
