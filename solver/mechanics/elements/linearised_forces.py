# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds the linear term K v to the elastic forces in element records, where a step is linearised away from its start.

Where a step is linearised at a position x_k to which the velocities v_k lead, the forces at its end are

    f(x⁺) ≈ f(x_k) + Δt K_k v_k − Δt K_k v⁺,

K_k with the rotations at x_k. For a tet, with D = Σ v_b (R g_b)ᵀ over its nodes, K v at node a is
V [λ tr(D) + μ (D + Dᵀ)] R g_a, and s h_a Σ h_b·v_b of a pressure by volume.

Source: the blocks of `edge_assembly.py`, multiplied with v.
"""

from __future__ import annotations

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero
from ...runtime.threads.thread_pool import run_ranges
from .record_layout import (
    BULK_STIFFNESS,
    FORCE,
    MAX_RECORD_LENGTH,
    ROTATED_GRADIENTS,
    V_LAMBDA,
    V_MU,
    VOLUME_GRADIENTS,
)

TETS_PER_CHUNK = 2048  # tets that a thread works on


def add_linear_forces(factor: float, v: Floats, tets: Indices, records: Floats) -> None:
    """Adds `factor` · K v to the forces in the records of tets.

    Args:
        factor: Such as Δt [s].
        v: Velocities of nodes [m/s], (n, 3).
        tets: (m, 4).
        records: Records, (m, …), in and out.
    """

    def work(begin: int, end: int) -> None:
        add_linear_force_range(begin, end, factor, v, tets, records)

    run_ranges(0, len(tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def add_linear_force_range(begin, end, factor, v, tets, records):
    """Adds to the records of the tets from `begin` to `end`; see `add_linear_forces`."""
    length = records.shape[1]
    for tet in range(begin, end):
        w = length * tet
        # the rows of D + Dᵀ
        first, second, third = vec3_zero(), vec3_zero(), vec3_zero()
        for b in range(4):
            speed, g = vec3_load(v, 3 * tets[tet, b]), vec3_load(records, w + ROTATED_GRADIENTS + 3 * b)
            (vx, vy, vz), (gx, gy, gz) = vec3_unpack(speed), vec3_unpack(g)
            first = vec3_axpy(vec3_axpy(first, vx, g), gx, speed)
            second = vec3_axpy(vec3_axpy(second, vy, g), gy, speed)
            third = vec3_axpy(vec3_axpy(third, vz, g), gz, speed)
        (xx, _, _), (_, yy, _), (_, _, zz) = vec3_unpack(first), vec3_unpack(second), vec3_unpack(third)
        k, even = factor * records[tet, V_MU], 0.5 * factor * records[tet, V_LAMBDA] * (xx + yy + zz)
        for a in range(1, 4):
            g = vec3_load(records, w + ROTATED_GRADIENTS + 3 * a)
            along = vec3(
                vec3_sum(vec3_fma(vec3_zero(), first, g)),
                vec3_sum(vec3_fma(vec3_zero(), second, g)),
                vec3_sum(vec3_fma(vec3_zero(), third, g)),
            )
            place = w + FORCE + 3 * a - 3
            vec3_store(records, place, vec3_axpy(vec3_axpy(vec3_load(records, place), k, along), even, g))
        if length >= MAX_RECORD_LENGTH and records[tet, BULK_STIFFNESS] > 0.0:  # else its record says nothing of h
            swelling = 0.0
            for b in range(4):
                h = vec3_load(records, w + VOLUME_GRADIENTS + 3 * b)
                swelling += vec3_sum(vec3_fma(vec3_zero(), h, vec3_load(v, 3 * tets[tet, b])))
            for a in range(1, 4):
                place, h = w + FORCE + 3 * a - 3, vec3_load(records, w + VOLUME_GRADIENTS + 3 * a)
                vec3_store(
                    records,
                    place,
                    vec3_axpy(vec3_load(records, place), factor * records[tet, BULK_STIFFNESS] * swelling, h),
                )
