# SPDX-License-Identifier: GPL-3.0-or-later
"""Element records by QR rotations R: with the present gradients, or with those at rest rotated by R.

Turned by R, forces and blocks are those of `corotational_element.py`. They make a torque wherever R is not the rotation
nearest to F. The present gradients do not, whatever R is: with the stress R σ Rᵀ in space node a feels

    f_a = −V R σ Rᵀ b_a,    K_ab = V [λ b_a b_bᵀ + μ (b_b b_aᵀ + (b_a·b_b) I)],    b_a = cof(F) g_a

where σ is of the strain that `formulation_strain.py` says. b_a are the gradients of the shape functions over the
present tet times its volume over that at rest; so σ acts on the present areas, and a flat tet has them without a
division. Damping is β K, by the rate of the present strain, which no rigid motion excites; β is divided by (‖F‖² / 3)²
where the tet is stretched, as in `corotational_element.py`.

Source: Nesme, Payan and Faure 2005, sections 2.3 and 3.1.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.simd.vec3 import vec3, vec3_add_cross, vec3_load, vec3_store, vec3_unpack, vec3_zero, vec4_store
from ...runtime.threads.thread_pool import run_ranges
from .corotational_element import (
    SCRATCH_SIZE,
    TETS_PER_CHUNK,
    dot,
    lane_vec3,
    multiply_columns,
    store_nodal,
    sum_of_dots,
    write_deformation_gradient,
    write_record_lanes,
)
from .qr_rotation import qr_rotation_lanes
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

L = LANES


def compute_qr_records(is_present: bool, x: Floats, elements: ElementArrays, records: Floats) -> None:
    """Writes the records `records` of tets, (m, …), at node positions x [m], (n, 3).

    `is_present` says whether gradients are the present ones.
    """

    def work(begin: int, end: int) -> None:
        qr_record_range(begin, end, is_present, x, elements, records)

    run_ranges(0, len(elements.tets), TETS_PER_CHUNK, work)


@kernel(allow_fma=True)
def qr_record_range(begin, end, is_present, x, elements, records):
    """Writes the records of the tets from `begin` to `end`; see `compute_qr_records`."""
    Dm_inverse, initial_strain = elements.Dm_inverse, elements.initial_strain
    F, G, R, there = np.zeros(9 * L), np.ones(6 * L), np.empty(9 * L), np.empty(L)
    work = np.zeros(SCRATCH_SIZE)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, elements.tets, Dm_inverse, F, i)
            for k in range(3):
                G[k * L + i], G[(3 + k) * L + i] = Dm_inverse[first + i, 1, k], Dm_inverse[first + i, 2, k]
        qr_rotation_lanes(count, F, G, R, there)
        if is_present:
            for i in range(count):
                stretch, shear = vec3_zero(), vec3_zero()
                if len(initial_strain) > 0:
                    stretch, shear = (
                        vec3_load(initial_strain, 6 * (first + i)),
                        vec3_load(initial_strain, 6 * (first + i) + 3),
                    )
                write_present_record(first + i, F, R, i, stretch, shear, elements, records)
        else:
            write_record_lanes(first, count, F, R, F, work, elements, records)


@kernel(allow_fma=True, device_only=True)
def write_present_record(tet, F, R, lane, stretch, shear, elements, records):
    """Writes the record of a tet with F and R in a lane, and an initial strain, by the present gradients."""
    _, Dm_inverse, volume, mu, lam, damping, _ = elements
    a, b, c = lane_vec3(F, lane), lane_vec3(F, 3 * L + lane), lane_vec3(F, 6 * L + lane)
    A, B, C = lane_vec3(R, lane), lane_vec3(R, 3 * L + lane), lane_vec3(R, 6 * L + lane)
    # the rows of adj(F), then J I − sym(adj(F) R)
    p, q, r = vec3_add_cross(vec3_zero(), b, c), vec3_add_cross(vec3_zero(), c, a), vec3_add_cross(vec3_zero(), a, b)
    J = dot(a, p)
    exx, eyy, ezz = J - dot(p, A), J - dot(q, B), J - dot(r, C)
    exy, eyz, ezx = -0.5 * sum_of_dots(p, B, q, A), -0.5 * sum_of_dots(q, C, r, B), -0.5 * sum_of_dots(r, A, p, C)
    (xx, yy, zz), (xy, yz, zx) = vec3_unpack(stretch), vec3_unpack(shear)
    exx, eyy, ezz, exy, eyz, ezx = exx - xx, eyy - yy, ezz - zz, exy - xy, eyz - yz, ezx - zx
    v_lam, v_mu = volume[tet] * lam[tet], volume[tet] * mu[tet]
    pressure, k = v_lam * (exx + eyy + ezz), 2.0 * v_mu
    # the columns of −V R σ, then those of −V R σ Rᵀ
    s = multiply_columns(A, B, C, vec3(-k * exx - pressure, -k * exy, -k * ezx))
    t = multiply_columns(A, B, C, vec3(-k * exy, -k * eyy - pressure, -k * eyz))
    u = multiply_columns(A, B, C, vec3(-k * ezx, -k * eyz, -k * ezz - pressure))
    (A1, A2, A3), (B1, B2, B3), (C1, C2, C3) = vec3_unpack(A), vec3_unpack(B), vec3_unpack(C)
    o, v = multiply_columns(s, t, u, vec3(A1, B1, C1)), multiply_columns(s, t, u, vec3(A2, B2, C2))
    w = multiply_columns(s, t, u, vec3(A3, B3, C3))
    g = multiply_columns(p, q, r, vec3_load(Dm_inverse, 9 * tet))
    h = multiply_columns(p, q, r, vec3_load(Dm_inverse, 9 * tet + 3))
    i = multiply_columns(p, q, r, vec3_load(Dm_inverse, 9 * tet + 6))
    length = records.shape[1]
    z = length * tet  # where its record begins
    vec4_store(records, z + FORCE, multiply_columns(o, v, w, g))
    vec4_store(records, z + FORCE + 3, multiply_columns(o, v, w, h))
    vec3_store(records, z + FORCE + 6, multiply_columns(o, v, w, i))
    store_nodal(records, z + ROTATED_GRADIENTS, g, h, i)
    records[tet, V_LAMBDA], records[tet, V_MU] = v_lam, v_mu
    if length >= DAMPED_LENGTH:
        store_nodal(records, z + DEFORMED_GRADIENTS, g, h, i)
        vec3_store(records, z + LEFT_CAUCHY_GREEN, vec3(1.0, 1.0, 1.0))
        vec3_store(records, z + LEFT_CAUCHY_GREEN + 3, vec3_zero())
        ease = max(1.0, (dot(a, a) + dot(b, b) + dot(c, c)) / 3.0)
        beta = damping[tet] / (ease * ease)
        records[tet, DAMPING_LAMBDA], records[tet, DAMPING_MU] = beta * v_lam, beta * v_mu
    if length >= MAX_RECORD_LENGTH:
        records[tet, BULK_STIFFNESS], records[tet, BULK_DAMPING] = 0.0, 0.0
