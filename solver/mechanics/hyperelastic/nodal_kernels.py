# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies, stresses and tangents of deformation gradients averaged at nodes, and what follows from them for nodes.

Stage by stage for 32 nodes at a time, as tets are (`diagonal_frame_stress_simd.py`). Tangents are written in space, as
full 9×9 matrices over F row by row. Terms along directions stay with tets (`anisotropic_terms.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg.block_pattern import UInt32s
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.simd.vec3 import vec3_axpy, vec3_load, vec3_store
from .diagonal_frame_stress_simd import (
    AXES,
    DECOMPOSED,
    DEFORMATION,
    ENERGY_TERMS,
    GRADIENTS,
    MATERIAL,
    ROTATED_GRADIENTS,
    STRESS_AND_TANGENT,
    decompose,
    eigen_axes_lanes,
    extract_indefinite,
    insert_projected,
    right_cauchy_green_lanes,
    stress_and_tangent_lanes,
)
from .force_and_tangent_simd import scale_by_volume
from .tet_kernels import ENERGY_ONLY, WITH_TANGENT

L = LANES
SCRATCH_SIZE = ROTATED_GRADIENTS * L
STRESS_NUMBERS = 9
TANGENT_NUMBERS = 81


class AverageRows(NamedTuple):
    """Rows of the model's pattern with the averages in them.

    Attributes:
        row_start, column: Of the pattern.
        place, gradient: Of `NodeAverages`.
        transposed_block: Of the `SecondRing`.
    """

    row_start: UInt32s
    column: UInt32s
    place: Indices
    gradient: Floats
    transposed_block: UInt32s


class NodalArrays(NamedTuple):
    """What the pass over k averages writes.

    Attributes:
        energy, smallest: Energy [J] and σ3 of F̄, (k,).
        stress: V P [J], (k, 9).
        tangent: V T [J], (k, 81).
    """

    energy: Floats
    smallest: Floats
    stress: Floats
    tangent: Floats


@kernel(allow_fma=True)
def hyperelastic_nodes(begin, end, wanted, clamped, nodes, volume, rows, law, x, s, out):
    """Writes energy and smallest stretch of averages at node positions x [m], and stress and tangent where wanted.

    Args:
        begin, end: First average and the one after the last; `begin` is a multiple of `LANES`.
        wanted: As for `hyperelastic_tets`.
        clamped: Whether the tangent is made positive semi-definite.
        nodes, volume: Of `NodeAverages`.
        rows: `AverageRows`.
        law: `LawArrays` of the averages.
        x: Positions [m], (n, 3).
        s: Work space, (SCRATCH_SIZE,).
        out: `NodalArrays`.
    """
    row_start, column, gradient = rows.row_start, rows.column, rows.gradient
    numbers, mu, lam, parameter, extension, threshold = law
    energy, smallest, stress, tangent = out
    F, W = s[DEFORMATION * L : GRADIENTS * L], s[AXES * L : DECOMPOSED * L]
    D, M, C = (
        s[DECOMPOSED * L : MATERIAL * L],
        s[MATERIAL * L : ENERGY_TERMS * L],
        s[ENERGY_TERMS * L : STRESS_AND_TANGENT * L],
    )
    T = s[STRESS_AND_TANGENT * L : ROTATED_GRADIENTS * L]
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(L):
            k = first + min(i, count - 1)
            write_averaged_gradient(nodes[k], i, row_start, column, gradient, x, F)
            M[i], M[L + i], M[2 * L + i], M[3 * L + i], M[4 * L + i] = (
                mu[k],
                lam[k],
                parameter[k],
                volume[k],
                numbers[k],
            )
        right_cauchy_green_lanes(F, W)
        eigen_axes_lanes(len(W) // (DECOMPOSED - AXES), W)
        decompose(F, W, D)
        stress_and_tangent_lanes(extension, threshold, D, M, C, T)
        for i in range(count):
            energy[first + i], smallest[first + i] = C[4 * L + i], D[11 * L + i]
        if wanted != ENERGY_ONLY:
            if wanted == WITH_TANGENT and clamped:
                bad = extract_indefinite(C, W, T)
                if bad > 0:
                    eigen_axes_lanes(bad, W)
                    insert_projected(bad, C, W, T)
            scale_by_volume(M, T)
            for i in range(count):
                rotate_stress_to_space(i, D, T, stress[first + i])
            for i in range(count if wanted == WITH_TANGENT else 0):
                rotate_tangent_to_space(i, D, T, tangent[first + i])


@kernel(allow_fma=True, device_only=True)
def write_averaged_gradient(node, i, row_start, column, gradient, x, F):
    """Writes F̄ of a node into lane i."""
    a, b, c, d, e, f, g, h, k = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    here = x[node]
    for m in range(row_start[node], row_start[node + 1]):
        G, there = gradient[m], x[column[m]]
        u, v, w = there[0] - here[0], there[1] - here[1], there[2] - here[2]
        a, b, c = a + u * G[0], b + u * G[1], c + u * G[2]
        d, e, f = d + v * G[0], e + v * G[1], f + v * G[2]
        g, h, k = g + w * G[0], h + w * G[1], k + w * G[2]
    F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i] = a, b, c, d, e
    F[5 * L + i], F[6 * L + i], F[7 * L + i], F[8 * L + i] = f, g, h, k


@kernel(allow_fma=True, device_only=True)
def rotate_stress_to_space(i, D, T, stress):
    """Writes P = Σ_p p_p u_p ⊗ v_p of lane i, (9,)."""
    for r in range(9):
        j, l = r // 3, r % 3  # noqa: E741
        total = 0.0
        for p in range(3):
            total += T[p * L + i] * D[(3 * j + p) * L + i] * D[(12 + 3 * l + p) * L + i]
        stress[r] = total


@kernel(allow_fma=True, device_only=True)
def rotate_tangent_to_space(i, D, T, tangent):
    """Writes T over all u_p ⊗ v_q of lane i, (81,)."""
    tangent[:] = 0.0
    for p in range(3):
        for q in range(3):
            # what u_p ⊗ v_q meets: the row of A, or α and β of the pair
            pair = 0 if p + q == 1 else (1 if p + q == 3 else 2)
            for c in range(9):
                j, l = c // 3, c % 3  # noqa: E741
                w = 0.0
                if p == q:
                    for m in range(3):
                        # A_pm lie as 11, 22, 33, 12, 23, 31
                        entry = 3 + p if m == p else (6 if p + m == 1 else (7 if p + m == 3 else 8))
                        w += T[entry * L + i] * D[(3 * j + m) * L + i] * D[(12 + 3 * l + m) * L + i]
                else:
                    w = (
                        T[(9 + pair) * L + i] * D[(3 * j + p) * L + i] * D[(12 + 3 * l + q) * L + i]
                        + T[(12 + pair) * L + i] * D[(3 * j + q) * L + i] * D[(12 + 3 * l + p) * L + i]
                    )
                for r in range(9):
                    tangent[9 * r + c] += w * D[(3 * (r // 3) + p) * L + i] * D[(12 + 3 * (r % 3) + q) * L + i]


@kernel(allow_fma=True)
def add_node_forces(begin, end, rows, stress, force):
    """Adds −Σ_a V_a P_a g_ab to the forces on the nodes b from `begin` to `end` [N], (n, 3)."""
    row_start, column, place, gradient, mirror = rows
    for node in range(begin, end):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(row_start[node], row_start[node + 1]):
            a = place[column[k]]
            if a >= 0:
                G, P = gradient[mirror[k]], stress[a]
                x -= P[0] * G[0] + P[1] * G[1] + P[2] * G[2]
                y -= P[3] * G[0] + P[4] * G[1] + P[5] * G[2]
                z -= P[6] * G[0] + P[7] * G[1] + P[8] * G[2]
        force[node, 0], force[node, 1], force[node, 2] = force[node, 0] + x, force[node, 1] + y, force[node, 2] + z


@kernel(allow_fma=True)
def add_nodal_tangent(begin, end, rows, tangent, values, wide_start, wide_column, position, wide):
    """Writes rows `begin` to `end` of the whole tangent, (w, 9): tets' blocks and Σ_a V_a G_abᵀ T_a G_ac.

    `position` is work space, (n,); `values` the tets' blocks, (b, 9); `wide_…` the pattern of neighbours' neighbours.
    """
    row_start, column, place, gradient, mirror = rows
    C = np.empty((3, 9))
    for node in range(begin, end):
        for k in range(wide_start[node], wide_start[node + 1]):
            position[wide_column[k]] = k
            wide[k] = 0.0
        for k in range(row_start[node], row_start[node + 1]):
            wide[position[column[k]]] = values[k]
        for k in range(row_start[node], row_start[node + 1]):
            other = column[k]
            if place[other] < 0:
                continue
            G, T = gradient[mirror[k]], tangent[place[other]]
            # C[l, 3 i + j] = Σ_m T[i m, j l] g[m]
            for i in range(3):
                for j in range(3):
                    for l in range(3):  # noqa: E741
                        t = 27 * i + 3 * j + l
                        C[l, 3 * i + j] = T[t] * G[0] + T[t + 9] * G[1] + T[t + 18] * G[2]
            a, b, c = vec3_load(C, 0), vec3_load(C, 9), vec3_load(C, 18)
            d, e, f = vec3_load(C, 3), vec3_load(C, 12), vec3_load(C, 21)
            p, q, r = vec3_load(C, 6), vec3_load(C, 15), vec3_load(C, 24)
            for m in range(row_start[other], row_start[other + 1]):
                g, out = gradient[m], 9 * position[column[m]]
                u, v, w = g[0], g[1], g[2]
                row = vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(wide, out), u, a), v, b), w, c)
                vec3_store(wide, out, row)
                row = vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(wide, out + 3), u, d), v, e), w, f)
                vec3_store(wide, out + 3, row)
                row = vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(wide, out + 6), u, p), v, q), w, r)
                vec3_store(wide, out + 6, row)
