# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where skins meet during one step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_parts
from .broad_phase import find_candidate_pairs, group_bounds, has_left_margin, sweep_boxes
from .bvh_refit import fit_boxes
from .closest_point_walk import find_closest_places, triangle_frame
from .collision_surfaces import CollisionSurfaces, PointTriangleContacts, PreviousContacts
from .contact_tracking import TrackedContacts, add_thickness, no_tracked_contacts, track_contacts
from .edge_face_choice import move_to_facing_faces
from .point_triangle import contact_planes, find_covering_contact, find_crossings
from .time_of_impact import BORDER_TOLERANCE

TASK_COUNT, MIN_POINTS_PER_TASK, MAX_POINTS_PER_TASK = (
    8,
    256,
    2048,
)  # points are looked at in so many goes, of so many points each
MIN_SEARCH_MARGIN = 0.1  # how much farther than told points and triangles are looked for at least, in sizes of tets
MIN_PAIRS_PER_TASK = 2000  # pairs that are looked at in one go at least
INITIAL_PAIRS_PER_POINT = 8  # pairs per point for which there is room at first
MAX_PERSISTENT_GAP = 0.01  # gap beyond its shift at which a contact that was known is over, in sizes of tets


class PointTriangleSearch:
    """Where skins meet in one step that begins with their vertices at `start`.

    Guaranteed:
    - A point whose way from `start` to the `end` of a look goes through a triangle from a side that counts is met, and
      the first such place per point and skin is. The last positions of a step have to be the first of the next one, to
      the last bit: then nothing passes between steps either. Start and end are joined by straight lines.
    - In front of a triangle is what is no more than `time_of_impact.LEVEL` tet sizes behind it: what touches at rest
      is met when it goes in, what overlaps is not.
    - Contacts known are met at the place that is nearest by then, as long as their gap at the end is below their
      shift, or below zero, or hardly above. Those found in earlier looks of the step are met again like them.
    - A point that is kept by a contact and goes through a triangle beside it, which looks the same way, meets nothing
      new; where the contact does not keep it, its plane turns into that of the triangle.
    - The number of threads and what else is in the scene change nothing.
    """

    def __init__(
        self,
        skins: CollisionSurfaces,
        start: Floats,
        known: PreviousContacts | None = None,
        is_active: Bools | None = None,
    ) -> None:
        """Makes ready for a step.

        Args:
            skins: All of them.
            start: Vertices at its start [m], (v, 3).
            known: Contacts that it begins with.
            is_active: Which skins are felt in it, (s,); None: all.
        """
        self.skins, self.start = skins, floats(start, -1, 3)
        self.may_touch = (
            skins.may_touch if is_active is None else skins.may_touch & is_active[:, None] & is_active[None, :]
        )
        self.tracked = (
            track_contacts(skins, known, self.start, self.may_touch) if known is not None else no_tracked_contacts()
        )
        self.pairs: list[tuple[Indices, Indices]] = []
        self.gathered_end: Floats | None = None
        self.margin = np.empty(skins.vertex_count)
        self.chunk_size = min(max(skins.vertex_count // TASK_COUNT, MIN_POINTS_PER_TASK), MAX_POINTS_PER_TASK)
        self.pair_capacity = [INITIAL_PAIRS_PER_POINT * self.chunk_size] * -(-skins.vertex_count // self.chunk_size)
        self.vertex_normals = np.zeros((0, 3))

    def find(self, end: Floats) -> PointTriangleContacts:
        """Returns what meets when vertices go to `end` [m], (v, 3); further looks of a step cost less."""
        skins, end = self.skins, floats(end, -1, 3)
        if not self.may_touch.any():
            return _make_contacts(skins, no_tracked_contacts(), np.zeros((0, 3)), np.zeros(0))
        if self.gathered_end is None or has_left_margin(self.gathered_end, end, self.margin):
            self.gather(end)
        normal, gap, ahead = self._planes(self.tracked, end)
        found, instead = self._find_crossings(end, normal, ahead < self.tracked.shift)
        if len(found):
            found, instead = self._move_to_backside(
                *self._move_to_facing_faces(found, instead, end, normal, ahead < self.tracked.shift), end
            )
            old, new = instead >= 0, instead < 0
            self._replace(instead[old], found.select(old))
            self.tracked = self.tracked.extend(found.select(new), len(skins))
            normal, gap, ahead = self._planes(self.tracked, end)
        # what is let out may come out faster than it is let, and is still in there then
        is_near = ahead < np.maximum(self.tracked.shift, 0.0) + MAX_PERSISTENT_GAP * skins.size[self.tracked.point]
        return _make_contacts(skins, self.tracked.select(is_near), normal[is_near], gap[is_near])

    def gather(self, end: Floats) -> None:
        """Gathers pairs of points and triangles that may meet when vertices end near `end` [m], (v, 3)."""
        skins, trees = self.skins, self.skins.trees
        sizes = skins.size[skins.vertex_start[:-1]]
        more = (skins.thickness + BORDER_TOLERANCE * sizes.max())[skins.skin_of]
        swept, bounds = np.empty((skins.vertex_count, 6)), np.empty((len(skins), 6))
        self.gathered_end = end.copy()
        sweep_boxes(self.start, end, MIN_SEARCH_MARGIN * sizes[skins.skin_of], more, self.margin, swept)
        group_bounds(skins.vertex_start, swept, bounds)
        may = self.may_touch & _boxes_overlap(bounds)
        boxes, slot_boxes = np.empty((int(trees.start[-1]), 6)), np.empty((len(trees.slot_triangle), 6))
        fitted = np.flatnonzero(may.any(axis=0))

        def fit(number: int) -> None:
            fit_boxes(fitted[number], swept, skins.triangles, trees.start, trees.slot_triangle, boxes, slot_boxes)

        run_parts(len(fitted), fit)
        count = len(self.pair_capacity)
        self.pairs = [(np.zeros(0, np.int32), np.zeros(0, np.int32))] * count

        def gather(part: int) -> None:
            first, last = part * self.chunk_size, min((part + 1) * self.chunk_size, skins.vertex_count)
            while True:
                point, triangle = np.empty((2, self.pair_capacity[part]), np.int32)
                found = find_candidate_pairs(
                    first, last, swept, skins.skin_of, skins.nodes, may, bounds, skins.triangles, trees.start,
                    trees.slot_triangle, boxes, slot_boxes, point, triangle,
                )  # fmt: skip
                if found <= len(point):
                    self.pairs[part] = point[:found], triangle[:found]
                    return
                self.pair_capacity[part] = found + found // 4  # the next look may find a few more

        if len(fitted):
            if not len(self.vertex_normals):
                self.vertex_normals = np.zeros_like(self.start)
                add_vertex_normals(self.start, skins.triangles, self.vertex_normals)
            run_parts(count, gather)
        self.pairs = _merge_short_lists(self.pairs)

    def _planes(self, held: TrackedContacts, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns normals, gaps and the gaps at the end of contacts [m], (k, 3), (k,) and (k,)."""
        normal, gap, ahead = np.empty((len(held), 3)), np.empty(len(held)), np.empty(len(held))
        contact_planes(
            held.point, held.triangle, held.place, held.local, held.thickness, self.start, end, self.skins.triangles,
            normal, gap, ahead,
        )  # fmt: skip
        return normal, gap, ahead

    def _find_crossings(self, end: Floats, normal: Floats, pushes: Bools) -> tuple[TrackedContacts, Indices]:
        """Returns what goes in and is not held yet, and the contacts held that it is instead of, −1 for none, (k,)."""
        skins, held = self.skins, self.tracked
        of_triangle, key = skins.skin_of_triangle, held.key(len(skins))
        rows: list[tuple[np.ndarray, ...]] = [()] * len(self.pairs)

        def look_at(part: int) -> None:
            point, triangle = self.pairs[part]
            room = len(point)
            whole, numbers = np.empty((4, room), np.int32), np.empty((2, room, 3))
            side = np.empty(room, np.int8)
            count = find_crossings(
                point, triangle, self.start, end, skins.rest, skins.size, skins.triangles, skins.skin_of, of_triangle,
                skins.is_one_sided, skins.thickness, self.vertex_normals, key, held.triangle, normal, pushes,
                whole[0], whole[1], whole[2], whole[3], numbers[0], numbers[1], side,
            )  # fmt: skip
            rows[part] = (*whole[:, :count], *numbers[:, :count], side[:count])

        some = [part for part, pair in enumerate(self.pairs) if len(pair[0])]
        if not some:
            return no_tracked_contacts(), np.zeros(0, np.int32)
        run_parts(len(some), lambda number: look_at(some[number]))
        point, skin, instead, triangle, place, local, side = (
            np.concatenate(of) for of in zip(*(rows[part] for part in some), strict=True)
        )
        slot, shift = np.zeros(len(point), np.int32), np.zeros(len(point))
        found = TrackedContacts(point, skin, slot, triangle, place, local, side, shift, shift)
        return add_thickness(skins, found), instead

    def _move_to_facing_faces(
        self, found: TrackedContacts, instead: Indices, end: Floats, normal: Floats, pushes: Bools
    ) -> tuple[TrackedContacts, Indices]:
        """Returns what goes in, at the other face of the edge where it only slides over that (`edge_face_choice`)."""
        skins, trees, held = self.skins, self.skins.trees, self.tracked
        triangle, place, local = found.triangle.copy(), found.place.copy(), found.local.copy()
        changed = move_to_facing_faces(
            found.point, triangle, place, local, found.side, found.skin, skins.is_one_sided, end, self.vertex_normals,
            skins.size, skins.triangles, trees.ring_start, trees.ring,
        )  # fmt: skip
        if not changed:
            return found, instead
        rows, key, frame = np.flatnonzero(triangle != found.triangle), held.key(len(skins)), np.empty((3, 3))
        wanted, instead, kept = found.key(len(skins)), instead.copy(), np.ones(len(found), bool)
        for row in rows:
            first, last = np.searchsorted(key, [wanted[row], wanted[row] + 1])
            triangle_frame(end, skins.triangles, int(triangle[row]), frame)
            instead[row] = find_covering_contact(
                int(triangle[row]), 1, frame, skins.triangles, first, last, held.triangle, normal
            )
            kept[row] = instead[row] < 0 or not pushes[instead[row]]
        turned = replace(found, triangle=triangle, place=place, local=local)
        return turned.select(kept), instead[kept]

    def _move_to_backside(
        self, found: TrackedContacts, instead: Indices, end: Floats
    ) -> tuple[TrackedContacts, Indices]:
        """Returns what goes in with the places behind which it ends, where that is not the one where it went in.

        A triangle may turn so far that the point comes to lie in front of its plane, and behind a neighbour's.
        """
        skins, trees, ahead = self.skins, self.skins.trees, self._planes(found, end)[2]
        rows = np.flatnonzero(ahead + found.thickness > 0.0)
        rows = rows[found.thickness[rows] == 0.0]
        if not len(rows):
            return found, instead
        some = found.select(rows)
        triangle, place, local, distance = (
            some.triangle.copy(),
            some.place.copy(),
            some.local.copy(),
            np.empty(len(rows)),
        )
        find_closest_places(
            some.point, triangle, some.side, end, skins.size, skins.triangles, trees.ring_start, trees.ring,
            skins.triangle_start, some.skin, skins.nodes, skins.skin_of[some.point] == some.skin, False,
            place, local, distance,
        )  # fmt: skip
        all_triangle, all_place, all_local = found.triangle.copy(), found.place.copy(), found.local.copy()
        all_triangle[rows], all_place[rows], all_local[rows] = triangle, place, local
        stays = np.ones(len(found), bool)
        stays[rows] = distance < 0.0
        elsewhere = replace(found, triangle=all_triangle, place=all_place, local=all_local)
        return elsewhere.select(stays), instead[stays]

    def _replace(self, which: Indices, others: TrackedContacts) -> None:
        """Puts contacts at other places, k of each."""
        if not len(which):
            return
        values = {
            name: getattr(self.tracked, name).copy() for name in ("triangle", "place", "local", "side", "thickness")
        }
        for name, array in values.items():
            array[which] = getattr(others, name)
        self.tracked = replace(self.tracked, **values)


def _merge_short_lists(pairs: list[tuple[Indices, Indices]]) -> list[tuple[Indices, Indices]]:
    """Returns lists of pairs joined until none but the last is short: calling a kernel takes its time too."""
    joined, some, count = [], [], 0
    for number, pair in enumerate(pairs):
        some.append(pair)
        count += len(pair[0])
        if count >= MIN_PAIRS_PER_TASK or number + 1 == len(pairs):
            joined.append((np.concatenate([p for p, _ in some]), np.concatenate([t for _, t in some])))
            some, count = [], 0
    return joined


def _boxes_overlap(bounds: Floats) -> Bools:
    """Returns whether boxes touch each other, (s, s)."""
    low, high = bounds[:, None, :3], bounds[None, :, 3:]
    one = (low <= high).all(axis=2)
    return one & one.T


def _make_contacts(
    skins: CollisionSurfaces, held: TrackedContacts, normal: Floats, gap: Floats
) -> PointTriangleContacts:
    id = held.id(len(skins), skins.vertex_count)
    order = np.argsort(id, kind="stable")
    held = held.select(order)
    return PointTriangleContacts(
        id[order], held.point, held.skin, held.triangle, held.place, normal[order], gap[order], held.side
    )


@kernel()
def add_vertex_normals(positions, triangles, facing):
    """Adds to `vertex_normals` which way vertices look: the sum of their triangles' normals by area, (v, 3)."""
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            e, f = positions[j, b] - positions[i, b], positions[j, c] - positions[i, c]
            g, h = positions[k, b] - positions[i, b], positions[k, c] - positions[i, c]
            n = e * h - f * g
            facing[i, axis] += n
            facing[j, axis] += n
            facing[k, axis] += n
