# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact contact beside incremental potential contact with the IPC Toolkit, MuJoCo and Fast contact in one scene."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from harness.result import Result
from sinew.solver.contact.exact.friction import RememberedShear
from sinew.solver.integrators.exact_contact.exact_contact_step import exact_contact_step
from sinew.solver.integrators.exact_contact.incremental_potential import AppliedForces, IncrementalPotential
from sinew.solver.mechanics.model import Model
from sinew.solver.mesh.boundary_faces import boundary_faces
from sinew.solver.mesh.geometry.penetration_depth import penetration_depths
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.simulation.simulation import Simulation
from speed import baseline_ipctk, baseline_mujoco
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row
from speed.jelly_tray import FRICTION, JELLY, depth_in_tray, tray, tray_scene

LINE = 17
TOOLKIT = "IPC Toolkit"
GRAVITY = np.array([0.0, 0.0, -9.81])
STEPS_PER_FRAME, DT = 4, 1.0 / 96.0
MUJOCO_RADIUS_SHARE = 0.5  # of the gap: two flexes then touch where Exact begins to push


class Fall(NamedTuple):
    """A fall of jellies.

    Attributes:
        count: Of jellies.
        tet_size: [m].
        steps: How long it is followed.
    """

    count: int
    tet_size: float
    steps: int


FALLS = (Fall(3, 0.045, 96), Fall(10, 0.03, 48))
QUICK_FALL = Fall(2, 0.06, 20)


@dataclass
class Course:
    """How a fall went.

    Attributes:
        seconds, processor_seconds: Of each step [s].
        iterations: Of Newton's method, in all steps.
        distance: The smallest after a step [m].
        intersections: Pairs of triangles after each step, in all.
        unsettled: Steps that did not converge.
        depth: The largest of a vertex in another jelly or outside of the tray [m].
    """

    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    iterations: int = 0
    distance: float = np.inf
    intersections: int = 0
    unsettled: int = 0
    depth: float = 0.0

    def time(self, step: Callable[[], object]) -> None:
        """Takes a step, and its times."""
        began, used = time.perf_counter(), time.process_time()
        step()
        self.seconds.append(time.perf_counter() - began)
        self.processor_seconds.append(time.process_time() - used)

    @property
    def mean(self) -> float:
        """Seconds a step."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def processor_mean(self) -> float:
        """Seconds of processor time a step."""
        return sum(self.processor_seconds) / len(self.processor_seconds)


class TrayScene:
    """A fall as Exact contact has it: model, surfaces, options."""

    def __init__(self, fall: Fall) -> None:
        self.simulation = Simulation(tray_scene(fall.count, fall.tet_size, "exact"))
        built = self.simulation.built
        assert built.exact_contact is not None
        self.model, self.options = built.model, built.exact_contact.options
        self.start = self.simulation.state.copy()
        self.surfaces, self.motion = built.exact_contact.motion(self.simulation.tracks, 0.0, 0.0, (None, self.start.x))
        self.workspace = self.simulation.solver_context.workspace(self.model)

    def count_intersections(self, x: Floats) -> int:
        """Returns how many pairs of triangles intersect for nodes at x [m], (n, 3)."""
        return len(intersecting_triangles(self.surfaces.positions(x, self.motion.end), self.surfaces.mesh.triangles))


def exact_and_toolkit(fall: Fall) -> tuple[TrayScene, Course, Course]:
    """Lets both move the same jellies from the same start, in turns step by step."""
    scene, ours, theirs = TrayScene(fall), Course(), Course()
    options, workspace = scene.options, scene.workspace
    own, other, remembered = scene.start.copy(), scene.start.copy(), RememberedShear()
    peer = baseline_ipctk.IpcSimulator(scene.surfaces, scene.model.node_count, options.barrier, options.tolerance)

    def step() -> None:
        nonlocal remembered
        potential = IncrementalPotential(scene.model, own, DT, workspace, AppliedForces(GRAVITY))
        settings = scene.simulation.scene.settings
        report = exact_contact_step(own, potential, scene.surfaces, scene.motion, options, settings, remembered)
        remembered = report.shear
        ours.iterations, ours.unsettled = ours.iterations + report.iterations, ours.unsettled + (not report.converged)

    def peer_step() -> None:
        potential = IncrementalPotential(scene.model, other, DT, workspace, AppliedForces(GRAVITY))
        report = peer.step(other, potential, scene.motion.end)
        theirs.iterations += report.iterations
        theirs.unsettled += not report.converged

    for _ in range(fall.steps):
        ours.time(step)
        theirs.time(peer_step)
        for course, state in ((ours, own), (theirs, other)):
            course.distance = min(course.distance, peer.least_distance(state.x, scene.motion.end))
            course.intersections += scene.count_intersections(state.x)
    return scene, ours, theirs


def fast_course(fall: Fall) -> Course:
    """Follows the same fall by Fast contact; intersections and depth are those of frames."""
    scene, course = tray_scene(fall.count, fall.tet_size, "fast"), Course()
    simulation, triangles = Simulation(scene), [body.triangles for body in scene.bodies]
    corners, faces = tray()
    frames = simulation.run()
    next(frames)
    for _ in range(fall.steps // STEPS_PER_FRAME):
        course.time(lambda: next(frames))
        found = simulation.positions()
        surfaces = [(found[body.key], own) for body, own in zip(scene.bodies, triangles, strict=True)]
        course.intersections += _intersections([*surfaces, (corners, faces)])
        course.depth = max(course.depth, _depth(surfaces))
    return course


def mujoco_course(fall: Fall, scene: TrayScene) -> Course:
    """Lets MuJoCo move the same tets with the same step; what touches is the boundary of the tets."""
    radius = MUJOCO_RADIUS_SHARE * scene.options.barrier.gap
    heap, course = baseline_mujoco.make_heap(scene.model, JELLY, FRICTION, tray(), radius, DT), Course()
    faces = _boundaries(scene.model)
    for number in range(fall.steps):
        course.time(heap.step)
        if number % STEPS_PER_FRAME == STEPS_PER_FRAME - 1:
            nodes = heap.nodes()
            surfaces = [(nodes[body.nodes], own) for body, own in zip(scene.model.bodies, faces, strict=True)]
            course.intersections += _intersections([*surfaces, tray()])
            course.depth = max(course.depth, _depth(surfaces))
    return course


def _boundaries(model: Model) -> list[Indices]:
    """Returns the boundary faces of each body, by its own nodes."""
    return [boundary_faces(model.tets[body.tets] - body.nodes.start) for body in model.bodies]


def _intersections(surfaces: list[tuple[Floats, Indices]]) -> int:
    """Returns how many pairs of triangles intersect."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)], dtype=np.int64)
    triangles = [own + start for (_, own), start in zip(surfaces, first, strict=False)]
    vertices = np.concatenate([vertices for vertices, _ in surfaces])
    return len(intersecting_triangles(vertices, np.concatenate(triangles).astype(np.int32)))


def _depth(surfaces: list[tuple[Floats, Indices]]) -> float:
    """Returns how deep a vertex is in another jelly or outside of the tray, at most [m]."""
    deepest = max(depth_in_tray(vertices) for vertices, _ in surfaces)
    for one, other in itertools.permutations(surfaces, 2):
        used = one[0][np.unique(one[1])]
        deepest = max(deepest, float(penetration_depths(build_bvh(*other), used).max()))
    return deepest


def fall_rows(fall: Fall) -> tuple[list[Row], dict[str, float]]:
    """Follows a fall by all; returns the rows and values of it."""
    scene, ours, theirs = exact_and_toolkit(fall)
    fast = fast_course(fall)
    tets = scene.model.tet_count
    name = f"{fall.count} jellies of {tets} tets, {fall.steps} steps"
    rows = [
        bound_row(
            f"{name}: a step [ms]",
            f"less than the {TOOLKIT}",
            f"{1e3 * ours.mean:.3g}; {TOOLKIT} {1e3 * theirs.mean:.3g}",
            ours.mean < theirs.mean,
            "With few tets, searches and calls from Python decide, and CHOLMOD takes next to no time.",
            line=LINE,
        ),
        Row(
            "the same in processor time [ms]",
            NO_TARGET,
            f"{1e3 * ours.processor_mean:.3g}; {TOOLKIT} {1e3 * theirs.processor_mean:.3g}",
        ),
        Row(
            "Newton iterations a step; steps that did not converge",
            NO_TARGET,
            f"{ours.iterations / fall.steps:.1f}, {ours.unsettled}; "
            f"{TOOLKIT} {theirs.iterations / fall.steps:.1f}, {theirs.unsettled}",
        ),
        bound_row(
            "pairs of triangles that intersect, after all steps together",
            "0",
            f"{ours.intersections}; {TOOLKIT} {theirs.intersections}",
            ours.intersections == 0,
            "Exact contact is wrong.",
            line=LINE,
        ),
        Row(
            f"smallest distance, of a gap of {1e3 * scene.options.barrier.gap:.2g} mm [mm]",
            NO_TARGET,
            f"{1e3 * ours.distance:.2g}; {TOOLKIT} {1e3 * theirs.distance:.2g}",
        ),
        Row(
            "Fast contact: a step [ms]; pairs that intersect at a frame; deepest vertex [mm]",
            NO_TARGET,
            _loose(fast, fall, STEPS_PER_FRAME),
        ),
    ]
    values = {
        "sinew": ours.mean, "toolkit": theirs.mean, "sinew processor": ours.processor_mean,
        "toolkit processor": theirs.processor_mean, "sinew iterations": ours.iterations / fall.steps,
        "toolkit iterations": theirs.iterations / fall.steps, "fast": fast.mean / STEPS_PER_FRAME,
        "fast processor": fast.processor_mean / STEPS_PER_FRAME, "fast depth": fast.depth,
        "toolkit intersections": theirs.intersections, "sinew distance": ours.distance,
    }  # fmt: skip
    if find_spec("mujoco") is None:
        rows.append(missing_peer_row("MuJoCo", NO_TARGET, "MuJoCo"))
    else:
        mujoco = mujoco_course(fall, scene)
        rows.append(Row("MuJoCo: the same three", NO_TARGET, _loose(mujoco, fall, 1)))
        values |= {"mujoco": mujoco.mean, "mujoco depth": mujoco.depth}
    return rows, {f"exact contact.{tets}.{key}": float(value) for key, value in values.items()}


def _loose(course: Course, fall: Fall, steps: int) -> str:
    """Returns the text of a course in which surfaces may intersect; its times are those of some steps each."""
    frames = fall.steps // STEPS_PER_FRAME
    return f"{1e3 * course.mean / steps:.3g}; {course.intersections / frames:.3g}; {1e3 * course.depth:.2g}"


def run(quick: bool) -> Result:
    """Follows all falls; quick: a small one, with two jellies."""
    if find_spec("ipctk") is None or find_spec("cvxopt") is None:
        return Result([missing_peer_row("a step", NO_TARGET, f"the {TOOLKIT}, or CHOLMOD,", LINE)])
    if not quick:
        exact_and_toolkit(QUICK_FALL)  # loads the kernels
        fast_course(QUICK_FALL)
    rows, values = [], dict[str, float]()
    for fall in (QUICK_FALL,) if quick else FALLS:
        more, numbers = fall_rows(fall)
        rows, values = rows + more, values | numbers
    return Result(rows, values=values)


BENCHMARK = Benchmark(
    (LINE,),
    "Exact contact beside an IPC code",
    "Soft jellies, turned at random, fall one after the other into a tray, with friction of 0.3 and 96 steps a "
    "second. The peer is algorithm 1 of Li et al. (2020) around the IPC Toolkit, which has its authors' collisions, "
    "barriers, friction and continuous detection, with CHOLMOD on OpenBLAS. Both get the same elasticity, damping and "
    "inertia from Sinew's kernels, the same surfaces, gap and tolerance, and a barrier with the same pressure at half "
    "of the gap. They begin at the same state and take turns step by step, each on its own way. The peer takes "
    "friction of the start of the step, smoothed below 1 mm/s, as there by default; Sinew takes it anew until the "
    "step has converged. Fast contact and MuJoCo's flex then move the same tets with the same step. Other IPC codes "
    "that were looked for: pyuipc (libuipc) has wheels, but simulates on CUDA alone; polyfempy has none for Python "
    "3.11. STARK and Codim-IPC have to be built from their sources.",
    run,
)
