# SPDX-License-Identifier: GPL-3.0-or-later
"""The torque that forces of tets make about where their nodes were at the start of a step.

A step x⁺ = x + Δt v⁺ changes angular momentum by Δt Σ x × f, with x at its start, to round-off. Forces that belong to
another place than x make a torque there, though a body cannot turn itself.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import (
    vec3,
    vec3_add_cross,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
)
from .record_layout import (
    BULK_DAMPING,
    DAMPED_LENGTH,
    DAMPING_LAMBDA,
    DAMPING_MU,
    DEFORMED_GRADIENTS,
    FORCE,
    LEFT_CAUCHY_GREEN,
    MAX_RECORD_LENGTH,
    ROTATED_GRADIENTS,
    VOLUME_GRADIENTS,
)


@kernel(allow_fma=True)
def sum_torques(x, v, island_of_row, tets, records, twist):
    """Writes Σ x × f of every island [N m], (k, 3), with the forces in the records less the damping C v.

    Args:
        x: Where nodes were [m], (n, 3).
        v: Velocities [m/s], (n, 3).
        island_of_row, tets: Of the model.
        records: Records, (m, …).
        twist: Out.
    """
    length = records.shape[1]
    for island in range(len(twist)):
        vec3_store(twist, 3 * island, vec3_zero())
    for tet in range(len(tets)):
        w, place = length * tet, 3 * island_of_row[tets[tet, 0]]
        turning, left = vec3_load(twist, place), vec3_zero()
        for k in range(1, 4):
            force = vec3_load(records, w + FORCE + 3 * k - 3)
            left = vec3_axpy(left, -1.0, force)
            turning = vec3_add_cross(turning, vec3_load(x, 3 * tets[tet, k]), force)
        turning = vec3_add_cross(turning, vec3_load(x, 3 * tets[tet, 0]), left)
        if length >= DAMPED_LENGTH:
            turning = vec3_axpy(turning, -1.0, damping_torque(tet, w, x, v, tets, records))
        if length >= MAX_RECORD_LENGTH and records[tet, BULK_DAMPING] > 0.0:
            swelling = 0.0
            for k in range(4):
                h = vec3_load(records, w + VOLUME_GRADIENTS + 3 * k)
                swelling += records[tet, BULK_DAMPING] * vec3_sum(
                    vec3_fma(vec3_zero(), vec3_load(v, 3 * tets[tet, k]), h)
                )
            for k in range(4):
                push = vec3_axpy(vec3_zero(), -swelling, vec3_load(records, w + VOLUME_GRADIENTS + 3 * k))
                turning = vec3_add_cross(turning, vec3_load(x, 3 * tets[tet, k]), push)
        vec3_store(twist, place, turning)


@kernel(allow_fma=True, device_only=True)
def damping_torque(tet, w, x, v, tets, records):
    """Returns Σ x × C v of a tet whose record begins at number `w`."""
    # with G = Σ v_b (F g_b)ᵀ: λ tr(G) F g_a + μ (Gᵀ F g_a + F Fᵀ Σ v_b (g_a·g_b))
    a, b, c, spread = vec3_zero(), vec3_zero(), vec3_zero(), 0.0
    for k in range(4):
        speed, g = vec3_load(v, 3 * tets[tet, k]), vec3_load(records, w + DEFORMED_GRADIENTS + 3 * k)
        p, q, r = vec3_unpack(speed)
        a, b, c = vec3_axpy(a, p, g), vec3_axpy(b, q, g), vec3_axpy(c, r, g)  # the rows of G
        spread += vec3_sum(vec3_fma(vec3_zero(), speed, g))
    (xx, yy, zz), (xy, yz, zx) = (
        vec3_unpack(vec3_load(records, w + LEFT_CAUCHY_GREEN)),
        vec3_unpack(vec3_load(records, w + LEFT_CAUCHY_GREEN + 3)),
    )
    lam, mu, turning = records[tet, DAMPING_LAMBDA], records[tet, DAMPING_MU], vec3_zero()
    for k in range(4):
        g, turned, across = (
            vec3_load(records, w + DEFORMED_GRADIENTS + 3 * k),
            vec3_load(records, w + ROTATED_GRADIENTS + 3 * k),
            vec3_zero(),
        )
        for m in range(4):
            both = vec3_sum(vec3_fma(vec3_zero(), turned, vec3_load(records, w + ROTATED_GRADIENTS + 3 * m)))
            across = vec3_axpy(across, both, vec3_load(v, 3 * tets[tet, m]))
        (p, q, r), (x1, y1, z1) = vec3_unpack(g), vec3_unpack(across)
        along = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), p, a), q, b), r, c)
        sheared = vec3(xx * x1 + xy * y1 + zx * z1, xy * x1 + yy * y1 + yz * z1, zx * x1 + yz * y1 + zz * z1)
        force = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), lam * spread, g), mu, along), mu, sheared)
        turning = vec3_add_cross(turning, vec3_load(x, 3 * tets[tet, k]), force)
    return turning
