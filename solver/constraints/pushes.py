# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes: balls by which a hand presses on render surfaces while a simulation runs.

A point at p within the radius r of a ball around c is pushed out along n = (p − c) / |p − c|. The n_b points of a body
in the ball share the stiffness k, which is that of a hand that holds the body (`grabs.py`):

    f⁺ = k / n_b (r − n · (p⁺ − c)) n.

The spring sees the end of the step, so a ball may press as hard as it needs. It does not rub.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mesh.embedding import Binding
from ..runtime.arrays import Floats, Indices
from .force import Force, ForceStep
from .point_forces import PointForces

MIN_DISTANCE = 1.0e-9  # of a point from the middle of a ball from which on there is a way out [m]


@dataclass(frozen=True, eq=False)
class Ball:
    """Where a ball is at the end of the step: its middle [m], (3,), and its radius [m]."""

    place: Floats
    radius: float


@dataclass(frozen=True, eq=False)
class PushedSurface:
    """Points of a render surface that may be pushed.

    Attributes:
        body: Number of the body.
        points: In tets of the model.
        stiffness: k [N/m].
    """

    body: int
    points: Binding
    stiffness: float

    def forces(self, ball: Ball, x: Floats, tets: Indices) -> PointForces:
        """Returns the springs of a ball for nodes at x [m], (n, 3)."""
        points = self.points
        apart = np.einsum("ka,kai->ki", points.weights, x[tets[points.tet]]) - ball.place
        distance = np.linalg.norm(apart, axis=1)
        inside = np.flatnonzero((distance < ball.radius) & (distance > MIN_DISTANCE))
        normal = apart[inside] / distance[inside, None]
        each = self.stiffness / max(len(inside), 1)
        stiffness = each * np.einsum("ki,kj->kij", normal, normal)
        force = each * (ball.radius - distance[inside])[:, None] * normal
        return PointForces(points.tet[inside], points.weights[inside], force, stiffness, np.zeros_like(stiffness))


class Pushes(Force):
    """All balls of a simulation that runs live.

    Attributes:
        held: The balls, by the number that the hand gave each. Whoever runs the simulation changes them between steps.
    """

    kind: ClassVar[str] = "push"
    affects_quasistatic: ClassVar[bool] = True

    def __init__(self, surfaces: Sequence[PushedSurface], held: dict[int, Ball] | None = None) -> None:
        """Takes the surfaces of bodies, and the balls, which stay the caller's."""
        self.surfaces = tuple(surfaces)
        self.held: dict[int, Ball] = {} if held is None else held

    @property
    def may_squeeze(self) -> bool:
        """Whether a hand is there."""
        return bool(self.held)

    def restricted_to(self, bodies: Collection[int]) -> Pushes:
        """Returns what the balls, also later ones, do to the bodies of these numbers."""
        return Pushes([surface for surface in self.surfaces if surface.body in bodies], self.held)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of all balls, in the order of their numbers."""
        balls = [self.held[number] for number in sorted(self.held)]
        x, tets = step.state.x, step.model.tets
        return PointForces.concatenate(*(surface.forces(ball, x, tets) for ball in balls for surface in self.surfaces))

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns where balls are, and what they press on: flesh that has given way is pressed from elsewhere."""
        balls = [self.held[number] for number in sorted(self.held)]
        found = self.point_forces(step)
        return [*(np.append(ball.place, ball.radius) for ball in balls), found.force]
