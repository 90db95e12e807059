# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes energy that contacts add: bodies that touch end no step with more energy than they had and were given.

Contact springs that activate and deactivate can add energy: a contact found deeper than it was left pushes with energy
from nothing. So the energy of every group of bodies that touch, elastic, kinetic and in gravity, is compared before and
after a step, with the work of moving colliders, of all forces, and of contacts that resolve overlaps. The excess is
removed from the relative motion within the group; its rigid motion, and so momentum and angular momentum, stays. If the
group rests on colliders or has fixed nodes, its momentum is not conserved, and all motion relative to these counts. No
more energy is removed than this motion has: a debt carried over steps would hold bodies in place, in the air too.

Source: Dinev, Liu, Li, Thomaszewski, Kavan (2018), FEPR, which projects velocities to a known energy; here energy is
only removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..constraints.linear_forces import LinearForces
from ..contact.contact_loads import ContactWork, contact_work
from ..contact.contact_step import ContactStep
from ..contact.overlap_damping import FIELD as DAMPED_BODIES
from ..linalg.bound_node_elimination import join_bound_islands
from ..mechanics.finite_rotation_correction import rigid_velocities
from ..mechanics.kinetic_energy import kinetic_energies
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .step_boundary_conditions import BoundaryConditions

MIN_ENERGY_RATIO = 1.0e-6  # excess over the kinetic energy within a group from which it is removed
MIN_FIXED_DISPLACEMENT = 1.0e-9  # displacement of fixed nodes in a step from which they do work [m]
MAX_ENERGY_GAIN_RATIO = 0.02  # excess over the kinetic and elastic energy of a group from which a step failed
HEIGHT_TOLERANCE = 1.0e-4  # height, in sizes of bodies, by which excess energy may lift a group
STRAIN_ROUND_OFF = 1.0e-12  # strain whose energy any group may gain: what is weightless and at rest has nothing else


@dataclass(frozen=True, eq=False)
class EnergyGain:
    """Energy that groups of bodies in contact gained in a step from nothing.

    Attributes:
        group: Of every node, (n,).
        energy: Gain of each group, below zero for a loss [J], (k,).
        separated: The same for groups whose contacts do not push at the end, zero for others [J], (k,).
        support_velocity: Velocity of the support of each group [m/s], NaN if its rigid motion is free, (k, 3).
        tolerance: Negligible energy of each group, ∞ while its overlap is being resolved [J], (k,).
    """

    group: Indices
    energy: Floats
    separated: Floats
    support_velocity: Floats
    tolerance: Floats

    def without(self, islands: Bools) -> EnergyGain:
        """Returns the same with no gain of the groups of some islands, (islands,)."""
        energy, separated = np.where(islands, 0.0, self.energy), np.where(islands, 0.0, self.separated)
        return replace(self, energy=energy, separated=separated)

    def remove(self, model: Model, state: State) -> None:
        """Removes the gain from the motion within each group, as far as there is any."""
        if (self.energy > 0.0).any():
            state.v = remove_relative_energy(
                model.mass, state.x, state.v, self.group, self.energy, self.support_velocity
            )

    def left(self, model: Model, state: State) -> Floats:
        """Returns the gain of each group that exceeds the motion within it, from which it could be removed [J], (k,).

        Nothing is removed from groups that have separated: their gain came from solves on the way. Negligible gains are
        zero.
        """
        left = np.where(self.separated > self.tolerance, self.separated, 0.0)
        for number in np.flatnonzero(self.energy > self.tolerance):
            own = self.group == number
            apart = state.v[own] - _reference_motion(
                model.mass[own], state.x[own], state.v[own], self.support_velocity[number]
            )
            surplus = self.energy[number] - _kinetic_energy(model.mass[own], apart)
            left[number] = surplus if surplus > self.tolerance[number] else 0.0
        return left

    def share_of(self, left: Floats, had: Floats, model: Model) -> Floats:
        """Returns the remaining gain of every island's group over the energy that the group had, (k,).

        Args:
            left: Remaining gain of each group [J], (k,).
            had: Energy of every island: kinetic, elastic, and by its weight [J], (k,).
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
    linear: LinearForces,
) -> EnergyGain | None:
    """Returns the energy that bodies in contact gained in a step; None if no bodies touch each other.

    Args:
        contacts: Of the step, at its end.
        model: Of the step.
        gravity: g [m/s²], (3,).
        before, state: At its begin and end.
        stored: Elastic energy of every island at both, (k,) each [J].
        bounds: Boundary conditions of the step.
        linear: Forces of potentials in it.
    """
    work = contact_work(contacts)
    pushed = np.unique(work.island)
    row, count, group = model.pattern.island_of_row, model.pattern.island_count, contacts.groups()
    if model.bound is not None:
        joint = group.astype(np.int64)
        join_bound_islands(model.bound, row, joint)
        group = indices(joint)
    gained = stored[1] - stored[0] + _mechanical_energy_change(model, gravity, before, state)
    motion = work.prescribed_motion + work.is_resolving[:, None] * work.relative_motion
    gained -= np.bincount(work.island, np.einsum("ki,ki->k", work.force, motion), count)
    forces = bounds.point_forces
    own = forces.work(before.x, state.x, state.v, model.tets)
    gained -= floats(np.bincount(row[model.tets[forces.tet, 0]], own, count))
    if len(linear.tets):
        own = linear.tets.work(state.x - before.x, model.tets)
        gained -= np.bincount(row[model.tets[linear.tets.tet, 0]], own, count)
    if len(linear.points) or len(linear.pairs):
        gained -= linear.link_work(state.x - before.x, model.tets, row, count)
    gained = floats(np.bincount(group, gained, count))
    separated = np.zeros(count)
    if contacts.surfaces:
        touching = np.unique(row[model.tets[contacts.contact_tets(), 0]])
        if not len(touching):
            return None
        separated[group[touching]] = gained[group[touching]]
        separated[group[pushed]] = 0.0
    if len(pushed) or contacts.surfaces:
        gained[np.setdiff1d(np.arange(count, dtype=np.int64), group[pushed])] = 0.0
    support_velocity = _support_displacements(work, group, count) / contacts.dt
    if bounds.is_fixed is not None:
        support_velocity[group[row[bounds.is_fixed]]] = 0.0
        moves = np.abs(bounds.fixed_target - before.x).max(axis=1) > MIN_FIXED_DISPLACEMENT
        is_driven = group[row[bounds.is_fixed & moves]]
        gained[is_driven] = separated[is_driven] = 0.0
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    own = MAX_ENERGY_GAIN_RATIO * (kinetic_energies(model, before.v) + stored[0])
    weight = np.add.reduceat(model.mass * model.gravity_scale, first) * np.linalg.norm(gravity)
    row_of_tet = row[model.tets[:, 0]]
    own += weight * HEIGHT_TOLERANCE * np.cbrt(np.bincount(row_of_tet, model.volume, count))
    own += STRAIN_ROUND_OFF**2 * np.bincount(row_of_tet, model.mu * model.volume, count)
    tolerance = floats(np.bincount(group, own, count))
    tolerance[group[_resolving_islands(contacts, model, before)]] = np.inf
    return EnergyGain(group[row], gained, separated, support_velocity, tolerance)


def remove_relative_energy(
    mass: Floats, x: Floats, v: Floats, group: Indices, surplus: Floats, support_velocity: Floats
) -> Floats:
    """Returns velocities with less kinetic energy within groups [m/s], (n, 3).

    Args:
        mass, x, v: Of the nodes [kg], [m], [m/s], (n,), (n, 3), (n, 3).
        group: Of every node, (n,).
        surplus: Energy to remove from each group, as far as its motion relative to its support has it; none where it is
            not positive [J], (k,).
        support_velocity: Velocity of the support of each group [m/s], NaN if its rigid motion is free, (k, 3).
    """
    out = v.copy()
    for number in np.flatnonzero(surplus > 0.0):
        own = group == number
        m, speed = mass[own], v[own]
        whole = _reference_motion(m, x[own], speed, support_velocity[number])
        apart = speed - whole
        has = _kinetic_energy(m, apart)
        if surplus[number] > MIN_ENERGY_RATIO * has:
            out[own] = whole + np.sqrt(max(0.0, 1.0 - surplus[number] / has)) * apart if has > 0.0 else whole
    return out


def _resolving_islands(contacts: ContactStep, model: Model, before: State) -> Indices:
    """Returns islands whose overlap is being resolved or whose separation is damped: these may gain energy.

    Args:
        contacts: Of the step.
        model: Of the step.
        before: At its begin.
    """
    row, state = model.pattern.island_of_row, contacts.contact_state
    ends = state.attachment.tet[state.lift < 0.0]
    first = [row[model.tets[ends[ends >= 0], 0]]]
    for one, other, _ in before.fields.get(DAMPED_BODIES, np.zeros((0, 3))):
        first += [row[model.bodies[int(body)].nodes] for body in (one, other)]
    return np.unique(np.concatenate(first))


def _kinetic_energy(mass: Floats, v: Floats) -> float:
    """Returns ½ Σ m v² [J]."""
    return 0.5 * float(mass @ np.einsum("ni,ni->n", v, v))


def _reference_motion(mass: Floats, x: Floats, v: Floats, support_velocity: Floats) -> Floats:
    """Returns the motion of a group relative to which it loses energy [m/s], (n, 3); see `EnergyGain`."""
    if np.isnan(support_velocity).any():
        return rigid_velocities(np.array([0, len(x)], np.int64), mass, x, v)
    return np.broadcast_to(support_velocity, v.shape)


def _support_displacements(work: ContactWork, group: Indices, count: int) -> Floats:
    """Returns the mean displacement of the supports of groups, by force [m], NaN without one, (count, 3)."""
    on_collider = work.is_prescribed
    weight, of = np.linalg.norm(work.force[on_collider], axis=1), group[work.island[on_collider]]
    total = np.bincount(of, weight, count)
    sums = [np.bincount(of, weight * work.prescribed_motion[on_collider, axis], count) for axis in range(3)]
    mean = np.column_stack(sums) / np.maximum(total, np.finfo(float).tiny)[:, None]
    return np.where(total[:, None] > 0.0, mean, np.nan)


def _mechanical_energy_change(model: Model, gravity: Floats, before: State, state: State) -> Floats:
    """Returns the change of kinetic and gravitational energy of every island [J], (k,)."""
    moving = np.einsum("ni,ni->n", state.v, state.v) - np.einsum("ni,ni->n", before.v, before.v)
    fallen = model.gravity_scale * ((state.x - before.x) @ gravity)
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    return np.add.reduceat(model.mass * (0.5 * moving - fallen), first)
