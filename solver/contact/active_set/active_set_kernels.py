# SPDX-License-Identifier: GPL-3.0-or-later
"""Which contacts push and which slide after a solve, decided for every group of bodies that touch.

What one group wants is weighed against what that group bears, so nothing far away drowns it: it goes as it would alone.
Contacts are those of a `Touching` with their `Pushing`, k of them; islands are those of the model's pattern.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import kernel
from ..detection.multi_tet_contacts import MAX_TETS_PER_CONTACT
from .contact_kernels import MAX_PUSH_OUT_PER_STEP

NORMAL_FORCE_TOLERANCE = 0.02  # share of the normal forces that may be wrong when no further solve is asked for
FRICTION_TOLERANCE = 0.1  # the same for friction; it is settled over the steps, since κ is remembered
MAX_PULL_RATIO = 0.1  # share of what contacts press by which they may pull when only some are added
MAX_SINK_DEPTH = (
    0.03  # how much deeper than at the start what pushes is when it is lifted within a step, in sizes of tets
)
CRUSH_DEPTH = 0.1  # the same from which that is worth many solves, and to take the step again in halves
MAX_ENERGY_RATIO = (
    1.2  # energy of motion over that of the start of a step, from which what is not content has gone wrong
)
DEEP_PENETRATION = 0.02  # depth of what was not pushed yet that is worth many solves, in sizes of tets

# what is summed up of every group
(
    NORMAL_SUM,
    ACTIVE_NORMAL_SUM,
    PULL_SUM,
    FRICTION_SUM,
    WRONG_NORMAL_SUM,
    FRICTION_CHANGE_SUM,
    MAX_NEW_DEPTH,
    MAX_SUNK_DEPTH,
    HAS_CHANGES,
    IS_REQUESTED,
    SUM_COUNT,
) = range(11)

# what becomes of a group; the last goes on since its rotations were wrong, its contacts being content
CONVERGED, STOPPED, DIVERGED, CONTINUES, ROTATES = range(5)


@kernel()
def group_islands(normal_force, on, ends, tets, island_of_row, group, of):
    """Writes the lowest island of each island's group, (islands,), which contacts join that push or have to.

    And that of each contact, `of`, (k,).
    """
    for island in range(len(group)):
        group[island] = island
    for c in range(len(on)):
        if not on[c] and not normal_force[c] > 0.0:
            continue
        for leg in range(1, MAX_TETS_PER_CONTACT):
            if ends[c, leg] < 0:
                break
            one, other = island_of_row[tets[ends[c, 0], 0]], island_of_row[tets[ends[c, leg], 0]]
            while group[one] != one:
                one = group[one]
            while group[other] != other:
                other = group[other]
            if one < other:
                group[other] = one
            else:
                group[one] = other
    for island in range(len(group)):  # what it points at is lower, and done
        group[island] = group[group[island]]
    for c in range(len(on)):
        of[c] = group[island_of_row[tets[ends[c, 0], 0]]]


@kernel()
def update_active_set(
    only_add, only_drop, rigid, may_lift, may_go_on, may_go_on_long, group, of, share, normal_force, shear, gap,
    start_shear, size, k, mu, on, kappa, slip, shift, is_wrong, fate,
):  # fmt: skip
    """Changes which contacts push, `on`, and how they slide, `kappa`, to what the end of a solve says.

    Only those of groups that have to be solved again are changed, and the others when there is none of these any more:
    what is content stays as it was solved.

    Args:
        only_add: Whether contacts that push go on pushing, where all pull no more than a share of what bears.
        only_drop: Whether none begins to push.
        rigid: How many of the contacts, the first, are with rigid colliders. The `shift` of others that sink in too
            deep rises until they push as much nearer to the surface, once nothing else is left to change: it brings
            energy.
        may_lift: Whether that is done for what is not crushed, too.
        may_go_on: Whether groups may be solved again that want to.
        may_go_on_long: Whether those may where that is worth many solves.
        group, of: Of `group_islands`.
        share: How far each island has followed the solve; what has not to its end is not content.
        normal_force, shear, gap, size, k, mu, on, kappa, slip, shift: Of the contacts; `slip`, friction of the
            step before, holds for one solve. It was wrong where the contact would have slid back along s0.
        start_shear: s0 [m], (k, 3).
        is_wrong: Islands that want to be solved again whatever contacts say, (islands,).
        fate: Out, for every island, (islands,): CONTENT, STOPS with wishes left, LOST with great ones, GOES_ON, TURNS.

    Returns:
        The highest fate of all.
    """
    sums, wishes, wanted = np.zeros((len(group), SUM_COUNT)), np.empty(len(on), np.bool_), np.empty((len(on), 2))
    _sum_forces(of, normal_force, mu, on, sums)
    _propose_states(
        only_add, only_drop, rigid, may_lift, of, normal_force, shear, gap, start_shear, size, k, mu, on, kappa, slip,
        shift, sums, wishes, wanted,
    )  # fmt: skip
    for island in range(len(group)):
        if is_wrong[island]:
            sums[group[island], IS_REQUESTED] = 1.0
    highest = _decide_groups(may_go_on, may_go_on_long, group, share, sums, fate)
    for c in range(len(on)):
        if fate[of[c]] >= CONTINUES or highest < CONTINUES:
            on[c], kappa[c], slip[c] = wishes[c], wanted[c, 0], 0.0
            if sums[of[c], HAS_CHANGES] == 0.0:
                shift[c] = wanted[c, 1]
    return highest


@kernel(device_only=True)
def _sum_forces(of, normal_force, mu, on, sums):
    """Sums up what presses, bears, pulls and rubs in each group."""
    for c in range(len(on)):
        own, N = sums[of[c]], max(normal_force[c], 0.0)
        own[NORMAL_SUM] += N
        own[FRICTION_SUM] += mu[c] * N
        if on[c]:
            own[ACTIVE_NORMAL_SUM] += N
            own[PULL_SUM] -= min(normal_force[c], 0.0)


@kernel(device_only=True)
def _propose_states(
    only_add, only_drop, rigid, may_lift, of, normal_force, shear, gap, start_shear, size, k, mu, on, kappa, slip,
    shift, sums, wishes, wanted,
):  # fmt: skip
    """Writes whether each contact wants to push, with which κ and shift, and sums up what that changes."""
    for c in range(len(on)):
        own, N = sums[of[c]], max(normal_force[c], 0.0)
        goes_on = only_add and not own[PULL_SUM] > MAX_PULL_RATIO * own[ACTIVE_NORMAL_SUM]
        pushes = normal_force[c] > 0.0 or (on[c] and goes_on)
        wanted[c, 0], wanted[c, 1] = kappa[c], shift[c]
        if on[c] != pushes:
            own[WRONG_NORMAL_SUM] += abs(normal_force[c])
            pushes = pushes and not only_drop
        wishes[c] = pushes
        if not on[c]:
            own[MAX_NEW_DEPTH] = max(own[MAX_NEW_DEPTH], normal_force[c] / (k[c] * size[c]))
            continue
        # a contact that was off says by its depth that it has to push, not how strongly it will
        length = math.sqrt(shear[c, 0] ** 2 + shear[c, 1] ** 2 + shear[c, 2] ** 2)
        slides = mu[c] * N < k[c] * length
        now = mu[c] * N / length if slides else k[c]
        if pushes:
            along = shear[c, 0] * start_shear[c, 0] + shear[c, 1] * start_shear[c, 1]
            along += shear[c, 2] * start_shear[c, 2]
            rubbed = slip[c] if slip[c] > 0.0 else kappa[c] * length
            if along > 0.0 or slip[c] <= 0.0:
                own[FRICTION_CHANGE_SUM] += abs(now * length - rubbed)
            else:  # it came to rest; another force would push it to and fro for ever
                own[FRICTION_CHANGE_SUM] += now * length + rubbed
                now = k[c]
        wanted[c, 0] = now
        # what is deep already comes out by and by: pushed out at once it would fly off
        sunk = N / k[c] - shift[c] - max(-gap[c], 0.0)
        if c >= rigid and shift[c] >= 0.0 and sunk > (MAX_SINK_DEPTH if may_lift else CRUSH_DEPTH) * size[c]:
            wanted[c, 1] += min(sunk - 0.5 * MAX_SINK_DEPTH * size[c], MAX_PUSH_OUT_PER_STEP * size[c])
            own[MAX_SUNK_DEPTH] = max(own[MAX_SUNK_DEPTH], sunk / size[c])


@kernel(device_only=True)
def _decide_groups(may_go_on, may_go_on_long, group, share, sums, fate):
    """Writes what becomes of every island, and returns the highest of all."""
    highest = CONVERGED
    for island in range(len(group)):
        if group[island] != island:
            fate[island] = fate[group[island]]
            continue
        own = sums[island]
        changes = (
            own[WRONG_NORMAL_SUM] > NORMAL_FORCE_TOLERANCE * own[NORMAL_SUM]
            or own[FRICTION_CHANGE_SUM] > FRICTION_TOLERANCE * own[FRICTION_SUM]
            or share[island] < 1.0
        )
        own[HAS_CHANGES] = 1.0 if changes else 0.0
        is_crushed = own[MAX_SUNK_DEPTH] > CRUSH_DEPTH
        is_violent = changes and (
            own[MAX_NEW_DEPTH] > DEEP_PENETRATION or own[PULL_SUM] > MAX_PULL_RATIO * own[ACTIVE_NORMAL_SUM]
        )
        goes_on = may_go_on or (may_go_on_long and (is_violent or is_crushed))
        wants = changes or own[MAX_SUNK_DEPTH] > 0.0 or own[IS_REQUESTED] > 0.0
        fate[island] = (CONTINUES if goes_on else STOPPED) if wants else CONVERGED
        if fate[island] == CONTINUES and own[IS_REQUESTED] > 0.0 and not changes:
            fate[island] = ROTATES
        is_astray = (
            is_violent
            or is_crushed
            or share[island] < 1.0
            or own[WRONG_NORMAL_SUM] > NORMAL_FORCE_TOLERANCE * own[NORMAL_SUM]
        )
        if fate[island] == STOPPED and is_astray:
            fate[island] = DIVERGED
        highest = max(highest, fate[island])
    return highest


@kernel()
def has_gained_energy(least, fate, group, island_of_row, mass, before, v, gained):
    """Whether a group that is not content moves with more energy than it can have from velocities and what was stored.

    Args:
        least: Speed below which nothing is looked at [m/s].
        fate, group, island_of_row: As above.
        mass: Of nodes [kg], (n,).
        before, v: Velocities at the start and end of the step [m/s], (n, 3).
        gained: Work space, (islands, 2).
    """
    gained[:] = 0.0
    for i in range(len(mass)):
        own = gained[group[island_of_row[i]]]
        for axis in range(3):
            own[0] += MAX_ENERGY_RATIO * mass[i] * before[i, axis] ** 2
            own[1] += mass[i] * v[i, axis] ** 2
        own[0] += mass[i] * least**2
    for island in range(len(group)):
        if fate[island] != CONVERGED and gained[island, 1] > gained[island, 0]:
            return True
    return False


@kernel()
def find_frozen_nodes(fate, island_of_row, is_done):
    """Writes which nodes are of islands that are not solved again, (n,)."""
    for i in range(len(is_done)):
        is_done[i] = fate[island_of_row[i]] < CONTINUES
