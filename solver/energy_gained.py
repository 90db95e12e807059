# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that touch do not end a step with more energy than they had and were given.

Contacts are springs that come and go: one that is found deeper than it was left pushes with energy that nobody put in.
So the energy of every group of bodies that touch, elastic, of motion and in gravity, is weighed before and after a
step, with the work of colliders that move, of springs, and of contacts that let out what overlapped. What is too much
is taken from the motion within the group; its motion as a whole stays, and so momentum and angular momentum do. Where
it bears on colliders or is held, momentum is not its own, and all motion relative to those counts as within it. More
than there is of that motion is not taken: what is owed for longer would hold bodies where they are, in the air too.

Source: Dinev, Liu, Li, Thomaszewski, Kavan (2018), FEPR, project velocities onto a known energy; here it is only taken.
"""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Indices, floats
from .boundary import Boundary
from .contact.response import ContactStep
from .integrators.outside import Points
from .model import Model
from .state import State

LEAST = 1.0e-6  # energy over that of motion in a group from which it is taken
STILL = 1.0e-9  # [m]: what is held and moves no farther in a step gets no work
THIN = 1.0e-9  # of the trace of the inertia, where a group has hardly any about an axis


def take_gain(
    contacts: ContactStep,
    model: Model,
    gravity: Floats,
    before: State,
    state: State,
    stored: tuple[Floats, Floats],
    bounds: Boundary,
) -> None:
    """Takes from the motion of bodies that touch what energy they have gained in a step.

    Args:
        contacts: Of the step, at its end.
        model: Of the step.
        gravity: g [m/s²], (3,).
        before, state: At its begin and end; velocities of the latter are changed.
        stored: Elastic energy of every island at both, (k,) each [J].
        bounds: What held and pulled in it.
    """
    force, moved, away, is_told, lets_out, island = contacts.work()
    pushed = np.flatnonzero(np.bincount(island, minlength=model.pattern.island_count))
    if not len(pushed):
        return
    row, count, group = model.pattern.island_of_row, model.pattern.island_count, contacts.groups()
    gained = stored[1] - stored[0] + _gained(model, gravity, before, state)
    gained -= np.bincount(island, np.einsum("ki,ki->k", force, away + lets_out[:, None] * moved), count)
    gained -= _given(model, before.x, state.x, state.v, bounds.springs)
    gained = floats(np.bincount(group, gained, count))
    gained[np.setdiff1d(np.arange(count), group[pushed])] = 0.0
    told = np.flatnonzero(is_told)
    borne = _borne(force[told], away[told], group[island[told]], count) / contacts.dt
    if bounds.held is not None:
        borne[group[row[bounds.held]]] = 0.0
        gained[group[row[bounds.held & (np.abs(bounds.target - before.x).max(axis=1) > STILL)]]] = 0.0
    if (gained > 0.0).any():
        state.v = slowed(model.mass, state.x, state.v, group[row], gained, borne)


def slowed(mass: Floats, x: Floats, v: Floats, group: Indices, surplus: Floats, borne: Floats) -> Floats:
    """Returns velocities with less energy of motion within groups [m/s], (n, 3).

    Args:
        mass, x, v: Of the nodes [kg], [m], [m/s], (n,), (n, 3), (n, 3).
        group: Of every node, (n,).
        surplus: What is taken from each group, as far as it has it, none where it is not positive [J], (k,).
        borne: How what each group bears on moves [m/s], not a number where its motion as a whole is free, (k, 3).
    """
    out = v.copy()
    for number in np.flatnonzero(surplus > 0.0):
        own = group == number
        m, speed = mass[own], v[own]
        is_free = np.isnan(borne[number]).any()
        whole = _motion_as_a_whole(m, x[own], speed) if is_free else np.broadcast_to(borne[number], speed.shape)
        apart = speed - whole
        has = 0.5 * float(m @ np.einsum("ni,ni->n", apart, apart))
        if surplus[number] > LEAST * has:
            out[own] = whole + np.sqrt(max(0.0, 1.0 - surplus[number] / has)) * apart if has > 0.0 else whole
    return out


def _motion_as_a_whole(mass: Floats, x: Floats, v: Floats) -> Floats:
    """Returns the rigid motion with the momentum and angular momentum of nodes [m/s], (n, 3)."""
    total = mass.sum()
    arm, mean = x - mass @ x / total, mass @ v / total
    moment = np.einsum("n,ni,nj->ij", mass, arm, arm)
    inertia = (1.0 + THIN) * np.trace(moment) * np.eye(3) - moment
    omega = np.linalg.solve(inertia, mass @ np.cross(arm, v - mean))
    return mean + np.cross(omega, arm)


def _borne(force: Floats, away: Floats, group: Indices, count: int) -> Floats:
    """Returns the way of what groups bear on [m], by contacts, (c, 3) each; not a number for none, (count, 3)."""
    weight = np.linalg.norm(force, axis=1)
    borne = np.column_stack([np.bincount(group, weight * away[:, axis], count) for axis in range(3)]).astype(float)
    weight = np.bincount(group, weight, count)
    return np.where(weight[:, None] > 0.0, borne / np.maximum(weight, np.finfo(float).tiny)[:, None], np.nan)


def _gained(model: Model, gravity: Floats, before: State, state: State) -> Floats:
    """Returns by how much motion and height have more energy on every island [J], (k,)."""
    moving = np.einsum("ni,ni->n", state.v, state.v) - np.einsum("ni,ni->n", before.v, before.v)
    fallen = model.gravity_scale * ((state.x - before.x) @ gravity)
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    return np.add.reduceat(model.mass * (0.5 * moving - fallen), first)


def _given(model: Model, start: Floats, end: Floats, v: Floats, springs: Points) -> Floats:
    """Returns the work of springs on every island, from node positions to others [m], (n, 3) each [J], (k,)."""
    moved = springs.positions(end - start, model.tets)
    force = springs.force - np.einsum("kij,kj->ki", springs.stiffness, moved)
    force -= np.einsum("kij,kj->ki", springs.damping, springs.positions(v, model.tets))
    island = model.pattern.island_of_row[model.tets[springs.tet, 0]]
    return floats(np.bincount(island, np.einsum("ki,ki->k", force, moved), model.pattern.island_count))
