# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the steps of a model go on on all threads or on one: whichever was faster of late.

Where other programs have the cores, threads of a step wait for the one that is not running, hundreds of times in a
step: two can take four times as long as one. So clocks decide, and may, since no bit depends on the number of threads.

There a step takes now once and now three times as long, on one thread too. So each is compared with the median of the
other way, what it gains or loses is added up, and a change wants as much as two steps take: two steps twice as slow, or
many a little slower. Now and then the other way is tried until it has won or lost: soon after the way was changed, then
less and less often.

Nor is the other way tried at once. The first step may compile, and tells nothing; those of the next 30 to 80 ms tell
little of all threads: kernels are loaded, and at 10,000 tets two threads are no faster yet than one. One that was tried
then won in nearly every process, and had the first second, in which steps took 1.7 times as long.
"""

from __future__ import annotations

import math
import time as clock
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from ..constraints.external_forces import ExternalForces
from ..linalg.block_pattern import BlockPattern
from ..runtime.jit import limiting_threads, thread_count, using_threads
from .step_input import ContactUpdate
from .step_report import StepReport

MEDIAN_WINDOW_STEPS = 15  # steps of each way whose median is what it is known to cost
RECENT_STEPS = 2  # of them those that count when all threads have lost what is wanted for a change
TRIAL_WON_STEPS, TRIAL_LOST_STEPS = (
    2.0,
    -0.7,
)  # what a way has to gain for a change, and what ends its trial, in steps of the other way
MAX_GAIN_PER_STEP = 1.0  # what a step gains or loses at most, so that none changes the way alone
MAX_TRIAL_STEPS = 30  # steps of a trial in which nothing is won is one that is lost
FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = (
    0.1,
    8.0,
)  # how long it takes until the other way is tried, first and again [s],
MIN_RETRY_STEPS = 40  # but never less than so many steps
OVERHEAD_ITERATIONS = 16  # iterations of block Jacobi that take as long as the rest of a step, roughly


class ThreadTuner:
    """What steps cost on all threads and on one, and which of the two goes on.

    Attributes:
        on_all: Whether steps are taken on all threads, but for trials.
    """

    def __init__(self) -> None:
        self.on_all = True
        self._costs = {on_all: deque[float](maxlen=MEDIAN_WINDOW_STEPS) for on_all in (True, False)}
        self._gained = 0.0  # by the other way
        self._tried = 0  # steps of the trial that goes on
        self._due, self._wait = math.inf, FIRST_RETRY_SECONDS

    def next_on_all(self, now: float) -> bool:
        """Returns whether the step that begins `now` [s] is to be taken on all threads."""
        is_known = len(self._costs[self.on_all]) >= RECENT_STEPS  # what a trial is compared with
        return self.on_all != (now >= self._due and is_known)

    def learn(self, on_all: bool, seconds: float, work: float, now: float) -> None:
        """Takes in how long a step of so much work took that ends `now` [s]."""
        if math.isinf(self._due):
            self._due = now + FIRST_RETRY_SECONDS
            return
        cost = seconds / work
        if on_all != self.on_all:
            self._learn_of_trial(cost, seconds, now)
            return
        self._costs[on_all].append(cost)
        one = self._costs[False]
        # what all threads took was found when they were given up, and is of no use while one goes on
        if on_all and one:
            self._gained = max(0.0, self._gained + min(cost / _median(one) - 1.0, MAX_GAIN_PER_STEP))
            if self._gained >= TRIAL_WON_STEPS:
                # what one takes may have changed as well since it was tried: so it is tried now, beside the last steps
                self._gained, self._due = 0.0, now
                self._costs[True] = deque(list(self._costs[True])[-RECENT_STEPS:], MEDIAN_WINDOW_STEPS)

    def _learn_of_trial(self, cost: float, seconds: float, now: float) -> None:
        """Takes in the same of a step in the other way, which is tried until that has won or lost."""
        tried = not self.on_all
        if self._tried == 0:
            self._gained = 0.0
            self._costs[tried].clear()
        self._tried += 1
        self._costs[tried].append(cost)
        self._gained += max(1.0 - cost / _median(self._costs[self.on_all]), -MAX_GAIN_PER_STEP)
        if self._gained >= TRIAL_WON_STEPS:
            self._go_on(tried, seconds, now)
        elif self._gained <= TRIAL_LOST_STEPS or self._tried >= MAX_TRIAL_STEPS:
            self._go_on(self.on_all, seconds, now)

    def _go_on(self, on_all: bool, seconds: float, now: float) -> None:
        """Lets steps behind one that took so long be taken in this way, until the other is tried again."""
        self._wait = FIRST_RETRY_SECONDS if on_all != self.on_all else min(2.0 * self._wait, LAST_RETRY_SECONDS)
        self.on_all, self._due = on_all, now + max(self._wait, MIN_RETRY_STEPS * seconds)
        self._gained, self._tried = 0.0, 0


_cache: WeakKeyDictionary[BlockPattern, ThreadTuner] = WeakKeyDictionary()


class TimedStep:
    """A step that is being taken; `report` is set when it is done.

    Attributes:
        seconds_aside: How long was spent on what is not the step's own [s].
    """

    report: StepReport | None = None

    def __init__(self) -> None:
        self.excluded_seconds, self._threads = 0.0, thread_count()

    def excluding_time(self, respond: ContactUpdate | None) -> ContactUpdate | None:
        """Returns `respond` on as many threads as there were before the step, and its time not counted.

        Contacts are looked for in parts that take a thread's turn each, for which nobody has to be awake, and how much
        there is to look at changes from step to step: that would tell the wrong way of going on.
        """
        if respond is None:
            return None

        def apart(*values: Any) -> ExternalForces | None:
            began = clock.perf_counter()
            with using_threads(self._threads):
                changed = respond(*values)
            self.excluded_seconds += clock.perf_counter() - began
            return changed

        return apart


@contextmanager
def tuned_threads(pattern: BlockPattern, most: int) -> Iterator[TimedStep]:
    """Lets a step of a model with this pattern use `most` threads, or one where that is faster."""
    taken = TimedStep()
    if min(most, thread_count()) < 2:
        with limiting_threads(1):
            yield taken
        return
    pace = _cache.setdefault(pattern, ThreadTuner())
    began = clock.perf_counter()
    on_all = pace.next_on_all(began)
    with limiting_threads(most if on_all else 1):
        yield taken
    if taken.report is not None:
        ended = clock.perf_counter()
        pace.learn(on_all, ended - began - taken.excluded_seconds, _step_work(taken.report), ended)


def _step_work(report: StepReport) -> float:
    """Returns how much there was to do in a step, in iterations of block Jacobi."""
    return OVERHEAD_ITERATIONS * max(report.solves, 1) + (report.work or report.iterations)


def _median(costs: Collection[float]) -> float:
    """Returns the median; Python's own module for it takes 2 ms to load."""
    ordered = sorted(costs)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2.0
