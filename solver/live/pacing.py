# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a live run to the clock: it waits where it is early, slows down where it is late, and pauses."""

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
        load: Seconds that a second of the scene took lately without what the run waited; 0: not known yet.
        is_paused: Whether only steps are taken that are asked for.
        asked_steps: How many are, while it is paused.
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
        self.load, self.is_paused, self.asked_steps = 0.0, False, 0
        self._due = self._ratio_began = now()
        self._ratio_steps, self._slept = 0, 0.0

    def wait(self, await_command: Callable[[float], object] | None = None) -> None:
        """Waits until the next step is due. A run that cannot keep up is never in a hurry later.

        A command begins its step sooner, at most one step before that is due, so that the run keeps to the clock.

        Args:
            await_command: Waits for a command, at most for so long [s]; None: `sleep` does.
        """
        now, each = self._now(), self.step_seconds / self.rate
        if self.is_paused:
            self.asked_steps -= 1
            return
        if now < self._due:
            soonest = self._due - each if await_command else self._due
            if now < soonest:
                self._sleep(soonest - now)
            if await_command:
                await_command(self._due - self._now())
            self._slept += self._now() - now
        elif now > self._due + MAX_LATE_STEPS * each:
            self._due = now
        self._due += each
        self._measure()

    @property
    def holds(self) -> bool:
        """Whether no step is to be taken now."""
        return self.is_paused and self.asked_steps <= 0

    def pause(self) -> None:
        """Takes no more steps until `resume`, but those that are asked for."""
        self.is_paused, self.asked_steps = True, 0

    def ask_for_step(self) -> None:
        """Takes one step more, and pauses."""
        self.asked_steps = self.asked_steps + 1 if self.is_paused else 1
        self.is_paused = True

    def resume(self) -> None:
        """Goes on by the clock; the pause is not made up for."""
        self.is_paused, self._due, self._slept = False, self._now(), 0.0
        self._ratio_began, self._ratio_steps = self._due, 0

    def _measure(self) -> None:
        self._ratio_steps += 1
        passed = self._now() - self._ratio_began
        if passed >= RATIO_SECONDS:
            simulated = self._ratio_steps * self.step_seconds
            self.ratio, self.load = simulated / passed, max(passed - self._slept, 0.0) / simulated
            self._ratio_began, self._ratio_steps, self._slept = self._now(), 0, 0.0


class NoPace(Pace):
    """Steps as fast as they come."""

    def __init__(self, step_seconds: float) -> None:
        super().__init__(step_seconds)

    def wait(self, await_command: Callable[[float], object] | None = None) -> None:
        """Waits for nothing."""
        self.asked_steps -= 1
        self._measure()
