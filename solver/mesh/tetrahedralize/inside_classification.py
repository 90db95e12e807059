# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lattice points lie inside a surface: those around which it winds more than half a time."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.triangle_bvh import Bvh
from ..geometry.winding_number import winding_numbers
from .bcc_lattice import Lattice
from .morphology import label_regions

INSIDE_WINDING = 0.5


def lattice_winding(
    lattice: Lattice, coordinates: Indices | Floats, bvh: Bvh, is_closed: bool, *, is_moved: bool = False
) -> Floats:
    """Returns the winding number at each lattice point, (n,).

    The winding number of a closed surface is the same all over a region that the surface does not enter, so only
    points in cells near the surface are evaluated, and one point of each connected region of other cells.

    Args:
        lattice: The lattice.
        coordinates: Its points in half cells, (n, 3).
        bvh: The surface.
        is_closed: Whether the surface is closed, so that the winding number is whole.
        is_moved: Whether the points have been moved, by less than half a cell, from corners and middles of cells.
    """
    if not is_closed:
        return winding_numbers(bvh, lattice.positions(coordinates))
    touched = touched_cells(lattice, bvh)
    labels, region_count = label_regions(~touched)
    # a corner that has been moved may be in any of the cells around it
    of_corners = _corner_labels(labels, np.minimum if is_moved else np.maximum)
    region = np.concatenate([of_corners.ravel(), labels.ravel()])
    alone = region == 0
    winding = np.empty(len(coordinates))
    winding[alone] = winding_numbers(bvh, lattice.positions(coordinates[alone]))
    samples = np.zeros(region_count + 1, np.int64)
    samples[region] = np.arange(len(region), dtype=np.int64)
    winding[~alone] = winding_numbers(bvh, lattice.positions(coordinates[samples]))[region[~alone]]
    return winding


def touched_cells(lattice: Lattice, bvh: Bvh) -> Bools:
    """Returns which cells meet the box of a triangle or come close to it, (x, y, z) cells."""
    corners = bvh.corners.reshape(-1, 3, 3)
    size = np.array(lattice.cell_counts, np.int64)
    slack = 1e-6
    low = np.floor((corners.min(axis=1) - lattice.origin) / lattice.cell - slack).astype(np.int64)
    high = np.floor((corners.max(axis=1) - lattice.origin) / lattice.cell + slack).astype(np.int64)
    low, high = np.clip(low, 0, size - 1), np.clip(high, 0, size - 1)
    touched = np.zeros(lattice.cell_counts, np.bool_)
    spans = high - low + 1
    small = (spans <= 4).all(axis=1)
    for offset in np.ndindex(*(spans[small].max(axis=0) if small.any() else (0, 0, 0))):
        reach = low[small] + offset
        reach = reach[(reach <= high[small]).all(axis=1)]
        touched[reach[:, 0], reach[:, 1], reach[:, 2]] = True
    for (x0, y0, z0), (x1, y1, z1) in zip(low[~small], high[~small] + 1, strict=True):
        touched[x0:x1, y0:y1, z0:z1] = True
    return touched


def _corner_labels(labels: Indices, pick: np.ufunc) -> Indices:
    """Returns for each corner the region of a cell at it that the surface does not enter, 0 where there is none.

    `pick` is np.maximum, or np.minimum where none of the cells at it may be entered.
    """
    padded = np.pad(labels, 1)
    x, y, z = (count + 1 for count in labels.shape)
    out = padded[:x, :y, :z].copy()
    for dx, dy, dz in np.ndindex(2, 2, 2):
        pick(out, padded[dx : dx + x, dy : dy + y, dz : dz + z], out=out)
    return out
