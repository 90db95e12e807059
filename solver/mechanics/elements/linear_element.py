# SPDX-License-Identifier: GPL-3.0-or-later
"""Element records of linear tets: Cauchy's strain ε = sym(F) − I − ε0, and a stiffness that never changes.

    f_a = −V σ g_a,    K_ab = V [λ g_a g_bᵀ + μ (g_b g_aᵀ + (g_a·g_b) I)],    σ = 2μ ε + λ tr(ε) I

Damping is β K, so the matrix of a step is the same in all steps of the same Δt. Both feel a rotation as strain: that
is what makes linear bodies grow where they turn (Müller 2002, figure 8).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.threads.thread_pool import run_ranges
from .corotational_element import SCRATCH_SIZE, TETS_PER_CHUNK, write_deformation_gradient, write_record_lanes
from .record_layout import ElementArrays

L = LANES


def compute_linear_records(x: Floats, elements: ElementArrays, records: Floats) -> None:
    """Writes the records `records` of tets, (m, …), at node positions x [m], (n, 3)."""

    def work(begin: int, end: int) -> None:
        write_linear_records(begin, end, x, elements, records)

    run_ranges(0, len(elements.tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def write_linear_records(begin, end, x, elements, records):
    """Writes the records of the tets from `begin` to `end`: those of tets that do not turn, damped as at rest."""
    F, still, work = np.zeros(9 * L), np.zeros(9 * L), np.zeros(SCRATCH_SIZE)
    for i in range(L):
        still[i], still[4 * L + i], still[8 * L + i] = 1.0, 1.0, 1.0
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, elements.tets, elements.Dm_inverse, F, i)
        write_record_lanes(first, count, F, still, still, work, elements, records)
