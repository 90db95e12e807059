# SPDX-License-Identifier: GPL-3.0-or-later
"""How far nodes may be taken to go in a step while contacts are being found, among pieces of what broke.

To turn costs a piece of one tet nothing in a linear solve: contacts that do not fit together turn it by a hundred
radians, and it ends metres away. All that it would meet on that way would be a contact of the next solve, and those
that it is nowhere near would pull at it and at what it touches. So contacts see it go no farther than it can be driven.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

FASTER = 2.0  # what is light leaves what is heavy at twice its speed


def farthest(start: Floats, fallen: Floats, size: float) -> float:
    """Returns how far a node may go [m] where the fastest by itself goes from `start` to `fallen` [m], (n, 3).

    `size` of tets is on top of that: what is squeezed or struck askew leaves faster.
    """
    if not len(start):
        return size
    return size + FASTER * float(np.sqrt(((fallen - start) ** 2).sum(axis=1).max()))


def held_back(start: Floats, x: Floats, most: float) -> Floats:
    """Returns x [m], (n, 3), with nodes that are farther than `most` from `start` so far on their way; x itself if none
    is."""
    moved = x - start
    far = np.sqrt(np.einsum("ni,ni->n", moved, moved))
    which = np.flatnonzero(far > most)
    if not len(which):
        return x
    nearer = x.copy()
    nearer[which] = start[which] + moved[which] * (most / far[which])[:, None]
    return nearer
