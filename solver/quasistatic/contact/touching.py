# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh touches at one time, as something that acts in the quasistatic solve.

Contacts are looked for anew at every look and for every energy, so that a line search sees what a step runs into.
What a point meets may still change from one look to the next by a jump: where limbs are deep in each other, two
places of a surface may be as near. Where a solve does not arrive for that, contacts are frozen for a while: each then
is a plane at the place it had, and their energy is convex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Bools, Floats
from ...linear.points import add_points
from ..ties import Ties
from . import rigid
from .places import Meetings
from .tying import heights, moves, push_nodes, tie

if TYPE_CHECKING:
    from .flesh_contact import FleshContact

SHEET_REACH = 4.0  # how far behind an open sheet it still pushes, in tet sizes


@dataclass(frozen=True, eq=False)
class Pressed:
    """Points that are in a collider: which, how deep [m], the way out, and the definite part of ∂²(½ φ²)."""

    point: np.ndarray
    depth: Floats
    normal: Floats
    curved: Floats


class Touching:
    """The penalty ½ k φ² of all points that are inside something.

    Attributes:
        waits_for_shape: It does not act while tets that are inside out are led back: nothing is inside them.
        factor: By which the penalty is raised.
    """

    waits_for_shape = True

    def __init__(self, contact: FleshContact, poses: Sequence[Floats], sides: Sequence[np.ndarray]) -> None:
        self.contact, self.poses, self.sides = contact, tuple(poses), tuple(sides)
        self.factor = 1.0
        self._frozen: Meetings | None = None
        self._ties: Ties | None = None

    def energy(self, x: Floats) -> float:
        """Returns the energy at x [m], (n, 3), in joules."""
        k, total = self.factor * self.contact.stiffness, 0.0
        for pressed in self._pressed(x):
            total += 0.5 * float(np.sum(k[pressed.point] * pressed.depth**2))
        met, depth = self._met(x)
        return total + 0.5 * float(np.sum(k[met.point] * depth**2))

    def add(self, x: Floats, values: Floats, force: Floats) -> float:
        """Adds forces and tangent at x; returns the energy [J]. See `outside.Acting`; `ties` has the rest."""
        contact, k, total = self.contact, self.factor * self.contact.stiffness, 0.0
        model, points = contact.model, contact.points
        for pressed in self._pressed(x):
            own, which = k[pressed.point], pressed.point
            total += 0.5 * float(np.sum(own * pressed.depth**2))
            add_points(
                4 * points.tet[which].astype(np.int64), points.weights[which], own[:, None, None] * pressed.curved,
                (own * pressed.depth)[:, None] * pressed.normal, model.tets.ravel(), model.pattern.corner_block,
                values, force,
            )  # fmt: skip
        met, depth = self._met(x)
        own = k[met.point]
        self._ties = tie(model, contact.skin, points, met, np.sqrt(own)) if len(own) else None
        if self._ties is not None:
            found = self._ties
            push_nodes(found.start, found.nodes, found.coefficients, met.normal, own * depth, force)
        return total + 0.5 * float(np.sum(own * depth**2))

    def ties(self) -> Ties | None:
        """Returns what the last look found that ties nodes of different tets; see `outside.Tying`."""
        return self._ties

    def freeze(self, x: Floats) -> None:
        """Keeps the contacts that there are at x [m] between pieces of flesh, as planes, and looks for no others."""
        self._frozen = None
        self._frozen = self._met(x)[0]

    def thaw(self) -> None:
        """Looks for contacts again."""
        self._frozen = None

    def deepest(self, x: Floats, is_free: Bools) -> tuple[float, float]:
        """Returns how deep a point is that nodes that are free could bring out: in metres, and in tets of its body."""
        contact, found = self.contact, [(0.0, 0.0)]
        can_move = is_free[contact.model.tets[contact.points.tet]].any(axis=1)
        for pressed in self._pressed(x):
            kept = can_move[pressed.point]
            found.append(self._largest(pressed.depth[kept], pressed.point[kept]))
        met, depth = self._met(x)
        kept = moves(tie(contact.model, contact.skin, contact.points, met, np.ones(len(depth))), is_free)
        found.append(self._largest(depth[kept], met.point[kept]))
        return max(depth for depth, _ in found), max(share for _, share in found)

    def _largest(self, depth: Floats, point: np.ndarray) -> tuple[float, float]:
        sizes = self.contact.points.tet_size[point]
        return float(depth.max(initial=0.0)), float((depth / sizes).max(initial=0.0))

    def _pressed(self, x: Floats) -> list[Pressed]:
        if not self.poses:
            return []
        places, found = self.contact.positions(x), []
        reach = SHEET_REACH * self.contact.points.tet_size
        for collider, pose, side in zip(self.contact.colliders, self.poses, self.sides, strict=True):
            depth, normal, curved = rigid.depths(collider, pose, places, side, reach)
            which = np.flatnonzero(depth > 0.0)
            if len(which):
                found.append(Pressed(which, depth[which], normal[which], np.ascontiguousarray(curved[which])))
        return found

    def _met(self, x: Floats) -> tuple[Meetings, Floats]:
        """Returns the contacts between pieces of flesh, and how deep each is beyond what it is at rest [m]."""
        if self._frozen is None:
            met = self.contact.meetings(x)
            depth = met.depth - self.contact.rest_depth[met.point]
        else:
            met = self._frozen
            every = tie(self.contact.model, self.contact.skin, self.contact.points, met, np.ones(len(met.point)))
            depth = heights(every, met.normal, x) - self.contact.rest_depth[met.point]
        kept = np.flatnonzero(depth > 0.0)
        return met.some(kept), depth[kept]
