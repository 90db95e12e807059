# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts ears off a polygon in the plane until nothing is left (kernel).

It always ends with two triangles less than there are corners, whatever the positions: a polygon whose sides cross
each other is still cut along chords between its corners.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel


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
    """Fills `out`, see `cut_ears`: the ear with the shortest chord first, where there is none the sharpest corner.

    A chord of −1 is looked at anew: that of both neighbours after each cut, and all where no ear is left, since ears
    that were hidden may be free by then.
    """
    n = flat.shape[0]
    before, after = np.empty(n, np.int64), np.empty(n, np.int64)
    chord, turns = np.full(n, -1.0), np.empty(n)
    for i in range(n):
        before[i], after[i] = (i - 1) % n, (i + 1) % n
    is_fresh = True
    k = 0
    while k < n - 2:
        best = -1
        sharpest = -1
        for i in range(n):
            if after[i] < 0:
                continue
            if chord[i] < 0.0:
                chord[i], turns[i] = chord_and_turn(flat, points, before[i], i, after)
            if chord[i] < np.inf and (best < 0 or chord[i] < chord[best]):
                best = i
            if sharpest < 0 or turns[i] > turns[sharpest]:
                sharpest = i
        if best < 0 and not is_fresh:
            chord[:] = -1.0
            is_fresh = True
            continue
        if best < 0:
            best = sharpest
        a, b = before[best], after[best]
        out[k, 0], out[k, 1], out[k, 2] = a, best, b
        after[a], before[b] = b, a
        after[best] = -1
        chord[a], chord[b] = -1.0, -1.0
        is_fresh = False
        k += 1


@kernel(device_only=True)
def twice_signed_area(flat, a, b, c):
    """Returns twice the area of the triangle of three corners, > 0 where they turn left."""
    x, y = flat[a, 0], flat[a, 1]
    return (flat[b, 0] - x) * (flat[c, 1] - y) - (flat[b, 1] - y) * (flat[c, 0] - x)


@kernel(device_only=True)
def chord_and_turn(flat, points, a, i, after):
    """Returns the squared length of the chord from a that cuts corner i off, inf where it is no ear; and the turn.

    The turn is −inf where both neighbours are one point.
    """
    b = after[i]
    if points[a] == points[b]:
        return np.inf, -np.inf
    here = twice_signed_area(flat, a, i, b)
    if not here > 0.0:
        return np.inf, here
    c = after[b]
    while c != a:
        same = points[c] == points[a] or points[c] == points[i] or points[c] == points[b]
        if (
            not same
            and twice_signed_area(flat, a, i, c) >= 0.0
            and twice_signed_area(flat, i, b, c) >= 0.0
            and twice_signed_area(flat, b, a, c) >= 0.0
        ):
            return np.inf, here
        c = after[c]
    return (flat[b, 0] - flat[a, 0]) ** 2 + (flat[b, 1] - flat[a, 1]) ** 2, here
