# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the deformed tets that contain points of other tets.

Inverted tets contain nothing, and neither do nearly flat ones: a position in their material would depend on the last
digits. A point's own tet does not count, nor a tet that shares a node with it if the point would be about at its own
place in the material. Tets with an outer face also contain what is a little above that face, since the render surface
may lie outside the tets; the surface at rest tells whether the point is inside.

A point on a surface is in the boxes of many tets, of its own part, so points that are neighbours go down the tree in
groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...contact.detection.contact_sample_points import ContactPoints
from ...mechanics.model import Model
from ...mesh.geometry.box_tree import LEAF_SIZE, build_box_tree
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived_from
from ...runtime.jit import kernel
from ...runtime.kernel_argument_tuple import kernel_tuple
from ...runtime.threads.thread_pool import run_in_chunks

MIN_VOLUME_RATIO = 0.02  # volume over rest volume below which a tet contains nothing
MAX_OWN_DISTANCE = 0.25  # distance in tet sizes from its own place within which a point does not count
OUTER_REACH = 0.25  # height above an outer face that a tet still contains, in heights of the tet
MAX_TETS_PER_POINT = 6
STACK_SIZE = 128  # nodes
MIXED = -1  # no body
ROUNDING = 1.0e-9  # of a barycentric weight, by far
POINTS_PER_TASK = 512
POINTS_PER_GROUP = 16
MAX_GROUP_SIZE = 1.0  # in tet sizes, of the box around a group


@dataclass(frozen=True, eq=False)
class EnclosedPoints:
    """Points inside tets that are not theirs, c of them.

    Attributes:
        point: Number of the point, rising, (c,).
        tet, weights: The tet, and barycentric weights in it, (c,) and (c, 4).
    """

    point: npt.NDArray[np.int64]
    tet: Indices
    weights: Floats

    def select(self, which: np.ndarray) -> EnclosedPoints:
        """Returns some of them, by mask or index."""
        return EnclosedPoints(self.point[which], self.tet[which], self.weights[which])


class SearchedPoints(NamedTuple):
    """Points for which enclosing tets are searched, k of them.

    Attributes:
        positions, rest: Now and at rest [m], (k, 3) each.
        tet: Their own tets, (k,).
        tet_size: Edge length of the tets of their bodies [m], (k,).
    """

    positions: Floats
    rest: Floats
    tet: Indices
    tet_size: Floats


@dataclass(frozen=True, eq=False)
class TetSearch:
    """The tets of a model in a tree, to find those that contain points.

    Attributes:
        lower, upper, order: A tree of boxes (`box_tree.py`), ordered by the rest shape.
        tet_boxes: Boxes of the tets in that order, enlarged by their reach: ends along the axes, (m, 6).
        min_volume: Volume times six from which each tet contains points [m³], (m,).
        reach: Height above the faces opposite its nodes that each tet contains, in heights of the tet, (m, 4).
        group: Body of each tet, (m,).
        group_below: Body of all tets below each node of the tree; `MIXED` where there are several, (t,).
        may_touch: Whether points of one body count in tets of another, or of the same, (b, b).
    """

    lower: Floats
    upper: Floats
    order: Indices
    tet_boxes: Floats
    min_volume: Floats
    reach: Floats
    group: Indices
    group_below: Indices
    may_touch: Bools

    def find_enclosing(
        self, model: Model, x: Floats, points: Floats, rest: Floats, of: ContactPoints
    ) -> EnclosedPoints:
        """Returns the other tets that contain contact points `of` a model, for nodes at x [m], (n, 3).

        `points` and `rest` are the positions of these points, now and at rest [m], (k, 3) each.
        """
        refit(x, model.tets, self.reach, self.order, self.tet_boxes, self.lower, self.upper)
        counts = np.empty(len(points), np.int64)
        tet, weights = (
            np.empty((len(points), MAX_TETS_PER_POINT), np.int32),
            np.empty((len(points), MAX_TETS_PER_POINT, 4)),
        )

        arrays, searched = self.arrays, SearchedPoints(points, rest, of.tet, of.tet_size)
        order = derived_from(of, "points in tree order", lambda: self._in_tree_order(of.tet), inputs=(self.order,))

        def work(part: slice) -> None:
            find_enclosing_tets(order[part], x, model.X, model.tets, arrays, searched, counts, tet, weights)

        run_in_chunks(len(points), work, POINTS_PER_TASK)
        is_used = np.arange(MAX_TETS_PER_POINT, dtype=np.int64) < counts[:, None]
        return EnclosedPoints(np.repeat(np.arange(len(points), dtype=np.int64), counts), tet[is_used], weights[is_used])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The `TetSearchArrays`, as kernels take the tree."""
        return TetSearchArrays(*(getattr(self, name) for name in TetSearchArrays._fields))

    def _in_tree_order(self, tet: Indices) -> npt.NDArray[np.int64]:
        """Returns points with these tets, (k,), body by body, in each as their tets are in the tree, (k,)."""
        rank = np.empty(len(self.order), np.int64)
        rank[self.order] = np.arange(len(self.order), dtype=np.int64)
        return np.lexsort((rank[tet], self.group[tet]))


TetSearchArrays = kernel_tuple("TetSearchArrays", TetSearch)


def make_tet_search(model: Model, may_touch: Bools) -> TetSearch:
    """Returns the search among the tets of a model; `may_touch` is as in `TetSearch`."""
    corners = model.X[model.tets]
    tree = build_box_tree(corners.min(axis=1), corners.max(axis=1))
    edges = corners[:, 1:] - corners[:, :1]
    group = np.zeros(model.tet_count, np.int32)
    for number, body in enumerate(model.bodies):
        group[body.tets] = number
    return TetSearch(
        tree.lower,
        tree.upper,
        tree.order,
        np.empty((model.tet_count, 6)),
        MIN_VOLUME_RATIO * np.linalg.det(edges),
        np.where(_outer_faces(model.tets), OUTER_REACH, 0.0),
        group,
        _groups_below(group[tree.order], len(tree.lower)),
        may_touch,
    )


def _groups_below(group: Indices, node_count: int) -> Indices:
    """Returns the body of all tets below each node of a tree over tets of these bodies, `MIXED` of several, (t,)."""
    leaves = node_count // 2
    below = np.full(node_count, MIXED, np.int32)
    slots = np.append(group, np.full(leaves * LEAF_SIZE - len(group), group[-1] if len(group) else MIXED, np.int32))
    rows = slots.reshape(leaves, LEAF_SIZE)
    below[leaves:] = np.where((rows == rows[:, :1]).all(axis=1), rows[:, 0], MIXED)
    while leaves > 1:
        one, other = below[leaves : 2 * leaves : 2], below[leaves + 1 : 2 * leaves : 2]
        below[leaves // 2 : leaves] = np.where(one == other, one, MIXED)
        leaves //= 2
    return below


def _outer_faces(tets: Indices) -> np.ndarray:
    """Returns whether no other tet has the face opposite a node, (m, 4)."""
    faces = np.sort(np.stack([tets[:, [1, 2, 3]], tets[:, [0, 2, 3]], tets[:, [0, 1, 3]], tets[:, [0, 1, 2]]], axis=1))
    _, number, count = np.unique(faces.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    return (count == 1)[number].reshape(-1, 4)


@kernel()
def refit(x, tets, reach, order, tet_boxes, lower, upper):
    """Writes the boxes of tets and of a tree over them for node positions x [m], (n, 3); see `TetSearch`."""
    leaves = len(lower) // 2
    for leaf in range(leaves):
        node = leaves + leaf
        for axis in range(3):
            lower[node, axis], upper[node, axis] = np.inf, -np.inf
        for slot in range(leaf * LEAF_SIZE, min((leaf + 1) * LEAF_SIZE, len(order))):
            t = order[slot]
            out = reach[t, 0] + reach[t, 1] + reach[t, 2] + reach[t, 3]
            for axis in range(3):
                a, b, c, d = x[tets[t, 0], axis], x[tets[t, 1], axis], x[tets[t, 2], axis], x[tets[t, 3], axis]
                low, high = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
                more = out * (high - low)
                tet_boxes[slot, axis], tet_boxes[slot, 3 + axis] = low - more, high + more
                lower[node, axis] = min(lower[node, axis], low - more)
                upper[node, axis] = max(upper[node, axis], high + more)
    for node in range(leaves - 1, 0, -1):
        for axis in range(3):
            lower[node, axis] = min(lower[2 * node, axis], lower[2 * node + 1, axis])
            upper[node, axis] = max(upper[2 * node, axis], upper[2 * node + 1, axis])


@kernel()
def find_enclosing_tets(which, x, X, tets, search, points, counts, tet, weights):
    """Writes the tets that contain points, at most `MAX_TETS_PER_POINT` each, in the order of the tree, and weights.

    Args:
        which: Numbers of points, neighbours side by side, (w,).
        x, X, tets: Node positions, now and at rest [m], (n, 3) each, and tets, (m, 4).
        search: `TetSearchArrays`.
        points: `SearchedPoints`, k of them.
        counts, tet, weights: Out, (k,), (k, MAX_TETS_PER_POINT), (k, MAX_TETS_PER_POINT, 4).
    """
    stack, hits = np.empty(STACK_SIZE, np.int64), np.empty(POINTS_PER_GROUP, np.int64)
    p, box = np.empty((3, POINTS_PER_GROUP)), np.empty((2, 3))
    first = 0
    while first < len(which):
        body, size = search.group[points.tet[which[first]]], MAX_GROUP_SIZE * points.tet_size[which[first]]
        box[0], box[1] = np.inf, -np.inf
        count = 0
        while count < min(POINTS_PER_GROUP, len(which) - first):
            i = which[first + count]
            if search.group[points.tet[i]] != body or not take_point(points.positions[i], count, size, p, box):
                break
            counts[i] = 0
            count += 1
        own = which[first : first + count]
        work, found = (stack, hits), (counts, tet, weights)
        search_tree(own, search.may_touch[body], p, box, x, X, tets, search, points, work, found)
        first += count


@kernel(device_only=True, no_refcount=True)
def take_point(place, count, size, p, box):
    """Adds a point to `count` others p and to the box around them, unless that grows too large; returns whether."""
    for axis in range(3):
        if count > 0 and max(box[1, axis], place[axis]) - min(box[0, axis], place[axis]) > size:
            return False
    for axis in range(3):
        p[axis, count] = place[axis]
        box[0, axis], box[1, axis] = min(box[0, axis], place[axis]), max(box[1, axis], place[axis])
    return True


@kernel(device_only=True, no_refcount=True)
def search_tree(own, counted, p, box, x, X, tets, search, points, work, found):
    """Adds the tets that contain the points `own` of a body to what `find_enclosing_tets` writes.

    Args:
        own: Their numbers, at most `POINTS_PER_GROUP`.
        counted: Which bodies' tets count, (b,).
        p, box: Where they are, axis by axis, (3, POINTS_PER_GROUP), and the box around them, (2, 3) [m].
        work: Arrays to work in, a stack and hits, (STACK_SIZE,), (POINTS_PER_GROUP,).
        found: counts, tet, weights, which it writes.
    """
    stack, hits = work
    counts, tet, weights = found
    lower, upper, order, group, below = search.lower, search.upper, search.order, search.group, search.group_below
    leaves = len(lower) // 2
    top = 1
    stack[0] = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if (below[node] != MIXED and not counted[below[node]]) or not boxes_meet(box, lower[node], upper[node]):
            continue
        if node < leaves:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2
            continue
        first = (node - leaves) * LEAF_SIZE
        for slot in range(first, min(first + LEAF_SIZE, len(order))):
            t = order[slot]
            if not counted[group[t]]:
                continue
            for h in range(find_points_in_box(len(own), p, box, search.tet_boxes[slot], hits)):
                i = own[hits[h]]
                count = counts[i]
                if count == MAX_TETS_PER_POINT or t == points.tet[i]:
                    continue
                p0, p1, p2 = p[0, hits[h]], p[1, hits[h]], p[2, hits[h]]
                if not encloses(p0, p1, p2, x, tets, t, search.min_volume[t], search.reach, weights[i, count]):
                    continue
                if shares_node(tets, t, points.tet[i]) and is_near_place(
                    weights[i, count], X, tets, t, points.rest[i], MAX_OWN_DISTANCE * points.tet_size[i]
                ):
                    continue
                tet[i, count] = t
                counts[i] = count + 1


@kernel(inline=True, device_only=True)
def boxes_meet(box, lower, upper):
    """Returns whether a box, (2, 3), has a place in common with another."""
    is_apart = (box[0, 0] > upper[0]) | (box[1, 0] < lower[0]) | (box[0, 1] > upper[1]) | (box[1, 1] < lower[1])
    return not (is_apart | (box[0, 2] > upper[2]) | (box[1, 2] < lower[2]))


@kernel(device_only=True, no_refcount=True)
def find_points_in_box(count, p, box, of, hits):
    """Writes which of the first points p are in the box `of` a tet, (6,); returns how many there are."""
    low0, low1, low2, high0, high1, high2 = of[0], of[1], of[2], of[3], of[4], of[5]
    is_apart = (box[0, 0] > high0) | (box[1, 0] < low0) | (box[0, 1] > high1) | (box[1, 1] < low1)
    if is_apart | (box[0, 2] > high2) | (box[1, 2] < low2):
        return 0
    found = 0
    for k in range(count):
        is_in = (p[0, k] >= low0) & (p[0, k] <= high0) & (p[1, k] >= low1) & (p[1, k] <= high1)
        hits[found] = k
        found += 1 if is_in & (p[2, k] >= low2) & (p[2, k] <= high2) else 0
    return found


@kernel(device_only=True)
def is_near_place(weights, X, tets, t, place, distance):
    """Returns whether a place with these weights in a tet is within a distance of another, at rest [m]."""
    squared = 0.0
    for axis in range(3):
        there = -place[axis]
        for a in range(4):
            there += weights[a] * X[tets[t, a], axis]
        squared += there * there
    return squared <= distance * distance


@kernel(device_only=True)
def shares_node(tets, s, t):
    """Returns whether two tets have a node in common."""
    for i in range(4):
        for j in range(4):
            if tets[s, i] == tets[t, j]:
                return True
    return False


@kernel(device_only=True)
def encloses(p0, p1, p2, x, tets, t, min_volume, reach, weights):
    """Writes the barycentric weights of the point p in tet t.

    Returns whether it is inside or just above an outer face.
    """
    a = tets[t, 0]
    d0, d1, d2 = p0 - x[a, 0], p1 - x[a, 1], p2 - x[a, 2]
    b, c, d = tets[t, 1], tets[t, 2], tets[t, 3]
    e0, e1, e2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    f0, f1, f2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    g0, g1, g2 = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    n0, n1, n2 = f1 * g2 - f2 * g1, f2 * g0 - f0 * g2, f0 * g1 - f1 * g0
    volume = e0 * n0 + e1 * n1 + e2 * n2
    if not volume > min_volume:
        return False
    # most tets fail at their first face, without a division
    along = d0 * n0 + d1 * n1 + d2 * n2
    if along < -(reach[t, 1] + ROUNDING) * volume:
        return False
    m0, m1, m2 = d1 * e2 - d2 * e1, d2 * e0 - d0 * e2, d0 * e1 - d1 * e0
    weights[1] = along / volume
    weights[2] = -(g0 * m0 + g1 * m1 + g2 * m2) / volume
    weights[3] = (f0 * m0 + f1 * m1 + f2 * m2) / volume
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3]
    for i in range(4):
        if weights[i] < -reach[t, i]:
            return False
    return True
