# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for the contacts of rigid bodies in a step, with their planes as they are.

With u = (V, ω) of every body the step is the minimum of

    φ(u) = ½ uᵀ A u − bᵀ u + Σ ½ max(N, 0)² / k + Σ h(‖s‖; μ N),

N and s as in `contact_step.py`, linear in u. h is quadratic with k up to the shear μ N / k, where the contact begins to
slide, and goes on with the slope μ N: φ is convex where the bounds μ N are those of the last iteration. A is the
inertia of the bodies with what else acts on them.

Source: Newton's method with a line search for such functions, Sun (1997), On piecewise quadratic Newton and trust
region problems.
"""

from __future__ import annotations

import math

import numpy as np

from ...linalg.body_block_cholesky import SIZE
from ...linalg.body_blocks import BodyBlocks, allocate_factors, multiply_blocks, order_blocks, solve_body_blocks
from ...runtime.jit import kernel
from ...runtime.union_find import flatten_labels, union_sets
from .contact_springs import MAX_SINK_DEPTH, lift_of_sunk, sunk_depth
from .rigid_contact_rows import add_transposed, measure_motion, times_velocity

MAX_ITERATIONS = 60
FORCE_TOLERANCE = 1.0e-3  # change of the forces of a group over its normal forces from which it is solved again
SOLVE_TOLERANCE, MAX_SOLVE_ITERATIONS = 1.0e-3, 1000  # of the linear solves
FLOOR_RATIO, LAST_TOLERANCE = (
    1.0e-5,
    1.0e-11,
)  # residual of a linear solve, and of the last, over the largest at a start
MAX_END_SLOPE_RATIO = 0.1  # rise of φ at the end of a full step over its fall at the start
MAX_BISECTIONS = 10  # of the step length
NO_PAIRS = np.zeros(0, np.int64)  # A couples no bodies: contacts alone do


@kernel()
def solve_rigid_contacts(bodies, blocks, rows, contacts, state, max_lifts, dt, forces):
    """Finds how bodies move in a step, and which contacts push and slide at its end.

    Returns how many iterations of linear solves that took, and ‖r‖ / ‖b‖ of the last one, in which the contacts stay as
    they are: the forces are exactly those that follow from the motion then.

    The first iteration is that of the contacts as `state` has them. A group of bodies that touch is left as it is once
    its forces follow from its motion.

    Args:
        bodies: `RigidBodyMotion`; its u is changed.
        blocks: `BodyBlocks` with A, and room for all pairs of bodies that touch.
        rows, contacts, state: `ContactRows`, `ContactArrays` and `ContactStateArrays`.
        max_lifts: How often contacts that sank are lifted.
        dt: Δt [s].
        forces: `ContactForces` at the end, out.
    """
    count, k = len(bodies.u), len(rows.start)
    group, is_solved = np.empty(count, np.int64), bodies.is_free.copy()
    after, shear_after = np.empty(k), np.empty((k, 3))
    residual, change = np.empty((count, SIZE)), np.empty((count, SIZE))
    trial, of_u, step = bodies.u.copy(), np.empty((count, SIZE)), np.ones(count)
    measure_motion(np.arange(k, dtype=np.int64), rows, contacts, state, bodies.u, dt, forces.normal, forces.shear)
    after[:], shear_after[:] = forces.normal, forces.shear
    for c in range(k):
        forces.pushes[c], forces.kappa[c], forces.slides[c] = state.is_active[c], state.kappa[c], False
    lifts, work, largest, floor, elimination = 0, 0, 0.0, 0.0, order_blocks(blocks)
    system = BodyBlocks(blocks.diagonal.copy(), blocks.first, blocks.second, blocks.coupling.copy())
    room = allocate_factors(system, elimination)
    for iteration in range(MAX_ITERATIONS):
        moved = _contacts_of(rows, is_solved)
        _assemble(bodies, blocks, rows, contacts, state, dt, forces, is_solved, moved, system, (residual, of_u))
        start, iterations = solve_body_blocks(
            system, elimination, is_solved, residual, SOLVE_TOLERANCE, floor, MAX_SOLVE_ITERATIONS, change, room
        )
        largest, work = max(largest, start), work + iterations
        floor = largest * FLOOR_RATIO**2
        for body in range(count):
            for i in range(SIZE):
                trial[body, i] = bodies.u[body, i] + change[body, i]
        measure_motion(moved, rows, contacts, state, trial, dt, after, shear_after)
        _group_bodies(rows, forces, moved, after, group)
        is_live = _groups_of(is_solved, group)
        live = _contacts_of(rows, is_live)
        own = live, is_live, group
        if iteration > 0:
            motion = np.flatnonzero(is_solved), change, of_u
            _search_lines(bodies, blocks, rows, state, forces, (after, shear_after), motion, own, step)
        for body in range(count):
            for i in range(SIZE):
                bodies.u[body, i] += step[group[body]] * change[body, i]
        is_over = _update(rows, contacts, state, forces, (after, shear_after), own, step, is_solved)
        for body in range(count):
            is_solved[body] = is_solved[body] and bodies.is_free[body]
        if is_over:
            lifts += 1
            if lifts > max_lifts or not _lift(rows, contacts, state, forces, after, group, bodies.is_free, is_solved):
                break
    forces.slides[:] = False
    moved = _contacts_of(rows, bodies.is_free)
    _assemble(bodies, blocks, rows, contacts, state, dt, forces, bodies.is_free, moved, system, (residual, of_u))
    floor = largest * LAST_TOLERANCE**2
    start, iterations = solve_body_blocks(
        system, elimination, bodies.is_free, residual, 0.0, floor, MAX_SOLVE_ITERATIONS, change, room
    )
    work += iterations
    left, whole = 0.0, 0.0
    for body in range(count):
        for i in range(SIZE):
            bodies.u[body, i] += change[body, i]
            left += residual[body, i] ** 2
            whole += bodies.b[body, i] ** 2 if bodies.is_free[body] else 0.0
    return work, math.sqrt(left / whole) if whole > 0.0 else 0.0


@kernel(device_only=True)
def _contacts_of(rows, is_body):
    """Returns the contacts of which one side is one of these bodies, (n,), rising."""
    which, count = np.empty(len(rows.start), np.int64), 0
    for c in range(len(which)):
        one, other = rows.body[c, 0], rows.body[c, 1]
        if is_body[one] or (other >= 0 and is_body[other]):
            which[count] = c
            count += 1
    return which[:count]


@kernel(device_only=True)
def _groups_of(is_body, group):
    """Returns the bodies whose groups have some of these, (n,)."""
    is_live = np.zeros(len(group), np.bool_)
    for body in range(len(group)):
        if is_body[body]:
            is_live[group[body]] = True
    for body in range(len(group)):
        is_live[body] = is_live[group[body]]
    return is_live


@kernel(device_only=True)
def _assemble(bodies, blocks, rows, contacts, state, dt, forces, is_solved, moved, system, out):
    """Writes the second derivative of φ by solved bodies into `system`, and their −∂φ/∂u and A u − b, (n, 6) each."""
    residual, of_u = out
    multiply_blocks(blocks, np.flatnonzero(is_solved), NO_PAIRS, bodies.u, of_u)
    for body in range(len(of_u)):
        if is_solved[body]:
            for i in range(SIZE):
                of_u[body, i] -= bodies.b[body, i]
                residual[body, i] = -of_u[body, i]
                for j in range(SIZE):
                    system.diagonal[body, i, j] = blocks.diagonal[body, i, j]
    for pair in range(len(system.first)):
        if is_solved[system.first[pair]] and is_solved[system.second[pair]]:
            for i in range(SIZE):
                for j in range(SIZE):
                    system.coupling[pair, i, j] = 0.0
    room = np.empty((3, 3)), np.empty(3), np.empty((2, 3, SIZE))
    _add_contacts(moved, rows, contacts, state, forces, is_solved, dt, room, system, residual)


@kernel(device_only=True, no_refcount=True)
def _add_contacts(moved, rows, contacts, state, forces, is_solved, dt, room, system, residual):
    """Adds what contacts of solved bodies do to A and −∂φ/∂u; `room` is for a K, a force and two products with J."""
    K, f, B = room
    for c in moved:
        if not forces.pushes[c]:
            continue
        n, s, kappa = contacts.normal[c], forces.shear[c], forces.kappa[c]
        length = s[0] * s[0] + s[1] * s[1] + s[2] * s[2]
        along = kappa / length if forces.slides[c] and length > 0.0 else 0.0
        for i in range(3):
            f[i] = dt * (forces.normal[c] * n[i] - kappa * s[i])
            for j in range(3):
                K[i, j] = dt * dt * ((state.k[c] - kappa) * n[i] * n[j] - along * s[i] * s[j])
            K[i, i] += dt * dt * kappa
        for side in range(2):
            b = rows.body[c, side]
            if b < 0 or not is_solved[b]:
                continue
            r, sign = rows.arm[c, side], 1.0 if side == 0 else -1.0
            times_velocity(K, r, B[side])
            add_transposed(r, B[side], system.diagonal[b])
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                residual[b, i] += sign * f[i]
                residual[b, 3 + i] += sign * (r[j] * f[k] - r[k] * f[j])
        pair = rows.pair[c]
        if pair >= 0 and is_solved[rows.body[c, 0]] and is_solved[rows.body[c, 1]]:
            side = 0 if rows.body[c, 0] == system.first[pair] else 1
            for i in range(3):
                for j in range(SIZE):
                    B[1 - side, i, j] = -B[1 - side, i, j]
            add_transposed(rows.arm[c, side], B[1 - side], system.coupling[pair])


@kernel(device_only=True)
def _group_bodies(rows, forces, moved, after, group):
    """Writes the lowest body of those that contacts join which push, or would after a solve, (n,)."""
    for body in range(len(group)):
        group[body] = body
    for c in range(len(after)):
        if rows.body[c, 1] >= 0 and forces.pushes[c]:
            union_sets(group, rows.body[c, 0], rows.body[c, 1])
    for c in moved:
        if rows.body[c, 1] >= 0 and rows.may_push[c] and after[c] > 0.0:
            union_sets(group, rows.body[c, 0], rows.body[c, 1])
    flatten_labels(group)


@kernel(device_only=True)
def _search_lines(bodies, blocks, rows, state, forces, end, motion, own, step):
    """Writes for every group the share of a solve that it follows, 0 to 1, to where φ stops falling, (n,).

    Args:
        bodies, blocks, rows, state, forces: See `solve_rigid_contacts`.
        end: N and s where the solve ends.
        motion: Which bodies were solved, the change of u, and A u − b where it starts.
        own: Contacts and bodies of groups with solved bodies, and the group of every body.
        step: Out.
    """
    solved, change, of_u = motion
    live, is_live, group = own
    count = len(group)
    bent, start, bends = np.empty((count, SIZE)), np.zeros(count), np.zeros(count)
    multiply_blocks(blocks, solved, NO_PAIRS, change, bent)
    for body in solved:
        for i in range(SIZE):
            start[group[body]] += change[body, i] * of_u[body, i]
            bends[group[body]] += change[body, i] * bent[body, i]
    low, high, slope, fall = np.zeros(count), np.ones(count), np.empty(count), np.zeros(count)
    is_whole = ~is_live
    _slopes(live, rows, state, forces, end, group, is_whole, low, fall)
    for g in range(count):
        fall[g] += start[g]
        step[g] = 1.0
    for turn in range(MAX_BISECTIONS):
        _slopes(live, rows, state, forces, end, group, is_whole, step, slope)
        is_over = True
        for g in range(count):
            if group[g] != g or is_whole[g]:
                continue
            own = slope[g] + start[g] + step[g] * bends[g]
            if turn == 0 and own <= MAX_END_SLOPE_RATIO * abs(fall[g]):
                is_whole[g] = True
                continue
            is_over = False
            if own > 0.0:
                high[g] = step[g]
            else:
                low[g] = step[g]
            step[g] = 0.5 * (low[g] + high[g])
        if is_over:
            break


@kernel(device_only=True, no_refcount=True)
def _slopes(live, rows, state, forces, end, group, is_known, step, slope):
    """Writes what contacts add to the slope of φ along a solve at a share of it, for groups not known yet, (n,)."""
    (after, shear_after), slope[:] = end, 0.0
    for c in live:
        g, before = group[rows.body[c, 0]], forces.normal[c]
        if is_known[g] or not (rows.may_push[c] or forces.pushes[c]):
            continue
        part, changed = step[g], after[c] - before
        slope[g] += max(before + part * changed, 0.0) * changed / state.k[c]
        if not before > 0.0:
            continue
        along, length = 0.0, 0.0
        for i in range(3):
            moved = shear_after[c, i] - forces.shear[c, i]
            s = forces.shear[c, i] + part * moved
            along, length = along + s * moved, length + s * s
        length, bound = math.sqrt(length), state.mu[c] * before
        slope[g] += along * (state.k[c] if state.k[c] * length <= bound else bound / length)


@kernel(device_only=True)
def _update(rows, contacts, state, forces, end, own, step, is_solved):
    """Gives contacts the forces that follow from the motion; returns whether these are, in all groups, those solved.

    Writes which bodies have to be solved again, (n,).
    """
    live, _, group = own
    wrong, pushed, room = np.zeros(len(group)), np.zeros(len(group)), np.empty((2, 3))
    _update_forces(live, rows, contacts, state, forces, end, group, step, (wrong, pushed), room)
    is_over = True
    for body in range(len(group)):
        g = group[body]
        is_solved[body] = wrong[g] > FORCE_TOLERANCE * pushed[g]
        is_over = is_over and not is_solved[body]
    return is_over


@kernel(device_only=True, no_refcount=True)
def _update_forces(live, rows, contacts, state, forces, end, group, step, sums, room):
    """Gives contacts the forces that follow from the motion; adds their changes and the normal forces by groups [N].

    `sums` are these, and `room` is for two vectors. What the solve ended with becomes what the group follows.
    """
    (after, shear_after), (wrong, pushed), now, solved = end, sums, room[0], room[1]
    for c in live:
        b = rows.body[c, 0]
        g, n, mu, k = group[b], contacts.normal[c], state.mu[c], state.k[c]
        part, s, kappa = step[g], forces.shear[c], forces.kappa[c]
        N = forces.normal[c] + part * (after[c] - forces.normal[c])
        N_solved, squared, along = after[c] if forces.pushes[c] else 0.0, 0.0, 0.0
        for i in range(3):
            squared += s[i] * s[i]
            along += s[i] * shear_after[c, i]
        share = along / squared if forces.slides[c] and squared > 0.0 else 0.0
        may = rows.may_push[c] or forces.pushes[c]
        pushes, length = may and N > 0.0, 0.0
        for i in range(3):
            # a contact that slides was solved with the friction of its shear, turned by what moves across it
            moved = shear_after[c, i] + (s[i] - share * s[i] if forces.slides[c] else 0.0)
            solved[i] = -kappa * moved if forces.pushes[c] else 0.0
            now[i] = s[i] + part * (shear_after[c, i] - s[i])
            length += now[i] * now[i]
        length = math.sqrt(length)
        slides = pushes and mu * N < k * length
        next_kappa = (mu * N / length if slides else k) if pushes else 0.0
        error = 0.0
        for i in range(3):
            error += ((max(N, 0.0) if may else 0.0) * n[i] - next_kappa * now[i] - N_solved * n[i] - solved[i]) ** 2
            s[i], shear_after[c, i] = now[i], now[i]
        wrong[g] += math.sqrt(error)
        pushed[g] += max(N, 0.0) if may else 0.0
        forces.normal[c], forces.pushes[c], after[c] = N, pushes, N
        forces.kappa[c], forces.slides[c] = next_kappa, slides


@kernel(device_only=True)
def _lift(rows, contacts, state, forces, after, group, is_free, is_solved):
    """Lifts contacts that sank in too deep, of bodies that are not held, and marks the bodies of their groups.

    Returns whether there are any. `after` are the normal forces, too.
    """
    count = len(group)
    sank = np.zeros(count, np.bool_)
    for c in _contacts_of(rows, is_free):
        if forces.pushes[c]:
            sunk = sunk_depth(forces.normal[c], state.k[c], state.shift[c], contacts.gap[c])
            if state.shift[c] >= 0.0 and sunk > MAX_SINK_DEPTH * state.size[c]:
                rise = lift_of_sunk(sunk, state.size[c])
                state.shift[c] += rise
                forces.normal[c] += state.k[c] * rise
                after[c] = forces.normal[c]
                sank[group[rows.body[c, 0]]] = True
    is_any = False
    for body in range(count):
        is_solved[body] = sank[group[body]] and is_free[body]
        is_any = is_any or is_solved[body]
    return is_any
