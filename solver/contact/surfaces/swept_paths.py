# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around the straight paths of vertices during a step, as a piece sees them that moves as one.

Paths that meet in the world meet in every frame that moves with one velocity. In that of its own mean motion a piece
that flies or falls fast sweeps over no more of itself than if it rested. Frames that turn too were tried: paths are
bent in them, and the room that this takes finds more pairs than it saves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats
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


@kernel()
def mark_left_pieces(of, paths, end, is_left):
    """Marks the pieces with a vertex that ends at `end` [m], (v, 3), outside its margin, (p,)."""
    for i in range(len(of)):
        for axis in range(3):
            if not abs(end[i, axis] - paths.end[i, axis]) <= paths.margin[i]:
                is_left[of[i]] = True


@kernel()
def fill_mean_motions(of, which, paths, motion):
    """Writes the mean motion of the vertices of some pieces [m], (p, 3).

    Args:
        of: The piece of each vertex, (v,).
        which: The pieces, (p,).
        paths: `SweptPaths` of the vertices.
        motion: Out; that of others stays as it is.
    """
    count = np.zeros(len(motion))
    for piece in range(len(motion)):
        if which[piece]:
            motion[piece] = 0.0
    for i in range(len(of)):
        if which[of[i]]:
            count[of[i]] += 1.0
            for axis in range(3):
                motion[of[i], axis] += paths.end[i, axis] - paths.start[i, axis]
    for piece in range(len(motion)):
        if which[piece]:
            for axis in range(3):
                motion[piece, axis] /= max(count[piece], 1.0)


@kernel()
def fill_margins(of, which, motion, paths, min_margin):
    """Writes the margins of the vertices of some pieces: `min_margin`, and a share of the path beside the piece [m].

    Args:
        of: The piece of each vertex, (v,).
        which: The pieces, (p,).
        motion: Theirs, see above [m], (p, 3).
        paths: `SweptPaths`, changed.
        min_margin: Of each vertex [m], (v,).
    """
    for i in range(len(of)):
        if not which[of[i]]:
            continue
        length = 0.0
        for axis in range(3):
            length = max(length, abs(paths.end[i, axis] - paths.start[i, axis] - motion[of[i], axis]))
        paths.margin[i] = min_margin[i] + SWEEP_MARGIN_RATIO * length


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
