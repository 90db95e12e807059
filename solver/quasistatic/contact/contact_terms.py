# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh touches at one time, as something that acts in the quasistatic solve.

What is in colliders is looked for anew for every energy. What flesh meets flesh is looked for at every look only, and
in between each contact is a plane at the place that it had: where limbs are deep in each other, two places of a surface
may be as near, and an energy that jumps where one takes over from the other would hold a line search up there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...contact.colliders.build_colliders import POSED_KEY_SUFFIX
from ...linalg.point_terms import add_point_terms
from ...runtime.arrays import Bools, Floats
from ..contact_coupling import NodeCouplings
from . import collider_sdf
from .linearised_contacts import MAX_FORCE_DEPTH, LinearisedContacts, find_linearised_contacts

if TYPE_CHECKING:
    from .flesh_contact import FleshContact

SHEET_PENETRATION_REACH = 4.0  # how far behind an open sheet it still pushes, in tet sizes


@dataclass(frozen=True, eq=False)
class ColliderPenetrations:
    """Points that are in a collider: which, how deep [m], the way out, and the definite part of ∂²(½ φ²)."""

    point: np.ndarray
    depth: Floats
    normal: Floats
    curvature: Floats


class ContactPenalty:
    """The penalty ½ k φ² of all points that are inside something; its force stays from a depth of `MAX_FORCE_DEPTH` on.

    Attributes:
        waits_for_shape: It does not act while tets that are inside out are led back: nothing is inside them.
        factor: By which the penalty is raised.
    """

    waits_for_untangling = True

    def __init__(self, contact: FleshContact, poses: Sequence[Floats], sides: Sequence[np.ndarray]) -> None:
        self.contact, self.poses, self.sides = contact, tuple(poses), tuple(sides)
        self.penalty_factor = 1.0
        self._is_frozen = False
        self._linearised: LinearisedContacts | None = None
        self._couplings: NodeCouplings | None = None

    def energy(self, x: Floats) -> float:
        """Returns the energy at x [m], (n, 3), in joules."""
        k, total = self.penalty_factor * self.contact.stiffness, 0.0
        for pressed in self._collider_penetrations(x):
            total += self._energy(k, pressed)
        return total + (0.0 if self._linearised is None else self._linearised.energy(k, x))

    def add(self, x: Floats, values: Floats, force: Floats) -> float:
        """Adds forces and tangent at x; returns the energy [J]. See `outside.Acting`; `couplings` has the rest."""
        contact, k, total = self.contact, self.penalty_factor * self.contact.stiffness, 0.0
        model, points = contact.model, contact.points
        for pressed in self._collider_penetrations(x):
            which, total = pressed.point, total + self._energy(k, pressed)
            own = k[which] * np.minimum(1.0, self._limit[which] / pressed.depth)
            add_point_terms(
                1.0, points.tet[which], points.weights[which], own[:, None, None] * pressed.curvature,
                np.zeros_like(pressed.curvature), (own * pressed.depth)[:, None] * pressed.normal, model.tets,
                model.pattern.corner_block, values, force,
            )  # fmt: skip
        if not self._is_frozen:
            self._linearised = find_linearised_contacts(contact, x, self._linearised)
        self._couplings = None
        if self._linearised is not None:
            energy, self._couplings = self._linearised.add(k, x, force)
            total += energy
        return total

    @property
    def _limit(self) -> Floats:
        return MAX_FORCE_DEPTH * self.contact.points.tet_size

    def _energy(self, k: Floats, pressed: ColliderPenetrations) -> float:
        less = np.minimum(pressed.depth, self._limit[pressed.point])
        return float(np.sum(k[pressed.point] * less * (pressed.depth - 0.5 * less)))

    def couplings(self) -> NodeCouplings | None:
        """Returns what the last look found that ties nodes of different tets; see `outside.Tying`."""
        return self._couplings

    def begin(self) -> None:
        """Forgets what touched: a solve begins."""
        if not self._is_frozen:
            self._linearised = self._couplings = None

    def freeze(self, x: Floats) -> None:
        """Keeps the contacts that there are at x [m] between pieces of flesh, as planes, and looks for no others."""
        self._linearised = find_linearised_contacts(self.contact, x, self._linearised)
        self._is_frozen = True

    def unfreeze(self) -> None:
        """Looks for contacts again."""
        self._is_frozen = False

    def count(self, x: Floats) -> int:
        """Returns how many points are pushed at x [m], (n, 3)."""
        planes = find_linearised_contacts(self.contact, x)
        return sum(len(pressed.point) for pressed in self._collider_penetrations(x)) + (
            len(planes.couplings) if planes else 0
        )

    def max_depth(self, x: Floats, is_free: Bools) -> tuple[float, float]:
        """Returns how deep a point is that nodes that are free could bring out.

        Returns:
            The depth [m], and in tets of the point's body, there only as far as the penalty is the full one: at the
            bottom of a fold a harder one changes little.
        """
        contact, found = self.contact, [(0.0, 0.0)]
        can_move = is_free[contact.model.tets[contact.points.tet]].any(axis=1)
        for pressed in self._collider_penetrations(x):
            kept = can_move[pressed.point]
            found.append(self._largest(pressed.depth[kept], pressed.point[kept], np.ones(int(kept.sum()))))
        planes = find_linearised_contacts(contact, x)
        if planes is not None:
            found.append(self._largest(*planes.depths(is_free)))
        return max(depth for depth, _ in found), max(share for _, share in found)

    def _largest(self, depth: Floats, point: np.ndarray, share: Floats) -> tuple[float, float]:
        sizes = self.contact.points.tet_size[point]
        return float(depth.max(initial=0.0)), float((depth / sizes)[share >= 1.0].max(initial=0.0))

    def _collider_penetrations(self, x: Floats) -> list[ColliderPenetrations]:
        if not self.poses:
            return []
        places, found = self.contact.positions(x), []
        reach = SHEET_PENETRATION_REACH * self.contact.points.tet_size
        for collider, pose, side in zip(self.contact.colliders, self.poses, self.sides, strict=True):
            depth, normal, curved = collider_sdf.penetration_depths(
                collider, pose, places, side, reach, self.contact.extra_thickness
            )
            passing = self.contact.ignoring_points.get(collider.key.removesuffix(POSED_KEY_SUFFIX))
            which = np.flatnonzero(depth > 0.0 if passing is None else (depth > 0.0) & ~passing)
            if len(which):
                found.append(
                    ColliderPenetrations(which, depth[which], normal[which], np.ascontiguousarray(curved[which]))
                )
        return found
