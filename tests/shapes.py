# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed test surfaces as (vertices, triangles), outward."""

from __future__ import annotations

import numpy as np


def grid_surface(position, rows, columns):
    """Triangles of a grid that is closed in both directions; `position` maps (row, column) fractions to points."""
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    vertices = position(i.ravel() / rows, j.ravel() / columns)
    corner = lambda di, dj: ((i + di) % rows * columns + (j + dj) % columns).ravel()  # noqa: E731
    a, b, c, d = corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)
    return vertices, np.r_[np.c_[a, b, c], np.c_[a, c, d]].astype(np.int32)


def torus(rows=32, columns=16, large=0.7, small=0.3):
    """A torus around z."""

    def position(s, t):
        u, v = 2 * np.pi * s, 2 * np.pi * t
        r = large + small * np.cos(v)
        return np.c_[r * np.cos(u), r * np.sin(u), small * np.sin(v)]

    return grid_surface(position, rows, columns)


def cube(n=1, size=1.0):
    """A cube of 2 · 6 · n² triangles, side `size`, around the origin, its sides not sharing vertices."""
    steps = np.linspace(-0.5, 0.5, n + 1)
    u, v = (x.ravel() for x in np.meshgrid(steps, steps, indexing="ij"))
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a = i * (n + 1) + j
    side = np.r_[np.c_[a, a + n + 1, a + n + 2], np.c_[a, a + n + 2, a + 1]]
    vertices, triangles = [], []
    for axis in range(3):
        for sign in (-1, 1):
            points = np.empty((len(u), 3))
            points[:, axis] = sign * 0.5
            points[:, (axis + 1) % 3] = u
            points[:, (axis + 2) % 3] = v
            triangles.append((side if sign > 0 else side[:, ::-1]) + len(u) * len(vertices))
            vertices.append(points)
    return size * np.concatenate(vertices), np.concatenate(triangles).astype(np.int32)


def sphere(n=16, radius=1.0):
    """A cube of n × n squares a side, blown up to a sphere."""
    vertices, triangles = cube(n)
    vertices = np.tan(vertices * np.pi / 2)  # nearly equal squares
    return radius * vertices / np.linalg.norm(vertices, axis=1, keepdims=True), triangles
