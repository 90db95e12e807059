# SPDX-License-Identifier: GPL-3.0-or-later
"""Which point of a lattice's undeformed box it takes to a given place, by Newton's method.

Newton starts at the nearest of a grid of points whose places are known, and at the next ones where that does not
arrive. A step is at most a cell long, and halved until it comes nearer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....mesh.geometry.nearest_points import nearest_points
from ....mesh.moving_least_squares import transform_rows
from ....runtime.arrays import Bools, Floats
from .lattice_solid import LatticeSolid

TOLERANCE = 1.0e-12  # of the distance from the place, over the size of the lattice
MARGIN = 0.5  # how far outside its box a lattice still reaches, in cells
GUESSES_PER_CELL, MAX_GUESSES, STARTS = 4, 60_000, 8
MAX_ITERATIONS, MAX_HALVINGS = 40, 12

Int64s = npt.NDArray[np.int64]


class MaterialPoints(NamedTuple):
    """What a lattice takes to given places.

    Attributes:
        X: Points in the space of the lattice, undeformed, (n, 3).
        tangent: ∂F/∂X there, in that space, (n, 3, 3).
        is_reached: Whether it takes them there from within its margin, (n,).
    """

    X: Floats
    tangent: Floats
    is_reached: Bools


def material_points(solid: LatticeSolid, places: Floats) -> MaterialPoints:
    """Returns F⁻¹ of places in the space of the muscle [m], (n, 3)."""
    inverse = np.linalg.inv(solid.matrix)
    x = transform_rows(places, inverse[:3, :3]) + inverse[:3, 3]
    guesses = _guesses(solid)
    known = solid.evaluate(guesses)[0]
    starts = nearest_points(known, x, min(STARTS, len(known)))[1]
    round_off = float(4.0 * np.finfo(float).eps * np.abs(known).max())
    tolerance = TOLERANCE * float(np.ptp(known, axis=0).max()) + round_off
    X = guesses[starts[:, 0]]
    is_reached = np.zeros(len(x), np.bool_)
    for number in range(starts.shape[1]):
        left = np.flatnonzero(~is_reached)
        if len(left) == 0:
            break
        found, distance = _newton(solid, x[left], guesses[starts[left, number]], tolerance)
        arrived = (distance <= tolerance) & _is_within(solid, found)
        X[left[arrived]], is_reached[left[arrived]] = found[arrived], True
    return MaterialPoints(X, solid.evaluate(X)[1], is_reached)


def _guesses(solid: LatticeSolid) -> Floats:
    """Returns points all over the box and its margin, (g, 3), in the space of the lattice."""
    cells = np.maximum(np.array(solid.counts) - 1, 1)
    points = float(np.prod(cells + 1.0, dtype=np.float64))
    fineness = min(GUESSES_PER_CELL, (MAX_GUESSES / points) ** (1.0 / 3.0))
    numbers = [
        np.linspace(-MARGIN, count - 1 + MARGIN, max(int(fineness * count), 2)) if count > 1 else _across(cells)
        for count in solid.counts
    ]
    u = np.stack(np.meshgrid(*numbers, indexing="ij"), axis=-1).reshape(-1, 3)
    return solid.start + u * solid.steps


def _across(cells: Int64s) -> Floats:
    """Returns where to guess along an axis of one point, which has no bounds."""
    return np.linspace(-float(cells.max()), float(cells.max()), 2 * GUESSES_PER_CELL + 1)


def _is_within(solid: LatticeSolid, X: Floats) -> Bools:
    """Returns which points lie in the box or its margin, (n,)."""
    u = (X - solid.start) / solid.steps
    last = np.array(solid.counts) - 1
    return (((u >= -MARGIN) & (u <= last + MARGIN)) | (last == 0)).all(axis=1)


def _newton(solid: LatticeSolid, x: Floats, X: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Returns where Newton's method ends from X, (n, 3), and how far F is from x there, (n,)."""
    X = X.copy()
    F, J = solid.evaluate(X)
    distance = np.linalg.norm(x - F, axis=1)
    going = np.flatnonzero(distance > tolerance)
    for _ in range(MAX_ITERATIONS):
        if len(going) == 0:
            break
        step = _newton_step(J[going], x[going] - F[going])
        cells = np.abs(step / solid.steps).max(axis=1)
        step /= np.maximum(cells, 1.0)[:, None]
        nearer = _search(solid, x, X, step, (F, J, distance), going)
        going = nearer[distance[nearer] > tolerance]
    return X, distance


def _newton_step(J: Floats, r: Floats) -> Floats:
    """Returns J⁻¹ r, (n, 3), where J is singular the least-squares step of a slightly raised JᵀJ."""
    size = np.linalg.norm(J, axis=(1, 2))
    is_singular = np.abs(np.linalg.det(J)) < 1e-12 * size**3
    step = np.linalg.solve(np.where(is_singular[:, None, None], np.eye(3), J), r[:, :, None])[:, :, 0]
    if is_singular.any():
        A, b = J[is_singular], r[is_singular]
        raised = np.swapaxes(A, 1, 2) @ A + 1e-6 * size[is_singular, None, None] ** 2 * np.eye(3)
        step[is_singular] = np.linalg.solve(raised, np.einsum("nji,nj->ni", A, b)[:, :, None])[:, :, 0]
    return step


def _search(
    solid: LatticeSolid, x: Floats, X: Floats, step: Floats, at: tuple[Floats, Floats, Floats], going: Int64s
) -> Int64s:
    """Moves points along their steps as far as brings them nearer, and returns which of `going` did move."""
    F, J, distance = at
    left, factor, moved = np.arange(len(going), dtype=np.int64), 1.0, []
    for _ in range(MAX_HALVINGS):
        own = going[left]
        there = X[own] + factor * step[left]
        F_there, J_there = solid.evaluate(there)
        d = np.linalg.norm(x[own] - F_there, axis=1)
        better = d < distance[own]
        rows = own[better]
        X[rows], F[rows], J[rows], distance[rows] = there[better], F_there[better], J_there[better], d[better]
        moved.append(rows)
        left, factor = left[~better], 0.5 * factor
        if len(left) == 0:
            break
    return np.concatenate(moved)
