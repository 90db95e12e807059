# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts ears off a polygon in the plane until nothing is left (kernel).

It always ends with two triangles less than there are corners, whatever the positions: a polygon whose sides cross
each other is still cut along chords between its corners.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from ..jit import kernel


def cut_ears(flat: Floats, points: npt.NDArray) -> Indices:
    """Returns triangles of a counterclockwise polygon as its corners, (n − 2, 3).

    Args:
        flat: Corners in the plane [m], (2, n).
        points: Number of the point of each corner: bridges to holes have corners twice, (n,).
    """
    out = np.empty((len(points) - 2, 3), np.int32)
    fill_ears(np.ascontiguousarray(flat.T), points.astype(np.int64), out)
    return out


@kernel()
def fill_ears(flat, points, out):
    """Fills `out`, see `cut_ears`: the ear with the shortest chord first."""
    n = flat.shape[0]
    before, after = np.empty(n, np.int64), np.empty(n, np.int64)
    chord = np.empty(n)
    for i in range(n):
        before[i], after[i] = (i - 1) % n, (i + 1) % n
    for i in range(n):
        chord[i] = chord_of_ear(flat, points, before, after, i)
    for k in range(n - 2):
        best = shortest(chord, after)
        if best < 0:  # ears that were hidden before may be free now
            for i in range(n):
                if after[i] >= 0:
                    chord[i] = chord_of_ear(flat, points, before, after, i)
            best = shortest(chord, after)
        if best < 0:
            best = most_convex(flat, points, before, after)
        a, b = before[best], after[best]
        out[k, 0], out[k, 1], out[k, 2] = a, best, b
        after[a], before[b] = b, a
        after[best] = -1
        chord[a] = chord_of_ear(flat, points, before, after, a)
        chord[b] = chord_of_ear(flat, points, before, after, b)


@kernel()
def shortest(chord, after):
    """Returns the ear whose chord is shortest, −1 where there is none."""
    best = -1
    for i in range(chord.shape[0]):
        if after[i] >= 0 and chord[i] < np.inf and (best < 0 or chord[i] < chord[best]):
            best = i
    return best


@kernel()
def turn(flat, a, b, c):
    """Returns twice the area of the triangle of three corners, > 0 where they turn left."""
    x, y = flat[a, 0], flat[a, 1]
    return (flat[b, 0] - x) * (flat[c, 1] - y) - (flat[b, 1] - y) * (flat[c, 0] - x)


@kernel()
def chord_of_ear(flat, points, before, after, i):
    """Returns the squared length of the chord that cuts corner i off, inf where it is no ear."""
    a, b = before[i], after[i]
    if points[a] == points[b] or not turn(flat, a, i, b) > 0.0:
        return np.inf
    c = after[b]
    while c != a:
        same = points[c] == points[a] or points[c] == points[i] or points[c] == points[b]
        if not same and turn(flat, a, i, c) >= 0.0 and turn(flat, i, b, c) >= 0.0 and turn(flat, b, a, c) >= 0.0:
            return np.inf
        c = after[c]
    return (flat[b, 0] - flat[a, 0]) ** 2 + (flat[b, 1] - flat[a, 1]) ** 2


@kernel()
def most_convex(flat, points, before, after):
    """Returns the corner that turns left most, of those whose neighbours are not the same point."""
    best = -1
    most = -np.inf
    fallback = -1
    for i in range(flat.shape[0]):
        if after[i] < 0:
            continue
        fallback = i
        value = turn(flat, before[i], i, after[i])
        if points[before[i]] != points[after[i]] and value > most:
            best = i
            most = value
    return best if best >= 0 else fallback
