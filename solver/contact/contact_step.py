# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts push and rub: which of them act, how strongly, and what they remember.

With r the motion of a point in the step relative to what it touches, p − c of a collider that carries it to c, or
(p⁺ − p) − (q⁺ − q) of a place q of another tet, a contact gives the point

    f = −k n (gap + n·r) − κ s,   s = s0 + (I − n nᵀ) r,

and q gets −f. It is a spring against what it goes in, linear in the end of the step and only while it pushes. s is
how far the contact is sheared. It sticks with κ = k as long as k ‖s‖ ≤ μ N, N the normal force. Else it slides with
κ = μ N / ‖s‖, which makes the friction μ N against the sliding at the end of the step and keeps the matrix
symmetric; N and ‖s‖ come from the solve before. In the first solve of a step, what slid in the step before
is given its friction then as a force along s0, with κ only across it: near μ, where a slope drives hardly more than
friction holds, the lag of ‖s‖ would brake it. Which contacts push and which slide is found by solving
again, a bounded number of times. What a sliding contact remembers of s is cut to μ N / k, so that it neither
creeps while it sticks nor springs back when it stops.

A spring needs depth to push. While a contact lasts, what it pushes with is moved step by step from the depth
into a shift of its gap, so that what rests does so at the surface and not in it. A large shift only rises where that
brings the point out: what is held from both sides would be pressed without end.

Most bodies fly or hang most of the time: what would go over no contacts is not called, and a bake that begins so has
its first frames before that is compiled.

Source: friction as an elastic and a slipping part, Cundall and Strack (1979), A discrete numerical model for
granular assemblies; the stiffness μ N / ‖s‖ is a fixed-point iteration with lagged diffusivity.
"""

from __future__ import annotations

import numpy as np

from ..constraints.external_forces import PairForces, PointForces
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats, Indices, floats
from .active_set.active_set import ActiveSet
from .active_set.contact_kernels import (
    attach_points,
    contact_springs,
    continue_sliding,
    find_movable_points,
    load_persistent,
    measure_contacts,
    predict_positions,
    store_persistent,
    update_planes,
)
from .active_set.contact_line_search import apply_step_lengths, deactivate_unreached
from .active_set.contact_state import ContactState
from .detection.collider_broad_phase import broad_phase_box, nearby_points
from .detection.contact_points import ContactPoints
from .detection.contact_set import PUSH_OUT_REACH, ColliderPose, ContactSet, find_contacts, split_by_collider
from .detection.distance_bounds import distance_bounds_of
from .detection.multi_tet_contacts import tet_pairs
from .detection.persistent_contacts import PersistentContacts
from .detection.surface_contacts import NO_ROTATIONS, SurfaceContacts

NO_PAIR_FORCES = PairForces()
MIN_DISPLACEMENT = 0.05  # way in a step that matters, in sizes of tets


class ContactStep:
    """The contacts of one step, from the guess before the first solve to what the next step remembers."""

    def __init__(
        self,
        points: ContactPoints,
        places: list[ColliderPose],
        model: Model,
        state: State,
        is_fixed: Bools | None,
        gravity: Floats,
        dt: float,
        skins: SurfaceContacts | None = None,
    ) -> None:
        """Guesses the contacts: those remembered, and those that points reach by their velocity alone."""
        self.points, self.collider_poses, self.model, self.dt, self.skins = points, places, model, dt, skins
        self.active_set = ActiveSet(model)
        self.measured_positions: Floats | None = None
        self.friction = np.array([place.collider.friction for place in places])
        self.is_sheet = np.array([place.collider.is_sheet for place in places], bool)
        poses = np.array([place.pose[4:] for place in places]).reshape(-1, 4, 3)
        self.collider_rotations, self.collider_origins = poses[:, :3].copy(), poses[:, 3].copy()
        self.start, self.point_count = floats(state.x), max(len(points), 1)
        self.first_surface_id = len(places) * self.point_count
        self.persistent = PersistentContacts.from_state(state)
        self.previous_by_collider = split_by_collider(len(places), self.point_count, self.persistent)
        # points whose tets are held altogether go where they are told, through colliders too
        self.is_movable, self.all_movable = np.zeros(0, bool), is_fixed is None
        if is_fixed is not None:
            self.is_movable = np.empty(len(points), bool)
            self.all_movable = bool(find_movable_points(is_fixed, model.tets, points.tet, self.is_movable))
        if skins:
            skins.begin(self.start, is_fixed, self.persistent, self.first_surface_id)
        drifted, fallen = np.empty((2, *self.start.shape))
        predict_positions(self.start, floats(state.v), dt, model.gravity_scale, floats(gravity), drifted, fallen)
        self.contact_set = self._find(fallen)
        self.contact_state = self._make_state(self.contact_set)
        # what rests does not fall on, so gravity would reach too much; it only keeps remembered contacts in reach
        coming = self._measure(drifted)[0]
        self.contact_state.is_active = (coming > 0.0) | (self.previous_normal_force > 0.0)
        self.predicted_normal_force = coming
        self._record_active()
        if skins:
            self.keep_earliest()

    def keep_earliest(self) -> None:
        """Leaves of contacts guessed by velocity those on that bodies meet first."""
        self.active_set.begin(
            self.contact_set, self.contact_state, self.previous_normal_force, self.predicted_normal_force
        )
        self._record_active()

    def spring_forces(self) -> tuple[PointForces, PairForces]:
        """Returns the contacts as forces on points of the tets, and those between tets."""
        on = np.flatnonzero(self.contact_state.is_active)
        if not self.skins:
            return self._springs(on), NO_PAIR_FORCES
        is_pair = self.contact_state.ends[on, 1] >= 0
        two = on[is_pair]
        return self._springs(on[~is_pair]), tet_pairs(
            two, self.contact_state.ends, self.contact_state.weights, self._springs(two)
        )

    def normals(self) -> tuple[Floats, Floats]:
        """Returns which way the points of `spring_forces` are pushed, and those of its pairs, (k, 3) each."""
        on, is_pair = self.contact_state.is_active, self.contact_state.ends[:, 1] >= 0
        return self.contact_set.normal[on & ~is_pair], self.contact_set.normal[on & is_pair]

    def activate_all(self, tets: Indices) -> None:
        """Takes all contacts of points in some tets, rising, whose steps find out themselves when each pushes."""
        ends = self.contact_state.ends
        theirs = (tets[np.minimum(np.searchsorted(tets, ends), len(tets) - 1)] == ends).any(axis=1)
        self.contact_state.is_active |= theirs
        self.contact_state.sliding_friction[theirs] = 0.0

    def line_search(self, before: Floats, v: Floats, x: Floats, bending: Floats) -> bool:
        """Goes back on the way of a solve to where it no longer brings anything; returns whether it does anywhere.

        Args:
            before: v⁺ of the solve before [m/s], (n, 3).
            v, x: v⁺ [m/s] and x⁺ [m] of this one, changed, (n, 3) each.
            bending: dᵀ H d of the way d between them, with the matrix H that was solved, per island, (islands,).
        """
        was = self._measure(self.start + self.dt * before)[0]
        share = self.active_set.line_search(self.contact_state, was, self._measure(x)[0], bending)
        if share is None:
            return False
        apply_step_lengths(self.start, self.dt, before, v, share, self.model.pattern.island_of_row, x)
        return True

    def update(self, x: Floats, is_wrong: Bools | None = None) -> bool:
        """Takes the end of a solve, node positions x [m], (n, 3); says whether to solve again.

        Islands that are wrong, (k,), want that whatever their contacts say.
        """
        measured = self._measure(x)
        found = self._find(x)
        if self._add_new(found, measured[0]):
            measured = self._measure(x)
        if self.skins:
            deactivate_unreached(
                found.id,
                self.persistent.id,
                self.contact_set.id,
                self.rigid_count(),
                self.contact_state.is_active,
                measured[0],
            )
        self.measured_positions, self.measured = x, measured
        self._record_active()
        return self.active_set.update(self.contact_set, self.rigid_count(), self.contact_state, *measured, is_wrong)

    @property
    def is_converged(self) -> bool:
        """Whether contacts did not want to change after the last solve."""
        return self.active_set.is_converged

    def has_diverged(self, before: Floats, v: Floats) -> bool:
        """Returns whether what touches each other has gone wrong in a step, from velocities to v [m/s], (n, 3) each."""
        return self.active_set.has_diverged(before, v, MIN_DISPLACEMENT * self.tet_size / self.dt)

    @property
    def tet_size(self) -> float:
        """Edge length of the smallest tets that touch anything [m]."""
        return float(self.contact_state.size.min(initial=np.inf))

    def met(self) -> Indices:
        """Returns the tets of all contacts that the step has looked at, whether they push or not, some many times."""
        ends = self.contact_state.ends
        return ends[ends >= 0]

    def frozen_nodes(self) -> Bools | None:
        """Returns which nodes stay as the last solve has left them, (n,): those of contacts that are content."""
        return self.active_set.frozen_nodes()

    def rotation_only_islands(self) -> Bools | None:
        """Returns the islands whose contacts are content, but not their rotations, (k,)."""
        return self.active_set.rotation_only_islands()

    def remember(self, state: State) -> None:
        """Keeps in the state what the next step has to know of the contacts."""
        touching, pushing = self.contact_set, self.contact_state
        # most often the state is what the last solve has made of it
        normal_force, shear = self.measured if state.x is self.measured_positions else self._measure(state.x)
        self.end = state.x, normal_force, self._friction_forces(shear)
        kept = PersistentContacts.allocate(len(touching), self.skins is not None)
        if not len(touching):
            kept.store_in(state)
            return
        rigid = self.rigid_count()
        count = store_persistent(
            self.point_count, rigid, self.dt, touching.id, touching.normal, touching.gap, touching.side, normal_force,
            shear, pushing.size, pushing.k, pushing.mu, pushing.start_shift, pushing.shift, pushing.lift, pushing.kappa,
            self.is_sheet, self.collider_rotations, self._surface_rotations(touching, rigid), kept.id, kept.force,
            kept.shear, kept.side, kept.shift, kept.lift, kept.kappa, kept.normal,
        )  # fmt: skip
        if kept.triangle is not None and touching.triangle is not None:
            kept.triangle[:count] = touching.triangle[np.searchsorted(touching.id, kept.id[:count])]
        kept.select(slice(count)).store_in(state)

    def groups(self) -> Indices:
        """Returns the lowest island of those that each island touches at the end of the step, (islands,)."""
        return self.active_set.groups(self.contact_state, self.end[1])

    def rigid_count(self) -> int:
        """Returns how many contacts are with rigid colliders: the first ones."""
        return self._rigid_count(self.contact_set)

    def _record_active(self) -> None:
        """Keeps which contacts push and how they rub, which the end of the solve may change."""
        pushing = self.contact_state
        self.was_active, self.friction_state = (
            pushing.is_active.copy(),
            (pushing.kappa.copy(), pushing.sliding_friction.copy()),
        )

    def _friction_forces(self, shear: Floats) -> Floats:
        """Returns the friction that acted, −κ s, with what goes on sliding along s0, for shears s [m]: [N], (k, 3)."""
        (kappa, slip), start = self.friction_state, self.contact_state.shear
        way = start / np.maximum(np.linalg.norm(start, axis=1), np.finfo(float).tiny)[:, None]
        along = np.where(slip > 0.0, kappa * np.einsum("ki,ki->k", way, shear) - slip, 0.0)
        return along[:, None] * way - kappa[:, None] * shear

    def _springs(self, which: np.ndarray) -> PointForces:
        """Returns some contacts as forces on the points alone."""
        pushing, touching, k = self.contact_state, self.contact_set, len(which)
        acting = PointForces(
            np.empty(k, np.int32), np.empty((k, 4)), np.empty((k, 3)), np.empty((k, 3, 3)), np.zeros((k, 3, 3))
        )
        if not k:
            return acting
        contact_springs(
            which, touching.normal, touching.gap, touching.carried, pushing.k, pushing.kappa, pushing.shear,
            pushing.sliding_friction, pushing.shift, pushing.size, self.start, self.model.tets, pushing.ends,
            pushing.weights, acting.tet, acting.weights, acting.force, acting.stiffness,
        )  # fmt: skip
        return acting

    def _rigid_count(self, touching: ContactSet) -> int:
        """Returns how many contacts are with rigid colliders: the first ones."""
        return int(np.searchsorted(touching.id, self.first_surface_id)) if self.skins else len(touching)

    def _surface_rotations(self, touching: ContactSet, rigid: int) -> Floats:
        """Returns how the other side of contacts with skins is turned, (k − rigid, 3, 3)."""
        if not self.skins or touching.triangle is None:
            return NO_ROTATIONS
        return self.skins.triangle_rotations(touching.triangle[rigid:])

    def _find(self, end: Floats) -> ContactSet:
        """Returns the contacts of all points whose nodes go to `end` [m], (n, 3)."""
        found = [self._find_with_collider(number, place, end) for number, place in enumerate(self.collider_poses)]
        if not self.all_movable:
            found = [each.select(self.is_movable[each.id % self.point_count]) for each in found]
        if self.skins:
            found.append(self.skins.find(end))
        return ContactSet.concatenate(found)

    def _find_with_collider(self, number: int, place: ColliderPose, end: Floats) -> ContactSet:
        points, known = self.points, self.previous_by_collider[number]
        around = broad_phase_box(place.collider, PUSH_OUT_REACH * points.largest_tet)
        which, start, end = nearby_points(around, place.pose, points, known, self.model.tets, self.start, end)
        if place.collider.bvh is not None:
            clear, theirs = (
                distance_bounds_of(place.collider, points),
                (known.id - number * self.point_count).astype(np.int32),
            )
            near = clear.possible_contacts(place.collider, place.pose, points, which, start, end, theirs)
            which, start, end = which[near], start[near], end[near]
        return find_contacts(place, number, points, which, start, end, known)

    def _make_state(self, touching: ContactSet) -> ContactState:
        """Returns what is known of contacts at the start of the step."""
        memory, points, rigid, pushing = (
            self.persistent,
            self.points,
            self._rigid_count(touching),
            ContactState.allocate(len(touching)),
        )
        self.previous_normal_force = np.empty(len(touching))
        if not len(touching):
            return pushing
        load_persistent(
            memory.id, memory.force, memory.shear, memory.shift, memory.lift, memory.kappa, touching.id,
            self.point_count, rigid, touching.normal, self.collider_rotations, self._surface_rotations(touching, rigid),
            self.previous_normal_force, pushing.shear, pushing.shift, pushing.lift, pushing.kappa,
        )  # fmt: skip
        attach_points(
            touching.id[:rigid], self.point_count, self.dt, self.friction, points.tet, points.weights, points.stiffness,
            points.mass, points.tet_size, pushing.ends, pushing.weights, pushing.size, pushing.k, pushing.mu,
        )  # fmt: skip
        if self.skins:
            which = np.arange(rigid, len(touching), dtype=np.int64)
            pushing.attach(self.skins.attach(touching, which), which)
        pushing.start_shift[:] = pushing.shift
        pushing.mu[rigid:][pushing.lift[rigid:] < 0.0] = 0.0  # what is let out is not held back
        continue_sliding(
            self.previous_normal_force, pushing.shear, pushing.k, pushing.mu, pushing.kappa, pushing.sliding_friction
        )
        return pushing

    def _add_new(self, found: ContactSet, normal_force: Floats) -> bool:
        """Adds contacts that are not there yet, and says whether any contact is another now.

        Those whose plane does not push get the plane found now: in a hollow the next face is steeper.
        """
        if not len(found):
            return False
        touching, pushing, is_new = self.contact_set, self.contact_state, np.empty(len(found), bool)
        new_ones, turned = update_planes(
            self._rigid_count(touching), found.id, found.normal, found.gap, found.carried, found.side, touching.id,
            touching.normal, touching.gap, touching.carried, touching.side, normal_force, pushing.shift, pushing.lift,
            is_new,
        )  # fmt: skip
        if self.skins and turned:
            self._reattach(found, normal_force)
        if not new_ones:
            return bool(turned)
        new = found.select(is_new)
        added = self._make_state(new)
        added.is_active[:] = False
        both = ContactSet.concatenate([self.contact_set, new])
        order = np.argsort(both.id, kind="stable")
        self.contact_set = both.select(order)
        pushing.insert(added, order)
        return True

    def _reattach(self, found: ContactSet, normal_force: Floats) -> None:
        """Ties contacts that have got another plane to what they are above now."""
        touching = self.contact_set
        at = np.minimum(np.searchsorted(found.id, touching.id), len(found) - 1)
        turned = (found.id[at] == touching.id) & (normal_force <= 0.0) & (touching.id >= self.first_surface_id)
        which = np.flatnonzero(turned)
        if touching.triangle is None or touching.place is None or found.triangle is None or found.place is None:
            return
        touching.triangle[which], touching.place[which] = found.triangle[at[which]], found.place[at[which]]
        if self.skins:
            self.contact_state.attach(self.skins.attach(touching, which), which)
            self.contact_state.mu[which[self.contact_state.lift[which] < 0.0]] = 0.0

    def _measure(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3)."""
        touching, pushing = self.contact_set, self.contact_state
        normal_force, shear = np.empty(len(touching)), np.empty((len(touching), 3))
        if not len(touching):
            return normal_force, shear
        measure_contacts(
            touching.normal, touching.gap, touching.carried, pushing.k, pushing.shear, pushing.shift, pushing.size, x,
            self.model.tets, pushing.ends, pushing.weights, normal_force, shear,
        )  # fmt: skip
        return normal_force, shear
