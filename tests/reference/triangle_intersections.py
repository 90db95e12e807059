# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow, obvious reference: what two triangles have in common, in fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction


def solution(columns, right):
    """Returns the only x with columns · x = right, or None if there is none or more than one."""
    count = len(columns)
    rows = [[*(column[i] for column in columns), right[i]] for i in range(len(right))]
    for pivot in range(count):
        place = next((r for r in range(pivot, len(rows)) if rows[r][pivot] != 0), None)
        if place is None:
            return None
        rows[pivot], rows[place] = rows[place], rows[pivot]
        scale = rows[pivot][pivot]
        rows[pivot] = [x / scale for x in rows[pivot]]
        for r, row in enumerate(rows):
            if r != pivot and row[pivot] != 0:
                factor = row[pivot]
                rows[r] = [x - factor * y for x, y in zip(row, rows[pivot], strict=True)]
    if any(row[-1] != 0 for row in rows[count:]):
        return None
    return [row[-1] for row in rows[:count]]


def common_corners(one, other):
    """Returns points whose convex hull is what two triangles have in common.

    Barycentric coordinates α, β ≥ 0 of common points fulfil Σ αᵢ aᵢ = Σ βⱼ bⱼ, Σ α = Σ β = 1: the corners of this
    polytope are its solutions with linearly independent columns.
    """
    a = [[Fraction(float(x)) for x in point] for point in one]
    b = [[Fraction(float(x)) for x in point] for point in other]
    one_, zero = Fraction(1), Fraction(0)
    columns = [[*p, one_, zero] for p in a] + [[*(-x for x in p), zero, one_] for p in b]
    right = [zero, zero, zero, one_, one_]
    points = []
    for size in range(2, 6):
        for chosen in itertools.combinations(range(6), size):
            weights = solution([columns[i] for i in chosen], right)
            if weights is None or min(weights) < 0:
                continue
            pairs = [(w, a[i]) for w, i in zip(weights, chosen, strict=True) if i < 3]
            points.append(tuple(sum((w * p[axis] for w, p in pairs), zero) for axis in range(3)))
    return points


def intersect_beyond_shared(one, other, shared):
    """Returns whether two triangles have more in common than their shared corners and the edge between these.

    Args:
        one, other: Corners, (3, 3).
        shared: Positions of shared corners, at most two, (k, 3).
    """
    ends = [tuple(Fraction(float(x)) for x in point) for point in shared]
    for point in common_corners(one, other):
        if not ends:
            return True
        if len(ends) == 1:
            if point != ends[0]:
                return True
            continue
        along = [q - p for p, q in zip(*ends, strict=True)]
        offset = [x - p for x, p in zip(point, ends[0], strict=True)]
        length = sum(x * x for x in along)
        if length == 0:
            if any(offset):
                return True
            continue
        t = sum(x * y for x, y in zip(along, offset, strict=True)) / length
        if not 0 <= t <= 1 or any(x != t * y for x, y in zip(offset, along, strict=True)):
            return True
    return False
