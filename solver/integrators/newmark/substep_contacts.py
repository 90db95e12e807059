# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches bodies that move by Newmark's scheme, in the numbers of their group, and what of it acts in a substep.

Pairs between two of its tets act in every substep, as what is on points does. What pairs with other bodies push with is
found for the step as a whole (`solver/integrators/nonlinear_step.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...constraints.external_forces import ExternalForces, PairForces, PointForces
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats
from ..system.pair_system import pair_forces

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

    def contacts(self) -> PointForces:
        """Returns all contacts as points; those of pairs are as stiff as if their ends moved against each other."""
        pairs, own = self.pairs, (self.normals != 0.0).any(axis=1)
        both = (self.pair_normals != 0.0).any(axis=1)
        stiff = 2.0 * pairs.stiffness
        none = np.zeros_like(stiff)
        one = select_forces(PointForces(pairs.tet, pairs.weights, pairs.force, stiff, none), both)
        other = select_forces(PointForces(pairs.other, pairs.other_weights, pairs.force, stiff, none), both)
        return PointForces.concatenate(select_forces(self.points, own), one, other)


def group_contacts(outside: ExternalForces, tets: Indices) -> GroupContacts:
    """Returns what acts on the tets of a group, rising."""
    points, pairs = outside.points, outside.pairs
    normals = np.zeros((len(points), 3))
    if outside.contact_normals is not None:
        normals[len(points) - outside.contact_count :] = outside.contact_normals
    place, own = _group_indices(tets, points.tet)
    (here, is_here), (there, is_there) = _group_indices(tets, pairs.tet), _group_indices(tets, pairs.other)
    inner, across = is_here & is_there, np.zeros((len(pairs), 3))
    if outside.pair_normals is not None:
        across = outside.pair_normals
    return GroupContacts(
        select_forces(replace(points, tet=place), own),
        normals[own],
        select_forces(replace(pairs, tet=here, other=there), inner),
        floats(across[inner]),
    )


def inter_group_forces(model: Model, nodes: Indices, tets: Indices, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns what pairs push nodes with at the end of a step [N], (n, 3): those between a group and others.

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


def active_points(
    of: GroupContacts, tets: Indices, moved: Floats, v: Floats, h: float, substep: float, is_first: bool
) -> PointForces:
    """Returns the points that act, as forces at positions and stiffness from there on, which counts in step 1 alone.

    Args:
        of: Springs and contacts.
        tets: Of the group.
        moved, v: How far nodes have moved since the start of the step [m], and velocities [m/s], (n, 3).
        h, substep: Of the solve, and of a substep [s].
        is_first: Whether it is step 1.
    """
    points = of.points
    if not len(points):
        return points
    force, stiffness, damping, acts = _active_forces(
        points.force, points.stiffness, points.damping, of.normals, points.positions(moved, tets),
        points.positions(v, tets), h, substep, is_first,
    )  # fmt: skip
    return select_forces(replace(points, force=force, stiffness=stiffness, damping=damping), acts)


def active_pairs(
    of: GroupContacts, tets: Indices, moved: Floats, v: Floats, h: float, substep: float, is_first: bool
) -> PairForces:
    """Returns the same of pairs, with their damping as a stiffness over the length of the solve."""
    pairs = of.pairs
    if not len(pairs):
        return pairs
    force, stiffness, damping, acts = _active_forces(
        pairs.force,
        pairs.stiffness,
        np.zeros_like(pairs.stiffness),
        of.pair_normals,
        pairs.relative_positions(moved, tets),
        pairs.relative_positions(v, tets),
        h,
        substep,
        is_first,
    )
    return select_forces(replace(pairs, force=force, stiffness=stiffness + damping / h), acts)


def select_forces(group: Acting, which: npt.NDArray) -> Acting:
    """Returns some of the points or pairs."""
    if which.dtype == bool and which.all():
        return group
    return type(group)(*(np.ascontiguousarray(getattr(group, field.name)[which]) for field in fields(group)))


def _active_forces(
    force: Floats, stiffness: Floats, damping: Floats, normals: Floats, apart: Floats, speed: Floats, h: float,
    substep: float, is_first: bool,
) -> tuple[Floats, Floats, Floats, Bools]:  # fmt: skip
    """Returns forces where points are, stiffness from there on, damping, and which act: contacts only push."""
    force = force - np.einsum("kij,kj->ki", stiffness, apart)
    is_contact = (normals != 0.0).any(axis=1)
    along = np.einsum("kij,ki,kj->k", stiffness, normals, normals)
    damping = damping + (CONTACT_DAMPING_RATIO * substep * along)[:, None, None] * np.einsum(
        "ki,kj->kij", normals, normals
    )
    ahead = force - h * np.einsum("kij,kj->ki", stiffness, speed) if is_first else force
    pressed = np.einsum("ki,ki->k", ahead, normals)
    slowed = np.einsum("kij,ki,kj->k", damping, normals, speed)
    acts = ~is_contact | ((pressed > 0.0) & (pressed > slowed))
    return force, stiffness if is_first else np.zeros_like(stiffness), damping, acts


def _group_indices(tets: Indices, wanted: Indices) -> tuple[Indices, Bools]:
    """Returns the numbers of tets in a group, and whether they are in it."""
    place = np.minimum(np.searchsorted(tets, wanted), max(len(tets) - 1, 0)).astype(np.int32)
    return place, tets[place] == wanted if len(wanted) else np.zeros(0, bool)
