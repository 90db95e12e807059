# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of linear tets: Cauchy's strain ε = sym(F) − I − ε0, and a stiffness that never changes.

    f_a = −V σ g_a,    K_ab = V [λ g_a g_bᵀ + μ (g_b g_aᵀ + (g_a·g_b) I)],    σ = 2μ ε + λ tr(ε) I

Damping is β K, so the matrix of a step is the same in all steps of the same Δt. Both feel a rotation as strain: that
is what makes linear bodies grow where they turn (Müller 2002, figure 8).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import load, numbers, store, three
from .corotational import AT_ONCE, deform, store_four, turned
from .record import BETA, BULK, BULK_DAMPING, FORCE, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WARPED
from .rotation_lanes import LANES

L = LANES


def warp_linear(
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
    """Writes the records `warped` of all tets, (m, WARPED); the arguments are those of `corotational.warp_tets`."""

    def work(begin: int, end: int) -> None:
        write_linear(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def write_linear(begin, end, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end`."""
    F = np.zeros(9 * L)
    for tet in range(begin, end):
        deform(tet, x, tets, Dm_inverse, F, 0)
        exx, eyy, ezz = F[0] - 1.0, F[4 * L] - 1.0, F[8 * L] - 1.0
        exy, eyz, ezx = 0.5 * (F[3 * L] + F[L]), 0.5 * (F[7 * L] + F[5 * L]), 0.5 * (F[2 * L] + F[6 * L])
        if len(initial_strain) > 0:
            xx, yy, zz = numbers(load(initial_strain, 6 * tet))
            xy, yz, zx = numbers(load(initial_strain, 6 * tet + 3))
            exx, eyy, ezz, exy, eyz, ezx = exx - xx, eyy - yy, ezz - zz, exy - xy, eyz - yz, ezx - zx
        v_lam, v_mu = volume[tet] * lam[tet], volume[tet] * mu[tet]
        pressure, k = v_lam * (exx + eyy + ezz), 2.0 * v_mu
        # the columns of −V σ
        s = three(-k * exx - pressure, -k * exy, -k * ezx)
        t = three(-k * exy, -k * eyy - pressure, -k * eyz)
        u = three(-k * ezx, -k * eyz, -k * ezz - pressure)
        g, h, i = load(Dm_inverse, 9 * tet), load(Dm_inverse, 9 * tet + 3), load(Dm_inverse, 9 * tet + 6)
        w = WARPED * tet  # where its record begins
        store_four(warped, w + FORCE, turned(s, t, u, g), turned(s, t, u, h), turned(s, t, u, i))
        store_four(warped, w + TURNED, g, h, i)
        store_four(warped, w + STRETCHED, g, h, i)
        store(warped, w + SQUARE, three(1.0, 0.0, 0.0))
        store(warped, w + SQUARE + 3, three(0.0, 1.0, 0.0))
        store(warped, w + SQUARE + 6, three(0.0, 0.0, 1.0))
        warped[tet, V_LAMBDA], warped[tet, V_MU], warped[tet, BETA] = v_lam, v_mu, damping[tet]
        warped[tet, BULK], warped[tet, BULK_DAMPING] = 0.0, 0.0
