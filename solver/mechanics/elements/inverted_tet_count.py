# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that are turned inside out."""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_axpy, vec3_load, vec3_unpack


@kernel(no_refcount=True)
def count_inverted(x, tets):
    """Returns how many tets, positively oriented at rest, have no positive volume at x [m], (n, 3)."""
    count = 0
    for tet in range(len(tets)):
        origin = vec3_load(x, 3 * tets[tet, 0])
        a, b, c = vec3_unpack(vec3_axpy(vec3_load(x, 3 * tets[tet, 1]), -1.0, origin))
        d, e, f = vec3_unpack(vec3_axpy(vec3_load(x, 3 * tets[tet, 2]), -1.0, origin))
        g, h, i = vec3_unpack(vec3_axpy(vec3_load(x, 3 * tets[tet, 3]), -1.0, origin))
        if not a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0:
            count += 1
    return count
