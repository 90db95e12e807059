# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks a rigid body by what hits it: forces of Hertz's law, static stress, cracks, pieces that fly on.

1. Each hit presses by a force of Hertz's law, as far as the energy of its motion and the stiffness of the body let it
   rise. The stress of the body under all of them, in balance with its own inertia, is solved; where it is more than the
   material bears, cracks go on a little. That makes the body softer, so the load is found again; and so on until
   nothing is overloaded. All of it happens while the bodies touch, and so within a step.
2. Where the body falls apart, the hits have taken the speed that their load by then takes; the rest is still to come.
   Every piece has the rigid motion that the body has by then, so that momentum, angular momentum and energy are just
   those of the body.
3. A piece that hits still press on goes on in the same way with its own mass: it takes less to stop it. A piece that
   nothing presses on any more has no stress, and flies on.
4. A piece that pins hold bears its load against them, and moves as they do: what hits give to it, the pins take.
   Pieces that come off it begin with that motion, and with what hits give to them from then on.

Energy is never gained: what the pieces, the contacts and the hits have together only falls.

Source: Müller, McMillan, Dorsey and Jagnow (2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..runtime.arrays import Floats, Indices, indices
from .brittle_body import BrittleBody
from .crack_progress import OnStressSolve
from .crack_steps import crack_on
from .cracked_mesh import CrackedMesh, whole_mesh
from .held_tets import divide_held_tets
from .hit import Hit, forces_on_piece
from .impact_energy import ImpactEnergy
from .piece_stress import KnownStress, PieceStress, piece_mass, piece_stress
from .rigid_mass import RigidMass, RigidMotion
from .static_fatigue import impact_strength_gain

TOLERANCE = 1.0e-4  # of the stress that tells whether a body cracks at all, and whether cracks have come to an end
# of the stress that tells where cracks go on: the largest is then right to a thousandth
RUN_TOLERANCE = 5.0e-3
MAX_CRACK_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Piece:
    """One piece of a body.

    Attributes:
        tets: Of the body, rising, (k,).
        mass: Its mass.
        motion: How it flies on.
    """

    tets: Indices
    mass: RigidMass
    motion: RigidMotion


@dataclass(frozen=True, eq=False)
class Breakage:
    """What has become of a body.

    Attributes:
        cracked: Its cracks, those included that were there.
        pieces: In the order of their first tets.
        impulses: What each hit has given until pieces fell off [N s], (h, 3): all of it that the motions have.
        impulse_moments: Of these about the origin [N m s], (h, 3): where pieces come off, the place moves on to others.
        pin_impulse, pin_moment: What the pins have taken of both [N s] and [N m s], (3,) each.
        peak_forces: To which the hits rise on a body that does not crack [N], (h,).
        first_crack_share: Share of these at which the first crack begins or goes on; above 1: none does.
        released_energy: By which cracks have eased the body under one load, that at which they went on [J].
        freed_energy: What pieces had stored when they fell apart [J]: it is lost to waves and to splinters.
        crack_area: New faces of cracks, of one side [m²].
        crack_steps: How often the stress was solved.
        largest_residual: Of all these solves, relative to the load.
    """

    cracked: CrackedMesh
    pieces: tuple[Piece, ...]
    impulses: Floats
    impulse_moments: Floats
    pin_impulse: Floats
    pin_moment: Floats
    peak_forces: Floats
    first_crack_share: float
    released_energy: float
    freed_energy: float
    crack_area: float
    crack_steps: int
    largest_residual: float


@dataclass(frozen=True, eq=False)
class _LoadedPiece:
    """A piece that hits press on.

    Attributes:
        piece: It.
        hits: Number → hit.
        share: Of the peak by Hertz's law, the load on it by now.
        known: What a solve begins with, or None.
        inherited: What its tets have stored as a part of a larger piece [J].
    """

    piece: Piece
    hits: dict[int, Hit]
    share: float = 0.0
    known: KnownStress | None = None
    inherited: float = 0.0


@dataclass
class _Tally:
    """Sums over the breaking of a body, the places of the hits [m], and whom to tell before each stress solve."""

    impulses: Floats
    impulse_moments: Floats
    peak_forces: Floats
    places: list[Floats]
    on_solve: OnStressSolve
    pin_impulse: Floats = field(default_factory=lambda: np.zeros(3))
    pin_moment: Floats = field(default_factory=lambda: np.zeros(3))
    first_share: float = np.inf
    released: float = 0.0
    freed: float = 0.0
    steps: int = 0
    residual: float = 0.0
    pieces: int = 1
    at_rest: list[Piece] = field(default_factory=list)


def break_body(
    body: BrittleBody,
    hits: Sequence[Hit],
    motion: RigidMotion,
    cracked: CrackedMesh | None = None,
    on_solve: OnStressSolve = lambda solves, pieces: None,
) -> Breakage:
    """Returns what becomes of a body in one piece, under hits that come at once.

    Args:
        body: While it was whole, where it is now.
        hits: What hits it.
        motion: How it moves before they do.
        cracked: Cracks that it has; None: none. They leave it in one piece.
        on_solve: Called before every stress solve; what it raises goes through, and nothing has changed then.
    """
    start = whole_mesh(body) if cracked is None else cracked
    tets = np.arange(len(body.tets), dtype=np.int32)
    whole = Piece(tets, piece_mass(start, tets), motion)
    places = [hit.place(body) for hit in hits]
    tally = _Tally(np.zeros((len(hits), 3)), np.zeros((len(hits), 3)), np.zeros(len(hits)), places, on_solve)
    now, queue = start, [_LoadedPiece(whole, dict(enumerate(hits)))]
    while queue:
        loaded = queue.pop()
        if loaded.hits and not body.is_dust(loaded.piece.tets):
            now, fallen = _crack_until_apart(now, loaded, tally)
            queue += fallen
            tally.pieces += len(fallen) - 1
        else:
            tally.at_rest.append(loaded.piece)
    return Breakage(
        cracked=now,
        pieces=tuple(sorted(tally.at_rest, key=lambda piece: int(piece.tets[0]))),
        impulses=tally.impulses,
        impulse_moments=tally.impulse_moments,
        pin_impulse=tally.pin_impulse,
        pin_moment=tally.pin_moment,
        peak_forces=tally.peak_forces,
        first_crack_share=tally.first_share,
        released_energy=tally.released,
        freed_energy=tally.freed,
        crack_area=now.crack_area - start.crack_area,
        crack_steps=tally.steps,
        largest_residual=tally.residual,
    )


def _crack_until_apart(
    cracked: CrackedMesh, loaded: _LoadedPiece, tally: _Tally
) -> tuple[CrackedMesh, list[_LoadedPiece]]:
    """Returns the body when one piece of it has fallen apart or bears its load, and what has become of that piece."""
    tets, known = loaded.piece.tets, loaded.known
    tolerance = RUN_TOLERANCE if tally.steps else TOLERANCE
    forces = forces_on_piece(cracked, tets, loaded.hits.values())
    energy: ImpactEnergy | None = None
    rise = max(hit.impact.rise_time for hit in loaded.hits.values())
    at_once = rise * cracked.body.material.crack_speed / float(np.median(cracked.body.size[tets]))
    while True:
        tally.on_solve(tally.steps, tally.pieces)
        stress = piece_stress(cracked, tets, forces, tolerance, known, loaded.piece.mass)
        tally.residual = max(tally.residual, stress.relative_residual)
        if energy is None:
            energy = _energy(loaded, stress)
            tally.freed -= energy.budget - energy.in_contacts
        else:
            energy, released = energy.after_crack(stress.energy)
            tally.released += released
        impacts = [hit.impact for hit in loaded.hits.values()]
        stress = replace(stress, strength_gain=impact_strength_gain(impacts, energy))
        peak, worst = energy.peak_share, float(stress.overload.max(initial=0.0))
        if tally.steps == 0:
            for number, hit in loaded.hits.items():
                tally.peak_forces[number] = peak * hit.impact.peak_force
            tally.first_share = 1.0 / (peak * worst) if peak * worst > 0.0 else np.inf
        tally.steps += 1
        known = stress.known()
        parted = crack_on(stress, peak, at_once) if tally.steps < MAX_CRACK_STEPS else None
        if parted is None:
            if stress.relative_residual > TOLERANCE:
                tolerance = TOLERANCE
                continue
            return cracked, [replace(loaded, hits={})]
        tolerance = RUN_TOLERANCE
        energy = energy.at_share(max(min(energy.share, peak), 1.0 / parted.overload))
        cracked = divide_held_tets(CrackedMesh(cracked.body, parted.is_parted))
        labels = cracked.piece[tets]
        if labels.min() < labels.max():
            return cracked, _fallen_pieces(cracked, loaded, energy, stress, tally)


def _energy(loaded: _LoadedPiece, stress: PieceStress) -> ImpactEnergy:
    """Returns what there is of energy when a piece begins to bear a load."""
    in_contacts = sum(hit.impact.energy for hit in loaded.hits.values())
    kept = min(stress.energy * loaded.share**2, loaded.inherited)
    # where a hit's own energy is all in its contact, that is at its peak
    return ImpactEnergy(in_contacts + kept, in_contacts, stress.energy, loaded.share)


def _fallen_pieces(
    cracked: CrackedMesh, loaded: _LoadedPiece, energy: ImpactEnergy, stress: PieceStress, tally: _Tally
) -> list[_LoadedPiece]:
    """Returns the pieces that a piece has fallen into, with the motions that they have, and what presses on them."""
    body, motion, tets = cracked.body, loaded.piece.motion, loaded.piece.tets
    before = sum(0.5 * hit.impact.mass * hit.impact.speed**2 for hit in loaded.hits.values())
    slowed = min(math.sqrt(energy.motion / before), 1.0) if before > 0.0 else 0.0
    later = {}
    for number, hit in loaded.hits.items():
        reached = hit.impact.slowed(slowed, energy.share * hit.impact.peak_force)
        impulse = hit.impact.mass * (hit.impact.speed - reached.speed) * hit.direction
        # pins turn what splinters pass on to other places; what hits is turned where it touches
        place = tally.places[number] if loaded.piece.mass.is_held else hit.place(body)
        moment = np.cross(place, impulse)
        tally.impulses[number] += impulse
        tally.impulse_moments[number] += moment
        motion = loaded.piece.mass.pushed(motion, hit.place(body), impulse)
        if loaded.piece.mass.is_held:
            tally.pin_impulse, tally.pin_moment = tally.pin_impulse + impulse, tally.pin_moment + moment
        later[number] = replace(hit, impact=reached)
    labels = cracked.piece[tets]
    rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    made = [(indices(tets[own]), piece_mass(cracked, indices(tets[own]))) for own in rows]
    pressing = {number: hit.on_pieces(cracked, made) for number, hit in later.items()}
    stored = energy.share**2 * stress.solid.tet_energy(stress.corner_stress)
    tally.freed += float(stored.sum())
    fallen = []
    for n, (own, mass) in enumerate(made):
        moved = RigidMotion(loaded.piece.mass.velocity_at(motion, mass.centre), motion.angular_velocity)
        hits = {number: on[n] for number, on in pressing.items() if n in on}
        share = max((hit.impact.force / hit.impact.peak_force for hit in hits.values()), default=0.0)
        known = stress.known(rows[n]) if hits else None
        fallen.append(_LoadedPiece(Piece(own, mass, moved), hits, share, known, float(stored[rows[n]].sum())))
    return fallen
