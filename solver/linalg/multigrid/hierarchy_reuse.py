# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels that are set up for one matrix and serve those that come soon after it.

Conjugate gradients are as exact around any preconditioner, it only takes them more iterations; and in the steps of a
frame a body hardly turns. So one set-up does for several steps, until it no longer pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ...runtime.arrays import Bools
from ..block_pattern import BlockPattern
from .preconditioner_rates import MeasuredRates

if TYPE_CHECKING:  # what has kernels is loaded where a scene needs it
    from .hierarchy import Hierarchy
    from .numeric_setup import Multigrid, MultigridArrays

# Iterations with levels of another matrix that are worth as much as new ones, beside as many as with levels of its own
EXTRA_ITERATIONS = 4
# The same where nobody knows how many that would be, since something else has solved for a part before
EXTRA_ITERATIONS_IF_UNKNOWN = 40


class MultigridWorkspace:
    """The arrays of all hierarchies that one simulation, or one solve for equilibrium, has set up; it owns this object.

    Attributes:
        arrays: `numeric_setup` makes and writes them.
    """

    def __init__(self) -> None:
        """Begins without any."""
        self.arrays: WeakKeyDictionary[Hierarchy, MultigridArrays] = WeakKeyDictionary()


class ReusedHierarchy:
    """What a simulation keeps from solve to solve of a frame, and the work arrays that it keeps for all frames.

    Whoever begins a frame drops it, so that a resumed bake gets the same bytes as one that was not interrupted.

    Attributes:
        workspace: The work arrays.
        rates: What was measured in the frame.
    """

    def __init__(self) -> None:
        """Begins with nothing."""
        self.workspace, self.rates = MultigridWorkspace(), MeasuredRates()
        self._multigrid: Multigrid | None = None
        self._pattern: BlockPattern | None = None
        self._is_free = np.zeros(0, bool)
        self._iterations: int | None = None

    def is_available(self, pattern: BlockPattern, is_free: Bools) -> bool:
        """Returns whether there are levels for matrices of a pattern and these free nodes, (n,)."""
        return self._pattern is pattern and np.array_equal(self._is_free, is_free)

    def is_current(self, hierarchy: Hierarchy, is_free: Bools) -> bool:
        """Returns whether what was made last of a hierarchy is what was kept, for the same free nodes, (n,)."""
        made = self._multigrid
        is_kept = made is not None and made.hierarchy is hierarchy and made.is_valid()
        return is_kept and np.array_equal(self._is_free, is_free)

    def iteration_limit(self, most: int) -> int:
        """Returns in how many iterations a solve with them should be done, which may take `most`."""
        return min(
            EXTRA_ITERATIONS_IF_UNKNOWN if self._iterations is None else self._iterations + EXTRA_ITERATIONS, most
        )

    def count(self, iterations: int) -> None:
        """Takes note of how many iterations a whole solve with them took, if it is the first."""
        if self._iterations is None:
            self._iterations = iterations

    def keep(self, multigrid: Multigrid, pattern: BlockPattern, is_free: Bools, iterations: int | None) -> None:
        """Keeps the levels of a matrix of a pattern.

        Args:
            multigrid: The levels.
            pattern: Of the matrix.
            is_free: Which nodes it was solved for, (n,).
            iterations: How many that took; None: something else had solved for a part of it before.
        """
        self._multigrid, self._pattern, self._is_free = multigrid, pattern, is_free.copy()
        self._iterations = iterations

    def drop(self) -> None:
        """Keeps nothing any more."""
        self._multigrid = self._pattern = None
        self.rates.forget()
