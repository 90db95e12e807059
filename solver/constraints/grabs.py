# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabs: springs by which a hand pulls places of bodies while a simulation runs.

A grab takes the place p₀ of a render surface, or all vertices within a radius of it, and pulls each of them towards
where it was beside the hand when it was taken: with the hand at h, point i of the share s_i feels

    f⁺ = s_i k (h + (p_i − p₀) − p⁺),    Σ s_i = 1.

The spring sees the end of the step, so no stiffness makes it unstable (MDMJC02, 5). Its k is such that weight, inertia
and the stiffness of the body itself keep the place near the hand, `stiffness_to_follow`, times the grab's strength.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mesh.embedding import Binding
from ..runtime.arrays import Floats, Indices, floats, indices
from ..scene.grab_falloff import grab_shares
from .force import Force, ForceStep
from .point_forces import PointForces

# k is the largest of these: the weight draws the place from the hand by 1/100 of the size of the body, a body at rest
# follows a hand that suddenly moves by half its size a second within 1/40 of it (ω = 20 / s), and a dent of a tet is
# a tenth as stiff as the hand
WEIGHT_FACTOR = 100.0
ANGULAR_FREQUENCY = 20.0  # [1/s]
MODULUS_FACTOR = 10.0


@dataclass(frozen=True, eq=False)
class Grab:
    """Places that a hand holds.

    Attributes:
        body: Number of their body.
        points: The places, in tets of the model.
        offsets: Where they are beside the hand [m], (k, 3).
        shares: Of the stiffness, of sum 1, (k,).
        stiffness: k [N/m].
        hand: Where the hand is at the end of the step [m], (3,).
        strength: Factor on k, as a pen's pressure or an artist wants it.
    """

    body: int
    points: Binding
    offsets: Floats
    shares: Floats
    stiffness: float
    hand: Floats
    strength: float = 1.0

    def moved_to(self, hand: Floats, strength: float | None = None) -> Grab:
        """Returns the grab with the hand elsewhere [m], (3,), and with another strength; None: the same."""
        return replace(self, hand=hand, strength=self.strength if strength is None else strength)

    def forces(self, x: Floats, tets: Indices) -> PointForces:
        """Returns its springs for nodes at x [m], (n, 3)."""
        points = self.points
        here = np.einsum("ka,kai->ki", points.weights, x[tets[points.tet]])
        each = self.strength * self.stiffness * self.shares
        stiffness = each[:, None, None] * np.eye(3)
        force = each[:, None] * (self.hand + self.offsets - here)
        return PointForces(points.tet, points.weights, force, stiffness, np.zeros_like(stiffness))


class Grabs(Force):
    """All grabs of a simulation that runs live.

    Attributes:
        held: The grabs, by the number that the hand gave each. Whoever runs the simulation changes them between steps.
    """

    kind: ClassVar[str] = "grab"
    affects_quasistatic: ClassVar[bool] = True

    def __init__(self, held: dict[int, Grab] | None = None, bodies: Collection[int] | None = None) -> None:
        """Takes the grabs, which stay the caller's, and the numbers of the bodies that count; None: all."""
        self.held: dict[int, Grab] = {} if held is None else held
        self._bodies = None if bodies is None else frozenset(bodies)

    @property
    def may_squeeze(self) -> bool:
        """Whether a hand is there."""
        return bool(self.held)

    def restricted_to(self, bodies: Collection[int]) -> Grabs:
        """Returns the grabs of the bodies of these numbers, also those that come later."""
        return Grabs(self.held, bodies)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of all grabs, in the order of their numbers."""
        return PointForces.concatenate(*(grab.forces(step.state.x, step.model.tets) for grab in self._in_order()))

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns where hands are, what they hold, and how hard."""
        return [
            array
            for each in self._in_order()
            for array in (each.points.tet, each.points.weights, each.hand + each.offsets, np.array([each.strength]))
        ]

    def _in_order(self) -> list[Grab]:
        grabs = (self.held[number] for number in sorted(self.held))
        return [grab for grab in grabs if self._bodies is None or grab.body in self._bodies]


def grabbed_places(places: Floats, hand: Floats, radius: float) -> tuple[Indices, Floats]:
    """Returns which places a hand takes, the nearest one and those around, and their shares, of sum 1, (k,) and (k,).

    Args:
        places: Where they are now [m], (v, 3).
        hand: Where the hand is [m], (3,).
        radius: Up to where it takes places around the nearest one [m]; 0: that one alone.
    """
    nearest = int(np.argmin(np.linalg.norm(places - hand, axis=1)))
    around = np.linalg.norm(places - places[nearest], axis=1)
    taken = np.flatnonzero(around < radius)
    if not len(taken):
        return indices([nearest]), np.ones(1)
    shares = grab_shares(around[taken], radius)
    return indices(taken), shares / shares.sum()


def make_grab(
    model: Model,
    body: int,
    binding: Binding,
    places: Floats,
    hand: Floats,
    held: tuple[Indices, Floats],
    gravity: float,
) -> Grab:
    """Returns the grab of places of a render surface by a hand.

    Args:
        model: All bodies.
        body: Number of the body.
        binding: Its render vertices, and places on its cracks, in tets of the model.
        places: Where these are now [m], (v, 3).
        hand: Where the hand is [m], (3,).
        held: Which of them it takes, and their shares, of sum 1, (k,) and (k,).
        gravity: Size of the acceleration [m/s²].
    """
    taken, shares = held
    return Grab(
        body,
        Binding(binding.tet[taken], binding.weights[taken]),
        floats(places[taken] - hand),
        floats(shares),
        stiffness_to_follow(model, body, gravity),
        floats(hand),
    )


def stiffness_to_follow(model: Model, body: int, gravity: float) -> float:
    """Returns k [N/m] of a spring that keeps a place of a body near the hand, for a gravity [m/s²]."""
    part = model.bodies[body]
    X, tets = model.X[part.nodes], part.tets
    mass = float(model.mass[part.nodes].sum())
    size = max(float(np.ptp(X, axis=0).max()), 1.0e-12)
    edge = float(np.cbrt(6.0 * model.volume[tets].mean()))  # none of a sheet, whose moduli are of contacts
    modulus = float(np.max(2.0 * model.mu[tets] + model.lam[tets]))
    return max(WEIGHT_FACTOR * mass * gravity / size, mass * ANGULAR_FREQUENCY**2, MODULUS_FACTOR * modulus * edge)
