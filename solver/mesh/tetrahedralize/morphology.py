# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of cells, and which cells lie deep in them."""

from __future__ import annotations

import numpy as np
import scipy.ndimage

from ...runtime.arrays import Bools, Indices


def label_regions(is_in: Bools) -> tuple[Indices, int]:
    """Returns for each cell, (x, y, z), the number of its region, cells joined by faces, and how many there are.

    Regions are numbered from 1 on by their first cells; cells that are not in have 0.
    """
    labels, count = scipy.ndimage.label(is_in)
    return labels.astype(np.int32, copy=False), int(count)


def erode(is_in: Bools, times: int = 1) -> Bools:
    """Returns which cells, (x, y, z), have all cells in that are at most so many steps away, diagonal ones included.

    Nothing outside the grid is in.
    """
    return scipy.ndimage.minimum_filter(is_in.view(np.uint8), 2 * times + 1, mode="constant").view(np.bool_)


def erode_by_faces(is_in: Bools) -> Bools:
    """Returns which cells, (x, y, z), are in with all six that share a face with them."""
    return scipy.ndimage.binary_erosion(is_in)
