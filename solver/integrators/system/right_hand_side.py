# SPDX-License-Identifier: GPL-3.0-or-later
"""The right-hand side of a step, its scale, and the end of the step.

Each is one pass over the nodes: many small NumPy calls would cost more than the solve.

Stiff springs and stiff tets have large forces on the right-hand side, at the start of the step or along the way to
where the step is linearised. They may be a million times what moves a small stiff body, and cancel against the
left-hand side. A residual relative to them would leave nothing of the motion: `motion_share` says how large that is.
"""

from __future__ import annotations

import math

from ...mechanics.model import Model
from ...runtime.arrays import Floats
from ...runtime.jit import kernel

# Where momentum and forces cancel, as in a body at rest, the residual is relative to this share of the norms of what
# the right-hand side is summed from, not to the sum: solving for almost nothing gains nothing
NORM_FLOOR_SHARE = 1.0e-3
MIN_MOTION_SHARE = 1.0e-6  # below it only round-off is left


@kernel(no_refcount=True)
def write_gravity_impulse(mass, gravity_scale, gravity, dt, impulse):
    """Writes Δt m s g [N s], (n, 3), for masses m [kg] and scales s, (n,)."""
    for i in range(len(mass)):
        k = dt * mass[i] * gravity_scale[i]
        impulse[i, 0], impulse[i, 1], impulse[i, 2] = k * gravity[0], k * gravity[1], k * gravity[2]


@kernel(no_refcount=True)
def assemble_right_hand_side(mass, v, force, impulse, dt, is_free, island_start, share, b, norm_floor):
    """Writes b = M v + Δt f + impulse, (n, 3), and the least that its norm counts for in every island, (k,).

    The latter is `share` of the norms of the three terms over the free nodes, which may cancel in b.

    Args:
        mass: [kg], (n,).
        v: Velocities at the start of the step [m/s], (n, 3).
        force: Elastic forces [N], (n, 3).
        impulse: All others times Δt [N s], (n, 3).
        dt: Δt [s].
        is_free: Which nodes are solved for, (n,).
        island_start: Of the `BlockPattern`.
        share: Factor of `norm_floor`.
        b, norm_floor: Out.
    """
    for island in range(len(norm_floor)):
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
        norm_floor[island] = share * (math.sqrt(moving) + math.sqrt(pulled) + math.sqrt(pushed))


@kernel()
def write_target_velocities(target, x, is_free, dt, v):
    """Writes (target − x) / Δt as the velocities v of fixed nodes, (n, 3)."""
    for i in range(len(x)):
        if not is_free[i]:
            for axis in range(3):
                v[i, axis] = (target[i, axis] - x[i, axis]) / dt


@kernel(no_refcount=True)
def advance_positions(x, v, v_before, dt, is_free, target, x_end, change):
    """Writes x⁺ = x + Δt v [m], or the target of fixed nodes if there are targets, (n, 3) or (0, 3).

    `change` gets v less `v_before`, (n, 3). Returns whether all velocities are finite.
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


def motion_share(model: Model, v: Floats, gravity: Floats, dt: float, b: Floats) -> float:
    """Returns (‖M v‖ + ‖Δt M g‖) / ‖b‖ of the island where that is smallest, `MIN_MOTION_SHARE` to 1.

    Args:
        model: The bodies.
        v: Velocities at the start of the step [m/s], (n, 3).
        gravity: g [m/s²], (3,).
        dt: Δt [s].
        b: Right-hand side [N s], (n, 3).
    """
    fall = dt * math.sqrt(gravity @ gravity)
    share = _least_motion_share(model.pattern.island_start, model.mass, model.gravity_scale, fall, v, b)
    return max(float(share), MIN_MOTION_SHARE)


@kernel()
def _least_motion_share(island_start, mass, gravity_scale, fall, v, b):
    """Returns what `motion_share` does, without its lower bound; `fall` is Δt ‖g‖ [m/s]."""
    least = 1.0
    for island in range(len(island_start) - 1):
        moving = falling = whole = 0.0
        for i in range(island_start[island], island_start[island + 1]):
            m = mass[i]
            weight = m * gravity_scale[i] * fall
            moving += m * m * (v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
            falling += weight * weight
            whole += b[i, 0] * b[i, 0] + b[i, 1] * b[i, 1] + b[i, 2] * b[i, 2]
        motion = math.sqrt(moving) + math.sqrt(falling)
        # without weight, a body that comes to rest is at rest soon enough
        if 0.0 < motion < least * math.sqrt(whole):
            least = motion / math.sqrt(whole)
    return least
