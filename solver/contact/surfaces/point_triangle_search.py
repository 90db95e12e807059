# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the contacts of points of surfaces with triangles of surfaces during one step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.frozen_memo import derived
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_parts
from ..detection.persistent_contacts import PersistentContacts
from .adjacent_face_choice import move_to_facing_faces
from .candidate_search import CandidateSearch, SearchedItems, SearchReach
from .collision_surfaces import CollisionSurfaces, PointTriangleContacts
from .contact_tracking import (
    ClosestPlaces,
    TrackedContacts,
    add_thickness,
    no_tracked_contacts,
    track_contacts,
    walk_to_closest_places,
)
from .point_triangle_narrow_phase import (
    Crossings,
    ExistingContacts,
    SurfacePaths,
    contact_planes,
    find_covering_contacts,
    find_crossings,
)
from .time_of_impact import BORDER_TOLERANCE

MIN_SEARCH_MARGIN = 0.1  # least distance beyond the end of a vertex that the search covers, in tet sizes
MIN_PAIRS_PER_TASK = 2000  # pairs that a thread tests at a time at least
MAX_PERSISTENT_GAP = 0.01  # gap beyond its shift from which a contact ends, in tet sizes


class PointTriangleSearch:
    """Searches of one step that begins with the vertices at `start`.

    Guarantees:
    - A search finds every point whose straight path from `start` to `end` crosses a triangle from a side that counts,
      at the first such place per point and surface. If a step begins with the last positions of the step before, equal
      to the last bit, nothing passes between steps either.
    - A point down to `FRONT_TOLERANCE` behind a triangle is in front of it: the search finds points that touch at rest
      when they enter, and ignores overlaps.
    - Contacts of the step before, and of earlier searches in the step, are found at the place closest by then, as long
      as their gap at the end is below their shift, below zero, or hardly above.
    - A point with an active contact that crosses an aligned triangle beside it gets no new contact; if the contact is
      not active, its plane becomes that of the triangle.
    - The result does not depend on the number of threads or on the rest of the scene.
    """

    def __init__(
        self,
        surfaces: CollisionSurfaces,
        start: Floats,
        previous: PersistentContacts | None = None,
        is_active: Bools | None = None,
        is_movable: Bools | None = None,
    ) -> None:
        """Prepares the searches of a step.

        Args:
            surfaces: All of them.
            start: Vertices at its start [m], (v, 3).
            previous: Contacts of the step before, with ids of `PointTriangleContacts` and normals at the start.
            is_active: Which surfaces collide in it, (s,); None: all.
            is_movable: Which vertices may move in it, (v,): pieces of which none may do not meet. None: all.
        """
        self.surfaces, self.start, self.is_movable = surfaces, floats(start, -1, 3), is_movable
        self.may_touch = (
            surfaces.may_touch if is_active is None else surfaces.may_touch & is_active[:, None] & is_active[None, :]
        )
        self.tracked = (
            no_tracked_contacts()
            if previous is None
            else track_contacts(surfaces, previous, self.start, self.may_touch)
        )
        self.pairs: list[tuple[Indices, Indices]] = []
        self.candidates: CandidateSearch | None = None
        self.vertex_normals = np.zeros((0, 3))

    def find(self, end: Floats) -> PointTriangleContacts:
        """Returns the contacts if vertices move to `end` [m], (v, 3); later searches of a step cost less."""
        surfaces, end = self.surfaces, floats(end, -1, 3)
        if not self.may_touch.any():
            none = np.zeros(0, np.int64)
            return _make_contacts(surfaces, no_tracked_contacts(), none, np.zeros((0, 3)), np.zeros(0))
        self.gather(end)
        normal, gap, end_gap = self._planes(self.tracked, end)
        key = self.tracked.key(len(surfaces))
        existing = ExistingContacts(key, self.tracked.triangle, normal, end_gap < self.tracked.shift)
        found, replaced = self._find_crossings(end, existing)
        if len(found):
            found, replaced = self._move_to_facing_faces(found, replaced, end, existing)
            found, replaced = self._move_to_backside(found, replaced, end)
            old, new = replaced >= 0, replaced < 0
            self._replace(replaced[old], found.select(old))
            self.tracked = self.tracked.extend(found.select(new), len(surfaces))
            normal, gap, end_gap = self._planes(self.tracked, end)
        return self._near_contacts(normal, gap, end_gap)

    def find_known(self, end: Floats) -> PointTriangleContacts:
        """Returns what `find` does, of contacts of the step before and of earlier searches alone."""
        return self._near_contacts(*self._planes(self.tracked, end))

    def _near_contacts(self, normal: Floats, gap: Floats, end_gap: Floats) -> PointTriangleContacts:
        """Returns the tracked contacts that are near at the end; for arguments see `_planes`."""
        # a point may come out of an overlap faster than its contact allows, and is still inside then
        reach = np.maximum(self.tracked.shift, 0.0) + MAX_PERSISTENT_GAP * self.surfaces.size[self.tracked.point]
        return _make_contacts(self.surfaces, self.tracked, np.flatnonzero(end_gap < reach), normal, gap)

    def gather(self, end: Floats) -> None:
        """Finds candidate pairs of points and triangles, if vertices end near `end` [m], (v, 3)."""
        if self.candidates is None:
            items, reach = _searched_points(self.surfaces)
            self.candidates = CandidateSearch(items, self.start, self.may_touch, reach, self.is_movable)
        if not self.candidates.update(end):
            return
        if self.candidates.has_met and not len(self.vertex_normals):
            self.vertex_normals = np.zeros_like(self.start)
            add_vertex_normals(self.start, self.surfaces.triangles, self.vertex_normals)
        self.pairs = _merge_short_lists(self.candidates.pairs)

    def _planes(self, contacts: TrackedContacts, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns normals, gaps and the gaps at the end of contacts [m], (k, 3), (k,) and (k,)."""
        k = len(contacts)
        normal, gap, end_gap = np.empty((k, 3)), np.empty(k), np.empty(k)
        contact_planes(contacts.arrays, self.start, end, self.surfaces.triangles, normal, gap, end_gap)
        return normal, gap, end_gap

    def _find_crossings(self, end: Floats, existing: ExistingContacts) -> tuple[TrackedContacts, Indices]:
        """Returns new crossings, and the existing contacts that each replaces, −1 for none, (k,)."""
        arrays, paths = self.surfaces.arrays, SurfacePaths(self.start, end, self.vertex_normals)
        rows: list[tuple[np.ndarray, ...]] = [()] * len(self.pairs)

        def search(part: int) -> None:
            point, triangle = self.pairs[part]
            out = Crossings.allocate(len(point))
            count = find_crossings(point, triangle, paths, arrays, existing, out)
            rows[part] = tuple(values[:count] for values in out)

        parts = [part for part, pair in enumerate(self.pairs) if len(pair[0])]
        if not parts:
            return no_tracked_contacts(), np.zeros(0, np.int32)
        run_parts(len(parts), lambda number: search(parts[number]))
        point, surface, replaced, triangle, place, local, side = (
            np.concatenate(of) for of in zip(*(rows[part] for part in parts), strict=True)
        )
        if not len(point):
            return no_tracked_contacts(), replaced
        slot, shift = np.zeros(len(point), np.int32), np.zeros(len(point))
        found = TrackedContacts(point, surface, slot, triangle, place, local, side, shift, shift)
        return add_thickness(self.surfaces, found), replaced

    def _move_to_facing_faces(
        self, found: TrackedContacts, replaced: Indices, end: Floats, existing: ExistingContacts
    ) -> tuple[TrackedContacts, Indices]:
        """Returns crossings at the other face of an edge that a point only slides over (`adjacent_face_choice.py`)."""
        surfaces = self.surfaces
        moved = replace(found, triangle=found.triangle.copy(), place=found.place.copy(), local=found.local.copy())
        if not move_to_facing_faces(moved.arrays, end, self.vertex_normals, surfaces.arrays, surfaces.trees.rings):
            return found, replaced
        rows, replaced = np.flatnonzero(moved.triangle != found.triangle), replaced.copy()
        key, is_kept = found.key(len(surfaces)), np.ones(len(found), bool)
        find_covering_contacts(rows, key, moved.triangle, end, surfaces.triangles, existing, replaced)
        covering = replaced[rows]
        is_kept[rows[covering >= 0]] = ~existing.is_active[covering[covering >= 0]]
        return moved.select(is_kept), replaced[is_kept]

    def _move_to_backside(
        self, found: TrackedContacts, replaced: Indices, end: Floats
    ) -> tuple[TrackedContacts, Indices]:
        """Returns crossings at the places behind which they end, if that is another place than where they entered.

        A triangle may rotate so far that the point comes to lie in front of its plane, and behind a neighbour's.
        """
        rows = np.flatnonzero(self._planes(found, end)[2] + found.thickness > 0.0)
        rows = rows[found.thickness[rows] == 0.0]
        if not len(rows):
            return found, replaced
        in_front = found.select(rows)
        places = ClosestPlaces(
            in_front.triangle.copy(), in_front.place.copy(), in_front.local.copy(), np.empty(len(rows))
        )
        walk_to_closest_places(self.surfaces, in_front, end, False, places)
        is_kept = np.ones(len(found), bool)
        is_kept[rows] = places.distance < 0.0
        return found.at_triangles(rows, places).select(is_kept), replaced[is_kept]

    def _replace(self, which: Indices, others: TrackedContacts) -> None:
        """Moves contacts to the places of others, k of each."""
        if not len(which):
            return
        values = {
            name: getattr(self.tracked, name).copy() for name in ("triangle", "place", "local", "side", "thickness")
        }
        for name, array in values.items():
            array[which] = getattr(others, name)
        self.tracked = replace(self.tracked, **values)


@derived
def _searched_points(surfaces: CollisionSurfaces) -> tuple[SearchedItems, SearchReach]:
    """Returns the points of surfaces, with their triangles, and how far around them is searched."""
    pieces, sizes = surfaces.pieces, surfaces.size[surfaces.vertex_start[:-1]]
    items = SearchedItems(
        np.arange(surfaces.vertex_count, dtype=np.int32)[:, None],
        pieces.of_vertex,
        pieces.of_vertex,
        pieces.of_triangle,
        pieces.surface,
        surfaces.triangles,
        surfaces.nodes,
        surfaces.trees,
    )
    thickness = (surfaces.thickness + BORDER_TOLERANCE * sizes.max())[surfaces.surface_of]
    return items, SearchReach(MIN_SEARCH_MARGIN * sizes[surfaces.surface_of], thickness)


def _merge_short_lists(pairs: list[tuple[Indices, Indices]]) -> list[tuple[Indices, Indices]]:
    """Returns the lists of pairs, joined until all but the last are long enough for a call of a kernel."""
    joined, parts, count = [], [], 0
    for number, pair in enumerate(pairs):
        parts.append(pair)
        count += len(pair[0])
        if count >= MIN_PAIRS_PER_TASK or number + 1 == len(pairs):
            joined.append((np.concatenate([p for p, _ in parts]), np.concatenate([t for _, t in parts])))
            parts, count = [], 0
    return joined


def _make_contacts(
    surfaces: CollisionSurfaces, tracked: TrackedContacts, which: npt.NDArray, normal: Floats, gap: Floats
) -> PointTriangleContacts:
    """Returns some of the contacts, by rising id."""
    id = tracked.id(len(surfaces), surfaces.vertex_count)
    which = which[np.argsort(id[which], kind="stable")]
    return PointTriangleContacts(
        id[which],
        tracked.point[which],
        tracked.surface[which],
        tracked.triangle[which],
        tracked.place[which],
        normal[which],
        gap[which],
        tracked.side[which],
    )


@kernel()
def add_vertex_normals(positions, triangles, vertex_normals):
    """Adds the normals of triangles, weighted by area, to those of their vertices, (v, 3)."""
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            e, f = positions[j, b] - positions[i, b], positions[j, c] - positions[i, c]
            g, h = positions[k, b] - positions[i, b], positions[k, c] - positions[i, c]
            n = e * h - f * g
            vertex_normals[i, axis] += n
            vertex_normals[j, axis] += n
            vertex_normals[k, axis] += n
