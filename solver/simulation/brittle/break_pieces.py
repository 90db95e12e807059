# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks the pieces of brittle bodies that were hit in a step, and gives all that took part the motions that follow.

A step stops a body that hits something as a whole. Where it breaks, it was not stopped like that: its pieces begin
with the motion that the body had when it touched, and with what the hits gave until it fell apart
(`motions_after_breaking.py`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...brittle.crack_progress import CrackProgress
from ...brittle.hertz_impact import HertzImpact
from ...brittle.rigid_mass import RigidMotion
from ...brittle.static_fatigue import rigid_strength_gain
from ...brittle.wanted_pieces import count_without_dust
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats
from ...runtime.errors import SolveFailed
from ..assembled_scene import AssembledScene
from ..simulated_scene import SimulatedScene
from ..solve_progress import OnProgress
from .body_in_pieces import BodyInPieces
from .broken_piece import BrokenPiece, break_piece, piece_alone
from .contact_partners import other_sides
from .island_motion import IslandMotion, island_motion, moved_freely, rest_pose
from .motions_after_breaking import BrokenStep, find_motions, set_motions
from .piece_hits import (
    hit_reach,
    hits_on_piece,
    may_be_hit_hard,
    may_hits_break,
    meeting_points,
    stopped_masses,
)
from .step_contacts import ContactsOfIsland, StepContacts, step_contacts
from .switch_pieces import switch_pieces

MAX_RESIDUAL = 1.0e-2  # of a load, which the static solve may leave: stress is wrong by about as much


def break_hit_pieces(simulation: SimulatedScene, start: State, dt: float, on_progress: OnProgress) -> None:
    """Breaks what was hit in a step.

    Args:
        simulation: At the end of the step, with the contacts of its parts, which are taken out.
        start: Where it began.
        dt: Δt of the whole step [s].
        on_progress: Called before every stress solve; what it raises goes through.

    Raises:
        SolveFailed: The stress under a hit was not found.
    """
    built, parts = simulation.built, simulation.part_contacts
    simulation.part_contacts = []
    if built.pieces is None or not parts:
        return
    is_held = held_in_step(simulation)
    contacts, gravity = step_contacts(built.model, parts, is_held), parts[-1].gravity
    step = BrokenStep(built.model, start, simulation.state, contacts, gravity, dt, is_held, on_progress)
    broken = [each for body in _held_bodies(built, is_held) for each in _break_body_pieces(simulation, step, body)]
    if not broken:
        return
    is_parted = {each.body.number: each.body.cracked.is_parted.copy() for each in broken}
    for each in broken:
        is_parted[each.body.number][each.body.tets_of_pieces[each.piece]] |= each.breakage.cracked.is_parted
    apart = [each for each in broken if len(each.breakage.pieces) > 1]
    for each in apart:
        own = each.motion
        simulation.state.x[own.nodes], simulation.state.v[own.nodes] = own.x, own.field(own.motion, own.x)
    motions = find_motions(step, apart)
    switch_pieces(simulation, is_parted)
    if apart:
        set_motions(simulation, built, motions)


def held_in_step(simulation: SimulatedScene) -> Bools:
    """Returns the nodes that something held in the last step, (n,)."""
    held = simulation.held_nodes
    return np.zeros(simulation.built.model.node_count, bool) if held is None else held


def _held_bodies(built: AssembledScene, is_held: Bools) -> list[BodyInPieces]:
    """Returns the brittle bodies, without their pins where these held none of their nodes, (n,)."""
    assert built.pieces is not None
    return [
        body if is_held[built.model.bodies[body.number].nodes].any() else body.released for body in built.pieces.bodies
    ]


def _break_body_pieces(simulation: SimulatedScene, step: BrokenStep, body: BodyInPieces) -> list[BrokenPiece]:
    """Returns the pieces of a body that have cracked, one after the other, until it has as many as it may have."""
    pieces = simulation.built.pieces
    assert pieces is not None and pieces.fine.fracture is not None
    asked = next(each for each in pieces.fine.fracture.bodies if each.number == body.number)
    count = len(body.mesh.tets) - body.dust_count
    limit, broken = min(asked.most_pieces, asked.wanted_pieces or asked.most_pieces), list[BrokenPiece]()
    for piece in _hit_pieces(simulation, body, step.contacts) if count < limit else ():
        if asked.wanted_pieces and count >= limit:
            break
        made = _break_piece(simulation, step, body, piece, asked.wanted_pieces and limit - count + 1)
        if made is not None:
            broken.append(made)
            count += count_without_dust(body.body, made.breakage) - 1
    return broken


def _hit_pieces(simulation: SimulatedScene, body: BodyInPieces, contacts: StepContacts) -> list[int]:
    """Returns the pieces of a body that something came nearer to, fast enough to break them."""
    built = simulation.built
    nodes = built.model.bodies[body.number].nodes
    islands = built.model.pattern.island_of_row[nodes.start : nodes.stop : 4].astype(np.int32)
    return np.flatnonzero(may_be_hit_hard(body, contacts, islands)).tolist()


def _break_piece(
    simulation: SimulatedScene, step: BrokenStep, body: BodyInPieces, piece: int, wanted: int
) -> BrokenPiece | None:
    """Returns what has become of a piece, of which about so many are wanted, 0: any number; None: nothing."""
    contacts, start, gravity, dt = step.contacts, step.start, step.gravity, step.dt
    built, state = simulation.built, simulation.state
    model, pieces = built.model, built.pieces
    assert pieces is not None
    island = int(model.pattern.island_of_row[model.bodies[body.number].nodes.start + 4 * piece])
    touching = contacts.seen_from(island)
    nodes = slice(*(int(each) for each in model.pattern.island_start[island : island + 2]))
    at_rest = touching.moved(rest_pose(model, state.x[nodes], nodes))
    sides, which_side = other_sides(simulation, touching)
    surface, size = pieces.surfaces[body.number], body.report.tet_size
    pull = float(model.gravity_scale[nodes.start]) * gravity
    reach = hit_reach(body.body.coarse_size[body.tets_of_pieces[piece]])
    for points in meeting_points(touching, at_rest, which_side, reach):
        others = tuple(sides[point.other].island for point in points)
        # where it met nothing that moves, its pieces begin where it touched that, and not where the step turned it to
        is_held = body.masses[piece].is_held
        # by Exact contact it must stay where nothing intersects
        is_free = max(others) < 0 and not is_held and built.exact_contact is None
        x = moved_freely(model, start, nodes, pull, min(point.time for point in points)) if is_free else None
        R, t = rest_pose(model, state.x[nodes] if x is None else x, nodes)
        masses = stopped_masses(points, sides, body.masses[piece], R)
        if not may_hits_break(body, piece, points, masses):
            continue
        alone = piece_alone(body, piece)
        hits = hits_on_piece(alone.body, points, sides, masses, R, lambda at: surface.curvature_at(at, size))
        if not _may_break(body, piece, [hit.impact for hit in hits]):
            continue
        moves = island_motion(model, start, state, island, x)
        begin = moves.motion if is_held else _motion_at_hit(moves, touching, pull, dt)
        motion = RigidMotion(R.T @ begin.velocity, R.T @ begin.angular_velocity)
        tell = partial(_tell, step.on_progress, body.name)
        breakage = break_piece(body, piece, hits, motion, alone, wanted, tell)
        if breakage.largest_residual > MAX_RESIDUAL:
            residual = f"{breakage.largest_residual:.1e}"
            raise SolveFailed("brittle-stress-not-found", name=body.name, time=state.time, residual=residual)
        if breakage.crack_area > 0.0:
            return BrokenPiece(body, piece, breakage, island, moves, (R, t), others)
    return None


def _tell(on_progress: OnProgress, body: str, stress_solves: int, pieces: int) -> None:
    on_progress(CrackProgress(body, stress_solves, pieces))


def _may_break(body: BodyInPieces, piece: int, impacts: list[HertzImpact]) -> bool:
    """Whether hits are as strong as what could break the weakest body of the tets of a piece."""
    gain = 1.0 if body.has_crack_tip[piece] else rigid_strength_gain(impacts)
    return sum(impact.peak_force for impact in impacts) >= gain * float(body.safe_forces[piece])


def _motion_at_hit(moves: IslandMotion, touching: ContactsOfIsland, pull: Floats, dt: float) -> RigidMotion:
    """Returns the motion of a piece when it touches a collider, or where it touches none at the end of the step.

    Args:
        moves: The piece.
        touching: Its contacts.
        pull: What gravity gives to it [m/s²], (3,).
        dt: Δt of the step [s].
    """
    fallen = touching.fall[touching.other_island < 0]
    time = min(float(fallen.max()), dt) if len(fallen) else dt
    return RigidMotion(moves.before.velocity + time * pull, moves.before.angular_velocity)
