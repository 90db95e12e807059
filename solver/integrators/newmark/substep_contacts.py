# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and contacts of bodies that move by Newmark's scheme, in the numbers of their group, substep by substep.

Pairs between two of its tets act in every substep, as points do. The forces of pairs with other bodies are found for
the step as a whole (`solver/integrators/nonlinear_step.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...constraints.external_forces import ExternalForces
from ...constraints.pair_forces import PairForces
from ...constraints.point_forces import PointForces
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats
from ..system.external_blocks import pair_forces

Acting = TypeVar("Acting", PointForces, PairForces)

CONTACT_DAMPING_RATIO = 1.0  # damping of contacts over k h, which within the limit is at most about the critical one


@dataclass
class GroupContacts:
    """Springs and contacts of a group.

    Attributes:
        points, normals: On points of its tets, which way contacts push, zero for springs, (k, 3).
        pairs, pair_normals: Between two of its tets, and which way contacts push the points p, (k, 3).
    """

    points: PointForces
    normals: Floats
    pairs: PairForces
    pair_normals: Floats

    def contacts_as_points(self) -> PointForces:
        """Returns all contacts as points; those of pairs are as stiff as if their ends moved against each other."""
        pairs, own = self.pairs, (self.normals != 0.0).any(axis=1)
        both = (self.pair_normals != 0.0).any(axis=1)
        stiff = 2.0 * pairs.stiffness
        none = np.zeros_like(stiff)
        one = select_forces(PointForces(pairs.tet, pairs.weights, pairs.force, stiff, none), both)
        other = select_forces(PointForces(pairs.other, pairs.other_weights, pairs.force, stiff, none), both)
        return PointForces.concatenate(select_forces(self.points, own), one, other)


def group_contacts(external_forces: ExternalForces, tets: Indices) -> GroupContacts:
    """Returns the springs and contacts on the tets of a group, rising."""
    points, pairs = external_forces.points, external_forces.pairs
    normals = np.zeros((len(points), 3))
    if external_forces.contact_normals is not None:
        normals[len(points) - external_forces.contact_count :] = external_forces.contact_normals
    place, own = _group_indices(tets, points.tet)
    (here, is_here), (there, is_there) = _group_indices(tets, pairs.tet), _group_indices(tets, pairs.other)
    inner, across = is_here & is_there, np.zeros((len(pairs), 3))
    if external_forces.pair_normals is not None:
        across = external_forces.pair_normals
    return GroupContacts(
        select_forces(replace(points, tet=place), own),
        normals[own],
        select_forces(replace(pairs, tet=here, other=there), inner),
        floats(across[inner]),
    )


def inter_group_forces(model: Model, nodes: Indices, tets: Indices, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns the forces on nodes at the end of a step [N], (n, 3), of pairs between a group and other bodies.

    Args:
        model: The whole.
        nodes, tets: Of the group, in the whole.
        pairs: All.
        dt: Δt [s].
        v: Velocities at the end of the step [m/s], (n, 3).
    """
    out = np.zeros_like(v)
    if len(pairs):
        (_, is_here), (_, is_there) = _group_indices(tets, pairs.tet), _group_indices(tets, pairs.other)
        forces = pair_forces(model, select_forces(pairs, is_here ^ is_there), dt, v)
        out[nodes] = forces[nodes]
    return out


@dataclass(frozen=True)
class SubstepSolve:
    """One of the two linear solves of a substep.

    Attributes:
        tets: Nodes of the tets of the group, (m, 4).
        moved: How far nodes have moved since the start of the step [m], (n, 3).
        v: Velocities [m/s], (n, 3).
        h, substep: Length of the solve, and of the substep [s].
        is_first: Whether it is the first solve, step 1 of the scheme.
    """

    tets: Indices
    moved: Floats
    v: Floats
    h: float
    substep: float
    is_first: bool


def active_points(contacts: GroupContacts, solve: SubstepSolve) -> PointForces:
    """Returns the active points: forces at the positions of a solve, and the stiffness from there, in step 1 alone."""
    points = contacts.points
    if not len(points):
        return points
    motion = points.positions(solve.moved, solve.tets), points.positions(solve.v, solve.tets)
    force, stiffness, damping, is_active = _active_forces(points, points.damping, contacts.normals, motion, solve)
    return select_forces(replace(points, force=force, stiffness=stiffness, damping=damping), is_active)


def active_pairs(contacts: GroupContacts, solve: SubstepSolve) -> PairForces:
    """Returns the same for pairs, with their damping as a stiffness over the length of the solve."""
    pairs = contacts.pairs
    if not len(pairs):
        return pairs
    motion = pairs.relative_positions(solve.moved, solve.tets), pairs.relative_positions(solve.v, solve.tets)
    no_damping = np.zeros_like(pairs.stiffness)
    force, stiffness, damping, is_active = _active_forces(pairs, no_damping, contacts.pair_normals, motion, solve)
    return select_forces(replace(pairs, force=force, stiffness=stiffness + damping / solve.h), is_active)


def select_forces(group: Acting, which: npt.NDArray) -> Acting:
    """Returns some of the points or pairs."""
    if which.dtype == bool and which.all():
        return group
    return type(group)(*(np.ascontiguousarray(getattr(group, field.name)[which]) for field in fields(group)))


def _active_forces(
    group: PointForces | PairForces,
    damping: Floats,
    normals: Floats,
    motion: tuple[Floats, Floats],
    solve: SubstepSolve,
) -> tuple[Floats, Floats, Floats, Bools]:
    """Returns forces at the positions of a solve, stiffness from there, damping, and which are active: contacts push.

    Args:
        group: Springs and contacts, k of them.
        damping: Their own [N s/m], (k, 3, 3).
        normals: Which way contacts push, zero for springs, (k, 3).
        motion: How far points have moved [m], and their velocities [m/s], (k, 3) each; of pairs relative ones.
        solve: The solve.
    """
    force, stiffness, (apart, speed), h = group.force, group.stiffness, motion, solve.h
    force = force - np.einsum("kij,kj->ki", stiffness, apart)
    is_contact = (normals != 0.0).any(axis=1)
    along = np.einsum("kij,ki,kj->k", stiffness, normals, normals)
    damping = damping + (CONTACT_DAMPING_RATIO * solve.substep * along)[:, None, None] * np.einsum(
        "ki,kj->kij", normals, normals
    )
    ahead = force - h * np.einsum("kij,kj->ki", stiffness, speed) if solve.is_first else force
    pressed = np.einsum("ki,ki->k", ahead, normals)
    slowed = np.einsum("kij,ki,kj->k", damping, normals, speed)
    is_active = ~is_contact | ((pressed > 0.0) & (pressed > slowed))
    return force, stiffness if solve.is_first else np.zeros_like(stiffness), damping, is_active


def _group_indices(tets: Indices, numbers: Indices) -> tuple[Indices, Bools]:
    """Returns the numbers of tets in a group, and whether they are in it."""
    place = np.minimum(np.searchsorted(tets, numbers), max(len(tets) - 1, 0)).astype(np.int32)
    return place, tets[place] == numbers if len(numbers) else np.zeros(0, bool)
