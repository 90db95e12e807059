# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a scene before anything has moved: sides of sheets, and initial overlaps.

A sheet has no inside, so a point belongs to the side that it came from. A point that begins on a sheet, or behind it by
rounding, came from nowhere; it belongs to the side of its own tet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state import State
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.collider_narrow_phase import FRONT_ONLY, MIN_FACING_COSINE
from ..colliders.deforming_collider import is_active
from ..colliders.rigid_colliders import BuiltCollider
from ..detection.contact_sample_points import ContactPoints
from ..detection.contact_set import Int64s
from ..detection.persistent_contacts import PersistentContacts
from ..detection.surface_materials import ContactMaterials
from ..surfaces.collision_surfaces import CollisionSurfaces, vertex_positions
from .resolve_overlap import initial_overlaps

MAX_START_DEPTH = 0.1  # depth behind a sheet at which a point may begin, in tet sizes


def initialize_contacts(
    colliders: Sequence[BuiltCollider],
    materials: ContactMaterials | None,
    points: ContactPoints,
    model: Model,
    names: Sequence[str],
    tracks: TrackReader,
    state: State,
) -> None:
    """Stores in a first state the sides of sheets on which points begin, and contacts that resolve initial overlaps.

    Args:
        colliders: Rigid ones.
        materials: Of the surfaces; None: there are none.
        points: That rigid colliders meet.
        model: All bodies, at rest.
        names: Of the bodies.
        tracks: Of the scene.
        state: The first one.

    Raises:
        BadInput: "bodies-overlap".
    """
    surfaces = materials.surfaces if materials else None
    contacts = _initial_sheet_sides(colliders, surfaces, points, model, tracks, state.time)
    if surfaces is not None:
        id_offset = len(colliders) * max(len(points), 1)
        centers = {number: state.x[model.tets[body.tets]].mean(axis=1) for number, body in enumerate(model.bodies)}
        positions = vertex_positions(surfaces, model, state.x)
        contacts = contacts.merge(initial_overlaps(surfaces, names, positions, centers, id_offset))
    if len(contacts):
        contacts.store_in(state)


def _initial_sheet_sides(
    colliders: Sequence[BuiltCollider],
    surfaces: CollisionSurfaces | None,
    points: ContactPoints,
    model: Model,
    tracks: TrackReader,
    time: float,
) -> PersistentContacts:
    """Returns contacts, which do not push, of points on sheets at a time [s], with their sides."""
    parts: list[_SheetContacts] = []
    centers = model.X[model.tets].mean(axis=1)
    positions = np.einsum("ka,kai->ki", points.weights, model.X[model.tets[points.tet]])
    for number, collider in enumerate(colliders):
        if collider.bvh is None or not collider.is_sheet or not is_active(collider.key, tracks, time, time):
            continue
        pose = collider.pose(tracks, time)
        local, inner = ((x - pose[3]) @ pose[:3] for x in (positions, centers[points.tet]))
        part = _contacts_at_sheet(collider.bvh, local, inner, points.tet_size, collider.kind == FRONT_ONLY)
        part = part.select(collider.collides_with(points.tet[part.id]))
        parts.append(replace(part, id=part.id + number * len(points), triangle=np.full(len(part.id), -1, np.int64)))
    if surfaces is not None:
        id_offset = len(colliders) * max(len(points), 1)
        parts += _contacts_at_surfaces(surfaces, model, centers, tracks, time, id_offset)
    return _to_persistent(parts, surfaces is not None)


def _contacts_at_surfaces(
    surfaces: CollisionSurfaces, model: Model, centers: Floats, tracks: TrackReader, time: float, id_offset: int
) -> Iterator[_SheetContacts]:
    own = np.flatnonzero(surfaces.tet >= 0)
    positions = np.einsum("ka,kai->ki", surfaces.weights[own], model.X[model.tets[surfaces.tet[own]]])
    for surface in np.flatnonzero((surfaces.body < 0) & (np.diff(surfaces.triangle_start) > 0)).tolist():
        if not is_active(surfaces.names[surface], tracks, time, time):
            continue
        bvh = build_bvh(surfaces.rest, surfaces.triangles[surfaces.triangles_of(surface)])
        has_front = bool(surfaces.is_one_sided[surface])
        part = _contacts_at_sheet(bvh, positions, centers[surfaces.tet[own]], surfaces.size[own], has_front)
        part = part.select(surfaces.may_touch[surfaces.surface_of[own[part.id]], surface])
        triangle = part.triangle + int(surfaces.triangle_start[surface])
        yield replace(part, id=id_offset + surface * surfaces.vertex_count + own[part.id], triangle=triangle)


@dataclass(frozen=True)
class _SheetContacts:
    """Points at sheets: numbers or ids, nearest triangles, sides, depths [m], (k,) each, and n, (k, 3)."""

    id: Int64s
    triangle: Int64s
    side: Floats
    depth: Floats
    normal: Floats

    def select(self, which: np.ndarray) -> _SheetContacts:
        """Returns some of them."""
        return _SheetContacts(*(values[which] for values in vars(self).values()))


def _contacts_at_sheet(bvh: Bvh, positions: Floats, inner: Floats, size: Floats, has_front: bool) -> _SheetContacts:
    """Returns the points [m], (k, 3), on a sheet or a little behind it, seen from their tets' centers, `inner`."""
    near = closest_points(bvh, positions, MAX_START_DEPTH * float(size.max(initial=0.0)))
    which = np.flatnonzero(near.distance <= MAX_START_DEPTH * size)
    corners = np.empty_like(bvh.corners.reshape(-1, 3, 3))
    corners[bvh.order] = bvh.corners.reshape(-1, 3, 3)
    triangle = near.triangle[which]
    a, b, c = np.moveaxis(corners[triangle], 1, 0)
    n = np.cross(b - a, c - a)
    n /= np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]
    place = np.einsum("kc,kci->ki", near.weights[which], corners[triangle])
    height = np.einsum("ki,ki->k", n, positions[which] - place)
    side = np.where(np.einsum("ki,ki->k", n, inner[which] - place) >= 0.0, 1.0, -1.0)
    distance = near.distance[which]
    is_above = (np.abs(height) >= MIN_FACING_COSINE * distance) | (distance <= 1e-6 * size[which])
    is_kept = is_above & (side * height <= 1e-6 * size[which]) & ((side > 0.0) | (not has_front))
    depth = np.maximum(-side * height, 0.0)
    contacts = _SheetContacts(which.astype(np.int64), triangle.astype(np.int64), side, depth, n * side[:, None])
    return contacts.select(is_kept)


def _to_persistent(parts: list[_SheetContacts], with_surfaces: bool) -> PersistentContacts:
    """Returns contacts that do not push, and gently resolve their depths."""
    if not parts:
        return PersistentContacts.empty()
    id, triangle, side, depth, normal = (np.concatenate([getattr(p, name) for p in parts]) for name in vars(parts[0]))
    return PersistentContacts.without_force(
        id,
        side.astype(np.int8),
        -depth,
        lift=-depth,
        normal=normal,
        triangle=triangle.astype(np.int32) if with_surfaces else None,
    )
