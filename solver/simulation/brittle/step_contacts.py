# SPDX-License-Identifier: GPL-3.0-or-later
"""What the contacts of a step gave to the bodies, and how fast these came nearer where they met.

The speed of an impact is that at the moment when the bodies touch, which is not where the step begins: on its way over
the gap that is left then, gravity makes a body faster. What rests has no such way, so its speed is zero, however much
gravity gives to it in a step.

Pieces of one body do not hit each other: what presses on one across a crack is what pressed on the body, which
`solver/brittle` has taken into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...contact.contact_loads import contact_loads
from ...contact.contact_step import ContactStep
from ...contact.detection.contact_binding import fill_relative_positions
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats, indices


class PartContacts(Protocol):
    """The contacts of a step or of a part of one, of either kind."""

    @property
    def dt(self) -> float:
        """Its Δt [s]."""

    @property
    def gravity(self) -> Floats:
        """The vector g [m/s²], (3,)."""

    def contacts_of(self, model: Model, falling: Floats, begin: float) -> StepContacts:
        """Returns the contacts of a part that began so long after the step did [s].

        `falling`: the share of gravity that pulls each node, 0 where pins hold it, (n,).
        """


@dataclass(frozen=True, eq=False)
class FastPartContacts:
    """The contacts of a step with Fast contact or of a part of one.

    Attributes:
        contacts: At its end.
        v: Velocities of the nodes where it began [m/s], (n, 3).
        gravity: g [m/s²], (3,).
    """

    contacts: ContactStep
    v: Floats
    gravity: Floats

    @property
    def dt(self) -> float:
        """Its Δt [s]."""
        return self.contacts.dt

    def contacts_of(self, model: Model, falling: Floats, begin: float) -> StepContacts:
        """Returns the contacts of a part that began so long after the step did [s]."""
        return _contacts_of_part(model, self, falling, begin)


@dataclass(frozen=True, eq=False)
class StepContacts:
    """Contacts that pushed in a step, c of them.

    Attributes:
        island: Of the point and of the other side, −1 where that is a collider, (c, 2).
        other: Key of the other side of each.
        place: Of the point at the end [m], (c, 3).
        normal: Direction in which the point was pushed, (c, 3).
        impulse: On the point, friction included [N s], (c, 3).
        speed: By which both came nearer when they touched [m/s], below 0 where they did not, (c,).
        fall: How long gravity had pulled until then, of the step [s], (c,).
        time: When they touched, after the step began [s], (c,).
    """

    island: Indices
    other: tuple[str, ...]
    place: Floats
    normal: Floats
    impulse: Floats
    speed: Floats
    fall: Floats
    time: Floats

    def on(self, island: int) -> Indices:
        """Returns which of them are contacts of an island, (k,)."""
        return indices(np.flatnonzero((self.island == island).any(axis=1)))

    def seen_from(self, island: int) -> ContactsOfIsland:
        """Returns the contacts of an island, with what they gave to it."""
        rows = self.on(island)
        is_point = self.island[rows, 0] == island
        sign = np.where(is_point, 1.0, -1.0)[:, None]
        normal, impulse = sign * self.normal[rows], sign * self.impulse[rows]
        return ContactsOfIsland(
            other_island=indices(np.where(is_point, self.island[rows, 1], self.island[rows, 0])),
            other_key=tuple(self.other[row] for row in rows.tolist()),
            place=self.place[rows],
            direction=floats(normal),
            impulse=floats(np.einsum("ci,ci->c", impulse, normal)),
            speed=self.speed[rows],
            fall=self.fall[rows],
            time=self.time[rows],
        )


@dataclass(frozen=True, eq=False)
class ContactsOfIsland:
    """The contacts of one island in a step, c of them.

    Attributes:
        other_island: On the other side, −1 of colliders, (c,).
        other_key: Of the body or collider that the contact was found with.
        place: At the end [m], (c, 3).
        direction: In which they pushed the island, (c, 3).
        impulse: Along that [N s], (c,).
        speed, fall, time: See `StepContacts`, (c,).
    """

    other_island: Indices
    other_key: tuple[str, ...]
    place: Floats
    direction: Floats
    impulse: Floats
    speed: Floats
    fall: Floats
    time: Floats

    def moved(self, pose: tuple[Floats, Floats]) -> Floats:
        """Returns where the contacts are at rest [m], (c, 3), of a pose R and t that takes the island to the world."""
        R, t = pose
        return floats((self.place - t) @ R)


def step_contacts(model: Model, parts: Sequence[PartContacts], is_held: Bools) -> StepContacts:
    """Returns the contacts of all parts of a step, in which pins held some nodes, (n,)."""
    falling = floats(np.where(is_held, 0.0, model.gravity_scale))
    begins = np.cumsum([0.0, *(part.dt for part in parts)], dtype=np.float64)
    made = [part.contacts_of(model, falling, float(begin)) for part, begin in zip(parts, begins[:-1], strict=True)]
    return StepContacts(
        island=indices(np.concatenate([each.island for each in made]), -1, 2),
        other=tuple(key for each in made for key in each.other),
        place=floats(np.concatenate([each.place for each in made]), -1, 3),
        normal=floats(np.concatenate([each.normal for each in made]), -1, 3),
        impulse=floats(np.concatenate([each.impulse for each in made]), -1, 3),
        speed=floats(np.concatenate([each.speed for each in made])),
        fall=floats(np.concatenate([each.fall for each in made])),
        time=floats(np.concatenate([each.time for each in made])),
    )


def _contacts_of_part(model: Model, part: FastPartContacts, falling: Floats, begin: float) -> StepContacts:
    """Returns the contacts of a part that began so long after the step did [s]; `falling`: gravity of nodes, (n,)."""
    contacts, loads = part.contacts, contact_loads(part.contacts)
    active = np.flatnonzero(contacts.was_active)
    end_tet, weights = contacts.contact_state.attachment.tet[active], contacts.contact_state.attachment.weights[active]
    own, other = model.tets[end_tet[:, 0], 0], model.tets[np.maximum(end_tet[:, 1], 0), 0]
    is_pair = end_tet[:, 1] >= 0
    row = model.pattern.island_of_row.astype(np.int64)  # NumPy 2 keeps them unsigned beside −1
    island = np.stack([row[own], np.where(is_pair, row[other], -1)], axis=1)

    def relative(at: Floats) -> Floats:
        out = np.empty((len(active), 3))
        fill_relative_positions(end_tet, weights, model.tets, floats(at), out)
        return out

    carried = np.where(is_pair[:, None], 0.0, contacts.contact_set.carried[active] - relative(contacts.start))
    normal = contacts.contact_set.normal[active]
    motion = relative(part.v) - carried / contacts.dt
    speed = -np.einsum("ci,ci->c", normal, motion)
    scale = falling[own] - np.where(is_pair, falling[other], 0.0)
    pull = -scale * (normal @ part.gravity)
    gap = np.maximum(contacts.contact_set.gap[active], 0.0)
    touching, fall = touching_speeds(speed, pull, gap, contacts.dt)
    starts = np.array([body.nodes.start for body in model.bodies])
    body, other_body = (np.searchsorted(starts, nodes, side="right") for nodes in (own, other))
    touching[is_pair & (body == other_body)] = 0.0
    names, dt = loads.names, contacts.dt
    return StepContacts(
        indices(island, -1, 2),
        tuple(names[number] for number in loads.other.tolist()),
        loads.positions,
        normal,
        contacts.dt * loads.forces,
        touching,
        np.clip(begin + fall, 0.0, begin + dt),
        floats(begin + np.minimum(2.0 * gap / np.maximum(speed + touching, 1e-300), dt)),
    )


def touching_speeds(speed: Floats, pull: Floats, gap: Floats, dt: float) -> tuple[Floats, Floats]:
    """Returns the speeds at which bodies touch [m/s], and for how long gravity has pulled by then [s], (c,) each.

    Args:
        speed: At the start of a step [m/s], (c,).
        pull: By which gravity makes them faster [m/s²], (c,).
        gap: Their way until they touch [m], (c,).
        dt: Δt of the step [s].
    """
    touching = np.sqrt(np.maximum(speed * np.abs(speed) + 2.0 * pull * gap, 0.0))
    touching = np.clip(touching, speed, np.maximum(speed, speed + pull * dt))
    return touching, np.divide(touching - speed, pull, out=np.zeros_like(speed), where=pull > 0.0)
