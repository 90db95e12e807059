# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten jellies fall into a bowl with Exact contact: no triangles intersect after any step, and they come to rest."""

from __future__ import annotations

import numpy as np

from fixtures.closed_surfaces import sphere
from fixtures.exact_checks import advance_and_count
from fixtures.scenes import Run, rotation
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings

JELLY = Material(youngs_modulus=5.0e4, poisson_ratio=0.4, density=1000.0, stiffness_damping=0.01)
FRAMES = 40


def welded(vertices, triangles):
    """Returns the surface with one vertex at every place: vertices, (n, 3), and triangles, (t, 3)."""
    _, first, number = np.unique(np.round(vertices, 9), axis=0, return_index=True, return_inverse=True)
    faces = number.ravel()[triangles].astype(np.int32)
    return vertices[first], faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]


def bowl(around=24, rings=10, radius=0.3, wall=0.03):
    """Returns a half of a hollow sphere that is open at its top."""
    angle = np.linspace(0.0, np.pi / 2.0, rings)
    inside = radius * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    profile = np.concatenate([inside, ((radius + wall) / radius * inside)[::-1]])
    turn = 2.0 * np.pi * np.arange(around)[:, None] / around
    r, z = profile.T
    vertices = np.stack([r * np.cos(turn), r * np.sin(turn), np.broadcast_to(z, (around, len(z)))], axis=2)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(around), np.arange(len(z) - 1), indexing="ij"))
    a, b = i * len(z) + j, (i + 1) % around * len(z) + j
    return welded(vertices.reshape(-1, 3), np.concatenate([np.c_[a, b, b + 1], np.c_[a, b + 1, a + 1]]))


def bowl_scene(contact: str) -> Scene:
    rng, bodies = np.random.default_rng(0), []
    vertices, triangles = welded(*sphere(6))
    for number in range(10):
        at = [0.11 * np.cos(2.4 * number), 0.11 * np.sin(2.4 * number), -0.08 + 0.117 * number]
        angle, axis = rng.uniform(0.0, 3.0), rng.normal(size=3)
        turn = np.asarray(rotation(axis, angle))
        shape = 0.07 * (vertices * [1.0, 1.0, 1.2]) @ turn.T + at
        meshing, key = Meshing("smooth", tet_size=0.03), f"jelly{number}"
        bodies.append(Body(shape, triangles, JELLY, meshing, key=key, name="Jelly", collision=Collision(0.3)))
    corners, faces = bowl()
    collider = Collider("bowl", "Bowl", "mesh", corners, faces, friction=0.3)
    return Scene(tuple(bodies), (collider,), Settings(contact=contact, substeps=4, frame_end=FRAMES + 1))


def test_ten_jellies_in_a_bowl(tmp_path, reach) -> None:
    run = Run(tmp_path, bowl_scene("exact"))
    found = advance_and_count(
        run, FRAMES, {"bowl": (run.scene.colliders[0].vertices, run.scene.colliders[0].triangles)}
    )
    unsettled = sum(report.unsettled for report in run.reports)
    tets = run.built.model.tet_count
    line = f"exact: intersections, ten jellies of {tets} tets in a bowl, {4 * FRAMES} steps"
    reach("Contact", line, found, 0, found == 0)
    reach("Contact", "exact: steps of them that did not converge", unsettled, 0, unsettled == 0)
    speed = float(np.linalg.norm(run.simulation.state.v, axis=1).max())
    reach("Contact", "exact: fastest node of them at the end", f"{speed:.2f} m/s", "0.3 m/s", speed <= 0.3)
