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

from ..arrays import Bools, Floats, Indices, floats
from ..integrators.outside import Pairs, Points
from ..model import Model
from ..state import State
from .clearance import clearance_of
from .follow import follow, leave_out
from .forces import (
    find_moving,
    go_on,
    keep,
    measure,
    push,
    recall,
    slide_on,
    tie_points,
    turn_planes,
)
from .legs import pairs_of
from .memory import Memory
from .near import points_near, surroundings
from .points import ContactPoints
from .pushing import Pushing
from .settling import Settling
from .skin_contacts import NO_FRAMES, SkinContacts
from .touching import PUSH_OUT_REACH, Place, Touching, find_touching, known_contacts

NO_PAIRS = Pairs()
STIRS = 0.05  # way in a step that matters, in sizes of tets


class ContactStep:
    """The contacts of one step, from the guess before the first solve to what the next step remembers."""

    def __init__(
        self,
        points: ContactPoints,
        places: list[Place],
        model: Model,
        state: State,
        is_fixed: Bools | None,
        gravity: Floats,
        dt: float,
        skins: SkinContacts | None = None,
    ) -> None:
        """Guesses the contacts: those remembered, and those that points reach by their velocity alone."""
        self.points, self.places, self.model, self.dt, self.skins = points, places, model, dt, skins
        self.settling = Settling(model)
        self.measured_at: Floats | None = None
        self.friction = np.array([place.collider.friction for place in places])
        self.is_sheet = np.array([place.collider.is_sheet for place in places], bool)
        poses = np.array([place.pose[4:] for place in places]).reshape(-1, 4, 3)
        self.turns, self.origins = poses[:, :3].copy(), poses[:, 3].copy()
        self.start, self.count = floats(state.x), max(len(points), 1)
        self.first_of_skins = len(places) * self.count
        self.memory = Memory.of(state)
        self.known = known_contacts(len(places), self.count, self.memory)
        # points whose tets are held altogether go where they are told, through colliders too
        self.moves, self.all_move = np.zeros(0, bool), is_fixed is None
        if is_fixed is not None:
            self.moves = np.empty(len(points), bool)
            self.all_move = bool(find_moving(is_fixed, model.tets, points.tet, self.moves))
        if skins:
            skins.begin(self.start, is_fixed, self.memory, self.first_of_skins)
        drifted, fallen = np.empty((2, *self.start.shape))
        go_on(self.start, floats(state.v), dt, model.gravity_scale, floats(gravity), drifted, fallen)
        self.touching = self._find(fallen)
        self.pushing = self._new(self.touching)
        # what rests does not fall on, so gravity would reach too much; it only keeps remembered contacts in reach
        coming = self._measure(drifted)[0]
        self.pushing.on = (coming > 0.0) | (self.known_force > 0.0)
        self.coming = coming
        self._keep_acting()
        if skins:
            self.meet_first()

    def meet_first(self) -> None:
        """Leaves of contacts guessed by velocity those on that bodies meet first."""
        self.settling.begin(self.touching, self.pushing, self.known_force, self.coming)
        self._keep_acting()

    def act(self) -> tuple[Points, Pairs]:
        """Returns the contacts as forces on points of the tets, and those between tets."""
        on = np.flatnonzero(self.pushing.on)
        if not self.skins:
            return self._push(on), NO_PAIRS
        is_pair = self.pushing.ends[on, 1] >= 0
        two = on[is_pair]
        return self._push(on[~is_pair]), pairs_of(two, self.pushing.ends, self.pushing.weights, self._push(two))

    def normals(self) -> tuple[Floats, Floats]:
        """Returns which way the points of `act` are pushed, and those of its pairs, (k, 3) each."""
        on, is_pair = self.pushing.on, self.pushing.ends[:, 1] >= 0
        return self.touching.normal[on & ~is_pair], self.touching.normal[on & is_pair]

    def let_push(self, tets: Indices) -> None:
        """Takes all contacts of points in some tets, rising, whose steps find out themselves when each pushes."""
        ends = self.pushing.ends
        theirs = (tets[np.minimum(np.searchsorted(tets, ends), len(tets) - 1)] == ends).any(axis=1)
        self.pushing.on |= theirs
        self.pushing.slip[theirs] = 0.0

    def follow(self, before: Floats, v: Floats, x: Floats, bending: Floats) -> bool:
        """Goes back on the way of a solve to where it no longer brings anything; returns whether it does anywhere.

        Args:
            before: v⁺ of the solve before [m/s], (n, 3).
            v, x: v⁺ [m/s] and x⁺ [m] of this one, changed, (n, 3) each.
            bending: dᵀ H d of the way d between them, with the matrix H that was solved, per island, (islands,).
        """
        was = self._measure(self.start + self.dt * before)[0]
        share = self.settling.follow(self.pushing, was, self._measure(x)[0], bending)
        if share is None:
            return False
        follow(self.start, self.dt, before, v, share, self.model.pattern.island_of_row, x)
        return True

    def update(self, x: Floats, is_wrong: Bools | None = None) -> bool:
        """Takes the end of a solve, node positions x [m], (n, 3); says whether to solve again.

        Islands that are wrong, (k,), want that whatever their contacts say.
        """
        measured = self._measure(x)
        found = self._find(x)
        if self._add(found, measured[0]):
            measured = self._measure(x)
        if self.skins:
            leave_out(found.id, self.memory.id, self.touching.id, self.rigid_count(), self.pushing.on, measured[0])
        self.measured_at, self.measured = x, measured
        self._keep_acting()
        return self.settling.settle(self.touching, self.rigid_count(), self.pushing, *measured, is_wrong)

    @property
    def is_settled(self) -> bool:
        """Whether contacts did not want to change after the last solve."""
        return self.settling.is_settled

    def is_astray(self, before: Floats, v: Floats) -> bool:
        """Returns whether what touches each other has gone wrong in a step, from velocities to v [m/s], (n, 3) each."""
        return self.settling.is_astray(before, v, STIRS * self.tet_size / self.dt)

    @property
    def tet_size(self) -> float:
        """Edge length of the smallest tets that touch anything [m]."""
        return float(self.pushing.size.min(initial=np.inf))

    def met(self) -> Indices:
        """Returns the tets of all contacts that the step has looked at, whether they push or not, some many times."""
        ends = self.pushing.ends
        return ends[ends >= 0]

    def done(self) -> Bools | None:
        """Returns which nodes stay as the last solve has left them, (n,): those of contacts that are content."""
        return self.settling.done()

    def only_turn(self) -> Bools | None:
        """Returns the islands whose contacts are content, but not their rotations, (k,)."""
        return self.settling.only_turn()

    def remember(self, state: State) -> None:
        """Keeps in the state what the next step has to know of the contacts."""
        touching, pushing = self.touching, self.pushing
        # most often the state is what the last solve has made of it
        normal_force, shear = self.measured if state.x is self.measured_at else self._measure(state.x)
        self.end = state.x, normal_force, self._rubbed(shear)
        kept = Memory.room(len(touching), self.skins is not None)
        if not len(touching):
            kept.keep(state)
            return
        rigid = self.rigid_count()
        count = keep(
            self.count, rigid, self.dt, touching.id, touching.normal, touching.gap, touching.side, normal_force, shear,
            pushing.size, pushing.k, pushing.mu, pushing.base, pushing.shift, pushing.lift, pushing.kappa,
            self.is_sheet, self.turns, self._frames(touching, rigid), kept.id, kept.force, kept.shear, kept.side,
            kept.shift, kept.lift, kept.kappa, kept.normal,
        )  # fmt: skip
        if kept.triangle is not None and touching.triangle is not None:
            kept.triangle[:count] = touching.triangle[np.searchsorted(touching.id, kept.id[:count])]
        kept.only(slice(count)).keep(state)

    def groups(self) -> Indices:
        """Returns the lowest island of those that each island touches at the end of the step, (islands,)."""
        return self.settling.groups(self.pushing, self.end[1])

    def rigid_count(self) -> int:
        """Returns how many contacts are with rigid colliders: the first ones."""
        return self._rigid(self.touching)

    def _keep_acting(self) -> None:
        """Keeps which contacts push and how they rub, which the end of the solve may change."""
        pushing = self.pushing
        self.acted, self.rubbing = pushing.on.copy(), (pushing.kappa.copy(), pushing.slip.copy())

    def _rubbed(self, shear: Floats) -> Floats:
        """Returns the friction that acted, −κ s, with what goes on sliding along s0, for shears s [m]: [N], (k, 3)."""
        (kappa, slip), start = self.rubbing, self.pushing.shear
        way = start / np.maximum(np.linalg.norm(start, axis=1), np.finfo(float).tiny)[:, None]
        along = np.where(slip > 0.0, kappa * np.einsum("ki,ki->k", way, shear) - slip, 0.0)
        return along[:, None] * way - kappa[:, None] * shear

    def _push(self, which: np.ndarray) -> Points:
        """Returns some contacts as forces on the points alone."""
        pushing, touching, k = self.pushing, self.touching, len(which)
        acting = Points(
            np.empty(k, np.int32), np.empty((k, 4)), np.empty((k, 3)), np.empty((k, 3, 3)), np.zeros((k, 3, 3))
        )
        if not k:
            return acting
        push(
            which, touching.normal, touching.gap, touching.carried, pushing.k, pushing.kappa, pushing.shear,
            pushing.slip, pushing.shift, pushing.size, self.start, self.model.tets, pushing.ends, pushing.weights,
            acting.tet, acting.weights, acting.force, acting.stiffness,
        )  # fmt: skip
        return acting

    def _rigid(self, touching: Touching) -> int:
        """Returns how many contacts are with rigid colliders: the first ones."""
        return int(np.searchsorted(touching.id, self.first_of_skins)) if self.skins else len(touching)

    def _frames(self, touching: Touching, rigid: int) -> Floats:
        """Returns how the other side of contacts with skins is turned, (k − rigid, 3, 3)."""
        if not self.skins or touching.triangle is None:
            return NO_FRAMES
        return self.skins.frames(touching.triangle[rigid:])

    def _find(self, end: Floats) -> Touching:
        """Returns the contacts of all points whose nodes go to `end` [m], (n, 3)."""
        found = [self._find_with(number, place, end) for number, place in enumerate(self.places)]
        if not self.all_move:
            found = [each.only(self.moves[each.id % self.count]) for each in found]
        if self.skins:
            found.append(self.skins.find(end))
        return Touching.together(found)

    def _find_with(self, number: int, place: Place, end: Floats) -> Touching:
        points, known = self.points, self.known[number]
        around = surroundings(place.collider, PUSH_OUT_REACH * points.largest_tet)
        which, start, end = points_near(around, place.pose, points, known, self.model.tets, self.start, end)
        if place.collider.bvh is not None:
            clear, theirs = clearance_of(place.collider, points), (known.id - number * self.count).astype(np.int32)
            near = clear.leave_out(place.collider, place.pose, points, which, start, end, theirs)
            which, start, end = which[near], start[near], end[near]
        return find_touching(place, number, points, which, start, end, known)

    def _new(self, touching: Touching) -> Pushing:
        """Returns what is known of contacts at the start of the step."""
        memory, points, rigid, pushing = self.memory, self.points, self._rigid(touching), Pushing.room(len(touching))
        self.known_force = np.empty(len(touching))
        if not len(touching):
            return pushing
        recall(
            memory.id, memory.force, memory.shear, memory.shift, memory.lift, memory.kappa, touching.id, self.count,
            rigid, touching.normal, self.turns, self._frames(touching, rigid), self.known_force, pushing.shear,
            pushing.shift, pushing.lift, pushing.kappa,
        )  # fmt: skip
        tie_points(
            touching.id[:rigid], self.count, self.dt, self.friction, points.tet, points.weights, points.stiffness,
            points.mass, points.tet_size, pushing.ends, pushing.weights, pushing.size, pushing.k, pushing.mu,
        )  # fmt: skip
        if self.skins:
            which = np.arange(rigid, len(touching), dtype=np.int64)
            pushing.tie(self.skins.tie(touching, which), which)
        pushing.base[:] = pushing.shift
        pushing.mu[rigid:][pushing.lift[rigid:] < 0.0] = 0.0  # what is let out is not held back
        slide_on(self.known_force, pushing.shear, pushing.k, pushing.mu, pushing.kappa, pushing.slip)
        return pushing

    def _add(self, found: Touching, normal_force: Floats) -> bool:
        """Adds contacts that are not there yet, and says whether any contact is another now.

        Those whose plane does not push get the plane found now: in a hollow the next face is steeper.
        """
        if not len(found):
            return False
        touching, pushing, is_new = self.touching, self.pushing, np.empty(len(found), bool)
        new_ones, turned = turn_planes(
            self._rigid(touching), found.id, found.normal, found.gap, found.carried, found.side, touching.id,
            touching.normal, touching.gap, touching.carried, touching.side, normal_force, pushing.shift, pushing.lift,
            is_new,
        )  # fmt: skip
        if self.skins and turned:
            self._tie_again(found, normal_force)
        if not new_ones:
            return bool(turned)
        new = found.only(is_new)
        added = self._new(new)
        added.on[:] = False
        both = Touching.together([self.touching, new])
        order = np.argsort(both.id, kind="stable")
        self.touching = both.only(order)
        pushing.add(added, order)
        return True

    def _tie_again(self, found: Touching, normal_force: Floats) -> None:
        """Ties contacts that have got another plane to what they are above now."""
        touching = self.touching
        at = np.minimum(np.searchsorted(found.id, touching.id), len(found) - 1)
        turned = (found.id[at] == touching.id) & (normal_force <= 0.0) & (touching.id >= self.first_of_skins)
        which = np.flatnonzero(turned)
        if touching.triangle is None or touching.place is None or found.triangle is None or found.place is None:
            return
        touching.triangle[which], touching.place[which] = found.triangle[at[which]], found.place[at[which]]
        if self.skins:
            self.pushing.tie(self.skins.tie(touching, which), which)
            self.pushing.mu[which[self.pushing.lift[which] < 0.0]] = 0.0

    def _measure(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces, negative where a contact would pull [N], (k,), and shears s [m], (k, 3)."""
        touching, pushing = self.touching, self.pushing
        normal_force, shear = np.empty(len(touching)), np.empty((len(touching), 3))
        if not len(touching):
            return normal_force, shear
        measure(
            touching.normal, touching.gap, touching.carried, pushing.k, pushing.shear, pushing.shift, pushing.size, x,
            self.model.tets, pushing.ends, pushing.weights, normal_force, shear,
        )  # fmt: skip
        return normal_force, shear
