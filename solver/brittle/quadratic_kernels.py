# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic forces of tets of ten nodes, without a matrix: 0.6 kB of a tet are read, not 7; and what a solve does often.

A hundred small pieces have a thousand small solves, in which a call of a matrix product takes longer than the product.
"""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel

# where the middle of the edge from corner i to corner j stands among the nodes of a tet
MIDDLES = np.array([[-1, 4, 5, 6], [4, -1, 7, 8], [5, 7, -1, 9], [6, 8, 9, -1]], np.int64)


@kernel(allow_fma=True)
def add_elastic_forces(tets, gradients, weight, mu, lam, u, out):
    """Adds K u of tets to `out`, (n, 3).

    Sums are written out: loops over the numbers of a node's neighbours take four times as long.

    Args:
        tets, gradients: See `QuadraticMesh`.
        weight: ∫ λᵢ λⱼ dV over the material in a tet [m³], (m, 4, 4).
        mu, lam: Lamé's moduli [Pa].
        u: Displacements [m], (n, 3).
        out: Forces [N].
    """
    S, P = np.empty((4, 9)), np.empty((4, 9))
    for tet in range(len(tets)):
        g, w = gradients[tet], weight[tet]
        a, b, c, d, ab, ac, ad, bc, bd, cd = tets[tet]
        ax, ay, az, bx, by, bz = g[0, 0], g[0, 1], g[0, 2], g[1, 0], g[1, 1], g[1, 2]
        cx, cy, cz, dx, dy, dz = g[2, 0], g[2, 1], g[2, 2], g[3, 0], g[3, 1], g[3, 2]
        # a quarter of Hᵢ, row by row
        for r in range(3):
            ua, ub, uc, ud, uab = u[a, r], u[b, r], u[c, r], u[d, r], u[ab, r]
            uac, uad, ubc, ubd, ucd = u[ac, r], u[ad, r], u[bc, r], u[bd, r], u[cd, r]
            mx = 0.25 * (ua * ax + ub * bx + uc * cx + ud * dx)
            my = 0.25 * (ua * ay + ub * by + uc * cy + ud * dy)
            mz = 0.25 * (ua * az + ub * bz + uc * cz + ud * dz)
            k = 3 * r
            S[0, k] = ua * ax + uab * bx + uac * cx + uad * dx - mx
            S[0, k + 1] = ua * ay + uab * by + uac * cy + uad * dy - my
            S[0, k + 2] = ua * az + uab * bz + uac * cz + uad * dz - mz
            S[1, k] = uab * ax + ub * bx + ubc * cx + ubd * dx - mx
            S[1, k + 1] = uab * ay + ub * by + ubc * cy + ubd * dy - my
            S[1, k + 2] = uab * az + ub * bz + ubc * cz + ubd * dz - mz
            S[2, k] = uac * ax + ubc * bx + uc * cx + ucd * dx - mx
            S[2, k + 1] = uac * ay + ubc * by + uc * cy + ucd * dy - my
            S[2, k + 2] = uac * az + ubc * bz + uc * cz + ucd * dz - mz
            S[3, k] = uad * ax + ubd * bx + ucd * cx + ud * dx - mx
            S[3, k + 1] = uad * ay + ubd * by + ucd * cy + ud * dy - my
            S[3, k + 2] = uad * az + ubd * bz + ucd * cz + ud * dz - mz
        for i in range(4):
            own = S[i]
            pressure = 4.0 * lam * (own[0] + own[4] + own[8])
            xy, yz, zx = own[1] + own[3], own[5] + own[7], own[2] + own[6]
            own[0] = 8.0 * mu * own[0] + pressure
            own[4] = 8.0 * mu * own[4] + pressure
            own[8] = 8.0 * mu * own[8] + pressure
            own[1] = own[3] = 4.0 * mu * xy
            own[5] = own[7] = 4.0 * mu * yz
            own[2] = own[6] = 4.0 * mu * zx
        # what Hᵢ works against is Σ C : Hⱼ ∫ λᵢ λⱼ dV
        for i in range(4):
            for k in range(9):
                P[i, k] = w[i, 0] * S[0, k] + w[i, 1] * S[1, k] + w[i, 2] * S[2, k] + w[i, 3] * S[3, k]
        for r in range(3):
            k = 3 * r
            pax, pay, paz, pbx, pby, pbz = P[0, k], P[0, k + 1], P[0, k + 2], P[1, k], P[1, k + 1], P[1, k + 2]
            pcx, pcy, pcz, pdx, pdy, pdz = P[2, k], P[2, k + 1], P[2, k + 2], P[3, k], P[3, k + 1], P[3, k + 2]
            mx, my, mz = 0.25 * (pax + pbx + pcx + pdx), 0.25 * (pay + pby + pcy + pdy), 0.25 * (paz + pbz + pcz + pdz)
            out[a, r] += 4.0 * ((pax - mx) * ax + (pay - my) * ay + (paz - mz) * az)
            out[b, r] += 4.0 * ((pbx - mx) * bx + (pby - my) * by + (pbz - mz) * bz)
            out[c, r] += 4.0 * ((pcx - mx) * cx + (pcy - my) * cy + (pcz - mz) * cz)
            out[d, r] += 4.0 * ((pdx - mx) * dx + (pdy - my) * dy + (pdz - mz) * dz)
            out[ab, r] += 4.0 * (pax * bx + pay * by + paz * bz + pbx * ax + pby * ay + pbz * az)
            out[ac, r] += 4.0 * (pax * cx + pay * cy + paz * cz + pcx * ax + pcy * ay + pcz * az)
            out[ad, r] += 4.0 * (pax * dx + pay * dy + paz * dz + pdx * ax + pdy * ay + pdz * az)
            out[bc, r] += 4.0 * (pbx * cx + pby * cy + pbz * cz + pcx * bx + pcy * by + pcz * bz)
            out[bd, r] += 4.0 * (pbx * dx + pby * dy + pbz * dz + pdx * bx + pdy * by + pdz * bz)
            out[cd, r] += 4.0 * (pcx * dx + pcy * dy + pcz * dz + pdx * cx + pdy * cy + pdz * cz)


@kernel(allow_fma=True)
def corner_stress_into(tets, gradients, mu, lam, u, out):
    """Writes the stress of tets at their corners, xx, yy, zz, xy, yz, zx [Pa], (m, 4, 6); see `add_elastic_forces`."""
    H = np.empty((4, 3, 3))
    for tet in range(len(tets)):
        g = gradients[tet]
        a, b, c, d, ab, ac, ad, bc, bd, cd = tets[tet]
        for r in range(3):
            ua, ub, uc, ud, uab = u[a, r], u[b, r], u[c, r], u[d, r], u[ab, r]
            uac, uad, ubc, ubd, ucd = u[ac, r], u[ad, r], u[bc, r], u[bd, r], u[cd, r]
            for s in range(3):
                mean = ua * g[0, s] + ub * g[1, s] + uc * g[2, s] + ud * g[3, s]
                H[0, r, s] = 4.0 * (ua * g[0, s] + uab * g[1, s] + uac * g[2, s] + uad * g[3, s]) - mean
                H[1, r, s] = 4.0 * (uab * g[0, s] + ub * g[1, s] + ubc * g[2, s] + ubd * g[3, s]) - mean
                H[2, r, s] = 4.0 * (uac * g[0, s] + ubc * g[1, s] + uc * g[2, s] + ucd * g[3, s]) - mean
                H[3, r, s] = 4.0 * (uad * g[0, s] + ubd * g[1, s] + ucd * g[2, s] + ud * g[3, s]) - mean
        for i in range(4):
            own, stress = H[i], out[tet, i]
            pressure = lam * (own[0, 0] + own[1, 1] + own[2, 2])
            stress[0] = 2.0 * mu * own[0, 0] + pressure
            stress[1] = 2.0 * mu * own[1, 1] + pressure
            stress[2] = 2.0 * mu * own[2, 2] + pressure
            stress[3] = mu * (own[0, 1] + own[1, 0])
            stress[4] = mu * (own[1, 2] + own[2, 1])
            stress[5] = mu * (own[2, 0] + own[0, 2])


@kernel()
def subtract_inertia(tets, shape_moments, mass, acceleration, out):
    """Takes ∫ N ρ r̈ dV of tets from the forces of their nodes [N], (n, 3).

    Args:
        tets, shape_moments: See `QuadraticMesh` and `ElementTables`.
        mass: Of the tets [kg], (m,).
        acceleration: r̈ of corners, between which it is linear [m/s²], (c, 3).
        out: Forces.
    """
    for tet in range(len(tets)):
        nodes, moments = tets[tet], shape_moments[tet]
        for r in range(3):
            x, y = mass[tet] * acceleration[nodes[0], r], mass[tet] * acceleration[nodes[1], r]
            z, w = mass[tet] * acceleration[nodes[2], r], mass[tet] * acceleration[nodes[3], r]
            for n in range(10):
                out[nodes[n], r] -= moments[n, 0] * x + moments[n, 1] * y + moments[n, 2] * z + moments[n, 3] * w


@kernel()
def add_at_nodes(tets, values, out):
    """Adds values that tets have at their first k nodes, (m, k, c), to those of the nodes, (n, c)."""
    for tet in range(len(values)):
        for at in range(values.shape[1]):
            node = tets[tet, at]
            for c in range(values.shape[2]):
                out[node, c] += values[tet, at, c]


@kernel()
def inverse_blocks_into(blocks, out):
    """Writes the inverses of symmetric blocks, (n, 3, 3)."""
    for n in range(len(blocks)):
        A, B = blocks[n], out[n]
        a, b, c, d, e, f = A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[1, 2], A[0, 2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        k = 1.0 / (a * p + d * q + f * r)
        B[0, 0], B[0, 1], B[0, 2] = k * p, k * q, k * r
        B[1, 0], B[1, 1], B[1, 2] = k * q, k * (a * c - f * f), k * (f * d - a * e)
        B[2, 0], B[2, 1], B[2, 2] = k * r, k * (f * d - a * e), k * (a * b - d * d)


@kernel()
def subtract_projections(basis, values):
    """Takes the projections on orthonormal columns, (n, 6), out of values, (n,)."""
    sums = np.zeros(6)
    for row in range(len(values)):
        for k in range(6):
            sums[k] += basis[row, k] * values[row]
    for row in range(len(values)):
        value = 0.0
        for k in range(6):
            value += basis[row, k] * sums[k]
        values[row] -= value


@kernel()
def multiply_blocks_into(blocks, values, out):
    """Writes the products of blocks, (n, 3, 3), with the values of nodes, (3 n,)."""
    for n in range(len(blocks)):
        B, x, y, z = blocks[n], values[3 * n], values[3 * n + 1], values[3 * n + 2]
        for r in range(3):
            out[3 * n + r] = B[r, 0] * x + B[r, 1] * y + B[r, 2] * z


@kernel()
def restrict_into(ends, values, out):
    """Writes Pᵀ f, (3 c,), of values at all nodes, (3 n,): those of corners, and half of those of edges at both ends.

    Args:
        ends: The corners of the edges, (n − c, 2).
        values, out: f and Pᵀ f.
    """
    count = len(values) // 3 - len(ends)
    out[:] = values[: 3 * count]
    for edge in range(len(ends)):
        for r in range(3):
            half = 0.5 * values[3 * (count + edge) + r]
            out[3 * ends[edge, 0] + r] += half
            out[3 * ends[edge, 1] + r] += half


@kernel()
def prolong_into(ends, values, out):
    """Writes P u, (3 n,), of values at corners, (3 c,): theirs, and in the middle of an edge the mean of its ends."""
    count = len(out) // 3 - len(ends)
    out[: 3 * count] = values
    for edge in range(len(ends)):
        for r in range(3):
            out[3 * (count + edge) + r] = 0.5 * (values[3 * ends[edge, 0] + r] + values[3 * ends[edge, 1] + r])
