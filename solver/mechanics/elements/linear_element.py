# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of linear tets: Cauchy's strain ε = sym(F) − I − ε0, and a stiffness that never changes.

    f_a = −V σ g_a,    K_ab = V [λ g_a g_bᵀ + μ (g_b g_aᵀ + (g_a·g_b) I)],    σ = 2μ ε + λ tr(ε) I

Damping is β K, so the matrix of a step is the same in all steps of the same Δt. Both feel a rotation as strain: that
is what makes linear bodies grow where they turn (Müller 2002, figure 8).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_ranges
from .corotational_element import SCRATCH_SIZE, TETS_PER_CHUNK, write_deformation_gradient, write_record_lanes
from .nearest_rotation_simd import LANES

L = LANES


def compute_linear_records(
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
    """Writes the records `warped` of all tets, (m, …); the arguments are those of `corotational.warp_tets`."""

    def work(begin: int, end: int) -> None:
        write_linear_records(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def write_linear_records(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end`: those of tets that do not turn, damped as at rest."""
    F, still, work = np.zeros(9 * L), np.zeros(9 * L), np.zeros(SCRATCH_SIZE)
    for i in range(L):
        still[i], still[4 * L + i], still[8 * L + i] = 1.0, 1.0, 1.0
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, tets, Dm_inverse, F, i)
        write_record_lanes(
            first, count, F, still, still, work, Dm_inverse, volume, mu, lam, damping, initial_strain, warped
        )
