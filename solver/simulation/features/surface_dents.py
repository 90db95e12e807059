# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail as a feature: contacts act on its particles, and those that yield keep their dents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...contact.contact_step import ContactStep
from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.detection.surface_materials import ContactMaterials
from ...contact.surface_detail.kept_dents import begin_with_dents, keep_dents
from ...contact.surface_detail.particle_loads import ParticleLoads, point_loads, vertex_loads
from ...contact.surface_detail.particles import (
    DetailBody,
    ParticleTargets,
    depth_limits,
    depths,
    move_targets,
    stored_particles,
)
from ...contact.surfaces.surface_meshes import body_surface
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import DETAIL_FIELD
from ...mesh.geometry.face_edges import edge_ends, face_edges
from ...mesh.geometry.welding import number_rows
from ...runtime.arrays import Bools, Floats, Indices, indices
from ...runtime.errors import SinewError
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from .feature import BodyNumbers, BuildInputs, Feature

DEPTH_TOLERANCE = 1.0e-6  # relative depth below the largest that counts as this
MAX_EDGE_RATIO = 2.0  # median edge of a mesh over the spacing of particles, from which dents are not drawn that fine


@dataclass(frozen=True, eq=False)
class SurfaceDents(Feature):
    """Bodies with surface detail.

    Attributes:
        bodies: One by one.
    """

    bodies: tuple[DetailBody, ...]
    state_fields: ClassVar[tuple[str, ...]] = (DETAIL_FIELD,)

    @classmethod
    def warnings(cls, body: Body, scene: Scene, tracks: TrackReader, tet_size: float) -> Sequence[SinewError]:
        """Warns where the mesh cannot show what the particles keep."""
        if body.surface_detail is None:
            return ()
        spacing = tet_size / body.surface_detail.particles_per_tet
        ends = edge_ends(body.triangles, face_edges(body.triangles))
        edge = float(np.median(np.linalg.norm(body.vertices[ends[:, 1]] - body.vertices[ends[:, 0]], axis=1)))
        if edge <= MAX_EDGE_RATIO * spacing:
            return ()
        return (SinewError("surface-detail-coarse", name=body.name, edge=f"{edge:.3g}", spacing=f"{spacing:.3g}"),)

    @classmethod
    def build(cls, inputs: BuildInputs) -> SurfaceDents | None:
        """Returns the bodies with surface detail, dented as their starts are; None where there are none."""
        made, first_point = [], 0
        for number, body in enumerate(inputs.scene.bodies):
            count = len(inputs.body_contact_points[number])
            if body.surface_detail is not None:
                made.append(_make_body(inputs, number, slice(first_point, first_point + count)))
                if body.start is not None:
                    begin_with_dents(made[-1], body.start, inputs.state)
            first_point += count
        return cls(tuple(made)) if made else None

    def with_contact_surfaces(self, surfaces: ContactMaterials | None, model: Model, gravity: Floats) -> SurfaceDents:
        """Returns the bodies that know which vertices of the surfaces are their particles."""
        if surfaces is None:
            return self
        return SurfaceDents(
            tuple(replace(body, vertices=surfaces.surfaces.vertices_of(body.number)) for body in self.bodies)
        )

    def present_targets(
        self, model: Model, state: State, points: ContactPoints, materials: ContactMaterials | None
    ) -> tuple[ContactPoints, ContactMaterials | None]:
        """Returns contact points, and surfaces if there are any, with particles where their targets are now."""
        moved = [body for body in self.bodies if len(stored_particles(body, state))]
        if not moved:
            return points, materials
        tet, weights, length = points.tet.copy(), points.weights.copy(), points.yield_length.copy()
        now = [(body, ParticleTargets.from_state(body, state)) for body in moved]
        for body, targets in now:
            rows = body.points.start + targets.particle
            tet[rows], weights[rows] = targets.tet + np.int32(body.first_tet), targets.weights
            length[rows[is_deepest(body, targets)]] = np.inf
        points = points.with_targets(tet, weights, length)
        return points, None if materials is None else _moved_surfaces(model, now, materials)

    def after_part(self, model: Model, state: State, contacts: ContactStep | None) -> None:
        """Moves the targets of particles that yielded, and stores how far all that are pushed have drifted."""
        of_points = point_loads(contacts) if contacts is not None else None
        of_vertices = vertex_loads(contacts) if contacts is not None and contacts.surfaces else None
        for body in self.bodies:
            own = [] if of_points is None else [of_points.within(body.points)]
            if of_vertices is not None and body.vertices is not None:
                own.append(of_vertices.within(body.vertices))
            loads = ParticleLoads.sum(own)
            targets = ParticleTargets.from_state(body, state).with_particles(body, indices(loads.point))
            rows = np.searchsorted(targets.particle, loads.point)
            yields = np.flatnonzero(loads.excess.any(axis=1))
            if len(yields):
                x = state.x[model.bodies[body.number].nodes]
                targets = move_targets(body, targets, indices(rows[yields]), loads.excess[yields], x)
            drift = np.zeros_like(targets.drift)
            if contacts is not None:
                stiffness = contacts.points.binding_stiffness[body.points.start + loads.point]
                drift[rows] = loads.force / stiffness[:, None]
            replace(targets, drift=drift).store_in(body, state)

    def move_render_positions(self, model: Model, state: State, number: int, out: Floats) -> None:
        """Draws render vertices where their particles are."""
        for body in self.bodies:
            targets = ParticleTargets.from_state(body, state)
            if body.number != number or not len(targets.particle):
                continue
            row = np.full(len(body.part.rest), -1, np.int32)
            row[targets.particle] = np.arange(len(targets.particle), dtype=np.int32)
            own = np.where(body.of_vertex >= 0, row[np.maximum(body.of_vertex, 0)], -1)
            vertices = np.flatnonzero(own >= 0)
            own = own[vertices]
            corners = state.x[model.bodies[number].nodes][body.tets[targets.tet[own]]]
            out[vertices] = np.einsum("ka,kai->ki", targets.weights[own], corners) + targets.drift[own]

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns how deep the deepest dent of every body is in the material at rest [m], and its stored particles."""
        found: BodyNumbers = {}
        for body in self.bodies:
            targets = ParticleTargets.from_state(body, state)
            deepest = float(depths(body, targets).max(initial=0.0))
            found[body.key] = {"deepest_dent": deepest, "detail_particles": float(len(targets.particle))}
        return found


def kept_dents(dents: SurfaceDents | None, number: int, state: State) -> dict[str, Floats]:
    """Returns what a start keeps of the dents of a body, by the attributes of `Start` [m]."""
    own = [body for body in dents.bodies if body.number == number] if dents is not None else []
    return keep_dents(own[0], state) if own else {}


def _make_body(inputs: BuildInputs, number: int, points: slice) -> DetailBody:
    body, mesh, surface = inputs.scene.bodies[number], inputs.meshes[number], inputs.surfaces[number]
    assert body.surface_detail is not None
    part = body_surface(surface, mesh, inputs.bindings[number], mesh.report.tet_size, body.surface_detail)
    return DetailBody(
        number=number,
        key=body.key,
        part=part,
        of_vertex=_particle_of_vertex(surface.vertices, part.rest),
        nodes=mesh.nodes,
        tets=mesh.tets,
        first_tet=inputs.model.bodies[number].tets.start,
        points=points,
        vertices=None,
        max_depth=depth_limits(part, body.surface_detail.max_depth * mesh.report.tet_size),
    )


def _particle_of_vertex(vertices: Floats, particles: Floats) -> Indices:
    """Returns the particle at each vertex, −1 where there is none, (v,)."""
    place = number_rows(np.concatenate([particles, vertices]))
    particle = np.full(int(place.max()) + 1, -1, np.int32)
    particle[place[: len(particles)]] = np.arange(len(particles), dtype=np.int32)
    return particle[place[len(particles) :]]


def is_deepest(body: DetailBody, targets: ParticleTargets) -> Bools:
    """Returns which targets are as deep as they may be and yield no more, (q,)."""
    return depths(body, targets) > (1.0 - DEPTH_TOLERANCE) * body.max_depth[targets.particle]


def _moved_surfaces(
    model: Model, now: Sequence[tuple[DetailBody, ParticleTargets]], materials: ContactMaterials
) -> ContactMaterials:
    """Returns the surfaces with particles where their targets are now."""
    surfaces = materials.surfaces
    tet, nodes = surfaces.tet.copy(), surfaces.nodes.copy()
    weights, rest, length = surfaces.weights.copy(), surfaces.rest.copy(), materials.points.yield_length.copy()
    for body, targets in now:
        if body.vertices is None:
            continue
        rows = body.vertices.start + targets.particle
        tet[rows], weights[rows] = targets.tet + np.int32(body.first_tet), targets.weights
        nodes[rows], rest[rows] = model.tets[tet[rows]], targets.rest_positions(body)
        length[rows[is_deepest(body, targets)]] = np.inf
    points = materials.points.with_targets(tet, weights, length)
    return replace(materials, surfaces=surfaces.with_targets(tet, weights, nodes, rest), points=points)
