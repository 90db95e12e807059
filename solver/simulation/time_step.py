# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the bodies on in one step: the solves that find where they end.

A solve sees the turns and the planes of contacts as straight lines. Where bodies hit each other so hard that they go
half their way through each other in a step, or turn far in it while they touch something, that is not what happens:
contacts do not become content, or energy comes from nothing. Such a step is taken back, and taken again in two halves,
these again if need be. How far that goes is told by how the parts go alone: what is small turns in the time that it
takes to move by its size, whatever the step.

Where only colliders are touched, most steps need none of that. They are solved with the rotations of their start; those
that go wrong so are taken again with rotations that follow, and the energy of the bodies weighed. Between bodies they
follow always, and turns of solves as a whole are made as rotations where energy came from nothing otherwise. A step in
which it does also in its shortest parts, as much as there was, cannot be right, and is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.external_forces import ExternalForces, PairForces, PointForces
from ..constraints.rigid_core import rigid_velocities
from ..constraints.rigid_core.core_drivers import model_with_core_axes
from ..contact.active_set.active_set import MAX_SOLVES_AT_IMPACT
from ..contact.contact_loads import collider_loads
from ..contact.contact_step import ContactStep
from ..contact.separation_damping import damp_separation
from ..integrators.bdf2 import PREVIOUS_DT
from ..integrators.implicit_euler import step
from ..integrators.solver_context import StepWorkspace
from ..integrators.step_input import ContactCallbacks, StepOptions
from ..integrators.step_report import StepReport
from ..integrators.system.relinearised_step import elastic_energies, kinetic_energies
from ..mechanics.model import Model
from ..mechanics.rigid_rotation import chord_stretch_energy, rotate_free_islands, with_finite_rotations
from ..mechanics.state import State
from ..mechanics.topology import TETS_FIELD
from ..mechanics.vertex_warp import is_any_warped
from ..quasistatic.progress import Progress
from ..runtime.arrays import Bools, Floats, floats
from ..runtime.errors import SolveFailed
from ..scene.gravity import gravity_at
from .boundary_conditions import BoundaryConditions, boundary_conditions
from .energy_correction import energy_gain_in_step
from .pose_interpolation import PoseInterpolation
from .simulated_scene import SimulatedScene
from .step_contacts import make_contact_step

MAX_CONTACT_HALVINGS = 3  # of a step whose contacts between bodies are not content
MAX_HALVINGS = 14  # halvings of a step where what is stiff turns far, or energy comes from nothing
MAX_TURN_ENERGY_RATIO = (
    1.0e-3  # energy of a turn along straight lines over that of motion, from which rotations have to follow
)
MAX_TURN_ENERGY_RATIO_BREAKABLE = 0.1  # the same for bodies that may break: solved again so, a blow strains them less
MAX_ENERGY_GAIN_RATIO = 1.0  # energy from nothing that is left over what there was, from which a step cannot be right
LIFTED = 0.1  # in sizes of bodies: what lifts them by less than that is no such energy
STIRRED = 0.01  # in sizes of bodies: what moves them by less than that in a step is none either
ENERGY_CHECK_RESIDUAL = (
    0.01  # residual over what moves bodies from which a step is asked for energy out of nothing, or halved
)

if TYPE_CHECKING:
    from ..integrators.newton.dynamic_flesh import DynamicFlesh

OnProgress = Callable[[Progress], None]


def take_step(
    simulation: SimulatedScene,
    model: Model,
    begin: float,
    end: float,
    on_progress: OnProgress,
    ahead: PoseInterpolation | None,
    halvings: int = 0,
    leads: bool = False,
    whole: State | None = None,
) -> tuple[StepReport, Bools | None]:
    """Moves bodies from one time to another [s]; inputs are those of its end.

    Args:
        simulation: Moved on, but for what has happened to its bodies by then: flow, and breaking.
        model: The bodies as they are in this step.
        begin, end: The step.
        on_progress: Called before every solve of flesh.
        ahead: Where flesh that follows a pose goes; None: it stays where it is.
        halvings: How often the step has been halved.
        leads: Whether turns of solves are made as rotations, which then follow also where only colliders are touched.
        whole: Where the step began that this is a part of; None: it is no part.

    Returns:
        How it went, and which nodes were held, (n,), None: none.

    Raises:
        SolveFailed: Also in the shortest parts energy came from nothing, more than there was, or numbers did not
            stay finite.
    """
    built, state, dt = simulation.built, simulation.state, end - begin
    before = State(floats(state.x), floats(state.v), state.time, dict(state.fields))
    gravity = gravity_at(simulation.scene, simulation.tracks, end)
    if model.cores:
        model = model_with_core_axes(simulation.scene, model, simulation.tracks, begin, end)
    bounds = boundary_conditions(simulation, model, begin, end, ahead)
    contacts = make_contact_step(simulation, model, bounds.is_fixed, gravity, begin, end)
    stepping = built.flesh.dynamics if built.flesh else None
    # among pieces something always goes astray, and they part with energy that cracks let go
    in_pieces = model.pattern.island_count > (built.unbroken or built).model.pattern.island_count
    moving = _kinetic_energy_bound(model, before.v, gravity, dt)
    most_turn = MAX_TURN_ENERGY_RATIO if built.fracture is None else MAX_TURN_ENERGY_RATIO_BREAKABLE
    if contacts is not None and not contacts.surfaces and len(contacts.contact_set) > 0:
        leads = leads or _spins_fast(model, before, most_turn * moving, dt)
    solves = _StepSolver(model, gravity, bounds, contacts, stepping, leads, TETS_FIELD not in state.fields)
    may_repeat = contacts is not None and stepping is None and not in_pieces

    def again(
        report: StepReport | None, leads: bool, *parts: tuple[float, float, int]
    ) -> tuple[StepReport, Bools | None]:
        """Takes the step back, and again in parts: when each begins and ends, and how often it has been halved."""
        state.x, state.v, state.time, state.fields = before.x, before.v, before.time, dict(before.fields)
        moved = [take_step(simulation, model, *p[:2], on_progress, ahead, p[2], leads, whole or before) for p in parts]
        together = _merge_reports(report, [one for one, _ in moved])
        if whole is None:
            _check_gained_energy(simulation, model, together, begin, end)
        return together, moved[-1][1]

    middle = 0.5 * (begin + end)
    halves = (begin, middle, halvings + 1), (middle, end, halvings + 1)
    try:
        report = solves.step(simulation, dt, on_progress, halvings < MAX_HALVINGS)
    except SolveFailed as failed:
        if failed.kind != "solve-not-finite" or not may_repeat or halvings >= MAX_HALVINGS:
            raise
        return again(None, solves.may_lead or solves.leads, *halves)

    if (
        contacts
        and may_repeat
        and solves.may_relinearise
        and _has_failed(contacts, model, before, state, moving, most_turn, dt)
    ):
        return again(report, True, (begin, end, halvings))
    most = MAX_CONTACT_HALVINGS if solves.has_skins else MAX_HALVINGS
    # between bodies: what is so stiff that round-off hides its motion is solved better in shorter steps
    is_rough = solves.leads and solves.has_skins and not report.converged and report.residual > ENERGY_CHECK_RESIDUAL
    is_astray = bool(contacts and may_repeat and not solves.may_relinearise) and (
        ((report.rotates_far or is_rough) and halvings < MAX_HALVINGS)
        or (halvings < most and contacts is not None and contacts.has_diverged(before.v, floats(state.v)))
    )
    gain = None
    if not is_astray and (stepping or is_any_warped(model)):
        rotate_free_islands(model, state, before.x, _nodes_not_to_rotate(model, state, bounds.is_fixed), dt)
    if contacts and not is_astray:
        contacts.remember(state)
        if report.stored and not in_pieces:
            gain = energy_gain_in_step(contacts, model, gravity, before, state, report.stored, bounds)
        elif (
            may_repeat
            and solves.may_relinearise
            and report.motion_residual > ENERGY_CHECK_RESIDUAL
            and not model.methods
        ):
            workspace = simulation.solver_context.workspace(model)
            stored = elastic_energies(model, before.x, workspace), elastic_energies(model, state.x, workspace)
            rough = energy_gain_in_step(contacts, model, gravity, before, state, stored, bounds)
            if rough and (rough.energy > rough.tolerance).any():
                return again(report, True, (begin, end, halvings))
    left = gain.left(model, state) if gain and may_repeat else np.zeros(0)
    stays = bool(left.any())
    if stays and solves.may_lead:
        return again(report, True, (begin, end, halvings))
    if is_astray or (stays and halvings < MAX_HALVINGS and (solves.leads or not solves.has_skins)):
        return again(report, solves.leads, *halves)
    if gain and stays and whole is not None:
        report = replace(
            report,
            gained_energy=gain.share_of(
                left, _had(model, whole, gravity, dt * 2**halvings, simulation.solver_context.workspace(model)), model
            ),
        )
    if contacts:
        if gain:
            gain.remove(model, state)
        damp_separation(contacts, state)
        # substeps find out themselves which contacts push
        is_settled = (contacts.is_converged or solves.newmark is not None) and not stays
        report = replace(report, settled=report.settled if is_settled else False, loads=collider_loads(contacts))
    if contacts and model.cores:
        state.v = rigid_velocities(model, state.x, state.v)
    simulation.contacts = contacts
    bounds.remember(simulation, model, dt)
    return report, bounds.is_fixed


def _kinetic_energy_bound(model: Model, v: Floats, gravity: Floats, dt: float) -> Floats:
    """Returns what energy of motion islands have at v [m/s], (n, 3), or have after Δt = `dt` [s] in free fall [J]."""
    return np.maximum(
        kinetic_energies(model, v), kinetic_energies(model, v + dt * model.gravity_scale[:, None] * gravity)
    )


def _had(model: Model, whole: State, gravity: Floats, dt: float, workspace: StepWorkspace) -> Floats:
    """Returns what energy islands had where a step began, with what lifts and stirs them a little [J], (k,).

    Args:
        model: The bodies.
        whole: Where it began.
        gravity: g [m/s²], (3,).
        dt: Of the step as a whole [s].
        workspace: For records of tets.
    """
    row, count = model.pattern.island_of_row, model.pattern.island_count
    size = np.cbrt(np.bincount(row[model.tets[:, 0]], model.volume, count))
    weight = np.bincount(row, model.mass * model.gravity_scale, count) * np.linalg.norm(gravity)
    stirred = 0.5 * np.bincount(row, model.mass, count) * (STIRRED * size / dt) ** 2
    return floats(
        _kinetic_energy_bound(model, whole.v, gravity, dt)
        + elastic_energies(model, whole.x, workspace)
        + weight * LIFTED * size
        + stirred
    )


def _check_gained_energy(
    simulation: SimulatedScene, model: Model, report: StepReport, begin: float, end: float
) -> None:
    """Raises SolveFailed where a whole step from `begin` to `end` [s] left more energy from nothing than there was.

    Colliders that move may squeeze bodies without limit: such steps count as unsettled instead.
    """
    if report.gained_energy is None or not report.gained_energy.max(initial=0.0) > MAX_ENERGY_GAIN_RATIO:
        return
    built, tracks = simulation.built, simulation.tracks
    if any((one.pose(tracks, begin) != one.pose(tracks, end)).any() for one in built.colliders):
        return
    row = int(model.pattern.island_start[int(report.gained_energy.argmax())])
    name = next(body.name for body in built.bodies if body.range.nodes.start <= row < body.range.nodes.stop)
    raise SolveFailed("step-gains-energy", name=name, time=end, parts=f"{2**MAX_HALVINGS:,}")


def _spins_fast(model: Model, before: State, most: Floats, dt: float) -> bool:
    """Whether an island that goes on as it turns now gets much energy by doing so along straight lines.

    Args:
        model, before: At the start of the step.
        most: What energy every island may get [J], (k,).
        dt: Δt [s].
    """
    return bool((_straight_line_turn_energy(model, before.x, before.x + dt * before.v, dt) > most).any())


def _straight_line_turn_energy(model: Model, x: Floats, end: Floats, dt: float) -> Floats:
    """Returns what energy islands get by a turn from x to `end` [m], (n, 3) each, along straight lines [J], (k,)."""
    start: np.ndarray = np.asarray(model.pattern.island_start, np.int64)
    _, angle = with_finite_rotations(start, model.mass, x, floats(end), np.ones(len(start) - 1, bool))
    return chord_stretch_energy(model, angle, dt)


def _has_failed(
    contacts: ContactStep, model: Model, before: State, state: State, moving: Floats, most_turn: float, dt: float
) -> bool:
    """Whether a step of `dt` [s] with the rotations of its start has gone wrong, at contacts or by what turned.

    Islands may get `most_turn` of their energy of motion, `moving` [J], (k,), by turns along straight lines.
    """
    if contacts.has_diverged(before.v, floats(state.v)):
        return True
    # what was at rest is judged by the motion that it has got
    moving = np.maximum(moving, kinetic_energies(model, state.v))
    return bool((_straight_line_turn_energy(model, before.x, state.x, dt) > most_turn * moving).any())


def _nodes_not_to_rotate(model: Model, state: State, held: Bools | None) -> Bools | None:
    """Returns which nodes are held, (n,), or of bodies whose scheme or core has made a turn of their motion already."""
    has_past = state.fields.get(PREVIOUS_DT)
    has_past = None if has_past is None or not has_past.any() else has_past
    if has_past is None and not model.cores:
        return held
    which = np.zeros(model.node_count, bool) if held is None else held.copy()
    for body, length in zip(model.bodies, has_past, strict=True) if has_past is not None else ():
        which[body.nodes] |= length > 0.0
    for core in model.cores:
        which[core.nodes] = True
    return which


class _StepSolver:
    """What the solves of a step ask for."""

    def __init__(
        self,
        model: Model,
        gravity: Floats,
        bounds: BoundaryConditions,
        contacts: ContactStep | None,
        stepping: DynamicFlesh | None,
        leads: bool,
        is_whole: bool,
    ) -> None:
        self.model, self.gravity, self.bounds, self.contacts, self.dynamics = model, gravity, bounds, contacts, stepping
        self.newmark = stepping.newmark if stepping else None
        self.has_skins = bool(contacts and contacts.surfaces)
        # skins may make bodies of the two schemes touch
        self.is_mixed = bool(
            stepping and self.newmark and self.has_skins and (stepping.euler or stepping.corotational_bodies(model))
        )
        # rotations of what touches colliders alone follow where they have to
        may_turn = stepping is None and contacts is not None and not is_any_warped(model)
        self.leads = may_turn and is_whole and leads
        self.relinearises = may_turn and (self.has_skins or leads)
        self.may_lead = may_turn and is_whole and self.has_skins and not leads
        self.may_relinearise = may_turn and not self.relinearises and not len(model.cores)
        if contacts and self.relinearises and not self.has_skins:
            contacts.keep_earliest()
        self.is_substepped = self.newmark is not None and not self.is_mixed

    def step(self, simulation: SimulatedScene, dt: float, on_progress: OnProgress, may_be_shorter: bool) -> StepReport:
        """Moves the state on by `dt` [s]."""
        contacts, state = self.contacts, simulation.state
        relinearises = TETS_FIELD in state.fields or self.has_skins or self.relinearises
        callbacks = ContactCallbacks(
            update=self.respond,
            line_search=contacts.line_search if contacts and (self.has_skins or self.relinearises) else None,
            substep_forces=(lambda: self.external_forces(True)) if self.is_mixed else None,
        )
        options = StepOptions(
            max_solves=MAX_SOLVES_AT_IMPACT,
            flesh=self.dynamics,
            relinearises=relinearises and not is_any_warped(self.model),
            makes_rotations=self.leads,
            may_abandon=may_be_shorter,
            on_iteration=lambda solves, residual: on_progress(Progress(solves, residual, 0)),
        )
        return step(
            self.model,
            state,
            self.external_forces(self.is_substepped),
            dt,
            simulation.scene.settings,
            callbacks,
            options,
            simulation.solver_context,
        )

    def external_forces(self, is_lively: bool) -> ExternalForces:
        """Returns what acts from outside; lively is what finds out itself in substeps when contacts push."""
        contacts, bounds = self.contacts, self.bounds
        if contacts and self.newmark and is_lively:
            contacts.activate_all(self.newmark.part.tets)
        act, pairs = contacts.spring_forces() if contacts else (PointForces(), PairForces())
        normals, across = contacts.normals() if contacts and is_lively else (None, None)
        return ExternalForces(
            self.gravity,
            bounds.is_fixed,
            bounds.fixed_target,
            None,
            PointForces.concatenate(bounds.springs, act),
            pairs,
            contact_count=len(act),
            contact_normals=normals,
            pair_normals=across,
            is_frozen=contacts.frozen_nodes() if contacts else None,
            turns=contacts.rotation_only_islands() if contacts else None,
        )

    def respond(self, x: Floats, v: Floats, is_wrong: Bools | None = None) -> ExternalForces | None:
        """Takes the end of a solve, x [m] and v [m/s], (n, 3) each; returns what acts instead, None when content."""
        wants_more = self.contacts is not None and self.contacts.update(x, is_wrong)
        return self.external_forces(self.is_substepped) if wants_more else None


def _merge_reports(lost: StepReport | None, parts: list[StepReport]) -> StepReport:
    """Returns how a step went that was taken back, and then taken in parts."""
    told = [part.loads for part in parts if part.loads is not None]
    gained = [part.gained_energy for part in parts if part.gained_energy is not None]
    return replace(
        parts[-1],
        iterations=(lost.iterations if lost else 0) + sum(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        converged=all(part.converged for part in parts),
        settled=all(part.settled for part in parts),
        solves=(lost.solves if lost else 0) + sum(part.solves for part in parts),
        inverted_tets=max(part.inverted_tets for part in parts),
        loads=np.mean(told, axis=0) if len(told) == len(parts) else None,
        gained_energy=np.sum(gained, axis=0) if gained else None,
    )
