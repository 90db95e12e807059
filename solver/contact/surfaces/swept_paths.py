# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around the straight paths of vertices during a step, as a piece sees them that moves as one.

Paths that meet in the world meet in every frame that moves with one velocity. In that of its own mean motion a piece
that flies or falls fast sweeps over no more of itself than if it rested. Frames that turn too were tried: paths are
bent in them, and the room that this takes finds more pairs than it saves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

SWEEP_MARGIN_RATIO = 0.1  # distance beyond the end of a vertex that the search covers, over its path


class SweptPaths(NamedTuple):
    """Paths of vertices in a step, v of them.

    Attributes:
        start, end: At both ends of the step [m], (v, 3).
        margin: How far from `end` the vertex may go before another search, along any axis [m], (v,).
        thickness: Distance at which other surfaces touch it [m], (v,).
    """

    start: Floats
    end: Floats
    margin: Floats
    thickness: Floats


def mean_motions(of: Indices, pieces: int, motion: Floats) -> Floats:
    """Returns the mean motion of the vertices of each piece [m], (p, 3).

    Args:
        of: The piece of each vertex, (v,).
        pieces: Their number p.
        motion: Of the vertices [m], (v, 3).
    """
    count = np.maximum(np.bincount(of, minlength=pieces), 1)
    return np.stack([np.bincount(of, motion[:, axis], pieces) / count for axis in range(3)], axis=1)


@kernel()
def fill_margins(of, motion, start, end, min_margin, margin):
    """Writes the margin of each vertex [m], (v,): `min_margin`, and a share of its path beside its piece, see above."""
    for i in range(len(start)):
        length = 0.0
        for axis in range(3):
            length = max(length, abs(end[i, axis] - start[i, axis] - motion[of[i], axis]))
        margin[i] = min_margin[i] + SWEEP_MARGIN_RATIO * length


@kernel(inline=True, device_only=True)
def empty_box(box):
    """Writes a box with nothing in it."""
    for axis in range(3):
        box[axis], box[3 + axis] = np.inf, -np.inf


@kernel(inline=True, device_only=True)
def enclose_path(box, i, paths, motion):
    """Extends a box [m], (6,), by the path of vertex i beside what moves by `motion`, with margin and thickness."""
    reach = paths.margin[i] + paths.thickness[i]
    for axis in range(3):
        one, other = paths.start[i, axis], paths.end[i, axis] - motion[axis]
        box[axis] = min(box[axis], min(one, other) - reach)
        box[3 + axis] = max(box[3 + axis], max(one, other) + reach)
