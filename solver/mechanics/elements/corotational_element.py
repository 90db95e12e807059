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

Here every tet is worked on for itself; `edge_assembly.py` sums up.

Source: Müller and Gross 2004, section 2.3; blocks from the gradients by own derivation, see tests.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.simd.vec3 import (
    block3_load,
    vec3,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_yzx,
    vec3_zero,
    vec4_store,
)
from ...runtime.threads.thread_count import thread_count
from ...runtime.threads.worker_team import await_wakeup, claim, is_finished, join, publish, report_done, worker_team
from .nearest_rotation_simd import nearest_rotation_lanes
from .record_layout import (
    BULK_DAMPING,
    BULK_STIFFNESS,
    DAMPED_LENGTH,
    DAMPING_LAMBDA,
    DAMPING_MU,
    DEFORMED_GRADIENTS,
    FORCE,
    LEFT_CAUCHY_GREEN,
    MAX_RECORD_LENGTH,
    ROTATED_GRADIENTS,
    V_LAMBDA,
    V_MU,
    ElementArrays,
)

__all__ = ["MAX_RECORD_LENGTH", "compute_corotational_records"]

L = LANES
SCRATCH_SIZE = 17 * L  # numbers that `write_record_lanes` works with

PREFETCH_TETS = 64  # tets whose Dm⁻¹ memory is asked for ahead of its use
TETS_PER_CHUNK = 2048  # tets that a thread works on,
MIN_TETS_PER_CHUNK, CHUNK_COUNT = 256, 32  # and of few tets the least, in so many parts


def compute_corotational_records(x: Floats, elements: ElementArrays, records: Floats) -> None:
    """Writes the records `records` of tets, (m, …), at node positions x [m], (n, 3)."""
    tets = elements.tets
    at_once = min(TETS_PER_CHUNK, max(MIN_TETS_PER_CHUNK, len(tets) // CHUNK_COUNT // LANES * LANES))
    given = (at_once, x, elements, records)
    threads = min(thread_count(), len(tets) // at_once)
    with worker_team(threads, lambda team, is_leader: compute_records_in_team(is_leader, team, *given)) as team:
        compute_records_in_team(True, team, *given)


@kernel()
def compute_records_in_team(is_leader, team, at_once, x, elements, records):
    """Shares in writing the records of all tets, `at_once` at a time; see `compute_corotational_records`."""
    tets = elements.tets
    if is_leader:
        publish(team, (len(tets) + at_once - 1) // at_once)
    while True:
        part, done = claim(team, is_leader), 0
        while part >= 0:
            F, R, state, work = np.zeros(9 * L), np.empty(9 * L), np.empty(2 * L), np.zeros(SCRATCH_SIZE)
            end = min((part + 1) * at_once, len(tets))
            for first in range(part * at_once, end, L):
                count = min(L, end - first)
                for i in range(count):
                    write_deformation_gradient(first + i, x, tets, elements.Dm_inverse, F, i)
                nearest_rotation_lanes(count, F, R, state)
                write_record_lanes(first, count, F, R, F, work, elements, records)
            part, done = claim(team, is_leader), done + 1
        if is_leader:
            join(team, done)
            break
        report_done(team, done)
        if is_finished(team):
            await_wakeup(team)
            break


@kernel(allow_fma=True, inline=True, device_only=True)
def write_deformation_gradient(tet, x, tets, Dm_inverse, F, lane):
    """Writes F, column by column, into a lane."""
    origin, p = vec3_load(x, 3 * tets[tet, 0]), vec3_load(x, 3 * tets[tet, 1])
    q, r = vec3_load(x, 3 * tets[tet, 2]), vec3_load(x, 3 * tets[tet, 3])
    p, q, r = vec3_axpy(p, -1.0, origin), vec3_axpy(q, -1.0, origin), vec3_axpy(r, -1.0, origin)
    g, h, k = block3_load(Dm_inverse, tet, PREFETCH_TETS)
    (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = vec3_unpack(g), vec3_unpack(h), vec3_unpack(k)
    F[lane], F[L + lane], F[2 * L + lane] = vec3_unpack(combine_three(x1, p, x2, q, x3, r))
    F[3 * L + lane], F[4 * L + lane], F[5 * L + lane] = vec3_unpack(combine_three(y1, p, y2, q, y3, r))
    F[6 * L + lane], F[7 * L + lane], F[8 * L + lane] = vec3_unpack(combine_three(z1, p, z2, q, z3, r))


@kernel(allow_fma=True, device_only=True)
def write_record_lanes(first, count, F, R, A, work, elements, records):
    """Writes the records of tets from number `first` on, as many as `count`, of which F and R are in lanes.

    `A` is what damping stretches by, which is F; `work` is work space, (SCRATCH_SIZE,), of numbers of any size.
    """
    _, Dm_inverse, volume, mu, lam, damping, initial_strain = elements
    for i in range(count):
        work[9 * L + i], work[10 * L + i] = volume[first + i] * lam[first + i], volume[first + i] * mu[first + i]
    if len(initial_strain) > 0:
        for i in range(count):
            for k in range(6):
                work[(11 + k) * L + i] = initial_strain[first + i, k]
    stress_lanes(F, R, work)
    length = records.shape[1]
    for i in range(count):
        tet = first + i
        w = length * tet  # where its record begins
        g, h, k = vec3_load(Dm_inverse, 9 * tet), vec3_load(Dm_inverse, 9 * tet + 3), vec3_load(Dm_inverse, 9 * tet + 6)
        a, b, c = lane_vec3(R, i), lane_vec3(R, 3 * L + i), lane_vec3(R, 6 * L + i)
        store_nodal(
            records,
            w + ROTATED_GRADIENTS,
            multiply_columns(a, b, c, g),
            multiply_columns(a, b, c, h),
            multiply_columns(a, b, c, k),
        )
        a, b, c = lane_vec3(work, i), lane_vec3(work, 3 * L + i), lane_vec3(work, 6 * L + i)
        vec4_store(records, w + FORCE, multiply_columns(a, b, c, g))
        vec4_store(records, w + FORCE + 3, multiply_columns(a, b, c, h))
        vec3_store(records, w + FORCE + 6, multiply_columns(a, b, c, k))
        records[tet, V_LAMBDA], records[tet, V_MU] = work[9 * L + i], work[10 * L + i]
    if length >= DAMPED_LENGTH:
        for i in range(count):
            tet = first + i
            w = length * tet
            g, h, k = (
                vec3_load(Dm_inverse, 9 * tet),
                vec3_load(Dm_inverse, 9 * tet + 3),
                vec3_load(Dm_inverse, 9 * tet + 6),
            )
            a, b, c = lane_vec3(A, i), lane_vec3(A, 3 * L + i), lane_vec3(A, 6 * L + i)
            store_nodal(
                records,
                w + DEFORMED_GRADIENTS,
                multiply_columns(a, b, c, g),
                multiply_columns(a, b, c, h),
                multiply_columns(a, b, c, k),
            )
            along = vec3_fma(vec3_fma(vec3_fma(vec3_zero(), a, a), b, b), c, c)
            across = vec3_fma(vec3_fma(vec3_zero(), a, vec3_yzx(a)), b, vec3_yzx(b))
            vec3_store(records, w + LEFT_CAUCHY_GREEN, along)
            vec3_store(records, w + LEFT_CAUCHY_GREEN + 3, vec3_fma(across, c, vec3_yzx(c)))
            ease = max(1.0, vec3_sum(along) / 3.0)
            beta = damping[tet] / (ease * ease)
            records[tet, DAMPING_LAMBDA], records[tet, DAMPING_MU] = beta * work[9 * L + i], beta * work[10 * L + i]
    if length >= MAX_RECORD_LENGTH:
        for tet in range(first, first + count):
            records[tet, BULK_STIFFNESS], records[tet, BULK_DAMPING] = 0.0, 0.0


@kernel(allow_fma=True, device_only=True)
def stress_lanes(F, R, work):
    """Writes −V R σ into `work`, column by column, behind which there are V λ, V μ and ε0 of every lane."""
    for i in range(L):
        a, b, c, d, e, f = R[i], R[L + i], R[2 * L + i], R[3 * L + i], R[4 * L + i], R[5 * L + i]
        g, h, j = R[6 * L + i], R[7 * L + i], R[8 * L + i]
        p, q, r, s, t, u = F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i]
        v, w, o = F[6 * L + i], F[7 * L + i], F[8 * L + i]
        k, m = work[9 * L + i], -2.0 * work[10 * L + i]
        xx = a * p + b * q + c * r - 1.0 - work[11 * L + i]
        yy = d * s + e * t + f * u - 1.0 - work[12 * L + i]
        zz = g * v + h * w + j * o - 1.0 - work[13 * L + i]
        xy = m * (0.5 * (a * s + b * t + c * u + d * p + e * q + f * r) - work[14 * L + i])
        yz = m * (0.5 * (d * v + e * w + f * o + g * s + h * t + j * u) - work[15 * L + i])
        zx = m * (0.5 * (g * p + h * q + j * r + a * v + b * w + c * o) - work[16 * L + i])
        k *= xx + yy + zz
        xx, yy, zz = m * xx - k, m * yy - k, m * zz - k
        work[i], work[L + i], work[2 * L + i] = (
            a * xx + d * xy + g * zx, b * xx + e * xy + h * zx, c * xx + f * xy + j * zx,
        )  # fmt: skip
        work[3 * L + i], work[4 * L + i], work[5 * L + i] = (
            a * xy + d * yy + g * yz, b * xy + e * yy + h * yz, c * xy + f * yy + j * yz,
        )  # fmt: skip
        work[6 * L + i], work[7 * L + i], work[8 * L + i] = (
            a * zx + d * yz + g * zz, b * zx + e * yz + h * zz, c * zx + f * yz + j * zz,
        )  # fmt: skip


@kernel(inline=True, device_only=True)
def lane_vec3(lanes, place):
    """Returns three numbers of a lane from a place on."""
    return vec3(lanes[place], lanes[place + L], lanes[place + 2 * L])


@kernel(allow_fma=True, inline=True, device_only=True)
def combine_three(k, u, m, v, n, w):
    """Returns k u + m v + n w."""
    return vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), k, u), m, v), n, w)


@kernel(allow_fma=True, inline=True, device_only=True)
def multiply_columns(a, b, c, v):
    """Returns M v for the columns a, b, c of M."""
    x, y, z = vec3_unpack(v)
    return vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), x, a), y, b), z, c)


@kernel(allow_fma=True, inline=True)
def dot(v, w):
    """Returns v · w."""
    return vec3_sum(vec3_fma(vec3_zero(), v, w))


@kernel(allow_fma=True, inline=True, device_only=True)
def sum_of_dots(v, w, u, t):
    """Returns v · w + u · t."""
    return vec3_sum(vec3_fma(vec3_fma(vec3_zero(), v, w), u, t))


@kernel(allow_fma=True, inline=True, device_only=True)
def store_nodal(array, place, first, second, third):
    """Writes what belongs to the four nodes of a tet, whose sum is zero, for that of the last three."""
    # each but the last writes a zero to where the next begins
    vec4_store(array, place, vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), -1.0, first), -1.0, second), -1.0, third))
    vec4_store(array, place + 3, first)
    vec4_store(array, place + 6, second)
    vec3_store(array, place + 9, third)
