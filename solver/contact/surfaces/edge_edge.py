# SPDX-License-Identifier: GPL-3.0-or-later
"""When two moving edges go through each other, and where edges that have met are nearest to each other.

With r from the beginning of edge b to that of edge a, and e, f the edges, r · (e × f) is a cubic in the time, as the
height of a point over a triangle is (`time_of_impact.py`): it changes its sign where the four ends are in a plane.

Two edges that stick out touch only where all four faces beside them lie on their own side of the plane along both
edges. So n = ± (e × f) / ‖e × f‖, which keeps a away from b, has the sign for which the faces of b are below the plane
and those of a above it; where neither has, something else touches, and points of it do.
"""

from __future__ import annotations

import math

import numpy as np

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

MIN_SKEW_SINE = (
    0.05  # sine of the angle between edges from which they cross; below, points of theirs are met soon enough
)
MAX_SLANT_SINE = 0.05  # sine of the angle by which a face may be on the wrong side of the plane
MAX_WALK_STEPS = 8  # of a walk
# rows of `edge_differences`, of one type with the numbers of vertices, so that `height_coefficients` is compiled once
ORIGIN, FROM_B, EDGE_A, EDGE_B = np.int32(0), np.int32(1), np.int32(2), np.int32(3)


@kernel()
def find_edge_crossings(
    edge_a, edge_b, start, end, ends, size, keeps, a_out, b_out, place_out, sign_out, when_out
):  # fmt: skip
    """Writes which edges go through each other in a step, or come nearer than they may; returns how many do.

    Args:
        edge_a, edge_b: Pairs that are looked at, (c,) each.
        start, end: Vertices at both ends of the step [m], (v, 3).
        ends, size: See `SharpEdges`.
        keeps: Distance that the pair keeps [m], (c,).
        a_out, b_out: Out, the edges, (c,) each.
        place_out: Out, where on each of them, from 0 to 1, (c, 2).
        sign_out: Out, of n, (c,).
        when_out: Out, from 0 to 1; 1 where they only come too near, (c,).
    """
    now, normal, place = np.empty((8, 3)), np.empty(3), np.empty(2)
    one, other = np.empty((4, 3)), np.empty((4, 3))
    count = 0
    for c in range(len(edge_a)):
        a, b = np.int64(edge_a[c]), np.int64(edge_b[c])
        near = BORDER_TOLERANCE * size[b]
        if sweeps_disjoint(start, end, ends, a, b, near + keeps[c]):
            continue
        edge_differences(start, ends, a, b, one)
        edge_differences(end, ends, a, b, other)
        best, best_sign = NO_IMPACT, 0
        for sign in (1, -1):
            j, k = (EDGE_A, EDGE_B) if sign > 0 else (EDGE_B, EDGE_A)
            b0, b1, b2, b3 = height_coefficients(one, other, FROM_B, ORIGIN, j, k, FRONT_TOLERANCE * size[b])
            if min(min(b0, b1), min(b2, b3)) >= 0.0 or max(max(b0, b1), max(b2, b3)) < 0.0:
                continue
            turn, back = cubic_extrema(b0, b1, b2, b3)
            first, value = 0.0, b0
            for piece in range(3):
                last = turn if piece == 0 else back if piece == 1 else 1.0
                if last <= first and piece < 2:
                    continue
                after = b3 if last == 1.0 else evaluate_cubic(b0, b1, b2, b3, last)
                if value >= 0.0 and after < 0.0:
                    t = falling_root(b0, b1, b2, b3, first, last)
                    if t < best and edges_touch_at(t, start, end, ends, a, b, sign, near, now, normal, place):
                        best, best_sign = t, sign
                        place_out[count, 0], place_out[count, 1] = place[0], place[1]
                        break
                first, value = last, after
                if last == 1.0:
                    break
        if best_sign == 0 and keeps[c] > 0.0:
            best_sign = proximity_sign(end, ends, a, b, keeps[c], now, normal, place)
            if best_sign != 0:
                best = 1.0
                place_out[count, 0], place_out[count, 1] = place[0], place[1]
        if best_sign != 0:
            a_out[count], b_out[count], sign_out[count], when_out[count] = a, b, best_sign, best
            count += 1
    return count


@kernel(device_only=True)
def sweeps_disjoint(start, end, ends, a, b, more):
    """Whether the boxes of the ways of two edges are farther from each other than `more` [m]."""
    for axis in range(3):
        i, j, k, m = ends[a, 0], ends[a, 1], ends[b, 0], ends[b, 1]
        low = min(min(start[i, axis], start[j, axis]), min(end[i, axis], end[j, axis]))
        high = max(max(start[i, axis], start[j, axis]), max(end[i, axis], end[j, axis]))
        below = min(min(start[k, axis], start[m, axis]), min(end[k, axis], end[m, axis]))
        above = max(max(start[k, axis], start[m, axis]), max(end[k, axis], end[m, axis]))
        if low > above + more or below > high + more:
            return True
    return False


@kernel(device_only=True)
def edge_differences(at, ends, a, b, out):
    """Writes the origin, from the beginning of b to that of a, along a, along b [m], (4, 3)."""
    for axis in range(3):
        out[0, axis] = 0.0
        out[1, axis] = at[ends[a, 0], axis] - at[ends[b, 0], axis]
        out[2, axis] = at[ends[a, 1], axis] - at[ends[a, 0], axis]
        out[3, axis] = at[ends[b, 1], axis] - at[ends[b, 0], axis]


@kernel(device_only=True)
def edges_touch_at(t, start, end, ends, a, b, sign, near, now, normal, place):
    """Whether two edges touch at the time t in [0, 1], no farther from each other than `near` [m]; writes where."""
    interpolate_edges(t, start, end, ends, a, b, now)
    return closest_on_segments(now, place) <= near * near and is_in_front(
        now, sign, MIN_SKEW_SINE, MAX_SLANT_SINE, normal
    )


@kernel(device_only=True)
def proximity_sign(end, ends, a, b, keeps, now, normal, place):
    """Returns the sign of n where two edges end nearer than `keeps` [m], between their ends, 0 elsewhere."""
    interpolate_edges(1.0, end, end, ends, a, b, now)
    if not closest_on_segments(now, place) < keeps * keeps:
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
    """Writes the vertices of two edges at the time t [m], a's first, (8, 3)."""
    for i in range(4):
        for axis in range(3):
            p, q = start[ends[a, i], axis], start[ends[b, i], axis]
            now[i, axis] = p + t * (end[ends[a, i], axis] - p)
            now[4 + i, axis] = q + t * (end[ends[b, i], axis] - q)


@kernel(device_only=True)
def is_in_front(now, sign, skew, slant, normal):
    """Whether a lies in front of b with n of this sign, which is written, (3,); see above."""
    long_a, long_b, squared = 0.0, 0.0, 0.0
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        normal[axis] = sign * (
            (now[1, i] - now[0, i]) * (now[5, j] - now[4, j]) - (now[1, j] - now[0, j]) * (now[5, i] - now[4, i])
        )
        squared += normal[axis] * normal[axis]
        long_a += (now[1, axis] - now[0, axis]) ** 2
        long_b += (now[5, axis] - now[4, axis]) ** 2
    if not squared > skew * skew * long_a * long_b:
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
        if (height if corner < 4 else -height) < -slant * math.sqrt(away):
            return False
    return True


@kernel(device_only=True)
def closest_on_segments(now, place):
    """Writes where on two edges, from 0 to 1, they are nearest to each other, (2,); returns the distance² [m²].

    Rows 0 and 1 of `now`, (8, 3), are the ends of one [m], 4 and 5 those of the other.
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
def find_nearest_edges(
    chain_a, chain_b, triangle, known_normal, skew, slant, at, ends, chain_start, beside,
    a_out, b_out, place_out, sign_out, is_kept,
):  # fmt: skip
    """Finds where k pairs of chains are nearest to each other, from edges of the second ones on.

    Args:
        chain_a, chain_b: The chains, (k,) each.
        triangle: Beside the edges of the second ones, (k,).
        known_normal: Which way the first ones were kept, (k, 3).
        skew, slant: As `MIN_SKEW_SINE` and `MAX_SLANT_SINE`, for edges that met.
        at: Vertices [m], (v, 3).
        ends, chain_start, beside: Of the `SharpEdges`, `triangle` of them, (e,).
        a_out, b_out, place_out, sign_out: Out, the edges, where on them, and sign of n, (k,), (k,), (k, 2) and (k,).
        is_kept: Out, whether they still lie in front of each other, (k,).
    """
    now, place, normal = np.empty((8, 3)), np.empty(2), np.empty(3)
    for c in range(len(chain_a)):
        a, b = chain_start[chain_a[c]], chain_start[chain_b[c]]
        for edge in range(b, chain_start[chain_b[c] + 1]):
            if beside[edge] == triangle[c]:
                b = edge
                break
        squared = np.inf
        for turn in range(MAX_WALK_STEPS):
            before = squared
            chain = chain_a[c] if turn % 2 == 0 else chain_b[c]
            for edge in range(chain_start[chain], chain_start[chain + 1]):
                one, other = (edge, b) if turn % 2 == 0 else (a, edge)
                interpolate_edges(0.0, at, at, ends, one, other, now)
                d2 = closest_on_segments(now, place)
                if d2 < squared:
                    squared, a_out[c], b_out[c] = d2, one, other
                    place_out[c, 0], place_out[c, 1] = place[0], place[1]
            a, b = np.int64(a_out[c]), np.int64(b_out[c])
            if not squared < before:
                break
        interpolate_edges(0.0, at, at, ends, a, b, now)
        along = 0.0
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            along += known_normal[c, axis] * (
                (now[1, i] - now[0, i]) * (now[5, j] - now[4, j]) - (now[1, j] - now[0, j]) * (now[5, i] - now[4, i])
            )
        sign_out[c] = 1.0 if along > 0.0 else -1.0
        is_kept[c] = is_in_front(now, 1 if along > 0.0 else -1, skew, slant, normal)
