# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the bodies on in one step: what holds, pulls and pushes them, and the solves that find where they end.

A solve sees the turns and the planes of contacts as straight lines. Where bodies hit each other so hard that they go
half their way through each other in a step, that is not what happens, and contacts do not become content. Such a step
is taken back, and taken again in two halves, these again if need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .arrays import Bools, Floats, floats
from .contact.parting import part_calmly
from .contact.settling import MOST_WHEN_VIOLENT
from .gravity import gravity_at
from .integrators.implicit_euler import step
from .integrators.outside import Outside, Pairs, Points
from .integrators.report import StepReport
from .model import Model
from .pose_ahead import PoseAhead
from .present_contacts import present_contacts
from .quasistatic.newton import Progress
from .simulation import Simulation
from .spin import turn_pieces
from .topology import TETS

MOST_HALVINGS = 3  # of a step, so at most eight parts


def move(
    simulation: Simulation,
    model: Model,
    begin: float,
    end: float,
    on_progress: Callable[[Progress], None],
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
    scene, tracks, built, state = simulation.scene, simulation.tracks, simulation.built, simulation.state
    resting, dt = built.flesh.resting_bodies if built.flesh else (), end - begin
    before = state.x, state.v, state.time, dict(state.fields)
    gravity = gravity_at(scene, tracks, end)
    is_fixed, fixed_target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    springs, targets = [Points()], {}
    if built.bones:  # before pins, which win where both hold a node
        bones = built.bones.besides(resting)
        bones.hold(tracks, end, is_fixed, fixed_target)
        springs.append(bones.pull(state, model, tracks, end))
    for pins in built.pins:
        stiffness = pins.stiffness(tracks, end) if pins.body not in resting else 0.0
        if stiffness > 0.0:
            targets[pins.key] = pins.targets(tracks, end)
            pins.hold(targets[pins.key], is_fixed, fixed_target)
            springs.append(pins.pull(state, model, targets[pins.key], stiffness, dt))
    if built.flesh and built.flesh.quasistatic:
        resting_nodes = built.flesh.quasistatic.part.nodes
        is_fixed[resting_nodes] = True
        fixed_target[resting_nodes] = ahead.at(end) if ahead else state.x[resting_nodes]
    held = is_fixed if is_fixed.any() else None
    contacts = present_contacts(simulation, model, held, gravity, begin, end)
    stepping = built.flesh.stepping if built.flesh else None

    newmark = stepping.newmark if stepping else None
    # skins may make bodies of the two schemes touch
    is_mixed = bool(stepping and newmark and contacts and contacts.skins and (stepping.euler or stepping.others(model)))

    def outside(is_lively: bool = newmark is not None and not is_mixed) -> Outside:
        if contacts and newmark and is_lively:
            contacts.let_push(newmark.part.tets)
        act, pairs = contacts.act() if contacts else (Points(), Pairs())
        normals, across = contacts.normals() if contacts and is_lively else (None, None)
        points = Points.together(*springs, act)
        return Outside(
            gravity, held, fixed_target, None, points, pairs, contact_count=len(act), contact_normals=normals,
            pair_normals=across, is_done=contacts.done() if contacts else None,
            turns=contacts.only_turn() if contacts else None,
        )  # fmt: skip

    def respond(x: Floats, v: Floats, is_wrong: Bools | None = None) -> Outside | None:
        return outside() if contacts and contacts.update(x, is_wrong) else None

    start, turns = state.x.copy(), TETS in state.fields or bool(contacts and contacts.skins)
    report = step(
        model, state, outside(), dt, scene.settings, respond=respond, max_solves=MOST_WHEN_VIOLENT, flesh=stepping,
        on_iteration=lambda solves, residual: on_progress(Progress(solves, residual, 0)),
        lively=(lambda: outside(True)) if is_mixed else None,
        turns=turns, follow=contacts.follow if contacts and contacts.skins else None,
    )  # fmt: skip
    is_whole = contacts is None or stepping is not None or halvings >= MOST_HALVINGS
    if contacts and not is_whole and contacts.is_astray(floats(before[1]), floats(state.v)):
        state.x, state.v, state.time, state.fields = before
        middle = 0.5 * (begin + end)
        one, _ = move(simulation, model, begin, middle, on_progress, ahead, halvings + 1)
        other, held = move(simulation, model, middle, end, on_progress, ahead, halvings + 1)
        return _together(report, one, other), held
    if stepping:
        turn_pieces(model, state, start, held, dt)
    if contacts:
        contacts.remember(state)
        part_calmly(contacts, state)
        # substeps find out themselves which contacts push
        is_settled = contacts.is_settled or newmark is not None
        report = report if is_settled else replace(report, settled=False)
    simulation.contacts = contacts
    for pins in built.pins:
        if pins.body not in resting:
            pins.remember(state, model, targets.get(pins.key), dt)
    return report, held


def _together(lost: StepReport, one: StepReport, other: StepReport) -> StepReport:
    """Returns how a step went that was taken back, and then taken in two parts."""
    return replace(
        other,
        iterations=lost.iterations + one.iterations + other.iterations,
        residual=max(one.residual, other.residual),
        converged=one.converged and other.converged,
        settled=one.settled and other.settled,
        solves=lost.solves + one.solves + other.solves,
        inverted_tets=max(one.inverted_tets, other.inverted_tets),
    )
