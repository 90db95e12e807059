# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of cells and what is deep in them. To load SciPy's ndimage for that takes a tenth of what a bake loads."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Indices
from ..geometry.connected_components import connected_components


def label_regions(is_in: Bools) -> tuple[Indices, int]:
    """Returns for each cell, (x, y, z), the number of its region, cells joined by faces, and how many there are.

    Regions are numbered from 1 on by their first cells; cells that are not in have 0. Joined are runs of cells along
    the last axis.
    """
    if not is_in.any():
        return np.zeros(is_in.shape, np.int32), 0
    starts = is_in.copy()
    starts[..., 1:] &= ~is_in[..., :-1]
    run = np.cumsum(starts.ravel(), dtype=np.int32).reshape(is_in.shape) - 1
    count, pairs = int(run[-1, -1, -1]) + 1, []
    for axis in range(2):
        last = is_in.shape[axis] - 1
        of = [np.take(each, range(last), axis) for each in (is_in, starts, run)]
        next_of = [np.take(each, range(1, last + 1), axis) for each in (is_in, starts, run)]
        # two runs meet first where one of them starts
        meet = of[0] & next_of[0] & (of[1] | next_of[1])
        pairs.append((of[2][meet], next_of[2][meet]))
    rows, columns = (np.concatenate(both) for both in zip(*pairs, strict=True))
    region = connected_components(rows, columns, count)
    return np.where(is_in, region[run] + 1, 0).astype(np.int32), int(region.max()) + 1


def erode(is_in: Bools, times: int = 1) -> Bools:
    """Returns which cells, (x, y, z), have all cells in that are at most so many steps away, diagonal ones included.

    Nothing outside the grid is in.
    """
    for axis in range(3):
        for _ in range(times):
            is_in = _erode_along(is_in, axis)
    return is_in


def erode_by_faces(is_in: Bools) -> Bools:
    """Returns which cells, (x, y, z), are in with all six that share a face with them."""
    return _erode_along(is_in, 0) & _erode_along(is_in, 1) & _erode_along(is_in, 2)


def _erode_along(is_in: Bools, axis: int) -> Bools:
    """Returns which cells are in with both beside them along an axis."""
    out, along = np.zeros_like(is_in), np.moveaxis(is_in, axis, 0)
    np.moveaxis(out, axis, 0)[1:-1] = along[:-2] & along[1:-1] & along[2:]
    return out
