# SPDX-License-Identifier: GPL-3.0-or-later
"""From the attachments that a scene asks for to their links, which are found in the rest pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import barycentric_weights, bind
from ...mesh.geometry.signed_distance_derivatives import SignedDistances
from ...mesh.geometry.triangle_frames import triangle_frames
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.attachment import FIXED, SLIDING, SPRING, Attachment, padded
from ...scene.attachment_resolution import collider_attachments, surface_attachments
from .attachable_bodies import NO_INDICES, NO_PLACES, AttachableBodies, TargetSurfaces
from .edge_links import FIXED_FACTOR, UNLIMITED_REACH, make_edge_links
from .link_energy import fade
from .origin_surface import OriginSurface, origin_of_body, origin_of_collider, sheet_length, softer_moduli
from .sheet_anchors import LEGS, anchor_on_sheet, legs_on_sheet
from .surface_attachments import SurfaceAttachments
from .surface_links import SurfaceLinks
from .target_surface import TargetSurface

# Stiffness per area over E / L: a pressure of E / 10, which strains the material by a tenth, then opens or closes a
# link by a three-hundredth of the body's thickness.
STIFFNESS_FACTOR = 30.0
MAX_ANCHOR_WEIGHT = 3.0  # of a place in a tet at the surface, beyond which the tet that it is in carries it instead


def make_attachments(bodies: AttachableBodies) -> SurfaceAttachments | None:
    """Returns the attachments of a scene; None where there are none.

    Raises:
        BadInput: A target is out of reach; the sentence names it.
    """
    links, targets = [], TargetSurfaces(bodies)
    for number, body in enumerate(bodies.scene.bodies):
        origin: OriginSurface | None = None
        for place, attachments in surface_attachments(bodies.scene, body):
            origin = origin or origin_of_body(
                number, body, bodies.surfaces[number], bodies.points[number], bodies.model
            )
            links += _links_in_reach(bodies, origin, attachments, targets, f"body.{body.key}.attachment.{place}")
    for collider in bodies.scene.colliders:
        if collider.attached_surface is not None:
            found = bodies.collider_points[collider.key]
            origin = origin_of_collider(targets.find(collider.key), found, collider.attached_surface)
            for place, attachments, must_reach in collider_attachments(collider.attached_surface):
                key = f"collider.{collider.key}.attachment.{place}"
                links += _links_in_reach(bodies, origin, attachments, targets, key, must_reach)
    return SurfaceAttachments(tuple(links)) if links else None


def _links_in_reach(
    bodies: AttachableBodies,
    origin: OriginSurface,
    attachments: Sequence[Attachment],
    targets: TargetSurfaces,
    key: str,
    must_reach: bool = True,
) -> list[SurfaceLinks]:
    """Returns the links of attachments that one row stands for.

    Raises:
        BadInput: None of them is in reach, and one has to be (`must_reach`); or an edge is not.
    """
    if attachments and attachments[0].has_edges:
        return make_edge_links(bodies, origin, attachments, targets, key, must_reach)
    found, refused = [], []
    for attachment in attachments:
        try:
            found.append(_make_links(bodies, origin, attachment, targets.find(attachment.target), key))
        except BadInput as problem:
            refused.append(problem)
    if refused and not found and must_reach:
        raise refused[0]
    return found


def _make_links(
    bodies: AttachableBodies, origin: OriginSurface, attachment: Attachment, target: TargetSurface, key: str
) -> SurfaceLinks:
    """Returns the links of one attachment of a surface.

    What is fixed is not made one body with its target, but tied by springs to the tets that its points are in at rest,
    so stiff that the gap stays below what can be seen: each body keeps its own tets and cache, and a key may let go.
    """
    model, reach, rest = bodies.model, attachment.reach, bodies.rest_vertices(target)
    found = target.surface.at(rest).distances(origin.positions)
    paint = origin.paint_at_points(attachment.paint)
    is_fixed = attachment.kind == FIXED
    if len(attachment.target_paint):
        painted = padded(attachment.target_paint, len(rest), target.first_vertex)
        others = painted[target.surface.triangles[found.triangle]]
        paint = paint * np.einsum("kc,kc->k", others, found.weights)
    strength = paint * (np.abs(found.distance) < reach if is_fixed else fade(np.abs(found.distance), reach))
    own = np.flatnonzero(strength > 0.0)
    if not len(own):
        raise _out_of_reach(origin, target, reach, float(np.abs(found.distance[paint > 0.0]).min(initial=np.inf)))
    stiffness = strength[own] * origin.area[own] * _stiffness_per_area(bodies, origin, target)[own]
    if is_fixed:
        stiffness *= FIXED_FACTOR
    share = strength[own] * origin.area[own]
    share /= share.sum()
    if attachment.spring_constant is not None and attachment.kind == SPRING:
        stiffness = attachment.spring_constant * share
    # what a baked body does beside is not known within a step
    are_simulated = target.body is not None and origin.animated is None
    is_damped = attachment.kind == SPRING and attachment.damping > 0.0 and are_simulated
    distance, slides, positions = found.distance[own], attachment.kind == SLIDING, origin.positions[own]
    # a surface faces what it touches; one in which the other is, or that is in the other, looks the same way
    faces = np.einsum("ki,ki->k", origin.normals()[own], found.normal[own]) < 0.0
    anchor_tet, anchor_weights = (NO_INDICES, NO_PLACES)
    anchor_triangle, place, offset, lengths = NO_INDICES, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
    weights = origin.weights[own]
    if not slides and target.is_sheet:
        triangle, nearest = found.triangle[own], found.weights[own]
        if origin.has_tets:
            anchor_tet, anchor_weights = anchor_on_sheet(model, target, triangle, nearest)
            corners = rest[target.surface.triangles[triangle]]
            places = np.einsum("kc,kci->ki", nearest, corners)
            weights = floats(barycentric_weights(model.X, model.tets, places, origin.tet[own]))
        else:
            legs = legs_on_sheet(model, target, triangle, positions)
            anchor_tet, anchor_weights, lengths = legs.tet, legs.weights, legs.length
            own, weights = np.repeat(own, LEGS), np.repeat(weights, LEGS, axis=0)
            stiffness, distance = np.repeat(stiffness, LEGS) * legs.share, np.repeat(distance, LEGS)
            faces = np.repeat(faces, LEGS)
    elif not slides and target.body is not None:
        anchor_tet, anchor_weights = _tet_anchors(model, target, found, own, positions)
    elif not slides:
        corners = rest[target.surface.triangles[found.triangle[own]]]
        anchor_triangle, place = found.triangle[own], found.weights[own]
        apart = positions - np.einsum("kc,kci->ki", place, corners)
        offset = np.einsum("kij,kj->ki", triangle_frames(corners), apart)
    return SurfaceLinks(
        key=key,
        body=origin.body,
        own=origin.own,
        name=origin.name,
        strength=attachment.strength,
        reach=UNLIMITED_REACH if is_fixed else reach,
        tet=origin.tet[own],
        weights=weights,
        stiffness=stiffness,
        target=target,
        rest_distance=distance if slides else np.zeros(0),
        side=np.where(faces | (distance >= 0.0), 1.0, -1.0),
        anchor_tet=anchor_tet,
        anchor_weights=anchor_weights,
        anchor_triangle=anchor_triangle,
        anchor_place=place,
        anchor_offset=offset,
        animated=origin.animated.select(own) if origin.animated is not None else None,
        is_fixed=is_fixed,
        damping=attachment.damping * share if is_damped else np.zeros(0),
        breaking_force=attachment.breaking_force,
        rest_length=lengths,
    )


def _stiffness_per_area(bodies: AttachableBodies, origin: OriginSurface, target: TargetSurface) -> Floats:
    """Returns the stiffness of links per area, at the points of the origin [N/m³], (k,): by the softer side."""
    if target.body is None or not target.is_sheet:
        return STIFFNESS_FACTOR * softer_moduli(origin, target, bodies.model) / origin.thickness
    sheet = bodies.scene.bodies[target.body]
    other = sheet.material.youngs_modulus / sheet_length(sheet, bodies.points[target.body])
    return STIFFNESS_FACTOR * np.minimum(origin.youngs_modulus / origin.thickness, other)


def _out_of_reach(origin: OriginSurface, target: TargetSurface, reach: float, nearest: float) -> BadInput:
    lengths = {"distance": f"{nearest:.3g}", "reach": f"{reach:.3g}"}
    if origin.body is None:
        return BadInput("attachment-reversed-out-of-reach", name=target.name, target=origin.name, **lengths)
    return BadInput("attachment-out-of-reach", name=origin.name, target=target.name, **lengths)


def _tet_anchors(
    model: Model, target: TargetSurface, found: SignedDistances, own: Indices, positions: Floats
) -> tuple[Indices, Floats]:
    """Returns the tets of a body, (k,), near which points are [m], (k, 3), and their weights in these, (k, 4)."""
    corners = target.surface.triangles[found.triangle[own]]
    nearest = corners[np.arange(len(own), dtype=np.int64), np.argmax(found.weights[own], axis=1)]
    tet = target.tet[nearest]
    weights = barycentric_weights(model.X, model.tets, positions, tet)
    # a tet at the surface says nothing of what is deep inside, such as a bone
    far = np.flatnonzero((found.distance[own] < 0.0) & (np.abs(weights).max(axis=1) > MAX_ANCHOR_WEIGHT))
    if len(far) and target.body is not None:
        tets = model.bodies[target.body].tets
        inside = bind(model.X, model.tets[tets], floats(positions[far]))
        tet[far], weights[far] = inside.tet + np.int32(tets.start), inside.weights
    return indices(tet), floats(weights)
