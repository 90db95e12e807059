# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets of the present shape points lie in, other than their own.

Inverted tets are negative space and hold nothing; those that are nearly flat hold nothing either: where a point would
be in their material depends on its last digits. Neither does the point's own tet, nor one that shares a node with it
where the point would be in its material about where it is: that is the point's own material. Tets with a face that no
other tet has hold what is a little above that face too, since the surface that one sees may reach out of the tets; the
surface at rest says whether that is inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.detection.contact_points import ContactPoints
from ...mechanics.model import Model
from ...mesh.geometry.box_tree import LEAF_SIZE, build_box_tree
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .contact_candidates import EnclosedPoints

MIN_VOLUME_RATIO = 0.02  # volume over rest volume below which a tet holds nothing
MAX_OWN_DISTANCE = 0.25  # how far that may be, in tet sizes
OUTER_REACH = 0.25  # by how much of its height a tet reaches out of an outer face
MAX_TETS_PER_POINT = 6  # tets per point that are looked at
STACK_DEPTH = 128
POINTS_PER_TASK = 512


@dataclass(frozen=True, eq=False)
class TetSearch:
    """The tets of a model, to look for those that points lie in.

    Attributes:
        lower, upper, order: A tree of boxes (`box_tree.py`); its order is that of the rest shape.
        least: Volumes times six from which tets hold points [m³], (m,).
        reach: By how much of its height a tet reaches out of the faces opposite its nodes, (m, 4).
        group: What a tet belongs to, (m,); points of groups that are not `touches_itself` pass by tets of their own.
        touches_itself: Per group.
    """

    lower: Floats
    upper: Floats
    order: Indices
    min_volume: Floats
    reach: Floats
    group: Indices
    touches_itself: np.ndarray

    def find_enclosing(
        self, model: Model, x: Floats, points: Floats, rest: Floats, of: ContactPoints
    ) -> EnclosedPoints:
        """Returns where points, now and at rest [m], (k, 3) each, lie in other tets than theirs when nodes are at x."""
        refit(x, model.tets, self.reach, self.order, self.lower, self.upper)
        counts = np.empty(len(points), np.int64)
        tet, weights = (
            np.empty((len(points), MAX_TETS_PER_POINT), np.int32),
            np.empty((len(points), MAX_TETS_PER_POINT, 4)),
        )

        def work(part: slice) -> None:
            find_enclosing_tets(
                x, model.X, model.tets, self.min_volume, self.reach, self.group, self.touches_itself, self.lower,
                self.upper, self.order, points[part], rest[part], of.tet[part], of.tet_size[part], counts[part],
                tet[part], weights[part],
            )  # fmt: skip

        run_in_chunks(len(points), work, POINTS_PER_TASK)
        is_used = np.arange(MAX_TETS_PER_POINT, dtype=np.int64) < counts[:, None]
        return EnclosedPoints(np.repeat(np.arange(len(points), dtype=np.int64), counts), tet[is_used], weights[is_used])


def make_tet_search(model: Model, touches_itself: tuple[bool, ...]) -> TetSearch:
    """Returns the tets of a model; `touches_itself` says of each body whether it may touch itself."""
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
        MIN_VOLUME_RATIO * np.linalg.det(edges),
        np.where(_outer_faces(model.tets), OUTER_REACH, 0.0),
        group,
        np.array(touches_itself, np.bool_),
    )


def _outer_faces(tets: Indices) -> np.ndarray:
    """Returns whether no other tet has the face opposite a node, (m, 4)."""
    faces = np.sort(np.stack([tets[:, [1, 2, 3]], tets[:, [0, 2, 3]], tets[:, [0, 1, 3]], tets[:, [0, 1, 2]]], axis=1))
    _, number, count = np.unique(faces.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    return (count == 1)[number].reshape(-1, 4)


@kernel()
def refit(x, tets, reach, order, lower, upper):
    """Writes the boxes of a tree for node positions x [m], (n, 3); those of tets that reach out are larger."""
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
                lower[node, axis] = min(lower[node, axis], low - more)
                upper[node, axis] = max(upper[node, axis], high + more)
    for node in range(leaves - 1, 0, -1):
        for axis in range(3):
            lower[node, axis] = min(lower[2 * node, axis], lower[2 * node + 1, axis])
            upper[node, axis] = max(upper[2 * node, axis], upper[2 * node + 1, axis])


@kernel()
def find_enclosing_tets(
    x, X, tets, least, reach, group, touches_itself, lower, upper, order, points, rest, own, tet_size, counts, tet,
    weights,
):  # fmt: skip
    """Writes the tets that hold each point, at most `MAX_TETS_PER_POINT` of them, in the order of the tree, and the
    weights there.

    Args:
        x, X, tets: Node positions, now and at rest [m], (n, 3) each, and tets, (m, 4).
        least, reach, group, touches_itself, lower, upper, order: See `TetSearch`.
        points, rest, own, tet_size: The points, now and at rest [m], (k, 3) each, their own tets and the sizes of the
            tets of their bodies [m], (k,) each.
        counts, tet, weights: Out, (k,), (k, MOST), (k, MOST, 4).
    """
    leaves = len(lower) // 2
    stack = np.empty(STACK_DEPTH, np.int64)
    for i in range(len(points)):
        p0, p1, p2 = points[i, 0], points[i, 1], points[i, 2]
        mine = own[i]
        count, top = 0, 1
        stack[0] = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if (
                p0 < lower[node, 0] or p0 > upper[node, 0] or p1 < lower[node, 1] or p1 > upper[node, 1]
                or p2 < lower[node, 2] or p2 > upper[node, 2]
            ):  # fmt: skip
                continue
            if node < leaves:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node
                top += 2
                continue
            first = (node - leaves) * LEAF_SIZE
            for slot in range(first, min(first + LEAF_SIZE, len(order))):
                t = order[slot]
                if count == MAX_TETS_PER_POINT or t == mine:
                    continue
                if group[t] == group[mine] and not touches_itself[group[t]]:
                    continue
                if not encloses(p0, p1, p2, x, tets, t, least[t], reach, weights[i, count]):
                    continue
                if shares_node(tets, t, mine) and is_near_place(
                    weights[i, count], X, tets, t, rest[i], MAX_OWN_DISTANCE * tet_size[i]
                ):
                    continue
                tet[i, count] = t
                count += 1
        counts[i] = count


@kernel(device_only=True)
def is_near_place(weights, X, tets, t, place, distance):
    """Returns whether the place with these weights in a tet at rest is as near to another as a distance [m]."""
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


@kernel()
def encloses(p0, p1, p2, x, tets, t, least, reach, weights):
    """Writes the barycentric coordinates of the point p in tet t; returns whether it lies in it or just above."""
    a = tets[t, 0]
    d0, d1, d2 = p0 - x[a, 0], p1 - x[a, 1], p2 - x[a, 2]
    b, c, d = tets[t, 1], tets[t, 2], tets[t, 3]
    e0, e1, e2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    f0, f1, f2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    g0, g1, g2 = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    n0, n1, n2 = f1 * g2 - f2 * g1, f2 * g0 - f0 * g2, f0 * g1 - f1 * g0
    volume = e0 * n0 + e1 * n1 + e2 * n2
    if not volume > least:
        return False
    m0, m1, m2 = d1 * e2 - d2 * e1, d2 * e0 - d0 * e2, d0 * e1 - d1 * e0
    weights[1] = (d0 * n0 + d1 * n1 + d2 * n2) / volume
    weights[2] = -(g0 * m0 + g1 * m1 + g2 * m2) / volume
    weights[3] = (f0 * m0 + f1 * m1 + f2 * m2) / volume
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3]
    for i in range(4):
        if weights[i] < -reach[t, i]:
            return False
    return True
