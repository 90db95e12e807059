# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks the contacts of surfaces through one step: from those of the step before to those that each search adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.jit import kernel
from ...runtime.kernel_argument_tuple import kernel_tuple
from ..detection.persistent_contacts import PersistentContacts
from .closest_point_walk import EDGE_WEIGHT_TOLERANCE, MIN_ALIGNED_COSINE, find_closest_places, triangle_frame
from .collision_surfaces import MAX_CONTACTS_PER_SURFACE, CollisionSurfaces, Int8s, Int64s
from .surface_winding import surface_winding_numbers

KEEP_DIRECTION_DISTANCE = 0.02  # distance from an edge up to which a contact keeps its normal, in tet sizes
MIN_KEEP_DIRECTION_COSINE = 0.0  # cosine between both normals from which it does
MIN_EXIT_TRIANGLE_DEPTH = 0.05  # depth from which a point keeps the triangle by which it leaves, in tet sizes
MAX_WALK_DEPTH = 0.6  # depth from which the whole surface is searched again, in tet sizes
MAX_OUTSIDE_DEPTH = 0.1  # the same for a point that is not inside
OPPOSING_COSINE = -0.3  # cosine between two faces up to which they face each other
MIN_SAME_SIDE_COSINE = 0.3  # cosine to the previous normal below which a face behind the point is a far side


@dataclass(frozen=True, eq=False)
class TrackedContacts:
    """Places where points touch surfaces, k of them, by point, surface and slot.

    Attributes:
        point, surface, slot: (k,) each.
        triangle, place: The triangle, and barycentric weights of the place in it, (k,) and (k, 3).
        local: Normal n in the frame of the triangle, which moves with it (`triangle_frame`), (k, 3).
        side: 1 in front, −1 behind, (k,) int8.
        shift: Gap at which the contact begins to push [m], (k,).
        thickness: Distance that it keeps [m], (k,).
    """

    point: Indices
    surface: Indices
    slot: Indices
    triangle: Indices
    place: Floats
    local: Floats
    side: Int8s
    shift: Floats
    thickness: Floats

    def __len__(self) -> int:
        return len(self.point)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The `TrackedArrays`, as kernels take the contacts."""
        return TrackedArrays(*vars(self).values())

    def key(self, surface_count: int) -> Int64s:
        """Returns point · s + surface, rising, (k,)."""
        return self.point.astype(np.int64) * surface_count + self.surface

    def id(self, surface_count: int, vertex_count: int) -> Int64s:
        """Returns the ids of `PointTriangleContacts`, (k,)."""
        return (self.slot.astype(np.int64) * surface_count + self.surface) * vertex_count + self.point

    def select(self, which: npt.NDArray) -> TrackedContacts:
        """Returns some of them, by mask or index."""
        return TrackedContacts(*(getattr(self, name)[which] for name in TrackedArrays._fields))

    def at_triangles(self, rows: npt.NDArray, places: ClosestPlaces) -> TrackedContacts:
        """Returns these contacts with other triangles, places and normals in some rows."""
        triangle, place, local = self.triangle.copy(), self.place.copy(), self.local.copy()
        triangle[rows], place[rows], local[rows] = places.triangle, places.place, places.local
        return replace(self, triangle=triangle, place=place, local=local)

    def extend(self, others: TrackedContacts, surface_count: int) -> TrackedContacts:
        """Returns these and others, which get the first free slots; those without a free slot are left out."""
        if not len(others):
            return self
        both = TrackedContacts(
            *(np.concatenate([getattr(self, name), getattr(others, name)]) for name in TrackedArrays._fields)
        )
        key, is_new = both.key(surface_count), np.arange(len(both), dtype=np.int64) >= len(self)
        is_taken = np.zeros((len(both), MAX_CONTACTS_PER_SURFACE), bool)
        at = np.searchsorted(key[: len(self)], others.key(surface_count))
        for step in range(MAX_CONTACTS_PER_SURFACE):
            row = np.minimum(at + step, max(len(self) - 1, 0))
            if len(self):
                same = (key[row] == others.key(surface_count)) & (at + step < len(self))
                is_taken[np.arange(len(self), len(both), dtype=np.int64)[same], self.slot[row[same]]] = True
        slot = both.slot.copy()
        slot[is_new] = is_taken[is_new].argmin(axis=1)
        fits = ~is_new | ~is_taken.all(axis=1)
        order = np.lexsort((slot, key))
        return replace(both, slot=slot).select(order[fits[order]])


TrackedArrays = kernel_tuple("TrackedArrays", TrackedContacts)


class ClosestPlaces(NamedTuple):
    """Where k points are closest to surfaces; see `find_closest_places` for what a walk writes."""

    triangle: Indices
    place: Floats
    local: Floats
    distance: Floats

    @staticmethod
    def begin(triangle: Indices) -> ClosestPlaces:
        """Returns arrays for walks that begin at copies of these triangles."""
        k = len(triangle)
        return ClosestPlaces(triangle.astype(np.int32), np.empty((k, 3)), np.empty((k, 3)), np.empty(k))

    def replace_rows(self, rows: npt.NDArray, others: ClosestPlaces) -> None:
        """Copies the places of others into some rows."""
        self.triangle[rows], self.place[rows] = others.triangle, others.place
        self.local[rows], self.distance[rows] = others.local, others.distance


def no_tracked_contacts() -> TrackedContacts:
    """Returns no contacts."""
    whole, rows, numbers = np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0)
    return TrackedContacts(whole, whole, whole, whole, rows, rows, np.zeros(0, np.int8), numbers, numbers)


def track_contacts(
    surfaces: CollisionSurfaces, previous: PersistentContacts, start: Floats, may_touch: Bools
) -> TrackedContacts:
    """Returns the contacts that a step begins with, each at the place of its surface closest to its point.

    Args:
        surfaces: All of them.
        previous: Contacts of the step before, with ids of `PointTriangleContacts` and normals at the start.
        start: Vertices at the start [m], (v, 3).
        may_touch: Which surfaces collide in this step, (s, s).
    """
    if not len(previous) or previous.triangle is None:
        return no_tracked_contacts()
    rest, point = np.divmod(previous.id, surfaces.vertex_count)
    slot, surface = (of.astype(np.int32) for of in np.divmod(rest, len(surfaces)))
    point = point.astype(np.int32)
    places = ClosestPlaces.begin(previous.triangle)
    none = np.zeros(len(previous))
    tracked = TrackedContacts(
        point, surface, slot, places.triangle, places.place, places.local, previous.side, previous.shift, none
    )
    walk_to_closest_places(surfaces, tracked, start, True, places)
    _keep_exit_triangles(surfaces, start, tracked, previous.triangle, places)
    _search_from_too_deep(surfaces, start, tracked, places)
    is_near_edge = (places.place.min(axis=1) <= EDGE_WEIGHT_TOLERANCE) & (
        np.abs(places.distance) < KEEP_DIRECTION_DISTANCE * surfaces.size[point]
    )
    keep_edge_directions(previous.normal, is_near_edge, places.triangle, start, surfaces.triangles, places.local)
    drop_far_side_contacts(
        previous.normal, previous.shift, places.triangle, start, surfaces.triangles, places.local, places.distance
    )
    is_kept = np.isfinite(places.distance) & may_touch[surfaces.surface_of[point], surface]
    is_kept &= slot < MAX_CONTACTS_PER_SURFACE
    order = np.lexsort((slot, tracked.key(len(surfaces))))
    order = order[is_kept[order]]
    tracked = tracked.select(order)
    return add_thickness(surfaces, _without_duplicates(surfaces, tracked, start, floats(places.distance[order])))


def walk_to_closest_places(
    surfaces: CollisionSurfaces,
    contacts: TrackedContacts,
    positions: Floats,
    keeps_plane: bool,
    places: ClosestPlaces,
    *,
    includes_own: bool = False,
) -> None:
    """Writes the places closest to the points of contacts, by walks from `places.triangle`.

    Args:
        surfaces, contacts: The surfaces, and the contacts.
        positions: Vertices [m], (v, 3).
        keeps_plane: See `find_closest_places`.
        places: Changed.
        includes_own: Whether triangles of a point's own surface right beside it count, too.
    """
    point, surface = contacts.point, contacts.surface
    is_own = np.zeros(len(point), bool) if includes_own else surfaces.surface_of[point] == surface
    find_closest_places(
        point,
        places.triangle,
        contacts.side,
        positions,
        surfaces.arrays,
        surfaces.topology,
        surface,
        is_own,
        keeps_plane,
        places.place,
        places.local,
        places.distance,
    )


def _keep_exit_triangles(
    surfaces: CollisionSurfaces, start: Floats, tracked: TrackedContacts, first: Indices, places: ClosestPlaces
) -> None:
    """Leaves contacts that resolve an overlap with a collider at their `first` triangle while behind its plane.

    Otherwise such points would walk from face to face of a round collider, until they pass through it.
    """
    leaves = (tracked.shift < -MIN_EXIT_TRIANGLE_DEPTH * surfaces.size[tracked.point]) & (first >= 0)
    leaves &= places.distance < 0.0
    leaves &= (surfaces.body[tracked.surface] < 0) & surfaces.is_one_sided[tracked.surface]
    rows = np.flatnonzero(leaves)
    if not len(rows):
        return
    a, b, c = np.moveaxis(start[surfaces.triangles[first[rows]]], 1, 0)
    across, away = np.cross(b - a, c - a), start[tracked.point[rows]] - a
    area = np.maximum(np.linalg.norm(across, axis=1), 1e-300)
    height = np.einsum("ki,ki->k", away, across) / area
    v, w = (np.einsum("ki,ki->k", n, across) / area**2 for n in (np.cross(away, c - a), np.cross(b - a, away)))
    weights = np.clip(np.stack([1.0 - v - w, v, w], axis=1), 0.0, 1.0)  # of the projection, moved into the triangle
    behind = height < 0.0
    rows = rows[behind]
    places.triangle[rows] = first[rows]
    places.place[rows] = weights[behind] / weights[behind].sum(axis=1, keepdims=True)
    places.local[rows], places.distance[rows] = [0.0, 0.0, 1.0], height[behind]


def _search_from_too_deep(
    surfaces: CollisionSurfaces, start: Floats, tracked: TrackedContacts, places: ClosestPlaces
) -> None:
    """Searches all triangles of the surface for contacts that are too deep.

    A walk over the faces of a thin body may end behind the plane of a far face although the point is outside.
    """
    point, surface, distance = tracked.point, tracked.surface, places.distance
    counts = (tracked.shift >= 0.0) & (surfaces.surface_of[point] != surface) & surfaces.is_one_sided[surface]
    is_too_deep = counts & (distance < -MAX_WALK_DEPTH * surfaces.size[point])
    # colliders need not have an inside
    is_deep_outside = counts & (surfaces.body[surface] >= 0) & (distance < -MAX_OUTSIDE_DEPTH * surfaces.size[point])
    rows = np.flatnonzero(is_deep_outside & ~is_too_deep)
    is_too_deep[rows[surface_winding_numbers(surfaces, start, point[rows], surface[rows]) < 0.5]] = True
    rows = np.flatnonzero(is_too_deep)
    if len(rows):
        nearest = ClosestPlaces(
            np.full(len(rows), -1, np.int32), places.place[rows], places.local[rows], places.distance[rows]
        )
        walk_to_closest_places(surfaces, tracked.select(rows), start, True, nearest, includes_own=True)
        places.replace_rows(rows, nearest)


def add_thickness(surfaces: CollisionSurfaces, contacts: TrackedContacts) -> TrackedContacts:
    """Returns contacts with the distance that they keep: of both surfaces; in self-contact no more than at rest."""
    thickness = surfaces.thickness[contacts.surface] + surfaces.thickness[surfaces.surface_of[contacts.point]]
    is_own = (surfaces.surface_of[contacts.point] == contacts.surface) & (thickness > 0.0)
    if is_own.any():
        corners = surfaces.rest[surfaces.triangles[contacts.triangle[is_own]]]
        places = np.einsum("kc,kci->ki", contacts.place[is_own], corners)
        thickness = thickness.copy()
        rest_distance = np.linalg.norm(surfaces.rest[contacts.point[is_own]] - places, axis=1)
        thickness[is_own] = np.minimum(thickness[is_own], rest_distance)
    return replace(contacts, thickness=floats(thickness))


def _without_duplicates(
    surfaces: CollisionSurfaces, contacts: TrackedContacts, start: Floats, distance: Floats
) -> TrackedContacts:
    """Returns contacts without duplicates.

    Of contacts of one point at the same place, the one with the largest shift stays. Of two faces of a thin body that
    face each other, the deeper one is dropped, since it would push the point back. A point inside two parts of a
    surface at once, as between lips that have crossed, keeps both.
    """
    is_kept, is_deeper = np.ones(len(contacts), np.bool_), np.zeros(len(contacts), np.bool_)
    key = contacts.key(len(surfaces))
    mark_duplicates(key, contacts.arrays, distance, start, surfaces.triangles, is_kept, is_deeper)
    rows = np.flatnonzero(is_deeper & (surfaces.body[contacts.surface] >= 0))
    if len(rows):
        is_own = surfaces.surface_of[contacts.point[rows]] == contacts.surface[rows]
        once = np.where(is_own, 2.0, 1.5)  # a vertex is about half inside of its own surface
        winding = surface_winding_numbers(surfaces, start, contacts.point[rows], contacts.surface[rows])
        is_kept[rows[winding < once]] = False
    return contacts if is_kept.all() else contacts.select(is_kept)


@kernel()
def keep_edge_directions(normal, is_near_edge, triangle, start, triangles, local):
    """Keeps the previous normals of points right beside an edge: there the direction to the edge is arbitrary.

    Zero normals are unknown.
    """
    frame, before = np.empty((3, 3)), np.empty(3)
    for c in range(len(triangle)):
        if not is_near_edge[c]:
            continue
        triangle_frame(start, triangles, triangle[c], frame)
        along = 0.0
        for row in range(3):
            before[row] = 0.0
            for axis in range(3):
                before[row] += frame[row, axis] * normal[c, axis]
            along += before[row] * local[c, row]
        if along > MIN_KEEP_DIRECTION_COSINE:
            local[c] = before


@kernel()
def drop_far_side_contacts(normal, shift, triangle, start, triangles, local, distance):
    """Drops contacts, by an infinite distance, that are behind a face with another normal than before.

    Contacts that resolve an overlap, with a `shift` below zero, stay, and those with an unknown normal, zero. Around
    the end of a thin body the nearest face is on its far side; pushing a point through the body would add energy. A
    point that really enters there crosses the face, and the search finds it.
    """
    frame = np.empty((3, 3))
    for c in range(len(triangle)):
        if not distance[c] < 0.0 or shift[c] < 0.0:
            continue
        triangle_frame(start, triangles, triangle[c], frame)
        along, square = 0.0, 0.0
        for axis in range(3):
            square += normal[c, axis] * normal[c, axis]
            for row in range(3):
                along += local[c, row] * frame[row, axis] * normal[c, axis]
        if square > 0.0 and along < MIN_SAME_SIDE_COSINE:
            distance[c] = np.inf


@kernel()
def mark_duplicates(key, contacts, distance, start, triangles, is_kept, is_deeper):
    """Unmarks in `is_kept`, of two contacts with equal keys at the same place, the one with less shift, (k,) each.

    Marks in `is_deeper` the deeper one of two behind faces that face each other, unless one resolves an overlap.
    `contacts` are `TrackedArrays`.
    """
    triangle, local, shift = contacts.triangle, contacts.local, contacts.shift
    one, other = np.empty((3, 3)), np.empty((3, 3))
    for step in range(1, MAX_CONTACTS_PER_SURFACE):
        for later in range(step, len(key)):
            first = later - step
            if key[first] != key[later] or not (is_kept[first] and is_kept[later]):
                continue
            is_same = False
            for a in range(3):
                for b in range(3):
                    is_same = is_same or triangles[triangle[first], a] == triangles[triangle[later], b]
            is_within = max(distance[first], distance[later]) < 0.0 and min(shift[first], shift[later]) >= 0.0
            if not is_same and not is_within:
                continue
            triangle_frame(start, triangles, triangle[first], one)
            triangle_frame(start, triangles, triangle[later], other)
            along = 0.0
            for axis in range(3):
                n, m = 0.0, 0.0
                for row in range(3):
                    n += local[first, row] * one[row, axis]
                    m += local[later, row] * other[row, axis]
                along += n * m
            if is_same and along > MIN_ALIGNED_COSINE:
                is_kept[later if shift[first] >= shift[later] else first] = False
            elif is_within and along < OPPOSING_COSINE:
                is_deeper[later if distance[first] >= distance[later] else first] = True
