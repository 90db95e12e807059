# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that sum forces, stiffness and work over contacts, one pass each (formulas: `contact_step.py`).

Contacts are those of a `Touching` with their `Pushing`, k of them. The first `rigid` of them are of `count` contact
points with rigid colliders: the point is the id modulo that, the collider the id divided by it.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero
from ..detection.contact_points import MIN_INERTIAL_STIFFNESS_FACTOR
from ..detection.multi_tet_contacts import MAX_TETS_PER_CONTACT

MAX_PUSH_OUT_PER_STEP = 0.1  # what a contact pushes out of a collider in one step at most, in tet sizes
RESOLVE_TIME = 0.1  # time in which a depth at the start falls to 1/e [s]
RESOLVED_DEPTH = 1.0e-4  # depth at which it is none any more and rubs like all others, in tet sizes
MAX_RESOLVE_SPEED = 4.0  # how fast it falls at most, in tet sizes per second
SHIFT_RATE = 0.05  # share of the depth that moves into the shift in one step
FREE_SHIFT = 0.1  # shift up to which that share moves whatever it brings, in tet sizes
MAX_SHIFT = 0.5  # shift from which it falls whatever its rising would bring, in tet sizes
MIN_SHIFT_RATE_FACTOR = 0.02  # part of the share that moves although it brings nothing
FULL_RATE_PROGRESS = 0.25  # part of the share that has to come out in a step, so that all of it moves
MAX_SLIDING_KAPPA_RATIO = 0.3  # κ over k up to which what slid is taken to slide on


@kernel()
def measure_contacts(normal, gap, carried, k, shear, shift, size, nodes, tets, ends, weights, normal_force, sheared):
    """Writes normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3).

    The points are where the tets hold them that have their `nodes` there [m], (n, 3).
    """
    for c in range(len(k)):
        n, moved = vec3_load(normal, 3 * c), relative_motion(carried, c, nodes, tets, ends, weights)
        along = vec3_sum(vec3_fma(vec3_zero(), n, moved))
        depth = rest_depth(gap[c], shift[c], size[c])
        normal_force[c] = -k[c] * (depth + along)
        vec3_store(sheared, 3 * c, vec3_axpy(vec3_axpy(vec3_load(shear, 3 * c), 1.0, moved), -along, n))


@kernel(inline=True)
def rest_depth(gap, shift, size):
    """Returns the gap from which a contact pushes at no motion [m]; a shift below zero is a depth that it may keep."""
    return max(gap - min(shift, 0.0), -MAX_PUSH_OUT_PER_STEP * size) - max(shift, 0.0)


@kernel(inline=True, device_only=True)
def relative_motion(carried, c, nodes, tets, ends, weights):
    """Returns the motion r of a contact's point relative to the other side [m], three numbers, in a step to `nodes`."""
    moved = vec3_axpy(vec3_zero(), -1.0, vec3_load(carried, 3 * c))
    for a in range(4):
        moved = vec3_axpy(moved, weights[c, a], vec3_load(nodes, 3 * tets[ends[c, 0], a]))
    for leg in range(1, MAX_TETS_PER_CONTACT):
        if ends[c, leg] < 0:
            break
        for a in range(4):
            moved = vec3_axpy(moved, -weights[c, 4 * leg + a], vec3_load(nodes, 3 * tets[ends[c, leg], a]))
    return moved


@kernel()
def contact_springs(
    which, normal, gap, carried, k, kappa, shear, slip, shift, size, nodes, tets, ends, weights,
    tet_out, weights_out, force, stiffness,
):  # fmt: skip
    """Writes the contacts `which` as springs on points of tets: tet, weights, force [N] and stiffness [N/m] of each.

    `nodes` are their positions at the start of the step [m], (n, 3). Along s0 a contact that goes on sliding gives the
    force `slip`, and no spring.
    """
    for c in range(len(which)):
        i = which[c]
        tet_out[c] = ends[i, 0]
        for a in range(4):
            weights_out[c, a] = weights[i, a]
        # with r at no motion: f = −k n (depth + n·r) − κ (s0 + r − n (n·r))
        n, moved = vec3_load(normal, 3 * i), relative_motion(carried, i, nodes, tets, ends, weights)
        along, rest = vec3_sum(vec3_fma(vec3_zero(), n, moved)), k[i] - kappa[i]
        depth = rest_depth(gap[i], shift[i], size[i])
        push_back = vec3_axpy(vec3_zero(), -k[i] * depth - rest * along, n)
        vec3_store(force, 3 * c, vec3_axpy(vec3_axpy(push_back, -kappa[i], vec3_load(shear, 3 * i)), -kappa[i], moved))
        x, y, z = vec3_unpack(n)
        vec3_store(stiffness, 9 * c, vec3_axpy(vec3(kappa[i], 0.0, 0.0), rest * x, n))
        vec3_store(stiffness, 9 * c + 3, vec3_axpy(vec3(0.0, kappa[i], 0.0), rest * y, n))
        vec3_store(stiffness, 9 * c + 6, vec3_axpy(vec3(0.0, 0.0, kappa[i]), rest * z, n))
        if slip[i] > 0.0:
            s = vec3_load(shear, 3 * i)
            length = math.sqrt(vec3_sum(vec3_fma(vec3_zero(), s, s)))
            way = vec3_axpy(vec3_zero(), 1.0 / length, s)
            spring = kappa[i] * (length + vec3_sum(vec3_fma(vec3_zero(), way, moved)))
            vec3_store(force, 3 * c, vec3_axpy(vec3_load(force, 3 * c), spring - slip[i], way))
            x, y, z = vec3_unpack(way)
            vec3_store(stiffness, 9 * c, vec3_axpy(vec3_load(stiffness, 9 * c), -kappa[i] * x, way))
            vec3_store(stiffness, 9 * c + 3, vec3_axpy(vec3_load(stiffness, 9 * c + 3), -kappa[i] * y, way))
            vec3_store(stiffness, 9 * c + 6, vec3_axpy(vec3_load(stiffness, 9 * c + 6), -kappa[i] * z, way))


@kernel()
def attach_points(id, count, dt, friction, tet, point_weights, stiffness, mass, tet_size, ends, weights, size, k, mu):
    """Writes what contacts of points with rigid colliders are tied to, and how stiffly they push and rub.

    Args:
        id, count: The contacts, (k,), and the number of points.
        dt: Δt [s].
        friction: μ of every collider, (c,).
        tet, point_weights, stiffness, mass, tet_size: Of the `ContactPoints`.
        ends, weights, size, k, mu: Out, see `Pushing`.
    """
    for c in range(len(id)):
        point = id[c] % count
        ends[c], weights[c] = -1, 0.0
        ends[c, 0] = tet[point]
        for a in range(4):
            weights[c, a] = point_weights[point, a]
        size[c], mu[c] = tet_size[point], friction[id[c] // count]
        k[c] = max(stiffness[point], MIN_INERTIAL_STIFFNESS_FACTOR * mass[point] / dt**2)


@kernel()
def continue_sliding(known_force, shear, k, mu, kappa, slip):
    """Writes the friction of contacts that slid in the step before, with what they were pressed by then [N], (k,)."""
    for c in range(len(k)):
        s = shear[c]
        slid = 0.0 < kappa[c] < MAX_SLIDING_KAPPA_RATIO * k[c] and s[0] * s[0] + s[1] * s[1] + s[2] * s[2] > 0.0
        slip[c] = mu[c] * known_force[c] if slid else 0.0


@kernel()
def update_planes(
    rigid, found_id, found_normal, found_gap, found_carried, found_side, id, normal, gap, carried, side, normal_force,
    shift, lift, is_new,
):  # fmt: skip
    """Gives contacts whose plane does not push the plane found now, and marks what is found and not yet there.

    Both ids rise. Returns how many are new, and how many have got another plane.
    """
    count, turned, c = 0, 0, 0
    for f in range(len(found_id)):
        while c < len(id) and id[c] < found_id[f]:
            c += 1
        is_new[f] = c == len(id) or id[c] != found_id[f]
        if is_new[f]:
            count += 1
        elif normal_force[c] <= 0.0:
            turned += 1
            for axis in range(3):
                normal[c, axis], carried[c, axis] = found_normal[f, axis], found_carried[f, axis]
            gap[c], side[c] = found_gap[f], found_side[f]
            if c < rigid or lift[c] >= 0.0:
                shift[c], lift[c] = 0.0, 0.0
    return count, turned


@kernel()
def predict_positions(x, v, dt, gravity_scale, gravity, drifted, fallen):
    """Writes where nodes get by their velocities in Δt [m], (n, 3), and where by gravity as well."""
    for i in range(len(x)):
        for axis in range(3):
            drifted[i, axis] = x[i, axis] + dt * v[i, axis]
            fallen[i, axis] = drifted[i, axis] + dt * dt * gravity_scale[i] * gravity[axis]


@kernel()
def load_persistent(
    known_id,
    known_force,
    known_shear,
    known_shift,
    known_lift,
    known_kappa,
    id,
    count,
    rigid,
    normal,
    turns,
    frames,
    force,
    shear,
    shift,
    lift,
    kappa,
):
    """Writes what is remembered of contacts `id`, zero where nothing is; both ids rise.

    Args:
        known_id, known_force, known_shear, known_shift, known_lift, known_kappa: Of the `Memory`.
        id, count, rigid, normal: The contacts, see above, and normals, (k, 3).
        turns: Rotation of every rigid collider, (c, 3, 3).
        frames: Of the other side of all other contacts, (k − rigid, 3, 3).
        force, shear, shift, lift, kappa: Out; shears are turned with the collider and along its surface now.
    """
    m = 0
    for c in range(len(id)):
        while m < len(known_id) and known_id[m] < id[c]:
            m += 1
        force[c], shift[c], lift[c], kappa[c] = 0.0, 0.0, 0.0, 0.0
        shear[c, 0], shear[c, 1], shear[c, 2] = 0.0, 0.0, 0.0
        if m == len(known_id) or known_id[m] != id[c]:
            continue
        force[c], shift[c], lift[c], kappa[c] = known_force[m], known_shift[m], known_lift[m], known_kappa[m]
        R, along = turns[id[c] // count] if c < rigid else frames[c - rigid], 0.0
        for i in range(3):
            for j in range(3):
                shear[c, i] += R[i, j] * known_shear[m, j]
            along += shear[c, i] * normal[c, i]
        for i in range(3):
            shear[c, i] -= along * normal[c, i]


@kernel()
def store_persistent(
    count, rigid, dt, id, normal, gap, side, normal_force, shear, size, k, mu, base, shift, lift, kappa, is_sheet,
    turns, frames, kept_id, kept_force, kept_shear, kept_side, kept_shift, kept_lift, kept_kappa, kept_normal,
):  # fmt: skip
    """Writes what is remembered of contacts at the end of a step, and returns of how many: see `Memory`.

    `is_sheet`, (c,), and `turns`, (c, 3, 3), are of the rigid colliders, `frames` as for `load_persistent`.
    """
    kept = 0
    for c in range(len(id)):
        force = max(normal_force[c], 0.0)
        # at a sheet or a skin, points that just do not push still have to know their side
        if not (force > 0.0 or c >= rigid or is_sheet[id[c] // count]):
            continue
        s, R = shear[c], turns[id[c] // count] if c < rigid else frames[c - rigid]
        length = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
        cut = min(1.0, mu[c] * force / k[c] / max(length, 1e-300))
        for i in range(3):
            kept_shear[kept, i] = cut * (R[0, i] * s[0] + R[1, i] * s[1] + R[2, i] * s[2])
            kept_normal[kept, i] = R[0, i] * normal[c, 0] + R[1, i] * normal[c, 1] + R[2, i] * normal[c, 2]
        own, allowed = min(base[c], shift[c]), lift[c]
        lets_out = c >= rigid and allowed < 0.0
        if lets_out:  # a depth at the start shrinks, at once where the point is less deep by now
            out = min(-allowed / RESOLVE_TIME, MAX_RESOLVE_SPEED * size[c])
            allowed = max(allowed + out * dt, min(own - normal_force[c] / k[c], 0.0))
            allowed = allowed if allowed < -RESOLVED_DEPTH * size[c] else 0.0
        kept_id[kept], kept_side[kept], kept_force[kept], kept_lift[kept] = id[c], side[c], force, allowed
        rise = SHIFT_RATE * (force / k[c] - own + allowed)
        if rise > 0.0 and own > FREE_SHIFT * size[c]:
            came_out = -normal_force[c] / k[c] - rest_depth(gap[c], shift[c], size[c])
            rise *= shift_rate_factor(own / size[c], came_out, lift[c] - gap[c])
        raised = own + rise
        if lets_out:
            raised = max(raised, allowed)
        kept_shift[kept] = raised if force > 0.0 else allowed if lets_out else 0.0
        kept_kappa[kept] = kappa[c]
        kept += 1
    return kept


@kernel(inline=True, device_only=True)
def shift_rate_factor(height, came_out, depth):
    """Returns which part of a depth's share moves into a shift, below zero out of it.

    What is held from both sides does not come out, however much presses on it: the shifts of both sides would rise
    against each other for ever. So it counts how much came out in the step of the `depth` that there was; where that is
    little, the shift falls back to about FREELY.

    Args:
        height: The shift as it is, in sizes of tets.
        came_out, depth: [m].
    """
    brings = came_out / (FULL_RATE_PROGRESS * SHIFT_RATE * depth) if depth > 0.0 else 1.0
    return min(max(brings, MIN_SHIFT_RATE_FACTOR), 1.0) - (height - FREE_SHIFT) / (MAX_SHIFT - FREE_SHIFT)


@kernel()
def find_movable_points(is_fixed, tets, tet, moves):
    """Writes which points have a node of their tet that is not held, (k,); returns whether all have."""
    all_move = True
    for point in range(len(tet)):
        n = tets[tet[point]]
        moves[point] = not (is_fixed[n[0]] and is_fixed[n[1]] and is_fixed[n[2]] and is_fixed[n[3]])
        all_move = all_move and moves[point]
    return all_move
