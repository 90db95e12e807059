# SPDX-License-Identifier: GPL-3.0-or-later
"""Element records and linear elastic energy of fine tets of hierarchical bodies, in the frames of their coarse tets.

With D = F_t − F, F the mean of the coarse tet, and ε = sym(Rᵀ D), the stress of a fine tet is

    P_t = P_Green(F) + R (2μ ε + λ tr(ε) I)

whose second part has the mean zero over the coarse tet.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES as L
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_load, vec3_store
from ...runtime.threads.thread_pool import run_ranges
from ..elements.corotational_element import (
    SCRATCH_SIZE,
    dot,
    lane_vec3,
    multiply_columns,
    sum_of_dots,
    write_deformation_gradient,
    write_record_lanes,
)
from ..elements.nearest_rotation import nearest_rotation
from ..elements.record_layout import FORCE, ElementArrays

TETS_PER_CHUNK = 2048  # fine tets that a thread works on


@kernel()
def nearest_rotations(F, R):
    """Writes the rotations nearest to matrices, (M, 3, 3)."""
    for tet in range(len(F)):
        A, out = F[tet], R[tet]
        (
            out[0, 0],
            out[0, 1],
            out[0, 2],
            out[1, 0],
            out[1, 1],
            out[1, 2],
            out[2, 0],
            out[2, 1],
            out[2, 2],
        ) = nearest_rotation(A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2])


def write_fine_records(
    per: int, x: Floats, elements: ElementArrays, R: Floats, excess: Floats, whole: Floats, records: Floats
) -> None:
    """Writes the records of fine tets, (m, …).

    Args:
        per: How many there are per coarse tet.
        x: Node positions [m], (n, 3).
        elements: The fine tets, without an initial strain.
        R: Rotations of coarse tets, (M, 3, 3).
        excess: V (P_Green(F) − P_linear(F)) of coarse tets [J], (M, 3, 3).
        whole: Volumes of coarse tets [m³], (M,).
        records: Out.
    """

    def work(begin: int, end: int) -> None:
        write_fine_record_range(begin, end, per, x, elements, R, excess, whole, records)

    run_ranges(0, len(elements.tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def write_fine_record_range(begin, end, per, x, elements, R, excess, whole, records):
    """Writes the records of the fine tets from `begin` to `end`; see `write_fine_records`."""
    Dm_inverse, volume = elements.Dm_inverse, elements.volume
    F, turn, work = np.zeros(9 * L), np.zeros(9 * L), np.zeros(SCRATCH_SIZE)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, elements.tets, Dm_inverse, F, i)
            for row in range(3):
                for column in range(3):
                    turn[(3 * column + row) * L + i] = R[(first + i) // per, row, column]
        write_record_lanes(first, count, F, turn, F, work, elements, records)
    for tet in range(begin, end):
        coarse = tet // per
        A, V, w = excess[coarse], -volume[tet] / whole[coarse], records.shape[1] * tet + FORCE
        s = vec3(V * A[0, 0], V * A[1, 0], V * A[2, 0])
        t = vec3(V * A[0, 1], V * A[1, 1], V * A[2, 1])
        u = vec3(V * A[0, 2], V * A[1, 2], V * A[2, 2])
        g, h, i = vec3_load(Dm_inverse, 9 * tet), vec3_load(Dm_inverse, 9 * tet + 3), vec3_load(Dm_inverse, 9 * tet + 6)
        vec3_store(records, w, vec3_axpy(vec3_load(records, w), 1.0, multiply_columns(s, t, u, g)))
        vec3_store(records, w + 3, vec3_axpy(vec3_load(records, w + 3), 1.0, multiply_columns(s, t, u, h)))
        vec3_store(records, w + 6, vec3_axpy(vec3_load(records, w + 6), 1.0, multiply_columns(s, t, u, i)))


@kernel(allow_fma=True)
def sum_fine_energies(per, x, tets, Dm_inverse, volume, mu, lam, R, mean, energy):
    """Writes Σ V_t ψ(F_t − F; R) of the fine tets of every coarse one [J], (M,); `mean` is F, (M, 3, 3)."""
    F, turn = np.zeros(9 * L), np.zeros(9 * L)
    for coarse in range(len(energy)):
        for row in range(3):
            for column in range(3):
                turn[(3 * column + row) * L] = R[coarse, row, column]
        A, B, C = lane_vec3(turn, 0), lane_vec3(turn, 3 * L), lane_vec3(turn, 6 * L)
        total = 0.0
        for tet in range(per * coarse, per * (coarse + 1)):
            write_deformation_gradient(tet, x, tets, Dm_inverse, F, 0)
            for row in range(3):
                for column in range(3):
                    F[(3 * column + row) * L] -= mean[coarse, row, column]
            a, b, c = lane_vec3(F, 0), lane_vec3(F, 3 * L), lane_vec3(F, 6 * L)
            xx, yy, zz = dot(A, a), dot(B, b), dot(C, c)
            xy, yz, zx = sum_of_dots(A, b, B, a), sum_of_dots(B, c, C, b), sum_of_dots(C, a, A, c)  # twice the strain
            square = xx * xx + yy * yy + zz * zz + 0.5 * (xy * xy + yz * yz + zx * zx)
            total += volume[tet] * (mu[tet] * square + 0.5 * lam[tet] * (xx + yy + zz) ** 2)
        energy[coarse] = total
