# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that go over the contacts of a step once: forces, stiffness, and what the next step needs.

`contact_step.py` has the formulas. `contacts` are `ContactArrays` and `state` `ContactStateArrays`, of k contacts. The
first `rigid_count` of them are contacts of `point_count` points with rigid colliders: the point is the id modulo
`point_count`, the collider the id divided by it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero
from ..detection.contact_attachment import MAX_TETS_PER_CONTACT
from ..detection.contact_points import MIN_INERTIAL_STIFFNESS_FACTOR

MAX_PUSH_OUT_PER_STEP = 0.1  # depth by which a contact pushes a point out in one step at most, in tet sizes
RESOLVE_TIME = 0.1  # time in which an initial depth falls to 1/e [s]
RESOLVED_DEPTH = 1.0e-4  # depth in tet sizes below which an overlap is resolved and has friction like all others
MAX_RESOLVE_SPEED = 4.0  # largest speed at which an initial depth falls, in tet sizes per second
SHIFT_RATE = 0.05  # share of the depth that moves into the shift in one step
FREE_SHIFT = 0.1  # shift in tet sizes up to which this share is the same however much comes out
MAX_SHIFT = 0.5  # shift in tet sizes from which it falls, however much comes out
MIN_SHIFT_RATE_FACTOR = 0.02  # smallest factor on this share while the shift rises
FULL_RATE_PROGRESS = 0.25  # progress per step, as a share of the shift's rise, from which the factor is 1
MIN_SHEAR_LENGTH = float(np.finfo(float).tiny)  # [m], so that no shear can be divided by
MAX_SLIDING_KAPPA_RATIO = 0.3  # κ over k up to which a contact counts as sliding in the step before


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
def measure_contacts(contacts, state, x, tets, normal_force, shear):
    """Writes normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3).

    The nodes of the `tets` are at x [m], (n, 3).
    """
    # arrays are taken out of their bundles before the loop, where each use would count references
    normal, gap, carried = contacts.normal, contacts.gap, contacts.carried
    start_shear, k, shift, size = state.shear, state.k, state.shift, state.size
    end_tet, weights = state.attachment
    for c in range(len(k)):
        n, moved = vec3_load(normal, 3 * c), relative_motion(carried, c, x, tets, end_tet, weights)
        along = vec3_sum(vec3_fma(vec3_zero(), n, moved))
        depth = rest_depth(gap[c], shift[c], size[c])
        normal_force[c] = -k[c] * (depth + along)
        vec3_store(shear, 3 * c, vec3_axpy(vec3_axpy(vec3_load(start_shear, 3 * c), 1.0, moved), -along, n))


@kernel(inline=True)
def rest_depth(gap, shift, size):
    """Returns the gap from which a contact pushes without motion [m]; a negative shift is a depth that it allows."""
    return max(gap - min(shift, 0.0), -MAX_PUSH_OUT_PER_STEP * size) - max(shift, 0.0)


@kernel(inline=True, device_only=True)
def relative_motion(carried, c, x, tets, end_tet, weights):
    """Returns the motion r of a contact's point relative to the other side [m], a vec3, if nodes move to x."""
    moved = vec3_axpy(vec3_zero(), -1.0, vec3_load(carried, 3 * c))
    for a in range(4):
        moved = vec3_axpy(moved, weights[c, a], vec3_load(x, 3 * tets[end_tet[c, 0], a]))
    for end in range(1, MAX_TETS_PER_CONTACT):
        if end_tet[c, end] < 0:
            break
        for a in range(4):
            moved = vec3_axpy(moved, -weights[c, 4 * end + a], vec3_load(x, 3 * tets[end_tet[c, end], a]))
    return moved


@kernel()
def contact_springs(which, contacts, state, x, tets, tet_out, weights_out, force, stiffness):
    """Writes the contacts `which` as springs on points of tets: tet, weights, force [N] and stiffness [N/m] of each.

    Nodes are at x at the start of the step [m], (n, 3). A contact that keeps sliding has a constant friction along s0
    and no spring there.
    """
    normal, gap, carried = contacts.normal, contacts.gap, contacts.carried
    k, kappa, shear, shift, size = state.k, state.kappa, state.shear, state.shift, state.size
    sliding_friction = state.sliding_friction
    end_tet, weights = state.attachment
    for c in range(len(which)):
        i = which[c]
        tet_out[c] = end_tet[i, 0]
        for a in range(4):
            weights_out[c, a] = weights[i, a]
        # without motion: f = −k n (depth + n·r) − κ (s0 + r − n (n·r))
        n, moved = vec3_load(normal, 3 * i), relative_motion(carried, i, x, tets, end_tet, weights)
        along, rest = vec3_sum(vec3_fma(vec3_zero(), n, moved)), k[i] - kappa[i]
        depth = rest_depth(gap[i], shift[i], size[i])
        push_back = vec3_axpy(vec3_zero(), -k[i] * depth - rest * along, n)
        vec3_store(force, 3 * c, vec3_axpy(vec3_axpy(push_back, -kappa[i], vec3_load(shear, 3 * i)), -kappa[i], moved))
        x_axis, y_axis, z_axis = vec3_unpack(n)
        vec3_store(stiffness, 9 * c, vec3_axpy(vec3(kappa[i], 0.0, 0.0), rest * x_axis, n))
        vec3_store(stiffness, 9 * c + 3, vec3_axpy(vec3(0.0, kappa[i], 0.0), rest * y_axis, n))
        vec3_store(stiffness, 9 * c + 6, vec3_axpy(vec3(0.0, 0.0, kappa[i]), rest * z_axis, n))
        if sliding_friction[i] > 0.0:
            start_shear = vec3_load(shear, 3 * i)
            replace_spring_along_shear(c, start_shear, kappa[i], sliding_friction[i], moved, force, stiffness)


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


@kernel()
def attach_points(id, points, friction, dt, state):
    """Attaches contacts of points with rigid colliders to tets, and writes their stiffness and friction into `state`.

    Args:
        id: The contacts, (k,).
        points: `ContactPointArrays`.
        friction: μ of every collider, (c,).
        dt: Δt [s].
        state: Its first k rows are written.
    """
    count, tet, weights = len(points.tet), state.attachment.tet, state.attachment.weights
    for c in range(len(id)):
        point = id[c] % count
        tet[c], weights[c] = -1, 0.0
        tet[c, 0] = points.tet[point]
        for a in range(4):
            weights[c, a] = points.weights[point, a]
        state.size[c], state.mu[c] = points.tet_size[point], friction[id[c] // count]
        state.k[c] = max(points.stiffness[point], MIN_INERTIAL_STIFFNESS_FACTOR * points.mass[point] / dt**2)


@kernel()
def continue_sliding(previous_force, k, kappa, mu, shear, sliding_friction):
    """Writes the friction of contacts that slid in the step before, by their normal forces then [N], (k,)."""
    for c in range(len(k)):
        s = shear[c]
        slid = 0.0 < kappa[c] < MAX_SLIDING_KAPPA_RATIO * k[c] and s[0] * s[0] + s[1] * s[1] + s[2] * s[2] > 0.0
        sliding_friction[c] = mu[c] * previous_force[c] if slid else 0.0


@kernel()
def update_planes(rigid_count, found, contacts, state, normal_force, is_new):
    """Gives contacts that do not push the plane found now, and marks the contacts found that are new.

    `found` are `ContactArrays`, too; both ids rise. Returns how many are new, and how many have another plane.
    """
    id, shift, lift = contacts.id, state.shift, state.lift
    count, changed, c = 0, 0, 0
    for f in range(len(found.id)):
        while c < len(id) and id[c] < found.id[f]:
            c += 1
        is_new[f] = c == len(id) or id[c] != found.id[f]
        if is_new[f]:
            count += 1
        elif normal_force[c] <= 0.0:
            changed += 1
            for axis in range(3):
                contacts.normal[c, axis], contacts.carried[c, axis] = found.normal[f, axis], found.carried[f, axis]
            contacts.gap[c], contacts.side[c] = found.gap[f], found.side[f]
            if c < rigid_count or lift[c] >= 0.0:
                shift[c], lift[c] = 0.0, 0.0
    return count, changed


@kernel()
def predict_positions(x, v, dt, gravity_scale, gravity, without_gravity, with_gravity):
    """Writes the positions that nodes reach in Δt by their velocities [m], (n, 3), and those with gravity as well."""
    for i in range(len(x)):
        for axis in range(3):
            without_gravity[i, axis] = x[i, axis] + dt * v[i, axis]
            with_gravity[i, axis] = without_gravity[i, axis] + dt * dt * gravity_scale[i] * gravity[axis]


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
        force = max(normal_force[c], 0.0)
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
        is_resolving = c >= rigid_count and lift[c] < 0.0
        stored_shift[count], stored_lift[count] = next_shift(
            gap[c], k[c], size[c], shift[c], start_shift[c], lift[c], normal_force[c], is_resolving, dt
        )
        stored_kappa[count] = kappa[c]
        count += 1
    return count


@kernel(inline=True, device_only=True)
def next_shift(gap, k, size, end_shift, start_shift, end_lift, normal_force, is_resolving, dt):
    """Returns the shift and the lift of a contact for the next step [m]; `is_resolving` if it resolves an overlap.

    `end_shift` and `end_lift` are those at the end of the step; for the others see `ContactState`.
    """
    force, shift, lift = max(normal_force, 0.0), min(start_shift, end_shift), end_lift
    if is_resolving:  # an initial depth shrinks, at once where the point is less deep by now
        resolved = min(-lift / RESOLVE_TIME, MAX_RESOLVE_SPEED * size)
        lift = max(lift + resolved * dt, min(shift - normal_force / k, 0.0))
        lift = lift if lift < -RESOLVED_DEPTH * size else 0.0
    rise = SHIFT_RATE * (force / k - shift + lift)
    if rise > 0.0 and shift > FREE_SHIFT * size:
        progress = -normal_force / k - rest_depth(gap, end_shift, size)
        rise *= shift_rate_factor(shift / size, progress, end_lift - gap)
    raised = shift + rise
    if is_resolving:
        raised = max(raised, lift)
    return raised if force > 0.0 else lift if is_resolving else 0.0, lift


@kernel(inline=True, device_only=True)
def shift_rate_factor(height, progress, depth):
    """Returns the factor on the share of a depth that moves into the shift, below zero where the shift falls.

    A point that is held from both sides does not come out, however much pushes it: the shifts of both sides would rise
    against each other without end. So the factor depends on the progress that the point made in the step; where it made
    little, the shift falls back to about `FREE_SHIFT`.

    Args:
        height: The shift, in tet sizes.
        progress: How far the point came out in the step [m].
        depth: How deep it was [m].
    """
    relative = progress / (FULL_RATE_PROGRESS * SHIFT_RATE * depth) if depth > 0.0 else 1.0
    return min(max(relative, MIN_SHIFT_RATE_FACTOR), 1.0) - (height - FREE_SHIFT) / (MAX_SHIFT - FREE_SHIFT)


@kernel()
def find_movable_points(is_fixed, tets, tet, is_movable):
    """Writes which points have a node of their tet that is not fixed, (k,); returns whether all have."""
    all_movable = True
    for point in range(len(tet)):
        n = tets[tet[point]]
        is_movable[point] = not (is_fixed[n[0]] and is_fixed[n[1]] and is_fixed[n[2]] and is_fixed[n[3]])
        all_movable = all_movable and is_movable[point]
    return all_movable
