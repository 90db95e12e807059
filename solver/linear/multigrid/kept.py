# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels that are set up for one matrix and serve those that come soon after it.

Conjugate gradients are as exact around any preconditioner, it only takes them more iterations; and in the steps of a
frame a body hardly turns. So one set-up does for several steps, until it no longer pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Bools
from ..pattern import BlockPattern

if TYPE_CHECKING:  # what has kernels is loaded where a scene needs it
    from .hierarchy import Hierarchy
    from .refresh import Multigrid

# Iterations with levels of another matrix that are worth as much as new ones, beside as many as with levels of its own
MORE = 4


class KeptLevels:
    """What is kept from solve to solve of a frame.

    Whoever begins a frame drops it, so that a bake that is resumed there goes on as one that was not.
    """

    def __init__(self) -> None:
        """Keeps nothing as yet."""
        self._multigrid: Multigrid | None = None
        self._pattern: BlockPattern | None = None
        self._is_free = np.zeros(0, bool)
        self._iterations = 0

    def stand_by(self, pattern: BlockPattern) -> bool:
        """Returns whether there are levels for matrices of a pattern."""
        return self._pattern is pattern

    def serve(self, hierarchy: Hierarchy, is_free: Bools) -> bool:
        """Returns whether what was made last of a hierarchy is what was kept, for the same free nodes, (n,)."""
        made = self._multigrid
        is_kept = made is not None and made.hierarchy is hierarchy and made.is_valid()
        return is_kept and np.array_equal(self._is_free, is_free)

    @property
    def patience(self) -> int:
        """Iterations in which a solve with them should be done."""
        return self._iterations + MORE

    def keep(self, multigrid: Multigrid, pattern: BlockPattern, is_free: Bools, iterations: int) -> None:
        """Keeps the levels of a matrix of a pattern, whose solve for the free nodes took so many iterations."""
        self._multigrid, self._pattern, self._is_free = multigrid, pattern, is_free.copy()
        self._iterations = iterations

    def drop(self) -> None:
        """Keeps nothing any more."""
        self._multigrid = self._pattern = None
