# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow lattices: every point has a basis function of the whole axis, made by SciPy from unit vectors."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline, CubicHermiteSpline

from sinew.solver.mechanics.muscle.fibres.lattice_solid import LatticeSolid, make_lattice_solid

PADDING = 3  # how often the outermost points repeat
TENSION = {"cardinal": 0.71, "catmull-rom": 0.5}
BEND, TWIST, TAPER, WIDTH = 1.5, 0.6, 0.25, 0.7  # [rad], [rad], shares


def basis(interpolation: str, count: int, u: np.ndarray, order: int) -> np.ndarray:
    """Returns the basis functions of an axis, or their derivatives, at u in [0, count − 1], (n, count)."""
    padded = np.repeat(np.eye(count), [PADDING + 1] + [1] * (count - 2) + [PADDING + 1], axis=0)
    places = np.arange(len(padded)) - float(PADDING)
    if interpolation == "b-spline":
        return BSpline(np.arange(-PADDING - 2.0, count + PADDING + 2.0), padded, 3)(u, order)
    if interpolation == "linear":
        cell = np.clip(np.floor(u).astype(int), 0, count - 2)
        s = (u - cell)[:, None]
        before, after = np.eye(count)[cell], np.eye(count)[cell + 1]
        return after - before if order else (1.0 - s) * before + s * after
    tangents = np.zeros_like(padded)
    tangents[1:-1] = TENSION[interpolation] * (padded[2:] - padded[:-2])
    return CubicHermiteSpline(places, padded, tangents)(u, order)


def evaluate(solid: LatticeSolid, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns F, (n, 3), and ∂F/∂X, (n, 3, 3), at X inside the box."""
    u = (X - solid.start) / solid.spacing
    values, slopes = (
        [basis(solid.interpolation[axis], solid.counts[axis], u[:, axis], order) for axis in range(3)]
        for order in (0, 1)
    )
    F = X + np.einsum("nu,nv,nw,wvud->nd", *values, solid.displacement)
    J = np.tile(np.eye(3), (len(X), 1, 1))
    for axis in range(3):
        parts = [slopes[i] / solid.spacing[i] if i == axis else values[i] for i in range(3)]
        J[:, :, axis] += np.einsum("nu,nv,nw,wvud->nd", *parts, solid.displacement)
    return F, J


def bent_lattice(counts: tuple[int, int, int], interpolation: str) -> LatticeSolid:
    """Returns a lattice from −½ to ½ along each axis whose w axis is bent, twisted and tapered, somewhere in space."""
    axes = [np.linspace(-0.5, 0.5, count) for count in counts]
    w, v, u = np.meshgrid(*axes[::-1], indexing="ij")
    rest = np.stack([u, v, w], axis=-1).reshape(-1, 3)
    x, y, z = rest.T
    turn, shrunk = TWIST * z, WIDTH * (1.0 - TAPER * (z + 0.5))
    x, y = shrunk * (x * np.cos(turn) - y * np.sin(turn)), shrunk * (x * np.sin(turn) + y * np.cos(turn))
    angle, radius = BEND * z, 1.0 / BEND
    deformed = np.stack([radius - (radius - x) * np.cos(angle), y, (radius - x) * np.sin(angle)], axis=1)
    matrix = np.eye(4)
    matrix[:3, :3] = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0] * [2.0, 1.5, 3.0]
    matrix[:3, 3] = 1.0, -2.0, 0.5
    return make_lattice_solid(rest, deformed, counts, (interpolation,) * 3, matrix)


def to_space(solid: LatticeSolid, F: np.ndarray) -> np.ndarray:
    """Returns points of the lattice's space in that of the muscle, (n, 3)."""
    return F @ solid.matrix[:3, :3].T + solid.matrix[:3, 3]
