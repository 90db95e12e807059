# SPDX-License-Identifier: GPL-3.0-or-later
"""The point of one triangle that is closest to a given one."""

from __future__ import annotations

from ...runtime.jit import kernel

# Squared sine of a corner below which a triangle counts as flat: its plane means nothing in double precision.
FLAT_TRIANGLE_SINE2 = 1.0e-24


@kernel(device_only=True)
def closest_on_triangle(corners, t, x, y, z):
    """Returns squared distance [m²] and weights u, v, w of the point of triangle t closest to (x, y, z).

    The plane's point where it lies within the triangle, else the closest of the three sides; a flat triangle has
    only its sides.
    """
    ax, ay, az = corners[t, 0], corners[t, 1], corners[t, 2]
    bx, by, bz = corners[t, 3] - ax, corners[t, 4] - ay, corners[t, 5] - az
    cx, cy, cz = corners[t, 6] - ax, corners[t, 7] - ay, corners[t, 8] - az
    px, py, pz = x - ax, y - ay, z - az
    bb = bx * bx + by * by + bz * bz
    bc = bx * cx + by * cy + bz * cz
    cc = cx * cx + cy * cy + cz * cz
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    area2 = nx * nx + ny * ny + nz * nz
    if area2 > FLAT_TRIANGLE_SINE2 * bb * cc:
        pb = px * bx + py * by + pz * bz
        pc = px * cx + py * cy + pz * cz
        v = (cc * pb - bc * pc) / area2
        w = (bb * pc - bc * pb) / area2
        if v >= 0.0 and w >= 0.0 and v + w <= 1.0:
            height = px * nx + py * ny + pz * nz
            return height * height / area2, 1.0 - v - w, v, w
    s, d2 = closest_on_side(bx, by, bz, px, py, pz)
    best, u, v, w = d2, 1.0 - s, s, 0.0
    s, d2 = closest_on_side(cx, cy, cz, px, py, pz)
    if d2 < best:
        best, u, v, w = d2, 1.0 - s, 0.0, s
    s, d2 = closest_on_side(cx - bx, cy - by, cz - bz, px - bx, py - by, pz - bz)
    if d2 < best:
        best, u, v, w = d2, 0.0, 1.0 - s, s
    return best, u, v, w


@kernel(device_only=True)
def closest_on_side(ex, ey, ez, px, py, pz):
    """Returns the parameter in [0, 1] of the point of the segment 0 → e closest to p, and its squared distance."""
    length2 = ex * ex + ey * ey + ez * ez
    s = 0.0
    if length2 > 0.0:
        s = min(max((px * ex + py * ey + pz * ez) / length2, 0.0), 1.0)
    dx, dy, dz = px - s * ex, py - s * ey, pz - s * ez
    return s, dx * dx + dy * dy + dz * dz
