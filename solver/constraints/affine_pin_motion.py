# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a pinned region whose targets have all moved by one affine motion: the common case of `pin_regions.py`."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel


@kernel()
def apply_affine_fit(targets, rows, vertices, inverse, in_plane, normal, rest, most, y):
    """Writes F rest + the mean of the targets, (r, 3), if that motion brings every vertex onto its target.

    Args:
        targets: Of all pinned vertices of the body [m], (p, 3).
        rows: Those of the region, (q,).
        vertices, inverse, in_plane, normal: Of the `FixedRegion`.
        rest: Nodes from the middle of the vertices [m], (r, 3).
        most: How far from its target a vertex may be left [m].
        y: Out, targets of the nodes [m].

    Returns:
        Whether it does. Where it does not, or F is nearly flat, y is not to be used.
    """
    count = len(rows)
    middle, F = np.zeros(3), np.zeros((3, 3))
    for k in range(count):
        for i in range(3):
            middle[i] += targets[rows[k], i]
    for i in range(3):
        middle[i] /= count
    products = np.zeros((3, 3))
    for k in range(count):
        for i in range(3):
            for j in range(3):
                products[i, j] += (targets[rows[k], i] - middle[i]) * vertices[k, j]
    for i in range(3):
        for j in range(3):
            for m in range(3):
                F[i, j] += products[i, m] / count * inverse[m, j]
    ax, ay, az, bx, by, bz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(3):
        ax, ay, az = ax + F[0, j] * in_plane[0, j], ay + F[1, j] * in_plane[0, j], az + F[2, j] * in_plane[0, j]
        bx, by, bz = bx + F[0, j] * in_plane[1, j], by + F[1, j] * in_plane[1, j], bz + F[2, j] * in_plane[1, j]
    turned = np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
    length = max(np.sqrt(turned[0] ** 2 + turned[1] ** 2 + turned[2] ** 2), 1e-300)
    size = 0.0
    for i in range(3):
        for j in range(3):
            F[i, j] += turned[i] / length * normal[j]
            size += F[i, j] ** 2
    det = (
        F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
        - F[0, 1] * (F[1, 0] * F[2, 2] - F[1, 2] * F[2, 0])
        + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
    )
    # its smallest singular value is at least |det| / ‖F‖²
    if not abs(det) > 0.1 * size:
        return False
    for k in range(count):
        for i in range(3):
            off = middle[i] - targets[rows[k], i]
            for j in range(3):
                off += F[i, j] * vertices[k, j]
            if not abs(off) <= most:
                return False
    for k in range(len(y)):
        for i in range(3):
            y[k, i] = middle[i] + F[i, 0] * rest[k, 0] + F[i, 1] * rest[k, 1] + F[i, 2] * rest[k, 2]
    return True
