# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear part of elastic forces: what tets would pull back with at some motion, from their records.

Where a step is linearised at a position x_k to which the velocities v_k lead, the forces at its end are

    f(x⁺) ≈ f(x_k) + Δt K_k v_k − Δt K_k v⁺,

K_k with the rotations at x_k. For a tet, with D = Σ v_b (R g_b)ᵀ over its nodes, K v at node a is
V [λ tr(D) + μ (D + Dᵀ)] R g_a, and s h_a Σ h_b·v_b of a pressure by volume.

Source: the blocks of `assembly.py`, multiplied with v.
"""

from __future__ import annotations

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import add, add_products, load, nothing, numbers, store, three, total
from .record import BULK, FORCE, PRESSED, TURNED, V_LAMBDA, V_MU, WARPED

AT_ONCE = 2048  # tets that a thread works on


def add_linear_pull(factor: float, v: Floats, tets: Indices, warped: Floats) -> None:
    """Adds `factor` · K v to the forces in the records of tets.

    Args:
        factor: Such as Δt [s].
        v: Velocities of nodes [m/s], (n, 3).
        tets: (m, 4).
        warped: Records, (m, …), in and out.
    """

    def work(begin: int, end: int) -> None:
        add_range(begin, end, factor, v, tets, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def add_range(begin, end, factor, v, tets, warped):
    """Adds to the records of the tets from `begin` to `end`; see `add_linear_pull`."""
    length = warped.shape[1]
    for tet in range(begin, end):
        w = length * tet
        # the rows of D + Dᵀ
        first, second, third = nothing(), nothing(), nothing()
        for b in range(4):
            speed, g = load(v, 3 * tets[tet, b]), load(warped, w + TURNED + 3 * b)
            (vx, vy, vz), (gx, gy, gz) = numbers(speed), numbers(g)
            first = add(add(first, vx, g), gx, speed)
            second = add(add(second, vy, g), gy, speed)
            third = add(add(third, vz, g), gz, speed)
        (xx, _, _), (_, yy, _), (_, _, zz) = numbers(first), numbers(second), numbers(third)
        k, even = factor * warped[tet, V_MU], 0.5 * factor * warped[tet, V_LAMBDA] * (xx + yy + zz)
        for a in range(1, 4):
            g = load(warped, w + TURNED + 3 * a)
            along = three(
                total(add_products(nothing(), first, g)),
                total(add_products(nothing(), second, g)),
                total(add_products(nothing(), third, g)),
            )
            place = w + FORCE + 3 * a - 3
            store(warped, place, add(add(load(warped, place), k, along), even, g))
        if length >= WARPED and warped[tet, BULK] > 0.0:  # else its record says nothing of h
            swelling = 0.0
            for b in range(4):
                h = load(warped, w + PRESSED + 3 * b)
                swelling += total(add_products(nothing(), h, load(v, 3 * tets[tet, b])))
            for a in range(1, 4):
                place, h = w + FORCE + 3 * a - 3, load(warped, w + PRESSED + 3 * a)
                store(warped, place, add(load(warped, place), factor * warped[tet, BULK] * swelling, h))
