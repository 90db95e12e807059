# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves a built simulation on by one frame: inputs sampled, steps taken, render positions drawn."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import Floats
from .break_up import break_up
from .break_up import extremes as broken
from .build import Built
from .contact.response import ContactStep
from .contact.touching import Place
from .embedding import interpolate
from .errors import SolveFailed
from .heat import advance_heat, extremes, factors
from .integrators.implicit_euler import step
from .integrators.outside import Outside, Points
from .integrators.report import StepReport
from .plastic import flow, largest_plastic_strain
from .present_model import present_model
from .scene import Scene
from .simulation import Simulation
from .spin import turn_pieces
from .state import State
from .tracks import TrackReader

MAX_SOLVES = 5  # linear solves per step; contacts are content after one or two in most steps

OnSample = Callable[[dict[str, Floats]], None]


@dataclass(frozen=True)
class FrameReport:
    """How the steps of one frame went.

    Attributes:
        iterations: Iterations of the linear solver, over all steps.
        residual: The worst of the steps.
        converged: Whether every step reached the tolerance.
        not_converged: Steps that did not.
        unsettled: Steps whose contacts still wanted to change after the last solve allowed.
        solves: Linear solves, over all steps.
        contacts: Contacts in the last step.
        inverted_tets: Most tets turned inside out after a step.
        milliseconds: Time for the frame.
        bodies: Further numbers of bodies, by key and by name: "largest_stress" [Pa] …, largest over the steps.
    """

    iterations: int
    residual: float
    converged: bool
    not_converged: int
    unsettled: int
    solves: int
    contacts: int
    inverted_tets: int
    milliseconds: float
    bodies: dict[str, dict[str, float]] = field(default_factory=dict)


def advance_frame(
    simulation: Simulation,
    frame: int,
    on_sample: OnSample,
    before_step: Callable[[], None] = lambda: None,
) -> FrameReport:
    """Moves a simulation from frame − 1 to `frame`.

    Args:
        simulation: Moved on.
        frame: The frame to reach.
        on_sample: Called `samples_per_frame` times with render positions [m] by key of the body, the last
            time with those at the frame.
        before_step: Called before every step; it may raise, and the simulation is then between two frames.

    Raises:
        SolveFailed: A step gave no numbers, or did not converge and the settings are strict.
    """
    started = clock.perf_counter()
    settings = simulation.scene.settings
    reports: list[StepReport] = []
    for number in range(1, settings.substeps + 1):
        # from whole numbers, so that a resumed bake gets the same times
        begin, end = (settings.time(frame - 1 + n / settings.substeps) for n in (number - 1, number))
        before_step()
        report = advance_step(simulation, begin, end)
        if settings.strict and not report.converged:
            raise SolveFailed("step-not-converged", frame=frame, residual=report.residual)
        reports.append(report)
        if number % (settings.substeps // settings.samples_per_frame) == 0:
            on_sample(render_positions(simulation.built, simulation.state))
    return FrameReport(
        iterations=sum(report.iterations for report in reports),
        residual=max(report.residual for report in reports),
        converged=all(report.converged for report in reports),
        not_converged=sum(not report.converged for report in reports),
        unsettled=sum(not report.settled for report in reports),
        solves=sum(report.solves for report in reports),
        contacts=reports[-1].contacts,
        inverted_tets=max(report.inverted_tets for report in reports),
        milliseconds=1e3 * (clock.perf_counter() - started),
        bodies=_of_bodies(simulation, reports),
    )


def advance_step(simulation: Simulation, begin: float, end: float) -> StepReport:
    """Moves a simulation from one time to another [s] in one step; inputs are those of its end."""
    scene, tracks, built, state = simulation.scene, simulation.tracks, simulation.built, simulation.state
    advance_heat(built.heat, built.model, state, tracks, scene, begin, end)
    by_heat = factors(built.heat, built.model, state)
    model, dt = present_model(built, state, by_heat), end - begin
    gravity = gravity_at(scene, tracks, end)
    is_fixed, fixed_target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    springs, targets = [Points()], {}
    for pins in built.pins:
        stiffness = pins.stiffness(tracks, end)
        if stiffness > 0.0:
            targets[pins.key] = pins.targets(tracks, end)
            pins.hold(targets[pins.key], is_fixed, fixed_target)
            springs.append(pins.pull(state, model, targets[pins.key], stiffness, dt))
    places = [Place(c, np.vstack([c.pose(tracks, begin), c.pose(tracks, end)])) for c in built.colliders]
    held = is_fixed if is_fixed.any() else None
    contacts = ContactStep(built.contact_points, places, model, state, held, gravity, dt) if places else None

    def outside() -> Outside:
        act = contacts.act() if contacts else Points()
        return Outside(gravity, held, fixed_target, points=Points.together(*springs, act), contact_count=len(act))

    def respond(x: Floats, v: Floats) -> Outside | None:
        return outside() if contacts and contacts.update(x) else None

    before = state.x.copy()
    report = step(model, state, outside(), dt, scene.settings, respond=respond, max_solves=MAX_SOLVES)
    turn_pieces(model, state, before, held, dt)
    if contacts:
        contacts.remember(state)
    for pins in built.pins:
        pins.remember(state, model, targets.get(pins.key), dt)
    state.time = end
    flow(built.plastic, built.model, model, state, tracks, dt, by_heat)
    left = break_up(simulation, model, held, end)
    return replace(report, splits_left=left) if left else report


def _of_bodies(simulation: Simulation, reports: list[StepReport]) -> dict[str, dict[str, float]]:
    """Returns what a frame's report says of bodies: key → name → number."""
    built, state = simulation.built, simulation.state
    found: dict[str, dict[str, float]] = {}
    for told in (
        extremes(built.heat, built.model, state),
        largest_plastic_strain(built.plastic, built.model, state),
        broken(simulation),
        {key: {"splits_left": max(report.splits_left[key] for report in reports)} for key in reports[-1].splits_left},
    ):
        for key, numbers in told.items():
            found.setdefault(key, {}).update(numbers)
    return found


def render_positions(built: Built, state: State) -> dict[str, Floats]:
    """Returns the render vertices of every body [m], (n, 3), by its key."""
    positions = {}
    for number, body in enumerate(built.bodies):
        out = np.empty((len(body.binding.tet), 3))
        interpolate(state.x, built.model.tets[body.range.tets], body.binding, out)
        for pins in built.pins:
            if pins.body == number:
                pins.correct(state, out)
        positions[body.key] = out
    return positions


def gravity_at(scene: Scene, tracks: TrackReader, time: float) -> Floats:
    """Returns g at a time [m/s²], (3,)."""
    return np.asarray(tracks.sample("gravity", time) if tracks.has("gravity") else scene.settings.gravity, np.float64)
