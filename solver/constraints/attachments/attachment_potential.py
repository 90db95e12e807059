# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of attachments at one time, with its forces and stiffness at any node positions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...mechanics.model import Model
from ...mesh.geometry.signed_distance_derivatives import SignedDistances, SurfaceSnapshot
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.threads.thread_pool import run_parts
from ..linear_forces import LinearForces
from ..pair_forces import PairForces
from ..point_forces import PointForces
from ..tet_pair_springs import PairTets, tet_pairs
from .link_dampers import LinkDampers
from .sheet_anchors import LEGS
from .surface_links import LinkForces, SurfaceLinks, anchors, link_forces

NO_VERTICES = np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class ActiveLinks:
    """The links of one attachment at one time.

    Attributes:
        links: As at rest.
        strength: Factor on their stiffness.
        vertices: Of a collider or bone now [m], (v, 3); of a body they follow from its nodes, (0, 3).
        own_vertices: The same of the side whose points the links begin at.
        places: Of sliding links: closest places that are kept as planes; None: they move.
        dampers: Of springs with damping: what brakes them in this step; None: nothing.
    """

    links: SurfaceLinks
    strength: float
    vertices: Floats = field(default_factory=lambda: NO_VERTICES)
    own_vertices: Floats = field(default_factory=lambda: NO_VERTICES)
    places: SignedDistances | None = None
    dampers: LinkDampers | None = None

    @functools.cached_property
    def animated_target(self) -> SurfaceSnapshot:
        """The target where it is a collider or bone."""
        return self.links.target.surface.at(self.vertices)

    def target_at(self, x: Floats, tets: Indices) -> SurfaceSnapshot:
        """Returns the target for nodes at x [m], (n, 3)."""
        target = self.links.target
        return self.animated_target if target.body is None else target.surface.at(target.simulated_vertices(x, tets))

    def points(self, x: Floats, tets: Indices) -> Floats:
        """Returns where the points are [m], (k, 3), for nodes at x [m], (n, 3)."""
        animated = self.links.animated
        return self.links.points(x, tets) if animated is None else animated.positions(self.own_vertices)

    def forces(self, x: Floats, tets: Indices) -> LinkForces:
        """Returns what the links do, for nodes at x [m], (n, 3)."""
        points, target = self.points(x, tets), self.target_at(x, tets)
        return link_forces(self.links, self.strength, points, x, tets, target, self.places)

    def ends(self, x: Floats, tets: Indices) -> Floats:
        """Returns the places on the other side [m], (k, 3): anchors of springs, the closest places of what slides."""
        target = self.target_at(x, tets)
        if not self.links.slides:
            return anchors(self.links, x, tets, target)
        places = target.distances(self.points(x, tets))
        return np.einsum("kc,kci->ki", places.weights, target.corners[places.triangle])

    def sizes_of_forces(self, x: Floats, tets: Indices) -> Floats:
        """Returns the size of the force of each link without its damping [N], (k,)."""
        force = np.zeros((len(self.links.tet), 3))
        found = self.forces(x, tets)
        force[found.acting] = found.force
        if len(self.links.rest_length) and not self.links.are_edges:  # legs bear together what a spring would
            force = np.repeat(force.reshape(-1, LEGS, 3).sum(axis=1) / LEGS, LEGS, axis=0)
        return floats(np.linalg.norm(force, axis=1))

    def frozen(self, x: Floats, tets: Indices) -> ActiveLinks:
        """Returns the links with the closest places at x [m], (n, 3), kept as planes."""
        if not self.links.slides:
            return self
        return replace(self, places=self.target_at(x, tets).distances(self.points(x, tets)))


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
        found: dict[int, LinkForces] = {}

        def run(number: int) -> None:
            found[number] = self.active[number].forces(x, self.tets)

        run_parts(len(self.active), run)  # most have too few links for several threads
        pulling = [found[number] for number in range(len(self.active))]
        braking = [each.dampers.forces(each.links, x, self.tets) for each in self.active if each.dampers is not None]
        return pulling + braking

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
                held = (own.tet, own.weights) if own.animated is None else (own.anchor_tet, own.anchor_weights)
                found.append(PointForces(*held, none, stiffness, np.zeros_like(stiffness)))
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
        own = [each.links.moved_bodies <= set(bodies) for each in self.active]
        inner, others = (
            tuple(each for each, is_own in zip(self.active, own, strict=True) if is_own == wanted)
            for wanted in (True, False)
        )
        return replace(self, active=inner), replace(self, active=others)


def tied_nodes(potentials: Iterable[AttachmentPotential], count: int) -> Bools | None:
    """Returns which of `count` nodes are in tets that are fixed to those of another body, (n,); None: none are."""
    is_tied = np.zeros(count, bool)
    for potential in potentials:
        for links in (each.links for each in potential.active):
            if links.is_fixed and len(links.moved_bodies) == 2:
                is_tied[potential.tets[links.tet]] = is_tied[potential.tets[links.anchor_tet]] = True
    return is_tied if is_tied.any() else None


def linear_forces(found: LinkForces) -> LinearForces:
    """Returns the forces of links as forces of points, and as pairs where they move several tets."""
    tet, weights = found.attachment
    pairs = np.flatnonzero((tet[:, 1:] >= 0).any(axis=1))
    points = forces_on_points(found)
    if not len(pairs):
        return LinearForces(points=points)
    none, stiffness = np.zeros((len(pairs), 3, 3)), found.stiffness
    ends = PointForces(tet[pairs, 0], weights[pairs, :4], found.force[pairs], stiffness[pairs], none)
    between = tet_pairs(pairs, PairTets(tet, weights), ends)
    if (tet[:, 0] < 0).any():
        points = PointForces.concatenate(points, _forces_on_places(found))
    return LinearForces(points=points, pairs=between if len(between) else PairForces())


def forces_on_points(found: LinkForces) -> PointForces:
    """Returns the forces of those links whose other side is animated."""
    tet, weights = found.attachment
    alone = np.flatnonzero((tet[:, 0] >= 0) & (tet[:, 1:] < 0).all(axis=1))
    none = np.zeros((len(alone), 3, 3))
    return PointForces(
        tet[alone, 0].copy(), weights[alone, :4].copy(), found.force[alone], found.stiffness[alone], none
    )


def _forces_on_places(found: LinkForces) -> PointForces:
    """Returns the forces of those links whose points are animated, on each tet that moves their places.

    A place that moves by u = Σ βₗ uₗ with several tets has, with l < m,

        ½ uᵀ K u = ½ Σ βₗ uₗᵀ K uₗ − ½ Σ βₗ βₘ (uₗ − uₘ)ᵀ K (uₗ − uₘ);

    the second sum is in the pairs of these tets (`tet_pair_springs.py`).
    """
    tet, weights = found.attachment
    each = []
    for end in range(1, tet.shape[1]):
        which = np.flatnonzero((tet[:, 0] < 0) & (tet[:, end] >= 0))
        own = weights[which, 4 * end : 4 * end + 4]
        share = own.sum(axis=1)
        force, stiffness = -share[:, None] * found.force[which], share[:, None, None] * found.stiffness[which]
        each.append(
            PointForces(tet[which, end].copy(), own / share[:, None], force, stiffness, np.zeros_like(stiffness))
        )
    return PointForces.concatenate(*each)
