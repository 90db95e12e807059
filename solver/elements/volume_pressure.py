# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure by volume, for material that is much softer in shape than in volume: what melts.

A tet whose volume is J times that at rest has the energy ½ κ V (J − 1)², so that node a feels −κ V (J − 1) ∂J/∂x_a.
The trace of the corotated strain, by which elastic bodies resist, is zero for stretches such as 2, 1, 0 too: where
the shear modulus is small, weight presses tets flat and turns them inside out, and they stay so. There J is
negative, and the pressure brings them back. V is the filled share of a tet; what is almost empty would still be
turned inside out by its neighbours, so that below J = `FLAT` ½ κ V₀ (J − FLAT)² is added, of the whole tet V₀.

The stiffness is κ V ∂J/∂x_a (∂J/∂x_b)ᵀ, without the part of the second derivatives, so that it is positive
semi-definite whatever the tet looks like. The same times β damps changes of volume. Own derivation.
"""

from __future__ import annotations

from ..jit import kernel

FLAT = 0.25


@kernel(contract=True)
def add_pressure(
    x, tets, Dm_inverse, volume, kappa, damping, initial_strain, dt, corner_block, gradients, values, force
):
    """Adds the pressure of tets with κ > 0 to the forces on nodes, and Δt² K + Δt C to the blocks of the system.

    Args:
        x: Node positions [m], (n, 3).
        tets, Dm_inverse, volume: Of the model, (m, 4), (m, 3, 3), (m,).
        kappa: κ [Pa], (m,).
        damping: β [s], (m,).
        initial_strain: ε0, whose trace is the J − 1 without pressure, (m, 6), or (0, 6) for none.
        dt: Δt [s].
        corner_block: Of the `BlockPattern`.
        gradients: Scratch for ∂J/∂x_a, (4, 3).
        values: Blocks, (b, 9), in and out.
        force: Forces [N], (n, 3), in and out.
    """
    h = gradients
    for tet in range(len(tets)):
        if not kappa[tet] > 0.0:
            continue
        n, G = tets[tet], Dm_inverse[tet]
        p0, p1, p2, p3 = x[n[0]], x[n[1]], x[n[2]], x[n[3]]
        ax, ay, az = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
        bx, by, bz = p2[0] - p0[0], p2[1] - p0[1], p2[2] - p0[2]
        cx, cy, cz = p3[0] - p0[0], p3[1] - p0[1], p3[2] - p0[2]
        # one over six times the whole volume at rest
        d = (
            G[0, 0] * (G[1, 1] * G[2, 2] - G[1, 2] * G[2, 1])
            + G[0, 1] * (G[1, 2] * G[2, 0] - G[1, 0] * G[2, 2])
            + G[0, 2] * (G[1, 0] * G[2, 1] - G[1, 1] * G[2, 0])
        )
        h[1, 0], h[1, 1], h[1, 2] = d * (by * cz - bz * cy), d * (bz * cx - bx * cz), d * (bx * cy - by * cx)
        h[2, 0], h[2, 1], h[2, 2] = d * (cy * az - cz * ay), d * (cz * ax - cx * az), d * (cx * ay - cy * ax)
        h[3, 0], h[3, 1], h[3, 2] = d * (ay * bz - az * by), d * (az * bx - ax * bz), d * (ax * by - ay * bx)
        for axis in range(3):
            h[0, axis] = -(h[1, axis] + h[2, axis] + h[3, axis])
        J = ax * h[1, 0] + ay * h[1, 1] + az * h[1, 2]
        J0 = 1.0
        if len(initial_strain) > 0:
            J0 += initial_strain[tet, 0] + initial_strain[tet, 1] + initial_strain[tet, 2]
        stiffness = kappa[tet] * volume[tet]
        push = stiffness * (J - J0)
        if J < FLAT:
            whole = kappa[tet] / (6.0 * d)
            push += whole * (J - FLAT)
            stiffness += whole
        stiffness *= dt * (dt + damping[tet])
        for a in range(4):
            u, v, w = h[a, 0], h[a, 1], h[a, 2]
            force[n[a], 0] -= push * u
            force[n[a], 1] -= push * v
            force[n[a], 2] -= push * w
            u, v, w = stiffness * u, stiffness * v, stiffness * w
            blocks = corner_block[4 * tet + a]
            for b in range(4):
                block, x1, y1, z1 = values[blocks[b]], h[b, 0], h[b, 1], h[b, 2]
                block[0] += u * x1
                block[1] += u * y1
                block[2] += u * z1
                block[3] += v * x1
                block[4] += v * y1
                block[5] += v * z1
                block[6] += w * x1
                block[7] += w * y1
                block[8] += w * z1
