# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that touch do not end a step with more energy than they had and were given.

Contacts are springs that come and go: one that is found deeper than it was left pushes with energy that nobody put in.
So the energy of every group of bodies that touch, elastic, of motion and in gravity, is weighed before and after a
step, with the work of colliders that move, of all forces, and of contacts that let out what overlapped. The surplus
is taken from the motion within the group; its motion as a whole stays, and so momentum and angular momentum do. Where
it bears on colliders or is held, momentum is not its own, and all motion relative to those counts as within it. More
than there is of that motion is not taken: what is owed for longer would hold bodies where they are, in the air too.

Source: Dinev, Liu, Li, Thomaszewski, Kavan (2018), FEPR, project velocities onto a known energy; here it is only taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contact.contact_step import ContactStep
from ..contact.contact_work import ContactWork, contact_work
from ..contact.separation_damping import FIELD as PARTING
from ..mechanics.model import Model
from ..mechanics.rigid_rotation import inertia_tensors
from ..mechanics.state import State
from ..runtime.arrays import Floats, Indices, floats
from .boundary_conditions import BoundaryConditions

MIN_ENERGY_RATIO = 1.0e-6  # energy over that of motion in a group from which it is taken
MIN_FIXED_DISPLACEMENT = 1.0e-9  # [m]: what is held and moves no farther in a step gets no work
MAX_ENERGY_GAIN_RATIO = (
    0.02  # energy out of nothing over what a group had, of motion and stored, from which a step has gone wrong
)
HEIGHT_TOLERANCE = 1.0e-4  # in sizes of bodies: what lifts a group by less than that is no such energy


@dataclass(frozen=True, eq=False)
class EnergyGain:
    """Energy that groups of bodies which touch have at the end of a step out of nothing.

    Attributes:
        group: Of every node, (n,).
        gained: By each group, below zero where it lost some [J], (k,).
        parted: The same of groups that contacts were looked at for but do not push at the end, none of others [J],
            (k,).
        borne: How what each group bears on moves [m/s], not a number where its motion as a whole is free, (k, 3).
        least: Energy of each group that is next to nothing for it, ∞ where it is let out of others [J], (k,).
    """

    group: Indices
    energy: Floats
    parted: Floats
    support_velocity: Floats
    tolerance: Floats

    def remove(self, model: Model, state: State) -> None:
        """Takes it from the motion within each group, as far as there is any."""
        if (self.energy > 0.0).any():
            state.v = remove_relative_energy(
                model.mass, state.x, state.v, self.group, self.energy, self.support_velocity
            )

    def left(self, model: Model, state: State) -> Floats:
        """Returns what groups have gained much more than the motion within them, from which it can be taken [J], (k,).

        From what has parted from all else nothing is taken: what it has gained came by solves on the way. Groups that
        have gained next to nothing get none.
        """
        left = np.where(self.parted > self.tolerance, self.parted, 0.0)
        for number in np.flatnonzero(self.energy > self.tolerance):
            own = self.group == number
            apart = state.v[own] - _reference_motion(
                model.mass[own], state.x[own], state.v[own], self.support_velocity[number]
            )
            surplus = self.energy[number] - _kinetic_energy(model.mass[own], apart)
            left[number] = surplus if surplus > self.tolerance[number] else 0.0
        return left

    def share_of(self, left: Floats, had: Floats, model: Model) -> Floats:
        """Returns what is left of the gain of every island's group over what the group had, (k,).

        Args:
            left: What is left of the gain of each group [J], (k,).
            had: Of every island, above zero where it moved, was strained or has weight [J], (k,).
            model: The bodies.
        """
        group = self.group[np.asarray(model.pattern.island_start, np.int64)[:-1]]
        whole = np.bincount(group, had, len(had))
        return floats((left / np.maximum(whole, np.finfo(float).tiny))[group])


def energy_gain_in_step(
    contacts: ContactStep,
    model: Model,
    gravity: Floats,
    before: State,
    state: State,
    stored: tuple[Floats, Floats],
    bounds: BoundaryConditions,
) -> EnergyGain | None:
    """Returns what energy bodies that touch have gained in a step; None where no bodies that may touch each other do.

    Args:
        contacts: Of the step, at its end.
        model: Of the step.
        gravity: g [m/s²], (3,).
        before, state: At its begin and end.
        stored: Elastic energy of every island at both, (k,) each [J].
        bounds: What held and pulled in it.
    """
    work = contact_work(contacts)
    pushed = np.unique(work.island)
    row, count, group = model.pattern.island_of_row, model.pattern.island_count, contacts.groups()
    gained = stored[1] - stored[0] + _mechanical_energy_change(model, gravity, before, state)
    ways = work.prescribed_motion + work.is_resolving[:, None] * work.relative_motion
    gained -= np.bincount(work.island, np.einsum("ki,ki->k", work.force, ways), count)
    forces = bounds.point_forces
    own = forces.work(before.x, state.x, state.v, model.tets)
    gained -= floats(np.bincount(row[model.tets[forces.tet, 0]], own, count))
    gained = floats(np.bincount(group, gained, count))
    parted = np.zeros(count)
    if contacts.skins:
        met = np.unique(row[model.tets[contacts.met(), 0]])
        if not len(met):
            return None
        parted[group[met]] = gained[group[met]]
        parted[group[pushed]] = 0.0
    if len(pushed) or contacts.skins:
        gained[np.setdiff1d(np.arange(count, dtype=np.int64), group[pushed])] = 0.0
    borne = _support_displacements(work, group, count) / contacts.dt
    if bounds.is_fixed is not None:
        borne[group[row[bounds.is_fixed]]] = 0.0
        told = group[
            row[bounds.is_fixed & (np.abs(bounds.fixed_target - before.x).max(axis=1) > MIN_FIXED_DISPLACEMENT)]
        ]
        gained[told] = parted[told] = 0.0
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    own = MAX_ENERGY_GAIN_RATIO * (
        0.5 * np.add.reduceat(model.mass * np.einsum("ni,ni->n", before.v, before.v), first) + stored[0]
    )
    weight = np.add.reduceat(model.mass * model.gravity_scale, first) * np.linalg.norm(gravity)
    row_of_tet = row[model.tets[:, 0]]
    own += weight * HEIGHT_TOLERANCE * np.cbrt(np.bincount(row_of_tet, model.volume, count))
    least = floats(np.bincount(group, own, count))
    least[group[_let_out(contacts, model, before)]] = np.inf
    return EnergyGain(group[row], gained, parted, borne, least)


def remove_relative_energy(
    mass: Floats, x: Floats, v: Floats, group: Indices, surplus: Floats, borne: Floats
) -> Floats:
    """Returns velocities with less energy of motion within groups [m/s], (n, 3).

    Args:
        mass, x, v: Of the nodes [kg], [m], [m/s], (n,), (n, 3), (n, 3).
        group: Of every node, (n,).
        surplus: What is taken from each group, as far as it has it, as seen from what it bears on, none where it is
            not positive [J], (k,).
        borne: How what each group bears on moves [m/s], not a number where its motion as a whole is free, (k, 3).
    """
    out = v.copy()
    for number in np.flatnonzero(surplus > 0.0):
        own = group == number
        m, speed = mass[own], v[own]
        whole = _reference_motion(m, x[own], speed, borne[number])
        apart = speed - whole
        has = _kinetic_energy(m, apart)
        if surplus[number] > MIN_ENERGY_RATIO * has:
            out[own] = whole + np.sqrt(max(0.0, 1.0 - surplus[number] / has)) * apart if has > 0.0 else whole
    return out


def _let_out(contacts: ContactStep, model: Model, before: State) -> Indices:
    """Returns islands that are let out of others, or part from them still: where that brings energy it has to.

    Args:
        contacts: Of the step.
        model: Of the step.
        before: At its begin.
    """
    row, pushing = model.pattern.island_of_row, contacts.contact_state
    ends = pushing.ends[pushing.lift < 0.0]
    first = [row[model.tets[ends[ends >= 0], 0]]]
    for one, other, _ in before.fields.get(PARTING, np.zeros((0, 3))):
        first += [row[model.bodies[int(body)].nodes] for body in (one, other)]
    return np.unique(np.concatenate(first))


def _kinetic_energy(mass: Floats, v: Floats) -> float:
    """Returns ½ Σ m v² [J]."""
    return 0.5 * float(mass @ np.einsum("ni,ni->n", v, v))


def _reference_motion(mass: Floats, x: Floats, v: Floats, borne: Floats) -> Floats:
    """Returns the motion of a group as seen from which it loses energy [m/s], (n, 3): see `EnergyGain`."""
    return _rigid_motion(mass, x, v) if np.isnan(borne).any() else np.broadcast_to(borne, v.shape)


def _rigid_motion(mass: Floats, x: Floats, v: Floats) -> Floats:
    """Returns the rigid motion with the momentum and angular momentum of nodes [m/s], (n, 3)."""
    arm, mean = x - mass @ x / mass.sum(), mass @ v / mass.sum()
    omega = np.linalg.solve(inertia_tensors(mass, arm, np.zeros(1, np.int64))[0], mass @ np.cross(arm, v - mean))
    return mean + np.cross(omega, arm)


def _support_displacements(work: ContactWork, group: Indices, count: int) -> Floats:
    """Returns the mean way of what groups bear on [m], by force, not a number for none, (count, 3)."""
    told = work.is_prescribed
    weight, of = np.linalg.norm(work.force[told], axis=1), group[work.island[told]]
    total = np.bincount(of, weight, count)
    ways = [np.bincount(of, weight * work.prescribed_motion[told, axis], count) for axis in range(3)]
    mean = np.column_stack(ways) / np.maximum(total, np.finfo(float).tiny)[:, None]
    return np.where(total[:, None] > 0.0, mean, np.nan)


def _mechanical_energy_change(model: Model, gravity: Floats, before: State, state: State) -> Floats:
    """Returns by how much motion and height have more energy on every island [J], (k,)."""
    moving = np.einsum("ni,ni->n", state.v, state.v) - np.einsum("ni,ni->n", before.v, before.v)
    fallen = model.gravity_scale * ((state.x - before.x) @ gravity)
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    return np.add.reduceat(model.mass * (0.5 * moving - fallen), first)
