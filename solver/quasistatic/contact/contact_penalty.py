# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact penalty ½ k φ² of flesh at one time, as a potential force of the quasistatic solve.

Every evaluation of the energy finds the contacts with colliders anew. Only an assembly of the tangent finds contacts
between pieces of flesh; until the next, each is a fixed plane. Where limbs are deep in each other, two places of a
surface may be equally close, and an energy that jumps from one to the other would stop a line search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...contact.colliders.rigid_colliders import POSED_KEY_SUFFIX, BuiltCollider
from ...linalg.point_stiffness_assembly import add_point_terms
from ...runtime.arrays import Bools, Floats
from ...scene.tracks import TrackReader
from ..contact_stiffness_blocks import NodeCouplings
from ..sums_by_body import SumsByBody
from . import collider_sdf
from .carried_contacts import CarriedContacts
from .exit_projection import SurfacePenetrations
from .flesh_contact import FleshContact
from .linearised_contacts import MAX_FORCE_DEPTH, LinearisedContacts, find_linearised_contacts

SHEET_PENETRATION_REACH = 4.0  # depth behind an open sheet up to which it pushes, in tet sizes


@dataclass(frozen=True, eq=False)
class ColliderPenetrations:
    """Points inside a collider: its key, numbers, depths [m], directions out, and the definite part of ∂²(½ φ²)."""

    collider: str
    point: np.ndarray
    depth: Floats
    normal: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False)
class PointDepths:
    """How deep points are in one collider, or in flesh: their numbers, depths [m] and shares of the penalty, (c,).

    Attributes:
        collider: The key of the collider; None: flesh.
        triangle: Of flesh, that of its surface where each point would come out, (c,).
    """

    point: np.ndarray
    depth: Floats
    share: Floats
    collider: str | None = None
    triangle: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class _MovedBodies:
    """The bodies that a solve moves now, of b.

    Attributes:
        bodies: Which these are, (b,).
        has_point: Whether they have each of all points, (k,).
        contact: Which finds their contacts alone.
        all_contacts: Those of all bodies when it began to move these alone.
        other_penetrations: Of other bodies then; None: there were none.
    """

    bodies: Bools
    has_point: Bools
    contact: FleshContact
    all_contacts: LinearisedContacts | None
    other_penetrations: SurfacePenetrations | None

    def all_penetrations(self, own: SurfacePenetrations | None) -> SurfacePenetrations | None:
        """Returns those of other bodies with those that these have now."""
        if own is None or self.other_penetrations is None:
            return self.other_penetrations if own is None else own
        return SurfacePenetrations.merge(own, self.other_penetrations)


class ContactPenalty:
    """The penalty ½ k φ² of all penetrating points; from a depth of `MAX_FORCE_DEPTH` on its force is constant.

    Attributes:
        waits_for_untangling: It does not act while inverted tets are untangled, since these contain nothing.
        tied_nodes: It ties none.
        penalty_factor: Factor on the penalty.
        carried: Contacts of the equilibrium before, which the first linear solve expects to find again; None: none.
    """

    waits_for_untangling = True
    tied_nodes: Bools | None = None

    def __init__(self, contact: FleshContact, poses: Sequence[Floats], sides: Sequence[np.ndarray]) -> None:
        self.contact, self.poses, self.sides = contact, tuple(poses), tuple(sides)
        self.penalty_factor = 1.0
        self.carried: CarriedContacts | None = None
        self._expected: Floats | None = None
        self.sums = SumsByBody(contact.model)
        self._is_frozen = False
        self._linearised: LinearisedContacts | None = None
        self._previous: SurfacePenetrations | None = None  # of the last search, which persist
        self._moved: _MovedBodies | None = None
        self._couplings: NodeCouplings | None = None
        self._clearances = [self._unknown_clearance(collider) for collider in contact.colliders] if self.poses else []
        self._in_colliders: tuple[Floats, list[ColliderPenetrations]] | None = None

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,)."""
        k, total = self.penalty_factor * self.contact.stiffness, np.zeros(self.sums.count)
        for pressed in self.collider_penetrations(x):
            total += self._energies(k, pressed)
        if self._linearised is not None:
            total += self._in_bodies(self._linearised.energies(k, x), self._linearised)
        return total

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds forces and tangent at x; returns the energies [J]. See `PotentialForce`; `couplings` has the rest."""
        contact, k, total = self.contact, self.penalty_factor * self.contact.stiffness, np.zeros(self.sums.count)
        model, points = contact.model, contact.points
        for pressed in self.collider_penetrations(x):
            which, total = pressed.point, total + self._energies(k, pressed)
            own = k[which] * np.minimum(1.0, self._max_force_depth[which] / pressed.depth)
            add_point_terms(
                1.0,
                points.tet[which],
                points.weights[which],
                own[:, None, None] * pressed.curvature,
                np.zeros_like(pressed.curvature),
                (own * pressed.depth)[:, None] * pressed.normal,
                model.tets,
                model.pattern.corner_block,
                values,
                force,
            )
        self._expected = None if self.carried is None else self._add_carried(self.carried, x, values)
        if not self._is_frozen:
            searched = contact if self._moved is None else self._moved.contact
            self._find(searched, x)
        self._couplings = None
        if self._linearised is not None:
            energies, self._couplings = self._linearised.add(k, x, force)
            total += self._in_bodies(energies, self._linearised)
        return total

    def expected_forces(self) -> Floats | None:
        """Returns what contacts add that are expected to close again [N], (n, 3); see `ExpectingForce`."""
        return self._expected

    def begin_step(self) -> None:
        """Expects nothing from the next positions on: a linear solve knows all contacts now."""
        self.carried = None

    def _add_carried(self, carried: CarriedContacts, x: Floats, values: Floats) -> Floats:
        """Adds the stiffness of contacts that are expected to close again; returns their forces [N], (n, 3)."""
        points, model, is_pressed = self.contact.points, self.contact.model, np.zeros(len(self.contact.points), bool)
        for pressed in self.collider_penetrations(x):
            is_pressed[pressed.point] = True
        rows, gap = carried.lifted(self.contact.positions(x), is_pressed, points.tet_size)
        which, normal, force = carried.point[rows], carried.normal[rows], np.zeros_like(x)
        k = self.penalty_factor * self.contact.stiffness[which]
        along = k[:, None, None] * np.einsum("ki,kj->kij", normal, normal)
        given = model.tets, model.pattern.corner_block, values, force
        pull = (-k * gap)[:, None] * normal
        add_point_terms(1.0, points.tet[which], points.weights[which], along, np.zeros_like(along), pull, *given)
        return force

    @property
    def _max_force_depth(self) -> Floats:
        return MAX_FORCE_DEPTH * self.contact.points.tet_size

    def _energies(self, k: Floats, pressed: ColliderPenetrations) -> Floats:
        limited = np.minimum(pressed.depth, self._max_force_depth[pressed.point])
        energies = k[pressed.point] * limited * (pressed.depth - 0.5 * limited)
        return self.sums.of_tets(energies, self.contact.points.tet[pressed.point])

    def _in_bodies(self, energies: Floats, contacts: LinearisedContacts) -> Floats:
        """Returns the energies of contacts between pieces of flesh, (c,), in the bodies whose points they are, (b,).

        Where the body of a point does not move now, the energy is in that of the surface.
        """
        tet, surface_tet = self._tets(contacts.penetrations)
        if self._moved is not None:
            tet = np.where(self._moved.bodies[self.sums.bodies_of_tets(tet)], tet, surface_tet)
        return self.sums.of_tets(energies, tet)

    def _tets(self, found: SurfacePenetrations) -> tuple[np.ndarray, np.ndarray]:
        """Returns a tet of the body of each point and of each surface that contacts are between, (c,) each."""
        surface = self.contact.surface
        return self.contact.points.tet[found.point], surface.tet[surface.triangles[found.triangle, 0]]

    def _find(self, contact: FleshContact, x: Floats) -> None:
        """Finds the contacts between pieces of flesh at x [m], (n, 3)."""
        self._linearised = find_linearised_contacts(contact, x, self._previous)
        self._previous = None if self._linearised is None else self._linearised.penetrations

    def couplings(self) -> NodeCouplings | None:
        """Returns the couplings of nodes of different tets at the last tangent; see `CouplingForce`."""
        return self._couplings

    def begin(self) -> None:
        """Begins a solve, without previous contacts."""
        self.restrict_to(None)
        if not self._is_frozen:
            self._linearised = self._previous = self._couplings = None

    def restrict_to(self, bodies: Bools | None) -> None:
        """Leaves out contacts that move none of these bodies, (b,); see `CouplingForce`."""
        self._in_colliders = None
        if self._moved is not None:  # contacts that were left out are there again
            self._previous = self._moved.all_penetrations(self._previous)
            self._linearised, self._moved = self._moved.all_contacts, None
        if bodies is None:
            return
        of_point = bodies[self.sums.bodies_of_tets(self.contact.points.tet)]
        searched = self.contact.between(bodies[:, None] | bodies[None, :])
        self._moved = _MovedBodies(bodies, of_point, searched, self._linearised, None)
        if self._previous is not None:
            counts = self._moves(bodies, self._previous)
            self._moved = replace(self._moved, other_penetrations=self._previous.select(~counts))
            self._previous = self._previous.select(counts)
        if self._linearised is not None:
            self._linearised = self._linearised.select(self._moves(bodies, self._linearised.penetrations))

    def _moves(self, bodies: Bools, found: SurfacePenetrations) -> Bools:
        """Returns which contacts move one of some bodies, (c,)."""
        point, surface = (bodies[self.sums.bodies_of_tets(tet)] for tet in self._tets(found))
        return point | surface

    def freeze(self, x: Floats) -> None:
        """Fixes the contacts between pieces of flesh at x [m], as planes, until `unfreeze`."""
        self._find(self.contact, x)
        self._is_frozen = True

    def unfreeze(self) -> None:
        """Lets later tangents find contacts again."""
        self._is_frozen = False

    def count(self, x: Floats) -> int:
        """Returns the number of contacts at x [m], (n, 3)."""
        planes = find_linearised_contacts(self.contact, x)
        return sum(len(pressed.point) for pressed in self.collider_penetrations(x)) + (
            len(planes.couplings) if planes else 0
        )

    def max_depth(self, x: Floats, is_free: Bools) -> tuple[float, float]:
        """Returns the largest depth of points that free nodes could bring out.

        Returns:
            The depth [m]; and in tets of the point's body, of contacts with their full penalty only: at the bottom of a
            fold a harder penalty changes little.
        """
        depths = [(0.0, 0.0), *map(self._largest, self.depths(x, is_free))]
        return max(depth for depth, _ in depths), max(in_tets for _, in_tets in depths)

    def depths(self, x: Floats, is_free: Bools) -> list[PointDepths]:
        """Returns how deep points are that free nodes, (n,), could bring out, for nodes at x [m], (n, 3)."""
        found, planes = self.collider_depths(x, is_free), find_linearised_contacts(self.contact, x)
        if planes is not None:
            depth, which, share = planes.depths(is_free)
            at = planes.penetrations.select(which)
            found.append(PointDepths(at.point, depth, share, None, at.triangle))
        return found

    def collider_depths(self, x: Floats, is_free: Bools) -> list[PointDepths]:
        """Returns the same in colliders alone."""
        contact, found = self.contact, []
        can_move = is_free[contact.model.tets[contact.points.tet]].any(axis=1)
        for pressed in self.collider_penetrations(x):
            own = can_move[pressed.point]
            share = np.ones(int(own.sum()))
            found.append(PointDepths(pressed.point[own], pressed.depth[own], share, pressed.collider))
        return found

    def _largest(self, of: PointDepths) -> tuple[float, float]:
        in_tets = of.depth / self.contact.points.tet_size[of.point]
        return float(of.depth.max(initial=0.0)), float(in_tets[of.share >= 1.0].max(initial=0.0))

    def collider_penetrations(self, x: Floats) -> list[ColliderPenetrations]:
        """Returns points in colliders at x [m], (n, 3), found once for a step's energy and for the forces at its end.

        Nobody writes to these x later.
        """
        if self._in_colliders is None or self._in_colliders[0] is not x:
            self._in_colliders = x, self._find_collider_penetrations(x)
        return self._in_colliders[1]

    def _unknown_clearance(self, collider: BuiltCollider) -> collider_sdf.ColliderClearance:
        ignoring = self.contact.ignoring_points.get(collider.key.removesuffix(POSED_KEY_SUFFIX))
        return collider_sdf.ColliderClearance.unknown(len(self.contact.points), ignoring)

    def _find_collider_penetrations(self, x: Floats) -> list[ColliderPenetrations]:
        if not self.poses:
            return []
        positions, result = self.contact.positions(x), []
        reach = SHEET_PENETRATION_REACH * self.contact.points.tet_size
        given = self.contact.colliders, self.poses, self.sides, self._clearances
        for collider, pose, side, clearance in zip(*given, strict=True):
            key = collider.key.removesuffix(POSED_KEY_SUFFIX)
            points = collider_sdf.SearchedPoints(positions, side, reach, self.contact.extra_thickness)
            asked = None if self._moved is None else self._moved.has_point
            which, depth, normal, curvature = collider_sdf.find_penetrating_points(
                collider, pose, points, clearance, asked
            )
            overlap = self.contact.rest_overlap.get(key)
            if overlap is not None:
                depth, curvature = _beyond_overlap(depth, normal, curvature, overlap[which])
            deep = np.flatnonzero(depth > 0.0)
            if len(deep):
                curvature = np.ascontiguousarray(curvature[deep])
                result.append(ColliderPenetrations(collider.key, which[deep], depth[deep], normal[deep], curvature))
        return result


def _beyond_overlap(depth: Floats, normal: Floats, curvature: Floats, overlap: Floats) -> tuple[Floats, Floats]:
    """Returns how much deeper points are than at rest [m], (k,), and the curvature of half its square, (k, 3, 3)."""
    beyond = np.maximum(depth - overlap, 0.0)
    along = np.einsum("ki,kj->kij", normal, normal)
    share = beyond / np.maximum(depth, 1e-300)
    return beyond, along + share[:, None, None] * (curvature - along)


def contact_penalty(
    contact: FleshContact,
    tracks: TrackReader | None,
    time: float,
    x: Floats | None = None,
    previous_time: float | None = None,
) -> ContactPenalty:
    """Returns the contact penalty at a time.

    Args:
        contact: The flesh.
        tracks: Of the colliders; None if there are none.
        time: [s].
        x: Node positions where the solve begins, the previous equilibrium [m], (n, 3): they tell on which side of open
            sheets points are. None: at rest.
        previous_time: Of that equilibrium [s]; None: the same.

    Raises:
        BadInput: A collider changes its scale or shear.
    """
    if tracks is None or not contact.colliders:
        return ContactPenalty(contact, (), ())
    previous_time = time if previous_time is None else previous_time
    sides = _sheet_sides(
        contact,
        [collider.pose(tracks, previous_time) for collider in contact.colliders],
        contact.model.X if x is None else x,
    )
    return ContactPenalty(contact, [collider.pose(tracks, time) for collider in contact.colliders], sides)


def contact_penalty_at_poses(
    contact: FleshContact, poses: Sequence[Floats], sides: Sequence[np.ndarray] | None = None
) -> ContactPenalty:
    """Returns the contact penalty with colliders at these poses, rows R | t, and points on these sides of sheets.

    Sides are those at rest if they are None.
    """
    return ContactPenalty(contact, poses, _sheet_sides(contact, poses, contact.model.X) if sides is None else sides)


def _sheet_sides(contact: FleshContact, poses: Sequence[Floats], x: Floats) -> list[np.ndarray]:
    positions = contact.positions(x)
    return [
        collider_sdf.sheet_sides(collider, pose, positions)
        for collider, pose in zip(contact.colliders, poses, strict=True)
    ]
