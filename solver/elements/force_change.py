# SPDX-License-Identifier: GPL-3.0-or-later
"""How wrong the linear forces of a step were at its end, island by island.

The forces that a tet was taken to have differ from those that it has by ΔF_a = V Δσ g_a at its nodes: a stress Δσ with
the energy V Δσ:Δσ / (4 μ), about Σ |ΔF_a|² / (V μ Σ |g_a|²). Summed up over a body that is at least the energy of
what would have to be solved for yet, since what tets hold against each other can only make it less. The same of the
forces themselves is the energy that the body stores.
"""

from __future__ import annotations

from ..arrays import Floats
from ..jit import kernel
from ..linear.threes import add, add_products, load, nothing, total
from .record import FORCE, TURNED, V_MU


def keep_forces(warped: Floats, forces: Floats) -> None:
    """Writes the forces in the records of tets, (m, …), to `forces` [N], (m, 9)."""
    forces[:] = warped[:, FORCE : FORCE + 9]


@kernel(contract=True)
def sum_changes(forces, island_of_row, tets, warped, wrong, stored):
    """Adds up for every island what forces of tets changed by, and what they store, [J], (k,).

    Args:
        forces: Those that tets were taken to have on nodes 1, 2 and 3 [N], (m, 9).
        island_of_row, tets: Of the model.
        warped: Records of the tets as they are, (m, …).
        wrong, stored: Out.
    """
    length = warped.shape[1]
    for island in range(len(wrong)):
        wrong[island], stored[island] = 0.0, 0.0
    for tet in range(len(tets)):
        w, island, g = length * tet, island_of_row[tets[tet, 0]], load(warped, length * tet + TURNED)
        change, force, square = nothing(), nothing(), add_products(nothing(), g, g)
        F0, left0 = nothing(), nothing()  # minus those of node 0
        for a in range(0, 9, 3):
            F, g = load(warped, w + FORCE + a), load(warped, w + TURNED + 3 + a)
            left = add(F, -1.0, load(forces, 9 * tet + a))
            change, force = add_products(change, left, left), add_products(force, F, F)
            F0, left0, square = add(F0, 1.0, F), add(left0, 1.0, left), add_products(square, g, g)
        change, force = add_products(change, left0, left0), add_products(force, F0, F0)
        scale = warped[tet, V_MU] * total(square)
        if scale > 0.0:
            wrong[island] += total(change) / scale
            stored[island] += total(force) / scale
