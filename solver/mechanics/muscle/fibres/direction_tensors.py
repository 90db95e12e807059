# SPDX-License-Identifier: GPL-3.0-or-later
"""Means of directions that have no sign: of the tensors d dᵀ, in which d and −d are the same."""

from __future__ import annotations

import numpy as np

from ....linalg.harmonic_extension import make_harmonic_extension
from ....linalg.mesh_laplacian import shape_gradients
from ....mesh.geometry.nearest_points import nearest_points
from ....runtime.arrays import Bools, Floats, floats
from ....runtime.errors import SolveFailed
from .muscle_region import MuscleRegion

TOLERANCE, MAX_ITERATIONS = 1.0e-6, 20_000  # of the linear solves
UPPER = (
    np.array([0, 0, 0, 1, 1, 2], dtype=np.int64),
    np.array([0, 1, 2, 1, 2, 2], dtype=np.int64),
)  # rows and columns of the upper half of a tensor


def principal_directions(tensors: Floats) -> tuple[Floats, Floats]:
    """Returns the first eigenvectors of tensors, (k, 3, 3), and how far they stand out, (λ1 − λ2) / Σ λ, (k,)."""
    sizes, axes = np.linalg.eigh(tensors)
    total = np.maximum(sizes.sum(axis=1), np.finfo(float).tiny)
    return floats(axes[:, :, 2]), (sizes[:, 2] - sizes[:, 1]) / total


def align(directions: Floats, towards: Floats) -> Floats:
    """Returns directions, (k, 3), or their opposites, whichever is less than a right angle from others, (k, 3)."""
    return np.where(np.einsum("ki,ki->k", directions, towards)[:, None] < 0.0, -directions, directions)


def extrapolate_directions(region: MuscleRegion, direction: Floats, is_defined: Bools) -> Floats:
    """Returns directions, (k, 3), in which those that are not defined come from a harmonic extension of d dᵀ.

    They run the way of the nearest one that is defined.

    Args:
        region: The tets.
        direction: Unit directions of its tets, (k, 3).
        is_defined: Which of them are defined, (k,), some in every piece of the muscle.

    Raises:
        SolveFailed: The linear solve does not converge.
    """
    if is_defined.all():
        return direction
    own, d = region.tets[is_defined].ravel(), direction[is_defined]
    weight = np.repeat(shape_gradients(region.nodes, region.tets[is_defined])[1], 4)
    rows, columns = UPPER
    of_corners = np.repeat(d[:, rows] * d[:, columns], 4, axis=0) * weight[:, None]
    count = len(region.nodes)
    total = np.bincount(own, weight, minlength=count)
    sums = np.stack([np.bincount(own, of_corners[:, i], minlength=count) for i in range(6)], axis=1)
    values = sums / np.where(total > 0.0, total, 1.0)[:, None]
    system = make_harmonic_extension(region.nodes, region.tets, total == 0.0, TOLERANCE, MAX_ITERATIONS)
    if system is not None:
        for part in (slice(0, 3), slice(3, 6)):
            half = floats(values[:, part])
            if not system.extend(half).converged:
                raise SolveFailed("fibres-unconverged", name=region.name)
            values[:, part] = half
    tensors = np.empty((len(region.tets), 3, 3))
    tensors[:, rows, columns] = tensors[:, columns, rows] = values[region.tets].mean(axis=1)
    places = region.centroids
    nearest = np.flatnonzero(is_defined)[nearest_points(places[is_defined], places, 1)[1][:, 0]]
    return np.where(is_defined[:, None], direction, align(principal_directions(tensors)[0], direction[nearest]))
