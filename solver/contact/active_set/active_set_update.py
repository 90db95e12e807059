# SPDX-License-Identifier: GPL-3.0-or-later
"""Updates the active set after a solve: which contacts push and which slide, for each group of bodies that touch.

The errors of a group are compared with the forces in that group, so a distant group cannot hide them: each group
converges as it would alone. Contacts are those of a `ContactSet` and its `ContactState`, k of them; islands are those
of the model's pattern.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...constraints.tet_pair_springs import MAX_TETS_PER_CONTACT
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from ...runtime.union_find import flatten_labels, union_sets
from ..detection.contact_set import Int8s
from .contact_springs import MAX_SINK_DEPTH, lift_of_sunk, sunk_depth
from .coulomb_friction import friction_change

NORMAL_FORCE_TOLERANCE = 0.02  # share of the normal forces that may be wrong without another solve
FRICTION_TOLERANCE = 0.1  # the same for friction; it converges over several steps, since κ is stored
MAX_PULL_RATIO = 0.1  # pulling over pushing forces up to which contacts are added only
CRUSH_DEPTH = 0.1  # such a depth that justifies many solves, and halving the step
MAX_ENERGY_RATIO = 1.2  # kinetic energy over that at the start of a step from which a step without convergence failed
DEEP_PENETRATION = 0.02  # depth in tet sizes of a new contact that justifies many solves

# columns of the sums over a group
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
    HAS_PIECES,
    TOUCHES_BODIES,
    SUM_COUNT,
) = range(13)

# status of a group; ROTATES: its contacts have converged, but its rotations need another solve
CONVERGED, STOPPED, DIVERGED, CONTINUES, ROTATES = range(5)


class SolveRules(NamedTuple):
    """What may change after a solve of a step.

    Attributes:
        only_add: Active contacts stay active where all pull no more than a share of what the active ones push.
        only_drop: No contact becomes active.
        may_lift: Contacts that sank are lifted, and not only those that are crushed.
        may_continue: A group without convergence is solved again.
        may_continue_longer: The same where an island of the group is a piece of a broken body, or forces of a body that
            touches colliders alone are wrong; what hits another body so hard is better halved.
        may_continue_at_impact: The same where that justifies many solves.
    """

    only_add: bool
    only_drop: bool
    may_lift: bool
    may_continue: bool
    may_continue_longer: bool
    may_continue_at_impact: bool


class ContactGroups(NamedTuple):
    """Islands that contacts join to groups.

    Attributes:
        group: Lowest island of each island's group, (islands,).
        of_contact: Group of each contact, (k,).
        step_length: Share of the solve that each island follows; a group that follows a part has not converged,
            (islands,).
        is_wrong: Islands that need another solve whatever their contacts say, (islands,).
        is_piece: Islands that are pieces of a broken body, (islands,).
        status: Out, for each island, (islands,): CONVERGED, STOPPED with small errors, DIVERGED with large ones,
            CONTINUES or ROTATES.
    """

    group: Indices
    of_contact: Indices
    step_length: Floats
    is_wrong: Bools
    is_piece: Bools
    status: Int8s


class ProposedStates(NamedTuple):
    """Whether each contact should push and yield, (k,) each, and its κ and shift, (k, 2)."""

    is_active: Bools
    yields: Bools
    kappa_and_shift: Floats


@kernel()
def group_islands(normal_force, is_active, end_tet, tets, island_of_row, group, group_of_contact):
    """Writes the lowest island of each island's group, (islands,), and the group of each contact, (k,).

    Contacts join the islands of their tets, (k, 4), if they push or should push.
    """
    for island in range(len(group)):
        group[island] = island
    for c in range(len(is_active)):
        if not is_active[c] and not normal_force[c] > 0.0:
            continue
        for end in range(1, MAX_TETS_PER_CONTACT):
            if end_tet[c, end] < 0:
                break
            union_sets(group, island_of_row[tets[end_tet[c, 0], 0]], island_of_row[tets[end_tet[c, end], 0]])
    flatten_labels(group)
    for c in range(len(is_active)):
        group_of_contact[c] = group[island_of_row[tets[end_tet[c, 0], 0]]]


@kernel()
def update_active_set(rules, groups, contacts, state, rigid_count, normal_force, shear):
    """Changes which contacts push and how they slide to what the end of a solve says; returns the highest status.

    Only groups that are solved again change, and all others once there is none of these: until then contacts stay as
    they were in the solve.

    Args:
        rules: `SolveRules`.
        groups: `ContactGroups`.
        contacts, state: `ContactArrays` and `ContactStateArrays`.
        rigid_count: How many contacts, the first, are with rigid colliders. The shift of others that sink in too deep
            rises until they push as much nearer to the surface, but only once nothing else changes: it adds energy.
        normal_force, shear: Of `measure_contacts` at the end of the solve.
    """
    group, of = groups.group, groups.of_contact
    sums = np.zeros((len(group), SUM_COUNT))
    proposed = ProposedStates(np.empty(len(of), np.bool_), np.empty(len(of), np.bool_), np.empty((len(of), 2)))
    _sum_forces(of, normal_force, state.yield_force, state.mu, state.is_active, sums)
    _propose_states(rules, rigid_count, of, contacts.gap, state, normal_force, shear, sums, proposed)
    for island in range(len(group)):
        if groups.is_wrong[island]:
            sums[group[island], IS_REQUESTED] = 1.0
        if groups.is_piece[island]:
            sums[group[island], HAS_PIECES] = 1.0
    highest = _decide_groups(rules, groups, sums)
    for c in range(len(of)):
        if groups.status[of[c]] >= CONTINUES or highest < CONTINUES:
            state.is_active[c], state.kappa[c] = proposed.is_active[c], proposed.kappa_and_shift[c, 0]
            state.sliding_friction[c], state.yields[c] = 0.0, proposed.yields[c]
            if sums[of[c], HAS_CHANGES] == 0.0:
                state.shift[c] = proposed.kappa_and_shift[c, 1]
    return highest


@kernel(device_only=True)
def _sum_forces(of, normal_force, yield_force, mu, is_active, sums):
    """Sums the forces of each group."""
    for c in range(len(is_active)):
        own, N = sums[of[c]], min(max(normal_force[c], 0.0), yield_force[c])
        own[NORMAL_SUM] += N
        own[FRICTION_SUM] += mu[c] * N
        if is_active[c]:
            own[ACTIVE_NORMAL_SUM] += N
            own[PULL_SUM] -= min(normal_force[c], 0.0)


@kernel(device_only=True)
def _propose_states(rules, rigid_count, of, gap, state, normal_force, shear, sums, proposed):
    """Writes the state that each contact should have, and sums what this changes in each group."""
    k, mu, kappa, size, shift, is_active = state.k, state.mu, state.kappa, state.size, state.shift, state.is_active
    next_active, next_values, yield_force = proposed.is_active, proposed.kappa_and_shift, state.yield_force
    for c in range(len(is_active)):
        own, N = sums[of[c]], min(max(normal_force[c], 0.0), yield_force[c])
        stays = rules.only_add and not own[PULL_SUM] > MAX_PULL_RATIO * own[ACTIVE_NORMAL_SUM]
        pushes = normal_force[c] > 0.0 or (is_active[c] and stays)
        next_values[c, 0], next_values[c, 1] = kappa[c], shift[c]
        if is_active[c] != pushes:
            own[WRONG_NORMAL_SUM] += abs(normal_force[c])
            pushes = pushes and not rules.only_drop
        next_active[c] = pushes
        if c >= rigid_count and (pushes or is_active[c]):
            own[TOUCHES_BODIES] = 1.0
        if not is_active[c]:
            own[MAX_NEW_DEPTH] = max(own[MAX_NEW_DEPTH], normal_force[c] / (k[c] * size[c]))
            proposed.yields[c] = False
            continue
        # the depth of an inactive contact tells that it has to push, not how strongly it will
        proposed.yields[c] = normal_force[c] > yield_force[c]
        if proposed.yields[c] != state.yields[c]:
            own[WRONG_NORMAL_SUM] += abs(normal_force[c] - yield_force[c])
        length = math.sqrt(shear[c, 0] ** 2 + shear[c, 1] ** 2 + shear[c, 2] ** 2)
        slides = mu[c] * N < k[c] * length
        next_kappa = mu[c] * N / length if slides else k[c]
        if pushes:
            change, turns_back = friction_change(
                shear[c], state.shear[c], kappa[c], state.sliding_friction[c], length, next_kappa
            )
            own[FRICTION_CHANGE_SUM] += change
            if turns_back:
                next_kappa = k[c]
        next_values[c, 0] = next_kappa
        # what started deep does not count as sunk: pushed out at once, the point would fly off
        sunk = sunk_depth(N, k[c], shift[c], gap[c])
        if (
            c >= rigid_count
            and shift[c] >= 0.0
            and sunk > (MAX_SINK_DEPTH if rules.may_lift else CRUSH_DEPTH) * size[c]
        ):
            next_values[c, 1] += lift_of_sunk(sunk, size[c])
            own[MAX_SUNK_DEPTH] = max(own[MAX_SUNK_DEPTH], sunk / size[c])


@kernel(device_only=True)
def _decide_groups(rules, groups, sums):
    """Writes the status of every island, and returns the highest."""
    group, step_length, status = groups.group, groups.step_length, groups.status
    highest = CONVERGED
    for island in range(len(group)):
        if group[island] != island:
            status[island] = status[group[island]]
            continue
        own = sums[island]
        has_wrong_forces = own[WRONG_NORMAL_SUM] > NORMAL_FORCE_TOLERANCE * own[NORMAL_SUM]
        has_changes = (
            has_wrong_forces
            or own[FRICTION_CHANGE_SUM] > FRICTION_TOLERANCE * own[FRICTION_SUM]
            or step_length[island] < 1.0
        )
        own[HAS_CHANGES] = 1.0 if has_changes else 0.0
        is_crushed = own[MAX_SUNK_DEPTH] > CRUSH_DEPTH
        is_violent = has_changes and (
            own[MAX_NEW_DEPTH] > DEEP_PENETRATION or own[PULL_SUM] > MAX_PULL_RATIO * own[ACTIVE_NORMAL_SUM]
        )
        has_large_error = is_violent or is_crushed or step_length[island] < 1.0 or has_wrong_forces
        takes_more = own[HAS_PIECES] > 0.0 or (has_large_error and own[TOUCHES_BODIES] == 0.0)
        may_continue = rules.may_continue_longer if takes_more else rules.may_continue
        continues = may_continue or (rules.may_continue_at_impact and (is_violent or is_crushed))
        needs_solve = has_changes or own[MAX_SUNK_DEPTH] > 0.0 or own[IS_REQUESTED] > 0.0
        status[island] = (CONTINUES if continues else STOPPED) if needs_solve else CONVERGED
        if status[island] == CONTINUES and own[IS_REQUESTED] > 0.0 and not has_changes:
            status[island] = ROTATES
        if status[island] == STOPPED and has_large_error:
            status[island] = DIVERGED
        highest = max(highest, status[island])
    return highest


@kernel()
def find_gained_energy(min_speed, status, group, island_of_row, mass, available, v, energy, has_gained):
    """Writes for groups without convergence whether they move with more energy than their motion and springs had.

    Args:
        min_speed: Slower motion does not count [m/s].
        status, group: See `ContactGroups`.
        island_of_row: Of the pattern.
        mass: Of nodes [kg], (n,).
        available: Kinetic energy of islands at the start of the step, and the work of gravity in it [J], (islands,).
        v: Velocities at the end of the step [m/s], (n, 3).
        energy: Scratch, (islands, 2).
        has_gained: Out, true for every island of such a group; others stay as they are, (islands,).
    """
    energy[:] = 0.0
    for island in range(len(group)):
        energy[group[island], 0] += MAX_ENERGY_RATIO * available[island]
    for i in range(len(mass)):
        own = energy[group[island_of_row[i]]]
        own[0] += 0.5 * mass[i] * min_speed**2
        for axis in range(3):
            own[1] += 0.5 * mass[i] * v[i, axis] ** 2
    for island in range(len(group)):
        lowest = group[island]
        if status[lowest] != CONVERGED and energy[lowest, 1] > energy[lowest, 0]:
            has_gained[island] = True


@kernel()
def find_frozen_nodes(status, island_of_row, is_frozen):
    """Writes which nodes are of islands that are not solved again, (n,)."""
    for i in range(len(is_frozen)):
        is_frozen[i] = status[island_of_row[i]] < CONTINUES


@kernel()
def update_planes(rigid_count, found, contacts, state, normal_force, is_new):
    """Gives contacts that do not push the plane found now, and marks the contacts found that are new.

    `found` are `ContactArrays`, too; both ids rise. Returns how many are new, and how many have another plane. What a
    surface carries along stays as it is: it follows from where the contact is attached.
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
                contacts.normal[c, axis] = found.normal[f, axis]
                if c < rigid_count:
                    contacts.carried[c, axis] = found.carried[f, axis]
            contacts.gap[c], contacts.side[c] = found.gap[f], found.side[f]
            is_pinched = shift[c] < 0.0 and lift[c] == 0.0  # what else allows a depth has a lift as low
            if not is_pinched and (c < rigid_count or lift[c] >= 0.0):
                shift[c], lift[c] = 0.0, 0.0
    return count, changed
