# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that may come close, kept while no vertex leaves its box."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats
from .contact_mesh import ContactMesh, close_pairs
from .contact_potential import PairStencils, pair_stencils
from .excluded_features import ExcludedFeatures
from .pair_thickness import with_thickness

Groups = tuple[PairStencils, PairStencils]


class PairSearch:
    """Searches of one step.

    Iterations of Newton's method move vertices about where the first of them went, so one search does for many.
    """

    def __init__(
        self,
        mesh: ContactMesh,
        reach: float,
        margin: float,
        excluded: ExcludedFeatures | None = None,
        begin: Floats | None = None,
    ) -> None:
        """Begins without pairs.

        Args:
            mesh: The surfaces.
            reach: Distance of pairs beyond their thickness [m].
            margin: How far vertices may leave the paths of a search before there is another [m].
            excluded: What is not kept apart.
            begin: Vertices where the step begins [m], (n, 3); None: where the simulation does.
        """
        self._mesh, self._reach, self._margin = mesh, reach, margin
        self._lower = self._upper = np.zeros((0, 3))
        self._found: Groups | None = None
        self._kept: Groups | None = None
        self.excluded = excluded or ExcludedFeatures()
        self._begin = mesh.start if begin is None else begin
        self._has_thickness = (mesh.thickness[:, None] + mesh.thickness) > 0.0

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
            one, other = pair_stencils(self._mesh, close_pairs(self._mesh, self._lower, self._upper, self._reach))
            found = self._with_thickness(one), self._with_thickness(other)
            self._found, self._kept = found, None
        return found

    def _with_thickness(self, pairs: PairStencils) -> PairStencils:
        if not self._has_thickness.any():
            return pairs
        return with_thickness(self._mesh, pairs, self._begin, self._reach, self._has_thickness)

    def give_up_thickness(self, owners: Bools) -> bool:
        """No longer keeps a thickness between some bodies and colliders.

        Args:
            owners: Between which, symmetric, (s, s).

        Returns:
            Whether any of them had some.
        """
        had_some = bool((owners & self._has_thickness).any())
        if had_some:
            self._has_thickness = self._has_thickness & ~owners
            self._found = None
        return had_some

    def exclude(self, features: ExcludedFeatures) -> None:
        """No longer returns what is excluded by some further features."""
        self.excluded, self._kept = self.excluded.united(features), None
