# SPDX-License-Identifier: GPL-3.0-or-later
"""What a piece of a brittle body meets: how stiff it is, how it is curved, and how heavy.

A rigid body and a collider do not give way. A brittle and a soft body do, by their Young's modulus.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ...brittle.rigid_mass import RigidMass
from ...runtime.arrays import Floats
from ...scene.brittle_validation import is_brittle
from ..simulated_scene import SimulatedScene
from .island_motion import island_mass, rest_pose
from .step_contacts import ContactsOfIsland


@dataclass(frozen=True, eq=False)
class OtherSide:
    """What a piece meets.

    Attributes:
        island: Of the model, −1 of a collider.
        youngs_modulus: E [Pa], infinite of what does not give way.
        poisson_ratio: ν.
        simulation: Has its surface, at the end of a step.
        key: Of the body or of the collider.
    """

    island: int
    youngs_modulus: float
    poisson_ratio: float
    simulation: SimulatedScene
    key: str

    @functools.cached_property
    def mass(self) -> RigidMass | None:
        """Of it where the step ended; None: nothing moves it."""
        simulation = self.simulation
        return island_mass(simulation.built.model, simulation.state.x, self.island) if self.island >= 0 else None

    def curvature_at(self, place: Floats, tet_size: float) -> Floats:
        """Returns its curvature at a place in the world [m], (3,), as a tensor [1/m], (3, 3).

        Args:
            place: [m].
            tet_size: Of the tets of the piece, by which edges are sharp [m].
        """
        built, pieces = self.simulation.built, self.simulation.built.pieces
        assert pieces is not None
        if self.island >= 0:
            number = next(n for n, body in enumerate(built.bodies) if body.key == self.key)
            surface, own = pieces.surfaces[number], built.model.bodies[number].nodes
            first = int(built.model.pattern.island_start[self.island])
            nodes = slice(first, first + 4) if self.is_rigid else own
            R, t = rest_pose(built.model, self.simulation.state.x[nodes], nodes)
        else:
            found = pieces.collider_surfaces.get(self.key)
            if found is None:
                return np.zeros((3, 3))
            surface = found
            collider = next(each for each in built.colliders if each.key == self.key)
            pose = collider.pose(self.simulation.tracks, self.simulation.state.time)
            R, t = pose[:3], pose[3]
        return np.asarray(R @ surface.curvature_at(R.T @ (place - t), tet_size) @ R.T)

    @property
    def is_rigid(self) -> bool:
        """Whether it moves as one tet."""
        start = self.simulation.built.model.pattern.island_start
        return self.island >= 0 and int(start[self.island + 1] - start[self.island]) == 4


def other_sides(simulation: SimulatedScene, touching: ContactsOfIsland) -> tuple[list[OtherSide], list[int]]:
    """Returns what an island meets, and the number of that for each of its contacts.

    Args:
        simulation: At the end of the step.
        touching: The contacts of the island.
    """
    scene, model = simulation.scene, simulation.built.model
    known: dict[tuple[int, str], int] = {}
    sides: list[OtherSide] = []
    numbers: list[int] = []
    starts = np.array([part.nodes.start for part in model.bodies])
    for island, other in zip(touching.other_island.tolist(), touching.other_key, strict=True):
        key, modulus, ratio = other, math.inf, 0.0
        if island >= 0:
            first = int(model.pattern.island_start[island])
            body = scene.bodies[int(np.searchsorted(starts, first, side="right")) - 1]
            key = body.key
        if (island, key) not in known:
            if island >= 0:
                if is_brittle(body) or not body.is_rigid:
                    modulus, ratio = body.material.youngs_modulus, body.material.poisson_ratio
            known[island, key] = len(sides)
            sides.append(OtherSide(island, modulus, ratio, simulation, key))
        numbers.append(known[island, key])
    return sides, numbers
