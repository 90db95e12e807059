# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks a piece of a bisected body: in the smallest tets where cracks begin, in larger ones elsewhere.

The stress under the hits is solved in the largest tets first. Where it would crack, leaves with at least `FINE_SHARE`
of the largest stress over strength, and those under the contacts, become the smallest tets; cracks run in that mesh.
Smaller tets find a larger stress where it is concentrated, and whether a body breaks must not depend on them: so where
a crack begins, the breaking stress is that by which both meshes crack at the same load. At tips it is K_c / √h of the
tets there, as always.

Where tets at the surface are partly filled, smaller ones know better where the material is, and so where centres of
mass are. Motions of the piece and of what becomes of it are those with the same momentum and angular momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..mesh.embedding import barycentric_weights
from ..runtime.arrays import Bools, Indices, floats, indices
from .bisected_body import BisectedBody, LeafPart
from .break_body import TOLERANCE, Breakage, Piece
from .brittle_body import BrittleBody
from .crack_progress import OnStressSolve
from .cracked_mesh import CrackedMesh
from .hit import Hit, forces_on_piece
from .impact_energy import ImpactEnergy
from .piece_stress import PieceStress, piece_mass, piece_stress
from .rigid_mass import RigidMass, RigidMotion
from .static_fatigue import impact_strength_gain
from .wanted_pieces import break_into

FINE_SHARE = 0.5


def break_bisected(
    whole: BisectedBody,
    piece: tuple[CrackedMesh, Indices],
    hits: Sequence[Hit],
    motion: RigidMotion,
    wanted: int,
    on_solve: OnStressSolve = lambda solves, pieces: None,
) -> Breakage:
    """Returns what becomes of a piece under hits, in the smallest tets; see `break_body`.

    Args:
        whole: The body.
        piece: Of the smallest tets alone, and which of them it has, (k,).
        hits: In these.
        motion: How it moves before they do.
        wanted: About how many pieces; 0: as many as come of it.
        on_solve: Called before every stress solve.
    """
    alone, tets = piece
    part = whole.part(alone, tets, np.zeros(len(tets), bool))
    on_solve(0, 1)
    stress, peak = _stress_at_peak(part, _hits_on(part, alone.body, hits))
    if peak * float(stress.overload.max(initial=0.0)) >= 1.0:
        is_fine = _is_concentrated(stress, part.cracked.body, _hits_on(part, alone.body, hits))
        part = whole.part(alone, tets, is_fine[part.leaf])
        on_solve(0, 1)
        finer, finer_peak = _stress_at_peak(part, _hits_on(part, alone.body, hits))
        part = _as_strong(part, _largest_begin(finer, finer_peak) / _largest_begin(stress, peak))
    body, start = part.cracked.body, piece_mass(alone, indices(np.arange(len(tets), dtype=np.int32)))
    mass = piece_mass(part.cracked, indices(np.arange(len(body.tets), dtype=np.int32)))
    begin = _same_momenta(start, motion, mass)
    found = break_into(body, _hits_on(part, alone.body, hits), begin, part.cracked, wanted, on_solve)
    cracked = CrackedMesh(alone.body, part.parted_faces(alone, found.cracked))
    return replace(found, cracked=cracked, pieces=_fine_pieces(part, cracked, found))


def _hits_on(part: LeafPart, body: BrittleBody, hits: Sequence[Hit]) -> list[Hit]:
    """Returns hits on the smallest tets of a body as hits on leaves."""
    made = []
    for hit in hits:
        tet, leaves = int(part.leaf[hit.tet]), part.cracked.body
        place = hit.place(body).reshape(1, 3)
        weights = barycentric_weights(leaves.nodes, leaves.tets, place, indices([tet]))
        made.append(replace(hit, tet=tet, weights=floats(weights[0])))
    return made


def _stress_at_peak(part: LeafPart, hits: Sequence[Hit]) -> tuple[PieceStress, float]:
    """Returns the stress of a piece under the peaks of hits by Hertz's law, and to what share of these they rise."""
    tets = indices(np.arange(len(part.cracked.body.tets), dtype=np.int32))
    stress = piece_stress(part.cracked, tets, forces_on_piece(part.cracked, tets, hits), TOLERANCE)
    impacts = [hit.impact for hit in hits]
    in_contacts = sum(impact.energy for impact in impacts)
    energy = ImpactEnergy(in_contacts, in_contacts, stress.energy)
    return replace(stress, strength_gain=impact_strength_gain(impacts, energy)), energy.peak_share


def _is_concentrated(stress: PieceStress, body: BrittleBody, hits: Sequence[Hit]) -> Bools:
    """Returns which tets have a large share of the largest stress over strength, or are under a contact, (l,)."""
    chosen = stress.overload >= FINE_SHARE * float(stress.overload.max())
    every = indices(np.arange(len(body.tets), dtype=np.int32))
    for hit in hits:
        chosen |= body.may_be_within(every, hit.place(body), hit.reach(body))
    return np.asarray(chosen)


def _largest_begin(stress: PieceStress, peak: float) -> float:
    """Returns the largest stress over strength at the peak where no crack ends; 1 where none pulls."""
    largest = float(np.where(stress.is_tip.any(axis=1), 0.0, stress.overload).max(initial=0.0))
    return peak * largest if peak * largest > 0.0 else 1.0


def _as_strong(part: LeafPart, factor: float) -> LeafPart:
    """Returns a piece whose breaking stress is multiplied by a factor."""
    material = part.cracked.body.material
    body = replace(part.cracked.body, material=replace(material, breaking_stress=factor * material.breaking_stress))
    return replace(part, cracked=CrackedMesh(body, part.cracked.is_parted))


def _fine_pieces(part: LeafPart, cracked: CrackedMesh, found: Breakage) -> tuple[Piece, ...]:
    """Returns pieces of leaves as those of the smallest tets."""
    number = np.empty(len(part.leaves), np.int32)
    for n, each in enumerate(found.pieces):
        number[each.tets] = n
    of_tet, made = number[part.leaf], []
    for n, each in enumerate(found.pieces):
        own = indices(np.flatnonzero(of_tet == n))
        mass = piece_mass(cracked, own)
        made.append(Piece(own, mass, _same_momenta(each.mass, each.motion, mass)))
    return tuple(sorted(made, key=lambda piece: int(piece.tets[0])))


def _same_momenta(one: RigidMass, motion: RigidMotion, other: RigidMass) -> RigidMotion:
    """Returns the motion by which another body has the momentum and the angular momentum of one."""
    if one.is_held or other.is_held:
        return RigidMotion(one.velocity_at(motion, other.centre), motion.angular_velocity)
    momentum, angular = one.momenta(motion, other.centre)
    return RigidMotion(momentum / other.mass, floats(np.linalg.solve(other.inertia, angular)))
