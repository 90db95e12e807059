# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads the contacts stored by the previous step and stores those that the next step needs.

`contacts` are `ContactArrays` and `state` `ContactStateArrays`, of k contacts. The first `rigid_count` of them are
contacts of `point_count` points with rigid colliders: the point is the id modulo `point_count`, the collider the id
divided by it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .contact_springs import next_shift


class RigidColliderArrays(NamedTuple):
    """Rigid colliders at the end of the step, c of them.

    Attributes:
        friction: μ, (c,).
        is_sheet: Whether each is a mesh without an inside, (c,).
        rotation: (c, 3, 3).
        origin: [m], (c, 3).
    """

    friction: Floats
    is_sheet: Bools
    rotation: Floats
    origin: Floats


@kernel()
def load_persistent(persistent, contacts, point_count, rigid_count, colliders, triangle_rotation, force, state):
    """Writes what is stored of contacts, zero where nothing is; both ids rise.

    Args:
        persistent: `PersistentArrays`.
        contacts, point_count, rigid_count: The contacts, see above.
        colliders: `RigidColliderArrays`.
        triangle_rotation: Rotations of the other sides of all further contacts, (k − rigid_count, 3, 3).
        force: Out, normal forces in the step before [N], (k,).
        state: Its shear, shift, lift and κ are written; shears rotate with the collider and lie in its surface.
    """
    id, normal, shear = contacts.id, contacts.normal, state.shear
    m = 0
    for c in range(len(id)):
        while m < len(persistent.id) and persistent.id[m] < id[c]:
            m += 1
        force[c], state.shift[c], state.lift[c], state.kappa[c] = 0.0, 0.0, 0.0, 0.0
        shear[c, 0], shear[c, 1], shear[c, 2] = 0.0, 0.0, 0.0
        if m == len(persistent.id) or persistent.id[m] != id[c]:
            continue
        force[c], state.shift[c], state.lift[c] = persistent.force[m], persistent.shift[m], persistent.lift[m]
        state.kappa[c] = persistent.kappa[m]
        R = colliders.rotation[id[c] // point_count] if c < rigid_count else triangle_rotation[c - rigid_count]
        along = 0.0
        for i in range(3):
            for j in range(3):
                shear[c, i] += R[i, j] * persistent.shear[m, j]
            along += shear[c, i] * normal[c, i]
        for i in range(3):
            shear[c, i] -= along * normal[c, i]


@kernel()
def store_persistent(
    contacts, state, normal_force, shear, dt, point_count, rigid_count, colliders, triangle_rotation, stored
):
    """Writes the contacts that the next step needs into `stored`, `PersistentArrays`, and returns how many there are.

    `normal_force` and `shear` are those at the end of the step; for the other arguments see `load_persistent`.
    """
    count, id, normal, gap, side = 0, contacts.id, contacts.normal, contacts.gap, contacts.side
    k, mu, kappa, size = state.k, state.mu, state.kappa, state.size
    shift, start_shift, lift = state.shift, state.start_shift, state.lift
    is_sheet, rotation = colliders.is_sheet, colliders.rotation
    stored_id, stored_force, stored_shear, stored_side = stored.id, stored.force, stored.shear, stored.side
    stored_shift, stored_lift, stored_kappa, stored_normal = stored.shift, stored.lift, stored.kappa, stored.normal
    for c in range(len(id)):
        force = min(max(normal_force[c], 0.0), state.yield_force[c])
        # at a sheet or a surface, points that do not push right now still need their side
        if not (force > 0.0 or c >= rigid_count or is_sheet[id[c] // point_count]):
            continue
        s = shear[c]
        R = rotation[id[c] // point_count] if c < rigid_count else triangle_rotation[c - rigid_count]
        length = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
        cut = min(1.0, mu[c] * force / k[c] / max(length, 1e-300))
        n = normal[c]
        for i in range(3):
            stored_shear[count, i] = cut * (R[0, i] * s[0] + R[1, i] * s[1] + R[2, i] * s[2])
            stored_normal[count, i] = R[0, i] * n[0] + R[1, i] * n[1] + R[2, i] * n[2]
        stored_id[count], stored_side[count], stored_force[count] = id[c], side[c], force
        is_resolving, soft = c >= rigid_count and lift[c] < 0.0, (state.compliance[c], state.yield_force[c])
        stored_shift[count], stored_lift[count] = next_shift(
            gap[c], k[c], size[c], shift[c], start_shift[c], lift[c], normal_force[c], soft, is_resolving, dt
        )
        stored_kappa[count] = kappa[c]
        count += 1
    return count
