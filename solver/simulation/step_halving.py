# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the bodies on in one step: an attempt, its verdict, and other attempts where it has gone wrong.

A step that is refused is taken back, and taken again in two halves, these again if need be. How far that goes is
decided by how the parts go alone: what is small turns in the time that it takes to move by its size, whatever the step.
Where pieces of broken bodies tumble over each other, one step after the other is refused. So the next steps of the
frame begin with parts as short as the last one needed in the end, without attempts that would only be taken back, until
their contacts settle within a few solves.
A step in which as much energy as there was comes from nothing also in its shortest parts cannot be right, and is an
error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.rigid_core import rigid_velocities
from ..contact.contact_loads import collider_loads
from ..contact.overlap_damping import damp_separation
from ..contact.sleeping_contacts import SleepingContacts
from ..integrators.solver_context import StepWorkspace
from ..integrators.step_report import StepReport
from ..integrators.system.relinearised_step import elastic_energies
from ..mechanics.kinetic_energy import kinetic_energy_bound
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import HALVINGS_FIELD
from ..runtime.arrays import Bools, Floats, floats
from ..runtime.errors import SolveFailed
from .flesh_equilibrium_interpolation import PoseInterpolation
from .recently_moved_colliders import has_moved_colliders
from .simulated_scene import SimulatedScene
from .sleeping_bodies import wake_groups
from .solve_progress import OnProgress
from .step_attempt import StepAttempt
from .step_boundary_conditions import end_forces
from .step_interval import MAX_HALVINGS, StepPart
from .step_verdict import (
    MAX_HALVINGS_IN_PIECES,
    EnergyVerdict,
    Verdict,
    contact_verdict,
    energy_verdict,
    joint_verdict,
)

MAX_ENERGY_GAIN_RATIO = 1.0  # energy from nothing that is left over what there was, from which a step cannot be right
MAX_LIFT_RATIO = 0.1  # in sizes of bodies: energy that lifts them by less than that is not counted as such
MAX_EASY_SOLVES = 4  # of a part on average, up to which the next step is taken in parts twice as long
MAX_STIR_RATIO = 0.01  # in sizes of bodies: nor is energy that moves them by less than that in a step


def take_step(
    simulation: SimulatedScene,
    model: Model,
    part: StepPart,
    on_progress: OnProgress,
    pose_path: PoseInterpolation | None,
) -> tuple[StepReport, Bools | None]:
    """Moves bodies on over a step or a part of one; inputs are those of its end.

    Args:
        simulation: Moved on, but for what features do after the step: flow, and breaking.
        model: The bodies as they are in the whole step.
        part: Which part of the step.
        on_progress: Called before every solve of flesh.
        pose_path: The way of flesh that follows a pose; None: it stays where it is.

    Returns:
        The report, and which nodes were held, (n,), None: none.

    Raises:
        SolveFailed: Also in the shortest parts energy came from nothing, more than there was, or numbers did not
            stay finite.
    """
    known = simulation.state.fields.get(HALVINGS_FIELD)
    if known is not None and part.whole_start is None:
        before, shares = simulation.state.view(), part.shares(int(known[0]))
        merged, is_fixed = _take_parts(simulation, model, None, before, shares, on_progress, pose_path)
        _check_gained_energy(simulation, model, merged, part)
        if merged.settled and merged.solves <= MAX_EASY_SOLVES * len(shares):
            _remember_halvings(simulation.state, int(known[0]) - 1)
        return merged, is_fixed
    attempt = StepAttempt(simulation, model, part, pose_path)
    if attempt.exceeds_limit_in_substeps():
        part = replace(part, is_by_euler=True)
        attempt = StepAttempt(simulation, model, part, pose_path)
    try:
        report = attempt.solve(simulation, on_progress)
    except SolveFailed as failed:
        if failed.kind != "solve-not-finite" or not attempt.may_repeat or not part.may_halve:
            raise
        parts = part.halves(attempt.may_turn_solves or attempt.turns_solves)
        return _retry(simulation, model, attempt, None, parts, on_progress, pose_path)
    if attempt.exceeds_limit_in_substeps():
        same = [replace(part, is_by_euler=True)]
        return _retry(simulation, model, attempt, report, same, on_progress, pose_path)
    verdict, energy = contact_verdict(attempt, report), None
    if verdict is Verdict.ACCEPT:
        verdict = joint_verdict(attempt)
    if verdict is Verdict.ACCEPT:
        attempt.end_motion()
        if _wake_felt(simulation, attempt):
            return take_step(simulation, model, part, on_progress, pose_path)
        energy = energy_verdict(attempt, report)
        verdict = energy.verdict
    if verdict is Verdict.TURN_SOLVES:
        same = [replace(part, turns_solves=True)]
        return _retry(simulation, model, attempt, report, same, on_progress, pose_path)
    if verdict is Verdict.HALVE or energy is None:
        parts = part.halves(attempt.turns_solves)
        return _retry(simulation, model, attempt, report, parts, on_progress, pose_path)
    report = _end_step(attempt, energy, report)
    if attempt.sleeping is not None and attempt.contacts is not None:
        of = attempt.contacts, attempt.model, attempt.before, attempt.state, attempt.gravity
        attempt.sleeping.fall_asleep(*of, attempt.is_piece)
    simulation.contacts = attempt.contacts
    end_forces(simulation, attempt.model, part)
    for feature in simulation.built.features:
        feature.after_part(attempt.model, simulation.state, attempt.contacts)
    if simulation.built.pieces is not None and attempt.contacts is not None:
        from .brittle.step_contacts import FastPartContacts

        simulation.part_contacts.append(FastPartContacts(attempt.contacts, attempt.before.v, attempt.gravity))
    return replace(report, halvings=part.halvings), attempt.held_nodes


def _wake_felt(simulation: SimulatedScene, attempt: StepAttempt) -> bool:
    """Undoes an attempt in which something pushed what sleeps, and wakes that; returns whether there was such."""
    if attempt.sleeping is None or attempt.contacts is None:
        return False
    of = attempt.contacts, attempt.model, attempt.state, attempt.gravity, attempt.is_piece
    felt = attempt.sleeping.felt_groups(*of)
    if not len(felt):
        return False
    attempt.undo()
    wake_groups(simulation.state, attempt.model, felt)
    return True


def _retry(
    simulation: SimulatedScene,
    model: Model,
    attempt: StepAttempt,
    report: StepReport | None,
    parts: list[StepPart],
    on_progress: OnProgress,
    pose_path: PoseInterpolation | None,
) -> tuple[StepReport, Bools | None]:
    """Undoes an attempt, with its report if it has one, and takes other parts instead."""
    attempt.undo()
    whole_start, is_in_pieces = attempt.part.whole_start, attempt.is_in_pieces
    if whole_start is not None:
        return _take_parts(simulation, model, report, whole_start, parts, on_progress, pose_path)
    merged, is_fixed = _take_parts(simulation, model, report, attempt.before, parts, on_progress, pose_path)
    _check_gained_energy(simulation, attempt.model, merged, attempt.part)
    if is_in_pieces:
        _remember_halvings(simulation.state, min(merged.halvings, MAX_HALVINGS_IN_PIECES))
    return merged, is_fixed


def _remember_halvings(state: State, halvings: int) -> None:
    """Lets the next step of the frame begin with parts that have been halved so often."""
    state.fields.pop(HALVINGS_FIELD, None)
    if halvings > 0:
        state.fields[HALVINGS_FIELD] = np.array([halvings], np.int32)


def _take_parts(
    simulation: SimulatedScene,
    model: Model,
    refused: StepReport | None,
    whole_start: State,
    parts: list[StepPart],
    on_progress: OnProgress,
    pose_path: PoseInterpolation | None,
) -> tuple[StepReport, Bools | None]:
    """Takes parts of a step that began with `whole_start`, after an attempt that was refused; None: after none."""
    results = [
        take_step(simulation, model, replace(part, whole_start=whole_start), on_progress, pose_path) for part in parts
    ]
    return _merge_reports(refused, [one for one, _ in results]), results[-1][1]


def _end_step(attempt: StepAttempt, energy: EnergyVerdict, report: StepReport) -> StepReport:
    """Takes energy from nothing out of an accepted step, damps what parts, and returns the whole report."""
    model, state, part, contacts, gain = attempt.model, attempt.state, attempt.part, attempt.contacts, energy.gain
    # once something has broken, turns of solves are no rotations, which could keep the energy out
    if gain and energy.has_excess and part.whole_start is not None and not attempt.is_in_pieces:
        workspace, dt = attempt.context.workspace(model), part.dt * 2**part.halvings
        energies = _reference_energies(model, part.whole_start, attempt.gravity, dt, workspace)
        report = replace(report, gained_energy=gain.share_of(energy.excess, energies, model))
    if contacts:
        if gain:
            gain.remove(model, state)
        if attempt.damps_separation:
            damp_separation(contacts, state)
        loads = collider_loads(contacts)
        if attempt.sleeping is not None and attempt.sleeping.nodes.any():
            loads += SleepingContacts.from_state(state).collider_loads(contacts)
        # substeps find out themselves which contacts push
        is_settled = (contacts.is_converged or attempt.newmark is not None) and not energy.has_excess
        report = replace(report, settled=report.settled if is_settled else False, loads=loads)
    if contacts and model.cores:
        state.v = rigid_velocities(model, state.x, state.v)
    return report


def _reference_energies(model: Model, start: State, gravity: Floats, dt: float, workspace: StepWorkspace) -> Floats:
    """Returns what energy islands had where a step began, with what lifts and stirs them a little [J], (k,).

    Args:
        model: The bodies.
        start: The state there.
        gravity: g [m/s²], (3,).
        dt: Of the step as a whole [s].
        workspace: For records of tets.
    """
    row, count = model.pattern.island_of_row, model.pattern.island_count
    size = np.cbrt(np.bincount(row[model.tets[:, 0]], model.volume, count))
    weight = np.bincount(row, model.mass * model.gravity_scale, count) * np.linalg.norm(gravity)
    stirred = 0.5 * np.bincount(row, model.mass, count) * (MAX_STIR_RATIO * size / dt) ** 2
    return floats(
        kinetic_energy_bound(model, start.v, gravity, dt)
        + elastic_energies(model, start.x, workspace)
        + weight * MAX_LIFT_RATIO * size
        + stirred
    )


def _check_gained_energy(simulation: SimulatedScene, model: Model, report: StepReport, part: StepPart) -> None:
    """Raises SolveFailed where a whole step left more energy from nothing than there was.

    Colliders that move, or have come into a body a moment ago, and hands may squeeze bodies without limit, and bodies
    that flow lose again what they store: such steps count as unsettled instead.
    """
    if report.gained_energy is None or not report.gained_energy.max(initial=0.0) > MAX_ENERGY_GAIN_RATIO:
        return
    built, tracks = simulation.built, simulation.tracks
    row = int(model.pattern.island_start[int(report.gained_energy.argmax())])
    body = next(body for body in built.bodies if body.range.nodes.start <= row < body.range.nodes.stop)
    if any(flowing.key == body.key for flowing in built.plastic):
        return
    if any(force.may_squeeze for force in built.forces):
        return
    if has_moved_colliders(built, tracks, part.begin, part.end):
        return
    raise SolveFailed("step-gains-energy", name=body.name, time=part.end, parts=f"{2**MAX_HALVINGS:,}")


def _merge_reports(refused: StepReport | None, parts: list[StepReport]) -> StepReport:
    """Returns how a step went that was taken back, and then taken in parts."""
    loads = [part.loads for part in parts if part.loads is not None]
    gained = [part.gained_energy for part in parts if part.gained_energy is not None]
    return replace(
        parts[-1],
        iterations=(refused.iterations if refused else 0) + sum(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        converged=all(part.converged for part in parts),
        settled=all(part.settled for part in parts),
        solves=(refused.solves if refused else 0) + sum(part.solves for part in parts),
        inverted_tets=max(part.inverted_tets for part in parts),
        loads=np.mean(loads, axis=0) if len(loads) == len(parts) else None,
        gained_energy=np.sum(gained, axis=0) if gained else None,
        halvings=max(part.halvings for part in parts),
    )
