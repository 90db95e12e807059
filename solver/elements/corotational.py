# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear tets in their own rotated frame: force, stiffness, and damping that makes no torque.

With F = Ds Dm⁻¹, its rotation R and the gradients g_a of the four shape functions, the stress is
P = R (2μ ε + λ tr(ε) I) with ε = sym(RᵀF) − I − ε0, and node a feels f_a = −V P g_a. The stiffness between
nodes a and b, with R held during the step, is the block

    K_ab = V [λ (A g_a)(A g_b)ᵀ + μ ((A g_b)(A g_a)ᵀ + (g_a·g_b) A Aᵀ)],    A = R

The same block with A = F is the damping matrix over β: it belongs to the stress S = β (2μ Ė + λ tr(Ė) I) of
the rate of Green's strain Ė = sym(FᵀḞ), with P = F S. A rigid motion has Ė = 0 whatever F is, and P Fᵀ is
symmetric, so that no torque arises; the matrix is positive semi-definite for inverted F too. Where a tet is
stretched, β is divided by (‖F‖² / 3)², since S grows with the stretch twice over: a tet pulled to tenfold length
would be damped ten thousandfold, and hold the mesh in any tangle that it is in.

A tet pass writes what a tet's blocks are made of, a row pass gathers them per node: no two threads write to
the same place, and every sum has its order.

Source: Müller and Gross 2004, section 2.3; blocks from the gradients by own derivation, see tests.
"""

from __future__ import annotations

import numba
import numpy as np

from ..jit import kernel
from .rotation import rotation_of

LINEAR = 0
COROTATED = 1

# What the tet pass leaves per tet: R g1, R g2, R g3, then F g1, F g2, F g3, then F Fᵀ (xx, yy, zz, xy, yz, zx),
# then the forces f1, f2, f3 [N], then V λ, V μ [N m], and the β [s] that acts; (m, WARPED).
WARPED = 36


@kernel(parallel=True, contract=True)
def warp_tets(element, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the record `warped` of every tet at node positions x [m], (n, 3).

    `element` is LINEAR (R = I) or COROTATED; `initial_strain` ε0 is (m, 6) or (0, 6) for none.
    """
    for tet in numba.prange(len(tets)):
        n, G, w = tets[tet], Dm_inverse[tet], warped[tet]
        p0, p1, p2, p3 = x[np.uint32(n[0])], x[np.uint32(n[1])], x[np.uint32(n[2])], x[np.uint32(n[3])]
        x1, y1, z1 = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
        x2, y2, z2 = p2[0] - p0[0], p2[1] - p0[1], p2[2] - p0[2]
        x3, y3, z3 = p3[0] - p0[0], p3[1] - p0[1], p3[2] - p0[2]
        g1x, g1y, g1z = G[0, 0], G[0, 1], G[0, 2]
        g2x, g2y, g2z = G[1, 0], G[1, 1], G[1, 2]
        g3x, g3y, g3z = G[2, 0], G[2, 1], G[2, 2]
        a, b, c = x1 * g1x + x2 * g2x + x3 * g3x, x1 * g1y + x2 * g2y + x3 * g3y, x1 * g1z + x2 * g2z + x3 * g3z
        d, e, f = y1 * g1x + y2 * g2x + y3 * g3x, y1 * g1y + y2 * g2y + y3 * g3y, y1 * g1z + y2 * g2z + y3 * g3z
        g, h, i = z1 * g1x + z2 * g2x + z3 * g3x, z1 * g1y + z2 * g2y + z3 * g3y, z1 * g1z + z2 * g2z + z3 * g3z
        w[18], w[19], w[20] = a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i
        w[21], w[22], w[23] = a * d + b * e + c * f, d * g + e * h + f * i, g * a + h * b + i * c

        A, B, C, D, E, F, P, Q, R = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
        if element == COROTATED:
            A, B, C, D, E, F, P, Q, R = rotation_of(a, b, c, d, e, f, g, h, i)
        exx, eyy, ezz = A * a + D * d + P * g - 1.0, B * b + E * e + Q * h - 1.0, C * c + F * f + R * i - 1.0
        exy = 0.5 * (A * b + D * e + P * h + B * a + E * d + Q * g)
        eyz = 0.5 * (B * c + E * f + Q * i + C * b + F * e + R * h)
        ezx = 0.5 * (C * a + F * d + R * g + A * c + D * f + P * i)
        if len(initial_strain) > 0:
            s = initial_strain[tet]
            exx, eyy, ezz, exy, eyz, ezx = exx - s[0], eyy - s[1], ezz - s[2], exy - s[3], eyz - s[4], ezx - s[5]

        Vlam, Vmu = volume[tet] * lam[tet], volume[tet] * mu[tet]
        pressure = Vlam * (exx + eyy + ezz)
        k = 2.0 * Vmu
        sxx, syy, szz = k * exx + pressure, k * eyy + pressure, k * ezz + pressure
        sxy, syz, szx = k * exy, k * eyz, k * ezx
        # f_a = −R (V σ g_a)
        for m in range(3):
            u, v, q = G[m, 0], G[m, 1], G[m, 2]
            w[3 * m] = A * u + B * v + C * q
            w[3 * m + 1] = D * u + E * v + F * q
            w[3 * m + 2] = P * u + Q * v + R * q
            w[9 + 3 * m] = a * u + b * v + c * q
            w[10 + 3 * m] = d * u + e * v + f * q
            w[11 + 3 * m] = g * u + h * v + i * q
            u, v, q = sxx * u + sxy * v + szx * q, sxy * u + syy * v + syz * q, szx * u + syz * v + szz * q
            w[24 + 3 * m] = -(A * u + B * v + C * q)
            w[25 + 3 * m] = -(D * u + E * v + F * q)
            w[26 + 3 * m] = -(P * u + Q * v + R * q)
        ease = max(1.0, (w[18] + w[19] + w[20]) / 3.0)
        w[33], w[34], w[35] = Vlam, Vmu, damping[tet] / (ease * ease)


@kernel(parallel=True, contract=True)
def assemble(
    stiff, damp, diagonal_mass, row_start, diagonal, corner_start, corners, corner_block, warped, values, force
):
    """Writes the blocks of `stiff` K + `damp` C + diag(`diagonal_mass`) and the forces on the nodes.

    Args:
        stiff: Factor of the stiffness K, such as Δt².
        damp: Factor of the damping matrix C, such as Δt.
        diagonal_mass: Added to the diagonal of every node [kg], (n,).
        row_start, diagonal, corner_start, corners, corner_block: Of the `BlockPattern`.
        warped: Of `warp_tets`.
        values: The blocks, row by row, (b, 9), out.
        force: Elastic forces [N], (n, 3), out.
    """
    for node in numba.prange(len(diagonal)):
        for block in range(row_start[node], row_start[node + 1]):
            values[block, :] = 0.0
        fx, fy, fz = 0.0, 0.0, 0.0
        for place in range(corner_start[node], corner_start[node + 1]):
            corner = corners[place]
            a = corner & np.uint32(3)
            w, blocks = warped[corner >> np.uint32(2)], corner_block[corner]
            fx0, fy0, fz0 = -(w[24] + w[27] + w[30]), -(w[25] + w[28] + w[31]), -(w[26] + w[29] + w[32])
            fx += _pick(a, fx0, w[24], w[27], w[30])
            fy += _pick(a, fy0, w[25], w[28], w[31])
            fz += _pick(a, fz0, w[26], w[29], w[32])

            x1, y1, z1, x2, y2, z2, x3, y3, z3 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
            x0, y0, z0 = -(x1 + x2 + x3), -(y1 + y2 + y3), -(z1 + z2 + z3)
            xa, ya, za = _pick(a, x0, x1, x2, x3), _pick(a, y0, y1, y2, y3), _pick(a, z0, z1, z2, z3)
            L, M = stiff * w[33], stiff * w[34]
            # rotations keep g_a·g_b
            k0, k1, k2, k3 = (
                xa * x0 + ya * y0 + za * z0,
                xa * x1 + ya * y1 + za * z1,
                xa * x2 + ya * y2 + za * z2,
                xa * x3 + ya * y3 + za * z3,
            )
            lx, ly, lz, mx, my, mz = L * xa, L * ya, L * za, M * xa, M * ya, M * za
            _add_rotated(values[blocks[0]], lx, ly, lz, mx, my, mz, x0, y0, z0, M * k0)
            _add_rotated(values[blocks[1]], lx, ly, lz, mx, my, mz, x1, y1, z1, M * k1)
            _add_rotated(values[blocks[2]], lx, ly, lz, mx, my, mz, x2, y2, z2, M * k2)
            _add_rotated(values[blocks[3]], lx, ly, lz, mx, my, mz, x3, y3, z3, M * k3)
            D = damp * w[35]
            if D != 0.0:
                x1, y1, z1, x2, y2, z2, x3, y3, z3 = w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17]
                x0, y0, z0 = -(x1 + x2 + x3), -(y1 + y2 + y3), -(z1 + z2 + z3)
                xa, ya, za = _pick(a, x0, x1, x2, x3), _pick(a, y0, y1, y2, y3), _pick(a, z0, z1, z2, z3)
                L, M = D * w[33], D * w[34]
                lx, ly, lz, mx, my, mz = L * xa, L * ya, L * za, M * xa, M * ya, M * za
                _add_stretched(values[blocks[0]], lx, ly, lz, mx, my, mz, x0, y0, z0, M * k0, w)
                _add_stretched(values[blocks[1]], lx, ly, lz, mx, my, mz, x1, y1, z1, M * k1, w)
                _add_stretched(values[blocks[2]], lx, ly, lz, mx, my, mz, x2, y2, z2, M * k2, w)
                _add_stretched(values[blocks[3]], lx, ly, lz, mx, my, mz, x3, y3, z3, M * k3, w)
        force[node, 0], force[node, 1], force[node, 2] = fx, fy, fz
        on_diagonal = values[diagonal[node]]
        on_diagonal[0] += diagonal_mass[node]
        on_diagonal[4] += diagonal_mass[node]
        on_diagonal[8] += diagonal_mass[node]


@kernel()
def _pick(a, v0, v1, v2, v3):
    return v0 if a == 0 else v1 if a == 1 else v2 if a == 2 else v3


@kernel(contract=True)
def _add_rotated(block, lx, ly, lz, mx, my, mz, x, y, z, k):
    """Adds λ a bᵀ + μ b aᵀ + k I to a block, with (lx, ly, lz) = λ a, (mx, my, mz) = μ a, b = (x, y, z)."""
    block[0] += (lx + mx) * x + k
    block[1] += lx * y + x * my
    block[2] += lx * z + x * mz
    block[3] += ly * x + y * mx
    block[4] += (ly + my) * y + k
    block[5] += ly * z + y * mz
    block[6] += lz * x + z * mx
    block[7] += lz * y + z * my
    block[8] += (lz + mz) * z + k


@kernel(contract=True)
def _add_stretched(block, lx, ly, lz, mx, my, mz, x, y, z, k, w):
    """Adds λ a bᵀ + μ b aᵀ + k F Fᵀ, the last from a tet's record w."""
    block[0] += (lx + mx) * x + k * w[18]
    block[1] += lx * y + x * my + k * w[21]
    block[2] += lx * z + x * mz + k * w[23]
    block[3] += ly * x + y * mx + k * w[21]
    block[4] += (ly + my) * y + k * w[19]
    block[5] += ly * z + y * mz + k * w[22]
    block[6] += lz * x + z * mx + k * w[23]
    block[7] += lz * y + z * my + k * w[22]
    block[8] += (lz + mz) * z + k * w[20]
