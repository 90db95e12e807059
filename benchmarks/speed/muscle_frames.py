# SPDX-License-Identifier: GPL-3.0-or-later
"""How long muscles take to come to rest, frame by frame: one of 10,000 tets, and the twelve of an arm."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness import demo_scenes
from harness.result import Result
from sinew.solver.bake.cache import layout
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import whole_tangent
from sinew.solver.mechanics.model import Model
from sinew.solver.quasistatic.equilibrium import MAX_FORCING_TERM_OF_MUSCLES
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.freed_memory import keep_freed_memory
from sinew.solver.runtime.threads.thread_count import thread_count
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
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
SINGLE_BYTES_PER_BLOCK = 18 + 2 * 22  # with a product in 32 bits
ROUNDS = 5  # of what is timed alone
# of the motion of a frame: how far from its end it begins, where the end is known from a run before
ERRORS_OF_INFORMED_STARTS = (0.1, 0.03, 0.01)
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
        positions: Of all nodes at the end of every frame, the first one too [m], (n, 3) each.
    """

    tets: int
    seconds: list[float]
    iterations: list[int]
    cg_iterations: list[int]
    least: LeastCosts
    positions: list[Floats] = field(default_factory=list)

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
    def moving(self) -> tuple[float, float, float]:
        """Medians over frames that move: seconds, Newton iterations, and those of conjugate gradients."""
        rows = zip(self.seconds, self.iterations, self.cg_iterations, strict=True)
        of_moving = [row for row in rows if row[1]] or [(0.0, 0, 0)]
        seconds, iterations, cg_iterations = zip(*of_moving, strict=True)
        return statistics.median(seconds), statistics.median(iterations), statistics.median(cg_iterations)

    @property
    def moving_least(self) -> float:
        """Seconds of such a frame, if it did nothing but what `least` counts."""
        _, iterations, cg_iterations = self.moving
        return iterations * self.least.tangent + cg_iterations * self.least.cg_iteration

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


def time_frames(simulated: Simulation, last: int, known: Frames | None = None, error: float = 0.0) -> Frames:
    """Moves a simulation to a frame and times each after the first.

    Args:
        simulated: At its start.
        last: Number of the frame.
        known: Of a run of the same simulation before: a frame may begin so near its end that `error` of its motion is
            left. None: it begins as in a bake.
        error: See there.
    """
    seconds, iterations, cg_iterations, positions, began = [], [], [], [], time.perf_counter()
    for number, frame in enumerate(simulated.run()):
        seconds.append(time.perf_counter() - began)
        iterations.append(frame.report.newton_iterations)
        cg_iterations.append(frame.report.iterations)
        positions.append(simulated.state.x.copy())
        if frame.number >= last:
            break
        if known is not None:  # a frame may begin where flesh would be if it went on as it moved
            ahead = (1.0 - error) * (known.positions[number + 1] - simulated.state.x)
            simulated.state.v[:] = ahead * simulated.scene.settings.fps
        began = time.perf_counter()
    least = least_costs(simulated) if known is None else known.least
    tets = simulated.built.model.tet_count
    return Frames(tets, seconds[1:], iterations[1:], cg_iterations[1:], least, positions)


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


def reopened(folder: Path) -> Simulation:
    """Returns a simulation of the scene that is exported in a folder."""
    return Simulation(Scene.load(folder / layout.SCENE_FOLDER), TrackReader(folder / layout.SCENE_FOLDER))


@dataclass(frozen=True)
class InformedRun:
    """The same frames, each begun near its known end.

    Attributes:
        error: How much of the motion of a frame is left.
        frames: What they took.
    """

    error: float
    frames: Frames

    def row(self, what: str) -> Row:
        """Returns its row."""
        seconds, iterations, cg_iterations = self.frames.moving
        begun = "begun as in a bake" if self.error == 1.0 else f"begun with {100.0 * self.error:g} % of its motion left"
        return Row(
            f"{what}, a frame that moves, {begun} [s]",
            NO_TARGET,
            f"{seconds:.2g} ({iterations:g} Newton iterations, {cg_iterations:g} of conjugate gradients: "
            f"at least {self.frames.moving_least:.2g})",
        )


def table_rows(
    muscle: Frames, arm: Frames, fine: Frames, informed: Sequence[Sequence[InformedRun]] = ((), ())
) -> list[Row]:
    """Returns the table; `informed` are runs of the one muscle and of the finer arm."""
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
        *(InformedRun(1.0, frames).row(what) for what, frames in (("one muscle", muscle), ("finer arm", fine))),
        *(run.row("one muscle") for run in informed[0]),
        *(run.row("finer arm") for run in informed[1]),
        *(row for what, frames in (("one muscle", muscle), ("finer arm", fine)) for row in _least_rows(what, frames)),
    ]


def _least_rows(what: str, frames: Frames) -> list[Row]:
    """Returns what a frame that moves takes at least, if nothing but parts of it took time."""
    _, iterations, cg_iterations = frames.moving
    tangents, reading = iterations * frames.least.tangent, cg_iterations * frames.least.reading
    single = reading * SINGLE_BYTES_PER_BLOCK / BYTES_PER_BLOCK
    each = frames.least.cg_iteration * cg_iterations / max(iterations, 1.0)
    return [
        Row(
            f"{what}, tangents of a frame that moves, and reading its matrices, with products in 64 and 32 bits [s]",
            NO_TARGET,
            f"{tangents:.2g} + {reading:.2g}, {tangents:.2g} + {single:.2g}",
        ),
        Row(
            f"{what}, tangent and linear solve of one single Newton iteration a frame [s]",
            NO_TARGET,
            f"{frames.least.tangent:.2g} + {each:.2g}",
        ),
    ]


def verdict(what: str, limit: float, frames: Frames, informed: Sequence[InformedRun]) -> str:
    """Says whether frames of `limit` seconds are within reach of Newton's method, and of what."""
    nearest = min(informed, key=lambda run: run.error)
    told = nearest.frames.moving[0]
    return (
        f"{what}: {limit:.2g} s a frame. A frame that moves takes {frames.moving[0]:.2g} s, of which tangents and "
        f"conjugate gradients need {frames.moving_least:.2g}. One that is told its end to "
        f"{100.0 * nearest.error:g} % of its motion, nearer than any rejected start, takes {told:.2g} s, "
        f"{told / limit:.2g} times the limit."
    )


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
        errors = ERRORS_OF_INFORMED_STARTS[:1] if quick else ERRORS_OF_INFORMED_STARTS
        informed = [
            [InformedRun(error, time_frames(reopened(folder / name), last, known, error)) for error in errors]
            for name, last, known in (
                ("muscle", 3 if quick else MUSCLE_FRAMES, muscle),
                ("fine", 2 if quick else FINE_ARM_FRAMES, fine),
            )
        ]
    values = {
        "tets of one muscle": float(muscle.tets),
        "seconds of one muscle": muscle.median,
        "tets of the arm": float(arm.tets),
        "seconds of the arm": arm.median,
        "tets of the fine arm": float(fine.tets),
        "seconds of the fine arm": fine.median,
    }
    notes = [
        "Frames that begin near their ends know these from the run before: so much, and no more, could a better start "
        "gain, such as a solve on a coarse lattice.",
        verdict("One muscle", 1.0 / FRAMES_PER_SECOND, muscle, informed[0]),
        verdict("Finer arm", ARM_SECONDS, fine, informed[1]),
    ]
    return Result(table_rows(muscle, arm, fine, informed), values=values, notes=notes)


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
