# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of attachments at one time, with its forces and stiffness at any node positions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...mechanics.model import Model
from ...mesh.geometry.signed_distance_derivatives import SignedDistances, SurfaceSnapshot
from ...runtime.arrays import Bools, Floats, Indices
from ..linear_forces import LinearForces
from ..pair_forces import PairForces
from ..point_forces import PointForces
from ..tet_pair_springs import PairTets, tet_pairs
from .surface_links import LinkForces, SurfaceLinks, link_forces

NO_VERTICES = np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class ActiveLinks:
    """The links of one attachment at one time.

    Attributes:
        links: As at rest.
        strength: Factor on their stiffness.
        vertices: Of a collider or bone now [m], (v, 3); of a body they follow from its nodes, (0, 3).
        places: Of sliding links: closest places that are kept as planes; None: they move.
    """

    links: SurfaceLinks
    strength: float
    vertices: Floats = field(default_factory=lambda: NO_VERTICES)
    places: SignedDistances | None = None

    @functools.cached_property
    def animated_target(self) -> SurfaceSnapshot:
        """The target where it is a collider or bone."""
        return self.links.target.surface.at(self.vertices)

    def target_at(self, x: Floats, tets: Indices) -> SurfaceSnapshot:
        """Returns the target for nodes at x [m], (n, 3)."""
        target = self.links.target
        return self.animated_target if target.body is None else target.surface.at(target.simulated_vertices(x, tets))

    def forces(self, x: Floats, tets: Indices) -> LinkForces:
        """Returns what the links do, for nodes at x [m], (n, 3)."""
        return link_forces(self.links, self.strength, x, tets, self.target_at(x, tets), self.places)

    def frozen(self, x: Floats, tets: Indices) -> ActiveLinks:
        """Returns the links with the closest places at x [m], (n, 3), kept as planes."""
        if not self.links.slides:
            return self
        return replace(self, places=self.target_at(x, tets).distances(self.links.points(x, tets)))


@dataclass(frozen=True, eq=False)
class AttachmentPotential:
    """All attachments at one time.

    Attributes:
        active: Their links.
        tets: Nodes of the tets that they are bound to, (m, 4).
    """

    active: tuple[ActiveLinks, ...]
    tets: Indices

    def link_forces(self, x: Floats) -> list[LinkForces]:
        """Returns what all attachments do, for nodes at x [m], (n, 3)."""
        return [each.forces(x, self.tets) for each in self.active]

    def forces_at(self, x: Floats) -> LinearForces:
        """Returns the forces at x [m], (n, 3), as nodes move on from there."""
        return LinearForces.concatenate(*(linear_forces(found) for found in self.link_forces(x)), LinearForces())

    def spring_points(self) -> PointForces:
        """Returns the points that springs hold, with their stiffness alone; what slides is not held."""
        found = []
        for each in self.active:
            own, none = each.links, np.zeros((len(each.links.tet), 3))
            stiffness = (each.strength * own.stiffness)[:, None, None] * np.eye(3)
            if not own.slides:
                found.append(PointForces(own.tet, own.weights, none, stiffness, np.zeros_like(stiffness)))
        return PointForces.concatenate(*found)

    def frozen(self, x: Floats) -> AttachmentPotential:
        """Returns the same with the closest places at x [m], (n, 3), kept as planes."""
        return replace(self, active=tuple(each.frozen(x, self.tets) for each in self.active))

    def of_tets(self, rows: Indices, model: Model) -> AttachmentPotential:
        """Returns the attachments with tets numbered as in `rows`, rising, which are those of `model`."""
        active = tuple(replace(each, links=each.links.of_tets(rows)) for each in self.active)
        return AttachmentPotential(active, model.tets)

    def split(self, bodies: Sequence[int]) -> tuple[AttachmentPotential, AttachmentPotential]:
        """Returns the attachments that move the bodies of these numbers alone, and all others."""
        own = [
            each.links.body in bodies and (each.links.target.body is None or each.links.target.body in bodies)
            for each in self.active
        ]
        inner, others = (
            tuple(each for each, is_own in zip(self.active, own, strict=True) if is_own == wanted)
            for wanted in (True, False)
        )
        return replace(self, active=inner), replace(self, active=others)


def linear_forces(found: LinkForces) -> LinearForces:
    """Returns the forces of links as forces of points, and as pairs where there is a body on both sides."""
    tet, weights = found.attachment
    has_other: Bools = (tet[:, 1:] >= 0).any(axis=1)
    alone, pairs = np.flatnonzero(~has_other), np.flatnonzero(has_other)
    stiffness = found.stiffness
    points = PointForces(
        tet[alone, 0].copy(),
        weights[alone, :4].copy(),
        found.force[alone],
        stiffness[alone],
        np.zeros((len(alone), 3, 3)),
    )
    if not len(pairs):
        return LinearForces(points=points)
    none = np.zeros((len(pairs), 3, 3))
    ends = PointForces(tet[pairs, 0], weights[pairs, :4], found.force[pairs], stiffness[pairs], none)
    between = tet_pairs(pairs, PairTets(tet, weights), ends)
    return LinearForces(points=points, pairs=between if len(between) else PairForces())
