# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a scene as attachments find them, and the surfaces that rows are about, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import Binding
from ...mesh.geometry.signed_distance_derivatives import MovingSurface
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.strand_mesh import outward_and_strand_faces
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.attachment import body_of_wrap
from ...scene.contact import Collider
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from .attachment_potential import NO_VERTICES
from .origin_surface import ColliderPoints, SurfacePoints
from .target_surface import TargetSurface, animated_vertices

NO_INDICES, NO_PLACES = np.zeros(0, np.int32), np.zeros((0, 4))


@dataclass(frozen=True, eq=False)
class AttachableBodies:
    """What attachments are found from: all bodies of a scene, in their order.

    Attributes:
        scene, tracks: The scene and its animated inputs.
        model: All bodies in one.
        surfaces, bindings: Their render surfaces, and the vertices in tets of each body alone.
        points: On their surfaces, in tets of the model.
        collider_points: On those of colliders that are attached to bodies, by key.
        hinges: Of sheets, by the number of the body: the tet of each triangle, in the body alone.
    """

    scene: Scene
    tracks: TrackReader
    model: Model
    surfaces: Sequence[Surface]
    bindings: Sequence[Binding]
    points: Sequence[SurfacePoints]
    collider_points: Mapping[str, ColliderPoints] = field(default_factory=dict)
    hinges: Mapping[int, Indices] = field(default_factory=dict)

    def rest_vertices(self, target: TargetSurface) -> Floats:
        """Returns the vertices of a surface at rest [m], (v, 3)."""
        if target.body is not None:
            return target.simulated_vertices(self.model.X, self.model.tets)
        return target.rest_vertices


class TargetSurfaces:
    """The surfaces that attachments need, each made once."""

    def __init__(self, bodies: AttachableBodies) -> None:
        self._bodies, self._made = bodies, dict[str, TargetSurface]()

    def find(self, key: str) -> TargetSurface:
        """Returns the surface of a body, a collider or a bone."""
        if key not in self._made:
            self._made[key] = _target_surface(self._bodies, key)
        return self._made[key]


def _target_surface(bodies: AttachableBodies, key: str) -> TargetSurface:
    scene, model = bodies.scene, bodies.model
    for number, body in enumerate(scene.bodies):
        if body.key == body_of_wrap(key):
            binding = bodies.bindings[number]
            tet = indices(binding.tet + np.int32(model.bodies[number].tets.start))
            rest = np.einsum("va,vai->vi", binding.weights, model.X[model.tets[tet]])
            triangles, face = outward_and_strand_faces(bodies.surfaces[number])
            first = 0
            hinge = NO_INDICES
            if number in bodies.hinges:
                hinge = indices(bodies.hinges[number][face] + np.int32(model.bodies[number].tets.start))
            if body.key != key:  # the Wrap inside of it alone
                first = len(body.vertices) - body.wrap_vertices
                triangles = triangles[(triangles >= first).all(axis=1)]
            return TargetSurface(
                body.name,
                number,
                MovingSurface(rest, triangles),
                tet,
                binding.weights,
                np.zeros((0, 3)),
                first_vertex=first,
                hinge=hinge,
            )
    animated = [("collider", collider) for collider in scene.colliders] + [("bone", bone) for bone in scene.bones]
    owner, found = next((owner, each) for owner, each in animated if each.key == key)
    vertices, track = floats(found.vertices), f"{owner}.{key}"
    rest = floats(found.rest_vertices) if isinstance(found, Collider) else NO_VERTICES
    if not len(rest):
        rest = animated_vertices(vertices, track, found.name, bodies.tracks, scene.settings.start_time)
    surface = MovingSurface(rest, indices(found.triangles))
    return TargetSurface(found.name, None, surface, NO_INDICES, NO_PLACES, vertices, track, rest)
