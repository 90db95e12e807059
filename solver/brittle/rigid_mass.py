# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre and inertia of what tets fill, how it moves as one, and what impulses at its places change of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.tet_moments import second_moments
from ..mesh.tetrahedralize.material_moments import MaterialMoments
from ..runtime.arrays import Floats, Indices, floats


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """How a rigid body moves: V + ω × (x − c).

    Attributes:
        velocity: V of the centre of mass [m/s], (3,).
        angular_velocity: ω [rad/s], (3,).
    """

    velocity: Floats
    angular_velocity: Floats


@dataclass(frozen=True, eq=False)
class RigidMass:
    """A rigid body.

    Attributes:
        mass: m [kg].
        centre: c, of mass [m], (3,).
        inertia: I about c [kg m²], (3, 3).
        is_held: Whether pins hold it: no impulse moves it.
    """

    mass: float
    centre: Floats
    inertia: Floats
    is_held: bool = False

    def inverse_effective_mass(self, place: Floats, direction: Floats) -> float:
        """Returns nᵀ(1/m + [r]ᵀ I⁻¹ [r]) n [1/kg] for a place [m] and a unit vector n, (3,) each, r × n = [r] n."""
        return float(self.inverse_mass_matrix(place[None], direction[None])[0, 0])

    def inverse_mass_matrix(self, places: Floats, directions: Floats) -> Floats:
        """Returns what impulses at places [m] along unit vectors, (h, 3) each, give to the speeds there [1/kg], (h, h).

        Entry i, j is nᵢᵀ(1/m + [rᵢ]ᵀ I⁻¹ [rⱼ]) nⱼ; all are zero where it is held.
        """
        if self.is_held:
            return np.zeros((len(places), len(places)))
        levers = np.cross(places - self.centre, directions)
        return floats(directions @ directions.T / self.mass + levers @ np.linalg.solve(self.inertia, levers.T))

    def velocity_at(self, motion: RigidMotion, place: Floats) -> Floats:
        """Returns V + ω × (x − c) [m/s], (3,)."""
        return motion.velocity + np.cross(motion.angular_velocity, place - self.centre)

    def pushed(self, motion: RigidMotion, place: Floats, impulse: Floats) -> RigidMotion:
        """Returns the motion after an impulse at a place [N s, m], (3,) each."""
        if self.is_held:
            return motion
        turn = np.linalg.solve(self.inertia, np.cross(place - self.centre, impulse))
        return RigidMotion(motion.velocity + impulse / self.mass, motion.angular_velocity + turn)

    def momenta(self, motion: RigidMotion, about: Floats) -> tuple[Floats, Floats]:
        """Returns momentum [kg m/s] and angular momentum about a place [kg m²/s], (3,) each."""
        momentum = self.mass * motion.velocity
        return momentum, self.inertia @ motion.angular_velocity + np.cross(self.centre - about, momentum)

    def kinetic_energy(self, motion: RigidMotion) -> float:
        """Returns ½ m V² + ½ ωᵀ I ω [J]."""
        omega = motion.angular_velocity
        return float(0.5 * self.mass * motion.velocity @ motion.velocity + 0.5 * omega @ self.inertia @ omega)


def rigid_mass_of_tets(
    nodes: Floats, tets: Indices, tet_mass: Floats, moments: MaterialMoments | None = None
) -> RigidMass:
    """Returns what tets make up.

    Args:
        nodes: [m], (n, 3).
        tets: (m, 4).
        tet_mass: [kg], (m,).
        moments: Where in the tets it is; None: evenly in them.
    """
    corners, mass = nodes[tets], float(tet_mass.sum())
    if moments is None:
        centre = tet_mass @ corners.mean(axis=1) / mass
        spread = second_moments(corners - centre, tet_mass)
    else:
        centre = np.einsum("t,tc,tci->i", tet_mass, moments.first, corners, optimize=True) / mass
        arms = corners - centre
        weighted = np.einsum("tcd,tdi->tci", tet_mass[:, None, None] * moments.second, arms)
        spread = np.einsum("tci,tcj->ij", arms, weighted)
    return RigidMass(mass, centre, np.trace(spread) * np.eye(3) - spread)
