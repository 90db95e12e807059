# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on one thread and on two while other programs spin on the cores."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from harness.result import Result
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.shapes import body_of_tets, box_tets
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Material, Scene, Settings
from sinew.solver.simulation.simulation import Simulation
from speed import timing
from speed.beams import CELLS, DT, FIXED_ITERATIONS, external_forces, make_beam, rest_state
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row

BEAMS = ("450", "10K", "100K")
SPINNING_PROGRAMS = (0, 1, 2)
SECONDS, ROUNDS = 5.0, 12  # least time and steps for every beam under every load
MAX_SLOWDOWN = 1.2
# blocks of jelly on each other and on the ground: how many, cells of each, side [m], and steps until they touch
STACKED, CELLS_OF_BLOCK, QUICK_CELLS, SIDE, STEPS_TO_TOUCH = 3, (9, 9, 9), (2, 2, 2), 0.5, 24


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

    def one_step(count: int) -> None:
        with timing.using_threads(count):
            step(model, states[count], acts, DT, FIXED_ITERATIONS, context=context)

    for _ in range(4):
        for count in states:
            one_step(count)
    return _under_loads(one_step, quick), _are_same(states)


def measure_contacts(quick: bool) -> tuple[int, dict[int, dict[int, list[float]]], bool]:
    """Returns how many tets blocks have that lie on each other, and for their steps what `measure_steps` returns."""
    first = Simulation(stacked_blocks(QUICK_CELLS if quick else CELLS_OF_BLOCK))
    first.start()
    for _ in range(STEPS_TO_TOUCH):
        first.step()
    assert first.contacts is not None and first.contacts.was_active.any()
    both = {1: first, 2: first.copy()}

    def one_step(count: int) -> None:
        with timing.using_threads(count):
            both[count].step()

    found = _under_loads(one_step, quick)
    return first.built.model.tet_count, found, _are_same({count: one.state for count, one in both.items()})


def stacked_blocks(cells: tuple[int, int, int]) -> Scene:
    """Returns blocks of jelly that are about to fall on each other and on the ground, each turned a little more."""
    nodes, tets = box_tets(cells, (SIDE, SIDE, SIDE))
    middle, jelly, bodies = [0.5 * SIDE, 0.5 * SIDE, 0.0], Material(1.0e5, 0.4, 1000.0, stiffness_damping=0.01), []
    for number in range(STACKED):
        cos, sin = np.cos(0.2 * number), np.sin(0.2 * number)
        turned = (nodes - middle) @ [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]
        lifted = turned + [0.0, 0.0, 0.01 + number * (SIDE + 0.005)]
        bodies.append(body_of_tets(lifted, tets, key=f"block{number}", name=f"Block {number + 1}", material=jelly))
    return Scene(tuple(bodies), (Collider("ground", "Ground"),), Settings())


def _under_loads(one_step: Callable[[int], None], quick: bool) -> dict[int, dict[int, list[float]]]:
    """Returns how long steps took on one and two threads [s], by load and threads."""
    found: dict[int, dict[int, list[float]]] = {}
    # The system's time slices are about as long as a step at 10K tets: in a fixed order it would preempt one of the
    # two more often.
    drawn = random.Random(0)
    for load in SPINNING_PROGRAMS:
        taken = found[load] = {1: [], 2: []}
        with spinning_programs(load):
            ends = time.perf_counter() + (0.0 if quick else SECONDS)
            while time.perf_counter() < ends or len(taken[1]) < (2 if quick else ROUNDS):
                for count in drawn.sample((1, 2), 2):
                    taken[count].append(timing.seconds(lambda count=count: one_step(count)))
    return found


def _are_same(states: Mapping[int, State]) -> bool:
    """Returns whether steps on one and on two threads ended in the same bytes."""
    return np.array_equal(states[1].x, states[2].x) and np.array_equal(states[1].v, states[2].v)


def run(quick: bool) -> Result:
    """Measures steps of all beams under all loads."""
    rows: list[Row] = []
    values: dict[str, float] = {}
    same = True
    for name in BEAMS[:1] if quick else BEAMS:
        found, equal = measure_steps(name, quick)
        same = same and equal
        _add_rows(rows, values, f"{name} tets", found)
    tet_count, found, equal = measure_contacts(quick)
    _add_rows(rows, values, f"blocks in contact, {tet_count:,} tets", found)
    same = same and equal
    rows.append(
        bound_row(
            "bytes on one thread and on two", "the same", "the same" if same else "different", same, "A defect.", 12
        )
    )
    return Result(rows, values=values)


def _add_rows(rows: list[Row], values: dict[str, float], name: str, found: dict[int, dict[int, list[float]]]) -> None:
    """Adds a median and a mean for every load."""
    for load, taken in found.items():
        for what, value in (("median", statistics.median), ("mean", statistics.fmean)):
            one, two = (1e3 * value(taken[count]) for count in (1, 2))
            values[f"{name} {load} spinning {what} one"] = one
            values[f"{name} {load} spinning {what} two"] = two
            rows.append(_row(name, load, what, one, two))


def _row(name: str, load: int, what: str, one: float, two: float) -> Row:
    quantity = f"{name}, {load} other programs: {what} on one and two threads [ms]"
    ours = f"{one:.3g}, {two:.3g} ({two / one:.2f})"
    if not load:
        return Row(quantity, NO_TARGET, ours)
    otherwise = "Sinew gives up threads once they have lost the time of two steps, and tries again every 0.1 to 8 s."
    return bound_row(quantity, f"≤ {MAX_SLOWDOWN:g} ×", ours, two <= MAX_SLOWDOWN * one, otherwise, 12)


BENCHMARK = Benchmark(
    lines=(12,),
    title="Contention with other programs",
    what="A beam of each size steps on one and on two threads in random order, with 20 iterations, for five seconds at "
    "a time: alone, beside one spinning program, and beside two. So do three blocks of jelly (E = 1e5 Pa) that lie on "
    "each other and on the ground, at the default tolerance, with all solves and searches of their contacts. Medians "
    "and means cover all steps, including those in which Sinew tries threads again.",
    run=run,
)
