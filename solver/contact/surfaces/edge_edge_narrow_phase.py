# SPDX-License-Identifier: GPL-3.0-or-later
"""Narrow phase of sharp edges: when two moving edges cross, and where edges in contact are closest to each other.

Let r be the vector from the beginning of edge b to that of edge a, and e, f the edges. r · (e × f) is a cubic in time,
as the height of a point over a triangle is (`time_of_impact.py`): it changes sign when the four ends are coplanar.

Two convex edges touch only if all four faces beside them lie on their own side of the plane along both edges. So
n = ± (e × f) / ‖e × f‖, which keeps a away from b, has the sign for which the faces of b are below the plane and those
of a above it. If neither sign has this property, other features touch, and points detect them. Faces of sheets are on
no side, so their edges have none (`SharpEdges.ends`); the motion tells from where they come.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .time_of_impact import (
    BORDER_TOLERANCE,
    FRONT_TOLERANCE,
    NO_IMPACT,
    cubic_extrema,
    evaluate_cubic,
    falling_root,
    height_coefficients,
)

MIN_SKEW_SINE = 0.05  # sine of the angle between edges from which they cross; below, points detect them soon enough
MAX_SLANT_SINE = 0.05  # sine of the angle by which a face may be on the wrong side of the plane
MAX_WALK_STEPS = 8  # steps of a walk
MAX_RISE_PER_STEP = 0.05  # share of the distance that edges of sheets keep by which they are parted in a step
# rows of `edge_differences`, of the same type as numbers of vertices: so `height_coefficients` is compiled once
ORIGIN, FROM_B, EDGE_A, EDGE_B = np.int32(0), np.int32(1), np.int32(2), np.int32(3)


class EdgeCrossings(NamedTuple):
    """Pairs of edges that cross in a step, or come closer than they may, c of them.

    Attributes:
        a, b: The edges, (c,) each.
        place: Parameters of the crossing on each of them, in [0, 1], (c, 2).
        sign: Of n, (c,).
        time: In [0, 1]; 1 if they only come too close, (c,).
    """

    a: Indices
    b: Indices
    place: Floats
    sign: Floats
    time: Floats

    @staticmethod
    def allocate(count: int) -> EdgeCrossings:
        """Returns arrays for at most `count` pairs."""
        a, b = np.empty((2, count), np.int32)
        return EdgeCrossings(a, b, np.empty((count, 2)), np.empty(count), np.empty(count))


class NearestEdges(NamedTuple):
    """Where k pairs of chains are closest to each other; see `EdgeCrossings`.

    Attributes:
        is_in_front: Whether the first edge still lies in front of the second, (k,).
    """

    a: Indices
    b: Indices
    place: Floats
    sign: Floats
    is_in_front: Bools

    @staticmethod
    def allocate(count: int) -> NearestEdges:
        """Returns arrays for `count` pairs."""
        a, b = np.empty((2, count), np.int32)
        return NearestEdges(a, b, np.empty((count, 2)), np.empty(count), np.empty(count, bool))


class EdgeDistances(NamedTuple):
    """What the distances that edges keep from each other follow from.

    Attributes:
        thickness: That of surfaces [m], (s,).
        surface: Of each edge, (e,).
        is_of_sheet: Which edges are those of sheets, (e,).
        at_rest: Vertices at rest [m], (v, 3).
    """

    thickness: Floats
    surface: Indices
    is_of_sheet: Bools
    at_rest: Floats


@kernel()
def find_edge_crossings(edge_a, edge_b, start, end, edges, distance, out):
    """Finds pairs of edges that cross in a step, or come closer than they may; returns how many there are.

    Args:
        edge_a, edge_b: Candidate pairs, (c,) each.
        start, end: Vertices at both ends of the step [m], (v, 3).
        edges: `EdgeArrays`.
        distance: That each pair keeps [m], (c,).
        out: `EdgeCrossings`.
    """
    ends, size = edges.ends, edges.size
    now, normal, place = np.empty((8, 3)), np.empty(3), np.empty(2)
    first, last = np.empty((4, 3)), np.empty((4, 3))
    count = 0
    for c in range(len(edge_a)):
        a, b = np.int64(edge_a[c]), np.int64(edge_b[c])
        tolerance = BORDER_TOLERANCE * size[b]
        if sweeps_disjoint(start, end, ends, a, b, tolerance + distance[c]):
            continue
        edge_differences(start, ends, a, b, first)
        edge_differences(end, ends, a, b, last)
        earliest, earliest_sign = NO_IMPACT, 0
        for sign in (1, -1):
            j, k = (EDGE_A, EDGE_B) if sign > 0 else (EDGE_B, EDGE_A)
            b0, b1, b2, b3 = height_coefficients(first, last, FROM_B, ORIGIN, j, k, FRONT_TOLERANCE * size[b])
            if min(min(b0, b1), min(b2, b3)) >= 0.0 or max(max(b0, b1), max(b2, b3)) < 0.0:
                continue
            one, other = cubic_extrema(b0, b1, b2, b3)
            low, value = 0.0, b0
            for piece in range(3):
                high = one if piece == 0 else other if piece == 1 else 1.0
                if high <= low and piece < 2:
                    continue
                after = b3 if high == 1.0 else evaluate_cubic(b0, b1, b2, b3, high)
                if value >= 0.0 and after < 0.0:
                    t = falling_root(b0, b1, b2, b3, low, high)
                    if t < earliest and edges_touch_at(t, start, end, ends, a, b, sign, tolerance, now, normal, place):
                        earliest, earliest_sign = t, sign
                        out.place[count, 0], out.place[count, 1] = place[0], place[1]
                        break
                low, value = high, after
                if high == 1.0:
                    break
        if earliest_sign == 0 and distance[c] > 0.0:
            earliest_sign = proximity_sign(end, ends, a, b, distance[c], now, normal, place)
            if earliest_sign != 0:
                earliest = 1.0
                out.place[count, 0], out.place[count, 1] = place[0], place[1]
        if earliest_sign != 0:
            out.a[count], out.b[count], out.sign[count], out.time[count] = a, b, earliest_sign, earliest
            count += 1
    return count


@kernel(device_only=True)
def sweeps_disjoint(start, end, ends, a, b, distance):
    """Returns whether the boxes of two moving edges are farther from each other than `distance` [m]."""
    for axis in range(3):
        i, j, k, m = ends[a, 0], ends[a, 1], ends[b, 0], ends[b, 1]
        low = min(min(start[i, axis], start[j, axis]), min(end[i, axis], end[j, axis]))
        high = max(max(start[i, axis], start[j, axis]), max(end[i, axis], end[j, axis]))
        below = min(min(start[k, axis], start[m, axis]), min(end[k, axis], end[m, axis]))
        above = max(max(start[k, axis], start[m, axis]), max(end[k, axis], end[m, axis]))
        if low > above + distance or below > high + distance:
            return True
    return False


@kernel(device_only=True)
def edge_differences(at, ends, a, b, out):
    """Writes zero, the vector from the beginning of b to that of a, and edges a and b as vectors [m], (4, 3)."""
    for axis in range(3):
        out[0, axis] = 0.0
        out[1, axis] = at[ends[a, 0], axis] - at[ends[b, 0], axis]
        out[2, axis] = at[ends[a, 1], axis] - at[ends[a, 0], axis]
        out[3, axis] = at[ends[b, 1], axis] - at[ends[b, 0], axis]


@kernel(device_only=True)
def edges_touch_at(t, start, end, ends, a, b, sign, tolerance, now, normal, place):
    """Returns whether two edges touch at time t in [0, 1], within `tolerance` [m], and writes where."""
    interpolate_edges(t, start, end, ends, a, b, now)
    return closest_on_segments(now, place) <= tolerance * tolerance and is_in_front(
        now, sign, MIN_SKEW_SINE, MAX_SLANT_SINE, normal
    )


@kernel(device_only=True)
def proximity_sign(end, ends, a, b, distance, now, normal, place):
    """Returns the sign of n if two edges end closer than `distance` [m], between their ends, otherwise 0."""
    interpolate_edges(1.0, end, end, ends, a, b, now)
    if not closest_on_segments(now, place) < distance * distance:
        return 0
    if not (0.0 < place[0] < 1.0 and 0.0 < place[1] < 1.0):
        return 0
    for sign in (1, -1):
        if is_in_front(now, sign, MIN_SKEW_SINE, MAX_SLANT_SINE, normal):
            height = 0.0
            for axis in range(3):
                height += normal[axis] * (now[0, axis] - now[4, axis])
            if height > 0.0:
                return sign
    return 0


@kernel(device_only=True)
def interpolate_edges(t, start, end, ends, a, b, now):
    """Writes the vertices of two edges at time t [m], those of a first, (8, 3)."""
    for i in range(4):
        for axis in range(3):
            p, q = start[ends[a, i], axis], start[ends[b, i], axis]
            now[i, axis] = p + t * (end[ends[a, i], axis] - p)
            now[4 + i, axis] = q + t * (end[ends[b, i], axis] - q)


@kernel(device_only=True)
def is_in_front(now, sign, skew_sine, slant_sine, normal):
    """Returns whether edge a lies in front of edge b with n of this sign, and writes n, (3,); see above."""
    squared_a, squared_b, squared = 0.0, 0.0, 0.0
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        normal[axis] = sign * (
            (now[1, i] - now[0, i]) * (now[5, j] - now[4, j]) - (now[1, j] - now[0, j]) * (now[5, i] - now[4, i])
        )
        squared += normal[axis] * normal[axis]
        squared_a += (now[1, axis] - now[0, axis]) ** 2
        squared_b += (now[5, axis] - now[4, axis]) ** 2
    if not squared > skew_sine * skew_sine * squared_a * squared_b:
        return False
    length = math.sqrt(squared)
    for axis in range(3):
        normal[axis] /= length
    for corner in range(2, 8):
        if corner == 4 or corner == 5:
            continue
        origin, height, away = 0 if corner < 4 else 4, 0.0, 0.0
        for axis in range(3):
            r = now[corner, axis] - now[origin, axis]
            height += normal[axis] * r
            away += r * r
        if (height if corner < 4 else -height) < -slant_sine * math.sqrt(away):
            return False
    return True


@kernel(device_only=True)
def closest_on_segments(now, place):
    """Writes the parameters in [0, 1] of the closest points of two edges, (2,); returns the squared distance [m²].

    Rows 0 and 1 of `now`, (8, 3), are the ends of one edge [m], 4 and 5 those of the other.
    """
    aa, bb, ab, ar, br = 0.0, 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        e, f, r = now[1, axis] - now[0, axis], now[5, axis] - now[4, axis], now[0, axis] - now[4, axis]
        aa, bb, ab, ar, br = aa + e * e, bb + f * f, ab + e * f, ar + e * r, br + f * r
    inside = aa * bb - ab * ab
    s = min(max((ab * br - ar * bb) / inside, 0.0), 1.0) if inside > 1.0e-12 * aa * bb else 0.0
    u = (ab * s + br) / bb if bb > 0.0 else 0.0
    if u < 0.0 or u > 1.0:
        u = 0.0 if u < 0.0 else 1.0
        s = min(max((ab * u - ar) / aa, 0.0), 1.0) if aa > 0.0 else 0.0
    place[0], place[1], squared = s, u, 0.0
    for axis in range(3):
        p = now[0, axis] + s * (now[1, axis] - now[0, axis])
        squared += (p - now[4, axis] - u * (now[5, axis] - now[4, axis])) ** 2
    return squared


@kernel()
def fill_kept_distances(edge_a, edge_b, distances, start, ends, out):
    """Writes the distances that pairs of edges keep in a step [m], (c,).

    Two of one sheet keep no more than they have at rest. Edges of sheets that begin the step nearer than they may
    part gently: at once, they would be thrown apart.

    Args:
        edge_a, edge_b: The pairs, (c,) each.
        distances: `EdgeDistances`.
        start: Vertices at the start [m], (v, 3).
        ends: See `SharpEdges`.
        out: Out.
    """
    now, place = np.empty((8, 3)), np.empty(2)
    for c in range(len(edge_a)):
        out[c] = kept_distance(edge_a[c], edge_b[c], distances, start, ends, now, place)


@kernel(device_only=True)
def kept_distance(a, b, distances, start, ends, now, place):
    """Returns the distance that two edges keep in a step [m]; see `fill_kept_distances`."""
    surface, is_of_sheet = distances.surface, distances.is_of_sheet
    distance = distances.thickness[surface[a]] + distances.thickness[surface[b]]
    if distance > 0.0 and surface[a] == surface[b]:
        distance = min(distance, edge_distance(distances.at_rest, ends, a, b, now, place))
    if distance > 0.0 and (is_of_sheet[a] or is_of_sheet[b]):
        distance = min(distance, edge_distance(start, ends, a, b, now, place) + MAX_RISE_PER_STEP * distance)
    return distance


@kernel(device_only=True)
def edge_distance(at, ends, a, b, now, place):
    """Returns the distance of two edges where vertices are at `at`, (v, 3) [m]."""
    interpolate_edges(0.0, at, at, ends, a, b, now)
    return math.sqrt(closest_on_segments(now, place))


@kernel()
def edge_planes(contacts, distances, start, end, ends, normal, gap, end_gap):
    """Writes normals of k pairs of edges, (k, 3), and their gaps n · (p − q) at the start and the end [m], (k,).

    The gap at the end is infinite where edges are parallel.

    Args:
        contacts: `TrackedEdgeArrays`.
        distances: `EdgeDistances`: what they keep is left out of gaps.
        start, end: Vertices [m], (v, 3).
        ends: See `SharpEdges`.
        normal, gap, end_gap: Out.
    """
    now, closest = np.empty((8, 3)), np.empty(2)
    for c in range(len(normal)):
        a0, a1, b0, b1 = ends[contacts.a[c], 0], ends[contacts.a[c], 1], ends[contacts.b[c], 0], ends[contacts.b[c], 1]
        squared = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            n = (end[a1, j] - end[a0, j]) * (end[b1, k] - end[b0, k])
            n -= (end[a1, k] - end[a0, k]) * (end[b1, j] - end[b0, j])
            normal[c, i] = contacts.sign[c] * n
            squared += normal[c, i] * normal[c, i]
        length, along = math.sqrt(squared), contacts.place[c]
        for i in range(3):
            normal[c, i] /= max(length, 1e-300)
        gap[c], end_gap[c] = 0.0, 0.0
        for i in (0, 2, 1):  # the order in which NumPy adds them, for the same bits
            p = start[a0, i] + along[0] * (start[a1, i] - start[a0, i])
            gap[c] += normal[c, i] * (p - (start[b0, i] + along[1] * (start[b1, i] - start[b0, i])))
            p = end[a0, i] + along[0] * (end[a1, i] - end[a0, i])
            end_gap[c] += normal[c, i] * (p - (end[b0, i] + along[1] * (end[b1, i] - end[b0, i])))
        distance = kept_distance(contacts.a[c], contacts.b[c], distances, start, ends, now, closest)
        gap[c] -= distance
        end_gap[c] = end_gap[c] - distance if length > 0.0 else np.inf


@kernel()
def find_nearest_edges(chain_a, chain_b, triangle, previous_normal, skew_sine, slant_sine, positions, edges, out):
    """Finds where k pairs of chains are closest to each other, by walks that begin at edges of the second ones.

    Args:
        chain_a, chain_b: The chains, (k,) each.
        triangle: Beside the first edges of the walks, on the second chains, (k,).
        previous_normal: Of the contacts, (k, 3).
        skew_sine, slant_sine: Used in place of `MIN_SKEW_SINE` and `MAX_SLANT_SINE`.
        positions: Vertices [m], (v, 3).
        edges: `EdgeArrays`.
        out: `NearestEdges`.
    """
    ends, chain_start = edges.ends, edges.chain_start
    now, place, normal = np.empty((8, 3)), np.empty(2), np.empty(3)
    for c in range(len(chain_a)):
        a, b = chain_start[chain_a[c]], chain_start[chain_b[c]]
        for edge in range(b, chain_start[chain_b[c] + 1]):
            if edges.triangle[edge] == triangle[c]:
                b = edge
                break
        squared = np.inf
        for turn in range(MAX_WALK_STEPS):
            before = squared
            chain = chain_a[c] if turn % 2 == 0 else chain_b[c]
            for edge in range(chain_start[chain], chain_start[chain + 1]):
                one, other = (edge, b) if turn % 2 == 0 else (a, edge)
                interpolate_edges(0.0, positions, positions, ends, one, other, now)
                d2 = closest_on_segments(now, place)
                if d2 < squared:
                    squared, out.a[c], out.b[c] = d2, one, other
                    out.place[c, 0], out.place[c, 1] = place[0], place[1]
            a, b = np.int64(out.a[c]), np.int64(out.b[c])
            if not squared < before:
                break
        interpolate_edges(0.0, positions, positions, ends, a, b, now)
        along = 0.0
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            along += previous_normal[c, axis] * (
                (now[1, i] - now[0, i]) * (now[5, j] - now[4, j]) - (now[1, j] - now[0, j]) * (now[5, i] - now[4, i])
            )
        out.sign[c] = 1.0 if along > 0.0 else -1.0
        out.is_in_front[c] = is_in_front(now, 1 if along > 0.0 else -1, skew_sine, slant_sine, normal)
