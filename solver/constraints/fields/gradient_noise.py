# SPDX-License-Identifier: GPL-3.0-or-later
"""The noise of turbulence: Perlin's improved gradient noise with the permutation of Blender's, and octaves of it.

The permutation was read off the gradients that Blender's noise shows at lattice points; tests compare the noise.
Source: P02.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, floats

# fmt: off
_PERMUTATION = np.array((
    162, 160, 25, 59, 248, 235, 170, 238, 243, 28, 103, 40, 29, 237, 0, 222, 149, 46, 220, 63,
    58, 130, 53, 77, 108, 186, 54, 208, 246, 12, 121, 50, 209, 89, 244, 8, 139, 99, 137, 47,
    184, 180, 151, 131, 242, 143, 24, 199, 81, 20, 101, 135, 72, 32, 66, 168, 128, 181, 64, 19,
    178, 34, 126, 87, 188, 127, 107, 157, 134, 76, 200, 219, 124, 213, 37, 78, 90, 85, 116, 80,
    205, 179, 122, 187, 195, 203, 182, 226, 228, 236, 253, 152, 11, 150, 211, 158, 92, 161, 100, 241,
    129, 97, 225, 196, 36, 114, 73, 140, 144, 75, 132, 52, 56, 171, 120, 202, 31, 1, 215, 147,
    17, 193, 88, 169, 49, 249, 68, 109, 191, 51, 156, 95, 9, 148, 163, 133, 6, 198, 154, 30,
    123, 70, 21, 48, 39, 43, 27, 113, 60, 91, 214, 111, 98, 172, 79, 194, 192, 14, 177, 35,
    167, 223, 71, 176, 119, 105, 5, 233, 230, 231, 118, 115, 15, 254, 110, 155, 86, 239, 18, 165,
    55, 252, 174, 217, 3, 142, 221, 16, 185, 206, 201, 141, 218, 42, 189, 104, 23, 159, 190, 212,
    10, 204, 210, 232, 67, 61, 112, 183, 2, 125, 153, 216, 13, 96, 138, 4, 44, 62, 146, 229,
    175, 83, 7, 224, 41, 166, 197, 227, 245, 247, 74, 65, 38, 106, 22, 94, 82, 45, 33, 173,
    240, 145, 255, 234, 84, 250, 102, 26, 69, 57, 207, 117, 164, 136, 251, 93,
), np.int64)
# fmt: on
# the axes that each of the 16 gradients adds, and their signs
_FIRST_AXIS = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], np.int64)
_SECOND_AXIS = np.array([1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 0, 2], np.int64)
TURBULENCE_OCTAVES = 2  # beside the first


def turbulence(points: npt.ArrayLike, size: float) -> Floats:
    """Returns T = c Σ_k 2⁻ᵏ (½ + ½ n(2ᵏ x / size)) over three octaves k, c such that it is within [0, 1], (n,).

    Args:
        points: x, (n, 3).
        size: Of the largest octave; 0 is taken for 1, as Blender does.
    """
    x = floats(points, -1, 3) / (size or 1.0)
    total = np.zeros(len(x))
    for octave in range(TURBULENCE_OCTAVES + 1):
        total += 0.5**octave * (0.5 + 0.5 * gradient_noise(x * 2.0**octave))
    return total * 2.0**TURBULENCE_OCTAVES / (2.0 ** (TURBULENCE_OCTAVES + 1) - 1.0)


def gradient_noise(x: Floats) -> Floats:
    """Returns Perlin's noise at points x, (n, 3), zero at whole numbers, within [-1, 1], (n,)."""
    whole = np.floor(x)
    inside = x - whole
    cell = whole.astype(np.int64) & 255
    blend = inside**3 * (inside * (inside * 6.0 - 15.0) + 10.0)
    result = np.zeros(len(x))
    for corner in np.ndindex(2, 2, 2):
        share = np.prod(np.where(np.array(corner) == 1, blend, 1.0 - blend), axis=1)
        result += share * _along_gradient(cell, np.array(corner, np.int64), inside)
    return result


def _along_gradient(cell: Indices, corner: Indices, inside: Floats) -> Floats:
    """Returns the product of the gradient at a corner of each cell with the way from there, (n,)."""
    number = np.zeros(len(cell), np.int64)
    for axis in range(3):
        number = _PERMUTATION[(number + cell[:, axis] + corner[axis]) & 255]
    number &= 15
    way = inside - corner
    rows = np.arange(len(cell), dtype=np.int64)
    first, second = way[rows, _FIRST_AXIS[number]], way[rows, _SECOND_AXIS[number]]
    return np.where(number & 1, -first, first) + np.where(number & 2, -second, second)
