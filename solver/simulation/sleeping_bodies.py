# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies that sleep: what has come to rest is held where it is until something disturbs it.

Bodies that touch fall asleep together, once they have hardly moved for a while (`sleep_criterion.py`). Steps hold what
sleeps, search no contacts between two bodies that sleep, and keep these contacts for later (`sleeping_contacts.py`). A
group wakes where

- something awake pushes one of its bodies: the step is taken again with it awake, so that momentum stays. Pieces of
  broken bodies do not feel what is a small share of their weight;
- forces act on it;
- anything else has changed that acts on bodies: gravity, colliders, what pins move, materials, how many bodies.

All of it is in the state, so a bake that is resumed goes on with the same bytes.

Source: bodies that are frozen, Schmidl and Milenkovic (2004), A fast impulsive contact suite for rigid body simulation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..contact.active_set.rigid_contact_solve import can_solve
from ..contact.contact_step import ContactStep
from ..contact.detection.rigid_collider_contacts import collider_poses
from ..contact.sleeping_contacts import split_sleeping, wake_contacts
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import ASLEEP_INPUT_FIELD, ASLEEP_PREFIX, QUIET_TIME, SEPARATION_FIELD, SLEEP_GROUP
from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .contact_energy_removal import MIN_FIXED_DISPLACEMENT
from .simulated_scene import SimulatedScene
from .sleep_criterion import bodies_at_rest, felt_pushes, may_sleep, motion_rates
from .step_boundary_conditions import BoundaryConditions
from .step_interval import StepPart

MIN_QUIET_TIME = 0.25  # for which most of the mass of a group is at rest until it sleeps [s]
AWAKE = -1


@dataclass(frozen=True, eq=False)
class SleepingBodies:
    """The rigid bodies of a step, of which some sleep.

    Attributes:
        bounds: What held and pulled without any that sleep.
        nodes: Those of bodies that sleep, (n,).
        inputs: What acts on bodies in the step, `input_digest`.
        is_steady: Whether colliders and all that pins hold stand still in it.
    """

    bounds: BoundaryConditions
    nodes: Bools
    inputs: np.ndarray
    is_steady: bool

    def hold(self, x: Floats) -> BoundaryConditions:
        """Returns boundary conditions by which what sleeps stays at x [m], (n, 3)."""
        if not self.nodes.any():
            return self.bounds
        is_fixed, target = self.nodes, floats(np.where(self.nodes[:, None], x, self.bounds.fixed_target))
        if self.bounds.is_fixed is not None:
            is_fixed = is_fixed | self.bounds.is_fixed
        return replace(self.bounds, is_fixed=is_fixed, fixed_target=target)

    def felt_groups(
        self, contacts: ContactStep, model: Model, state: State, gravity: Floats, is_piece: Bools
    ) -> Indices:
        """Returns the groups of which something awake has pushed a body too hard to be left asleep, rising, (k,).

        Args:
            contacts: Of the step, at its end.
            model: The bodies.
            state: Where these are.
            gravity: g [m/s²], (3,).
            is_piece: Islands that are pieces of broken bodies, (islands,).
        """
        if not self.nodes.any():
            return np.zeros(0, np.int32)
        first = np.asarray(model.pattern.island_start, np.int64)[:-1]
        is_felt = felt_pushes(contacts, model, gravity, ~self.nodes[first], is_piece)
        return np.unique(state.fields[SLEEP_GROUP][is_felt[model.pattern.island_of_row] & self.nodes])

    def fall_asleep(
        self,
        contacts: ContactStep,
        model: Model,
        before: State,
        state: State,
        gravity: Floats,
        is_piece: Bools,
    ) -> None:
        """Counts how long bodies have hardly moved at the end of a step, and lets groups sleep that have long enough.

        Args:
            contacts: Of the step, at its end.
            model: The bodies.
            before, state: Where it began, and its end, changed.
            gravity: g [m/s²], (3,).
            is_piece: Islands that are pieces of broken bodies, (islands,).
        """
        row, first = model.pattern.island_of_row, np.asarray(model.pattern.island_start, np.int64)[:-1]
        is_pulled = np.zeros(len(first), bool)
        is_pulled[row[model.tets[self.bounds.point_forces.tet, 0]]] = True
        rates = motion_rates(model, before, state, gravity, contacts.dt)
        rests, group = bodies_at_rest(contacts, model, rates, gravity, is_pulled, is_piece)
        quiet = state.fields.get(QUIET_TIME, np.zeros(model.node_count))[first]
        quiet = np.where(rests, quiet + contacts.dt, 0.0)
        state.fields[QUIET_TIME] = quiet[row]
        labels = state.fields.get(SLEEP_GROUP, np.full(model.node_count, AWAKE, np.int32))
        sleeps = may_sleep(group, rates.mass, rests, quiet >= MIN_QUIET_TIME)
        is_new = sleeps & (labels[first] == AWAKE)
        if not is_new.any() or not self.is_steady or SEPARATION_FIELD in state.fields:
            return
        label = _join_labels(np.where(sleeps, group, AWAKE), labels[first])
        nodes = label[row] != AWAKE
        state.fields[SLEEP_GROUP], state.fields[ASLEEP_INPUT_FIELD] = indices(label[row]), self.inputs
        state.v = floats(np.where(nodes[:, None], 0.0, state.v))
        split_sleeping(contacts, state, nodes[model.tets].all(axis=1))


def begin_asleep(
    simulation: SimulatedScene, model: Model, bounds: BoundaryConditions, gravity: Floats, part: StepPart
) -> SleepingBodies | None:
    """Wakes what the inputs of a part of a step disturb, and returns what sleeps in it; None: nothing here can sleep.

    Args:
        simulation: At the begin of the part; its state is changed.
        model: The bodies.
        bounds: What holds and pulls.
        gravity: g [m/s²], (3,).
        part: Which part.
    """
    state, built = simulation.state, simulation.built
    others = bounds.potentials or bounds.surface_potentials or bounds.joints is not None
    if built.flesh is not None or others or not can_solve(model, bounds.is_fixed):
        wake_all(state)
        return None
    poses = collider_poses(built.colliders, simulation.tracks, part.begin, part.end)
    ends = [
        deforming.vertices_at_ends(simulation.tracks, part.begin, part.end)
        for deforming in built.deforming
        if deforming.is_active(simulation.tracks, part.begin, part.end)
    ]
    is_steady = all((pose.pose[:4] == pose.pose[4:]).all() for pose in poses)
    is_steady = is_steady and all(np.array_equal(*each) for each in ends) and not _pins_move(bounds, state)
    colliders = [np.append(pose.pose, pose.collider.thickness) for pose in poses] + [last for _, last in ends]
    inputs = _input_digest(simulation, model, bounds, gravity, colliders)
    if SLEEP_GROUP in state.fields:
        if not is_steady or not np.array_equal(state.fields[ASLEEP_INPUT_FIELD], inputs):
            wake_all(state)
        else:
            wake_groups(state, model, _disturbed_groups(state, model, bounds))
    labels = state.fields.get(SLEEP_GROUP)
    nodes = np.zeros(model.node_count, bool) if labels is None else labels != AWAKE
    return SleepingBodies(bounds, nodes, inputs, is_steady)


def wake_groups(state: State, model: Model, groups: Indices) -> None:
    """Wakes some groups, (k,)."""
    if not len(groups):
        return
    labels = state.fields[SLEEP_GROUP]
    woken = np.isin(labels, groups)
    _write_awake(state, np.where(woken, AWAKE, labels).astype(np.int32), woken)
    wake_contacts(state, (state.fields[SLEEP_GROUP] != AWAKE)[model.tets].all(axis=1))


def wake_all(state: State) -> None:
    """Wakes all bodies of a state, and forgets for how long they have hardly moved."""
    state.fields.pop(QUIET_TIME, None)
    if state.fields.pop(SLEEP_GROUP, None) is None:
        return
    wake_contacts(state, np.zeros(len(state.x), bool))
    for name in [name for name in state.fields if name.startswith(ASLEEP_PREFIX)]:
        del state.fields[name]


def _write_awake(state: State, labels: Indices, woken: Bools) -> None:
    state.fields[SLEEP_GROUP] = labels
    state.fields[QUIET_TIME] = floats(np.where(woken, 0.0, state.fields[QUIET_TIME]))


def _join_labels(group: np.ndarray, labels: Indices) -> np.ndarray:
    """Returns one label for bodies that fall asleep together, and for all that slept with any of them, (b,).

    Args:
        group: Of the bodies that are to sleep, by contacts that push, else −1, (b,).
        labels: By which they sleep already, else −1, (b,).
    """
    joined = group.copy()
    for known in np.unique(labels[labels != AWAKE]).tolist():
        own = labels == known
        touching = np.unique(joined[own])
        joined[own | np.isin(joined, touching[touching != AWAKE])] = int(np.flatnonzero(own)[0])
    return joined


def _pins_move(bounds: BoundaryConditions, state: State) -> bool:
    """Whether pins move something in a step, whose contacts with what sleeps would be those of two held bodies."""
    if bounds.is_fixed is None:
        return False
    moved = np.abs(bounds.fixed_target - state.x)[bounds.is_fixed]
    return bool(moved.max(initial=0.0) > MIN_FIXED_DISPLACEMENT)


def _disturbed_groups(state: State, model: Model, bounds: BoundaryConditions) -> Indices:
    """Returns the groups of which forces pull a body, rising, (k,)."""
    labels = state.fields[SLEEP_GROUP]
    is_disturbed = np.zeros(model.node_count, bool)
    is_disturbed[model.tets[bounds.point_forces.tet]] = True
    return np.unique(labels[is_disturbed & (labels != AWAKE)])


def _input_digest(
    simulation: SimulatedScene, model: Model, bounds: BoundaryConditions, gravity: Floats, colliders: list[Floats]
) -> np.ndarray:
    """Returns the SHA-256 of what acts on bodies besides forces, (32,)."""

    def inputs() -> Iterator[np.ndarray]:
        yield from (gravity, model.mass, model.gravity_scale, model.mass_damping, model.mu, model.X)
        yield bounds.is_fixed if bounds.is_fixed is not None else np.zeros(0, bool)
        materials = simulation.built.contact_materials
        if materials is not None:
            yield materials.friction
        yield np.array([collider.friction for collider in simulation.built.colliders], np.float64)
        yield from colliders

    digest = hashlib.sha256()
    for values in inputs():
        digest.update(str(values.shape).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), np.uint8).copy()
