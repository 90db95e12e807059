# SPDX-License-Identifier: GPL-3.0-or-later
"""A lattice as a solid: where it takes the points of its undeformed box, exactly as Blender's Lattice has it.

    F(X) = X + Σ_ijk B_i(u) B_j(v) B_k(w) (q_ijk − Q_ijk)

u, v and w number the points of the lattice along its axes, and change linearly with the place X in the undeformed box;
Q are the points at rest, q where they are. Beyond the box, the outermost points repeat. Of B-splines this is the solid
of S07 in the box but for its outermost cells, where Σ B Q is X.

Source: S07, section 2.3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....runtime.arrays import Floats, floats
from .lattice_basis import lattice_weights

POINTS_AT_A_TIME = 20_000


@dataclass(frozen=True, eq=False)
class LatticeSolid:
    """A lattice in its own space, and where that is.

    Attributes:
        displacement: q − Q of its points, with axes (w, v, u, 3).
        start: First point at rest, (3,).
        spacing: Of its points at rest along u, v and w, (3,); an axis of one point has 0.
        interpolation: Along u, v and w, by the words of `lattice_basis.COEFFICIENTS`.
        matrix: From its space to that of the muscle [m], (4, 4).
    """

    displacement: Floats
    start: Floats
    spacing: Floats
    interpolation: tuple[str, str, str]
    matrix: Floats

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of points along u, v and w."""
        w, v, u = self.displacement.shape[:3]
        return u, v, w

    @property
    def steps(self) -> Floats:
        """Change of X from one point to the next, (3,); along an axis of one point, the size of the others."""
        size = float(np.abs(self.spacing).max(initial=0.0)) or 1.0
        return np.where(np.array(self.counts) > 1, self.spacing, size)

    def evaluate(self, X: Floats) -> tuple[Floats, Floats]:
        """Returns F, (n, 3), and ∂F/∂X, (n, 3, 3), in the space of the lattice, at places X there, (n, 3)."""
        F, J = np.empty((len(X), 3)), np.empty((len(X), 3, 3))
        for begin in range(0, len(X), POINTS_AT_A_TIME):
            part = slice(begin, begin + POINTS_AT_A_TIME)
            F[part], J[part] = self._evaluate(X[part])
        return F, J

    def _evaluate(self, X: Floats) -> tuple[Floats, Floats]:
        numbers, weights, slopes = zip(*(self._axis(axis, X[:, axis]) for axis in range(3)), strict=True)
        u, v, w = numbers
        near = self.displacement[w[:, :, None, None], v[:, None, :, None], u[:, None, None, :]]
        F, J = X.copy(), np.tile(np.eye(3), (len(X), 1, 1))
        for axis in range(4):
            a, b, c = (slopes[i] if i == axis else weights[i] for i in range(3))
            moved = np.einsum("nk,nkjid->njid", c, near)
            moved = np.einsum("nj,njid->nid", b, moved)
            found = np.einsum("ni,nid->nd", a, moved)
            if axis == 3:
                F += found
            else:
                J[:, :, axis] += found
        return F, J

    def _axis(self, axis: int, X: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns the numbers of the four points around X, (n,), their weights, and slopes by X, (n, 4) each."""
        count = self.counts[axis]
        if count == 1:
            return np.zeros((len(X), 1), np.int64), np.ones((len(X), 1)), np.zeros((len(X), 1))
        u = (X - self.start[axis]) / self.spacing[axis]
        first = np.floor(u)
        weights, slopes = lattice_weights(self.interpolation[axis], u - first)
        # far outside all four points are the last one, whatever its number
        around = np.clip(first, -3.0, count + 2.0).astype(np.int64)[:, None] + np.arange(-1, 3, dtype=np.int64)
        return np.clip(around, 0, count - 1), weights, slopes / self.spacing[axis]


def make_lattice_solid(
    rest: Floats, deformed: Floats, counts: tuple[int, int, int], interpolation: tuple[str, str, str], matrix: Floats
) -> LatticeSolid:
    """Returns the solid of a lattice.

    Args:
        rest, deformed: Its points, u fastest and w slowest, as `co` and `co_deform` of Blender's, (k, 3).
        counts: Points along u, v and w.
        interpolation: Along u, v and w.
        matrix: From its space to that of the muscle [m], (4, 4).
    """
    shape = (counts[2], counts[1], counts[0], 3)
    Q = floats(rest).reshape(shape)
    spacing = np.zeros(3)
    for axis in range(3):
        if counts[axis] > 1:
            spacing[axis] = np.ptp(Q[..., axis]) / (counts[axis] - 1)
    return LatticeSolid(floats(deformed).reshape(shape) - Q, Q[0, 0, 0].copy(), spacing, interpolation, floats(matrix))
