# SPDX-License-Identifier: GPL-3.0-or-later
"""Morton codes: the places of cells of a lattice on a curve that stays near where it is.

Source: Morton 1966, A computer oriented geodetic data base and a new technique in file sequencing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

MAX_BITS = 21  # of a coordinate
# (shift, mask): after each the bits of a number are farther apart, in the end with two zeros between them
SPREADING_MASKS = (
    (32, 0x1F00000000FFFF),
    (16, 0x1F0000FF0000FF),
    (8, 0x100F00F00F00F00F),
    (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)


def morton_codes(cells: npt.NDArray) -> Int64s:
    """Returns the coordinates of cells interleaved bit by bit, x in the lowest bit, (n,).

    Args:
        cells: Whole numbers from 0 to 2²¹ − 1, (n, 3).
    """
    codes = np.zeros(len(cells), np.int64)
    for axis in range(3):
        codes |= _spread_bits(cells[:, axis].astype(np.int64)) << axis
    return codes


def _spread_bits(values: Int64s) -> Int64s:
    """Returns the low 21 bits of every value with two zero bits between neighbours."""
    values = values & (2**MAX_BITS - 1)
    for shift, mask in SPREADING_MASKS:
        values = (values | (values << shift)) & mask
    return values
