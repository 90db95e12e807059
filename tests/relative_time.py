# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that are judged by a ratio: beside a reference that takes turns with what is timed, in the same run.

On a busy or slower machine both take longer. `REFERENCE_SECONDS` is the fastest of 4,000 runs on two cores that other
programs used as well: a ratio reads as seconds of about that machine. The bounds are older, from other machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

REFERENCE_SECONDS = 0.00077
Result = TypeVar("Result")
REPEATS = 20  # of the reference after each work, at least
_NUMBERS = np.random.default_rng(0).random(20_000)


def reference() -> float:
    """Sorts and adds up 20,000 numbers on one core; returns a number that depends on them."""
    ordered = _NUMBERS.copy()
    ordered.sort()
    return float(np.cumsum(ordered) @ _NUMBERS)


class RelativeTime:
    """Seconds that work takes, by the reference beside it."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, reference: Callable[[], object] = reference
    ) -> None:
        """Measures both by `clock`: wall time, or that of this thread's processor.

        With another `reference` only `work` and `references` are of use: the seconds are of the one above.
        """
        self._clock, self._referred = clock, reference
        self.work: list[float] = []
        self.references = [self._reference() for _ in range(REPEATS)]

    def time(self, work: Callable[[], Result]) -> tuple[float, Result]:
        """Returns how long one run took, by the references before and after it [s], and what `work` returned."""
        before, began = self.references[-REPEATS:], self._clock()
        result = work()
        spent = self._clock() - began
        # as long as a tenth of the work: it is to meet what the machine did meanwhile; and often, so that one is fast
        after = [self._reference()]
        while sum(after) < min(0.1 * spent, 2.0) or len(after) < REPEATS:
            after.append(self._reference())
        self.work.append(spent)
        self.references += after
        return spent * REFERENCE_SECONDS / float(np.mean([*before, *after])), result

    def fastest(self) -> float:
        """Returns the fastest work over the fastest reference, in seconds [s]: for short work that was repeated."""
        return min(self.work) * REFERENCE_SECONDS / min(self.references)

    def slowdown(self) -> str:
        """Returns how much longer the reference took than where the bounds were set, in words."""
        return f"reference × {float(np.median(self.references)) / REFERENCE_SECONDS:.1f}"

    def _reference(self) -> float:
        began = self._clock()
        self._referred()
        return self._clock() - began
