# SPDX-License-Identifier: GPL-3.0-or-later
"""How wrong the linear forces of a step were at its end, island by island.

The forces that a tet was taken to have differ from those that it has by ΔF_a = V Δσ g_a at its nodes: a stress Δσ with
the energy V Δσ:Δσ / (4 μ), about Σ |ΔF_a|² / (V μ Σ |g_a|²). Summed up over a body that is at least the energy of
what would have to be solved for yet, since what tets hold against each other can only make it less. The same of the
forces themselves is the energy that the body stores.
"""

from __future__ import annotations

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_axpy, vec3_fma, vec3_load, vec3_sum, vec3_zero
from .record_layout import FORCE, ROTATED_GRADIENTS, V_MU


def copy_forces(records: Floats, forces: Floats) -> None:
    """Writes the forces in the records of tets, (m, …), to `forces` [N], (m, 9)."""
    forces[:] = records[:, FORCE : FORCE + 9]


@kernel(allow_fma=True)
def sum_linearisation_errors(forces, island_of_row, tets, records, wrong, stored):
    """Adds up for every island what forces of tets changed by, and what they store, [J], (k,).

    Args:
        forces: Those that tets were taken to have on nodes 1, 2 and 3 [N], (m, 9).
        island_of_row, tets: Of the model.
        records: Records of the tets as they are, (m, …).
        wrong, stored: Out.
    """
    length = records.shape[1]
    for island in range(len(wrong)):
        wrong[island], stored[island] = 0.0, 0.0
    for tet in range(len(tets)):
        w, island, g = length * tet, island_of_row[tets[tet, 0]], vec3_load(records, length * tet + ROTATED_GRADIENTS)
        change, force, square = vec3_zero(), vec3_zero(), vec3_fma(vec3_zero(), g, g)
        F0, left0 = vec3_zero(), vec3_zero()  # minus those of node 0
        for a in range(0, 9, 3):
            F, g = vec3_load(records, w + FORCE + a), vec3_load(records, w + ROTATED_GRADIENTS + 3 + a)
            left = vec3_axpy(F, -1.0, vec3_load(forces, 9 * tet + a))
            change, force = vec3_fma(change, left, left), vec3_fma(force, F, F)
            F0, left0, square = vec3_axpy(F0, 1.0, F), vec3_axpy(left0, 1.0, left), vec3_fma(square, g, g)
        change, force = vec3_fma(change, left0, left0), vec3_fma(force, F0, F0)
        scale = records[tet, V_MU] * vec3_sum(square)
        if scale > 0.0:
            wrong[island] += vec3_sum(change) / scale
            stored[island] += vec3_sum(force) / scale
