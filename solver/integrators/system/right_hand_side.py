# SPDX-License-Identifier: GPL-3.0-or-later
"""The right-hand side of a step and its end in one pass each: many small NumPy calls cost more than the solve."""

from __future__ import annotations

import math

from ...runtime.jit import kernel


@kernel()
def write_gravity_impulse(mass, gravity_scale, gravity, dt, impulse):
    """Writes Δt m s g [N s], (n, 3), for masses m [kg] and scales s, (n,)."""
    for i in range(len(mass)):
        k = dt * mass[i] * gravity_scale[i]
        impulse[i, 0], impulse[i, 1], impulse[i, 2] = k * gravity[0], k * gravity[1], k * gravity[2]


@kernel()
def assemble_right_hand_side(mass, v, force, impulse, dt, is_free, island_start, share, b, least):
    """Writes b = M v + Δt f + impulse, (n, 3), and what its norm counts for at least in every island, (k,).

    The latter is `share` of the norms of the three parts over the free nodes, which may cancel in b.

    Args:
        mass: [kg], (n,).
        v: Velocities at the start of the step [m/s], (n, 3).
        force: Elastic forces [N], (n, 3).
        impulse: All others times Δt [N s], (n, 3).
        dt: Δt [s].
        is_free: Which nodes are solved for, (n,).
        island_start: Of the `BlockPattern`.
        share: Factor of `least`.
        b, least: Out.
    """
    for island in range(len(least)):
        moving, pulled, pushed = 0.0, 0.0, 0.0
        for i in range(island_start[island], island_start[island + 1]):
            m = mass[i]
            u, v_, w = m * v[i, 0], m * v[i, 1], m * v[i, 2]
            e, f, g = dt * force[i, 0], dt * force[i, 1], dt * force[i, 2]
            x, y, z = impulse[i, 0], impulse[i, 1], impulse[i, 2]
            b[i, 0], b[i, 1], b[i, 2] = u + e + x, v_ + f + y, w + g + z
            if is_free[i]:
                moving += u * u + v_ * v_ + w * w
                pulled += e * e + f * f + g * g
                pushed += x * x + y * y + z * z
        least[island] = share * (math.sqrt(moving) + math.sqrt(pulled) + math.sqrt(pushed))


@kernel()
def write_target_velocities(target, x, is_free, dt, v):
    """Writes (target − x) / Δt as the velocities v of held nodes, (n, 3)."""
    for i in range(len(x)):
        if not is_free[i]:
            for axis in range(3):
                v[i, axis] = (target[i, axis] - x[i, axis]) / dt


@kernel()
def advance_positions(x, v, v_before, dt, is_free, target, x_end, change):
    """Writes x⁺ = x + Δt v [m], at held nodes their target where there are any, (n, 3) or (0, 3).

    `change` gets v less `v_before`, (n, 3). Returns whether all velocities are numbers.
    """
    finite = True
    for i in range(len(x)):
        for axis in range(3):
            x_end[i, axis] = x[i, axis] + dt * v[i, axis]
            change[i, axis] = v[i, axis] - v_before[i, axis]
            finite = finite and math.isfinite(v[i, axis])
        if len(target) > 0 and not is_free[i]:
            for axis in range(3):
                x_end[i, axis] = target[i, axis]
    return finite
