# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins of a few triangles."""

from __future__ import annotations

import numpy as np

from sinew.solver.geometry.bvh import build_bvh
from sinew.solver.geometry.winding import winding_numbers


def faces_of(mesh):
    return np.array(mesh.vertices), np.array(mesh.faces, np.int32)


def sheet(cells=4, size=1.0):
    """Returns a flat square about the origin that looks up."""
    axis = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (corner[i : i + cells, j : j + cells].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int32)


def wobble(vertices, amount, rng, scale=2.0):
    """Returns a smooth motion of points [m] that bends and shears what they are of."""
    total = np.zeros_like(vertices)
    for _ in range(3):
        wave, phase, way = rng.normal(size=3) * scale, rng.uniform(0, 6), rng.normal(size=3)
        total += np.sin(vertices @ wave + phase)[:, None] * way
    return amount * total / 3.0


def winding(vertices, triangles, points):
    return winding_numbers(build_bvh(vertices, triangles), points)
