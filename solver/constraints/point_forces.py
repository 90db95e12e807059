# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on points inside tets, linear in their motion during a step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass
class PointForces:
    """Forces on points inside tets, linear in the motion of the point during the step.

    The point at barycentric `weights` of a tet feels

        f = force − stiffness (x⁺ − x) − damping v⁺

    with its position x at the start of the step and x⁺ = x + Δt v⁺ at the end. A spring to the target p of
    stiffness k is force = k (p − x), stiffness = k I: it sees the end of the step, so it never overshoots.
    Stiffness and damping have to be symmetric positive semi-definite for the solve to be sound.

    Attributes:
        tet: The tet of each point, (k,).
        weights: Its barycentric weights, (k, 4).
        force: At the start position and no velocity [N], (k, 3).
        stiffness: [N/m], (k, 3, 3).
        damping: [N s/m], (k, 3, 3).
    """

    tet: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    weights: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    force: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    stiffness: Floats = field(default_factory=lambda: np.zeros((0, 3, 3)))
    damping: Floats = field(default_factory=lambda: np.zeros((0, 3, 3)))

    def __len__(self) -> int:
        return len(self.tet)

    def positions(self, x: Floats, tets: Indices) -> Floats:
        """Returns where the points are [m], (k, 3), for node positions or velocities x, (n, 3)."""
        return np.einsum("ka,kai->ki", self.weights, x[tets[self.tet]])

    def force_after(self, displacement: Floats, v: Floats) -> Floats:
        """Returns f after displacements of the points [m] and at their velocities v [m/s], in newtons, (k, 3) each."""
        force = self.force - np.einsum("kij,kj->ki", self.stiffness, displacement)
        force -= np.einsum("kij,kj->ki", self.damping, v)
        return force

    def energy(self, displacement: Floats) -> Floats:
        """Returns ½ dᵀ K d − fᵀ d of each point after a displacement d [m], (k, 3), in joules, (k,).

        Its gradient is −f; damping has no energy.
        """
        elastic = np.einsum("ki,kij,kj->k", displacement, self.stiffness, displacement)
        return 0.5 * elastic - np.einsum("ki,ki->k", self.force, displacement)

    def work(self, start: Floats, end: Floats, v: Floats, tets: Indices) -> Floats:
        """Returns the work of the force at the end of the step along the way there, of each point [J], (k,).

        Args:
            start, end: Node positions [m], (n, 3) each.
            v: Node velocities at the end [m/s], (n, 3).
            tets: Nodes of the tets, (m, 4).
        """
        moved = self.positions(end - start, tets)
        return np.einsum("ki,ki->k", self.force_after(moved, self.positions(v, tets)), moved)

    @staticmethod
    def concatenate(*groups: PointForces) -> PointForces:
        """Returns the points of all groups, in order."""
        some = [group for group in groups if len(group)]
        if len(some) <= 1:
            return some[0] if some else PointForces()
        names = ("tet", "weights", "force", "stiffness", "damping")
        return PointForces(*(np.concatenate([getattr(group, name) for group in groups]) for name in names))
