# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of the determinants that tell on which side a point lies, without error, for any points.

Floating point decides where its error bound is smaller than the result. Otherwise the determinant is summed up as an
expansion: numbers whose sum is exact and whose digits do not overlap, so that the largest has the sign of the sum.
Signs are exact for coordinates that are zero or between 1e-90 and 1e90: beyond, products leave the range of doubles.

Source: Shewchuk (1997), sections 2.4 (growing an expansion) and 4.2 (error bounds of both orientations).
"""

from __future__ import annotations

from ...runtime.jit import kernel
from .error_free_transformations import two_product, two_sum

ROUNDING_UNIT = 2.0**-53
ORIENT2D_ERROR = (3.0 + 16.0 * ROUNDING_UNIT) * ROUNDING_UNIT  # of the sum of absolute products
ORIENT3D_ERROR = (7.0 + 56.0 * ROUNDING_UNIT) * ROUNDING_UNIT
EXPANSION_SIZE = 128  # room for 24 products of three numbers, four digits groups each


@kernel()
def orientation_sign(a, b, c, d, scratch):
    """Returns the sign of det(b − a, c − a, d − a): 1 where d is above a b c, 0 in its plane, −1 below.

    Args:
        a, b, c, d: Points [m], (3,).
        scratch: Room for an expansion, (EXPANSION_SIZE,).
    """
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    yz, zy, zx, xz, xy, yx = vy * wz, vz * wy, vz * wx, vx * wz, vx * wy, vy * wx
    value = ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx)
    size = abs(ux) * (abs(yz) + abs(zy)) + abs(uy) * (abs(zx) + abs(xz)) + abs(uz) * (abs(xy) + abs(yx))
    if abs(value) > ORIENT3D_ERROR * size:
        return 1 if value > 0.0 else -1
    if _differ_exactly(a, b) and _differ_exactly(a, c) and _differ_exactly(a, d):
        u, v, w = (ux, uy, uz), (vx, vy, vz), (wx, wy, wz)
        return _sign(scratch, _add_determinant(scratch, 0, 1.0, u, v, w))
    p, q, r, s = (a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]), (d[0], d[1], d[2])
    count = _add_determinant(scratch, 0, 1.0, q, r, s)
    count = _add_determinant(scratch, count, -1.0, p, r, s)
    count = _add_determinant(scratch, count, 1.0, p, q, s)
    return _sign(scratch, _add_determinant(scratch, count, -1.0, p, q, r))


@kernel()
def plane_orientation_sign(a, b, c, axis, scratch):
    """Returns the sign of the area of a b c seen along an axis: 1 if counterclockwise, 0 if they lie on a line.

    Args:
        a, b, c: Points [m], (3,).
        axis: 0, 1 or 2: the coordinate that is left out.
        scratch: Room for an expansion, (EXPANSION_SIZE,).
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    one, other = (b[i] - a[i]) * (c[j] - a[j]), (b[j] - a[j]) * (c[i] - a[i])
    value = one - other
    if abs(value) > ORIENT2D_ERROR * (abs(one) + abs(other)):
        return 1 if value > 0.0 else -1
    count = _add_minor(scratch, 0, b[i], c[j], b[j], c[i])
    count = _add_minor(scratch, count, c[i], a[j], c[j], a[i])
    return _sign(scratch, _add_minor(scratch, count, a[i], b[j], a[j], b[i]))


@kernel(device_only=True)
def _differ_exactly(a, b):
    """Returns whether b − a has no rounding error."""
    exact = True
    for axis in range(3):
        _, error = two_sum(b[axis], -a[axis])
        exact = exact and error == 0.0
    return exact


@kernel(device_only=True)
def _add_determinant(expansion, count, sign, u, v, w):
    """Adds `sign` · det(u, v, w) to an expansion of so many numbers, and returns how many it then has."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        count = _add_product(expansion, count, sign * u[i], v[j], w[k])
        count = _add_product(expansion, count, -sign * u[i], v[k], w[j])
    return count


@kernel(device_only=True)
def _add_product(expansion, count, a, b, c):
    """Adds a · b · c to an expansion of so many numbers, and returns how many it then has."""
    high, low = two_product(a, b)
    for part in (low, high):
        product, error = two_product(part, c)
        count = _add_number(expansion, count, error)
        count = _add_number(expansion, count, product)
    return count


@kernel(device_only=True)
def _add_minor(expansion, count, a, b, c, d):
    """Adds a · b − c · d to an expansion of so many numbers, and returns how many it then has."""
    high, low = two_product(a, b)
    count = _add_number(expansion, count, low)
    count = _add_number(expansion, count, high)
    high, low = two_product(-c, d)
    count = _add_number(expansion, count, low)
    return _add_number(expansion, count, high)


@kernel(device_only=True)
def _add_number(expansion, count, number):
    """Adds a number to an expansion of so many numbers, smallest first, and returns how many it then has; no zeros."""
    kept = 0
    for i in range(count):
        number, rest = two_sum(number, expansion[i])
        if rest != 0.0:
            expansion[kept] = rest
            kept += 1
    if number != 0.0:
        expansion[kept] = number
        kept += 1
    return kept


@kernel(device_only=True)
def _sign(expansion, count):
    """Returns the sign of an expansion of so many numbers."""
    if count == 0:
        return 0
    return 1 if expansion[count - 1] > 0.0 else -1
