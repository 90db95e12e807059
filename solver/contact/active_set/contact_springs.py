# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as springs on points of tets: normal forces, shears, stiffness, and the shift of the springs' rest length.

`contact_step.py` has the formulas. `contacts` are `ContactArrays` and `state` `ContactStateArrays`, of k contacts.
"""

from __future__ import annotations

import numpy as np

from ...constraints.point_forces import PointForces
from ...constraints.tet_pair_springs import MAX_TETS_PER_CONTACT
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero
from ..detection.contact_sample_points import MIN_INERTIAL_STIFFNESS_FACTOR
from ..detection.contact_set import ContactSet, ContactState
from .coulomb_friction import replace_spring_along_shear

MAX_SINK_DEPTH = 0.03  # depth in tet sizes by which an active contact may sink in a step before it is lifted
MAX_PUSH_OUT_PER_STEP = 0.1  # depth by which a contact pushes a point out in one step at most, in tet sizes
RESOLVE_TIME = 0.1  # time in which an initial depth falls to 1/e [s]
RESOLVED_DEPTH = 1.0e-4  # depth in tet sizes below which an overlap is resolved and has friction like all others
MAX_RESOLVE_SPEED = 4.0  # largest speed at which an initial depth falls, in tet sizes per second
SHIFT_RATE = 0.05  # share of the depth that moves into the shift in one step
FREE_SHIFT = 0.1  # shift in tet sizes up to which this share is the same however much comes out
MAX_SHIFT = 0.5  # shift in tet sizes from which it falls, however much comes out
MIN_SHIFT_RATE_FACTOR = 0.02  # smallest factor on this share while the shift rises
FULL_RATE_PROGRESS = 0.25  # progress per step, as a share of the shift's rise, from which the factor is 1


@kernel()
def measure_contacts(first, end, contacts, state, x, tets, normal_force, shear):
    """Writes normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3), of some.

    These are the contacts from `first` on that come before `end`. The nodes of the `tets` are at x [m], (n, 3).
    """
    # arrays are taken out of their bundles before the loop, where each use would count references
    normal, gap, carried = contacts.normal, contacts.gap, contacts.carried
    start_shear, k, shift, size = state.shear, state.k, state.shift, state.size
    end_tet, weights = state.attachment
    for c in range(first, end):
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


def point_springs(
    which: np.ndarray, contacts: ContactSet, state: ContactState, x: Floats, tets: Indices
) -> PointForces:
    """Returns the contacts `which` as forces on their points alone; see `contact_springs`."""
    k = len(which)
    forces = PointForces(
        np.empty(k, np.int32), np.empty((k, 4)), np.empty((k, 3)), np.empty((k, 3, 3)), np.zeros((k, 3, 3))
    )
    if k:
        out = forces.tet, forces.weights, forces.force, forces.stiffness
        contact_springs(which, contacts.arrays, state.arrays, x, tets, *out)
    return forces


@kernel()
def contact_springs(which, contacts, state, x, tets, tet_out, weights_out, force, stiffness):
    """Writes the contacts `which` as springs on points of tets: tet, weights, force [N] and stiffness [N/m] of each.

    Nodes are at x at the start of the step [m], (n, 3). A contact that keeps sliding has a constant friction along s0
    and no spring there; one that yields has a constant normal force and no spring along n.
    """
    normal, gap, carried = contacts.normal, contacts.gap, contacts.carried
    k, kappa, shear, shift, size = state.k, state.kappa, state.shear, state.shift, state.size
    sliding_friction, yields, yield_force = state.sliding_friction, state.yields, state.yield_force
    end_tet, weights = state.attachment
    for c in range(len(which)):
        i = which[c]
        tet_out[c] = end_tet[i, 0]
        for a in range(4):
            weights_out[c, a] = weights[i, a]
        # without motion: f = −k n (depth + n·r) − κ (s0 + r − n (n·r))
        n, moved = vec3_load(normal, 3 * i), relative_motion(carried, i, x, tets, end_tet, weights)
        along, rest = vec3_sum(vec3_fma(vec3_zero(), n, moved)), k[i] - kappa[i]
        push = -k[i] * rest_depth(gap[i], shift[i], size[i])
        if yields[i]:
            push, rest = yield_force[i], -kappa[i]
        push_back = vec3_axpy(vec3_zero(), push - rest * along, n)
        vec3_store(force, 3 * c, vec3_axpy(vec3_axpy(push_back, -kappa[i], vec3_load(shear, 3 * i)), -kappa[i], moved))
        x_axis, y_axis, z_axis = vec3_unpack(n)
        vec3_store(stiffness, 9 * c, vec3_axpy(vec3(kappa[i], 0.0, 0.0), rest * x_axis, n))
        vec3_store(stiffness, 9 * c + 3, vec3_axpy(vec3(0.0, kappa[i], 0.0), rest * y_axis, n))
        vec3_store(stiffness, 9 * c + 6, vec3_axpy(vec3(0.0, 0.0, kappa[i]), rest * z_axis, n))
        if sliding_friction[i] > 0.0:
            start_shear = vec3_load(shear, 3 * i)
            replace_spring_along_shear(c, start_shear, kappa[i], sliding_friction[i], moved, force, stiffness)


@kernel(inline=True, device_only=True)
def sunk_depth(normal_force, k, shift, gap):
    """Returns how deep a contact sank in a step [m]; one that started deep comes out step by step."""
    return normal_force / k - shift - max(-gap, 0.0)


@kernel(inline=True, device_only=True)
def lift_of_sunk(sunk, size):
    """Returns by how much the shift of a contact rises that sank in so deep, in tets of a size [m]."""
    return min(sunk - 0.5 * MAX_SINK_DEPTH * size, MAX_PUSH_OUT_PER_STEP * size)


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
        binding = points.binding_stiffness[point]
        state.compliance[c], state.yield_force[c] = 0.0, np.inf
        if binding < np.inf:
            state.compliance[c], state.yield_force[c] = 1.0 / binding, binding * points.yield_length[point]
            state.k[c] = 1.0 / (1.0 / state.k[c] + state.compliance[c])


@kernel(inline=True, device_only=True)
def next_shift(gap, k, size, end_shift, start_shift, end_lift, normal_force, soft, is_resolving, dt):
    """Returns the shift and the lift of a contact for the next step [m]; `is_resolving` if it resolves an overlap.

    `end_shift` and `end_lift` are those at the end of the step, and `soft` is the compliance of surface detail and the
    largest force that it bears; for the others see `ContactState`. What its springs give stays a depth of the target.
    """
    force, shift, lift = min(max(normal_force, 0.0), soft[1]), min(start_shift, end_shift), end_lift
    if is_resolving:  # an initial depth shrinks, at once where the point is less deep by now
        resolved = min(-lift / RESOLVE_TIME, MAX_RESOLVE_SPEED * size)
        lift = max(lift + resolved * dt, min(shift - normal_force / k, 0.0))
        lift = lift if lift < -RESOLVED_DEPTH * size else 0.0
    own_depth = force / k if soft[0] == 0.0 else force * (1.0 / k - soft[0])
    rise = SHIFT_RATE * (own_depth - shift + lift)
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
