# SPDX-License-Identifier: GPL-3.0-or-later
"""The dihedral angle at an edge between two triangles, its gradient and its Hessian.

The edge e leads from node 0 to node 1; nodes 2 and 3 are opposite to it. With the normals N₁ = e × d₂ and N₂ = d₃ × e,
where d are places relative to node 0, θ = atan2((N₁ × N₂)·e / |e|, N₁·N₂) is zero where both triangles lie in a plane.
With p = N / |N|² its gradient is

    ∂θ/∂d₂ = −|e| p₁,   ∂θ/∂d₃ = −|e| p₂,   ∂θ/∂e = ((d₂·e) p₁ + (d₃·e) p₂) / |e|.

The Hessian follows from ∂p/∂N = (I − 2 N Nᵀ / |N|²) / |N|².

Source: Grinspun, Hirani, Desbrun and Schröder 2003, Discrete shells; the gradient as in Bridson, Marino and Fedkiw
2003, (3). The Hessian is derived here.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import kernel

MIN_SINE = 1.0e-6  # of the angle between an edge and another one of its triangle, below which the latter has no normal


@kernel(device_only=True)
def cross(a, b, out):
    """Writes a × b, (3,) each."""
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(device_only=True)
def dot(a, b):
    """Returns a·b, (3,) each."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(device_only=True)
def add_product(scale, N, along, square, out):
    """Adds scale · ∂p/∂N [d]× to a matrix, (3, 3), for d = `along` and |N|² = `square`."""
    for i in range(3):
        # a row of ∂p/∂N, times [d]×
        a, b, c = (
            ((1.0 if i == 0 else 0.0) - 2.0 * N[i] * N[0] / square) / square,
            ((1.0 if i == 1 else 0.0) - 2.0 * N[i] * N[1] / square) / square,
            ((1.0 if i == 2 else 0.0) - 2.0 * N[i] * N[2] / square) / square,
        )
        out[i, 0] += scale * (b * along[2] - c * along[1])
        out[i, 1] += scale * (c * along[0] - a * along[2])
        out[i, 2] += scale * (a * along[1] - b * along[0])


@kernel(device_only=True)
def dihedral_angle(d, wants_hessian, gradient, hessian):
    """Returns whether both triangles have a normal, and θ.

    Args:
        d: Nodes 1, 2 and 3 relative to node 0 [m], (3, 3).
        wants_hessian: Whether the Hessian is written.
        gradient: ∂θ/∂d [1/m], (3, 3), out.
        hessian: ∂²θ/∂d² [1/m²], (9, 9), out.
    """
    e, opposite, other = d[0], d[1], d[2]
    N1, N2, across = np.empty(3), np.empty(3), np.empty(3)
    cross(e, opposite, N1)
    cross(other, e, N2)
    length = math.sqrt(dot(e, e))
    square1, square2 = dot(N1, N1), dot(N2, N2)
    least = (MIN_SINE * length) ** 2
    if not (square1 > least * dot(opposite, opposite) and square2 > least * dot(other, other)):
        return False, 0.0
    cross(N1, N2, across)
    angle = math.atan2(dot(across, e) / length, dot(N1, N2))
    share1, share2 = dot(opposite, e) / length, dot(other, e) / length
    for i in range(3):
        p1, p2 = N1[i] / square1, N2[i] / square2
        gradient[0, i] = share1 * p1 + share2 * p2
        gradient[1, i], gradient[2, i] = -length * p1, -length * p2
    if wants_hessian:
        hessian[:] = 0.0
        for i in range(3):
            p1, p2 = N1[i] / square1, N2[i] / square2
            for k in range(3):
                unit = e[k] / length
                hessian[i, k] = (p1 * (opposite[k] - share1 * unit) + p2 * (other[k] - share2 * unit)) / length
                hessian[3 + i, k], hessian[6 + i, k] = -p1 * unit, -p2 * unit
        add_product(-share1, N1, opposite, square1, hessian[0:3, 0:3])
        add_product(share2, N2, other, square2, hessian[0:3, 0:3])
        add_product(length, N1, opposite, square1, hessian[3:6, 0:3])
        add_product(-length, N2, other, square2, hessian[6:9, 0:3])
        add_product(-length, N1, e, square1, hessian[3:6, 3:6])
        add_product(length, N2, e, square2, hessian[6:9, 6:9])
        for i in range(3):
            for k in range(3, 9):
                hessian[i, k] = hessian[k, i]
    return True, angle
