# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one step, from what is known at its start to what further looks add."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.winding_number import direct_winding_numbers, winding_numbers
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.jit import kernel
from .closest_point_walk import EDGE_WEIGHT_TOLERANCE, MIN_ALIGNED_COSINE, find_closest_places, triangle_frame
from .collision_surfaces import MAX_CONTACTS_PER_SURFACE, CollisionSurfaces, Int8s, Int64s, PreviousContacts

KEEP_DIRECTION_DISTANCE = 0.02  # distance from an edge up to which a contact goes on as it was, in sizes of tets
MIN_KEEP_DIRECTION_COSINE = 0.0  # if the cosine of its turn there is larger
MIN_EXIT_TRIANGLE_DEPTH = (
    0.05  # depth from which what is let out of a collider stays at the triangle that it leaves, in sizes of tets
)
MAX_WALK_DEPTH = 0.6  # depth from which a contact is looked for anew on all of its skin, in sizes of tets
MAX_OUTSIDE_DEPTH = 0.1  # the same where the point is not inside it at all
MAX_DIRECT_SOLID_ANGLES = (
    100_000  # solid angles up to which they are summed up one by one, which takes less than a tree
)
OPPOSING_COSINE = -0.3  # cosine between two faces from which they look against each other
MIN_SAME_SIDE_COSINE = (
    0.3  # cosine between a face and that of the step before, from which what is behind it is on its other side
)


@dataclass(frozen=True, eq=False)
class TrackedContacts:
    """Places where points meet skins, k of them, by point, skin and slot.

    Attributes:
        point, skin, slot: (k,) each.
        triangle, place: The triangle of the skin, and the weights of the place in it, (k,) and (k, 3).
        local: n in the frame of the triangle, which goes along with it (`nearest.frame_of`), (k, 3).
        side: 1 in front, −1 behind, (k,) int8.
        shift: Gap at which it begins to push [m], (k,).
        thickness: Distance that is kept [m], (k,).
    """

    point: Indices
    skin: Indices
    slot: Indices
    triangle: Indices
    place: Floats
    local: Floats
    side: Int8s
    shift: Floats
    thickness: Floats

    def __len__(self) -> int:
        return len(self.point)

    def key(self, skins: int) -> Int64s:
        """Returns point · s + skin, rising, (k,)."""
        return self.point.astype(np.int64) * skins + self.skin

    def id(self, skins: int, vertices: int) -> Int64s:
        """Returns the ids that `Met` has, (k,)."""
        return (self.slot.astype(np.int64) * skins + self.skin) * vertices + self.point

    def select(self, which: npt.NDArray) -> TrackedContacts:
        """Returns some of them, by mask or index."""
        return TrackedContacts(*(getattr(self, name)[which] for name in FIELD_NAMES))

    def extend(self, others: TrackedContacts, skins: int) -> TrackedContacts:
        """Returns these and others, which get the first slots that are free; those that find none are left out."""
        if not len(others):
            return self
        both = TrackedContacts(*(np.concatenate([getattr(self, name), getattr(others, name)]) for name in FIELD_NAMES))
        key, is_new = both.key(skins), np.arange(len(both), dtype=np.int64) >= len(self)
        taken = np.zeros((len(both), MAX_CONTACTS_PER_SURFACE), bool)
        at = np.searchsorted(key[: len(self)], others.key(skins))
        for step in range(MAX_CONTACTS_PER_SURFACE):
            row = np.minimum(at + step, max(len(self) - 1, 0))
            if len(self):
                same = (key[row] == others.key(skins)) & (at + step < len(self))
                taken[np.arange(len(self), len(both), dtype=np.int64)[same], self.slot[row[same]]] = True
        slot = both.slot.copy()
        slot[is_new] = taken[is_new].argmin(axis=1)
        fits = ~is_new | ~taken.all(axis=1)
        order = np.lexsort((slot, key))
        return replace(both, slot=slot).select(order[fits[order]])


FIELD_NAMES = ("point", "skin", "slot", "triangle", "place", "local", "side", "shift", "thickness")


def no_tracked_contacts() -> TrackedContacts:
    """Returns no contacts."""
    whole, rows, numbers = np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0)
    return TrackedContacts(whole, whole, whole, whole, rows, rows, np.zeros(0, np.int8), numbers, numbers)


def track_contacts(
    skins: CollisionSurfaces, known: PreviousContacts, start: Floats, is_active: npt.NDArray
) -> TrackedContacts:
    """Returns the contacts that a step begins with, each at the place of its skin that is nearest to its point.

    Args:
        skins: All of them.
        known: As remembered.
        start: Vertices at the start [m], (v, 3).
        is_active: Which skins meet which in this step, (s, s).
    """
    if not len(known):
        return no_tracked_contacts()
    vertices, count = skins.vertex_count, len(skins)
    rest, point = np.divmod(known.id, vertices)
    slot, skin = np.divmod(rest, count)
    point, skin = point.astype(np.int32), skin.astype(np.int32)
    triangle, is_own = known.triangle.astype(np.int32), skins.skin_of[point] == skin
    place, local, distance = np.empty((len(known), 3)), np.empty((len(known), 3)), np.empty(len(known))
    trees, first = skins.trees, triangle.copy()
    find_closest_places(
        point, triangle, known.side, start, skins.size, skins.triangles, trees.ring_start, trees.ring,
        skins.triangle_start, skin, skins.nodes, is_own, True, place, local, distance,
    )  # fmt: skip
    leaves = (known.shift < -MIN_EXIT_TRIANGLE_DEPTH * skins.size[point]) & (first >= 0) & (distance < 0.0)
    leaves &= (skins.body[skin] < 0) & skins.is_one_sided[skin]
    if leaves.any():
        _keep_exit_triangles(skins, start, np.flatnonzero(leaves), point, first, triangle, place, local, distance)
    lost = _too_deep(skins, start, point, skin, is_own, known.shift, distance)
    if len(lost):
        _search_all_triangles(skins, start, lost, point, skin, known.side, triangle, place, local, distance)
    if known.normal is not None:
        is_kept = (place.min(axis=1) <= EDGE_WEIGHT_TOLERANCE) & (
            np.abs(distance) < KEEP_DIRECTION_DISTANCE * skins.size[point]
        )
        keep_edge_directions(known.normal, is_kept, triangle, start, skins.triangles, local)
        drop_far_side_contacts(known.normal, known.shift, triangle, start, skins.triangles, local, distance)
    held = TrackedContacts(
        point, skin, slot.astype(np.int32), triangle, place, local, known.side, known.shift,
        np.zeros(len(known)),
    )  # fmt: skip
    fits = np.isfinite(distance) & is_active[skins.skin_of[point], skin] & (slot < MAX_CONTACTS_PER_SURFACE)
    order = np.lexsort((held.slot, held.key(count)))
    order = order[fits[order]]
    held = held.select(order)
    return add_thickness(skins, _without_duplicates(skins, held, start, floats(distance[order])))


def _too_deep(
    skins: CollisionSurfaces,
    start: Floats,
    point: Indices,
    skin: Indices,
    is_own: Bools,
    shift: Floats,
    distance: Floats,
) -> Int64s:
    """Returns the contacts that are too deep, rising: who walks from face to face of something thin may end behind the
    plane of a far one, though it is outside."""
    meets = (shift >= 0.0) & ~is_own & skins.is_one_sided[skin]
    lost = meets & (distance < -MAX_WALK_DEPTH * skins.size[point])
    # colliders need not have an inside
    astray = np.flatnonzero(
        meets & (skins.body[skin] >= 0) & (distance < -MAX_OUTSIDE_DEPTH * skins.size[point]) & ~lost
    )
    lost[astray[surface_winding_numbers(skins, start, point[astray], skin[astray]) < 0.5]] = True
    return np.flatnonzero(lost)


def _search_all_triangles(
    skins: CollisionSurfaces,
    start: Floats,
    rows: npt.NDArray,
    point: Indices,
    skin: Indices,
    side: Int8s,
    triangle: Indices,
    place: Floats,
    local: Floats,
    distance: Floats,
) -> None:
    """Takes for some contacts the nearest of all triangles of their skins; see `find_closest_places`."""
    trees, anew = skins.trees, np.full(len(rows), -1, np.int32)
    at, direction, depth = place[rows], local[rows], distance[rows]
    find_closest_places(
        point[rows], anew, side[rows], start, skins.size, skins.triangles, trees.ring_start, trees.ring,
        skins.triangle_start, skin[rows], skins.nodes, np.zeros(len(rows), bool), True, at, direction, depth,
    )  # fmt: skip
    triangle[rows], place[rows], local[rows], distance[rows] = anew, at, direction, depth


def surface_winding_numbers(skins: CollisionSurfaces, at: Floats, point: Indices, skin: Indices) -> Floats:
    """Returns how often skins wind around points, each asked about one, where vertices are `ring` [m], (k,)."""
    found = np.zeros(len(point))
    for number in np.unique(skin).tolist():
        own = skin == number
        corners = at[skins.triangles[skins.triangles_of(number)]]
        of_few = own.sum() * len(corners) <= MAX_DIRECT_SOLID_ANGLES
        found[own] = (
            direct_winding_numbers(corners, at[point[own]])
            if of_few
            else winding_numbers(build_bvh(at, skins.triangles[skins.triangles_of(number)]), at[point[own]])
        )
    return found


def _keep_exit_triangles(
    skins: CollisionSurfaces,
    start: Floats,
    rows: npt.NDArray,
    point: Indices,
    first: Indices,
    triangle: Indices,
    place: Floats,
    local: Floats,
    distance: Floats,
) -> None:
    """Leaves some contacts at the triangle where they were, `first`, while they are behind its plane: points that are
    let out of a collider would walk from face to face of what is round, until they go on through it."""
    a, b, c = np.moveaxis(start[skins.triangles[first[rows]]], 1, 0)
    across, away = np.cross(b - a, c - a), start[point[rows]] - a
    area = np.maximum(np.linalg.norm(across, axis=1), 1e-300)
    height = np.einsum("ki,ki->k", away, across) / area
    v, w = (np.einsum("ki,ki->k", n, across) / area**2 for n in (np.cross(away, c - a), np.cross(b - a, away)))
    weights = np.clip(np.stack([1.0 - v - w, v, w], axis=1), 0.0, 1.0)  # of the place below, if it is in the triangle
    behind = height < 0.0
    rows = rows[behind]
    triangle[rows], place[rows] = first[rows], weights[behind] / weights[behind].sum(axis=1, keepdims=True)
    local[rows], distance[rows] = [0.0, 0.0, 1.0], height[behind]


def add_thickness(skins: CollisionSurfaces, held: TrackedContacts) -> TrackedContacts:
    """Returns contacts with the distance that they keep: of both skins, within one no more than at rest."""
    keeps = skins.thickness[held.skin] + skins.thickness[skins.skin_of[held.point]]
    is_own = (skins.skin_of[held.point] == held.skin) & (keeps > 0.0)
    if is_own.any():
        corners = skins.rest[skins.triangles[held.triangle[is_own]]]
        there = np.einsum("kc,kci->ki", held.place[is_own], corners)
        keeps = keeps.copy()
        apart = np.linalg.norm(skins.rest[held.point[is_own]] - there, axis=1)
        keeps[is_own] = np.minimum(keeps[is_own], apart)
    return replace(held, thickness=floats(keeps))


def _without_duplicates(
    skins: CollisionSurfaces, held: TrackedContacts, start: Floats, distance: Floats
) -> TrackedContacts:
    """Returns contacts without those of one point that have come to the same place, but for what bears most.

    Nor those that are farther behind one face of something thin than behind another, which would push it back. What is
    in two parts of a skin at once, as between lips that have crossed, is kept off both.
    """
    kept, deeper = np.ones(len(held), np.bool_), np.zeros(len(held), np.bool_)
    mark_duplicates(
        held.key(len(skins)), held.triangle, held.local, held.shift, distance, start, skins.triangles, kept, deeper
    )
    rows = np.flatnonzero(deeper & (skins.body[held.skin] >= 0))
    if len(rows):
        is_own = skins.skin_of[held.point[rows]] == held.skin[rows]
        once = np.where(is_own, 2.0, 1.5)  # a vertex is about half inside of its own skin
        kept[rows[surface_winding_numbers(skins, start, held.point[rows], held.skin[rows]) < once]] = False
    return held if kept.all() else held.select(kept)


@kernel()
def keep_edge_directions(normal, is_kept, triangle, start, triangles, local):
    """Gives points right beside an edge the direction in which they were kept: that to the edge is chance there."""
    frame, before = np.empty((3, 3)), np.empty(3)
    for c in range(len(triangle)):
        if not is_kept[c]:
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
    """Makes the distance endless of points that have come to be behind a face that looks elsewhere than theirs did.

    Not of those that are let out, with a `shift` below zero, nor where nothing is known of how they were kept.

    Around the end of something thin the nearest face is that of its far side, and to push a point through what is thin
    is energy out of nothing. What truly goes in there crosses the face, and is found by that.
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
def mark_duplicates(key, triangle, local, shift, distance, start, triangles, kept, deeper):
    """Takes back of two contacts of one key, (k,) each, that are at the same place the one with less shift: `kept`.

    And marks the deeper one of two behind faces that look against each other; not what is let out, by its shift.
    """
    one, other = np.empty((3, 3)), np.empty((3, 3))
    for step in range(1, MAX_CONTACTS_PER_SURFACE):
        for later in range(step, len(key)):
            first = later - step
            if key[first] != key[later] or not (kept[first] and kept[later]):
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
                kept[later if shift[first] >= shift[later] else first] = False
            elif is_within and along < OPPOSING_COSINE:
                deeper[later if distance[first] >= distance[later] else first] = True
