# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume around which a surface winds: overlaps count once, holes are closed."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .segment_surface_crossings import find_crossings
from .triangle_bvh import Bvh
from .winding_number import winding_numbers

# Closed surfaces are measured along this many lines, others at this many points.
LINE_COUNT = 40_000
POINT_COUNT = 100_000
MAX_CROSSINGS = 1024


def enclosed_volume(bvh: Bvh, is_closed: bool) -> float:
    """Returns the volume where the winding number is above one half [m³]."""
    lower, upper = bvh.boxes[0, :3], bvh.boxes[0, 3:]
    lengths = upper - lower
    if not (lengths > 0).all():
        return 0.0
    return _along_lines(bvh, lower, lengths) if is_closed else _at_points(bvh, lower, lengths)


def _along_lines(bvh: Bvh, lower: Floats, lengths: Floats) -> float:
    """Adds up how long parallel lines are inside; a line that slips between two triangles is left out."""
    axis = int(np.argmax(lengths))
    u, v = (axis + 1) % 3, (axis + 2) % 3
    area = lengths[u] * lengths[v]
    rows = max(int(np.sqrt(LINE_COUNT * lengths[u] / lengths[v])), 1)
    columns = max(LINE_COUNT // rows, 1)
    s, t = np.meshgrid(
        (np.arange(rows, dtype=np.int64) + 0.5) / rows,
        (np.arange(columns, dtype=np.int64) + 0.5) / columns,
        indexing="ij",
    )
    starts = np.empty((s.size, 3))
    starts[:, axis] = lower[axis] - 0.5 * lengths[axis]
    starts[:, u] = lower[u] + lengths[u] * s.ravel()
    starts[:, v] = lower[v] + lengths[v] * t.ravel()
    inside = np.empty(len(starts))
    length = 2.0 * lengths[axis]

    def work(part: slice) -> None:
        fill_inside_lengths(bvh.boxes, bvh.tree, bvh.corners, starts[part], axis, length, inside[part])

    run_in_chunks(len(starts), work)
    valid = inside >= 0.0
    return float(area * inside[valid].mean()) if valid.any() else 0.0


def _at_points(bvh: Bvh, lower: Floats, lengths: Floats) -> float:
    """Counts points of a regular grid."""
    step = (float(lengths.prod()) / POINT_COUNT) ** (1 / 3)
    counts = np.clip(np.round(lengths / step), 1, POINT_COUNT).astype(np.int64)
    counts = np.minimum(
        counts, [max(POINT_COUNT // max(counts[(i + 1) % 3] * counts[(i + 2) % 3], 1), 1) for i in range(3)]
    )
    points = (np.indices(tuple(counts)).reshape(3, -1).T + 0.5) / counts
    return float(lengths.prod() * (winding_numbers(bvh, lower + lengths * points) > 0.5).mean())


@kernel()
def fill_inside_lengths(boxes, tree, corners, starts, axis, length, inside):
    """Fills how long lines along an axis are inside a closed surface [m], -1 where the count does not close.

    Args:
        boxes, tree, corners: See `Bvh`.
        starts: Where the lines start, outside [m], (k, 3).
        axis: 0, 1 or 2.
        length: Their length [m].
        inside: The length inside, (k,); filled.
    """
    at = np.empty(MAX_CROSSINGS)
    lean = np.empty(MAX_CROSSINGS)
    for i in range(starts.shape[0]):
        dx = length if axis == 0 else 0.0
        dy = length if axis == 1 else 0.0
        dz = length if axis == 2 else 0.0
        count = find_crossings(boxes, tree, corners, starts[i, 0], starts[i, 1], starts[i, 2], dx, dy, dz, at, lean)
        total = 0.0
        winding = 0.0
        if count <= MAX_CROSSINGS:
            for c in range(count):
                winding -= math.copysign(1.0, lean[c])
                if winding > 0.5:
                    total += (at[c + 1] - at[c]) * length if c + 1 < count else 0.0
        inside[i] = total if winding == 0.0 and count <= MAX_CROSSINGS else -1.0
