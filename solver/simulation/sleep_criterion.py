# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rigid bodies are at rest in a step, so that they may sleep, and which pushes what sleeps has to feel.

Rates are speeds over √(g L) of a body of size L: a body falls by its own size within √(2 L / g). In a heap of splinters
some jump to and fro between those that hold them, and contacts that push depth out move bodies that have no speed. So
bodies that touch are at rest together, by the energy of all of them over their mass, as a heap is; what moves more than
that by itself is not one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..contact.active_set.active_set_update import group_islands
from ..contact.contact_step import ContactStep
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats

MAX_REST_RATE = 1.0e-4  # of a group: of its speeds at the end of a step, and of how far it moved in that
MAX_PIECE_SPEED, MAX_PIECE_CREEP = 5.0e-3, 1.0e-2  # the same of pieces of broken bodies, which press splinters about
MAX_MEMBER_SPEED = 0.05  # of a single body; what is faster moves by itself
# force over weight up to which what pushes a body need not wake it, and the same of pieces of broken bodies: half of
# what friction of 0.5 bears, since in their heaps some splinter always rocks or rolls
MAX_UNFELT_FORCE, MAX_UNFELT_FORCE_ON_PIECE = 1.0e-6, 0.25
# mass that has been at rest for long, over that of a group, from which the group sleeps: in heaps some splinter has
# always moved a moment ago
MIN_QUIET_MASS_RATIO = 0.95


class MotionRates(NamedTuple):
    """How n islands moved in a step.

    Attributes:
        mass: [kg], (n,).
        speed: Twice the energy of motion at its end [J], (n,).
        creep: Twice that of moving through the step evenly [J], (n,).
        scale: m g L, which both are measured by [J], (n,).
    """

    mass: Floats
    speed: Floats
    creep: Floats
    scale: Floats


def motion_rates(model: Model, before: State, state: State, gravity: Floats, dt: float) -> MotionRates:
    """Returns how islands moved in a step of `dt` [s] under g [m/s²], (3,), from its begin to its end."""
    row, first = model.pattern.island_of_row, np.asarray(model.pattern.island_start, np.int64)[:-1]
    mass, moved = np.add.reduceat(model.mass, first), (state.x - before.x) / dt
    speed, creep = (np.add.reduceat(model.mass * np.einsum("ni,ni->n", v, v), first) for v in (state.v, moved))
    size = np.cbrt(np.bincount(row[model.tets[:, 0]], model.volume, len(first)))
    return MotionRates(mass, speed, creep, mass * np.linalg.norm(gravity) * np.abs(model.gravity_scale[first]) * size)


def bodies_at_rest(
    contacts: ContactStep, model: Model, rates: MotionRates, gravity: Floats, is_pulled: Bools, is_piece: Bools
) -> tuple[Bools, np.ndarray]:
    """Returns which islands are at rest, and the lowest island of those that each is at rest with, (n,) each.

    Args:
        contacts: Of the step, at its end.
        model: The bodies.
        rates: How they moved in it.
        gravity: g [m/s²], (3,).
        is_pulled: Islands that forces act on besides gravity and contacts, which never are at rest, (n,).
        is_piece: Pieces of broken bodies, (n,).
    """
    moves = is_pulled | ~(rates.speed < MAX_MEMBER_SPEED**2 * rates.scale)
    group = _groups_without(contacts, model, moves)
    count = len(moves)
    rests = np.ones(count, bool)
    for energy, of_pieces in ((rates.speed, MAX_PIECE_SPEED), (rates.creep, MAX_PIECE_CREEP)):
        most = np.where(is_piece, of_pieces, MAX_REST_RATE) ** 2 * rates.scale
        rests &= np.bincount(group, energy, count) < np.bincount(group, most, count)
    return rests[group] & ~(moves | felt_pushes(contacts, model, gravity, moves, is_piece)), group


def may_sleep(group: np.ndarray, mass: Floats, rests: Bools, is_quiet: Bools) -> Bools:
    """Returns which islands may sleep: all of a group that is at rest, where nearly all of its mass has been for long.

    Args:
        group: The group of every island, (n,).
        mass: Theirs [kg], (n,).
        rests: Which ones are at rest now, (n,).
        is_quiet: Which ones have been for long enough, (n,).
    """
    count = len(group)
    whole, quiet = np.bincount(group, mass, count), np.bincount(group, mass * is_quiet, count)
    sleeps = quiet >= MIN_QUIET_MASS_RATIO * whole
    sleeps[group[~rests]] = False
    return sleeps[group]


def felt_pushes(contacts: ContactStep, model: Model, gravity: Floats, of: Bools, is_piece: Bools) -> Bools:
    """Returns which islands are pushed by some others, (n,), with more than they may leave unfelt, (n,).

    Args:
        contacts: Of a step, at its end.
        model: The bodies.
        gravity: g [m/s²], (3,).
        of: Whose pushes count, (n,).
        is_piece: Pieces of broken bodies, (n,).
    """
    if not of.any():
        return np.zeros(len(of), bool)
    row, count = model.pattern.island_of_row.astype(np.int64), len(of)
    which = np.flatnonzero(contacts.was_active & (contacts.contact_state.attachment.tet[:, 1] >= 0))
    one, other = row[model.tets[contacts.contact_state.attachment.tet[which, :2], 0]].T
    _, normal_force, friction = contacts.end
    force = np.maximum(normal_force[which], 0.0)[:, None] * contacts.contact_set.normal[which] + friction[which]
    pushed = np.zeros((count, 3))
    for own, pusher, sign in ((one, other, 1.0), (other, one, -1.0)):
        counts = of[pusher] & ~of[own]
        for axis in range(3):
            pushed[:, axis] += np.bincount(own[counts], sign * force[counts, axis], count)
    weight = np.bincount(row, model.mass * np.abs(model.gravity_scale), count) * np.linalg.norm(gravity)
    unfelt = np.where(is_piece, MAX_UNFELT_FORCE_ON_PIECE, MAX_UNFELT_FORCE) * weight
    return np.linalg.norm(pushed, axis=1) > unfelt


def _groups_without(contacts: ContactStep, model: Model, excluded: Bools) -> np.ndarray:
    """Returns the lowest of the islands that contacts join which push, but for contacts of excluded ones, (n,)."""
    tet, row = contacts.contact_state.attachment.tet, model.pattern.island_of_row
    ends = row[model.tets[np.maximum(tet[:, :2], 0), 0]].astype(np.int64)
    counts = ~(excluded[ends] & (tet[:, :2] >= 0)).any(axis=1)
    group, of_contact = np.arange(len(excluded), dtype=np.int32), np.empty(len(tet), np.int32)
    pushes = np.where(counts, contacts.end[1], -1.0)
    group_islands(pushes, contacts.contact_state.is_active & counts, tet, model.tets, row, group, of_contact)
    return group.astype(np.int64)
