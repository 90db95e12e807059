# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a step with 20 iterations of conjugate gradients, by stage, and its growth with the mesh."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness import plots
from harness.result import Picture, Result
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.integrators.step_report import StepReport
from sinew.solver.mechanics.model import Model
from speed.beams import (
    CELLS,
    DESCRIPTION,
    DT,
    FIXED_ITERATIONS,
    ITERATIONS,
    TETS_PER_TURN,
    external_forces,
    make_beam,
    repeats_per_turn,
    rest_state,
)
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row
from speed.stream_triad import StreamTriad
from speed.timing import interleaved_times, medians, using_threads

# on the reference machine, two threads: time of a step [ms], and bandwidth of its triad by size in MB [GB/s]
TARGET_MS = {"10K": 1.2, "100K": 12.0, "400K": 72.0}
REFERENCE_TRIAD = {10: 222.0, 240: 85.0}
MIN_STEPS_PER_SECOND = 60.0  # at 100K
SIZES = {
    "1K": (4, 4, 12), "3K": (6, 6, 16), "10K": CELLS["10K"], "30K": (13, 13, 35), "100K": CELLS["100K"],
    "200K": (25, 25, 64), "400K": CELLS["400K"], "800K": (40, 40, 100),
}  # fmt: skip
MAX_EXPONENT = 1.1
DAMPING = 0.01  # the default of bodies [s]: records of tets are twice as long
DAMPED_LABEL = f"100K, with the default damping of {DAMPING:g} s"
STAGE_LABELS = {"elements": "tets", "assembly": "assembly", "solve": "solve"}
SLOWER_NOTE = (
    "Work that fits the caches is bound by instructions, which the triads do not measure: the roofline shows how "
    "little a second thread adds to a triad in the nearest cache. Work that does not fit waits for memory: the "
    "roofline shows how close it is to the bandwidth."
)


@dataclass(frozen=True)
class StepCost:
    """Median cost of a step and of each of its stages [ms].

    Attributes:
        tets: Of the beam.
        whole: Of a step.
        stages: Of each stage.
        triad: Bandwidth on two threads by size in MB of the triads that took turns with the step [GB/s].
    """

    tets: int
    whole: float
    stages: Mapping[str, float]
    triad: Mapping[int, float]

    @property
    def slower(self) -> float:
        """How much slower the machine was than the reference by its triads: the smaller of the ratios."""
        return min(REFERENCE_TRIAD[size] / gb for size, gb in self.triad.items())


class TimedBeam:
    """A beam and the reports of its steps."""

    def __init__(self, model: Model, count: int) -> None:
        """Prepares forces and work space for `count` threads."""
        self.model, self.count, self.outside = model, count, external_forces(model)
        self.at_once, self.context = repeats_per_turn(model), SolverContext()
        self.reports: list[StepReport] = []

    def __call__(self) -> None:
        """Takes the steps of a turn, from rest: a beam that has settled would need fewer iterations."""
        state = rest_state(self.model)
        with using_threads(self.count):
            for _ in range(self.at_once):
                self.reports.append(step(self.model, state, self.outside, DT, FIXED_ITERATIONS, context=self.context))

    def cost(self, taken: float, rounds: int, triad: Mapping[int, float]) -> StepCost:
        """Returns the cost of a step from the time of a call [s], with the median stages of the last `rounds` calls."""
        assert {report.iterations for report in self.reports} == {ITERATIONS}, "a step ended early"
        last = [report.milliseconds for report in self.reports[-rounds * self.at_once :]]
        stages = {name: statistics.median(each[key] for each in last) for key, name in STAGE_LABELS.items()}
        return StepCost(self.model.tet_count, 1e3 * taken / self.at_once, stages, triad)


def measure_costs(
    cells: tuple[int, int, int], rounds: int, sizes: Sequence[int], damping: float = 0.0
) -> dict[int, StepCost]:
    """Returns what a step of a beam costs on one and two threads, which take turns with triads over so many MB."""
    model = make_beam(cells, damping=damping)
    running = {str(count): TimedBeam(model, count) for count in (1, 2)}
    triads = {f"triad {size}": StreamTriad(size, 2) for size in sizes}
    taken = medians(interleaved_times({**running, **triads}, rounds, first=2))
    gb = {size: triads[f"triad {size}"].bytes / taken[f"triad {size}"] / 1e9 for size in sizes}
    return {each.count: each.cost(taken[name], rounds, gb) for name, each in running.items()}


def run(quick: bool) -> Result:
    """Measures all sizes."""
    names = ["1K"] if quick else list(SIZES)
    rounds, sizes = (2, [10]) if quick else (7, list(REFERENCE_TRIAD))
    found = {"450": measure_costs(CELLS["450"], rounds, sizes)}
    for name in names:
        found[name] = measure_costs(SIZES[name], rounds, sizes)
    rows = [row for name in found if name in CELLS for row in table_rows(name, found[name])]
    if "100K" in found:
        rows += [
            rate_row(found["100K"][2]),
            cost_text(DAMPED_LABEL, measure_costs(CELLS["100K"], rounds, sizes, DAMPING)),
        ]
    along = {name: found[name][2] for name in names}
    rows += growth_row(along)
    values = {f"{name}, {n} threads [ms]": cost.whole for name, each in found.items() for n, cost in each.items()}
    for name, each in found.items():
        values |= {f"{name}, {n} threads, {stage} [ms]": ms for n, c in each.items() for stage, ms in c.stages.items()}
        values |= {f"{name}, triad {size} MB, 2 threads [GB/s]": gb for size, gb in each[2].triad.items()}
    return Result(rows, [Picture(CAPTION, plot_costs(found))], values, [NOTE])


def table_rows(name: str, cost: Mapping[int, StepCost]) -> list[Row]:
    """Returns the rows of one size."""
    two, rows = cost[2], [cost_text(name, cost)]
    quantity = f"{name}: a step of {two.tets} tets on two threads [ms]"
    if name in TARGET_MS:
        most = TARGET_MS[name] * two.slower
        wanted = f"≤ {most:.3g} ({TARGET_MS[name]:g} × {two.slower:.2f})"
        rows.insert(0, bound_row(quantity, wanted, f"{two.whole:.3g}", two.whole <= most, SLOWER_NOTE, line=2))
    return rows


def rate_row(cost: StepCost) -> Row:
    """Returns the row of steps per second at 100K tets."""
    per_second, least = 1e3 / cost.whole, MIN_STEPS_PER_SECOND / cost.slower
    wanted = f"> {least:.1f} ({MIN_STEPS_PER_SECOND:g} / {cost.slower:.2f})"
    return bound_row(
        "100K: steps per second on two threads", wanted, f"{per_second:.1f}", per_second > least, SLOWER_NOTE, line=2
    )


def cost_text(name: str, cost: Mapping[int, StepCost]) -> Row:
    """Returns the row of a step's cost on one and two threads, with its stages."""
    one, two = cost[1], cost[2]
    said = ", ".join(f"{stage} {one.stages[stage]:.3g} / {two.stages[stage]:.3g}" for stage in one.stages)
    return Row(f"{name}: on one / two threads [ms]", NO_TARGET, f"{one.whole:.3g} / {two.whole:.3g}: {said}")


def growth_exponent(found: Sequence[StepCost]) -> float:
    """Returns the slope of log cost over log tets, by least squares."""
    return float(np.polyfit(np.log([c.tets for c in found]), np.log([c.whole for c in found]), 1)[0])


def growth_row(found: Mapping[str, StepCost]) -> list[Row]:
    """Returns the rows of the growth exponents, over all sizes and over the larger ones, without constant costs."""
    rows = []
    for which, chosen in (("all", list(found.values())), ("from 10K on", [c for c in found.values() if c.tets > 8000])):
        if len(chosen) > 1:
            slope = growth_exponent(chosen)
            sizes = f"{len(chosen)} sizes, {chosen[0].tets} to {chosen[-1].tets} tets"
            quantity = f"exponent of cost over tets, {which}: {sizes}"
            why = memory_exponent(chosen[0].tets, chosen[-1])
            rows.append(bound_row(quantity, f"< {MAX_EXPONENT:g}", f"{slope:.3f}", slope < MAX_EXPONENT, why, line=11))
    return rows


def memory_exponent(fewest: int, largest: StepCost) -> str:
    """Returns a note on the exponent from `fewest` tets to the largest mesh that memory bandwidth alone explains."""
    near, far = (largest.triad[size] for size in REFERENCE_TRIAD)
    alone = 1.0 + math.log(near / far) / math.log(largest.tets / fewest)
    return (
        "Small meshes fit the processor's caches and cost less per tet: see the plot. Here a triad over 240 MB "
        f"takes {near / far:.1f} times as long per byte as one over 10 MB: a kernel bound only by memory "
        f"has an exponent of {alone:.2f} between these sizes."
    )


def plot_costs(found: Mapping[str, Mapping[int, StepCost]]):
    """Returns the cost over the number of tets, on one and two threads and by stage."""
    figure, ax = plots.plot("tets", "ms per step", x_log=True, y_log=True)
    each = sorted(found.values(), key=lambda cost: cost[2].tets)
    tets = [cost[2].tets for cost in each]
    ax.plot(tets, [cost[1].whole for cost in each], "s--", color="#888888", label="one thread")
    ax.plot(tets, [cost[2].whole for cost in each], "o-", color="#1f5fd0", lw=2, label="two threads")
    for colour, stage in zip(("#ff8c00", "#2ca02c", "#9467bd"), STAGE_LABELS.values(), strict=True):
        ax.plot(tets, [cost[2].stages[stage] for cost in each], ".-", lw=0.8, color=colour, label=f"  of it {stage}")
    straight = each[-1][2].whole * np.array(tets) / tets[-1]
    ax.plot(tets, straight, "k:", lw=0.8, label="proportional to tets")
    ax.legend(fontsize=7)
    return figure


NOTE = (
    f"The targets in milliseconds hold for a reference machine whose triad reaches {REFERENCE_TRIAD[10]:g} GB/s over "
    f"10 MB and {REFERENCE_TRIAD[240]:g} GB/s over 240 MB on two threads. The benchmark multiplies them by the smaller "
    "ratio to the triads that took turns with the steps of that size. That is fair to work bound by memory, such as "
    "the solve of large meshes, but does not account for the speed of instructions."
)
CAPTION = (
    f"Cost of a step with {ITERATIONS} iterations over the number of tets, and of its stages on two threads; dotted: "
    "proportional to tets, through the largest mesh."
)

BENCHMARK = Benchmark(
    lines=(2, 11),
    title="A step",
    what=f"{DESCRIPTION}. Each step is a whole step of implicit Euler with {ITERATIONS} iterations of conjugate "
    "gradients in float64: rotations and records of tets, assembly, solve, count of inverted tets. Runs on one and on "
    "two threads take turns with triads. Times are medians of seven rounds, each of which steps "
    f"{TETS_PER_TURN:,} tets, at least once.",
    run=run,
)
