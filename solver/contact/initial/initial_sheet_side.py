# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a sheet points begin that lie on it: on that of their own tet, whatever rounding says.

A sheet has no inside, so a point belongs to the side that it came from. One that begins on a sheet, or a rounding
behind it, has come from nowhere; its tet lies on the side of the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...mechanics.model import Model
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.build_colliders import BuiltCollider
from ..colliders.deforming_collider import is_active
from ..colliders.point_collider import FRONT_ONLY, MIN_FACING_COSINE
from ..detection.contact_points import ContactPoints
from ..detection.persistent_contacts import PersistentContacts
from ..surfaces.collision_surfaces import CollisionSurfaces

MAX_START_DEPTH = 0.1  # how far behind a sheet a point may begin, in sizes of tets


def initial_sheet_sides(
    colliders: Sequence[BuiltCollider],
    skins: CollisionSurfaces | None,
    points: ContactPoints,
    model: Model,
    tracks: TrackReader,
    time: float,
) -> PersistentContacts:
    """Returns what contacts know of sides before anything has moved.

    Args:
        colliders: Rigid ones.
        skins: Of bodies and of colliders that deform; None: there are none.
        points: What rigid colliders are met with.
        model: All bodies, at rest where they begin.
        tracks: Of the scene.
        time: At which they begin [s].
    """
    found: list[_SheetContacts] = []
    middles = model.X[model.tets].mean(axis=1)
    at = np.einsum("ka,kai->ki", points.weights, model.X[model.tets[points.tet]])
    for number, collider in enumerate(colliders):
        if collider.bvh is None or not collider.is_sheet or not is_active(collider.key, tracks, time, time):
            continue
        pose = collider.pose(tracks, time)
        local, inner = ((x - pose[3]) @ pose[:3] for x in (at, middles[points.tet]))
        beside = _contacts_at_sheet(collider.bvh, local, inner, points.tet_size, collider.kind == FRONT_ONLY)
        beside = beside.select(collider.collides_with(points.tet[beside.id]))
        found.append(
            replace(beside, id=beside.id + number * len(points), triangle=np.full(len(beside.id), -1, np.int64))
        )
    if skins is not None:
        first = len(colliders) * max(len(points), 1)
        found += _contacts_at_surfaces(skins, model, middles, tracks, time, first)
    return _to_persistent(found, skins is not None)


def _contacts_at_surfaces(
    skins: CollisionSurfaces, model: Model, middles: Floats, tracks: TrackReader, time: float, first: int
) -> Iterator[_SheetContacts]:
    own = np.flatnonzero(skins.tet >= 0)
    at = np.einsum("ka,kai->ki", skins.weights[own], model.X[model.tets[skins.tet[own]]])
    for skin in np.flatnonzero((skins.body < 0) & (np.diff(skins.triangle_start) > 0)).tolist():
        if not is_active(skins.names[skin], tracks, time, time):
            continue
        bvh = build_bvh(skins.rest, skins.triangles[skins.triangles_of(skin)])
        has_front = bool(skins.is_one_sided[skin])
        beside = _contacts_at_sheet(bvh, at, middles[skins.tet[own]], skins.size[own], has_front)
        beside = beside.select(skins.may_touch[skins.skin_of[own[beside.id]], skin])
        triangle = beside.triangle + int(skins.triangle_start[skin])
        yield replace(beside, id=first + skin * skins.vertex_count + own[beside.id], triangle=triangle)


@dataclass(frozen=True)
class _SheetContacts:
    """Points beside sheets: which ones, or ids; nearest triangles; sides; depths [m]; and n, (k,) and (k, 3)."""

    id: npt.NDArray[np.int64]
    triangle: npt.NDArray[np.int64]
    side: Floats
    depth: Floats
    normal: Floats

    def select(self, which: npt.NDArray) -> _SheetContacts:
        """Returns some of them."""
        return _SheetContacts(*(values[which] for values in vars(self).values()))


def _contacts_at_sheet(bvh: Bvh, at: Floats, inner: Floats, size: Floats, has_front: bool) -> _SheetContacts:
    """Returns which points [m], (k, 3), lie on a sheet or a little behind it, seen from the middles of their tets."""
    near = closest_points(bvh, at, MAX_START_DEPTH * float(size.max(initial=0.0)))
    which = np.flatnonzero(near.distance <= MAX_START_DEPTH * size)
    corners = np.empty_like(bvh.corners.reshape(-1, 3, 3))
    corners[bvh.order] = bvh.corners.reshape(-1, 3, 3)
    triangle = near.triangle[which]
    a, b, c = np.moveaxis(corners[triangle], 1, 0)
    n = np.cross(b - a, c - a)
    n /= np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]
    place = np.einsum("kc,kci->ki", near.weights[which], corners[triangle])
    height = np.einsum("ki,ki->k", n, at[which] - place)
    side = np.where(np.einsum("ki,ki->k", n, inner[which] - place) >= 0.0, 1.0, -1.0)
    distance = near.distance[which]
    is_over = (np.abs(height) >= MIN_FACING_COSINE * distance) | (distance <= 1e-6 * size[which])
    fits = is_over & (side * height <= 1e-6 * size[which]) & ((side > 0.0) | (not has_front))
    depth = np.maximum(-side * height, 0.0)
    found = _SheetContacts(which.astype(np.int64), triangle.astype(np.int64), side, depth, n * side[:, None])
    return found.select(fits)


def _to_persistent(found: list[_SheetContacts], with_skins: bool) -> PersistentContacts:
    """Returns contacts that bear nothing; from a depth they are let out gently."""
    if not found:
        return PersistentContacts.empty()
    id, triangle, side, depth, normal = (np.concatenate([getattr(f, name) for f in found]) for name in vars(found[0]))
    known = PersistentContacts.empty().look_up(id)
    told = triangle.astype(np.int32) if with_skins else None
    return replace(known, side=side.astype(np.int8), shift=-depth, lift=-depth, normal=normal, triangle=told)
