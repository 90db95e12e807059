# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one time step: finds them, applies their forces, and stores what the next step needs.

Let r be the motion of a point in the step relative to the other side: p − c for a collider that would carry it to c, or
(p⁺ − p) − (q⁺ − q) for a place q of another tet. A contact applies to the point the force

    f = −k n (gap + n·r) − κ s,   s = s0 + (I − n nᵀ) r,

and −f to q. It is a spring against penetration, linear in the end of the step, and only acts while it pushes. s is the
shear of the contact. Coulomb friction: the contact sticks with κ = k as long as k ‖s‖ ≤ μ N, with the normal force N.
Otherwise it slides with κ = μ N / ‖s‖: this is the friction μ N against the sliding at the end of the step, and keeps
the matrix symmetric; N and ‖s‖ come from the previous solve. `active_set/active_set_update.py` chooses κ. In the first
solve of a step, a contact that slid in the step before has this friction as a constant force along s0, and κ only
across it: near μ, where gravity along a slope is hardly more than friction, the lag of ‖s‖ would brake it. The step is
solved again, a bounded number of times, until the sets of pushing and of sliding contacts no longer change. A sliding
contact stores s shortened to μ N / k, so it neither creeps while it sticks nor springs back when it stops.

Where a point or a place is a particle of surface detail (`surface_detail/`), its spring acts in series with that of the
contact, and the contact pushes with F at most, the force at which the particle yields.

A spring needs depth to push. While a contact lasts, each step moves a share of this depth into a shift of its gap, so
that bodies rest at the surface and not in it. A large shift only rises where that brings the point out: a point that
is held from both sides would be pressed without end.

Kernels are not called for steps without contacts, which most bodies take most of the time: a bake that begins with such
steps shows its first frames before these kernels are compiled.

Source: friction with an elastic and a sliding part, Cundall and Strack (1979), A discrete numerical model for granular
assemblies; the stiffness μ N / ‖s‖ is a fixed-point iteration with lagged diffusivity.
"""

from __future__ import annotations

import numpy as np

from ..constraints.pair_forces import PairForces
from ..constraints.point_forces import PointForces
from ..constraints.tet_pair_springs import tet_pairs
from ..mechanics.chord_ends import ChordEnds
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.threads.thread_pool import run_ranges
from .active_set.active_set import ActiveSet
from .active_set.active_set_update import update_planes
from .active_set.contact_line_search import apply_step_lengths, deactivate_unreached
from .active_set.contact_springs import attach_points, measure_contacts, point_springs
from .active_set.coulomb_friction import continue_sliding, friction_forces
from .active_set.persistent_contact_kernels import RigidColliderArrays, load_persistent, store_persistent
from .active_set.pinched_points import pinch_sheets
from .active_set.position_prediction import find_predicted_contacts, predict_positions
from .detection.collider_broad_phase import PUSH_OUT_REACH, broad_phase_box, distance_bounds_of, nearby_points
from .detection.contact_sample_points import ContactPoints
from .detection.contact_set import ContactSet, ContactState, ids_among
from .detection.near_points import near_points
from .detection.persistent_contacts import PersistentContacts
from .detection.rigid_collider_contacts import ColliderPose, find_contacts
from .detection.surface_contacts import NO_ROTATIONS, SurfaceContacts

NO_PAIR_FORCES = PairForces()
CONTACTS_AT_ONCE = 2048  # that a thread measures
STILL_YIELDING = 0.999  # normal force over that at which a contact yields, from which it did in the step before
MIN_DISPLACEMENT = 0.05  # displacement in a step that counts, in tet sizes


class ContactStep:
    """The contacts of one step, from their prediction before the first solve to the contacts stored at its end."""

    def __init__(
        self,
        points: ContactPoints,
        poses: list[ColliderPose],
        model: Model,
        state: State,
        is_fixed: Bools | None,
        gravity: Floats,
        dt: float,
        surfaces: SurfaceContacts | None = None,
    ) -> None:
        """Predicts the contacts: those of the step before, and those that points reach by their velocity alone."""
        self.points, self.collider_poses, self.model, self.dt, self.surfaces = points, poses, model, dt, surfaces
        self.active_set = ActiveSet(model)
        self.measured_positions: Floats | None = None
        self.chords: ChordEnds | None = None
        end_poses = np.array([pose.pose[4:] for pose in poses]).reshape(-1, 4, 3)
        self.colliders = RigidColliderArrays(
            friction=np.array([pose.collider.friction for pose in poses], np.float64),
            is_sheet=np.array([pose.collider.is_sheet for pose in poses], bool),
            rotation=end_poses[:, :3].copy(),
            origin=end_poses[:, 3].copy(),
        )
        self.start, self.point_count = floats(state.x), max(len(points), 1)
        self.first_surface_id = len(poses) * self.point_count
        self.previous = PersistentContacts.from_state(state)
        self.previous_by_collider = self.previous.split_by_collider(len(poses), self.point_count)
        self.is_fixed = is_fixed
        if surfaces:
            surfaces.begin(self.start, is_fixed, self.previous, self.first_surface_id)
        without_gravity, with_gravity = np.empty((2, *self.start.shape))
        predict_positions(
            self.start, floats(state.v), dt, model.gravity_scale, floats(gravity), without_gravity, with_gravity
        )
        self.contact_set = find_predicted_contacts(self._find, self.previous, with_gravity, without_gravity)
        self.contact_state = self._make_state(self.contact_set)
        pinch_sheets(self.contact_set, self.contact_state, model)
        # a resting body does not fall, so gravity would reach too much; it only keeps previous contacts in reach
        self.predicted_normal_force = self._measure(without_gravity)[0]
        self.contact_state.is_active = (self.predicted_normal_force > 0.0) | (self.previous_normal_force > 0.0)
        # what is reached by velocity alone begins with springs: the full force of yielding would throw it back
        self.contact_state.yields[:] = self.previous_normal_force >= STILL_YIELDING * self.contact_state.yield_force
        self._record_active()
        if surfaces:
            self.keep_earliest()
        self.may_push = self.contact_state.is_active | ids_among(self.contact_set.id, self.previous.id)

    def keep_earliest(self) -> None:
        """Leaves active, of contacts predicted from velocities, those that bodies reach first."""
        self.active_set.begin(
            self.contact_set, self.contact_state, self.previous_normal_force, self.predicted_normal_force
        )
        self._record_active()

    def expect_pieces(self, is_piece: Bools) -> None:
        """Lets groups of some islands, the pieces of broken bodies, (islands,), take more solves."""
        self.active_set.is_piece = is_piece

    def expect(self, which: Bools, pushes: Bools, kappa: Floats) -> None:
        """Sets for some contacts whether they push in the next solve, and their friction κ, (k,) each."""
        self.contact_state.act(which, pushes, kappa)
        self.active_set.is_globalised = self.active_set.lifts_itself = True
        self._record_active()

    def brake_by_springs(self, is_splinter: Bools) -> None:
        """Lets the spring κ brake some islands, (islands,), in the first solve, instead of a constant friction.

        A spring gives back no more than it holds; a constant force has no such bound. The normal forces of a step that
        was cut off may be thousands of weights of a splinter, and would throw it through the scene.
        """
        if is_splinter.any():
            state, tet = self.contact_state, self.contact_state.attachment.tet[:, :2]
            island = self.model.pattern.island_of_row[self.model.tets[np.maximum(tet, 0), 0]]
            state.sliding_friction[(is_splinter[island] & (tet >= 0)).any(axis=1)] = 0.0
        self._record_active()

    def spring_forces(self) -> tuple[PointForces, PairForces]:
        """Returns the active contacts as forces on points of tets, and those between tets."""
        active, attachment = np.flatnonzero(self.contact_state.is_active), self.contact_state.attachment
        if not self.surfaces:
            return self._springs(active), NO_PAIR_FORCES
        is_pair = attachment.tet[active, 1] >= 0
        pairs = active[is_pair]
        return self._springs(active[~is_pair]), tet_pairs(pairs, attachment, self._springs(pairs))

    def normals(self) -> tuple[Floats, Floats]:
        """Returns the normals of the point forces and of the pair forces of `spring_forces`, (k, 3) each."""
        active, is_pair = self.contact_state.is_active, self.contact_state.attachment.tet[:, 1] >= 0
        return self.contact_set.normal[active & ~is_pair], self.contact_set.normal[active & is_pair]

    def activate_all(self, tets: Indices) -> None:
        """Activates all contacts of points in some tets, rising, for steps that decide themselves when each pushes."""
        state, own = self.contact_state, self.contact_state.attachment.tet
        on_tets = (tets[np.minimum(np.searchsorted(tets, own), len(tets) - 1)] == own).any(axis=1)
        state.is_active |= on_tets
        state.sliding_friction[on_tets] = 0.0

    def line_search(self, before: Floats, v: Floats, x: Floats, bending: Floats) -> bool:
        """Shortens a solve to where its energy stops falling; returns whether it shortens any.

        Args:
            before: v⁺ of the solve before [m/s], (n, 3).
            v, x: v⁺ [m/s] and x⁺ [m] of this one, changed, (n, 3) each.
            bending: dᵀ H d of the change d between them, with the matrix H of the solve, per island, (islands,).
        """
        force_before = self._measure(self.start + self.dt * before)[0]
        step_length = self.active_set.line_search(self.contact_state, force_before, self._measure(x)[0], bending)
        if step_length is None:
            return False
        apply_step_lengths(self.start, self.dt, before, v, step_length, self.model.pattern.island_of_row, x)
        return True

    def update(self, x: Floats, is_wrong: Bools | None = None, chords: ChordEnds | None = None) -> bool:
        """Updates the active set by the end of a solve; returns whether the step needs another solve.

        Args:
            x: Node positions [m], (n, 3).
            is_wrong: Islands that need another solve whatever their contacts say, (islands,); None: none.
            chords: Where the solve had what has turned since: forces are those that acted there. None: nothing has.
        """
        self.chords = chords
        measured = self._measure_solve(x)
        contacts = self._find(x)
        if self._add_new(contacts, measured[0]):
            measured = self._measure_solve(x)
        if self.surfaces:
            is_active, first = self.contact_state.is_active, self.rigid_count()
            deactivate_unreached(contacts.id, self.previous.id, self.contact_set.id, first, is_active, measured[0])
        self.measured_positions, self.measured = x, measured
        self._record_active()
        # planes of all others end before the points reach them
        ids = self.contact_set.id
        self.may_push = self.was_active | ids_among(ids, contacts.id) | ids_among(ids, self.previous.id)
        return self.active_set.update(self.contact_set, self.rigid_count(), self.contact_state, *measured, is_wrong)

    @property
    def is_converged(self) -> bool:
        """Whether contacts did not have to change after the last solve."""
        return self.active_set.is_converged

    def diverged_islands(self, available: Floats, v: Floats) -> Bools:
        """Returns the islands whose contacts failed in a step, (islands,).

        Args:
            available: Kinetic energy of islands where the step began, and the work of gravity in it [J], (islands,).
            v: Velocities at its end [m/s], (n, 3).
        """
        return self.active_set.diverged_islands(available, v, MIN_DISPLACEMENT * self.tet_size / self.dt)

    def islands_with_pieces(self) -> Bools:
        """Returns the islands that are pieces of a broken body, or touch some, (islands,)."""
        return self.active_set.islands_with_pieces()

    @property
    def tet_size(self) -> float:
        """Edge length of the smallest tets that touch anything [m]."""
        return float(self.contact_state.size.min(initial=np.inf))

    def contact_tets(self) -> Indices:
        """Returns the tets of all contacts of the step, whether they push or not, some of them several times."""
        tet = self.contact_state.attachment.tet
        return tet[tet >= 0]

    def frozen_nodes(self) -> Bools | None:
        """Returns which nodes keep the result of the last solve, since their contacts have converged, (n,)."""
        return self.active_set.frozen_nodes()

    def rotation_only_islands(self) -> Bools | None:
        """Returns the islands whose contacts have converged, but not their rotations, (islands,)."""
        return self.active_set.rotation_only_islands()

    def remember(self, state: State) -> None:
        """Stores in the state the contacts that the next step needs."""
        contacts, own = self.contact_set, self.contact_state
        # most often the positions are those of the last solve
        normal_force, shear = self.measured if state.x is self.measured_positions else self._measure_solve(state.x)
        self.end = state.x, np.minimum(normal_force, own.yield_force), self._friction_forces(shear)
        self.excess_depth = np.maximum(normal_force - own.yield_force, 0.0) / own.k
        stored = PersistentContacts.allocate(len(contacts), self.surfaces is not None)
        if not len(contacts):
            stored.store_in(state)
            return
        rigid_count = self.rigid_count()
        count = store_persistent(
            contacts.arrays,
            own.arrays,
            normal_force,
            shear,
            self.dt,
            self.point_count,
            rigid_count,
            self.colliders,
            self._triangle_rotations(contacts, rigid_count),
            stored.arrays,
        )
        if stored.triangle is not None and contacts.triangle is not None:
            stored.triangle[:count] = contacts.triangle[np.searchsorted(contacts.id, stored.id[:count])]
        stored.select(slice(count)).store_in(state)

    def groups(self) -> Indices:
        """Returns the lowest island of those that each island touches at the end of the step, (islands,)."""
        return self.active_set.groups(self.contact_state, self.end[1])

    def rigid_count(self) -> int:
        """Returns how many contacts, the first ones, are with rigid colliders."""
        return self._rigid_count(self.contact_set)

    def _record_active(self) -> None:
        """Copies which contacts push and their friction, which the end of the solve may change."""
        state = self.contact_state
        self.was_active = state.is_active.copy()
        self.friction_state = state.kappa.copy(), state.sliding_friction.copy()

    def _friction_forces(self, shear: Floats) -> Floats:
        """Returns the friction in the last solve, −κ s, or a constant one along s0, for shears s [m]: [N], (k, 3)."""
        friction = np.empty_like(shear)
        if len(shear):
            friction_forces(*self.friction_state, self.contact_state.shear, shear, friction)
        return friction

    def _springs(self, which: np.ndarray) -> PointForces:
        """Returns some contacts as forces on their points alone."""
        return point_springs(which, self.contact_set, self.contact_state, self.start, self.model.tets)

    def _rigid_count(self, contacts: ContactSet) -> int:
        """Returns how many contacts, the first ones, are with rigid colliders."""
        return int(np.searchsorted(contacts.id, self.first_surface_id)) if self.surfaces else len(contacts)

    def _triangle_rotations(self, contacts: ContactSet, rigid_count: int) -> Floats:
        """Returns the rotations of the triangles on the other side of surface contacts, (k − rigid_count, 3, 3)."""
        if not self.surfaces or contacts.triangle is None:
            return NO_ROTATIONS
        return self.surfaces.triangle_rotations(contacts.triangle[rigid_count:])

    def _find(self, end: Floats, is_known: bool = False) -> ContactSet:
        """Returns the contacts if nodes move to `end` [m], (n, 3); between surfaces none that are new if `is_known`."""
        contacts = [self._find_with_collider(number, pose, end) for number, pose in enumerate(self.collider_poses)]
        if self.is_fixed is not None:  # what is wholly fixed goes where it is prescribed, through colliders too
            tets = [self.model.tets[self.points.tet[each.id % self.point_count]] for each in contacts]
            contacts = [each.select(~self.is_fixed[of].all(axis=1)) for each, of in zip(contacts, tets, strict=True)]
        if self.surfaces:
            contacts.append(self.surfaces.find_known(end) if is_known else self.surfaces.find(end))
        return ContactSet.concatenate(contacts)

    def _find_with_collider(self, number: int, pose: ColliderPose, end: Floats) -> ContactSet:
        points, previous, collider = self.points, self.previous_by_collider[number], pose.collider
        box = broad_phase_box(collider, PUSH_OUT_REACH * points.largest_tet)
        among = near_points(collider, pose.pose, points, self.model.tets, self.start, end, self.is_fixed)
        nearby = nearby_points(box, pose.pose, points, previous, self.model.tets, self.start, end, among)
        if collider.bvh is not None:
            bounds = distance_bounds_of(collider, points)
            in_contact = (previous.id - number * self.point_count).astype(np.int32)
            nearby = bounds.possible_contacts(collider, pose.pose, points, nearby, in_contact)
        return find_contacts(pose, number, points, nearby, previous)

    def _make_state(self, contacts: ContactSet) -> ContactState:
        """Returns the state of contacts at the start of the step."""
        state, rigid_count = ContactState.allocate(len(contacts)), self._rigid_count(contacts)
        self.previous_normal_force = np.empty(len(contacts))
        if not len(contacts):
            return state
        load_persistent(
            self.previous.arrays,
            contacts.arrays,
            self.point_count,
            rigid_count,
            self.colliders,
            self._triangle_rotations(contacts, rigid_count),
            self.previous_normal_force,
            state.arrays,
        )
        attach_points(contacts.id[:rigid_count], self.points.arrays, self.colliders.friction, self.dt, state.arrays)
        if self.surfaces:
            which = np.arange(rigid_count, len(contacts), dtype=np.int64)
            state.attach(self.surfaces.attach(contacts, which), which)
        state.start_shift[:] = state.shift
        state.mu[rigid_count:][state.lift[rigid_count:] < 0.0] = 0.0  # no friction where an overlap is resolved
        continue_sliding(
            self.previous_normal_force, state.k, state.kappa, state.mu, state.shear, state.sliding_friction
        )
        return state

    def _add_new(self, found: ContactSet, normal_force: Floats) -> bool:
        """Adds contacts that are new, and returns whether any contact changed.

        Contacts that do not push get the plane found now: in a hollow the next face is steeper.
        """
        if not len(found):
            return False
        contacts, state, is_new = self.contact_set, self.contact_state, np.empty(len(found), bool)
        new_count, changed_count = update_planes(
            self._rigid_count(contacts), found.arrays, contacts.arrays, state.arrays, normal_force, is_new
        )
        if self.surfaces and changed_count:
            self._reattach(found, normal_force)
        if not new_count:
            return bool(changed_count)
        new = found.select(is_new)
        added = self._make_state(new)
        added.is_active[:] = False
        both = ContactSet.concatenate([contacts, new])
        order = np.argsort(both.id, kind="stable")
        self.contact_set = both.select(order)
        state.insert(added, order)
        return True

    def _reattach(self, found: ContactSet, normal_force: Floats) -> None:
        """Attaches contacts with a new plane to the triangles that they are above now, if they have other places."""
        contacts, state = self.contact_set, self.contact_state
        at = np.minimum(np.searchsorted(found.id, contacts.id), len(found) - 1)
        has_changed = (found.id[at] == contacts.id) & (normal_force <= 0.0) & (contacts.id >= self.first_surface_id)
        if contacts.triangle is None or contacts.place is None or found.triangle is None or found.place is None:
            return
        has_changed &= (found.triangle[at] != contacts.triangle) | (found.place[at] != contacts.place).any(axis=1)
        which = np.flatnonzero(has_changed)
        contacts.triangle[which], contacts.place[which] = found.triangle[at[which]], found.place[at[which]]
        if self.surfaces and len(which):
            state.attach(self.surfaces.attach(contacts, which), which)
            state.mu[which[state.lift[which] < 0.0]] = 0.0

    def _measure_solve(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces and shears as `_measure` does, where the last solve had what has turned since."""
        return self._measure(x if self.chords is None else self.chords.ends(x))

    def _measure(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3)."""
        contacts = self.contact_set
        normal_force, shear = np.empty(len(contacts)), np.empty((len(contacts), 3))
        if len(contacts):
            given = (contacts.arrays, self.contact_state.arrays, x, self.model.tets, normal_force, shear)
            run_ranges(0, len(contacts), CONTACTS_AT_ONCE, lambda first, end: measure_contacts(first, end, *given))
        return normal_force, shear
