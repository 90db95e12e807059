# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a segment and a triangle have a point in common, without error.

Both are closed: what only touches has a point in common. Triangles without area and segments without length count as
the segments and points that they are. Signs are those of `exact_orientation.py`.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from .exact_orientation import orientation_sign, plane_orientation_sign


@kernel()
def segment_meets_triangle(p, q, corners, scratch):
    """Returns whether the segment p q meets the triangle.

    Args:
        p, q: Ends [m], (3,).
        corners: Of the triangle [m], (3, 3).
        scratch: Room for an expansion, (EXPANSION_SIZE,).
    """
    a, b, c = corners[0], corners[1], corners[2]
    start, end = orientation_sign(a, b, c, p, scratch), orientation_sign(a, b, c, q, scratch)
    if start * end > 0:
        return False
    if start == 0 and end == 0:
        axis = _injective_axis(a, b, c, scratch)
        if axis >= 0:
            return _meets_in_plane(p, q, corners, axis, scratch)
        return (
            segments_meet(p, q, a, b, scratch)
            or segments_meet(p, q, b, c, scratch)
            or segments_meet(p, q, c, a, scratch)
        )
    # the line meets the plane in one point, between p and q: it is in the triangle if all edges turn about the line
    # in one sense
    ab, bc = orientation_sign(p, q, a, b, scratch), orientation_sign(p, q, b, c, scratch)
    if ab * bc < 0:
        return False
    ca = orientation_sign(p, q, c, a, scratch)
    return ca * ab >= 0 and ca * bc >= 0


@kernel()
def segments_meet(p, q, a, b, scratch):
    """Returns whether the segments p q and a b have a point in common.

    Args:
        p, q, a, b: Ends [m], (3,).
        scratch: Room for an expansion, (EXPANSION_SIZE,).
    """
    if orientation_sign(p, q, a, b, scratch) != 0:
        return False
    axis = _injective_axis(p, q, a, scratch)
    axis = axis if axis >= 0 else _injective_axis(p, q, b, scratch)
    axis = axis if axis >= 0 else _injective_axis(a, b, p, scratch)
    axis = axis if axis >= 0 else _injective_axis(a, b, q, scratch)
    if axis >= 0:
        return _meet_in_projection(p, q, a, b, axis, scratch)
    return _boxes_meet(p, q, a, b)  # all on one line


@kernel()
def is_degenerate(a, b, c, scratch):
    """Returns whether the points a, b and c [m], (3,), lie on one line."""
    return _injective_axis(a, b, c, scratch) < 0


@kernel(device_only=True)
def _injective_axis(a, b, c, scratch):
    """Returns an axis along which the triangle a b c does not look like a line; −1 if there is none."""
    for axis in range(3):
        if plane_orientation_sign(a, b, c, axis, scratch) != 0:
            return axis
    return -1


@kernel(device_only=True)
def _meets_in_plane(p, q, corners, axis, scratch):
    """Returns whether p q meets a triangle in whose plane it lies; neither is seen edge-on along the axis."""
    if _is_inside(p, corners, axis, scratch):  # q inside while p is not: the segment meets an edge
        return True
    for i in range(3):
        if _meet_in_projection(p, q, corners[i], corners[(i + 1) % 3], axis, scratch):
            return True
    return False


@kernel(device_only=True)
def _is_inside(p, corners, axis, scratch):
    """Returns whether a point is in a triangle in whose plane it lies, as seen along an axis."""
    least, most = 1, -1
    for i in range(3):
        side = plane_orientation_sign(corners[i], corners[(i + 1) % 3], p, axis, scratch)
        least, most = min(least, side), max(most, side)
    return least * most >= 0


@kernel(device_only=True)
def _meet_in_projection(p, q, a, b, axis, scratch):
    """Returns whether two segments meet as seen along an axis."""
    if not _boxes_meet(p, q, a, b):
        return False
    one = plane_orientation_sign(p, q, a, axis, scratch) * plane_orientation_sign(p, q, b, axis, scratch)
    if one > 0:
        return False
    return plane_orientation_sign(a, b, p, axis, scratch) * plane_orientation_sign(a, b, q, axis, scratch) <= 0


@kernel(device_only=True)
def _boxes_meet(p, q, a, b):
    """Returns whether the boxes of the segments p q and a b meet."""
    for axis in range(3):
        if max(p[axis], q[axis]) < min(a[axis], b[axis]) or max(a[axis], b[axis]) < min(p[axis], q[axis]):
            return False
    return True
