# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the bodies on in one step: the solves that find where they end.

A solve sees the turns and the planes of contacts as straight lines. Where bodies hit each other so hard that they go
half their way through each other in a step, that is not what happens, and contacts do not become content. Such a step
is taken back, and taken again in two halves, these again if need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Bools, Floats, floats
from .boundary import Boundary, boundary
from .contact.parting import part_calmly
from .contact.pressed import loads
from .contact.response import ContactStep
from .contact.settling import MOST_WHEN_VIOLENT
from .core_pull import at_hinges
from .energy_gained import take_gain
from .gravity import gravity_at
from .integrators.bdf2 import LENGTH
from .integrators.implicit_euler import step
from .integrators.outside import Outside, Pairs, Points
from .integrators.report import StepReport
from .model import Model
from .pose_ahead import PoseAhead
from .present_contacts import present_contacts
from .quasistatic.progress import Progress
from .rigid_core import rigid_again
from .simulation import Simulation
from .spin import turn_pieces
from .state import State
from .topology import TETS
from .vertex_warp import is_any_warped

MOST_HALVINGS = 3  # of a step, so at most eight parts

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
) -> tuple[StepReport, Bools | None]:
    """Moves bodies from one time to another [s]; inputs are those of its end.

    Args:
        simulation: Moved on, but for what has happened to its bodies by then: flow, and breaking.
        model: The bodies as they are in this step.
        begin, end: The step.
        on_progress: Called before every solve of flesh.
        ahead: Where flesh that follows a pose goes; None: it stays where it is.
        halvings: How often the step has been halved.

    Returns:
        How it went, and which nodes were held, (n,), None: none.
    """
    built, state, dt = simulation.built, simulation.state, end - begin
    before = State(floats(state.x), floats(state.v), state.time, dict(state.fields))
    gravity = gravity_at(simulation.scene, simulation.tracks, end)
    if model.cores:
        model = at_hinges(simulation.scene, model, simulation.tracks, begin, end)
    bounds = boundary(simulation, model, begin, end, ahead)
    contacts = present_contacts(simulation, model, bounds.held, gravity, begin, end)
    stepping = built.flesh.stepping if built.flesh else None
    solves = _Solves(model, gravity, bounds, contacts, stepping)
    report = solves.step(simulation, dt, on_progress)
    # among pieces something always goes astray, and they part with energy that cracks let go
    in_pieces = model.pattern.island_count > (built.whole or built).model.pattern.island_count
    may_halve = stepping is None and not in_pieces and halvings < MOST_HALVINGS
    if contacts and may_halve and contacts.is_astray(before.v, floats(state.v)):
        state.x, state.v, state.time, state.fields = before.x, before.v, before.time, before.fields
        middle = 0.5 * (begin + end)
        one, _ = move(simulation, model, begin, middle, on_progress, ahead, halvings + 1)
        other, held = move(simulation, model, middle, end, on_progress, ahead, halvings + 1)
        return _together(report, one, other), held
    if stepping or is_any_warped(model):
        turn_pieces(model, state, before.x, _not_turned(model, state, bounds.held), dt)
    if contacts:
        contacts.remember(state)
        if report.stored and not in_pieces:
            take_gain(contacts, model, gravity, before, state, report.stored, bounds)
        part_calmly(contacts, state)
        # substeps find out themselves which contacts push
        is_settled = contacts.is_settled or solves.newmark is not None
        report = replace(report, settled=report.settled if is_settled else False, loads=loads(contacts))
    if contacts and model.cores:
        state.v = rigid_again(model, state.x, state.v)
    simulation.contacts = contacts
    bounds.remember(simulation, model, dt)
    return report, bounds.held


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
    ) -> None:
        self.model, self.gravity, self.bounds, self.contacts, self.stepping = model, gravity, bounds, contacts, stepping
        self.newmark = stepping.newmark if stepping else None
        self.has_skins = bool(contacts and contacts.skins)
        # skins may make bodies of the two schemes touch
        self.is_mixed = bool(
            stepping and self.newmark and self.has_skins and (stepping.euler or stepping.others(model))
        )
        self.is_lively = self.newmark is not None and not self.is_mixed

    def step(self, simulation: Simulation, dt: float, on_progress: OnProgress) -> StepReport:
        """Moves the state on by `dt` [s]."""
        contacts, state = self.contacts, simulation.state
        return step(
            self.model, state, self.outside(self.is_lively), dt,
            simulation.scene.settings, respond=self.respond, max_solves=MOST_WHEN_VIOLENT, flesh=self.stepping,
            on_iteration=lambda solves, residual: on_progress(Progress(solves, residual, 0)),
            lively=(lambda: self.outside(True)) if self.is_mixed else None,
            turns=(TETS in state.fields or self.has_skins) and not is_any_warped(self.model),
            follow=contacts.follow if contacts and self.has_skins else None, kept=simulation.kept,
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


def _together(lost: StepReport, one: StepReport, other: StepReport) -> StepReport:
    """Returns how a step went that was taken back, and then taken in two parts."""
    both = 0.5 * (one.loads + other.loads) if one.loads is not None and other.loads is not None else None
    return replace(
        other,
        iterations=lost.iterations + one.iterations + other.iterations,
        residual=max(one.residual, other.residual),
        converged=one.converged and other.converged,
        settled=one.settled and other.settled,
        solves=lost.solves + one.solves + other.solves,
        inverted_tets=max(one.inverted_tets, other.inverted_tets),
        loads=both,
    )
