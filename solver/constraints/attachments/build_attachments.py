# SPDX-License-Identifier: GPL-3.0-or-later
"""From the attachments that a scene asks for to their links, which are found in the rest pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model
from ...mesh.embedding import Binding
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.point_tet import barycentric_rows
from ...mesh.geometry.signed_distance_derivatives import MovingSurface, SignedDistances
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_frames import triangle_frames
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.attachment import FIXED, SLIDING, Attachment, body_of_wrap, padded
from ...scene.attachment_resolution import surface_attachments
from ...scene.contact import Collider
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from .attachment_potential import NO_VERTICES
from .link_energy import fade
from .surface_attachments import SurfaceAttachments
from .surface_links import SurfaceLinks
from .target_surface import TargetSurface, animated_vertices

# Stiffness per area over E / L: a pressure of E / 10, which strains the material by a tenth, then opens or closes a
# link by a three-hundredth of the body's thickness.
STIFFNESS_FACTOR = 30.0
# What is fixed is that many times as stiff: the same pressure opens it by a three-hundred-thousandth of the thickness.
FIXED_FACTOR = 1000.0
UNLIMITED_REACH = 1.0e6  # [m], at which nothing that is fixed is let go
NO_INDICES, NO_PLACES = np.zeros(0, np.int32), np.zeros((0, 4))


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Points all over the surface of a body, k of them.

    Attributes:
        tet, weights: In the tets of the model, (k,) and (k, 4).
        area: Their share of the surface [m²], (k,).
    """

    tet: Indices
    weights: Floats
    area: Floats

    def positions(self, model: Model) -> Floats:
        """Returns where they are at rest [m], (k, 3)."""
        return np.einsum("ka,kai->ki", self.weights, model.X[model.tets[self.tet]])


@dataclass(frozen=True, eq=False)
class AttachableBodies:
    """What attachments are found from: all bodies of a scene, in their order.

    Attributes:
        scene, tracks: The scene and its animated inputs.
        model: All bodies in one.
        surfaces, bindings: Their render surfaces, and the vertices in tets of each body alone.
        points: On their surfaces, in tets of the model.
    """

    scene: Scene
    tracks: TrackReader
    model: Model
    surfaces: Sequence[Surface]
    bindings: Sequence[Binding]
    points: Sequence[SurfacePoints]


def make_attachments(bodies: AttachableBodies) -> SurfaceAttachments | None:
    """Returns the attachments of a scene; None where there are none.

    Raises:
        BadInput: A target is out of reach; the sentence names it.
    """
    links, targets = [], dict[str, TargetSurface]()
    for number, body in enumerate(bodies.scene.bodies):
        for place, attachments in surface_attachments(bodies.scene, body):
            for attachment in attachments:
                if attachment.target not in targets:
                    targets[attachment.target] = _target_surface(bodies, attachment.target)
            key = f"body.{body.key}.attachment.{place}"
            links += _links_in_reach(bodies, number, attachments, targets, key)
    return SurfaceAttachments(tuple(links)) if links else None


def _links_in_reach(
    bodies: AttachableBodies,
    number: int,
    attachments: Sequence[Attachment],
    targets: dict[str, TargetSurface],
    key: str,
) -> list[SurfaceLinks]:
    """Returns the links of attachments that one row stands for; raises BadInput where none of them is in reach."""
    found, refused = [], []
    for attachment in attachments:
        try:
            found.append(_make_links(bodies, number, attachment, targets[attachment.target], key))
        except BadInput as problem:
            refused.append(problem)
    if refused and not found:
        raise refused[0]
    return found


def _target_surface(bodies: AttachableBodies, key: str) -> TargetSurface:
    scene, model = bodies.scene, bodies.model
    for number, body in enumerate(scene.bodies):
        if body.key == body_of_wrap(key):
            binding, first = bodies.bindings[number], model.bodies[number].tets.start
            tet = indices(binding.tet + np.int32(first))
            rest = np.einsum("va,vai->vi", binding.weights, model.X[model.tets[tet]])
            triangles = indices(orient_outward(bodies.surfaces[number]).surface.triangles)
            if body.key != key:  # the Wrap inside of it alone
                triangles = triangles[(triangles >= len(body.vertices) - body.wrap_vertices).all(axis=1)]
            return TargetSurface(
                body.name, number, MovingSurface(rest, triangles), tet, binding.weights, np.zeros((0, 3))
            )
    animated = [("collider", collider) for collider in scene.colliders] + [("bone", bone) for bone in scene.bones]
    owner, found = next((owner, each) for owner, each in animated if each.key == key)
    vertices, track = floats(found.vertices), f"{owner}.{key}"
    rest = floats(found.rest_vertices) if isinstance(found, Collider) else NO_VERTICES
    if not len(rest):
        rest = animated_vertices(vertices, track, found.name, bodies.tracks, scene.settings.start_time)
    surface = MovingSurface(rest, indices(found.triangles))
    return TargetSurface(found.name, None, surface, NO_INDICES, NO_PLACES, vertices, track, rest)


def _make_links(
    bodies: AttachableBodies, number: int, attachment: Attachment, target: TargetSurface, key: str
) -> SurfaceLinks:
    """Returns the links of one attachment of the body of this number.

    What is fixed is not made one body with its target, but tied by springs to the tets that its points are in at rest,
    so stiff that the gap stays below what can be seen: each body keeps its own tets and cache, and a key may let go.
    """
    body, model, points, reach = bodies.scene.bodies[number], bodies.model, bodies.points[number], attachment.reach
    positions, rest = points.positions(model), _rest_vertices(target, bodies)
    found = target.surface.at(rest).distances(positions)
    paint, normal = _surface_values(body, attachment.paint, bodies.surfaces[number], positions)
    is_fixed = attachment.kind == FIXED
    if len(attachment.target_paint):
        others = padded(attachment.target_paint, len(rest))[target.surface.triangles[found.triangle]]
        paint = paint * np.einsum("kc,kc->k", others, found.weights)
    strength = paint * (np.abs(found.distance) < reach if is_fixed else fade(np.abs(found.distance), reach))
    own = np.flatnonzero(strength > 0.0)
    if not len(own):
        nearest = float(np.abs(found.distance[paint > 0.0]).min(initial=np.inf))
        raise BadInput(
            "attachment-reversed-out-of-reach" if attachment.is_reversed else "attachment-out-of-reach",
            name=body.name,
            target=target.name,
            distance=f"{nearest:.3g}",
            reach=f"{reach:.3g}",
        )
    stiffness = strength[own] * points.area[own] * _stiffness_per_area(bodies, number, target, points.tet[own])
    if is_fixed:
        stiffness *= FIXED_FACTOR
    distance, slides = found.distance[own], attachment.kind == SLIDING
    # a surface faces what it touches; one in which the other is, or that is in the other, looks the same way
    faces = np.einsum("ki,ki->k", normal[own], found.normal[own]) < 0.0
    anchor_tet, anchor_weights = (NO_INDICES, NO_PLACES)
    anchor_triangle, place, offset = NO_INDICES, np.zeros((0, 3)), np.zeros((0, 3))
    if not slides and target.body is not None:
        anchor_tet, anchor_weights = _tet_anchors(model, target, found, own, positions[own])
    elif not slides:
        corners = rest[target.surface.triangles[found.triangle[own]]]
        anchor_triangle, place = found.triangle[own], found.weights[own]
        apart = positions[own] - np.einsum("kc,kci->ki", place, corners)
        offset = np.einsum("kij,kj->ki", triangle_frames(corners), apart)
    return SurfaceLinks(
        key=key,
        body=number,
        own=model.bodies[number],
        name=body.name,
        strength=attachment.strength,
        reach=UNLIMITED_REACH if is_fixed else reach,
        tet=points.tet[own],
        weights=points.weights[own],
        stiffness=stiffness,
        target=target,
        rest_distance=distance if slides else np.zeros(0),
        side=np.where(faces | (distance >= 0.0), 1.0, -1.0),
        anchor_tet=anchor_tet,
        anchor_weights=anchor_weights,
        anchor_triangle=anchor_triangle,
        anchor_place=place,
        anchor_offset=offset,
    )


def _rest_vertices(target: TargetSurface, bodies: AttachableBodies) -> Floats:
    if target.body is not None:
        return target.simulated_vertices(bodies.model.X, bodies.model.tets)
    return target.rest_vertices


def _surface_values(body: Body, paint: Floats, surface: Surface, positions: Floats) -> tuple[Floats, Floats]:
    """Returns what is painted at points of the surface, (k,), and its outward normals there, (k, 3)."""
    triangles = orient_outward(surface).surface.triangles
    near = closest_points(build_bvh(body.vertices, triangles), positions)
    corners = body.vertices[triangles[near.triangle]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if not len(paint):
        return np.ones(len(positions)), normal
    return np.einsum("kc,kc->k", paint[triangles[near.triangle]], near.weights), normal


def _stiffness_per_area(bodies: AttachableBodies, number: int, target: TargetSurface, tet: Indices) -> Floats:
    """Returns 30 E / L at points in tets of a body [Pa/m], (k,)."""
    model, points = bodies.model, bodies.points[number]
    E = youngs_modulus(model.mu[tet], model.lam[tet])
    if target.body is not None:
        other = model.bodies[target.body].tets
        volume = model.volume[other]
        E = np.minimum(E, volume @ youngs_modulus(model.mu[other], model.lam[other]) / volume.sum())
    size = 3.0 * model.volume[model.bodies[number].tets].sum() / points.area.sum()
    return STIFFNESS_FACTOR * E / size


def _tet_anchors(
    model: Model, target: TargetSurface, found: SignedDistances, own: Indices, positions: Floats
) -> tuple[Indices, Floats]:
    """Returns the tets of a body, (k,), near which points are [m], (k, 3), and their weights in these, (k, 4)."""
    corners = target.surface.triangles[found.triangle[own]]
    nearest = corners[np.arange(len(own), dtype=np.int64), np.argmax(found.weights[own], axis=1)]
    tet = target.tet[nearest]
    rows, _ = barycentric_rows(model.X, model.tets[tet])
    last = np.einsum("kij,kj->ki", rows, positions - model.X[model.tets[tet, 0]])
    return indices(tet), floats(np.concatenate([1.0 - last.sum(axis=1, keepdims=True), last], axis=1))
