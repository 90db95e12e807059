# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that may come close, kept while no vertex leaves its box."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from .contact_mesh import ContactMesh, close_pairs
from .contact_potential import PairStencils, pair_stencils
from .excluded_features import ExcludedFeatures

Groups = tuple[PairStencils, PairStencils]


class PairSearch:
    """Searches of one step.

    Iterations of Newton's method move vertices about where the first of them went, so one search does for many.
    """

    def __init__(
        self, mesh: ContactMesh, reach: float, margin: float, excluded: ExcludedFeatures | None = None
    ) -> None:
        """Begins without pairs.

        Args:
            mesh: The surfaces.
            reach: Distance of pairs [m].
            margin: How far vertices may leave the paths of a search before there is another [m].
            excluded: What is not kept apart.
        """
        self._mesh, self._reach, self._margin = mesh, reach, margin
        self._lower = self._upper = np.zeros((0, 3))
        self._found: Groups | None = None
        self._kept: Groups | None = None
        self.excluded = excluded or ExcludedFeatures()

    def pairs(self, start: Floats, end: Floats) -> Groups:
        """Returns at least the pairs that come closer than `reach` on straight paths [m], (n, 3) each.

        Those that are excluded are not among them.
        """
        found, kept = self.all_pairs(start, end), self._kept
        if kept is None:
            kept = self._kept = self.excluded.kept(self._mesh, found[0]), self.excluded.kept(self._mesh, found[1])
        return kept

    def all_pairs(self, start: Floats, end: Floats) -> Groups:
        """Returns the same with those that are excluded."""
        lower, upper = np.minimum(start, end), np.maximum(start, end)
        found = self._found
        if found is None or (lower < self._lower).any() or (upper > self._upper).any():
            self._lower, self._upper = lower - self._margin, upper + self._margin
            found = pair_stencils(self._mesh, close_pairs(self._mesh, self._lower, self._upper, self._reach))
            self._found, self._kept = found, None
        return found

    def exclude(self, features: ExcludedFeatures) -> None:
        """No longer returns what is excluded by some further features."""
        self.excluded, self._kept = self.excluded.united(features), None
