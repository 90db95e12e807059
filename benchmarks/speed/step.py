# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step with 20 iterations of conjugate gradients costs, stage by stage, and how its cost grows with the mesh."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frame import figures
from frame.result import Picture, Result
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.report import StepReport
from sinew.solver.model import Model
from sinew.solver.scene import Settings
from speed.beams import CELLS, DT, WHAT, at_rest, beam, outside
from speed.table import NONE, Benchmark, Row, bound
from speed.timing import in_turns, medians, threads
from speed.triad import triad

ITERATIONS = 20
SETTINGS = Settings(tolerance=1e-12, max_iterations=ITERATIONS)
# on the reference machine, two threads: ms for a step, and its triad over so many MB [GB/s]
WANTED = {"10K": 1.2, "100K": 12.0, "400K": 72.0}
REFERENCE_TRIAD = {10: 222.0, 240: 85.0}
LEAST_RATE = 60.0  # steps a second at 100K
SIZES = {
    "1K": (4, 4, 12), "3K": (6, 6, 16), "10K": CELLS["10K"], "30K": (13, 13, 35), "100K": CELLS["100K"],
    "200K": (25, 25, 64), "400K": CELLS["400K"], "800K": (40, 40, 100),
}  # fmt: skip
STEEPEST = 1.1
STAGES = {"elements": "tets", "assembly": "assembly", "solve": "solve"}
SLOWER = (
    "two threads; the work is bound by what its stages take, see the table of them and the roofline; bytes of a "
    "result may not depend on threads, so that sums have their order"
)


@dataclass(frozen=True)
class Cost:
    """What a step costs: medians, of the whole and of each stage [ms]."""

    tets: int
    whole: float
    stages: Mapping[str, float]


class Stepping:
    """A beam that is stepped on, and what its steps have told."""

    def __init__(self, model: Model, count: int) -> None:
        """Begins at rest, with so many threads."""
        self.model, self.count, self.state, self.outside = model, count, at_rest(model), outside(model)
        self.reports: list[StepReport] = []

    def go_on(self) -> None:
        """Takes a step."""
        self.reports.append(step(self.model, self.state, self.outside, DT, SETTINGS))

    def stages(self, rounds: int) -> dict[str, float]:
        """Returns the medians of the stages of the last so many steps [ms]."""
        last = [report.milliseconds for report in self.reports[-rounds:]]
        return {name: statistics.median(each[key] for each in last) for key, name in STAGES.items()}


def costs(cells: tuple[int, int, int], rounds: int, counts: Sequence[int] = (1, 2)) -> dict[int, Cost]:
    """Returns what a step of a beam costs by number of threads, which take turns."""
    model = beam(cells)
    running = {count: Stepping(model, count) for count in counts}

    def call(each: Stepping) -> None:
        with threads(each.count):
            each.go_on()

    taken = medians(in_turns({str(n): lambda each=each: call(each) for n, each in running.items()}, rounds, first=2))
    for each in running.values():
        assert {report.iterations for report in each.reports} == {ITERATIONS}, "a step ended early: not what is timed"
    return {n: Cost(model.tet_count, 1e3 * taken[str(n)], each.stages(rounds)) for n, each in running.items()}


def run(quick: bool) -> Result:
    """Measures all sizes."""
    names = ["1K", "3K", "10K"] if quick else list(SIZES)
    rounds = 2 if quick else 7
    gb = {size: triad(size, 2, 2 if quick else 7) for size in ([10] if quick else REFERENCE_TRIAD)}
    slower = min(REFERENCE_TRIAD[size] / found for size, found in gb.items())
    found = {"450": costs(CELLS["450"], 5 * rounds)}
    for name in names:
        found[name] = costs(SIZES[name], rounds)
    rows = [row for name in found if name in CELLS for row in rows_of(name, found[name], slower)]
    if "100K" in found:
        rows.append(rate(found["100K"][2], slower))
    along = {name: found[name][2] for name in names}
    rows += growth(along)
    values = {f"{name}, {n} threads [ms]": cost.whole for name, each in found.items() for n, cost in each.items()}
    values |= {
        f"{name}, {n} threads, {stage} [ms]": ms
        for name, each in found.items()
        for n, cost in each.items()
        for stage, ms in cost.stages.items()
    }
    values |= {f"triad {size} MB, 2 threads [GB/s]": each for size, each in gb.items()}
    values |= {"slower than the reference machine": slower, "exponent": exponent(list(along.values()))}
    return Result(rows, [Picture(CAPTION, plot(found))], values, [note(gb, slower)])


def rows_of(name: str, cost: Mapping[int, Cost], slower: float) -> list[Row]:
    """Returns what is told of one size."""
    one, two = cost[1], cost[2]
    told = ", ".join(f"{stage} {one.stages[stage]:.3g} / {two.stages[stage]:.3g}" for stage in one.stages)
    quantity = f"{name}: a step of {one.tets} tets on two threads [ms]"
    rows = [Row(f"{name}: on one / two threads [ms]", NONE, f"{one.whole:.3g} / {two.whole:.3g}: {told}")]
    if name in WANTED:
        most = WANTED[name] * slower
        wanted = f"≤ {most:.3g} ({WANTED[name]:g} × {slower:.1f})"
        rows.insert(0, bound(quantity, wanted, f"{two.whole:.3g}", two.whole <= most, SLOWER, line=2))
    return rows


def rate(cost: Cost, slower: float) -> Row:
    """Returns whether 100,000 tets step often enough."""
    per_second, least = 1e3 / cost.whole, LEAST_RATE / slower
    wanted = f"> {least:.1f} ({LEAST_RATE:g} / {slower:.1f})"
    return bound("100K: steps a second, two threads", wanted, f"{per_second:.1f}", per_second > least, SLOWER, line=2)


def exponent(found: Sequence[Cost]) -> float:
    """Returns the slope of log cost over log tets, by least squares."""
    return float(np.polyfit(np.log([c.tets for c in found]), np.log([c.whole for c in found]), 1)[0])


def growth(found: Mapping[str, Cost]) -> list[Row]:
    """Returns how the cost grows, over all sizes, and over the larger ones, where nothing is constant any more."""
    rows = []
    for which, chosen in (("all", list(found.values())), ("from 10K on", [c for c in found.values() if c.tets > 8000])):
        if len(chosen) > 1:
            slope = exponent(chosen)
            sizes = f"{len(chosen)} sizes, {chosen[0].tets} to {chosen[-1].tets} tets"
            quantity, otherwise = f"exponent of cost over tets, {which}: {sizes}", f"by stages, see the plot; {STEEPER}"
            rows.append(bound(quantity, f"< {STEEPEST:g}", f"{slope:.3f}", slope < STEEPEST, otherwise, line=11))
    return rows


STEEPER = "what fits the processor's caches costs less per tet, and larger meshes leave them"


def plot(found: Mapping[str, Mapping[int, Cost]]):
    """Returns the cost over the number of tets, on one and two threads and by stage."""
    figure, ax = figures.plot("tets", "ms per step", x_log=True, y_log=True)
    each = sorted(found.values(), key=lambda cost: cost[2].tets)
    tets = [cost[2].tets for cost in each]
    ax.plot(tets, [cost[1].whole for cost in each], "s--", color="#888888", label="one thread")
    ax.plot(tets, [cost[2].whole for cost in each], "o-", color="#1f5fd0", lw=2, label="two threads")
    for colour, stage in zip(("#ff8c00", "#2ca02c", "#9467bd"), STAGES.values(), strict=True):
        ax.plot(tets, [cost[2].stages[stage] for cost in each], ".-", lw=0.8, color=colour, label=f"  of it {stage}")
    straight = each[-1][2].whole * np.array(tets) / tets[-1]
    ax.plot(tets, straight, "k:", lw=0.8, label="in proportion to tets")
    ax.legend(fontsize=7)
    return figure


def note(gb: Mapping[int, float], slower: float) -> str:
    """Returns how bounds in milliseconds are carried over to this machine."""
    told = " and ".join(f"{each:.1f} GB/s over {size} MB" for size, each in gb.items())
    there = " and ".join(f"{REFERENCE_TRIAD[size]:g}" for size in gb)
    return (
        f"The bounds in milliseconds are of a reference machine whose triad gives {there} GB/s on two threads; here it "
        f"gives {told}. So bounds are multiplied by {slower:.2f}, the smaller of the ratios, and judged so. That is "
        "fair to what waits for memory, as the solve of large meshes; how fast instructions are done is not in it."
    )


CAPTION = (
    f"Cost of a step with {ITERATIONS} iterations over the number of tets, and of its stages on two threads; dotted: "
    "in proportion to tets, through the largest."
)

BENCHMARK = Benchmark(
    lines=(2, 11),
    title="A step",
    what=f"{WHAT}. Each step is a whole one of implicit Euler from state to state, with {ITERATIONS} iterations of "
    "conjugate gradients in float64: rotations and records of tets, assembly, solve, counting of inverted tets. One "
    "and two threads take turns; two steps first, then medians of seven (35 for 450 tets).",
    run=run,
)
