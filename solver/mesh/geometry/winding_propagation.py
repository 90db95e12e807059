# SPDX-License-Identifier: GPL-3.0-or-later
"""Propagates winding numbers along segments: only the triangles that a segment crosses change them."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .segment_surface_crossings import cross_triangle
from .triangle_bvh import Bvh
from .winding_number import winding_numbers

START_WEIGHTS = np.array([0.31, 0.23, 0.27, 0.19])  # on no plane on which a wall could lie that fits the lattice


def winding_numbers_in_tets(bvh: Bvh, corners: Floats) -> tuple[Floats, Floats]:
    """Returns a place in each tet [m], (k, 3), and the winding number there, (k,), from which to propagate it.

    `corners` are those of the tets [m], (k, 4, 3).
    """
    start = floats(np.einsum("j,kji->ki", START_WEIGHTS, corners))
    return start, winding_numbers(bvh, start)


def propagate_winding_numbers(bvh: Bvh, start: Floats, winding: Floats, end: Floats) -> Floats:
    """Returns the winding number at the ends of segments, (k,), from that at their starts.

    Every triangle that a segment leaves through its front takes one away. On a surface with holes the winding number
    also changes between triangles; that is left out, so segments have to be short against the distance from a hole.

    Args:
        bvh: The surface.
        start, end: Ends of the segments [m], (k, 3).
        winding: Winding number at their starts, (k,).
    """
    out = np.empty(len(start))

    def work(part: slice) -> None:
        fill_propagated_winding_numbers(
            bvh.boxes, bvh.tree, bvh.corners, start[part], winding[part], end[part], out[part]
        )

    run_in_chunks(len(start), work)
    return out


@kernel()
def fill_propagated_winding_numbers(boxes, tree, corners, start, winding, end, out):
    """Fills `out`, see `propagate_winding_numbers`, (k,)."""
    for i in range(start.shape[0]):
        x, y, z = start[i, 0], start[i, 1], start[i, 2]
        dx, dy, dz = end[i, 0] - x, end[i, 1] - y, end[i, 2] - z
        least_x, most_x = min(x, x + dx), max(x, x + dx)
        least_y, most_y = min(y, y + dy), max(y, y + dy)
        least_z, most_z = min(z, z + dz), max(z, z + dz)
        total = winding[i]
        node = 0
        while node < tree.shape[0]:
            if (
                boxes[node, 0] > most_x
                or boxes[node, 1] > most_y
                or boxes[node, 2] > most_z
                or boxes[node, 3] < least_x
                or boxes[node, 4] < least_y
                or boxes[node, 5] < least_z
            ):
                node = tree[node, 3]
                continue
            if tree[node, 0] < 0:
                for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    _, cosine = cross_triangle(corners, t, x, y, z, dx, dy, dz)
                    if cosine != 0.0:
                        total -= 1.0 if cosine > 0.0 else -1.0
            node += 1
        out[i] = total
