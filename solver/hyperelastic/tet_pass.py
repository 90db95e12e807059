# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies, forces and tangents of linear hyperelastic tets, each for itself; `edge_pass.py` adds them up."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..linear.threes import store, three
from .lane_blocks import blocks, blocks_of_first, scale, turned
from .lanes import (
    AXES,
    DECOMPOSED,
    DEFORMATION,
    GRADIENTS,
    LANES,
    MATERIAL,
    OWN,
    PARTS,
    RESULT,
    ROWS,
    TENSORS,
    TURNED,
    decompose,
    find_axes,
    find_stress,
    put_back,
    set_apart,
    square,
)

L = LANES
SCRATCH = ROWS * L
# What the tet pass leaves per tet: the forces f1, f2, f3 [N], then the blocks K01, K02, K03, K12, K13, K23 [N/m], row
# by row, (m, RECORD). All else follows, as forces and rows of blocks have the sum zero.
RECORD, BLOCKS = 63, 9  # numbers, and where the blocks begin
# What is wanted of the tet pass beside energies and stretches.
NOTHING, FORCES, TANGENT = 0, 1, 2


@kernel(contract=True)
def hyperelastic_tets(
    begin, end, wanted, clamped, law, mu, lam, share, extension, threshold, x, tets, Dm_inverse, volume,
    s, energy, smallest, record,
):  # fmt: skip
    """Writes energy and smallest stretch of tets at node positions x [m], (n, 3), and their records where wanted.

    Args:
        begin, end: First tet and the one after the last; `begin` is a multiple of `LANES`.
        wanted: TANGENT: the whole `record` is written; FORCES: only those; NOTHING: it may be empty.
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
    T, H = s[TENSORS * L : TURNED * L], s[TURNED * L : RESULT * L]
    R, S = s[RESULT * L : OWN * L], s[OWN * L : ROWS * L]
    for first in range(begin, end, L):
        count = min(L, end - first)
        load(first, count, x, tets, Dm_inverse, volume, law, mu, lam, share, F, G, M)
        square(F, W)
        find_axes(len(W) // (DECOMPOSED - AXES), W)
        decompose(F, W, D)
        find_stress(extension, threshold, D, M, C, T)
        for i in range(count):
            energy[first + i], smallest[first + i] = C[4 * L + i], D[11 * L + i]
        if wanted == NOTHING:
            continue
        if wanted == TANGENT and clamped:
            bad = set_apart(C, W, T)
            if bad > 0:
                find_axes(bad, W)
                put_back(bad, C, W, T)
        scale(M, T)
        for a in range(0, 9 * L, 3 * L):
            turned(D, T, G[a : a + 3 * L], H[a : a + 3 * L], R[a : a + 3 * L])
        if wanted == TANGENT:
            # K11, K22, K33 into S, K12, K13, K23 behind the place of the first three
            place = 36 * L
            for a in range(0, 9 * L, 3 * L):
                blocks(D, T, H[a : a + 3 * L], H[a : a + 3 * L], S[3 * a : 3 * a + 9 * L])
                for b in range(a + 3 * L, 9 * L, 3 * L):
                    blocks(D, T, H[a : a + 3 * L], H[b : b + 3 * L], R[place : place + 9 * L])
                    place += 9 * L
            blocks_of_first(S, R[36 * L :], R[9 * L : 36 * L])
        # three numbers at a time: of single ones LLVM makes scattered stores, which take seven times as long
        for i in range(count):
            place = RECORD * (first + i)
            for k in range(0, (RECORD if wanted == TANGENT else BLOCKS) * L, 3 * L):
                store(record, place, three(R[k + i], R[k + L + i], R[k + 2 * L + i]))
                place += 3


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
