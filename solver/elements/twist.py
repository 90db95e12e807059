# SPDX-License-Identifier: GPL-3.0-or-later
"""The torque that forces of tets make about where their nodes were at the start of a step.

A step x⁺ = x + Δt v⁺ changes angular momentum by Δt Σ x × f, with x at its start, to round-off. Forces that belong to
another place than x make a torque there, though a body cannot turn itself.
"""

from __future__ import annotations

from ..jit import kernel
from ..linear.threes import add, add_cross, add_products, load, nothing, numbers, store, three, total
from .record import (
    BULK_DAMPING,
    DAMPED_LAMBDA,
    DAMPED_MU,
    FORCE,
    PRESSED,
    SQUARE,
    STRETCHED,
    TURNED,
    WARPED,
    WITH_DAMPING,
)


@kernel(contract=True)
def sum_twists(x, v, island_of_row, tets, warped, twist):
    """Writes Σ x × f of every island [N m], (k, 3), with the forces in the records less the damping C v.

    Args:
        x: Where nodes were [m], (n, 3).
        v: Velocities [m/s], (n, 3).
        island_of_row, tets: Of the model.
        warped: Records, (m, …).
        twist: Out.
    """
    length = warped.shape[1]
    for island in range(len(twist)):
        store(twist, 3 * island, nothing())
    for tet in range(len(tets)):
        w, place = length * tet, 3 * island_of_row[tets[tet, 0]]
        turning, left = load(twist, place), nothing()
        for k in range(1, 4):
            force = load(warped, w + FORCE + 3 * k - 3)
            left = add(left, -1.0, force)
            turning = add_cross(turning, load(x, 3 * tets[tet, k]), force)
        turning = add_cross(turning, load(x, 3 * tets[tet, 0]), left)
        if length >= WITH_DAMPING:
            turning = add(turning, -1.0, damped_twist(tet, w, x, v, tets, warped))
        if length >= WARPED and warped[tet, BULK_DAMPING] > 0.0:
            swelling = 0.0
            for k in range(4):
                h = load(warped, w + PRESSED + 3 * k)
                swelling += warped[tet, BULK_DAMPING] * total(add_products(nothing(), load(v, 3 * tets[tet, k]), h))
            for k in range(4):
                push = add(nothing(), -swelling, load(warped, w + PRESSED + 3 * k))
                turning = add_cross(turning, load(x, 3 * tets[tet, k]), push)
        store(twist, place, turning)


@kernel(contract=True, inside=True)
def damped_twist(tet, w, x, v, tets, warped):
    """Returns Σ x × C v of a tet whose record begins at number `w`."""
    # with G = Σ v_b (F g_b)ᵀ: λ tr(G) F g_a + μ (Gᵀ F g_a + F Fᵀ Σ v_b (g_a·g_b))
    a, b, c, spread = nothing(), nothing(), nothing(), 0.0
    for k in range(4):
        speed, g = load(v, 3 * tets[tet, k]), load(warped, w + STRETCHED + 3 * k)
        p, q, r = numbers(speed)
        a, b, c = add(a, p, g), add(b, q, g), add(c, r, g)  # the rows of G
        spread += total(add_products(nothing(), speed, g))
    (xx, yy, zz), (xy, yz, zx) = numbers(load(warped, w + SQUARE)), numbers(load(warped, w + SQUARE + 3))
    lam, mu, turning = warped[tet, DAMPED_LAMBDA], warped[tet, DAMPED_MU], nothing()
    for k in range(4):
        g, turned, across = load(warped, w + STRETCHED + 3 * k), load(warped, w + TURNED + 3 * k), nothing()
        for m in range(4):
            both = total(add_products(nothing(), turned, load(warped, w + TURNED + 3 * m)))
            across = add(across, both, load(v, 3 * tets[tet, m]))
        (p, q, r), (x1, y1, z1) = numbers(g), numbers(across)
        along = add(add(add(nothing(), p, a), q, b), r, c)
        sheared = three(xx * x1 + xy * y1 + zx * z1, xy * x1 + yy * y1 + yz * z1, zx * x1 + yz * y1 + zz * z1)
        force = add(add(add(nothing(), lam * spread, g), mu, along), mu, sheared)
        turning = add_cross(turning, load(x, 3 * tets[tet, k]), force)
    return turning
