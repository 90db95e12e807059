# SPDX-License-Identifier: GPL-3.0-or-later
"""Jellies that fall on each other in a tray: the scene that Exact contact is compared in."""

from __future__ import annotations

import numpy as np

from sinew.solver.mesh.shapes import sphere
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings

JELLY = Material(youngs_modulus=5.0e4, poisson_ratio=0.4, density=1000.0, stiffness_damping=0.01)
FRICTION = 0.3
RADIUS = 0.07  # [m]
STRETCH = np.array([1.0, 1.0, 1.2])  # of the balls that they are
DIVISIONS = 5  # squares along each side of the cube that is blown up to a ball
BASE, RIM, WALL = 0.11, 0.32, 0.3  # half sides of the tray below and above, and its height [m]
TRAY_CELLS = 6  # along each side of a face of the tray
SEED = 0


def tray() -> tuple[Floats, Indices]:
    """Returns the bottom and four slanted sides of a tray, open above: vertices [m], (n, 3), and triangles, (t, 3)."""
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    low, high = np.c_[BASE * corners, np.zeros(4)], np.c_[RIM * corners, np.full(4, WALL)]
    quads = [low, *(np.array([low[k], high[k], high[(k + 1) % 4], low[(k + 1) % 4]]) for k in range(4))]
    s, t = (each.ravel() for each in np.meshgrid(*[np.linspace(0.0, 1.0, TRAY_CELLS + 1)] * 2, indexing="ij"))
    weights = np.stack([(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t], axis=1)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(TRAY_CELLS), np.arange(TRAY_CELLS), indexing="ij"))
    a = i * (TRAY_CELLS + 1) + j
    b = a + TRAY_CELLS + 1
    cells = np.concatenate([np.c_[a, b, b + 1], np.c_[a, b + 1, a + 1]])
    vertices = np.concatenate([weights @ quad for quad in quads])
    faces = [cells + number * len(weights) for number in range(len(quads))]
    _, first, number = np.unique(np.round(vertices, 9), axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.ravel()[np.concatenate(faces)].astype(np.int32)


def depth_in_tray(points: Floats) -> float:
    """Returns how far points [m], (k, 3), below its rim are outside of the tray, at most [m]."""
    below = points[points[:, 2] < WALL]
    if not len(below):
        return 0.0
    away = np.abs(below[:, :2]).max(axis=1) - BASE - (RIM - BASE) / WALL * below[:, 2]
    outside = np.maximum(-below[:, 2], away * WALL / np.hypot(WALL, RIM - BASE))
    return max(0.0, float(outside.max()))


def tray_scene(count: int, tet_size: float, contact: str) -> Scene:
    """Returns a scene of so many jellies, one above the other, turned at random, that are about to fall.

    Args:
        count: Of jellies.
        tet_size: [m].
        contact: "fast" or "exact".
    """
    rng, bodies = np.random.default_rng(SEED), []
    vertices, triangles = sphere(RADIUS, DIVISIONS)
    for number in range(count):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        at = [0.05 * np.cos(2.4 * number), 0.05 * np.sin(2.4 * number), 0.12 + 0.18 * number]
        shape, meshing = (vertices * STRETCH) @ turn.T + at, Meshing("smooth", tet_size=tet_size)
        key, touch = f"jelly{number}", Collision(FRICTION)
        bodies.append(Body(shape, triangles, JELLY, meshing, key=key, name="Jelly", collision=touch))
    corners, faces = tray()
    collider = Collider("tray", "Tray", "mesh", corners, faces, friction=FRICTION)
    return Scene(tuple(bodies), (collider,), Settings(contact=contact, fps=24.0, substeps=4))
