# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of tets whose rotations R are given: with the gradients at rest turned by R, or with the present ones.

Turned by R, forces and blocks are those of `corotational.py`. They make a torque wherever R is not the rotation
nearest to F. The present gradients do not, whatever R is: with the stress R σ Rᵀ in space node a feels

    f_a = −V R σ Rᵀ b_a,    K_ab = V [λ b_a b_bᵀ + μ (b_b b_aᵀ + (b_a·b_b) I)],    b_a = cof(F) g_a

b_a are the gradients of the shape functions over the present tet times its volume over that at rest; so σ acts on the
present areas, and a flat tet has them without a division. Damping is β K, by the rate of the present strain, which no
rigid motion excites; β is divided by (‖F‖² / 3)² where the tet is stretched, as in `corotational.py`.

Source: Nesme, Payan and Faure 2005, sections 2.3 and 3.1.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import add_cross, load, nothing, numbers, store, three
from .corotational import AT_ONCE, deform, dot, dots, of_lane, store_four, turned, write_record
from .record import BETA, BULK, BULK_DAMPING, FORCE, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WARPED
from .rotation_lanes import LANES as L


def warp_framed(
    is_present: bool,
    frames: Floats,
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
    """Writes the records `warped` of all tets, (m, WARPED), whose rotations are `frames`, (m, 3, 3).

    `is_present` says whether gradients are the present ones; all else is as for `corotational.warp_tets`.
    """
    write = write_present if is_present else write_turned

    def work(begin: int, end: int) -> None:
        write(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def write_turned(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end` by the gradients at rest, turned."""
    F, R = np.zeros(9 * L), np.zeros(9 * L)
    for tet in range(begin, end):
        deform(tet, x, tets, Dm_inverse, F, 0)
        for row in range(3):
            for column in range(3):
                R[(3 * column + row) * L] = frames[tet, row, column]
        stretch, shear = nothing(), nothing()
        if len(initial_strain) > 0:
            stretch, shear = load(initial_strain, 6 * tet), load(initial_strain, 6 * tet + 3)
        write_record(tet, F, R, 0, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped)


@kernel(contract=True)
def write_present(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end` by the present gradients."""
    F = np.zeros(9 * L)
    for tet in range(begin, end):
        deform(tet, x, tets, Dm_inverse, F, 0)
        a, b, c = of_lane(F, 0), of_lane(F, 3 * L), of_lane(F, 6 * L)
        # the columns of R, from its rows
        (A1, B1, C1), (A2, B2, C2) = numbers(load(frames, 9 * tet)), numbers(load(frames, 9 * tet + 3))
        A3, B3, C3 = numbers(load(frames, 9 * tet + 6))
        A, B, C = three(A1, A2, A3), three(B1, B2, B3), three(C1, C2, C3)
        exx, eyy, ezz = dot(A, a) - 1.0, dot(B, b) - 1.0, dot(C, c) - 1.0
        exy, eyz, ezx = 0.5 * dots(A, b, B, a), 0.5 * dots(B, c, C, b), 0.5 * dots(C, a, A, c)
        if len(initial_strain) > 0:
            xx, yy, zz = numbers(load(initial_strain, 6 * tet))
            xy, yz, zx = numbers(load(initial_strain, 6 * tet + 3))
            exx, eyy, ezz, exy, eyz, ezx = exx - xx, eyy - yy, ezz - zz, exy - xy, eyz - yz, ezx - zx
        v_lam, v_mu = volume[tet] * lam[tet], volume[tet] * mu[tet]
        pressure, k = v_lam * (exx + eyy + ezz), 2.0 * v_mu
        # the columns of −V R σ, then those of −V R σ Rᵀ
        s = turned(A, B, C, three(-k * exx - pressure, -k * exy, -k * ezx))
        t = turned(A, B, C, three(-k * exy, -k * eyy - pressure, -k * eyz))
        u = turned(A, B, C, three(-k * ezx, -k * eyz, -k * ezz - pressure))
        s, t, u = (
            turned(s, t, u, three(A1, B1, C1)),
            turned(s, t, u, three(A2, B2, C2)),
            turned(s, t, u, three(A3, B3, C3)),
        )
        p, q, r = add_cross(nothing(), b, c), add_cross(nothing(), c, a), add_cross(nothing(), a, b)
        g = turned(p, q, r, load(Dm_inverse, 9 * tet))
        h = turned(p, q, r, load(Dm_inverse, 9 * tet + 3))
        i = turned(p, q, r, load(Dm_inverse, 9 * tet + 6))
        w = WARPED * tet  # where its record begins
        store_four(warped, w + FORCE, turned(s, t, u, g), turned(s, t, u, h), turned(s, t, u, i))
        store_four(warped, w + TURNED, g, h, i)
        store_four(warped, w + STRETCHED, g, h, i)
        store(warped, w + SQUARE, three(1.0, 0.0, 0.0))
        store(warped, w + SQUARE + 3, three(0.0, 1.0, 0.0))
        store(warped, w + SQUARE + 6, three(0.0, 0.0, 1.0))
        ease = max(1.0, (dot(a, a) + dot(b, b) + dot(c, c)) / 3.0)
        warped[tet, V_LAMBDA], warped[tet, V_MU], warped[tet, BETA] = v_lam, v_mu, damping[tet] / (ease * ease)
        warped[tet, BULK], warped[tet, BULK_DAMPING] = 0.0, 0.0
