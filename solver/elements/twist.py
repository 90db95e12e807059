# SPDX-License-Identifier: GPL-3.0-or-later
"""The torque that forces of tets make about where their nodes were at the start of a step.

A step x⁺ = x + Δt v⁺ changes angular momentum by Δt Σ x × f, with x at its start, to round-off. Forces that belong to
another place than x make a torque there, though a body cannot turn itself.
"""

from __future__ import annotations

from ..jit import kernel
from ..linear.threes import add, add_cross, add_products, load, nothing, numbers, store, three, total
from .record import BETA, BULK_DAMPING, FORCE, PRESSED, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WARPED


@kernel(contract=True)
def sum_twists(x, v, island_of_row, tets, warped, twist):
    """Writes Σ x × f of every island [N m], (k, 3), with the forces in the records less the damping C v.

    Args:
        x: Where nodes were [m], (n, 3).
        v: Velocities [m/s], (n, 3).
        island_of_row, tets: Of the model.
        warped: Records, (m, WARPED).
        twist: Out.
    """
    for island in range(len(twist)):
        store(twist, 3 * island, nothing())
    for tet in range(len(tets)):
        w, place = WARPED * tet, 3 * island_of_row[tets[tet, 0]]
        # with G = Σ v_b (F g_b)ᵀ: λ tr(G) F g_a + μ (Gᵀ F g_a + F Fᵀ Σ v_b (g_a·g_b))
        a, b, c, spread, swelling = nothing(), nothing(), nothing(), 0.0, 0.0
        for k in range(4):
            speed, g = load(v, 3 * tets[tet, k]), load(warped, w + STRETCHED + 3 * k)
            p, q, r = numbers(speed)
            a, b, c = add(a, p, g), add(b, q, g), add(c, r, g)  # the rows of G
            spread += total(add_products(nothing(), speed, g))
            if warped[tet, BULK_DAMPING] > 0.0:
                swelling += total(add_products(nothing(), speed, load(warped, w + PRESSED + 3 * k)))
        first, second = load(warped, w + SQUARE), load(warped, w + SQUARE + 3)
        third, beta = load(warped, w + SQUARE + 6), warped[tet, BETA]
        turning = load(twist, place)
        for k in range(4):
            g, turned, across = load(warped, w + STRETCHED + 3 * k), load(warped, w + TURNED + 3 * k), nothing()
            for m in range(4):
                both = total(add_products(nothing(), turned, load(warped, w + TURNED + 3 * m)))
                across = add(across, both, load(v, 3 * tets[tet, m]))
            p, q, r = numbers(g)
            along = add(add(add(nothing(), p, a), q, b), r, c)
            sheared = three(
                total(add_products(nothing(), first, across)),
                total(add_products(nothing(), second, across)),
                total(add_products(nothing(), third, across)),
            )
            force = add(load(warped, w + FORCE + 3 * k), -beta * warped[tet, V_LAMBDA] * spread, g)
            force = add(add(force, -beta * warped[tet, V_MU], along), -beta * warped[tet, V_MU], sheared)
            if warped[tet, BULK_DAMPING] > 0.0:
                force = add(force, -warped[tet, BULK_DAMPING] * swelling, load(warped, w + PRESSED + 3 * k))
            turning = add_cross(turning, load(x, 3 * tets[tet, k]), force)
        store(twist, place, turning)
