# SPDX-License-Identifier: GPL-3.0-or-later
"""Element records of tets whose rotations R are given, instead of the nearest ones of `corotational_element.py`."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.threads.thread_pool import run_ranges
from .corotational_element import SCRATCH_SIZE, TETS_PER_CHUNK, write_deformation_gradient, write_record_lanes
from .record_layout import ElementArrays

L = LANES


def compute_records_with_rotations(frames: Floats, x: Floats, elements: ElementArrays, records: Floats) -> None:
    """Writes the records `records` of tets, (m, …), at x [m], (n, 3), whose rotations are `frames`, (m, 3, 3)."""

    def work(begin: int, end: int) -> None:
        write_rotated_records(begin, end, frames, x, elements, records)

    run_ranges(0, len(elements.tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def write_rotated_records(begin, end, frames, x, elements, records):
    """Writes the records of the tets from `begin` to `end` by the gradients at rest, turned."""
    F, R, work = np.zeros(9 * L), np.zeros(9 * L), np.zeros(SCRATCH_SIZE)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, elements.tets, elements.Dm_inverse, F, i)
            for row in range(3):
                for column in range(3):
                    R[(3 * column + row) * L + i] = frames[first + i, row, column]
        write_record_lanes(first, count, F, R, F, work, elements, records)
