# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear tets in their own rotated frame: force, stiffness, and damping that makes no torque.

With F = Ds Dm⁻¹, its rotation R and the gradients g_a of the four shape functions, the stress is
P = R (2μ ε + λ tr(ε) I) with ε = sym(RᵀF) − I − ε0, and node a feels f_a = −V P g_a. The stiffness between
nodes a and b, with R held during the step, is the block

    K_ab = V [λ (A g_a)(A g_b)ᵀ + μ ((A g_b)(A g_a)ᵀ + (g_a·g_b) A Aᵀ)],    A = R

The same block with A = F is the damping matrix over β: it belongs to the stress S = β (2μ Ė + λ tr(Ė) I) of
the rate of Green's strain Ė = sym(FᵀḞ), with P = F S. A rigid motion has Ė = 0 whatever F is, and P Fᵀ is
symmetric, so that no torque arises; the matrix is positive semi-definite for inverted F too. Where a tet is
stretched, β is divided by (‖F‖² / 3)², since S grows with the stretch twice over: a tet pulled to tenfold length
would be damped ten thousandfold, and hold the mesh in any tangle that it is in.

Here every tet is worked on for itself; `assembly.py` sums up.

Source: Müller and Gross 2004, section 2.3; blocks from the gradients by own derivation, see tests.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import add, add_products, load, nothing, numbers, store, three, total
from .record import BETA, BULK, BULK_DAMPING, FORCE, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WARPED
from .rotation_lanes import LANES, rotate

__all__ = ["WARPED", "warp_tets"]

L = LANES

AT_ONCE = 2048  # tets that a thread works on: less costs more in waiting than it brings


def warp_tets(
    x: Floats,
    tets: Indices,
    Dm_inverse: Floats,
    volume: Floats,
    mu: Floats,
    lam: Floats,
    damping: Floats,
    initial_strain: Floats,
    warped: Floats,
) -> None:
    """Writes the records `warped` of all tets, (m, WARPED), at node positions x [m], (n, 3).

    `initial_strain` ε0 is (m, 6) or (0, 6) for none. The others are those of a `Model`.
    """

    def work(begin: int, end: int) -> None:
        warp_range(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def warp_range(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end`; see `warp_tets`."""
    F, R, state = np.zeros(9 * L), np.empty(9 * L), np.empty(2 * L)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            deform(first + i, x, tets, Dm_inverse, F, i)
        rotate(count, F, R, state)
        for i in range(count):
            stretch, shear = nothing(), nothing()
            if len(initial_strain) > 0:
                stretch, shear = load(initial_strain, 6 * (first + i)), load(initial_strain, 6 * (first + i) + 3)
            write_record(first + i, F, R, i, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped)


@kernel(contract=True, inline=True, inside=True)
def deform(tet, x, tets, Dm_inverse, F, lane):
    """Writes F, column by column, into a lane."""
    origin, p = load(x, 3 * tets[tet, 0]), load(x, 3 * tets[tet, 1])
    q, r = load(x, 3 * tets[tet, 2]), load(x, 3 * tets[tet, 3])
    p, q, r = add(p, -1.0, origin), add(q, -1.0, origin), add(r, -1.0, origin)
    x1, y1, z1 = numbers(load(Dm_inverse, 9 * tet))
    x2, y2, z2 = numbers(load(Dm_inverse, 9 * tet + 3))
    x3, y3, z3 = numbers(load(Dm_inverse, 9 * tet + 6))
    F[lane], F[L + lane], F[2 * L + lane] = numbers(of_three(x1, p, x2, q, x3, r))
    F[3 * L + lane], F[4 * L + lane], F[5 * L + lane] = numbers(of_three(y1, p, y2, q, y3, r))
    F[6 * L + lane], F[7 * L + lane], F[8 * L + lane] = numbers(of_three(z1, p, z2, q, z3, r))


@kernel(contract=True, inline=True, inside=True)
def write_record(tet, F, R, lane, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped):
    """Writes the record of a tet with F and R in a lane, and an initial strain."""
    # without branches, at which Numba would count references
    a, b, c = of_lane(F, lane), of_lane(F, 3 * L + lane), of_lane(F, 6 * L + lane)
    A, B, C = of_lane(R, lane), of_lane(R, 3 * L + lane), of_lane(R, 6 * L + lane)
    exx, eyy, ezz = dot(A, a) - 1.0, dot(B, b) - 1.0, dot(C, c) - 1.0
    exy, eyz, ezx = 0.5 * dots(A, b, B, a), 0.5 * dots(B, c, C, b), 0.5 * dots(C, a, A, c)
    (xx, yy, zz), (xy, yz, zx) = numbers(stretch), numbers(shear)
    exx, eyy, ezz, exy, eyz, ezx = exx - xx, eyy - yy, ezz - zz, exy - xy, eyz - yz, ezx - zx
    v_lam, v_mu = volume[tet] * lam[tet], volume[tet] * mu[tet]
    pressure, k = v_lam * (exx + eyy + ezz), 2.0 * v_mu
    # the columns of −V R σ
    s = turned(A, B, C, three(-k * exx - pressure, -k * exy, -k * ezx))
    t = turned(A, B, C, three(-k * exy, -k * eyy - pressure, -k * eyz))
    u = turned(A, B, C, three(-k * ezx, -k * eyz, -k * ezz - pressure))
    g, h, i = load(Dm_inverse, 9 * tet), load(Dm_inverse, 9 * tet + 3), load(Dm_inverse, 9 * tet + 6)
    w = WARPED * tet  # where its record begins
    store_four(warped, w + FORCE, turned(s, t, u, g), turned(s, t, u, h), turned(s, t, u, i))
    store_four(warped, w + TURNED, turned(A, B, C, g), turned(A, B, C, h), turned(A, B, C, i))
    store_four(warped, w + STRETCHED, turned(a, b, c, g), turned(a, b, c, h), turned(a, b, c, i))
    (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = numbers(a), numbers(b), numbers(c)
    store(warped, w + SQUARE, of_three(x1, a, x2, b, x3, c))
    store(warped, w + SQUARE + 3, of_three(y1, a, y2, b, y3, c))
    store(warped, w + SQUARE + 6, of_three(z1, a, z2, b, z3, c))
    ease = max(1.0, (dot(a, a) + dot(b, b) + dot(c, c)) / 3.0)
    warped[tet, V_LAMBDA], warped[tet, V_MU], warped[tet, BETA] = v_lam, v_mu, damping[tet] / (ease * ease)
    warped[tet, BULK], warped[tet, BULK_DAMPING] = 0.0, 0.0


@kernel(inline=True, inside=True)
def of_lane(lanes, place):
    """Returns three numbers of a lane from a place on."""
    return three(lanes[place], lanes[place + L], lanes[place + 2 * L])


@kernel(contract=True, inline=True, inside=True)
def of_three(k, u, m, v, n, w):
    """Returns k u + m v + n w."""
    return add(add(add(nothing(), k, u), m, v), n, w)


@kernel(contract=True, inline=True)
def turned(a, b, c, v):
    """Returns M v for the columns a, b, c of M."""
    x, y, z = numbers(v)
    return add(add(add(nothing(), x, a), y, b), z, c)


@kernel(contract=True, inline=True)
def dot(v, w):
    """Returns v · w."""
    return total(add_products(nothing(), v, w))


@kernel(contract=True, inline=True, inside=True)
def dots(v, w, u, t):
    """Returns v · w + u · t."""
    return total(add_products(add_products(nothing(), v, w), u, t))


@kernel(contract=True, inline=True)
def store_four(array, place, first, second, third):
    """Writes what belongs to the four nodes of a tet, whose sum is zero, for that of the last three."""
    store(array, place, add(add(add(nothing(), -1.0, first), -1.0, second), -1.0, third))
    store(array, place + 3, first)
    store(array, place + 6, second)
    store(array, place + 9, third)
