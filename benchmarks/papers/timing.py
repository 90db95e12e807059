# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of steps of several methods that can be compared: they take turns, so that all see the same machine.

They run on one thread, as on the papers' machines: a second one waits for the first where another program has its core.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from papers.stage import step
from sinew.solver.jit import at_most_threads
from sinew.solver.simulation import Simulation

FIRST = 3  # steps that are not counted: they compile
WHOLE = "whole"


def in_turns(simulations: Mapping[str, Simulation], rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """Returns by name what a step takes [ms], as a whole and by the stages of its report.

    It is the least over rounds of the median of so many steps in each: other programs can only make a round longer, so
    the least says what the machine does by itself.
    """
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in simulations}
    with at_most_threads(1):
        for simulated in simulations.values():
            for _ in range(FIRST):
                step(simulated)
        for _ in range(rounds):
            for name, simulated in simulations.items():
                taken[name].append(_medians([_timed(simulated) for _ in range(steps)]))
    return {name: {key: min(each[key] for each in found) for key in found[0]} for name, found in taken.items()}


def _timed(simulated: Simulation) -> dict[str, float]:
    began = time.perf_counter()
    report = step(simulated)
    return {WHOLE: 1e3 * (time.perf_counter() - began), **report.milliseconds}


def _medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.median([each[key] for each in found])) for key in found[0]}
