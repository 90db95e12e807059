# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh touches at one time, as something that acts in the quasistatic solve.

What is in colliders is looked for anew for every energy. What flesh meets flesh is looked for at every look only, and
in between each contact is a plane at the place that it had: where limbs are deep in each other, two places of a surface
may be as near, and an energy that jumps where one takes over from the other would hold a line search up there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Bools, Floats
from ...contact.colliders import NOW
from ...late_dataclass import dataclass
from ...linear.points import add_points
from ..ties import Ties
from . import rigid
from .planes import LIMIT, Planes, look

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
    """The penalty ½ k φ² of all points that are inside something; its force stays from a depth of `LIMIT` on.

    Attributes:
        waits_for_shape: It does not act while tets that are inside out are led back: nothing is inside them.
        factor: By which the penalty is raised.
    """

    waits_for_shape = True

    def __init__(self, contact: FleshContact, poses: Sequence[Floats], sides: Sequence[np.ndarray]) -> None:
        self.contact, self.poses, self.sides = contact, tuple(poses), tuple(sides)
        self.factor = 1.0
        self._is_frozen = False
        self._planes: Planes | None = None
        self._ties: Ties | None = None

    def energy(self, x: Floats) -> float:
        """Returns the energy at x [m], (n, 3), in joules."""
        k, total = self.factor * self.contact.stiffness, 0.0
        for pressed in self._pressed(x):
            total += self._work(k, pressed)
        return total + (0.0 if self._planes is None else self._planes.energy(k, x))

    def add(self, x: Floats, values: Floats, force: Floats) -> float:
        """Adds forces and tangent at x; returns the energy [J]. See `outside.Acting`; `ties` has the rest."""
        contact, k, total = self.contact, self.factor * self.contact.stiffness, 0.0
        model, points = contact.model, contact.points
        for pressed in self._pressed(x):
            which, total = pressed.point, total + self._work(k, pressed)
            own = k[which] * np.minimum(1.0, self._limit[which] / pressed.depth)
            add_points(
                1.0, points.tet[which], points.weights[which], own[:, None, None] * pressed.curved,
                np.zeros_like(pressed.curved), (own * pressed.depth)[:, None] * pressed.normal, model.tets,
                model.pattern.corner_block, values, force,
            )  # fmt: skip
        if not self._is_frozen:
            self._planes = look(contact, x, self._planes)
        self._ties = None
        if self._planes is not None:
            energy, self._ties = self._planes.add(k, x, force)
            total += energy
        return total

    @property
    def _limit(self) -> Floats:
        return LIMIT * self.contact.points.tet_size

    def _work(self, k: Floats, pressed: Pressed) -> float:
        less = np.minimum(pressed.depth, self._limit[pressed.point])
        return float(np.sum(k[pressed.point] * less * (pressed.depth - 0.5 * less)))

    def ties(self) -> Ties | None:
        """Returns what the last look found that ties nodes of different tets; see `outside.Tying`."""
        return self._ties

    def begin(self) -> None:
        """Forgets what touched: a solve begins."""
        if not self._is_frozen:
            self._planes = self._ties = None

    def freeze(self, x: Floats) -> None:
        """Keeps the contacts that there are at x [m] between pieces of flesh, as planes, and looks for no others."""
        self._planes = look(self.contact, x, self._planes)
        self._is_frozen = True

    def thaw(self) -> None:
        """Looks for contacts again."""
        self._is_frozen = False

    def count(self, x: Floats) -> int:
        """Returns how many points are pushed at x [m], (n, 3)."""
        planes = look(self.contact, x)
        return sum(len(pressed.point) for pressed in self._pressed(x)) + (len(planes.ties) if planes else 0)

    def deepest(self, x: Floats, is_free: Bools) -> tuple[float, float]:
        """Returns how deep a point is that nodes that are free could bring out.

        Returns:
            The depth [m], and in tets of the point's body, there only as far as the penalty is the full one: at the
            bottom of a fold a harder one changes little.
        """
        contact, found = self.contact, [(0.0, 0.0)]
        can_move = is_free[contact.model.tets[contact.points.tet]].any(axis=1)
        for pressed in self._pressed(x):
            kept = can_move[pressed.point]
            found.append(self._largest(pressed.depth[kept], pressed.point[kept], np.ones(int(kept.sum()))))
        planes = look(contact, x)
        if planes is not None:
            found.append(self._largest(*planes.depths(is_free)))
        return max(depth for depth, _ in found), max(share for _, share in found)

    def _largest(self, depth: Floats, point: np.ndarray, share: Floats) -> tuple[float, float]:
        sizes = self.contact.points.tet_size[point]
        return float(depth.max(initial=0.0)), float((depth / sizes)[share >= 1.0].max(initial=0.0))

    def _pressed(self, x: Floats) -> list[Pressed]:
        if not self.poses:
            return []
        places, found = self.contact.positions(x), []
        reach = SHEET_REACH * self.contact.points.tet_size
        for collider, pose, side in zip(self.contact.colliders, self.poses, self.sides, strict=True):
            depth, normal, curved = rigid.depths(collider, pose, places, side, reach, self.contact.padding)
            passing = self.contact.unfelt.get(collider.key.removesuffix(NOW))
            which = np.flatnonzero(depth > 0.0 if passing is None else (depth > 0.0) & ~passing)
            if len(which):
                found.append(Pressed(which, depth[which], normal[which], np.ascontiguousarray(curved[which])))
        return found
