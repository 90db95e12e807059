# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a triangle and a tet meet, by separating axes (kernels).

Two convex bodies are apart exactly where their projections on one of these axes are: the normals of their faces
and the cross products of their edges. Axes of no length (parallel edges, flat triangles) are passed over: what is
left then decides, which can only find too many meetings, never too few.

Source: Gottschalk, Lin & Manocha (1996), OBBTree, section 5 (separating axis theorem).
"""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel(device_only=True)
def is_apart_along(x, y, z, triangle, tet, slack):
    """Returns whether the projections on the axis (x, y, z) of any length lie more than `slack` [m] apart."""
    length2 = x * x + y * y + z * z
    if length2 == 0.0:
        return False
    a = x * triangle[0] + y * triangle[1] + z * triangle[2]
    b = x * triangle[3] + y * triangle[4] + z * triangle[5]
    c = x * triangle[6] + y * triangle[7] + z * triangle[8]
    d = x * tet[0] + y * tet[1] + z * tet[2]
    e = x * tet[3] + y * tet[4] + z * tet[5]
    f = x * tet[6] + y * tet[7] + z * tet[8]
    g = x * tet[9] + y * tet[10] + z * tet[11]
    gap = max(min(a, b, c) - max(max(d, e), max(f, g)), min(min(d, e), min(f, g)) - max(a, b, c))
    return gap > 0.0 and gap * gap > slack * slack * length2


@kernel()
def triangle_meets_tet(triangle, tet, slack):
    """Returns whether a triangle and a tet come closer than about `slack`.

    Args:
        triangle: Its corners [m], (9,).
        tet: Its corners [m], (12,); it may be of either orientation.
        slack: What counts as touching [m]; the closest distance of two corners may be somewhat larger.
    """
    ux, uy, uz = triangle[3] - triangle[0], triangle[4] - triangle[1], triangle[5] - triangle[2]
    vx, vy, vz = triangle[6] - triangle[0], triangle[7] - triangle[1], triangle[8] - triangle[2]
    if is_apart_along(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, triangle, tet, slack):
        return False
    for i in range(4):
        j, k, m = 3 * ((i + 1) % 4), 3 * ((i + 2) % 4), 3 * ((i + 3) % 4)
        px, py, pz = tet[k] - tet[j], tet[k + 1] - tet[j + 1], tet[k + 2] - tet[j + 2]
        qx, qy, qz = tet[m] - tet[j], tet[m + 1] - tet[j + 1], tet[m + 2] - tet[j + 2]
        if is_apart_along(py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx, triangle, tet, slack):
            return False
    for i in range(3):
        a, b = 3 * i, 3 * ((i + 1) % 3)
        ex, ey, ez = triangle[b] - triangle[a], triangle[b + 1] - triangle[a + 1], triangle[b + 2] - triangle[a + 2]
        for first in range(3):
            for second in range(first + 1, 4):
                j, k = 3 * first, 3 * second
                px, py, pz = tet[k] - tet[j], tet[k + 1] - tet[j + 1], tet[k + 2] - tet[j + 2]
                if is_apart_along(ey * pz - ez * py, ez * px - ex * pz, ex * py - ey * px, triangle, tet, slack):
                    return False
    return True
