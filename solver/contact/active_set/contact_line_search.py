# SPDX-License-Identifier: GPL-3.0-or-later
"""Globalises the active-set iteration: first contacts of a step, line search, contacts that were never reached.

With contacts that push and slide as they do, a step is a minimum of

    φ(v) = ½ vᵀ A v − bᵀ v + Σ ½ max(N, 0)² / k,

convex, with a kink where a contact begins to push, and another where it yields and φ goes on with a slope that stays.
A contains everything else, friction too; N is linear in v. Solving with the contacts that push now is Newton's method
for φ. Where bodies collide hard, Newton's method alone jumps from one wrong set of contacts to the next, so a solve
is followed only as long as φ falls. A step may go on from such a point in between: momentum is conserved, since all
forces act between two sides, and energy does not come from nothing.

Source: Newton's method with a line search for such functions, Sun (1997), On piecewise quadratic Newton and trust
region problems.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel

SIMULTANEOUS_DEPTH = 0.3  # depth behind the first contact of a group up to which others begin with it, in tet sizes
MAX_END_SLOPE_RATIO = 0.1  # rise of φ at the end of a full step over its fall at the start
MAX_BISECTIONS = 20  # of the step length


@kernel()
def keep_earliest_contacts(group_of_contact, previous_force, normal_force, gap, size, k, first, is_active):
    """Deactivates contacts that are reached by velocity alone, but for those that their group reaches first.

    If bodies still move there when these have stopped them, later solves find the other contacts again.

    Args:
        group_of_contact: (k,).
        previous_force: Normal forces in the step before [N], (k,).
        normal_force: At the end of the step by velocity alone [N], (k,).
        gap, size, k: Of the contacts, (k,).
        first: Scratch, for every group, (groups,).
        is_active: Changed, (k,).
    """
    first[:] = 1.0
    for c in range(len(is_active)):
        if is_active[c]:
            distance, group = max(gap[c], 0.0) if previous_force[c] <= 0.0 else 0.0, group_of_contact[c]
            approach = distance + max(normal_force[c], 0.0) / k[c]
            if approach > 0.0:
                first[group] = min(first[group], distance / approach)
    for c in range(len(is_active)):
        if is_active[c] and previous_force[c] <= 0.0:
            distance = max(gap[c], 0.0)
            approach = distance + normal_force[c] / k[c]
            is_active[c] = distance <= first[group_of_contact[c]] * approach + SIMULTANEOUS_DEPTH * size[c]


@kernel()
def line_search_steps(group_of_contact, group, bending, before, after, contacts, step_length):
    """Writes for every island the share of a solve that its group follows, 0 to 1, (islands,).

    Args:
        group_of_contact, group: Of `group_islands`.
        bending: dᵀ H d of the change d of velocities, with the matrix H of the solve, per island, (islands,).
        before, after: Normal forces at both ends of it, negative where a contact would pull [N], (k,).
        contacts: `ContactStateArrays`; H has the stiffness of the active ones that do not yield.
        step_length: Out.
    """
    count, k, yield_force = len(group), contacts.k, contacts.yield_force
    is_active, yields = contacts.is_active, contacts.yields
    bends, smooth, slope, low, high = np.zeros(count), np.zeros(count), np.zeros(count), np.ones(count), np.ones(count)
    for island in range(count):
        bends[group[island]] += bending[island]
        step_length[island] = 1.0
    for island in range(count):
        smooth[island] = bends[island]
    for c in range(len(k)):
        if is_active[c] and not yields[c]:
            smooth[group_of_contact[c]] -= (after[c] - before[c]) ** 2 / k[c]
        has_kink = (before[c] > yield_force[c]) != (after[c] > yield_force[c])
        if has_kink or (before[c] > 0.0) != (after[c] > 0.0):  # a kink in between; without one the end is the minimum
            low[group_of_contact[c]] = 0.0
    for turn in range(MAX_BISECTIONS):
        # φ' along d is −dᵀ H d at the start, since H d is the residual force there
        for island in range(count):
            slope[island] = step_length[island] * max(smooth[island], 0.0) - bends[island]
        for c in range(len(k)):
            change = after[c] - before[c]
            then = min(max(before[c] + step_length[group_of_contact[c]] * change, 0.0), yield_force[c])
            more = then - min(max(before[c], 0.0), yield_force[c])
            slope[group_of_contact[c]] += more * change / k[c]
        is_over = True
        for island in range(count):
            if turn == 0 and slope[island] <= MAX_END_SLOPE_RATIO * bends[island]:
                low[island] = 1.0
            if group[island] != island or low[island] == 1.0:
                continue
            is_over = False
            if slope[island] > 0.0:
                high[island] = step_length[island]
            else:
                low[island] = step_length[island]
            step_length[island] = 0.5 * (low[island] + high[island])
        if is_over:
            break
    for island in range(count):
        step_length[island] = step_length[group[island]]


@kernel()
def apply_step_lengths(start, dt, before, after, step_length, island_of_row, x):
    """Shortens a solve: writes velocities at the step length into `after` [m/s], (n, 3), and their positions, x [m].

    Args:
        start: Node positions at the start of the step [m], (n, 3).
        dt: Δt [s].
        before: Velocities of the solve before [m/s], (n, 3).
        step_length: Of `line_search_steps`.
        island_of_row: Of the pattern.
        after, x: Changed, (n, 3).
    """
    for i in range(len(x)):
        part = step_length[island_of_row[i]]
        if part < 1.0:
            for axis in range(3):
                after[i, axis] = before[i, axis] + part * (after[i, axis] - before[i, axis])
                x[i, axis] = start[i, axis] + dt * after[i, axis]


@kernel()
def deactivate_unreached(found_id, previous_id, id, first, is_active, normal_force):
    """Keeps contacts inactive that are neither found nor stored: their planes end before the points reach them.

    Args:
        found_id, previous_id: Contacts found now, and those of the step before, rising.
        id: The contacts, rising, (k,).
        first: The first of them to look at.
        is_active: Whether they push already, (k,).
        normal_force: [N], changed, (k,).
    """
    f, m = 0, 0
    for c in range(first, len(id)):
        while f < len(found_id) and found_id[f] < id[c]:
            f += 1
        while m < len(previous_id) and previous_id[m] < id[c]:
            m += 1
        was_found = f < len(found_id) and found_id[f] == id[c]
        is_stored = m < len(previous_id) and previous_id[m] == id[c]
        if not is_active[c] and not (was_found or is_stored):
            normal_force[c] = min(normal_force[c], 0.0)
