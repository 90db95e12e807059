# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a plane a vertex lies, in whole numbers: for what floating point leaves in doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...runtime.arrays import Floats
from .cell_complex import TET_FACE_COUNT, CellComplex
from .cutter_planes import CutterPlanes
from .vertex_signs import ALL_WEIGHTS, PositionedTets


def exact_sign(cells: CellComplex, planes: CutterPlanes, tets: PositionedTets, vertex: int, plane: int) -> int:
    """Returns what `sign_at_vertex` does, for any vertex whose orientation is known, or that orientation."""
    corners = tets.positions[tets.tets[int(cells.vertex_tet[vertex])]]
    rows = [_row(planes, corners, int(code)) for code in cells.vertex_planes[vertex]]
    wanted = [1, 1, 1, 1] if plane == ALL_WEIGHTS else _row(planes, corners, TET_FACE_COUNT + plane)
    value = _determinant([*rows, wanted])
    sign = (value > 0) - (value < 0)
    return sign if plane == ALL_WEIGHTS else sign * int(cells.vertex_orientation[vertex])


def _row(planes: CutterPlanes, corners: Floats, code: int) -> list[int]:
    """Returns whole multiples of the heights of four nodes above a plane."""
    if code < TET_FACE_COUNT:
        return [int(i == code) for i in range(4)]
    points = planes.points[code - TET_FACE_COUNT]
    whole = _whole_numbers([*points.ravel().tolist(), *corners.ravel().tolist()])
    a, b, c = (whole[3 * i : 3 * i + 3] for i in range(3))
    return [_height(a, b, c, whole[3 * i : 3 * i + 3]) for i in range(3, 7)]


def _whole_numbers(values: Sequence[float]) -> list[int]:
    """Returns the values times one power of two that makes all of them whole."""
    parts = [math.frexp(value) for value in values]
    lowest = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    return [int(mantissa * 2.0**53) << (exponent - lowest) if mantissa else 0 for mantissa, exponent in parts]


def _height(a: list[int], b: list[int], c: list[int], d: list[int]) -> int:
    u, v, w = ([end - start for end, start in zip(ends, a, strict=True)] for ends in (b, c, d))
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])


def _determinant(m: list[list[int]]) -> int:
    def minor(row: int, i: int, j: int) -> int:
        return m[row][i] * m[row + 1][j] - m[row][j] * m[row + 1][i]

    pairs = [(0, 1, 2, 3, 1), (0, 2, 1, 3, -1), (0, 3, 1, 2, 1), (1, 2, 0, 3, 1), (1, 3, 0, 2, -1), (2, 3, 0, 1, 1)]
    return sum(sign * minor(0, i, j) * minor(2, k, last) for i, j, k, last, sign in pairs)
