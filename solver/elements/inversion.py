# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that are turned inside out."""

from __future__ import annotations

from ..jit import kernel


@kernel()
def count_inverted(x, tets):
    """Returns how many tets, positively oriented at rest, have no positive volume at x [m], (n, 3)."""
    count = 0
    for tet in range(len(tets)):
        n = tets[tet]
        o, p, q, r = x[n[0]], x[n[1]], x[n[2]], x[n[3]]
        a, b, c = p[0] - o[0], p[1] - o[1], p[2] - o[2]
        d, e, f = q[0] - o[0], q[1] - o[1], q[2] - o[2]
        g, h, i = r[0] - o[0], r[1] - o[1], r[2] - o[2]
        if not a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0:
            count += 1
    return count
