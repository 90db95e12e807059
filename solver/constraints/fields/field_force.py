# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as a force on bodies.

A field pushes a body in two ways. Its *wind factor* is the share that presses on surfaces: there the field is the
air's velocity relative to the surface, whose pressure `aerodynamic_pressure.py` computes. The rest accelerates all
material by what it would accelerate a particle of Blender of the mass 1 by: f = m a(x, v) at every node, so that
neither the density of a body nor that of its mesh changes its motion. a is that at the start of a step, linearised as
`field_kernels.py` says:

    f⁺ = f − m K (x⁺ − x) − m D (v⁺ − v).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import Binding
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Floats, Indices
from ...scene.constant_wind import Wind
from ...scene.gravity import gravity_at
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..aerodynamic_pressure import ExposedFaces, exposed_faces
from ..force import Force, ForceStep
from ..nodes_as_points import tets_of_nodes, weights_of_corners
from ..point_forces import PointForces
from .absorption import Absorber, make_absorbers
from .field_effect import ExposedPoints, FieldMoment, field_effect, no_effect, wind_share
from .field_kernels import FieldEffect
from .field_sources import FieldPlacer

AIR = Wind()  # whose density and drag the pressure of fields is computed with
FRAME_TOLERANCE = 1.0e-6  # of a step's begin, in frames


@dataclass(frozen=True, eq=False)
class FieldForce(Force):
    """All force fields of a scene, and what keyed weights of gravity change, on some of its bodies.

    Attributes:
        scene: The scene.
        placers: Of its fields, in order.
        absorbers: Of its colliders.
        bodies: Numbers of the bodies.
        faces: Their surfaces; None where no field presses on any.
        tet_of_node, corner_of_node: A tet of each node of the model and its corner there, (n,) each.
    """

    scene: Scene
    placers: tuple[FieldPlacer, ...]
    absorbers: tuple[Absorber, ...]
    bodies: tuple[int, ...]
    faces: ExposedFaces | None
    tet_of_node: Indices
    corner_of_node: Indices
    kind: ClassVar[str] = "force fields"

    def restricted_to(self, bodies: Collection[int]) -> FieldForce | None:
        """Returns the fields on the bodies of these numbers alone; None where they act on none of them."""
        own = tuple(number for number in self.bodies if number in set(bodies))
        faces = None if self.faces is None else self.faces.restricted_to(own)
        return replace(self, bodies=own, faces=faces) if own else None

    def remapped(self, whole: Model, tets: Indices) -> FieldForce:
        """Returns the force after nodes have split."""
        tet, corner = tets_of_nodes(tets)
        return replace(self, tet_of_node=tet, corner_of_node=corner)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns what fields do to nodes and surfaces during a step.

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        moment = self._moment(step)
        on_nodes = self._forces_on_nodes(step, moment)
        if self.faces is None:
            return on_nodes
        return PointForces.concatenate(on_nodes, self._forces_on_faces(self.faces, step, moment))

    def _moment(self, step: ForceStep) -> FieldMoment:
        fps = self.scene.settings.fps
        frame = int(np.floor(step.begin * fps + FRAME_TOLERANCE)) + self.scene.settings.frame_start
        return FieldMoment(step.tracks, step.end, frame, 1.0 / fps, 0.0 if step.is_static else step.dt)

    def _forces_on_nodes(self, step: ForceStep, moment: FieldMoment) -> PointForces:
        model, state = step.model, step.state
        own = [model.bodies[number].nodes for number in self.bodies]
        nodes = np.concatenate([np.arange(each.start, each.stop, dtype=np.int32) for each in own])
        body = np.repeat(self.bodies, [each.stop - each.start for each in own])
        first = np.array([part.nodes.start for part in model.bodies], np.int32)
        place = (state.x[nodes], state.v[nodes], nodes - first[body])
        effect = self._sum_of_fields(moment, body, place, is_pressure=False)
        scale = 1.0 / np.array([own.simulated_scale for own in self.scene.bodies])[body]
        lifted = self._gravity_change(step.tracks, step.end)
        acceleration = scale[:, None] * (effect.acceleration + lifted[body])
        is_pushed = acceleration.any(axis=1) | effect.damping.any(axis=(1, 2)) | effect.stiffness.any(axis=(1, 2))
        kept = nodes[is_pushed]
        if not len(kept):
            return PointForces()
        m = model.mass[kept]
        weights = weights_of_corners(self.corner_of_node[kept])
        scaled_mass = (m * scale[is_pushed])[:, None, None]
        damping = scaled_mass * effect.damping[is_pushed]
        force = m[:, None] * acceleration[is_pushed] + np.einsum("kij,kj->ki", damping, state.v[kept])
        return PointForces(self.tet_of_node[kept], weights, force, scaled_mass * effect.stiffness[is_pushed], damping)

    def _forces_on_faces(self, faces: ExposedFaces, step: ForceStep, moment: FieldMoment) -> PointForces:
        points, tets = faces.points(), step.model.tets
        x, v = points.positions(step.state.x, tets), points.positions(step.state.v, tets)
        place = (x, v, np.arange(len(x), dtype=np.int32))
        effect = self._sum_of_fields(moment, faces.vertex_bodies(), place, is_pressure=True)
        if effect.acceleration.any():
            faces.add_pressure(points, x, v, effect.acceleration, effect.damping, AIR.air_density * AIR.drag)
        return points

    def _sum_of_fields(
        self, moment: FieldMoment, body: Indices, place: tuple[Floats, Floats, Indices], is_pressure: bool
    ) -> FieldEffect:
        """Returns what all fields do to points of bodies, (n,), at a place: x, v, and their numbers there."""
        x, v, number = place
        total = no_effect(len(x))
        weights = [own.field_weights for own in self.scene.bodies]
        charge = np.array([own.own_charge for own in weights])[body]
        size = np.array([own.particle_size for own in weights])[body]
        for placer in self.placers:
            share = wind_share(placer.force_field, moment)
            share = share if is_pressure else 1.0 - share
            weight = np.array([self._weight(n, placer, moment) for n in range(len(weights))])[body]
            if share == 0.0 or not weight.any():
                continue
            exposed = ExposedPoints(x, v, weight, charge, size, number)
            effect = field_effect(placer, moment, exposed, self.absorbers)
            for whole, part in zip(total, effect, strict=True):
                whole += share * part
        return total

    def _weight(self, number: int, placer: FieldPlacer, moment: FieldMoment) -> float:
        """Returns the product of the weights of a body for a field."""
        body, field = self.scene.bodies[number], placer.force_field
        if number not in self.bodies or field.key in body.field_weights.excluded:
            return 0.0
        each = [self._body_weight(number, name, moment.tracks, moment.time) for name in ("all", field.kind)]
        return each[0] * each[1]

    def _body_weight(self, number: int, name: str, tracks: TrackReader, time: float) -> float:
        body = self.scene.bodies[number]
        track = f"body.{body.key}.weight_{name}"
        return float(tracks.sample(track, time)) if tracks.has(track) else getattr(body.field_weights, name)

    def _gravity_change(self, tracks: TrackReader, time: float) -> Floats:
        """Returns by how much keyed weights change the gravity that bodies were built with [m/s²], (bodies, 3)."""
        changes = [
            self._body_weight(n, "gravity", tracks, time) - body.field_weights.gravity if n in self.bodies else 0.0
            for n, body in enumerate(self.scene.bodies)
        ]
        return np.outer(changes, gravity_at(self.scene, tracks, time))


def make_fields(
    scene: Scene, tracks: TrackReader, model: Model, surfaces: Sequence[Surface], bindings: Sequence[Binding]
) -> FieldForce | None:
    """Returns the force fields of a scene; None where nothing but constant gravity acts.

    Args:
        scene, tracks: The scene and its animated inputs.
        model: All its bodies.
        surfaces, bindings: Of each body: its render surface, and the vertices of that in the body's own tets.
    """
    has_keyed_gravity = any(tracks.has(f"body.{body.key}.weight_gravity") for body in scene.bodies)
    if not scene.force_fields and not has_keyed_gravity:
        return None
    presses = any(
        field.wind_factor > 0.0 or tracks.has(f"field.{field.key}.wind_factor") for field in scene.force_fields
    )
    tet, corner = tets_of_nodes(model.tets)
    diameters = [body.sheet.thickness for body in scene.bodies]
    return FieldForce(
        scene=scene,
        placers=tuple(FieldPlacer(field) for field in scene.force_fields),
        absorbers=make_absorbers(scene.colliders),
        bodies=tuple(range(len(scene.bodies))),
        faces=exposed_faces(model, surfaces, bindings, diameters) if presses else None,
        tet_of_node=tet,
        corner_of_node=corner,
    )
