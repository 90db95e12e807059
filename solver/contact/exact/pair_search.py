# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that may come close, kept while no vertex leaves its box."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from .contact_mesh import ContactMesh, close_pairs
from .contact_potential import PairStencils, pair_stencils


class PairSearch:
    """Searches of one step.

    Iterations of Newton's method move vertices about where the first of them went, so one search does for many.
    """

    def __init__(self, mesh: ContactMesh, reach: float, margin: float) -> None:
        """Begins without pairs.

        Args:
            mesh: The surfaces.
            reach: Distance of pairs [m].
            margin: How far vertices may leave the paths of a search before there is another [m].
        """
        self._mesh, self._reach, self._margin = mesh, reach, margin
        self._lower = self._upper = np.zeros((0, 3))
        self._groups: tuple[PairStencils, PairStencils] | None = None

    def pairs(self, start: Floats, end: Floats) -> tuple[PairStencils, PairStencils]:
        """Returns at least the pairs that come closer than `reach` on straight paths [m], (n, 3) each."""
        lower, upper = np.minimum(start, end), np.maximum(start, end)
        groups = self._groups
        if groups is None or (lower < self._lower).any() or (upper > self._upper).any():
            self._lower, self._upper = lower - self._margin, upper + self._margin
            groups = pair_stencils(self._mesh, close_pairs(self._mesh, self._lower, self._upper, self._reach))
            self._groups = groups
        return groups
