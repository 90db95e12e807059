# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of steps of several methods that can be compared: they take turns, so that all see the same machine.

They run on one thread, as on the papers' machines: a second one waits for the first where another program has its core.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from papers.simulation_setup import take_step
from sinew.solver.runtime.threads.thread_count import limiting_threads
from sinew.solver.simulation.simulation import Simulation

WARM_UP_STEPS = 3  # steps that are not counted: they compile
WHOLE_STEP = "whole"


def interleaved_step_times(
    simulations: Mapping[str, Simulation], rounds: int, steps: int
) -> dict[str, dict[str, float]]:
    """Returns by name what a step takes [ms], as a whole and by the stages of its report.

    It is the least over rounds of the median of so many steps in each: other programs can only make a round longer, so
    the least says what the machine does by itself.
    """
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in simulations}
    with limiting_threads(1):
        for simulated in simulations.values():
            for _ in range(WARM_UP_STEPS):
                take_step(simulated)
        for _ in range(rounds):
            for name, simulated in simulations.items():
                taken[name].append(_medians([_timed(simulated) for _ in range(steps)]))
    return {name: {key: min(each[key] for each in found) for key in found[0]} for name, found in taken.items()}


def _timed(simulated: Simulation) -> dict[str, float]:
    began = time.perf_counter()
    report = take_step(simulated)
    return {WHOLE_STEP: 1e3 * (time.perf_counter() - began), **report.milliseconds}


def _medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.median([each[key] for each in found])) for key in found[0]}
