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
from ..geometry.crew import await_bell, crew_of, is_over, post, take, tell, wait
from ..jit import kernel, thread_count
from ..linear.threes import (
    add,
    add_products,
    cycled,
    load,
    load_block,
    nothing,
    numbers,
    store,
    store_four,
    three,
    total,
)  # fmt: skip
from .record import (
    BULK,
    BULK_DAMPING,
    DAMPED_LAMBDA,
    DAMPED_MU,
    FORCE,
    SQUARE,
    STRETCHED,
    TURNED,
    V_LAMBDA,
    V_MU,
    WARPED,
    WITH_DAMPING,
)
from .rotation_lanes import LANES, rotate

__all__ = ["WARPED", "warp_tets"]

L = LANES
WORK = 17 * L  # numbers that `write_lanes` works with

AHEAD = 64  # tets whose Dm⁻¹ memory is asked for ahead of its use
AT_ONCE = 2048  # tets that a thread works on,
LEAST, PARTS = 256, 32  # and of few tets the least, in so many parts


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
    """Writes the records `warped` of all tets, (m, …), at node positions x [m], (n, 3).

    `initial_strain` ε0 is (m, 6) or (0, 6) for none. The others are those of a `Model`.
    """
    at_once = min(AT_ONCE, max(LEAST, len(tets) // PARTS // LANES * LANES))
    given = (at_once, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)
    with crew_of(
        min(thread_count(), len(tets) // at_once), lambda crew, leads: warp_shared(leads, crew, *given)
    ) as crew:
        warp_shared(True, crew, *given)


@kernel()
def warp_shared(leads, crew, at_once, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Shares in writing the records of all tets, `at_once` at a time; see `warp_tets`."""
    if leads:
        post(crew, (len(tets) + at_once - 1) // at_once)
    while True:
        part, done = take(crew, leads), 0
        while part >= 0:
            begin, end = part * at_once, min((part + 1) * at_once, len(tets))
            warp_range(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)
            part, done = take(crew, leads), done + 1
        if leads:
            wait(crew, done)
            break
        tell(crew, done)
        if is_over(crew):
            await_bell(crew)
            break


@kernel(contract=True, inside=True)
def warp_range(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end`; see `warp_tets`."""
    F, R, state, work = np.zeros(9 * L), np.empty(9 * L), np.empty(2 * L), np.zeros(WORK)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            deform(first + i, x, tets, Dm_inverse, F, i)
        rotate(count, F, R, state)
        write_lanes(first, count, F, R, F, work, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)


@kernel(contract=True, inline=True, inside=True)
def deform(tet, x, tets, Dm_inverse, F, lane):
    """Writes F, column by column, into a lane."""
    origin, p = load(x, 3 * tets[tet, 0]), load(x, 3 * tets[tet, 1])
    q, r = load(x, 3 * tets[tet, 2]), load(x, 3 * tets[tet, 3])
    p, q, r = add(p, -1.0, origin), add(q, -1.0, origin), add(r, -1.0, origin)
    g, h, k = load_block(Dm_inverse, tet, AHEAD)
    (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = numbers(g), numbers(h), numbers(k)
    F[lane], F[L + lane], F[2 * L + lane] = numbers(of_three(x1, p, x2, q, x3, r))
    F[3 * L + lane], F[4 * L + lane], F[5 * L + lane] = numbers(of_three(y1, p, y2, q, y3, r))
    F[6 * L + lane], F[7 * L + lane], F[8 * L + lane] = numbers(of_three(z1, p, z2, q, z3, r))


@kernel(contract=True, inside=True)
def write_lanes(first, count, F, R, A, work, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of tets from number `first` on, as many as `count`, of which F and R are in lanes.

    `A` is what damping stretches by, which is F; `work` is work space, (WORK,), of numbers of any size.
    """
    for i in range(count):
        work[9 * L + i], work[10 * L + i] = volume[first + i] * lam[first + i], volume[first + i] * mu[first + i]
    if len(initial_strain) > 0:
        for i in range(count):
            for k in range(6):
                work[(11 + k) * L + i] = initial_strain[first + i, k]
    stress_lanes(F, R, work)
    length = warped.shape[1]
    for i in range(count):
        tet = first + i
        w = length * tet  # where its record begins
        g, h, k = load(Dm_inverse, 9 * tet), load(Dm_inverse, 9 * tet + 3), load(Dm_inverse, 9 * tet + 6)
        a, b, c = of_lane(R, i), of_lane(R, 3 * L + i), of_lane(R, 6 * L + i)
        store_nodes(warped, w + TURNED, turned(a, b, c, g), turned(a, b, c, h), turned(a, b, c, k))
        a, b, c = of_lane(work, i), of_lane(work, 3 * L + i), of_lane(work, 6 * L + i)
        store_four(warped, w + FORCE, turned(a, b, c, g))
        store_four(warped, w + FORCE + 3, turned(a, b, c, h))
        store(warped, w + FORCE + 6, turned(a, b, c, k))
        warped[tet, V_LAMBDA], warped[tet, V_MU] = work[9 * L + i], work[10 * L + i]
    if length >= WITH_DAMPING:
        for i in range(count):
            tet = first + i
            w = length * tet
            g, h, k = load(Dm_inverse, 9 * tet), load(Dm_inverse, 9 * tet + 3), load(Dm_inverse, 9 * tet + 6)
            a, b, c = of_lane(A, i), of_lane(A, 3 * L + i), of_lane(A, 6 * L + i)
            store_nodes(warped, w + STRETCHED, turned(a, b, c, g), turned(a, b, c, h), turned(a, b, c, k))
            along = add_products(add_products(add_products(nothing(), a, a), b, b), c, c)
            across = add_products(add_products(nothing(), a, cycled(a)), b, cycled(b))
            store(warped, w + SQUARE, along)
            store(warped, w + SQUARE + 3, add_products(across, c, cycled(c)))
            ease = max(1.0, total(along) / 3.0)
            beta = damping[tet] / (ease * ease)
            warped[tet, DAMPED_LAMBDA], warped[tet, DAMPED_MU] = beta * work[9 * L + i], beta * work[10 * L + i]
    if length >= WARPED:
        for tet in range(first, first + count):
            warped[tet, BULK], warped[tet, BULK_DAMPING] = 0.0, 0.0


@kernel(contract=True, inside=True)
def stress_lanes(F, R, work):
    """Writes −V R σ into `work`, column by column, behind which there are V λ, V μ and ε0 of every lane."""
    for i in range(L):
        a, b, c, d, e, f = R[i], R[L + i], R[2 * L + i], R[3 * L + i], R[4 * L + i], R[5 * L + i]
        g, h, j = R[6 * L + i], R[7 * L + i], R[8 * L + i]
        p, q, r, s, t, u = F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i]
        v, w, o = F[6 * L + i], F[7 * L + i], F[8 * L + i]
        k, m = work[9 * L + i], -2.0 * work[10 * L + i]
        xx = a * p + b * q + c * r - 1.0 - work[11 * L + i]
        yy = d * s + e * t + f * u - 1.0 - work[12 * L + i]
        zz = g * v + h * w + j * o - 1.0 - work[13 * L + i]
        xy = m * (0.5 * (a * s + b * t + c * u + d * p + e * q + f * r) - work[14 * L + i])
        yz = m * (0.5 * (d * v + e * w + f * o + g * s + h * t + j * u) - work[15 * L + i])
        zx = m * (0.5 * (g * p + h * q + j * r + a * v + b * w + c * o) - work[16 * L + i])
        k *= xx + yy + zz
        xx, yy, zz = m * xx - k, m * yy - k, m * zz - k
        work[i], work[L + i], work[2 * L + i] = (
            a * xx + d * xy + g * zx, b * xx + e * xy + h * zx, c * xx + f * xy + j * zx,
        )  # fmt: skip
        work[3 * L + i], work[4 * L + i], work[5 * L + i] = (
            a * xy + d * yy + g * yz, b * xy + e * yy + h * yz, c * xy + f * yy + j * yz,
        )  # fmt: skip
        work[6 * L + i], work[7 * L + i], work[8 * L + i] = (
            a * zx + d * yz + g * zz, b * zx + e * yz + h * zz, c * zx + f * yz + j * zz,
        )  # fmt: skip


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
def store_nodes(array, place, first, second, third):
    """Writes what belongs to the four nodes of a tet, whose sum is zero, for that of the last three."""
    # each but the last writes a zero to where the next begins
    store_four(array, place, add(add(add(nothing(), -1.0, first), -1.0, second), -1.0, third))
    store_four(array, place + 3, first)
    store_four(array, place + 6, second)
    store(array, place + 9, third)
