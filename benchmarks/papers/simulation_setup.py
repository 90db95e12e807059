# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the experiments, put in a scene, built and stepped just as a bake does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sinew.solver.constraints.force import Force, ForceStep
from sinew.solver.integrators.step_report import StepReport
from sinew.solver.mesh.shapes import body_of_tets
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.formulation import DEFAULT_FORMULATION, FormulationSettings
from sinew.solver.scene.scene import Body, Collider, Material, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, eq=False)
class HeldNodes(Force):
    """Nodes that are held exactly. Pins of a scene hold whole tets instead.

    Attributes:
        nodes: Their numbers, (k,).
        at: Where they are at a time [s → m], (k, 3); None from it: they are free then.
    """

    nodes: Indices
    at: Callable[[float], Floats | None]
    kind: ClassVar[str] = "held nodes"

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks them, and writes where they have to be, unless they are free."""
        targets = self.at(step.end)
        if targets is not None:
            is_fixed[self.nodes] = True
            fixed_target[self.nodes] = targets


def hold_in_place(X: Floats, which: Bools) -> HeldNodes:
    """Returns that some nodes at rest positions X [m], (n, 3), stay where they are."""
    nodes = np.flatnonzero(which).astype(np.int32)
    return HeldNodes(nodes, lambda time: X[nodes])


def body(
    nodes: Floats,
    tets: Indices,
    material: Material,
    method: FormulationSettings = DEFAULT_FORMULATION,
    key: str = "body",
    **settings,
) -> Body:
    """Returns a body of given tets whose render mesh is their boundary.

    Args:
        nodes, tets: (n, 3) [m] and (m, 4).
        material: What it is made of.
        method: By which formulation it resists.
        key: Its name.
        settings: Further ones of the body.
    """
    return body_of_tets(nodes, tets, material=material, method=method, key=key, name=key, **settings)


def make_simulation(
    bodies: Body | tuple[Body, ...],
    dt: float,
    held: Force | tuple[Force, ...] = (),
    colliders: tuple[Collider, ...] = (),
    tracks: Mapping[str, tuple] | None = None,
    **settings,
) -> Simulation:
    """Returns what `take_step` moves on, at rest and ready to step by `dt` [s].

    Args:
        bodies: One, or several.
        dt: Time step [s], which sets the length of a frame.
        held: Forces besides those of the scene, such as nodes that are held exactly.
        colliders: What they may touch.
        tracks: Animated inputs by name.
        settings: Of the scene, `tolerance` and `max_iterations` among them.
    """
    bodies = (bodies,) if isinstance(bodies, Body) else tuple(bodies)
    settings = {"gravity": GRAVITY, **settings}
    scene = Scene(bodies, colliders, Settings(fps=1.0 / dt, substeps=1, gravity=settings["gravity"]))
    simulated = Simulation(scene, tracks)
    # a tolerance of zero, so that all iterations are made, is refused of scenes
    simulated.scene = replace(scene, settings=replace(scene.settings, **settings))
    holds = (held,) if isinstance(held, Force) else held
    simulated.built = replace(simulated.built, forces=(*simulated.built.forces, *holds))
    return simulated


def take_step(simulated: Simulation) -> StepReport:
    """Moves a simulation on by one time step."""
    return simulated.step()


def take_steps(
    simulated: Simulation, count: int, each: Callable[[StepReport], bool | None] = lambda report: None
) -> int:
    """Moves a simulation on by up to `count` steps; returns how many it took.

    It stops where `each`, called after a step with its report, returns True, and where velocities are no longer
    numbers.
    """
    for number in range(count):
        try:
            report = take_step(simulated)
        except SolveFailed:
            return number
        if each(report):
            return number + 1
    return count


def measure_step_times(simulated: Simulation, count: int) -> Floats:
    """Returns how long steps took [ms], (count,)."""
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        take_step(simulated)
        taken.append(1e3 * (time.perf_counter() - began))
    return np.array(taken)


def signed_volume(x: Floats, tets: Indices) -> float:
    """Returns the volume of tets [m³] for node positions x [m], (n, 3); inverted ones count as negative."""
    edges = x[tets[:, 1:]] - x[tets[:, :1]]
    return float(np.linalg.det(edges).sum() / 6.0)


def rigid_misfit(x: Floats, X: Floats) -> float:
    """Returns how far nodes x [m], (n, 3), are at most from X, moved rigidly to fit best, over X's size."""
    here, there = x - x.mean(axis=0), X - X.mean(axis=0)
    U, _, Vt = np.linalg.svd(there.T @ here)
    turn = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    return float(np.linalg.norm(here - there @ turn, axis=1).max() / np.ptp(X, axis=0).max())
