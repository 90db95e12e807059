# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces between pairs of points inside tets, linear in their relative motion during a step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass
class PairForces:
    """Forces between points of tets, linear in their motion relative to each other during the step.

    The point p at `weights` of a tet feels f = force − stiffness r, r = (p⁺ − p) − (q⁺ − q), and the point q at
    `other_weights` of another tet, which may be one of another body, feels −f. The stiffness of all pairs that one
    contact is made of (`tet_pair_springs.py`) has to be symmetric positive semi-definite, together.

    Attributes:
        tet, other: The tets, (k,).
        weights, other_weights: (k, 4).
        force: On p where nothing moves [N], (k, 3).
        stiffness: [N/m], (k, 3, 3).
    """

    tet: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    weights: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    other: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    other_weights: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    force: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    stiffness: Floats = field(default_factory=lambda: np.zeros((0, 3, 3)))

    def __len__(self) -> int:
        return len(self.tet)

    def relative_positions(self, x: Floats, tets: Indices) -> Floats:
        """Returns where p is from q [m], (k, 3), for node positions or velocities x, (n, 3)."""
        here, there = (
            np.einsum("ka,kai->ki", weights, x[tets[tet]])
            for weights, tet in ((self.weights, self.tet), (self.other_weights, self.other))
        )
        return here - there

    def forces_after(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns f on the points p after displacements of all nodes [m], (n, 3), in newtons, (k, 3)."""
        return self.force - np.einsum("kij,kj->ki", self.stiffness, self.relative_positions(displacement, tets))

    @staticmethod
    def concatenate(*groups: PairForces) -> PairForces:
        """Returns the pairs of all groups, in order."""
        some = [group for group in groups if len(group)]
        if len(some) <= 1:
            return some[0] if some else PairForces()
        names = ("tet", "weights", "other", "other_weights", "force", "stiffness")
        return PairForces(*(np.concatenate([getattr(group, name) for group in some]) for name in names))
