# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on one thread and on two while other programs spin on the cores."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from harness.result import Result
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from speed import timing
from speed.beams import CELLS, DT, FIXED_ITERATIONS, external_forces, make_beam, rest_state
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row

BEAMS = ("450", "10K", "100K")
SPINNING_PROGRAMS = (0, 1, 2)
SECONDS, ROUNDS = 5.0, 12  # least time and steps for every beam under every load
MAX_SLOWDOWN = 1.2


@contextmanager
def spinning_programs(count: int) -> Iterator[None]:
    """Runs `count` spinning programs within a block."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        if others:
            time.sleep(0.3)  # until they have begun
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measure_steps(name: str, quick: bool) -> tuple[dict[int, dict[int, list[float]]], bool]:
    """Returns how long steps of a beam took [s], by load and threads, and whether both ended in the same bytes."""
    model = make_beam(CELLS[name])
    acts, states = external_forces(model), {count: rest_state(model) for count in (1, 2)}
    context = SolverContext()
    found: dict[int, dict[int, list[float]]] = {}
    # The system's time slices are about as long as a step at 10K tets: in a fixed order it would preempt one of the
    # two more often.
    drawn = random.Random(0)

    def one_step(count: int) -> None:
        with timing.using_threads(count):
            step(model, states[count], acts, DT, FIXED_ITERATIONS, context=context)

    for _ in range(4):
        for count in states:
            one_step(count)
    for load in SPINNING_PROGRAMS:
        taken = found[load] = {count: [] for count in states}
        with spinning_programs(load):
            ends = time.perf_counter() + (0.0 if quick else SECONDS)
            while time.perf_counter() < ends or len(taken[1]) < (2 if quick else ROUNDS):
                for count in drawn.sample((1, 2), 2):
                    taken[count].append(timing.seconds(lambda count=count: one_step(count)))
    same = np.array_equal(states[1].x, states[2].x) and np.array_equal(states[1].v, states[2].v)
    return found, same


def run(quick: bool) -> Result:
    """Measures steps of all beams under all loads."""
    rows, values, same = [], {}, True
    for name in BEAMS[:1] if quick else BEAMS:
        found, equal = measure_steps(name, quick)
        same = same and equal
        for load, taken in found.items():
            for what, value in (("median", statistics.median), ("mean", statistics.fmean)):
                one, two = (1e3 * value(taken[count]) for count in (1, 2))
                values[f"{name} {load} spinning {what} one"] = one
                values[f"{name} {load} spinning {what} two"] = two
                rows.append(_row(name, load, what, one, two))
    rows.append(
        bound_row(
            "bytes on one thread and on two", "the same", "the same" if same else "different", same, "A defect.", 12
        )
    )
    return Result(rows, values=values)


def _row(name: str, load: int, what: str, one: float, two: float) -> Row:
    quantity = f"{name} tets, {load} other programs: {what} on one and two threads [ms]"
    ours = f"{one:.3g}, {two:.3g} ({two / one:.2f})"
    if not load:
        return Row(quantity, NO_TARGET, ours)
    otherwise = "Sinew gives up threads once they have lost the time of two steps, and tries again every 0.1 to 8 s."
    return bound_row(quantity, f"≤ {MAX_SLOWDOWN:g} ×", ours, two <= MAX_SLOWDOWN * one, otherwise, 12)


BENCHMARK = Benchmark(
    lines=(12,),
    title="Contention with other programs",
    what="A beam of each size steps on one and on two threads in random order, with 20 iterations, for five seconds at "
    "a time: alone, beside one spinning program, and beside two. Medians and means cover all steps, including those in "
    "which Sinew tries threads again.",
    run=run,
)
