# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies, forces and tangents of linear hyperelastic tets, each for itself; `edge_assembly.py` adds them up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.simd.vec3 import vec3, vec3_store
from .diagonal_frame_stress_simd import (
    AXES,
    DECOMPOSED,
    DEFORMATION,
    ENERGY_TERMS,
    GRADIENTS,
    LANE_ROWS,
    MATERIAL,
    NODE_BLOCKS,
    RESULT,
    ROTATED_GRADIENTS,
    STRESS_AND_TANGENT,
    decompose,
    eigen_axes_lanes,
    extract_indefinite,
    insert_projected,
    right_cauchy_green_lanes,
    stress_and_tangent_lanes,
)
from .force_and_tangent_simd import first_corner_blocks, gradient_forces, scale_by_volume, tangent_blocks

L = LANES
SCRATCH_SIZE = LANE_ROWS * L
# What the tet pass leaves per tet: the forces f1, f2, f3 [N], then the blocks K01, K02, K03, K12, K13, K23 [N/m], row
# by row, (m, RECORD_LENGTH). All else follows, as forces and rows of blocks have the sum zero.
RECORD_LENGTH, BLOCKS_OFFSET = 63, 9  # numbers, and where the blocks begin
# What is wanted of the tet pass beside energies and stretches.
ENERGY_ONLY, WITH_FORCES, WITH_TANGENT = 0, 1, 2


class LawArrays(NamedTuple):
    """Those of `Hyperelastic`, of tets or of averages at nodes."""

    law: np.ndarray
    mu: Floats
    lam: Floats
    parameter: Floats
    extension: int
    threshold: float


class RestShapes(NamedTuple):
    """The tets of a model at rest."""

    tets: Indices
    Dm_inverse: Floats
    volume: Floats


@kernel(allow_fma=True)
def hyperelastic_tets(begin, end, wanted, clamped, law, x, rest, s, energy, smallest, record):
    """Writes energy and smallest stretch of tets at node positions x [m], (n, 3), and their records where wanted.

    Args:
        begin, end: First tet and the one after the last; `begin` is a multiple of `LANES`.
        wanted: WITH_TANGENT: the whole `record` is written; WITH_FORCES: only those; ENERGY_ONLY: it may be empty.
        clamped: Whether the tangent is made positive semi-definite.
        law: `LawArrays`.
        x: Positions [m], (n, 3).
        rest: `RestShapes`.
        s: Work space, (SCRATCH_SIZE,).
        energy: Energies [J], (m,), out; infinite where the law has none.
        smallest: σ3, negative where inverted, (m,), out.
        record: (m, RECORD_LENGTH), out.
    """
    F, G, W = s[DEFORMATION * L : GRADIENTS * L], s[GRADIENTS * L : AXES * L], s[AXES * L : DECOMPOSED * L]
    D, M, C = (
        s[DECOMPOSED * L : MATERIAL * L],
        s[MATERIAL * L : ENERGY_TERMS * L],
        s[ENERGY_TERMS * L : STRESS_AND_TANGENT * L],
    )
    T, H = s[STRESS_AND_TANGENT * L : ROTATED_GRADIENTS * L], s[ROTATED_GRADIENTS * L : RESULT * L]
    R, S = s[RESULT * L : NODE_BLOCKS * L], s[NODE_BLOCKS * L : LANE_ROWS * L]
    for first in range(begin, end, L):
        count = min(L, end - first)
        load_lanes(first, count, law, x, rest, F, G, M)
        right_cauchy_green_lanes(F, W)
        eigen_axes_lanes(len(W) // (DECOMPOSED - AXES), W)
        decompose(F, W, D)
        stress_and_tangent_lanes(law.extension, law.threshold, D, M, C, T)
        for i in range(count):
            energy[first + i], smallest[first + i] = C[4 * L + i], D[11 * L + i]
        if wanted == ENERGY_ONLY:
            continue
        if wanted == WITH_TANGENT and clamped:
            bad = extract_indefinite(C, W, T)
            if bad > 0:
                eigen_axes_lanes(bad, W)
                insert_projected(bad, C, W, T)
        scale_by_volume(M, T)
        for a in range(0, 9 * L, 3 * L):
            gradient_forces(D, T, G[a : a + 3 * L], H[a : a + 3 * L], R[a : a + 3 * L])
        if wanted == WITH_TANGENT:
            # K11, K22, K33 into S, K12, K13, K23 behind the place of the first three
            place = 36 * L
            for a in range(0, 9 * L, 3 * L):
                tangent_blocks(D, T, H[a : a + 3 * L], H[a : a + 3 * L], S[3 * a : 3 * a + 9 * L])
                for b in range(a + 3 * L, 9 * L, 3 * L):
                    tangent_blocks(D, T, H[a : a + 3 * L], H[b : b + 3 * L], R[place : place + 9 * L])
                    place += 9 * L
            first_corner_blocks(S, R[36 * L :], R[9 * L : 36 * L])
        # three numbers at a time: of single ones LLVM makes scattered stores, which take seven times as long
        for i in range(count):
            place = RECORD_LENGTH * (first + i)
            for k in range(0, (RECORD_LENGTH if wanted == WITH_TANGENT else BLOCKS_OFFSET) * L, 3 * L):
                vec3_store(record, place, vec3(R[k + i], R[k + L + i], R[k + 2 * L + i]))
                place += 3


@kernel(allow_fma=True, device_only=True)
def load_lanes(first, count, law, x, rest, F, G, M):
    """Writes F, gradients and material of `count` tets from `first` on; lanes beyond repeat the last of them."""
    numbers, mu, lam, parameter, _, _ = law
    tets, Dm_inverse, volume = rest
    for i in range(L):
        tet = first + min(i, count - 1)
        n, B = tets[tet], Dm_inverse[tet]
        p0, p1, p2, p3 = x[np.uint32(n[0])], x[np.uint32(n[1])], x[np.uint32(n[2])], x[np.uint32(n[3])]
        for r in range(3):
            a, b, c = p1[r] - p0[r], p2[r] - p0[r], p3[r] - p0[r]
            for k in range(3):
                F[(3 * r + k) * L + i] = a * B[0, k] + b * B[1, k] + c * B[2, k]
                G[(3 * r + k) * L + i] = B[r, k]
        M[i], M[L + i], M[2 * L + i] = mu[tet], lam[tet], parameter[tet]
        M[3 * L + i], M[4 * L + i] = volume[tet], numbers[tet]
