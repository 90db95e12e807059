# SPDX-License-Identifier: GPL-3.0-or-later
"""The particles of a body with surface detail: where their targets are, and how these move in the material."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.state import State
from ...mechanics.state_fields import DETAIL_FIELD
from ...mesh.embedding import bind
from ...mesh.geometry.local_thickness import local_thicknesses
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Floats, Indices
from ..surfaces.surface_meshes import SurfacePart

STORED = ("particle", "tet", "weights", "drift")
MAX_THICKNESS_SHARE = 0.4  # depth of dents over the thickness of the body, so that those of both sides do not meet
WEIGHT_TOLERANCE = 1.0e-6  # barycentric weight below zero from which a target is outside of a tet
MIN_VOLUME_RATIO = 1.0e-3  # of a tet to its volume at rest, below which no target moves in it


@dataclass(frozen=True, eq=False)
class DetailBody:
    """A body with surface detail: p particles.

    Attributes:
        number, key: Of the body.
        part: Its particles as they are made, in its own tets, and the triangles between them.
        of_vertex: The particle at each render vertex, −1 for none, (v,).
        nodes, tets: Its tets at rest [m].
        first_tet: Number of its first tet in the model.
        points: Rows of its particles in `ContactPoints`.
        vertices: Rows of its particles in `CollisionSurfaces`; None: the scene has none.
        max_depth: How far each target may move in the material [m], (p,).
    """

    number: int
    key: str
    part: SurfacePart
    of_vertex: Indices
    nodes: Floats
    tets: Indices
    first_tet: int
    points: slice
    vertices: slice | None
    max_depth: Floats


@dataclass(frozen=True, eq=False)
class ParticleTargets:
    """Where some particles of a body are; all others are where its tets have them.

    Attributes:
        particle: Which, rising, (q,).
        tet, weights: Targets, in its own tets, (q,) and (q, 4).
        drift: x_s − x_e [m], (q, 3).
    """

    particle: Indices
    tet: Indices
    weights: Floats
    drift: Floats

    @staticmethod
    def of_particles(body: DetailBody, particle: Indices) -> ParticleTargets:
        """Returns some particles, rising, as they are made."""
        part = body.part
        return ParticleTargets(particle, part.tet[particle], part.weights[particle], np.zeros((len(particle), 3)))

    @staticmethod
    def from_state(body: DetailBody, state: State) -> ParticleTargets:
        """Returns the particles that a state has."""
        names = [DETAIL_FIELD.format(key=body.key, name=name) for name in STORED]
        if names[0] not in state.fields:
            return ParticleTargets.of_particles(body, np.zeros(0, np.int32))
        return ParticleTargets(*(state.fields[name] for name in names))

    def store_in(self, body: DetailBody, state: State) -> None:
        """Stores the particles that are not where their tets would have them."""
        tet, weights = body.part.tet[self.particle], body.part.weights[self.particle]
        moved = (self.tet != tet) | (self.weights != weights).any(axis=1) | self.drift.any(axis=1)
        for name in STORED:
            state.fields[DETAIL_FIELD.format(key=body.key, name=name)] = getattr(self, name)[moved]

    def with_particles(self, body: DetailBody, particle: Indices) -> ParticleTargets:
        """Returns these and further particles, (r,), as they are made where they are not among these."""
        every = np.union1d(self.particle, particle).astype(np.int32)
        joined, own = ParticleTargets.of_particles(body, every), np.searchsorted(every, self.particle)
        joined.tet[own], joined.weights[own], joined.drift[own] = self.tet, self.weights, self.drift
        return joined

    def rest_positions(self, body: DetailBody, which: Indices | slice = slice(None)) -> Floats:
        """Returns the places of some targets in the material at rest [m], (q, 3)."""
        corners = body.nodes[body.tets[self.tet[which]]]
        return np.matmul(self.weights[which][:, None, :], corners)[:, 0]


def depths(body: DetailBody, targets: ParticleTargets) -> Floats:
    """Returns how far targets have moved in the material at rest [m], (q,)."""
    return np.linalg.norm(targets.rest_positions(body) - body.part.rest[targets.particle], axis=1)


def depth_limits(part: SurfacePart, max_depth: float) -> Floats:
    """Returns how far targets may move [m], (p,): at most `max_depth`, and not to the middle of what is thin."""
    thickness, _ = local_thicknesses(Surface(part.rest, part.triangles))
    limits = np.full(len(part.rest), max_depth, np.float64)
    own = np.where(np.isfinite(thickness), MAX_THICKNESS_SHARE * thickness, max_depth)
    np.minimum.at(limits, part.triangles.ravel(), np.repeat(own, 3))
    return limits


def stored_particles(body: DetailBody, state: State) -> Indices:
    """Returns the particles that are dented or pushed, rising, (q,)."""
    return ParticleTargets.from_state(body, state).particle


def move_targets(body: DetailBody, targets: ParticleTargets, which: Indices, by: Floats, x: Floats) -> ParticleTargets:
    """Returns targets of which some have moved in the material, so far as they stay in it and are not too deep.

    Args:
        body: The body.
        targets: Of some of its particles.
        which: Rows of those that move, (r,).
        by: How far, where the tets are now [m], (r, 3).
        x: Positions of its nodes [m], (n, 3).
    """
    tets = body.tets[targets.tet[which]]
    edges = _edges(x[tets])
    is_flat = np.linalg.det(edges) < MIN_VOLUME_RATIO * np.linalg.det(_edges(body.nodes[tets]))
    which, by, tets, edges = which[~is_flat], by[~is_flat], tets[~is_flat], edges[~is_flat]
    along = np.linalg.solve(edges, by[:, :, None])[:, :, 0]
    change = np.concatenate([-along.sum(axis=1, keepdims=True), along], axis=1)
    at, moved = targets.rest_positions(body, which), np.einsum("qa,qai->qi", change, body.nodes[tets])
    particle = targets.particle[which]
    share = _share_within(at - body.part.rest[particle], moved, body.max_depth[particle])[:, None]
    tet, weights = targets.tet[which], targets.weights[which] + share * change
    least = np.minimum(targets.weights[which].min(axis=1), -WEIGHT_TOLERANCE)
    leaves = np.flatnonzero(weights.min(axis=1) < -WEIGHT_TOLERANCE)
    if len(leaves):
        found = bind(body.nodes, body.tets, (at + share * moved)[leaves])
        tet[leaves], weights[leaves] = found.tet, found.weights
    stays_inside = weights.min(axis=1) >= least
    out = ParticleTargets(targets.particle, targets.tet.copy(), targets.weights.copy(), targets.drift)
    out.tet[which[stays_inside]], out.weights[which[stays_inside]] = tet[stays_inside], weights[stays_inside]
    return out


def _edges(corners: Floats) -> Floats:
    """Returns the edges of tets from their first corner, as columns [m], (q, 3, 3)."""
    return np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)


def _share_within(start: Floats, motion: Floats, radius: Floats) -> Floats:
    """Returns the largest share, 0 to 1, of motions [m], (q, 3), that from `start` on stay within radii [m], (q,)."""
    a = np.einsum("qi,qi->q", motion, motion)
    b = np.einsum("qi,qi->q", start, motion)
    c = np.einsum("qi,qi->q", start, start) - radius**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    reach = np.divide(root - b, a, out=np.ones_like(a), where=a > 0.0)
    return np.clip(reach, 0.0, 1.0)
