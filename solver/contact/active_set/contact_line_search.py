# SPDX-License-Identifier: GPL-3.0-or-later
"""From solve to solve without losing the way: what is met first, how far a solve is followed, and what is off the way.

With contacts that push and slide as they do, a step is a minimum of

    φ(v) = ½ vᵀ A v − bᵀ v + Σ ½ max(N, 0)² / k,

convex, with a kink where a contact begins to push: A has the rest, friction as well, N is linear in v. Solving with the
contacts that push now is Newton's method for it, and where bodies hit each other hard that jumps from one wrong set of
contacts to the next. So a solve is followed only as far as φ falls. Where it is not followed to its end the step
goes on from in between: momentum stays, since all forces are between two sides, and energy does not come from nothing.

Source: Newton's method with a line search for such functions, Sun (1997), On piecewise quadratic Newton and trust
region problems.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel

SIMULTANEOUS_DEPTH = 0.3  # how far behind the first contact of a group others are met at once with it, in sizes of tets
MAX_END_SLOPE_RATIO = (
    0.1  # slope at the end of a solve that is followed wholly, uphill, over that at its start, downhill
)
MAX_BISECTIONS = 20  # of the way along a solve


@kernel()
def keep_earliest_contacts(of, known_force, normal_force, gap, size, k, first, on):
    """Lets of contacts that are only reached by velocity no others push, `on`, than those that their group meets first.

    All others are found again, where they are then, if bodies still go there when these have stopped them.

    Args:
        of: Group of each contact, (k,).
        known_force: What was remembered of them [N], (k,).
        normal_force, gap, size, k: At the end of the step by velocity alone, and of the contacts, (k,).
        first: Work space, for every group, (groups,).
        on: Changed, (k,).
    """
    first[:] = 1.0
    for c in range(len(on)):
        if on[c]:
            there = max(gap[c], 0.0) if known_force[c] <= 0.0 else 0.0
            way = there + max(normal_force[c], 0.0) / k[c]
            if way > 0.0:
                first[of[c]] = min(first[of[c]], there / way)
    for c in range(len(on)):
        if on[c] and known_force[c] <= 0.0:
            there = max(gap[c], 0.0)
            way = there + normal_force[c] / k[c]
            on[c] = there <= first[of[c]] * way + SIMULTANEOUS_DEPTH * size[c]


@kernel()
def line_search_steps(of, group, bending, before, after, k, on, share):
    """Writes for every island how far its group follows a solve, 0 to 1, (islands,).

    Args:
        of, group: Of `join_islands`.
        bending: dᵀ H d of the way d of the solve, with the matrix H that was solved, per island, (islands,).
        before, after: Normal forces at both ends of it, negative where a contact would pull [N], (k,).
        k, on: Of the contacts; those that are on were in H.
        share: Out.
    """
    count = len(group)
    bends, smooth, slope, low, high = np.zeros(count), np.zeros(count), np.zeros(count), np.ones(count), np.ones(count)
    for island in range(count):
        bends[group[island]] += bending[island]
        share[island] = 1.0
    for island in range(count):
        smooth[island] = bends[island]
    for c in range(len(k)):
        if on[c]:
            smooth[of[c]] -= (after[c] - before[c]) ** 2 / k[c]
        if (before[c] > 0.0) != (after[c] > 0.0):  # a kink on the way; without one its end is the minimum
            low[of[c]] = 0.0
    for turn in range(MAX_BISECTIONS):
        # φ' along the way: −dᵀ H d at its start, since H d is the force that was lacking there
        for island in range(count):
            slope[island] = share[island] * max(smooth[island], 0.0) - bends[island]
        for c in range(len(k)):
            change = after[c] - before[c]
            more = max(before[c] + share[of[c]] * change, 0.0) - max(before[c], 0.0)
            slope[of[c]] += more * change / k[c]
        is_over = True
        for island in range(count):
            if turn == 0 and slope[island] <= MAX_END_SLOPE_RATIO * bends[island]:
                low[island] = 1.0
            if group[island] != island or low[island] == 1.0:
                continue
            is_over = False
            if slope[island] > 0.0:
                high[island] = share[island]
            else:
                low[island] = share[island]
            share[island] = 0.5 * (low[island] + high[island])
        if is_over:
            break
    for island in range(count):
        share[island] = share[group[island]]


@kernel()
def apply_step_lengths(start, dt, before, after, share, island_of_row, x):
    """Writes into `after` the velocities as far as a solve is followed [m/s], (n, 3), and where they lead, x [m].

    Args:
        start: Node positions at the start of the step [m], (n, 3).
        dt: Δt [s].
        before: Velocities of the solve before [m/s], (n, 3).
        share: Of `line_search_steps`.
        island_of_row: Of the pattern.
        after, x: Changed, (n, 3).
    """
    for i in range(len(x)):
        part = share[island_of_row[i]]
        if part < 1.0:
            for axis in range(3):
                after[i, axis] = before[i, axis] + part * (after[i, axis] - before[i, axis])
                x[i, axis] = start[i, axis] + dt * after[i, axis]


@kernel()
def deactivate_unreached(found_id, known_id, id, first, on, normal_force):
    """Lets contacts not push that are neither found nor remembered: their planes end before the points reach them.

    Args:
        found_id, known_id: What is found now, and what is remembered, rising.
        id: The contacts, rising, (k,).
        first: The first of them that this is true of.
        on: Whether they push already, (k,).
        normal_force: [N], changed, (k,).
    """
    f, m = 0, 0
    for c in range(first, len(id)):
        while f < len(found_id) and found_id[f] < id[c]:
            f += 1
        while m < len(known_id) and known_id[m] < id[c]:
            m += 1
        is_there = (f < len(found_id) and found_id[f] == id[c]) or (m < len(known_id) and known_id[m] == id[c])
        if not on[c] and not is_there:
            normal_force[c] = min(normal_force[c], 0.0)
