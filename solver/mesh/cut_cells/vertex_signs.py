# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a plane a vertex lies, without error (kernels).

In weights λ of a tet a plane is Σ λᵢ hᵢ = 0 with its heights hᵢ over the four nodes, and the vertex of three planes
a, b, c lies on the side of det(a, b, c, h) · det(a, b, c, 1). What follows from how the planes were made is known
beforehand. Then floating point decides where its error bound is smaller than the result, with one number for each
height, then with two, as the planes of a flat blade's triangles need. What is left, next to nothing but zeros, is for
`exact_signs.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.jit import kernel
from ..geometry.error_free_transformations import two_product, two_sum
from ..geometry.exact_orientation import ORIENT3D_ERROR, orientation_sign
from .cell_complex import TET_FACE_COUNT

IN_DOUBT = 2
# of the product of the sums of absolute heights: rounding of a determinant of four rows by minors, with a margin
DETERMINANT_ERROR = 40.0 * 2.0**-53
# the same with two numbers each: 106 digits in base 2, of which sums of 24 products of heights cost a few
WIDE_ERROR = 2.0**-95
ALL_WEIGHTS = -1  # instead of a plane: the sum of weights, whose sign orients a vertex


class PositionedTets(NamedTuple):
    """Tets and where their nodes are while a cutter divides them.

    Attributes:
        tets: Nodes, (m, 4).
        positions: (n, 3).
    """

    tets: np.ndarray
    positions: np.ndarray


class SignScratch(NamedTuple):
    """Room for signs.

    Attributes:
        rows: Heights of four planes at four nodes, (4, 4).
        low: What rounding took from them, where two numbers each are used, (4, 4).
        errors: Bounds of their errors, (4, 4).
        sums: Sums of absolute heights, (4,).
        heights, height_errors: The same of one plane, (4,).
        expansion: See `exact_orientation.py`.
        request: Vertex and plane of a sign that is in doubt, (2,).
        known_keys: `sign_key` of those that were, (k,).
        known_signs: Their signs, (k,).
    """

    rows: np.ndarray
    low: np.ndarray
    errors: np.ndarray
    sums: np.ndarray
    heights: np.ndarray
    height_errors: np.ndarray
    expansion: np.ndarray
    request: np.ndarray
    known_keys: np.ndarray
    known_signs: np.ndarray


@kernel(device_only=True, no_refcount=True)
def sign_key(vertex, plane):
    """Returns one number for a vertex and a plane, or `ALL_WEIGHTS`."""
    return (np.int64(vertex) << 32) + plane + 1


@kernel(device_only=True, no_refcount=True)
def fill_heights(planes, tets, plane, tet, row, error):
    """Fills the heights of the nodes of a tet above a plane, and bounds of their errors; both (4,)."""
    a, b, c = planes.points[plane, 0], planes.points[plane, 1], planes.points[plane, 2]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    for i in range(4):
        d = tets.positions[tets.tets[tet, i]]
        wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
        yz, zy, zx, xz, xy, yx = vy * wz, vz * wy, vz * wx, vx * wz, vx * wy, vy * wx
        row[i] = ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx)
        size = abs(ux) * (abs(yz) + abs(zy)) + abs(uy) * (abs(zx) + abs(xz)) + abs(uz) * (abs(xy) + abs(yx))
        error[i] = ORIENT3D_ERROR * size


@kernel(device_only=True, no_refcount=True)
def sign_at_vertex(cells, planes, tets, scratch, vertex, plane):
    """Returns on which side of a plane a vertex lies: 1, 0 or −1, or `IN_DOUBT`.

    With `ALL_WEIGHTS` instead of a plane it returns the vertex's orientation, which need not be known then.
    """
    own = cells.vertex_planes[vertex]
    tet = cells.vertex_tet[vertex]
    if plane >= 0:
        for k in range(3):
            if own[k] == TET_FACE_COUNT + plane:
                return 0
        if _follows_from_corners(planes, own, plane):
            return 0
        if own[0] < TET_FACE_COUNT and own[1] < TET_FACE_COUNT and own[2] < TET_FACE_COUNT:
            node = tets.tets[tet, 6 - own[0] - own[1] - own[2]]
            p = planes.points[plane]
            return orientation_sign(p[0], p[1], p[2], tets.positions[node], scratch.expansion)
    sign = _floating_sign(planes, tets, scratch, own, tet, plane)
    if sign == 0:
        key = sign_key(vertex, plane)
        for k in range(len(scratch.known_keys)):
            if scratch.known_keys[k] == key:
                return int(scratch.known_signs[k])
        scratch.request[0], scratch.request[1] = vertex, plane
        return IN_DOUBT
    return sign * cells.vertex_orientation[vertex] if plane >= 0 else sign


@kernel(device_only=True, no_refcount=True)
def _follows_from_corners(planes, own, plane):
    """Returns whether a plane passes through a vertex because of the corners of the cutter that the planes hold.

    It does where it holds a corner that all three planes of the vertex hold, or two corners that two of them hold.
    """
    for k in range(3):
        if own[k] < TET_FACE_COUNT:
            continue
        number = own[k] - TET_FACE_COUNT
        for other in range(k + 1, 3):
            if own[other] < TET_FACE_COUNT:
                continue
            shared = 0
            for i in range(planes.corner_start[number], planes.corner_start[number + 1]):
                corner = planes.corners[i]
                if holds(planes, plane, corner) and holds(planes, own[other] - TET_FACE_COUNT, corner):
                    shared += 1
                    last = own[3 - k - other]
                    if shared == 2 or (last >= TET_FACE_COUNT and holds(planes, last - TET_FACE_COUNT, corner)):
                        return True
    return False


@kernel(device_only=True, no_refcount=True)
def holds(planes, plane, corner):
    """Returns whether a plane holds a corner of the cutter by how it is made."""
    first, end = planes.corner_start[plane], planes.corner_start[plane + 1]
    while first < end:
        middle = (first + end) // 2
        if planes.corners[middle] < corner:
            first = middle + 1
        else:
            end = middle
    return first < planes.corner_start[plane + 1] and planes.corners[first] == corner


@kernel(device_only=True, no_refcount=True)
def _floating_sign(planes, tets, scratch, own, tet, plane):
    """Returns the sign of det(own planes, plane), 0 where it is in doubt."""
    for wide in range(2):
        _fill_rows(planes, tets, scratch, own, tet, plane, wide)
        size, bound = _error_bound(scratch)
        value = _wide_determinant(scratch.rows, scratch.low) if wide else _determinant(scratch.rows)
        if abs(value) > (WIDE_ERROR if wide else DETERMINANT_ERROR) * size + bound:
            return 1 if value > 0.0 else -1
    return 0


@kernel(device_only=True, no_refcount=True)
def fill_weights(planes, tets, scratch, own, tet, weights):
    """Fills the weights of the point that three planes have in common, (4,), and returns a bound of their errors.

    They are the minors of the planes' heights over their sum; infinity is returned where these are all too small.
    """
    _fill_rows(planes, tets, scratch, own, tet, ALL_WEIGHTS, 1)
    size, bound = _error_bound(scratch)
    total, error = 0.0, WIDE_ERROR * size + bound
    for i in range(4):
        for k in range(4):
            # of nodes opposite to a face in which it lies it has no weight
            is_dropped = own[0] == i or own[1] == i or own[2] == i
            scratch.rows[3, k] = 1.0 if k == i and not is_dropped else 0.0
        weights[i] = _wide_determinant(scratch.rows, scratch.low)
        total += weights[i]
    for i in range(4):
        weights[i] = weights[i] / total if total != 0.0 else 0.25
    return error / abs(total) + 2.0**-50 if total != 0.0 else np.inf


@kernel(device_only=True, no_refcount=True)
def _fill_rows(planes, tets, scratch, own, tet, plane, wide):
    """Fills the heights of the nodes above three planes of a vertex and a fourth one, or ones for `ALL_WEIGHTS`."""
    rows, errors = scratch.rows, scratch.errors
    for k in range(4):
        code = own[k] if k < 3 else (TET_FACE_COUNT + plane if plane != ALL_WEIGHTS else ALL_WEIGHTS)
        if code >= TET_FACE_COUNT:
            if wide:
                fill_wide_heights(planes, tets, code - TET_FACE_COUNT, tet, rows[k], scratch.low[k], errors[k])
            else:
                fill_heights(planes, tets, code - TET_FACE_COUNT, tet, rows[k], errors[k])
            continue
        rows[k] = 1.0 if code == ALL_WEIGHTS else 0.0
        if code != ALL_WEIGHTS:
            rows[k, code] = 1.0
        scratch.low[k] = 0.0
        errors[k] = 0.0
    _drop_weights(scratch, own)


@kernel(device_only=True, no_refcount=True)
def _error_bound(scratch):
    """Returns the product of the rows' sums of absolute heights, and what errors of heights may add up to in it."""
    rows, errors, sums = scratch.rows, scratch.errors, scratch.sums
    size, bound = 1.0, 0.0
    for k in range(4):
        sums[k] = abs(rows[k, 0]) + abs(rows[k, 1]) + abs(rows[k, 2]) + abs(rows[k, 3])
        size *= sums[k]
    for k in range(4):
        product = errors[k, 0] + errors[k, 1] + errors[k, 2] + errors[k, 3]
        for other in range(4):
            if other != k:
                product *= sums[other]
        bound += 1.01 * product
    return size, bound


@kernel(device_only=True, no_refcount=True)
def _drop_weights(scratch, own):
    """Sets heights to 0 of nodes that have no weight: a vertex in a face of the tet has none of the node opposite."""
    for k in range(3):
        if own[k] < TET_FACE_COUNT:
            for other in range(4):
                if other != k:
                    scratch.rows[other, own[k]] = 0.0
                    scratch.low[other, own[k]] = 0.0
                    scratch.errors[other, own[k]] = 0.0


@kernel(device_only=True, no_refcount=True)
def fill_wide_heights(planes, tets, plane, tet, high, low, error):
    """Does what `fill_heights` does with two numbers for each height."""
    a, b, c = planes.points[plane, 0], planes.points[plane, 1], planes.points[plane, 2]
    u, v = _wide_difference(b, a), _wide_difference(c, a)
    for i in range(4):
        w = _wide_difference(tets.positions[tets.tets[tet, i]], a)
        total, rest, size = 0.0, 0.0, 0.0
        for axis in range(3):
            after, last = (axis + 1) % 3, (axis + 2) % 3
            p, p_low = _wide_product(v[after], w[last])
            q, q_low = _wide_product(v[last], w[after])
            minor = _wide_sum(p, p_low, -q, -q_low)
            r, r_low = _wide_product(u[axis], minor)
            total, rest = _wide_sum(total, rest, r, r_low)
            size += abs(u[axis][0]) * (abs(p) + abs(q))
        high[i], low[i] = total, rest
        error[i] = WIDE_ERROR * size


@kernel(device_only=True, no_refcount=True)
def _wide_difference(a, b):
    return two_sum(a[0], -b[0]), two_sum(a[1], -b[1]), two_sum(a[2], -b[2])


@kernel(device_only=True, no_refcount=True)
def _wide_product(a, b):
    """Returns the product of two pairs of numbers."""
    p, error = two_product(a[0], b[0])
    return two_sum(p, error + (a[0] * b[1] + a[1] * b[0]))


@kernel(device_only=True, no_refcount=True)
def _wide_sum(a, a_low, b, b_low):
    """Returns the sum of two pairs of numbers."""
    s, error = two_sum(a, b)
    return two_sum(s, error + (a_low + b_low))


@kernel(device_only=True, no_refcount=True)
def _wide_minor(high, low, row, i, j):
    p, p_low = _wide_product((high[row, i], low[row, i]), (high[row + 1, j], low[row + 1, j]))
    q, q_low = _wide_product((high[row, j], low[row, j]), (high[row + 1, i], low[row + 1, i]))
    return _wide_sum(p, p_low, -q, -q_low)


@kernel(device_only=True, no_refcount=True)
def _wide_determinant(high, low):
    """Does what `_determinant` does with two numbers for each height."""
    total, rest = 0.0, 0.0
    for i in range(4):
        for j in range(i + 1, 4):
            k = 0 if i > 0 else (1 if j > 1 else 2)
            upper = _wide_minor(high, low, 0, i, j)
            product, error = _wide_product(upper, _wide_minor(high, low, 2, k, 6 - i - j - k))
            sign = 1.0 if (i + j) % 2 == 1 else -1.0
            total, rest = _wide_sum(total, rest, sign * product, sign * error)
    return total + rest


@kernel(device_only=True, no_refcount=True)
def _determinant(m):
    """Returns the determinant of four rows by minors of two rows each."""
    total = 0.0
    for i in range(4):
        for j in range(i + 1, 4):
            k = 0 if i > 0 else (1 if j > 1 else 2)
            last = 6 - i - j - k
            upper = m[0, i] * m[1, j] - m[0, j] * m[1, i]
            lower = m[2, k] * m[3, last] - m[2, last] * m[3, k]
            total += upper * lower if (i + j) % 2 == 1 else -upper * lower
    return total
