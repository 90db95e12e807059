# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the steps of a model go on on all threads or on one: whichever was faster of late.

Where other programs have the cores, threads of a step wait for the one that is not running, hundreds of times in a
step: two can take four times as long as one. So clocks decide, and may, since no bit depends on the number of threads.
Now and then one step is taken in the other way: soon after the way was changed, then less and less often.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from ..jit import at_most_threads, thread_count
from ..linear.pattern import BlockPattern
from .report import StepReport

FIRST = 2  # steps on all threads, the first of which may compile, before the other way is tried
NEWEST = 0.4  # share of the newest step in what a way is known to cost
SOON, LATEST = 1.0, 8.0  # how long it takes until the other way is tried again [s],
STEPS = 30  # but never less than so many steps
ITERATIONS = 12  # of the linear solver that take as long as the rest of a step, roughly


class Pace:
    """What steps cost on all threads and on one, and which of the two goes on.

    Attributes:
        on_all: Whether steps are taken on all threads, but for trials.
    """

    def __init__(self) -> None:
        self.on_all = True
        self._cost = {True: math.nan, False: math.nan}
        self._left = FIRST  # steps until the first trial
        self._due, self._wait = math.inf, SOON

    def next_on_all(self, now: float) -> bool:
        """Returns whether the step that begins `now` [s] is to be taken on all threads."""
        return self.on_all != (now >= self._due)

    def learn(self, on_all: bool, seconds: float, work: float, now: float) -> None:
        """Takes in how long a step of so much work took that ends `now` [s]."""
        cost = seconds / work
        if self._left:
            self._left -= 1
            if self._left == 0:
                self._due = now
            if self._left == FIRST - 1:
                return
        before, is_trial = self._cost[on_all], on_all != self.on_all
        self._cost[on_all] = cost if is_trial or math.isnan(before) else before + NEWEST * (cost - before)
        faster = self._cost[True] < self._cost[False]
        if math.isnan(self._cost[not on_all]) or not (is_trial or faster != self.on_all):
            return
        self._wait = SOON if faster != self.on_all else min(2.0 * self._wait, LATEST)
        self.on_all, self._due = faster, now + max(self._wait, STEPS * seconds)


_kept: WeakKeyDictionary[BlockPattern, Pace] = WeakKeyDictionary()


class Taken:
    """A step that is being taken; `report` is set when it is done."""

    report: StepReport | None = None


@contextmanager
def at_its_pace(pattern: BlockPattern, most: int) -> Iterator[Taken]:
    """Lets a step of a model with this pattern use `most` threads, or one where that is faster."""
    taken = Taken()
    if min(most, thread_count()) < 2:
        with at_most_threads(1):
            yield taken
        return
    pace = _kept.setdefault(pattern, Pace())
    began = clock.perf_counter()
    on_all = pace.next_on_all(began)
    with at_most_threads(most if on_all else 1):
        yield taken
    if taken.report is not None:
        ended = clock.perf_counter()
        work = ITERATIONS * max(taken.report.solves, 1) + taken.report.iterations
        pace.learn(on_all, ended - began, work, ended)
