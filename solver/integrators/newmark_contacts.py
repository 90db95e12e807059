# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches bodies that move by Newmark's scheme, in the numbers of their group, and what of it acts in a substep.

Pairs between two of its tets act both ways. Of pairs with another body only the side in the group is known: the other
one moves evenly during the step, in the first run as fast as before the step, later to where the bodies that were
solved for since have gone. These feel the group where its step ends (`flesh_step.py`). So what the two sides give each
other differs by what a force changes within a step, and momentum between them is kept only so well.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices, floats
from .outside import Outside, Pairs, Points

Acting = TypeVar("Acting", Points, Pairs)

BOUNCE = 1.0  # damping of contacts over k h, which within the limit is at most about the critical one


@dataclass
class Touching:
    """Springs and contacts of a group.

    Attributes:
        points, normals: On points of its tets, which way contacts push, zero for springs, (k, 3).
        drift: How far in the step that moves which a point is pushed from [m], (k, 3).
        number: Number of the pair that a point is a side of, or −1, (k,).
        pairs, pair_normals, pair_number: The same between two of its tets.
    """

    points: Points
    normals: Floats
    drift: Floats
    number: Indices
    pairs: Pairs
    pair_normals: Floats
    pair_number: Indices

    def contacts(self) -> Points:
        """Returns all contacts as points; those of pairs are as stiff as if their ends moved against each other."""
        pairs, own = self.pairs, (self.normals != 0.0).any(axis=1)
        both = (self.pair_normals != 0.0).any(axis=1)
        stiff = 2.0 * pairs.stiffness
        none = np.zeros_like(stiff)
        one = some(Points(pairs.tet, pairs.weights, pairs.force, stiff, none), both)
        other = some(Points(pairs.other, pairs.other_weights, pairs.force, stiff, none), both)
        return Points.together(some(self.points, own), one, other)


def touching_of(outside: Outside, tets: Indices, whole_tets: Indices, away: Floats | None) -> Touching:
    """Returns what acts on the tets of a group, rising; `away` is how far all nodes move in the step [m], (n, 3)."""
    points, pairs = outside.points, outside.pairs
    normals = np.zeros((len(points), 3))
    if outside.contact_normals is not None:
        normals[len(points) - outside.contact_count :] = outside.contact_normals
    place, own = _places(tets, points.tet)
    touching = Touching(
        some(replace(points, tet=place), own), normals[own], np.zeros((int(own.sum()), 3)),
        np.full(int(own.sum()), -1, np.int32), Pairs(), np.zeros((0, 3)), np.zeros(0, np.int32),
    )  # fmt: skip
    if not len(pairs) or away is None:
        return touching
    across = np.zeros((len(pairs), 3)) if outside.pair_normals is None else outside.pair_normals
    (here, is_here), (there, is_there) = _places(tets, pairs.tet), _places(tets, pairs.other)
    inner = np.flatnonzero(is_here & is_there)
    touching.pairs = some(replace(pairs, tet=here, other=there), inner)
    touching.pair_normals, touching.pair_number = floats(across[inner]), inner.astype(np.int32)
    moved = [Points(tet, weights).positions(away, whole_tets) for tet, weights in
             ((pairs.tet, pairs.weights), (pairs.other, pairs.other_weights))]  # fmt: skip
    none = np.zeros_like(pairs.stiffness)
    one = Points(here, pairs.weights, pairs.force, pairs.stiffness, none)
    other = Points(there, pairs.other_weights, -pairs.force, pairs.stiffness, none)
    for side, normal, drift, which in (
        (one, across, moved[1], np.flatnonzero(is_here & ~is_there)),
        (other, -across, moved[0], np.flatnonzero(is_there & ~is_here)),
    ):
        touching.points = Points.together(touching.points, some(side, which))
        touching.normals = np.concatenate([touching.normals, normal[which]])
        touching.drift = np.concatenate([touching.drift, drift[which]])
        touching.number = np.concatenate([touching.number, which.astype(np.int32)])
    return touching


def acting_points(
    of: Touching, tets: Indices, moved: Floats, v: Floats, share: float, dt: float, h: float, substep: float,
    is_first: bool,
) -> tuple[Points, Bools]:  # fmt: skip
    """Returns the points that act, as forces at positions and stiffness from there on, which counts in step 1 alone.

    Args:
        of: Springs and contacts.
        tets: Of the group.
        moved, v: How far nodes have moved since the start of the step [m], and velocities [m/s], (n, 3).
        share: Of the step that is over by then.
        dt, h, substep: Of the step, of the solve, and of a substep [s].
        is_first: Whether it is step 1.

    Returns:
        The points, and which of all these are.
    """
    points = of.points
    if not len(points):
        return points, np.zeros(0, bool)
    drift = of.drift if of.drift.any() else None
    apart, speed = points.positions(moved, tets), points.positions(v, tets)
    if drift is not None:
        apart, speed = apart - share * drift, speed - drift / dt
    force, stiffness, damping, acts = _acting(
        points.force, points.stiffness, points.damping, of.normals, apart, speed, h, substep, is_first
    )
    if drift is not None:  # the solve takes both for those of a point that is pushed from what is at rest
        force = force + np.einsum("kij,kj->ki", h * stiffness + damping, drift / dt)
    return some(replace(points, force=force, stiffness=stiffness, damping=damping), acts), acts


def acting_pairs(
    of: Touching, tets: Indices, moved: Floats, v: Floats, h: float, substep: float, is_first: bool
) -> tuple[Pairs, Bools]:
    """Returns the same of pairs, with their damping as a stiffness over the length of the solve."""
    pairs = of.pairs
    if not len(pairs):
        return pairs, np.zeros(0, bool)
    force, stiffness, damping, acts = _acting(
        pairs.force, pairs.stiffness, np.zeros_like(pairs.stiffness), of.pair_normals, pairs.relative(moved, tets),
        pairs.relative(v, tets), h, substep, is_first,
    )  # fmt: skip
    return some(replace(pairs, force=force, stiffness=stiffness + damping / h), acts), acts


def some(group: Acting, which: npt.NDArray) -> Acting:
    """Returns some of the points or pairs."""
    if which.dtype == bool and which.all():
        return group
    return type(group)(*(np.ascontiguousarray(getattr(group, field.name)[which]) for field in fields(group)))


def _acting(
    force: Floats, stiffness: Floats, damping: Floats, normals: Floats, apart: Floats, speed: Floats, h: float,
    substep: float, is_first: bool,
) -> tuple[Floats, Floats, Floats, Bools]:  # fmt: skip
    """Returns forces where points are, stiffness from there on, damping, and which act: contacts only push."""
    force = force - np.einsum("kij,kj->ki", stiffness, apart)
    is_contact = (normals != 0.0).any(axis=1)
    along = np.einsum("kij,ki,kj->k", stiffness, normals, normals)
    damping = damping + (BOUNCE * substep * along)[:, None, None] * np.einsum("ki,kj->kij", normals, normals)
    ahead = force - h * np.einsum("kij,kj->ki", stiffness, speed) if is_first else force
    pressed = np.einsum("ki,ki->k", ahead, normals)
    slowed = np.einsum("kij,ki,kj->k", damping, normals, speed)
    acts = ~is_contact | ((pressed > 0.0) & (pressed > slowed))
    return force, stiffness if is_first else np.zeros_like(stiffness), damping, acts


def _places(tets: Indices, wanted: Indices) -> tuple[Indices, Bools]:
    """Returns the numbers of tets in a group, and whether they are in it."""
    place = np.minimum(np.searchsorted(tets, wanted), max(len(tets) - 1, 0)).astype(np.int32)
    return place, tets[place] == wanted if len(wanted) else np.zeros(0, bool)
