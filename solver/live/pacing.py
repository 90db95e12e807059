# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a live run to the clock: it waits where it is early, and lets simulated time slow down where it is late."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

MAX_LATE_STEPS = 2.0  # by which a run may be late and catch up; beyond that time slows down
RATIO_SECONDS = 0.5  # over which the ratio is measured


class Pace:
    """When steps are due.

    Attributes:
        rate: Seconds of the scene in a second of the clock: 1 real time, below it slow motion.
        ratio: The same as it came to be lately.
    """

    def __init__(
        self,
        step_seconds: float,
        rate: float = 1.0,
        now: Callable[[], float] = clock.perf_counter,
        sleep: Callable[[float], None] = clock.sleep,
    ) -> None:
        """Takes Δt of the scene [s], and the clock."""
        self.step_seconds, self.rate, self.ratio = step_seconds, rate, rate
        self._now, self._sleep = now, sleep
        self._due = self._ratio_began = now()
        self._ratio_steps = 0

    def wait(self) -> None:
        """Waits until the next step is due. A run that cannot keep up is never in a hurry later."""
        now, each = self._now(), self.step_seconds / self.rate
        if now < self._due:
            self._sleep(self._due - now)
        elif now > self._due + MAX_LATE_STEPS * each:
            self._due = now
        self._due += each
        self._measure()

    def _measure(self) -> None:
        self._ratio_steps += 1
        passed = self._now() - self._ratio_began
        if passed >= RATIO_SECONDS:
            self.ratio = self._ratio_steps * self.step_seconds / passed
            self._ratio_began, self._ratio_steps = self._now(), 0


class NoPace(Pace):
    """Steps as fast as they come."""

    def __init__(self, step_seconds: float) -> None:
        super().__init__(step_seconds)

    def wait(self) -> None:
        """Waits for nothing."""
        self._measure()
