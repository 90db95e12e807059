# SPDX-License-Identifier: GPL-3.0-or-later
"""How long muscles take to come to rest, frame by frame: one of 10,000 tets, and the twelve of an arm."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness import demo_scenes
from harness.result import Result
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import whole_tangent
from sinew.solver.mechanics.model import Model
from sinew.solver.quasistatic.equilibrium import MAX_FORCING_TERM_OF_MUSCLES
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.runtime.freed_memory import keep_freed_memory
from sinew.solver.runtime.threads.thread_count import thread_count
from sinew.solver.simulation.current_model import present_flesh
from sinew.solver.simulation.simulation import Simulation
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row
from speed.stream_triad import triad_bandwidth

LINE = 13
FRAMES_PER_SECOND, ARM_SECONDS = 25.0, 2.0
MUSCLE_TET_SIZE, ARM_TET_SIZE = 0.00815, 0.0051  # 10,000 and 150,000 tets [m]
# the curl of the one; the first frames of the arm, and two beside the very first of the finer one
MUSCLE_FRAMES, ARM_FRAMES, FINE_ARM_FRAMES = 28, 6, 3
# Bytes of a block that an iteration of conjugate gradients reads: half of 72 for the product in 64 bits, and twice a
# quarter of a quad of 88 for the two smoothing steps on the finest level; coarser levels and vectors are not counted
BYTES_PER_BLOCK = 36 + 2 * 22
ROUNDS = 5  # of what is timed alone
HELD_SHARE = 0.05  # of a muscle's length, at both ends, whose nodes are held then


@dataclass(frozen=True)
class LeastCosts:
    """What parts of a Newton iteration take that none can do without: neither contact nor line search is in them.

    Attributes:
        tangent: Seconds of the forces of tets with their tangent.
        cg_iteration: Seconds of an iteration of conjugate gradients, with its part of the set-up of a solve.
        megabytes: Of matrices that an iteration of conjugate gradients reads.
        bandwidth: Of a triad over as many [GB/s].
    """

    tangent: float
    cg_iteration: float
    megabytes: float
    bandwidth: float

    @property
    def reading(self) -> float:
        """Seconds in which an iteration of conjugate gradients could read its matrices."""
        return 1.0e-3 * self.megabytes / self.bandwidth


@dataclass(frozen=True)
class Frames:
    """What the frames after the first took.

    Attributes:
        tets: Of all muscles.
        seconds: Of each frame.
        iterations, cg_iterations: Newton iterations of each, and those of conjugate gradients in all of these.
        least: What their parts take.
    """

    tets: int
    seconds: list[float]
    iterations: list[int]
    cg_iterations: list[int]
    least: LeastCosts

    @property
    def median(self) -> float:
        """Seconds of a frame."""
        return statistics.median(self.seconds)

    @property
    def per_iteration(self) -> float:
        """Seconds of a Newton iteration, and what of the rest of a frame falls to it."""
        return sum(self.seconds) / max(sum(self.iterations), 1)

    @property
    def least_seconds(self) -> float:
        """Seconds of a frame that moves, if it did nothing but what `least` counts; of all frames, the fewest."""
        return min(
            (n * self.least.tangent + cg * self.least.cg_iteration for n, cg in self._of_moving_frames), default=0.0
        )

    @property
    def reading_seconds(self) -> float:
        """Seconds in which the conjugate gradients of a frame that moves could read their matrices, the fewest."""
        return self.least.reading * min((cg for _, cg in self._of_moving_frames), default=0)

    @property
    def bounds(self) -> str:
        """Says what a frame takes at least."""
        least = self.least
        return (
            f"The forces of tets with their tangent take {1e3 * least.tangent:.0f} ms, an iteration of conjugate "
            f"gradients {1e3 * least.cg_iteration:.1f} ms: without contact and line search, as many of both as a "
            f"frame needs that moves take {self.least_seconds:.2g} s at least. To read the matrices of "
            f"{least.megabytes:.0f} MB for its conjugate gradients alone takes {self.reading_seconds:.2g} s at the "
            f"{least.bandwidth:.0f} GB/s of a triad of that size."
        )

    @property
    def _of_moving_frames(self) -> list[tuple[int, int]]:
        return [(n, cg) for n, cg in zip(self.iterations, self.cg_iterations, strict=True) if n]


def least_costs(simulated: Simulation) -> LeastCosts:
    """Times forces with their tangent, and conjugate gradients, where the muscles of a simulation are now."""
    flesh = present_flesh(simulated.built, simulated.state)
    assert flesh is not None and flesh.quasistatic is not None
    part = flesh.quasistatic
    x = np.ascontiguousarray(simulated.state.x[part.part.nodes])
    nodes = end_nodes(part.model)
    iterate = NewtonIterate(EquilibriumProblem(part.model, part.law, FixedNodes(nodes, x[nodes])))
    tangents, cg_iterations = [], []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        iterate.evaluate_tangent(part.law, x)
        between, before = time.perf_counter(), iterate.cg_iterations
        iterate.direction(part.law, x, MAX_FORCING_TERM_OF_MUSCLES)
        tangents.append(between - began)
        cg_iterations.append((time.perf_counter() - between) / max(iterate.cg_iterations - before, 1))
    blocks = whole_tangent(part.model, part.law, iterate.values, iterate.work)[0].block_count
    megabytes = 1e-6 * BYTES_PER_BLOCK * blocks
    return LeastCosts(
        statistics.median(tangents[1:]),
        statistics.median(cg_iterations[1:]),
        megabytes,
        triad_bandwidth(megabytes, thread_count()),
    )


def end_nodes(model: Model) -> np.ndarray:
    """Returns the nodes near both ends of every body along its longest axis, rising, (k,)."""
    found = []
    for body in model.bodies:
        X = model.X[body.nodes]
        along = X[:, np.argmax(np.ptp(X, axis=0))]
        low, high = np.quantile(along, [HELD_SHARE, 1.0 - HELD_SHARE])
        found.append(body.nodes.start + np.flatnonzero((along <= low) | (along >= high)))
    return np.concatenate(found).astype(np.int32)


def time_frames(simulated: Simulation, last: int) -> Frames:
    """Moves a simulation to a frame and times each after the first."""
    seconds, iterations, cg_iterations, began = [], [], [], time.perf_counter()
    for frame in simulated.run():
        seconds.append(time.perf_counter() - began)
        iterations.append(frame.report.newton_iterations)
        cg_iterations.append(frame.report.iterations)
        if frame.number >= last:
            break
        began = time.perf_counter()
    least = least_costs(simulated)
    return Frames(simulated.built.model.tet_count, seconds[1:], iterations[1:], cg_iterations[1:], least)


def muscle_simulation(folder: Path, tet_size: float | None) -> Simulation:
    """Returns the one muscle of biceps_curl; None: with the tets of the demo."""
    import bpy

    demo_scenes.demo_script("biceps_curl").build()
    if tet_size is not None:
        bpy.data.objects["Biceps"].sinew.tet_size = tet_size
    return Simulation(*demo_scenes.export_open_file(folder))


def arm_simulation(folder: Path, tet_size: float | None) -> Simulation:
    """Returns the muscles of arm_layers, its first pass; None: with the tets of the demo."""
    arm = demo_scenes.demo_script("arm_layers")
    arm.build(tet_size or arm.TET_SIZE)
    return Simulation(*demo_scenes.export_open_file(folder, bake_pass=1))


def table_rows(muscle: Frames, arm: Frames, fine: Frames) -> list[Row]:
    """Returns the table."""
    rate = 1.0 / muscle.median
    return [
        bound_row(
            f"one muscle of {muscle.tets:,} tets, frames a second",
            f"≥ {FRAMES_PER_SECOND:g}",
            f"{rate:.1f}",
            rate >= FRAMES_PER_SECOND,
            f"A frame takes {statistics.median(muscle.iterations):.0f} Newton iterations of "
            f"{1e3 * muscle.per_iteration:.0f} ms each; 25 frames a second leave 40 ms for all of them. "
            f"{muscle.bounds}",
            line=LINE,
        ),
        bound_row(
            f"twelve muscles of an arm, {fine.tets:,} tets, seconds a frame",
            f"≤ {ARM_SECONDS:g}",
            f"{fine.median:.0f}",
            fine.median <= ARM_SECONDS,
            f"A frame takes {statistics.median(fine.iterations):.0f} Newton iterations of {fine.per_iteration:.1f} s "
            f"each, so 2 s are over after {ARM_SECONDS / fine.per_iteration:.1f} of them. S07 names 240 s "
            f"a frame for a million tets, on one processor of 3 GHz; here that would be "
            f"{1e6 * fine.median / fine.tets:.0f} s. {fine.bounds}",
            line=LINE,
        ),
        Row(f"twelve muscles of an arm, {arm.tets:,} tets, seconds a frame", NO_TARGET, f"{arm.median:.1f}"),
        Row("of that Newton iterations, each frame", NO_TARGET, " / ".join(map(str, arm.iterations))),
    ]


def run(quick: bool) -> Result:
    """Measures the curl of the biceps, then the first frames of the arm, then those of a finer arm."""
    if not demo_scenes.can_run():
        return Result([missing_peer_row("muscles", f"{FRAMES_PER_SECOND:g} frames a second", "bpy", line=LINE)])
    keep_freed_memory()  # as the process of a bake does
    sizes = (None, None) if quick else (MUSCLE_TET_SIZE, ARM_TET_SIZE)
    with tempfile.TemporaryDirectory(prefix="sinew-muscles-") as name:
        folder = Path(name)
        muscle = time_frames(muscle_simulation(folder / "muscle", sizes[0]), 3 if quick else MUSCLE_FRAMES)
        arm = time_frames(arm_simulation(folder / "arm", None), 2 if quick else ARM_FRAMES)
        fine = time_frames(arm_simulation(folder / "fine", sizes[1]), 2 if quick else FINE_ARM_FRAMES)
    values = {
        "tets of one muscle": float(muscle.tets),
        "seconds of one muscle": muscle.median,
        "tets of the arm": float(arm.tets),
        "seconds of the arm": arm.median,
        "tets of the fine arm": float(fine.tets),
        "seconds of the fine arm": fine.median,
    }
    return Result(table_rows(muscle, arm, fine), values=values)


BENCHMARK = Benchmark(
    lines=(LINE,),
    title="Muscles that come to rest",
    what="The biceps of the demo biceps_curl with tets of 8.15 mm through its curl, frames 2 to 28, median. The twelve "
    "muscles of the demo arm_layers, in contact with each other and with the bones, as the demo is (frames 2 to 6, "
    f"medians), and with tets of 5.1 mm (frames 2 to {FINE_ARM_FRAMES}). Presets, tolerances and all else are those of "
    "the demos. Of the curl's time on the main thread 40 % are linear solves, 27 % forces, tangents and energies of "
    "tets, 18 % contacts, links and stretch limits, 5 % the motion of starts along with bones, 10 % the rest (profiled "
    "on 11-30): the gap to the least, which is that of the frame with the fewest iterations, has no single cause.",
    run=run,
)
