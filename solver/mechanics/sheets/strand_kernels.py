# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, forces, stiffness and damping of strands: two of them, and the node between them.

With the vectors u and v from that node to both others, and L at rest, their energy is

    ½ (E A / L₁) (|u| − L₁)² + ½ (E A / L₂) (|v| − L₂)² + ½ k (φ − φ₀)²,   cos φ = c = −u·v / |u| |v|,

where φ is the angle by which the strand turns at the node. It has no sign: a strand does not twist, so one that is bent
at rest may bend about any axis. The last term is a function of c alone, with the derivatives

    f′ = −k (φ − φ₀) / sin φ,   f″ = k (sin φ − (φ − φ₀) cos φ) / sin³ φ,

which are −k and k / 3 where φ and φ₀ are zero. Of q = −c, with the unit vectors n = u / |u| and m = v / |v|,

    ∂q/∂u = (m − q n) / |u|,   ∂²q/∂u² = −(w nᵀ + n wᵀ + q (I − n nᵀ)) / |u|²   for w = m − q n,
    ∂²q/∂u∂v = (I − m mᵀ − n nᵀ + q n mᵀ) / |u| |v|.

All is written as that of hinges (`sheet_kernels.py`): in the places u and v of nodes 1 and 2 relative to node 0.

Own derivation; the angle between edges as in Bergou, Wardetzky, Robinson, Audoly and Grinspun 2008, Discrete elastic
rods, without twist.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..hyperelastic.tet_kernels import WITH_TANGENT
from .sheet_kernels import load_relative

SMALL_ANGLE = 1.0e-3  # below which series take the place of quotients
MIN_SINE = 1.0e-6  # of φ, below which a bend has no axis


class StrandArrays(NamedTuple):
    """What s tets of strands are made of.

    Attributes:
        bending: Stiffness k of the angle [N m], (s,).
        rest_angle: φ₀, (s,).
        stretching: E A / L of the strands to nodes 1 and 2 [N/m], zero where they belong to another tet, (s, 2).
        length: L of these [m], (s, 2).
    """

    bending: Floats
    rest_angle: Floats
    stretching: Floats
    length: Floats


@kernel(device_only=True)
def unit_vector(d, out):
    """Writes d / |d|, (3,) each, and returns |d| [m]."""
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    for i in range(3):
        out[i] = d[i] / length if length > 0.0 else 0.0
    return length


@kernel(device_only=True)
def turn_angle(n, m):
    """Returns sin φ and φ for the unit vectors n and m, (3,) each."""
    x, y, z = n[1] * m[2] - n[2] * m[1], n[2] * m[0] - n[0] * m[2], n[0] * m[1] - n[1] * m[0]
    sine = math.sqrt(x * x + y * y + z * z)
    return sine, math.atan2(sine, -(n[0] * m[0] + n[1] * m[1] + n[2] * m[2]))


@kernel(device_only=True)
def bend_derivatives(sine, angle, rest):
    """Returns the first and second derivatives of ½ (φ − φ₀)² by cos φ."""
    if angle < SMALL_ANGLE:
        first, second = -1.0 - angle * angle / 6.0, 1.0 / 3.0 + 2.0 / 15.0 * angle * angle
    else:
        s = max(sine, MIN_SINE)
        first, second = -angle / s, (s - angle * math.cos(angle)) / s**3
    if rest > 0.0:
        s = max(sine, MIN_SINE)
        first, second = first + rest / s, second + rest * math.cos(angle) / s**3
    return first, second


@kernel(device_only=True)
def add_stretching(stiffness, rest, length, n, gradient, hessian, at):
    """Adds the derivatives of ½ k (|d| − L)² by d = |d| n at the node `at`, and returns that energy."""
    longer = length - rest
    for i in range(3):
        gradient[at, i] += stiffness * longer * n[i]
    if length > 0.0:
        across = stiffness * longer / length
        for i in range(3):
            for k in range(3):
                unit = 1.0 if i == k else 0.0
                hessian[3 * at + i, 3 * at + k] += (stiffness - across) * n[i] * n[k] + across * unit
    return 0.5 * stiffness * longer * longer


@kernel(device_only=True)
def add_bending_hessian(first, second, n, m, lengths, slope, hessian):
    """Adds f″ ∇c ∇cᵀ + f′ ∇²c, for f′ = `first`, f″ = `second` and ∇c = `slope`, (2, 3)."""
    q = n[0] * m[0] + n[1] * m[1] + n[2] * m[2]
    for a in range(2):
        one, other = (n, m) if a == 0 else (m, n)
        square, product = lengths[a] * lengths[a], lengths[0] * lengths[1]
        for i in range(3):
            for k in range(3):
                unit = 1.0 if i == k else 0.0
                wi, wk = other[i] - q * one[i], other[k] - q * one[k]
                own = (wi * one[k] + one[i] * wk + q * (unit - one[i] * one[k])) / square
                mixed = -(unit - other[i] * other[k] - one[i] * one[k] + q * one[i] * other[k]) / product
                hessian[3 * a + i, 3 * a + k] += second * slope[a, i] * slope[a, k] + first * own
                b = 1 - a
                hessian[3 * a + i, 3 * b + k] += second * slope[a, i] * slope[b, k] + first * mixed


@kernel()
def strand_derivatives(begin, end, wanted, rows, tets, x, strands, energy, smallest, gradient, hessian):
    """Writes energies of strands, and where wanted their derivatives in d, which are not clamped.

    Args:
        begin, end: The first tet of strands, and the one after the last.
        wanted: WITH_TANGENT: both derivatives; WITH_FORCES: the gradient; ENERGY_ONLY: neither.
        rows: Which tets of the model they are, (s,).
        tets: Nodes of all tets, (m, 4).
        x: Node positions [m], (n, 3).
        strands: `StrandArrays`.
        energy: [J], (m,), out.
        smallest: (m,), out: 1, since nothing can be turned inside out.
        gradient: [N], (end − begin, 3, 3), out.
        hessian: [N/m], (end − begin, 9, 9), out; empty where not wanted.
    """
    bending, rest_angle, stretching, rest_length = strands
    d, slope, lengths, n, m = np.empty((3, 3)), np.empty((2, 3)), np.empty(2), np.empty(3), np.empty(3)
    H = np.empty((9, 9))
    for strand in range(begin, end):
        place, tet, total = strand - begin, rows[strand], 0.0
        load_relative(tets[tet], x, d)
        G = gradient[place]
        G[:], H[:] = 0.0, 0.0
        lengths[0], lengths[1] = unit_vector(d[0], n), unit_vector(d[1], m)
        for a in range(2):
            if stretching[strand, a] > 0.0:
                total += add_stretching(
                    stretching[strand, a], rest_length[strand, a], lengths[a], n if a == 0 else m, G, H, a
                )
        k = bending[strand]
        if k > 0.0 and lengths[0] > 0.0 and lengths[1] > 0.0:
            sine, angle = turn_angle(n, m)
            first, second = bend_derivatives(sine, angle, rest_angle[strand])
            total += 0.5 * k * (angle - rest_angle[strand]) ** 2
            q = n[0] * m[0] + n[1] * m[1] + n[2] * m[2]
            for i in range(3):
                slope[0, i], slope[1, i] = -(m[i] - q * n[i]) / lengths[0], -(n[i] - q * m[i]) / lengths[1]
                G[0, i] += k * first * slope[0, i]
                G[1, i] += k * first * slope[1, i]
            if wanted == WITH_TANGENT:
                add_bending_hessian(k * first, k * second, n, m, lengths, slope, H)
        if wanted == WITH_TANGENT:
            hessian[place] = H
        energy[tet], smallest[tet] = total, 1.0


@kernel()
def strand_damping(begin, end, rows, tets, x, strands, damping, hessian):
    """Writes the damping of strands in d [N s/m], (end − begin, 9, 9), positive semi-definite.

    It is β times the stiffness against changes of lengths and of angles, which no rigid motion makes.

    Args:
        begin, end, rows, tets, x, strands: See `strand_derivatives`.
        damping: β of all tets [s], (m,).
        hessian: Out.
    """
    bending, _, stretching, _ = strands
    d, slope, lengths, n, m = np.empty((3, 3)), np.empty((2, 3)), np.empty(2), np.empty(3), np.empty(3)
    for strand in range(begin, end):
        H, tet = hessian[strand - begin], rows[strand]
        H[:] = 0.0
        load_relative(tets[tet], x, d)
        lengths[0], lengths[1] = unit_vector(d[0], n), unit_vector(d[1], m)
        for a in range(2):
            unit = n if a == 0 else m
            for i in range(3):
                for k in range(3):
                    H[3 * a + i, 3 * a + k] += damping[tet] * stretching[strand, a] * unit[i] * unit[k]
        sine, _ = turn_angle(n, m)
        if bending[strand] > 0.0 and sine > MIN_SINE:
            q = n[0] * m[0] + n[1] * m[1] + n[2] * m[2]
            for i in range(3):  # ∂φ/∂d = −∂c/∂d / sin φ
                slope[0, i] = (m[i] - q * n[i]) / (lengths[0] * sine)
                slope[1, i] = (n[i] - q * m[i]) / (lengths[1] * sine)
            for i in range(6):
                for k in range(6):
                    product = slope[i // 3, i % 3] * slope[k // 3, k % 3]
                    H[i, k] += damping[tet] * bending[strand] * product
