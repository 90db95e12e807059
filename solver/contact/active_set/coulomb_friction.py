# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of contacts: a tangential spring κ where they stick, and at most μ N where they slide.

The shear s is the tangential motion since a contact began. It sticks with κ = k, and slides where μ N < k |s|; then κ
falls to μ N / |s|, so that κ |s| = μ N. A contact that slid in the step before keeps a constant friction μ N along its
shear instead of a spring, which would push it back.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero

MIN_SHEAR_LENGTH = float(np.finfo(float).tiny)  # [m], so that no shear can be divided by
MAX_SLIDING_KAPPA_RATIO = 0.3  # κ over k up to which a contact counts as sliding in the step before


@kernel()
def continue_sliding(previous_force, k, kappa, mu, shear, sliding_friction):
    """Writes the friction of contacts that slid in the step before, by their normal forces then [N], (k,)."""
    for c in range(len(k)):
        s = shear[c]
        slid = 0.0 < kappa[c] < MAX_SLIDING_KAPPA_RATIO * k[c] and s[0] * s[0] + s[1] * s[1] + s[2] * s[2] > 0.0
        sliding_friction[c] = mu[c] * previous_force[c] if slid else 0.0


@kernel()
def friction_forces(kappa, sliding_friction, start_shear, shear, force):
    """Writes −κ s [N], (k, 3), with a constant friction along s0 where there is one, for shears s0 and s [m], (k, 3).

    Many small NumPy calls took a tenth of a step of a small body.
    """
    for c in range(len(kappa)):
        s0, s = start_shear[c], shear[c]
        length = max(math.sqrt(s0[0] * s0[0] + s0[1] * s0[1] + s0[2] * s0[2]), MIN_SHEAR_LENGTH)
        x, y, z = s0[0] / length, s0[1] / length, s0[2] / length
        along = 0.0
        if sliding_friction[c] > 0.0:
            along = kappa[c] * (x * s[0] + z * s[2] + y * s[1]) - sliding_friction[c]
        force[c, 0], force[c, 1], force[c, 2] = (
            along * x - kappa[c] * s[0],
            along * y - kappa[c] * s[1],
            along * z - kappa[c] * s[2],
        )


@kernel(inline=True, device_only=True)
def replace_spring_along_shear(c, shear, kappa, friction, moved, force, stiffness):
    """Replaces the spring κ along a shear s0, a vec3, in row c by a constant friction [N]."""
    length = math.sqrt(vec3_sum(vec3_fma(vec3_zero(), shear, shear)))
    direction = vec3_axpy(vec3_zero(), 1.0 / length, shear)
    spring = kappa * (length + vec3_sum(vec3_fma(vec3_zero(), direction, moved)))
    vec3_store(force, 3 * c, vec3_axpy(vec3_load(force, 3 * c), spring - friction, direction))
    x, y, z = vec3_unpack(direction)
    vec3_store(stiffness, 9 * c, vec3_axpy(vec3_load(stiffness, 9 * c), -kappa * x, direction))
    vec3_store(stiffness, 9 * c + 3, vec3_axpy(vec3_load(stiffness, 9 * c + 3), -kappa * y, direction))
    vec3_store(stiffness, 9 * c + 6, vec3_axpy(vec3_load(stiffness, 9 * c + 6), -kappa * z, direction))


@kernel(device_only=True)
def friction_change(shear, start_shear, kappa, sliding_friction, length, next_kappa):
    """Returns by how much the friction of a contact changes [N], and whether the contact slid back along s0.

    A constant sliding friction was wrong if the contact slid back: it came to rest, and friction the other way would
    push it to and fro without end.
    """
    along = shear[0] * start_shear[0] + shear[1] * start_shear[1]
    along += shear[2] * start_shear[2]
    friction = sliding_friction if sliding_friction > 0.0 else kappa * length
    if along > 0.0 or sliding_friction <= 0.0:
        return abs(next_kappa * length - friction), False
    return next_kappa * length + friction, True
