# SPDX-License-Identifier: GPL-3.0-or-later
"""What hits a piece in a step: contacts that came nearer, as impacts of Hertz's law, and which of them matter.

Contacts that are nearer to each other than the force is spread are one hit. Hits of a piece that begin at the same time
stop it together: with the impulses J of the step and the matrix W of what an impulse at one gives to the speed at
another, α J with

    α = Σ J v / Σ J (W J)

takes the speeds v at which they touch to zero, weighed by J. So the mass that each stops is α J / v; where there is one
hit, that is 1 / W, whatever the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...brittle.brittle_body import BrittleBody
from ...brittle.hertz_contact import hertz_stiffness, reduced_modulus, relative_radii
from ...brittle.hertz_impact import HertzImpact
from ...brittle.hit import PATCH_SIZES, Hit, stopped_mass
from ...brittle.rigid_mass import RigidMass
from ...brittle.static_fatigue import may_break
from ...mesh.embedding import bind
from ...runtime.arrays import Bools, Floats, Indices, floats
from .body_in_pieces import BodyInPieces
from .contact_partners import OtherSide
from .hit_surface import EDGE_SHARE
from .step_contacts import ContactsOfIsland, StepContacts

MIN_SPEED = 1.0e-3  # [m/s] below which nothing is a hit: such a fall is a twentieth of a micrometre
# of the distance within which contacts are one hit: by that much more way others may have that touch at the same time
SAME_GAP = 0.05
SAME_DIRECTION = 0.8  # cosine of normals of contacts that are one hit
ENERGY_RESERVE = 2.0  # of what spin adds to the energy that the contacts of a piece stop


@dataclass(frozen=True, eq=False)
class MeetingPoint:
    """Contacts of a piece that are one hit.

    Attributes:
        place: Mean by impulses, in the world [m], (3,).
        at_rest: The same on the piece at rest [m], (3,).
        direction: Of the impulse on the piece, along the normal, (3,).
        impulse: Along it [N s].
        speed: Mean by impulses of those by which the bodies came nearer [m/s].
        time: When it began, after the step did [s].
        other: Which other side, of a list.
    """

    place: Floats
    at_rest: Floats
    direction: Floats
    impulse: float
    speed: float
    time: float
    other: int


def meeting_points(
    touching: ContactsOfIsland, at_rest: Floats, which_side: list[int], reach: float
) -> list[list[MeetingPoint]]:
    """Returns contacts that came nearer, as hits: those that begin at the same time, one such group after the other.

    Args:
        touching: The contacts of a piece.
        at_rest: Where they are on the piece at rest [m], (c, 3).
        which_side: The other side of each.
        reach: Distance below which two are one [m].
    """
    is_hit = (touching.speed > MIN_SPEED) & (touching.impulse > 0.0)
    left, made = [row for row in np.argsort(touching.time, kind="stable").tolist() if is_hit[row]], []
    while left:
        until = touching.time[left[0]] + SAME_GAP * reach / touching.speed[left[0]]
        now = [row for row in left if touching.time[row] <= until]
        left = [row for row in left if touching.time[row] > until]
        made.append(_meeting_points_at_once(touching, at_rest, which_side, now, reach))
    return made


def _meeting_points_at_once(
    touching: ContactsOfIsland, at_rest: Floats, which_side: list[int], rows: list[int], reach: float
) -> list[MeetingPoint]:
    place, direction, impulse = touching.place, touching.direction, touching.impulse
    left, made = sorted(rows, key=lambda row: -impulse[row]), []
    while left:
        first = left[0]
        near = [
            row
            for row in left
            if which_side[row] == which_side[first]
            and np.linalg.norm(place[row] - place[first]) <= reach
            and direction[row] @ direction[first] > SAME_DIRECTION
        ]
        left = [row for row in left if row not in near]
        J = impulse[near]
        along = J @ direction[near]
        made.append(
            MeetingPoint(
                floats(J @ place[near] / J.sum()),
                floats(J @ at_rest[near] / J.sum()),
                floats(along / np.linalg.norm(along)),
                float(J.sum()),
                float(J @ touching.speed[near] / J.sum()),
                float(touching.time[near].min()),
                which_side[first],
            )
        )
    return made


def hits_on_piece(
    body: BrittleBody,
    points: list[MeetingPoint],
    others: list[OtherSide],
    masses: list[float],
    R: Floats,
    own_curvature: Callable[[Floats], Floats],
) -> list[Hit]:
    """Returns the hits in the space of the piece at rest.

    Args:
        body: The piece at rest.
        points: Where it is hit.
        others: What hits it.
        masses: What each hit stops [kg].
        R: Turns it from rest to the world, (3, 3).
        own_curvature: Of its surface at a place at rest [m], as a tensor [1/m].
    """
    if not points:
        return []
    at_rest = floats(np.stack([point.at_rest for point in points]))
    bound = bind(body.nodes, body.tets, at_rest)
    weights = np.maximum(bound.weights, 0.0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    largest = float(np.linalg.norm(np.ptp(body.nodes, axis=0)))
    hits = []
    for number, point in enumerate(points):
        other, tet = others[point.other], int(bound.tet[number])
        size, material = float(body.coarse_size[tet]), body.material
        curvatures = own_curvature(at_rest[number]), R.T @ other.curvature_at(point.place, size) @ R
        direction = floats(R.T @ point.direction)
        radii = relative_radii(*curvatures, direction, min(EDGE_SHARE * size, largest), largest)
        elastic = material.youngs_modulus, material.poisson_ratio, other.youngs_modulus, other.poisson_ratio
        impact = HertzImpact(hertz_stiffness(reduced_modulus(*elastic), *radii), masses[number], point.speed)
        inverse = 0.0 if other.mass is None else other.mass.inverse_effective_mass(point.place, point.direction)
        hits.append(Hit(tet, floats(weights[number]), direction, impact, inverse))
    return hits


def may_be_hit_hard(body: BodyInPieces, contacts: StepContacts, islands: Indices) -> Bools:
    """Returns which pieces of a body could break, (k,), by the largest forces that their contacts can come to.

    With n contacts that stop up to the whole mass m, all of them as stiff as any, forces are n^(2/5) times the peak of
    one, which is K^(2/5) (5/4 m v²)^(3/5) by Hertz's law. On a piece that pins hold, they can stop any mass. Pieces
    without crack tips bear more for as short as that lasts.

    Args:
        body: The body.
        contacts: Of a step.
        islands: Of its pieces, (k,).
    """
    speed, count = np.zeros((2, int(max(islands.max(), contacts.island.max(initial=0))) + 1))
    least = np.full(len(speed), np.inf)
    is_hit = contacts.speed > MIN_SPEED
    for side in range(2):
        own = np.flatnonzero(is_hit & (contacts.island[:, side] >= 0))
        np.maximum.at(speed, contacts.island[own, side], contacts.speed[own])
        np.minimum.at(least, contacts.island[own, side], contacts.speed[own])
        np.add.at(count, contacts.island[own, side], 1.0)
    mass = np.array([each.mass for each in body.masses])
    energy = ENERGY_RESERVE * 0.5 * mass * speed[islands] ** 2
    force = count[islands] ** 0.4 * body.stiffest_contacts**0.4 * (2.5 * energy) ** 0.6
    is_held = np.array([each.is_held for each in body.masses])
    found = np.asarray(np.where(is_held, speed[islands] > 0.0, force > body.safe_forces))
    for piece in np.flatnonzero(found & ~is_held & ~body.has_crack_tip).tolist():
        slowest = float(least[islands[piece]])
        found[piece] = may_break(float(force[piece]), float(energy[piece]), slowest, float(body.safe_forces[piece]))
    return found


def may_hits_break(body: BodyInPieces, piece: int, points: list[MeetingPoint], masses: list[float]) -> bool:
    """Whether hits that stop such masses [kg] could break a piece if all its contacts were as stiff as any can be."""
    stiffest = float(body.stiffest_contacts[piece])
    impacts = [HertzImpact(stiffest, mass, point.speed) for point, mass in zip(points, masses, strict=True)]
    force, energy = sum(each.peak_force for each in impacts), sum(each.energy for each in impacts)
    safe = float(body.safe_forces[piece])
    if body.has_crack_tip[piece]:  # which no strength of a short time keeps from going on
        return force > safe
    return may_break(force, energy, min(each.speed for each in impacts), safe)


def hit_reach(size: Floats) -> float:
    """Returns the distance below which contacts of a piece with tets of such sizes [m], (k,), are one hit [m]."""
    return PATCH_SIZES * float(np.median(size))


def stopped_masses(points: list[MeetingPoint], others: list[OtherSide], mass: RigidMass, R: Floats) -> list[float]:
    """Returns the mass that each hit stops [kg], of a piece with its mass at rest, which R turns to the world."""
    J, v = np.array([point.impulse for point in points]), np.array([point.speed for point in points])
    along = floats(np.stack([R.T @ point.direction for point in points]))
    W = mass.inverse_mass_matrix(floats(np.stack([point.at_rest for point in points])), along)
    for number, point in enumerate(points):
        other = others[point.other].mass
        if other is not None:
            W[number, number] += other.inverse_effective_mass(point.place, point.direction)
        if mass.is_held:
            W[number, number] = 1.0 / stopped_mass(mass, W[number, number])
    alpha = float(J @ v / (J @ W @ J))
    return [float(each) for each in alpha * J / v]
