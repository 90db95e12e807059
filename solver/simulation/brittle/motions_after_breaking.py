# SPDX-License-Identifier: GPL-3.0-or-later
"""How all moves after pieces of brittle bodies have broken in a step.

Pieces begin with the motion that the body had when it touched, and with what the hits gave until it fell apart. What it
met, and what touched that, begin with their motions before the step, with the same impulses the other way round, and
with those of their other contacts. So momentum and angular momentum stay, but for what pins take: what these hold moves
as they do. Contacts of what breaks that are no hits, such as those with what lies on it, hold nothing in that step.

Between the motions of the step, v, and these, w, all go as far as energy allows: v + s (w − v), with the largest s ≤ 1
with which there is no more energy of motion than before the step, and what gravity has given since. That keeps
momentum, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...brittle.rigid_mass import RigidMass, RigidMotion
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ..assembled_scene import AssembledScene
from ..simulated_scene import SimulatedScene
from ..solve_progress import OnProgress
from .broken_piece import BrokenPiece
from .island_motion import IslandMotion, island_motion
from .step_contacts import StepContacts


@dataclass(eq=False)
class _Change:
    """What is added to the motion of an island.

    Attributes:
        motion: Of the island, as the step moved it.
        momentum: [N s], (3,).
        angular: About its centre [N m s], (3,).
    """

    motion: IslandMotion
    momentum: Floats = field(default_factory=lambda: np.zeros(3))
    angular: Floats = field(default_factory=lambda: np.zeros(3))

    def add(self, impulse: Floats, moment: Floats) -> None:
        """Adds an impulse [N s], and its moment about the origin [N m s]."""
        self.momentum = self.momentum + impulse
        self.angular = self.angular + moment - np.cross(self.motion.mass.centre, impulse)

    def velocities(self, x: Floats) -> Floats:
        """Returns what it adds to the velocities of nodes at x [m], as [m/s], (n, 3) each."""
        mass = self.motion.mass
        turn = np.linalg.solve(mass.inertia, self.angular)
        return floats(self.momentum / mass.mass + np.cross(turn, x - mass.centre))


@dataclass(frozen=True, eq=False)
class BrokenStep:
    """A step in which pieces break.

    Attributes:
        model: Before they were apart.
        start, end: Of the step.
        contacts: Of it.
        gravity: g [m/s²], (3,).
        dt: Δt [s].
        is_held: Nodes that something held, (n,).
        on_progress: Called before every stress solve.
    """

    model: Model
    start: State
    end: State
    contacts: StepContacts
    gravity: Floats
    dt: float
    is_held: Bools
    on_progress: OnProgress

    def held_islands(self) -> set[int]:
        """Returns the islands with nodes that something held."""
        return set(self.model.pattern.island_of_row[self.is_held].astype(np.int64).tolist())


@dataclass(frozen=True, eq=False)
class MotionsAfterBreaking:
    """What follows from pieces that have broken.

    Attributes:
        apart: They.
        changes: By island of the model before.
        available: Energy of motion of all that took part before the step, with what gravity has given since [J].
    """

    apart: Sequence[BrokenPiece]
    changes: dict[int, _Change]
    available: float


def find_motions(step: BrokenStep, apart: Sequence[BrokenPiece]) -> MotionsAfterBreaking:
    """Returns what follows from pieces that have broken in a step."""
    changes = {each.island: _Change(each.motion) for each in apart}
    broken, held = set(changes), step.held_islands()

    def change_of(island: int) -> _Change:
        if island not in changes:
            changes[island] = _Change(island_motion(step.model, step.start, step.end, island))
        return changes[island]

    for island in _connected_islands(step.contacts, broken, held - broken):
        _begin_again(change_of(island), step, broken, island)
    for each in apart:
        for other, impulse, moment in zip(each.others, *each.impulses(), strict=True):
            if other in broken:  # both have hits of their own, which differ a little
                for island in (each.island, other):
                    changes[island].add(-0.5 * impulse, -0.5 * moment)
            elif other >= 0 and other not in held:
                change_of(other).add(-impulse, -moment)
    return MotionsAfterBreaking(apart, changes, _available_energy(step, changes, held))


def _connected_islands(contacts: StepContacts, broken: set[int], held: set[int]) -> list[int]:
    """Returns the islands that contacts connect, but not through held ones, with pieces that broke, rising."""
    pairs = contacts.island[(contacts.island >= 0).all(axis=1) & ~np.isin(contacts.island, sorted(held)).any(axis=1)]
    found = set(broken)
    while True:
        is_reached = np.isin(pairs, sorted(found)).any(axis=1)
        grown = found | set(pairs[is_reached].ravel().tolist())
        if grown == found:
            return sorted(found - broken)
        found = grown


def _begin_again(change: _Change, step: BrokenStep, broken: set[int], island: int) -> None:
    """Gives an island the momentum that it had before a step, and what all but contacts with what broke gave to it.

    What the step has made of that is not taken apart: it may have taken energy from the whole group besides.
    """
    contacts, moves, which = step.contacts, change.motion, step.contacts.on(island)
    pull = step.dt * float(step.model.gravity_scale[moves.nodes.start]) * step.gravity
    change.momentum = moves.mass.mass * (moves.before.velocity + pull - moves.motion.velocity)
    change.angular = moves.mass.inertia @ (moves.before.angular_velocity - moves.motion.angular_velocity)
    for row, (one, other) in zip(which.tolist(), contacts.island[which].tolist(), strict=True):
        if not broken & {one, other}:
            impulse = contacts.impulse[row] if one == island else -contacts.impulse[row]
            change.add(impulse, np.cross(contacts.place[row], impulse))


def _available_energy(step: BrokenStep, changes: dict[int, _Change], held: set[int]) -> float:
    total, model, start, end = 0.0, step.model, step.start, step.end
    for island, change in changes.items():
        nodes = change.motion.nodes
        mass, pull = model.mass[nodes], model.mass[nodes] * model.gravity_scale[nodes]
        v = end.v[nodes] if island in held else start.v[nodes]  # pins give what they need
        total += 0.5 * float(mass @ np.einsum("ni,ni->n", v, v))
        if island not in held:
            total += float((pull[:, None] * (end.x[nodes] - start.x[nodes])).sum(axis=0) @ step.gravity)
    return total


def set_motions(simulation: SimulatedScene, before: AssembledScene, motions: MotionsAfterBreaking) -> None:
    """Sets velocities in a scene whose pieces are apart by now, where they are those of the step.

    Args:
        simulation: The scene.
        before: What it was built of before.
        motions: What follows.
    """
    state, model = simulation.state, simulation.built.model
    wanted, is_included, is_held = state.v.copy(), *np.zeros((2, len(state.v)), bool)
    for each in motions.apart:
        for piece, motion, own in _new_pieces(simulation, each):
            is_held[own] = piece.is_held
            # where its nodes are: those of an affine body are strained a little, and momentum has to stay
            centre = model.mass[own] @ state.x[own] / model.mass[own].sum()
            wanted[own] = motion.velocity + np.cross(motion.angular_velocity, state.x[own] - centre)
    for island, change in motions.changes.items():
        nodes = _present_nodes(simulation, before, island, motions.apart)
        wanted[nodes] += change.velocities(state.x[nodes])
        is_included[nodes] = True
    wanted[is_held] = state.v[is_held]  # they move as their pins do
    mass = np.where(is_included, model.mass, 0.0)
    share = largest_share(mass, state.v, wanted, motions.available)
    state.v = floats(state.v + share * (wanted - state.v))


def largest_share(mass: Floats, v: Floats, w: Floats, available: float) -> float:
    """Returns the largest s in [0, 1] with ½ Σ m |v + s (w − v)|² no more than is available, or than at s = 0.

    Args:
        mass: m [kg], (n,).
        v, w: [m/s], (n, 3) each.
        available: [J].
    """
    d = w - v
    constant, slope, bend = (float(mass @ np.einsum("ni,ni->n", a, b)) for a, b in ((v, v), (v, d), (d, d)))
    limit = max(2.0 * available, constant)
    if constant + 2.0 * slope + bend <= limit or not bend > 0.0:
        return 1.0
    return float(np.clip((-slope + math.sqrt(slope**2 + bend * (limit - constant))) / bend, 0.0, 1.0))


def _new_pieces(simulation: SimulatedScene, broken: BrokenPiece) -> list[tuple[RigidMass, RigidMotion, slice]]:
    """Returns mass and motion in the world of the pieces that a piece has fallen into, and their nodes."""
    pieces, model, (R, t) = simulation.built.pieces, simulation.built.model, broken.pose
    assert pieces is not None
    now = next(body for body in pieces.bodies if body.number == broken.body.number)
    tets, first = broken.body.tets_of_pieces[broken.piece], model.bodies[now.number].nodes.start
    made = []
    for piece in broken.breakage.pieces:
        number = int(now.piece_of_tet[tets[piece.tets[0]]])
        mass = RigidMass(piece.mass.mass, R @ piece.mass.centre + t, R @ piece.mass.inertia @ R.T, piece.mass.is_held)
        motion = RigidMotion(R @ piece.motion.velocity, R @ piece.motion.angular_velocity)
        made.append((mass, motion, slice(first + 4 * number, first + 4 * number + 4)))
    return made


def _present_nodes(
    simulation: SimulatedScene, before: AssembledScene, island: int, apart: Sequence[BrokenPiece]
) -> Indices:
    """Returns the nodes that what was an island before has now."""
    for each in apart:
        if each.island == island:
            found = [
                np.arange(nodes.start, nodes.stop, dtype=np.int32) for _, _, nodes in _new_pieces(simulation, each)
            ]
            return indices(np.concatenate(found))
    was, now = before.model, simulation.built.model
    first, end = (int(node) for node in was.pattern.island_start[island : island + 2])
    number = next(n for n, body in enumerate(was.bodies) if body.nodes.start <= first < body.nodes.stop)
    offset = first - was.bodies[number].nodes.start
    pieces, pieces_before = simulation.built.pieces, before.pieces
    assert pieces is not None and pieces_before is not None
    for body, body_before in zip(pieces.bodies, pieces_before.bodies, strict=True):
        if body.number == number:
            offset = 4 * int(body.piece_of_tet[body_before.tets_of_pieces[offset // 4][0]])
    start = now.bodies[number].nodes.start + offset
    return np.arange(start, start + end - first, dtype=np.int32)
