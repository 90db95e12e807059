# SPDX-License-Identifier: GPL-3.0-or-later
"""Dents of surface detail under Exact contact: particles that are pushed too hard give way within a step.

What is drawn is what is kept apart: vertices of the surface are particles, and follow the tets at their targets, which
stay in the material while a step is solved. Once it has converged, each particle that its pairs push with a force f of
more than b δ goes where they push it by f / b − δ, by which the spring of a particle is too long, and the step goes on
from there, until no particle goes by much. So a particle pushes its body with no more than b δ, as by Fast, and takes
none of its momentum. A way of particles that would bring anything too close is shortened, by the times of impact that
limit iterations, so no way that a vertex ever goes crosses a surface.

Particles are where their targets are: what their springs give way before a dent stays, at most δ, a small share of
their spacing, is not simulated, which would need unknowns of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contact.exact.conservative_advancement import limit_motion
from ...contact.exact.pair_search import PairSearch
from ...contact.surface_detail.particles import DetailBody, ParticleTargets, move_targets
from ...integrators.exact_contact.bound_surfaces import BoundSurfaces
from ...integrators.exact_contact.pair_terms import contact_terms
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, Indices, indices
from ...runtime.frozen_memo import derived_from
from ..features.surface_dents import SurfaceDents, is_deepest
from ..simulated_scene import SimulatedScene
from .exact_surfaces import ExactSurfaces

TOLERANCE_SHARE = 0.05  # of the gap: from which on particles give way
ROUND_SHARE = 0.25  # of the gap, by which one goes at most: what is left of a load is then borne by others, too
MAX_SHORTENINGS = 3  # of a way that something limits
FREE_SHARE = 0.9  # of what pairs let it go, to which it is shortened
SAME_PLACE = 1.0e-6  # of the size of a body, within which a vertex is a particle


@dataclass(frozen=True, eq=False)
class DentedVertices:
    """The vertices of the surfaces that are particles of a body, k of them.

    Attributes:
        body: The body.
        vertices: They, (k,).
        particle: Which each is, (k,).
    """

    body: DetailBody
    vertices: Indices
    particle: Indices


def with_dents(
    bound: BoundSurfaces, surfaces: ExactSurfaces, dents: SurfaceDents | None, model: Model, state: State
) -> BoundSurfaces:
    """Returns surfaces whose vertices are where the targets of their particles are in a state.

    Args:
        bound: Of a step.
        surfaces: Of the scene.
        dents: Its bodies with surface detail; None: there are none.
        model, state: The bodies as they are.
    """
    if dents is None:
        return bound
    for own in _dented_vertices(surfaces, dents):
        bound = _moved(bound, own, ParticleTargets.from_state(own.body, state), model)
    return bound


class YieldingDents:
    """The dents of a step.

    Attributes:
        targets: Of the particles of each body, by its key, so far.
    """

    def __init__(self, simulation: SimulatedScene, surfaces: ExactSurfaces, dents: SurfaceDents, model: Model) -> None:
        """Begins with the dents of the state of a simulation, whose bodies are as `model` says in the step."""
        built, points = simulation.built, simulation.built.contact_points
        if model.mu is not built.model.mu:  # of what has softened, or has a key
            points = points.with_moduli(model.mu / built.model.mu)
        self._surfaces, self._points, self._model = surfaces, points, model
        self._bodies = _dented_vertices(surfaces, dents)
        self.targets = {own.body.key: ParticleTargets.from_state(own.body, simulation.state) for own in self._bodies}

    def yielded(self, bound: BoundSurfaces, search: PairSearch, x: Floats, collider: Floats) -> BoundSurfaces | None:
        """Returns the surfaces after particles that are pushed too hard have given way; None: none is."""
        y, now, gap = bound.positions(x, collider), bound, self._surfaces.options.barrier.gap
        pushed = np.zeros_like(y)
        for group in search.pairs(y, y):
            terms = contact_terms(group, y, np.zeros_like(y), self._surfaces.options.barrier)
            np.add.at(pushed, terms.vertices.ravel(), -terms.gradient.reshape(-1, 3))
        for own in self._bodies:
            by = self._excess(own, pushed)
            if np.linalg.norm(by, axis=1).max(initial=0.0) > TOLERANCE_SHARE * gap:
                now = self._give_way(own, by, now, search, x, collider)
        return None if now is bound else now

    def store(self, state: State) -> None:
        """Stores the dents in a state."""
        for own in self._bodies:
            self.targets[own.body.key].store_in(own.body, state)

    def _excess(self, own: DentedVertices, pushed: Floats) -> Floats:
        """Returns how far particles go at once where their springs are too long [m], (p, 3).

        Args:
            own: Of a body.
            pushed: Forces on vertices [N], (v, 3).
        """
        rows = slice(own.body.points.start, own.body.points.stop)
        stiffness, length = self._points.binding_stiffness[rows], self._points.yield_length[rows].copy()
        targets = self.targets[own.body.key]
        length[targets.particle[is_deepest(own.body, targets)]] = np.inf
        force = np.zeros((len(length), 3))
        np.add.at(force, own.particle, pushed[own.vertices])
        size = np.linalg.norm(force, axis=1)
        yields = np.flatnonzero(size > stiffness * length)
        out = np.zeros_like(force)
        excess = size[yields] / stiffness[yields] - length[yields]
        way = np.minimum(excess, ROUND_SHARE * self._surfaces.options.barrier.gap)
        out[yields] = (way / size[yields])[:, None] * force[yields]
        return out

    def _give_way(
        self, own: DentedVertices, by: Floats, bound: BoundSurfaces, search: PairSearch, x: Floats, collider: Floats
    ) -> BoundSurfaces:
        """Returns surfaces whose particles have moved by vectors [m], (p, 3), or by as much as pairs let them."""
        which, body = indices(np.flatnonzero(by.any(axis=1))), own.body
        targets = self.targets[body.key].with_particles(body, which)
        at, y = indices(np.searchsorted(targets.particle, which)), bound.positions(x, collider)
        for _ in range(MAX_SHORTENINGS):
            moved = move_targets(body, targets, at, by[which], x[self._model.bodies[body.number].nodes])
            now = _moved(bound, own, moved, self._model)
            y_end = now.positions(x, collider)
            if np.linalg.norm(y_end - y, axis=1).max() <= TOLERANCE_SHARE * self._surfaces.options.barrier.gap:
                return bound  # those that are pushed are as deep as they may be, or others leave them no room
            free = _free_share(search, self._surfaces, y, y_end)
            if free == 1.0:
                self.targets[body.key] = moved
                return now
            by = FREE_SHARE * free * by
        return bound


def _free_share(search: PairSearch, surfaces: ExactSurfaces, y: Floats, y_end: Floats) -> float:
    """Returns how far of the way from y to y_end [m], (v, 3) each, pairs let vertices go."""
    limit = 1.0
    for group in search.pairs(y, y_end):
        limit = float(
            limit_motion(group.kind, group.vertices, group.thickness, y, y_end - y, surfaces.options.safe, limit)
        )
    return limit


def _dented_vertices(surfaces: ExactSurfaces, dents: SurfaceDents) -> tuple[DentedVertices, ...]:
    """Returns the vertices of each body with surface detail that are particles."""
    return derived_from(surfaces, "dented_vertices", lambda: _find_vertices(surfaces, dents), inputs=(dents,))


def _find_vertices(surfaces: ExactSurfaces, dents: SurfaceDents) -> tuple[DentedVertices, ...]:
    from scipy.spatial import cKDTree

    found, start, rest = [], surfaces.vertex_start, surfaces.bound.mesh.rest
    count = surfaces.first_collider // 2  # bodies, and then points on large faces of each
    for body in dents.bodies:
        parts = (body.number, count + body.number)
        vertices = np.concatenate([np.arange(start[part], start[part + 1], dtype=np.int32) for part in parts])
        size = float(np.ptp(body.part.rest, axis=0).max())
        distance, particle = cKDTree(body.part.rest).query(rest[vertices])
        own = distance < SAME_PLACE * size
        found.append(DentedVertices(body, indices(vertices[own]), indices(particle[own])))
    return tuple(found)


def _moved(bound: BoundSurfaces, own: DentedVertices, targets: ParticleTargets, model: Model) -> BoundSurfaces:
    """Returns surfaces whose vertices are where some targets are now."""
    if not len(targets.particle):
        return bound
    row = np.full(len(own.body.part.rest), -1, np.int32)
    row[targets.particle] = np.arange(len(targets.particle), dtype=np.int32)
    of_vertex = row[own.particle]
    vertices, of_vertex = own.vertices[of_vertex >= 0], of_vertex[of_vertex >= 0]
    tet, nodes, weights = bound.tet.copy(), bound.nodes.copy(), bound.weights.copy()
    tet[vertices] = targets.tet[of_vertex] + np.int32(own.body.first_tet)
    nodes[vertices], weights[vertices] = model.tets[tet[vertices]], targets.weights[of_vertex]
    return replace(bound, tet=tet, nodes=nodes, weights=weights)
