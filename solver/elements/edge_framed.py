# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of tets with the rotations R of `qr.py`: by the present gradients, or by those at rest turned by R.

Turned by R, forces and blocks are those of `corotational.py`. They make a torque wherever R is not the rotation
nearest to F. The present gradients do not, whatever R is: with the stress R σ Rᵀ in space node a feels

    f_a = −V R σ Rᵀ b_a,    K_ab = V [λ b_a b_bᵀ + μ (b_b b_aᵀ + (b_a·b_b) I)],    b_a = cof(F) g_a

where σ is of the strain that `own_strain.py` says. b_a are the gradients of the shape functions over the present
tet times its volume over that at rest; so σ acts on the present areas, and a flat tet has them without a division.
Damping is β K, by the rate of the present strain, which no rigid motion excites; β is divided by (‖F‖² / 3)² where the
tet is stretched, as in `corotational.py`.

Source: Nesme, Payan and Faure 2005, sections 2.3 and 3.1.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import add_cross, load, nothing, numbers, store, store_four, three
from .corotational import AT_ONCE, WORK, deform, dot, dots, of_lane, store_nodes, turned, write_lanes
from .qr import rotate_by_edges
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
from .rotation_lanes import LANES

L = LANES


def warp_by_edges(
    is_present: bool,
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
    """Writes the records `warped` of all tets, (m, …).

    `is_present` says whether gradients are the present ones; all else is as for `corotational.warp_tets`.
    """

    def work(begin: int, end: int) -> None:
        edge_range(begin, end, is_present, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def edge_range(begin, end, is_present, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end`; see `warp_by_edges`."""
    F, G, R, there = np.zeros(9 * L), np.ones(6 * L), np.empty(9 * L), np.empty(L)
    work = np.zeros(WORK)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            deform(first + i, x, tets, Dm_inverse, F, i)
            for k in range(3):
                G[k * L + i], G[(3 + k) * L + i] = Dm_inverse[first + i, 1, k], Dm_inverse[first + i, 2, k]
        rotate_by_edges(count, F, G, R, there)
        if is_present:
            for i in range(count):
                stretch, shear = nothing(), nothing()
                if len(initial_strain) > 0:
                    stretch, shear = load(initial_strain, 6 * (first + i)), load(initial_strain, 6 * (first + i) + 3)
                write_present(first + i, F, R, i, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped)
        else:
            write_lanes(first, count, F, R, F, work, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)


@kernel(contract=True, inside=True)
def write_present(tet, F, R, lane, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped):
    """Writes the record of a tet with F and R in a lane, and an initial strain, by the present gradients."""
    a, b, c = of_lane(F, lane), of_lane(F, 3 * L + lane), of_lane(F, 6 * L + lane)
    A, B, C = of_lane(R, lane), of_lane(R, 3 * L + lane), of_lane(R, 6 * L + lane)
    # the rows of adj(F), then J I − sym(adj(F) R)
    p, q, r = add_cross(nothing(), b, c), add_cross(nothing(), c, a), add_cross(nothing(), a, b)
    J = dot(a, p)
    exx, eyy, ezz = J - dot(p, A), J - dot(q, B), J - dot(r, C)
    exy, eyz, ezx = -0.5 * dots(p, B, q, A), -0.5 * dots(q, C, r, B), -0.5 * dots(r, A, p, C)
    (xx, yy, zz), (xy, yz, zx) = numbers(stretch), numbers(shear)
    exx, eyy, ezz, exy, eyz, ezx = exx - xx, eyy - yy, ezz - zz, exy - xy, eyz - yz, ezx - zx
    v_lam, v_mu = volume[tet] * lam[tet], volume[tet] * mu[tet]
    pressure, k = v_lam * (exx + eyy + ezz), 2.0 * v_mu
    # the columns of −V R σ, then those of −V R σ Rᵀ
    s = turned(A, B, C, three(-k * exx - pressure, -k * exy, -k * ezx))
    t = turned(A, B, C, three(-k * exy, -k * eyy - pressure, -k * eyz))
    u = turned(A, B, C, three(-k * ezx, -k * eyz, -k * ezz - pressure))
    (A1, A2, A3), (B1, B2, B3), (C1, C2, C3) = numbers(A), numbers(B), numbers(C)
    o, v = turned(s, t, u, three(A1, B1, C1)), turned(s, t, u, three(A2, B2, C2))
    w = turned(s, t, u, three(A3, B3, C3))
    g = turned(p, q, r, load(Dm_inverse, 9 * tet))
    h = turned(p, q, r, load(Dm_inverse, 9 * tet + 3))
    i = turned(p, q, r, load(Dm_inverse, 9 * tet + 6))
    length = warped.shape[1]
    z = length * tet  # where its record begins
    store_four(warped, z + FORCE, turned(o, v, w, g))
    store_four(warped, z + FORCE + 3, turned(o, v, w, h))
    store(warped, z + FORCE + 6, turned(o, v, w, i))
    store_nodes(warped, z + TURNED, g, h, i)
    warped[tet, V_LAMBDA], warped[tet, V_MU] = v_lam, v_mu
    if length >= WITH_DAMPING:
        store_nodes(warped, z + STRETCHED, g, h, i)
        store(warped, z + SQUARE, three(1.0, 1.0, 1.0))
        store(warped, z + SQUARE + 3, nothing())
        ease = max(1.0, (dot(a, a) + dot(b, b) + dot(c, c)) / 3.0)
        beta = damping[tet] / (ease * ease)
        warped[tet, DAMPED_LAMBDA], warped[tet, DAMPED_MU] = beta * v_lam, beta * v_mu
    if length >= WARPED:
        warped[tet, BULK], warped[tet, BULK_DAMPING] = 0.0, 0.0
