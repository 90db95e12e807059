# SPDX-License-Identifier: GPL-3.0-or-later
"""A positive semidefinite matrix above the Hessian of a convex, falling energy of the distance, in closed form.

With separation r = d n, a force F = −φ'(d) and tangents t_τ along which the closest points slide, the weights change by
w̃_τ per length of sliding. The Hessian of φ is (derived from that in `squared_distance.py`)

    φ'' (w⊗n)(w⊗n)ᵀ + F/d Σ_τ (u_τ u_τᵀ + u_τ v_τᵀ + v_τ u_τᵀ) − F/d Σ_ρ (w⊗t_ρ)(w⊗t_ρ)ᵀ

with u_τ = d w̃_τ⊗n, v_τ = w⊗t_τ, and directions t_ρ along which nothing slides. The first part is semidefinite since
φ is convex, and the last part is left out. In the second part u_τ ⟂ v_τ, and tangents may be turned so that all are
perpendicular: then each τ is a 2×2 matrix with one positive eigenvalue, which is kept. So three products of vectors
with themselves are left, and no 12×12 matrix has to be taken apart.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from .squared_distance import separation


@kernel()
def fill_distance_energy_factors(x, closest, parameters, force, curvature, factors):
    """Writes vectors z with Σ z zᵀ above the Hessian of φ(d); unused ones are zero.

    Args:
        x: Corners [m], (4, 3).
        closest: `ClosestPoints` of them, at a distance above 0.
        parameters: Number of parameters of the features.
        force: F = −φ' ≥ 0 [N].
        curvature: φ'' ≥ 0 [N/m].
        factors: Out, (3, 12).
    """
    w, dw = closest.weights, closest.weight_derivatives
    rx, ry, rz = separation(x, w, 0), separation(x, w, 1), separation(x, w, 2)
    distance = math.sqrt(rx * rx + ry * ry + rz * rz)
    n = (rx / distance, ry / distance, rz / distance)
    factors[:] = 0.0
    root = math.sqrt(curvature)
    for i in range(4):
        for axis in range(3):
            factors[0, 3 * i + axis] = root * w[i] * n[axis]
    if parameters == 0:
        return
    one = (separation(x, dw[0], 0), separation(x, dw[0], 1), separation(x, dw[0], 2))
    length = math.sqrt(one[0] * one[0] + one[1] * one[1] + one[2] * one[2])
    one = (one[0] / length, one[1] / length, one[2] / length)
    a = (dw[0, 0] / length, dw[0, 1] / length, dw[0, 2] / length, dw[0, 3] / length)
    if parameters == 1:
        _write_sliding(factors[1], w, a, n, one, distance, force)
        return
    other = (separation(x, dw[1], 0), separation(x, dw[1], 1), separation(x, dw[1], 2))
    along = one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
    other = (other[0] - along * one[0], other[1] - along * one[1], other[2] - along * one[2])
    height = math.sqrt(other[0] * other[0] + other[1] * other[1] + other[2] * other[2])
    other = (other[0] / height, other[1] / height, other[2] / height)
    b = (
        (dw[1, 0] - along * a[0]) / height,
        (dw[1, 1] - along * a[1]) / height,
        (dw[1, 2] - along * a[2]) / height,
        (dw[1, 3] - along * a[3]) / height,
    )
    c, s = _perpendicular_turn(a, b)
    turned = (c * one[0] - s * other[0], c * one[1] - s * other[1], c * one[2] - s * other[2])
    _write_sliding(factors[1], w, _mixed(c, a, -s, b), n, turned, distance, force)
    turned = (s * one[0] + c * other[0], s * one[1] + c * other[1], s * one[2] + c * other[2])
    _write_sliding(factors[2], w, _mixed(s, a, c, b), n, turned, distance, force)


@kernel(device_only=True)
def _perpendicular_turn(a, b):
    """Returns cosine and sine of the turn with (c a − s b) ⟂ (s a + c b), by four numbers each."""
    aa, ab, bb = 0.0, 0.0, 0.0
    for i in range(4):
        aa, ab, bb = aa + a[i] * a[i], ab + a[i] * b[i], bb + b[i] * b[i]
    angle = 0.5 * math.atan2(2.0 * ab, bb - aa)
    return math.cos(angle), math.sin(angle)


@kernel(device_only=True)
def _mixed(c, a, s, b):
    """Returns c a + s b of four numbers each."""
    return (c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2], c * a[3] + s * b[3])


@kernel(device_only=True)
def _write_sliding(factor, w, change, n, tangent, distance, force):
    """Writes the eigenvector of the positive eigenvalue of F/d (u uᵀ + u vᵀ + v uᵀ), times the root of this.

    Args:
        factor: Out, (12,).
        w: Weights, (4,).
        change: Of the weights per length of sliding [1/m].
        n, tangent: Unit vectors.
        distance: d [m].
        force: F [N].
    """
    uu, vv = 0.0, 0.0
    for i in range(4):
        uu, vv = uu + distance * distance * change[i] * change[i], vv + w[i] * w[i]
    product = math.sqrt(uu * vv)
    value = 0.5 * (uu + math.sqrt(uu * uu + 4.0 * uu * vv))
    size = math.sqrt(value * value + product * product)
    if not size > 0.0:
        return
    root = math.sqrt(force / distance * value)
    along_u, along_v = root * value / (size * math.sqrt(uu)), root * product / (size * math.sqrt(vv))
    for i in range(4):
        for axis in range(3):
            factor[3 * i + axis] = along_u * distance * change[i] * n[axis] + along_v * w[i] * tangent[axis]
