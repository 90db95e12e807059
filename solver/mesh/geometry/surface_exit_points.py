# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a segment leaves the inside of a surface: the winding number falls through one half."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .segment_surface_crossings import find_crossings
from .triangle_bvh import Bvh
from .winding_number import winding_number

# More crossings than this on one segment are not sorted: halving finds one of them.
MAX_SORTED_CROSSINGS = 32
BISECTION_STEPS = 30


def exit_points(bvh: Bvh, inside: Floats, outside: Floats, winding: Floats) -> tuple[Floats, Floats]:
    """Returns where segments leave the surface and how steeply.

    Args:
        inside, outside: Ends of the segments [m], (k, 3).
        winding: Winding number at the inside ends, above one half, (k,).

    Returns:
        The fractions in [0, 1] of the way from inside to outside, (k,), and the cosines between the segment and the
        surface's normal there, 1 in a hole, (k,).
    """
    out, cosine = np.empty(len(inside)), np.empty(len(inside))

    def work(part: slice) -> None:
        fill_exit_points(*bvh.arrays, inside[part], outside[part], winding[part], out[part], cosine[part])

    run_in_chunks(len(inside), work)
    return out, cosine


@kernel()
def fill_exit_points(boxes, tree, corners, moments, inside, outside, winding, out, cosine):
    """Fills `out` and `cosine`, (k,): the first crossing at which the winding number falls below one half.

    Triangles that are crossed change the winding number by one. Where that does not explain the change (at holes,
    or beside an edge that two triangles both miss by a rounding), the segment is halved until the place is found.
    """
    at = np.empty(MAX_SORTED_CROSSINGS)
    lean = np.empty(MAX_SORTED_CROSSINGS)
    for i in range(inside.shape[0]):
        x, y, z = inside[i, 0], inside[i, 1], inside[i, 2]
        dx, dy, dz = outside[i, 0] - x, outside[i, 1] - y, outside[i, 2] - z
        count = find_crossings(boxes, tree, corners, x, y, z, dx, dy, dz, at, lean)
        w = winding[i]
        found = -1.0
        if count <= MAX_SORTED_CROSSINGS:
            for c in range(count):
                w -= math.copysign(1.0, lean[c])
                if w <= 0.5:
                    found = min(max(at[c], 0.0), 1.0)
                    cosine[i] = lean[c]
                    break
        if found < 0.0:
            cosine[i] = 1.0
            low = 0.0
            high = 1.0
            for _ in range(BISECTION_STEPS):
                s = 0.5 * (low + high)
                if winding_number(tree, corners, moments, x + s * dx, y + s * dy, z + s * dz) > 0.5:
                    low = s
                else:
                    high = s
            found = 0.5 * (low + high)
        out[i] = found
