# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies, forces and tangents of linear hyperelastic tets, and their sums per node.

A tet pass writes what a tet gives to its nodes, a row pass gathers it per node: no two threads write to the same place,
and every sum has its order. The row pass does not know what law the blocks come from.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .lane_blocks import blocks, scale, turned
from .lanes import (
    AXES,
    DECOMPOSED,
    DEFORMATION,
    GRADIENTS,
    LANES,
    MATERIAL,
    PARTS,
    RESULT,
    ROWS,
    TENSORS,
    TURNED,
    clamp,
    decompose,
    find_stress,
)

L = LANES
SCRATCH = ROWS * L
# What the tet pass leaves per tet: the forces f1, f2, f3 [N], then the blocks K11, K12, K13, K22, K23, K33 [N/m], row
# by row, (m, RECORD). Those of node 0 follow, as forces and rows of blocks have the sum zero.
RECORD = 63


@kernel(contract=True)
def hyperelastic_tets(
    begin, end, wanted, clamped, law, mu, lam, share, extension, threshold, x, tets, Dm_inverse, volume,
    s, energy, smallest, record,
):  # fmt: skip
    """Writes energy and smallest stretch of tets at node positions x [m], (n, 3), and their records where wanted.

    Args:
        begin, end: First tet and the one after the last; `begin` is a multiple of `LANES`.
        wanted: Whether `record` is written; else it may be empty.
        clamped: Whether the tangent is made positive semi-definite.
        law, mu, lam, share, extension, threshold: Of `Hyperelastic`.
        x, tets, Dm_inverse, volume: Positions [m], and of the model.
        s: Work space, (SCRATCH,).
        energy: Energies [J], (m,), out; infinite where the law has none.
        smallest: σ3, negative where inverted, (m,), out.
        record: (m, RECORD), out.
    """
    F, G, W = s[DEFORMATION * L : GRADIENTS * L], s[GRADIENTS * L : AXES * L], s[AXES * L : DECOMPOSED * L]
    D, M, C = s[DECOMPOSED * L : MATERIAL * L], s[MATERIAL * L : PARTS * L], s[PARTS * L : TENSORS * L]
    T, H, R = s[TENSORS * L : TURNED * L], s[TURNED * L : RESULT * L], s[RESULT * L : ROWS * L]
    for first in range(begin, end, L):
        count = min(L, end - first)
        load(first, count, x, tets, Dm_inverse, volume, law, mu, lam, share, F, G, M)
        decompose(F, W, D)
        find_stress(extension, threshold, D, M, C, T)
        for i in range(count):
            energy[first + i], smallest[first + i] = C[4 * L + i], D[11 * L + i]
        if wanted:
            if clamped:
                clamp(C, W, T)
            scale(M, T)
            place = 9 * L
            for a in range(0, 9 * L, 3 * L):
                turned(D, T, G[a : a + 3 * L], H[a : a + 3 * L], R[a : a + 3 * L])
            for a in range(0, 9 * L, 3 * L):
                for b in range(a, 9 * L, 3 * L):
                    blocks(D, T, H[a : a + 3 * L], H[b : b + 3 * L], R[place : place + 9 * L])
                    place += 9 * L
            for i in range(count):
                for k in range(RECORD):
                    record[first + i, k] = R[k * L + i]


@kernel(contract=True)
def load(first, count, x, tets, Dm_inverse, volume, law, mu, lam, share, F, G, M):
    """Writes F, gradients and material of `count` tets from `first` on; lanes beyond repeat the last of them."""
    for i in range(L):
        tet = first + min(i, count - 1)
        n, B = tets[tet], Dm_inverse[tet]
        p0, p1, p2, p3 = x[np.uint32(n[0])], x[np.uint32(n[1])], x[np.uint32(n[2])], x[np.uint32(n[3])]
        for r in range(3):
            a, b, c = p1[r] - p0[r], p2[r] - p0[r], p3[r] - p0[r]
            for k in range(3):
                F[(3 * r + k) * L + i] = a * B[0, k] + b * B[1, k] + c * B[2, k]
                G[(3 * r + k) * L + i] = B[r, k]
        M[i], M[L + i], M[2 * L + i] = mu[tet], lam[tet], share[tet]
        M[3 * L + i], M[4 * L + i] = volume[tet], law[tet]


@kernel(contract=True)
def gather(begin, end, wanted, row_start, corner_start, corners, corner_block, record, values, force):
    """Writes the forces on nodes [N], (n, 3), and, where wanted, the blocks of their rows of the tangent, (b, 9).

    Args:
        begin, end: First node and the one after the last.
        wanted: Whether `values` is written; else it may be empty.
        row_start, corner_start, corners, corner_block: Of the `BlockPattern`.
        record: Of `hyperelastic_tets`.
        values, force: [N/m] and [N], out.
    """
    for node in range(begin, end):
        if wanted:
            for k in range(row_start[node], row_start[node + 1]):
                values[k, :] = 0.0
        fx, fy, fz = 0.0, 0.0, 0.0
        for place in range(corner_start[node], corner_start[node + 1]):
            corner = corners[place]
            a, w = corner & np.uint32(3), record[corner >> np.uint32(2)]
            if a == 0:
                fx, fy, fz = fx - (w[0] + w[3] + w[6]), fy - (w[1] + w[4] + w[7]), fz - (w[2] + w[5] + w[8])
            else:
                b = np.uint32(3) * (a - np.uint32(1))
                fx, fy, fz = fx + w[b], fy + w[b + np.uint32(1)], fz + w[b + np.uint32(2)]
            if wanted:
                add_row(a, w, corner_block[corner], values)
        force[node, 0], force[node, 1], force[node, 2] = fx, fy, fz


@kernel(contract=True, inline=True)
def add_row(a, w, n, values):
    """Adds the blocks between node a of a tet and its four nodes, by its record w, to the places n."""
    v0, v1, v2, v3 = values[n[0]], values[n[1]], values[n[2]], values[n[3]]
    # those below the diagonal are transposed
    if a == 0:
        for m in range(3):
            for k in range(3):
                i, j = 3 * m + k, 3 * k + m
                p, q = w[9 + i] + w[18 + j] + w[27 + j], w[18 + i] + w[36 + i] + w[45 + j]
                r = w[27 + i] + w[45 + i] + w[54 + i]
                v0[i], v1[i], v2[i], v3[i] = v0[i] + (p + q + r), v1[i] - p, v2[i] - q, v3[i] - r
    elif a == 1:
        for i in range(9):
            p, q, r = w[9 + i], w[18 + i], w[27 + i]
            v0[i], v1[i], v2[i], v3[i] = v0[i] - (p + q + r), v1[i] + p, v2[i] + q, v3[i] + r
    elif a == 2:
        for m in range(3):
            for k in range(3):
                i, j = 3 * m + k, 3 * k + m
                p, q, r = w[18 + j], w[36 + i], w[45 + i]
                v0[i], v1[i], v2[i], v3[i] = v0[i] - (p + q + r), v1[i] + p, v2[i] + q, v3[i] + r
    else:
        for m in range(3):
            for k in range(3):
                i, j = 3 * m + k, 3 * k + m
                p, q, r = w[27 + j], w[45 + j], w[54 + i]
                v0[i], v1[i], v2[i], v3[i] = v0[i] - (p + q + r), v1[i] + p, v2[i] + q, v3[i] + r
