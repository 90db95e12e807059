# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces of whole tets on their nodes, linear in the motion of all four during a step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass
class TetForces:
    """The nodes of a tet feel f = force − stiffness (x⁺ − x), with their positions x at the start of the step.

    The stiffness joins all nodes of the tet; of each tet it is symmetric positive semi-definite.

    Attributes:
        tet: The tets, (k,).
        force: On their nodes where nothing moves [N], (k, 4, 3).
        stiffness: [N/m], (k, 4, 4, 3, 3).
    """

    tet: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    force: Floats = field(default_factory=lambda: np.zeros((0, 4, 3)))
    stiffness: Floats = field(default_factory=lambda: np.zeros((0, 4, 4, 3, 3)))

    def __len__(self) -> int:
        return len(self.tet)

    def stiffness_forces(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns K d of each tet [N], (k, 4, 3), for displacements d of all nodes [m], (n, 3)."""
        return np.einsum("tacij,tcj->tai", self.stiffness, displacement[tets[self.tet]])

    def nodal_forces(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns their forces on all nodes [N] after displacements [m], (n, 3) each."""
        out = np.zeros_like(displacement)
        np.add.at(out, tets[self.tet], self.force - self.stiffness_forces(displacement, tets))
        return out

    def work(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns the work of the forces at the end of displacements [m], (n, 3), along the way there [J], (k,)."""
        end = self.force - self.stiffness_forces(displacement, tets)
        return np.einsum("tai,tai->t", end, displacement[tets[self.tet]])

    def displaced(self, displacement: Floats, tets: Indices) -> TetForces:
        """Returns the same forces for a motion that starts a displacement of all nodes farther [m], (n, 3)."""
        return TetForces(self.tet, self.force - self.stiffness_forces(displacement, tets), self.stiffness)

    @staticmethod
    def concatenate(*groups: TetForces) -> TetForces:
        """Returns the forces of all groups, in order."""
        some = [group for group in groups if len(group)]
        if len(some) <= 1:
            return some[0] if some else TetForces()
        names = ("tet", "force", "stiffness")
        return TetForces(*(np.concatenate([getattr(group, name) for group in some]) for name in names))
