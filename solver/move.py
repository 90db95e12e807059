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

from .arrays import Bools, Floats, floats
from .boundary import Boundary, boundary
from .built import Built
from .contact.parting import part_calmly
from .contact.pressed import loads
from .contact.response import ContactStep
from .contact.settling import MOST_WHEN_VIOLENT
from .core_pull import at_hinges
from .energy_gained import gain_in_step
from .errors import SolveFailed
from .gravity import gravity_at
from .integrators.bdf2 import LENGTH
from .integrators.implicit_euler import step
from .integrators.linearised import energy_stored, motion_energy
from .integrators.outside import Outside, Pairs, Points
from .integrators.report import StepReport
from .model import Model
from .pose_ahead import PoseAhead
from .present_contacts import present_contacts
from .quasistatic.progress import Progress
from .rigid_core import rigid_again
from .simulation import Simulation
from .spin import turn_energy, turn_pieces, with_turns
from .state import State
from .topology import TETS
from .vertex_warp import is_any_warped

MOST_HALVINGS = 3  # of a step whose contacts between bodies are not content
FINEST = 14  # halvings of a step where what is stiff turns far, or energy comes from nothing
TURNED = 1.0e-3  # energy of a turn along straight lines over that of motion, from which rotations have to follow
MOST_GAINED = 1.0  # energy from nothing that is left over what there was, from which a step cannot be right
LIFTED = 0.1  # in sizes of bodies: what lifts them by less than that is no such energy
STIRRED = 0.01  # in sizes of bodies: what moves them by less than that in a step is none either
ROUGH = 0.01  # residual over what moves bodies from which a step is asked for energy out of nothing, or halved

if TYPE_CHECKING:
    from .integrators.flesh import DynamicFlesh

OnProgress = Callable[[Progress], None]


def move(
    simulation: Simulation,
    model: Model,
    begin: float,
    end: float,
    on_progress: OnProgress,
    ahead: PoseAhead | None,
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
        model = at_hinges(simulation.scene, model, simulation.tracks, begin, end)
    bounds = boundary(simulation, model, begin, end, ahead)
    contacts = present_contacts(simulation, model, bounds.held, gravity, begin, end)
    stepping = built.flesh.stepping if built.flesh else None
    # among pieces something always goes astray, and they part with energy that cracks let go
    in_pieces = model.pattern.island_count > (built.whole or built).model.pattern.island_count
    moving = _moving(model, before.v, gravity, dt)
    if contacts is not None and not contacts.skins and len(contacts.touching) > 0:
        leads = leads or _spins(model, before, moving, dt)
    solves = _Solves(model, gravity, bounds, contacts, stepping, leads, TETS not in state.fields)
    may_repeat = contacts is not None and stepping is None and not in_pieces

    def again(
        report: StepReport | None, leads: bool, *parts: tuple[float, float, int]
    ) -> tuple[StepReport, Bools | None]:
        """Takes the step back, and again in parts: when each begins and ends, and how often it has been halved."""
        state.x, state.v, state.time, state.fields = before.x, before.v, before.time, dict(before.fields)
        moved = [move(simulation, model, *p[:2], on_progress, ahead, p[2], leads, whole or before) for p in parts]
        together = _together(report, [one for one, _ in moved])
        if whole is None:
            _check_gained(built, model, together, end)
        return together, moved[-1][1]

    middle = 0.5 * (begin + end)
    halves = (begin, middle, halvings + 1), (middle, end, halvings + 1)
    try:
        report = solves.step(simulation, dt, on_progress, halvings < FINEST)
    except SolveFailed as failed:
        if failed.kind != "solve-not-finite" or not may_repeat or halvings >= FINEST:
            raise
        return again(None, solves.may_lead or solves.leads, *halves)

    if contacts and may_repeat and solves.may_follow and _went_wrong(contacts, model, before, state, moving, dt):
        return again(report, True, (begin, end, halvings))
    most = MOST_HALVINGS if solves.has_skins else FINEST
    # between bodies: what is so stiff that round-off hides its motion is solved better in shorter steps
    is_rough = solves.leads and solves.has_skins and not report.converged and report.residual > ROUGH
    is_astray = bool(contacts and may_repeat and not solves.may_follow) and (
        ((report.turns_far or is_rough) and halvings < FINEST)
        or (halvings < most and contacts is not None and contacts.is_astray(before.v, floats(state.v)))
    )
    gain = None
    if not is_astray and (stepping or is_any_warped(model)):
        turn_pieces(model, state, before.x, _not_turned(model, state, bounds.held), dt)
    if contacts and not is_astray:
        contacts.remember(state)
        if report.stored and not in_pieces:
            gain = gain_in_step(contacts, model, gravity, before, state, report.stored, bounds)
        elif may_repeat and solves.may_follow and report.motion_residual > ROUGH and not model.methods:
            stored = energy_stored(model, before.x), energy_stored(model, state.x)
            rough = gain_in_step(contacts, model, gravity, before, state, stored, bounds)
            if rough and (rough.gained > rough.least).any():
                return again(report, True, (begin, end, halvings))
    left = gain.left(model, state) if gain and may_repeat else np.zeros(0)
    stays = bool(left.any())
    if stays and solves.may_lead:
        return again(report, True, (begin, end, halvings))
    if is_astray or (stays and halvings < FINEST and (solves.leads or not solves.has_skins)):
        return again(report, solves.leads, *halves)
    if gain and stays and whole is not None:
        report = replace(report, gained=gain.share_of(left, _had(model, whole, gravity, dt * 2**halvings), model))
    if contacts:
        if gain:
            gain.take(model, state)
        part_calmly(contacts, state)
        # substeps find out themselves which contacts push
        is_settled = (contacts.is_settled or solves.newmark is not None) and not stays
        report = replace(report, settled=report.settled if is_settled else False, loads=loads(contacts))
    if contacts and model.cores:
        state.v = rigid_again(model, state.x, state.v)
    simulation.contacts = contacts
    bounds.remember(simulation, model, dt)
    return report, bounds.held


def _moving(model: Model, v: Floats, gravity: Floats, dt: float) -> Floats:
    """Returns what energy of motion islands have at v [m/s], (n, 3), or have after Δt = `dt` [s] in free fall [J]."""
    return np.maximum(motion_energy(model, v), motion_energy(model, v + dt * model.gravity_scale[:, None] * gravity))


def _had(model: Model, whole: State, gravity: Floats, dt: float) -> Floats:
    """Returns what energy islands had where a step began, with what lifts and stirs them a little [J], (k,).

    Args:
        model: The bodies.
        whole: Where it began.
        gravity: g [m/s²], (3,).
        dt: Of the step as a whole [s].
    """
    row, count = model.pattern.island_of_row, model.pattern.island_count
    size = np.cbrt(np.bincount(row[model.tets[:, 0]], model.volume, count))
    weight = np.bincount(row, model.mass * model.gravity_scale, count) * np.linalg.norm(gravity)
    stirred = 0.5 * np.bincount(row, model.mass, count) * (STIRRED * size / dt) ** 2
    return floats(
        _moving(model, whole.v, gravity, dt) + energy_stored(model, whole.x) + weight * LIFTED * size + stirred
    )


def _check_gained(built: Built, model: Model, report: StepReport, end: float) -> None:
    """Raises SolveFailed where energy from nothing was left in a step up to `end` [s] that is no part of another."""
    if report.gained is None or not report.gained.max(initial=0.0) > MOST_GAINED:
        return
    row = int(model.pattern.island_start[int(report.gained.argmax())])
    name = next(body.name for body in built.bodies if body.range.nodes.start <= row < body.range.nodes.stop)
    raise SolveFailed("step-gains-energy", name=name, time=end, parts=f"{2**FINEST:,}")


def _spins(model: Model, before: State, moving: Floats, dt: float) -> bool:
    """Whether an island that goes on as it turns now gets much energy by doing so along straight lines.

    Args:
        model, before: At the start of the step.
        moving: Energy of motion of every island [J], (k,).
        dt: Δt [s].
    """
    return bool((_energy_of_turn(model, before.x, before.x + dt * before.v, dt) > TURNED * moving).any())


def _energy_of_turn(model: Model, x: Floats, end: Floats, dt: float) -> Floats:
    """Returns what energy islands get by a turn from x to `end` [m], (n, 3) each, along straight lines [J], (k,)."""
    start: np.ndarray = np.asarray(model.pattern.island_start, np.int64)
    _, angle = with_turns(start, model.mass, x, floats(end), np.ones(len(start) - 1, bool))
    return turn_energy(model, angle, dt)


def _went_wrong(contacts: ContactStep, model: Model, before: State, state: State, moving: Floats, dt: float) -> bool:
    """Whether a step of `dt` [s] with the rotations of its start has gone wrong, at contacts or by what turned."""
    if contacts.is_astray(before.v, floats(state.v)):
        return True
    # what was at rest is judged by the motion that it has got
    moving = np.maximum(moving, motion_energy(model, state.v))
    return bool((_energy_of_turn(model, before.x, state.x, dt) > TURNED * moving).any())


def _not_turned(model: Model, state: State, held: Bools | None) -> Bools | None:
    """Returns which nodes are held, (n,), or of bodies whose scheme or core has made a turn of their motion already."""
    has_past = state.fields.get(LENGTH)
    has_past = None if has_past is None or not has_past.any() else has_past
    if has_past is None and not model.cores:
        return held
    which = np.zeros(model.node_count, bool) if held is None else held.copy()
    for body, length in zip(model.bodies, has_past, strict=True) if has_past is not None else ():
        which[body.nodes] |= length > 0.0
    for core in model.cores:
        which[core.nodes] = True
    return which


class _Solves:
    """What the solves of a step ask for."""

    def __init__(
        self,
        model: Model,
        gravity: Floats,
        bounds: Boundary,
        contacts: ContactStep | None,
        stepping: DynamicFlesh | None,
        leads: bool,
        is_whole: bool,
    ) -> None:
        self.model, self.gravity, self.bounds, self.contacts, self.stepping = model, gravity, bounds, contacts, stepping
        self.newmark = stepping.newmark if stepping else None
        self.has_skins = bool(contacts and contacts.skins)
        # skins may make bodies of the two schemes touch
        self.is_mixed = bool(
            stepping and self.newmark and self.has_skins and (stepping.euler or stepping.others(model))
        )
        # rotations of what touches colliders alone follow where they have to
        may_turn = stepping is None and contacts is not None and not is_any_warped(model)
        self.leads = may_turn and is_whole and leads
        self.follows = may_turn and (self.has_skins or leads)
        self.may_lead = may_turn and is_whole and self.has_skins and not leads
        self.may_follow = may_turn and not self.follows and not len(model.cores)
        if contacts and self.follows and not self.has_skins:
            contacts.meet_first()
        self.is_lively = self.newmark is not None and not self.is_mixed

    def step(self, simulation: Simulation, dt: float, on_progress: OnProgress, may_be_shorter: bool) -> StepReport:
        """Moves the state on by `dt` [s]."""
        contacts, state = self.contacts, simulation.state
        return step(
            self.model, state, self.outside(self.is_lively), dt,
            simulation.scene.settings, respond=self.respond, max_solves=MOST_WHEN_VIOLENT, flesh=self.stepping,
            on_iteration=lambda solves, residual: on_progress(Progress(solves, residual, 0)),
            lively=(lambda: self.outside(True)) if self.is_mixed else None,
            turns=(TETS in state.fields or self.has_skins or self.follows) and not is_any_warped(self.model),
            follow=contacts.follow if contacts and (self.has_skins or self.follows) else None,
            leads=self.leads, may_be_shorter=may_be_shorter,
            kept=simulation.kept,
        )  # fmt: skip

    def outside(self, is_lively: bool) -> Outside:
        """Returns what acts from outside; lively is what finds out itself in substeps when contacts push."""
        contacts, bounds = self.contacts, self.bounds
        if contacts and self.newmark and is_lively:
            contacts.let_push(self.newmark.part.tets)
        act, pairs = contacts.act() if contacts else (Points(), Pairs())
        normals, across = contacts.normals() if contacts and is_lively else (None, None)
        return Outside(
            self.gravity, bounds.held, bounds.target, None, Points.together(bounds.springs, act), pairs,
            contact_count=len(act), contact_normals=normals, pair_normals=across,
            is_done=contacts.done() if contacts else None, turns=contacts.only_turn() if contacts else None,
        )  # fmt: skip

    def respond(self, x: Floats, v: Floats, is_wrong: Bools | None = None) -> Outside | None:
        """Takes the end of a solve, x [m] and v [m/s], (n, 3) each; returns what acts instead, None when content."""
        wants_more = self.contacts is not None and self.contacts.update(x, is_wrong)
        return self.outside(self.is_lively) if wants_more else None


def _together(lost: StepReport | None, parts: list[StepReport]) -> StepReport:
    """Returns how a step went that was taken back, and then taken in parts."""
    told = [part.loads for part in parts if part.loads is not None]
    gained = [part.gained for part in parts if part.gained is not None]
    return replace(
        parts[-1],
        iterations=(lost.iterations if lost else 0) + sum(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        converged=all(part.converged for part in parts),
        settled=all(part.settled for part in parts),
        solves=(lost.solves if lost else 0) + sum(part.solves for part in parts),
        inverted_tets=max(part.inverted_tets for part in parts),
        loads=np.mean(told, axis=0) if len(told) == len(parts) else None,
        gained=np.sum(gained, axis=0) if gained else None,
    )
