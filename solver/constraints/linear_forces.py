# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces of potentials, linear in the motion of nodes from the start of a step: on tets, on points, between points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..mechanics.linearised_tet_forces import TetForces
from ..runtime.arrays import Floats, Indices
from .pair_forces import PairForces
from .point_forces import PointForces

ROUND_OFF = 1.0e-14  # of positions, over the largest coordinate


@dataclass
class LinearForces:
    """Linear forces.

    Attributes:
        tets: Of tets on their nodes: stretch limits.
        points: Of attachments to what is animated.
        pairs: Of attachments between bodies.
    """

    tets: TetForces = field(default_factory=TetForces)
    points: PointForces = field(default_factory=PointForces)
    pairs: PairForces = field(default_factory=PairForces)

    def __len__(self) -> int:
        return len(self.tets) + len(self.points) + len(self.pairs)

    def nodal_forces(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns the forces on all nodes [N] after displacements [m], (n, 3) each."""
        out = self.link_forces(displacement, tets)
        return out + self.tets.nodal_forces(displacement, tets) if len(self.tets) else out

    def link_forces(self, displacement: Floats, tets: Indices) -> Floats:
        """Returns the same without those of tets."""
        out = np.zeros_like(displacement)
        points, pairs = self.points, self.pairs
        if len(points):
            moved = points.positions(displacement, tets)
            _add_to_nodes(out, tets[points.tet], points.weights, points.force_after(moved, np.zeros_like(moved)))
        if len(pairs):
            force = pairs.forces_after(displacement, tets)
            _add_to_nodes(out, tets[pairs.tet], pairs.weights, force)
            _add_to_nodes(out, tets[pairs.other], pairs.other_weights, -force)
        return out

    def link_round_off(self, x: Floats, tets: Indices) -> Floats:
        """Returns what round-off of positions x [m], (n, 3), may make of the forces of points and pairs [N], (n, 3)."""
        size, out = ROUND_OFF * float(np.abs(x).max(initial=0.0)), np.zeros_like(x)
        points, pairs = self.points, self.pairs
        for tet, weights, stiffness in (
            (points.tet, points.weights, points.stiffness),
            (pairs.tet, pairs.weights, pairs.stiffness),
            (pairs.other, pairs.other_weights, pairs.stiffness),
        ):
            force = size * np.abs(np.einsum("kii->k", stiffness))
            _add_to_nodes(out, tets[tet], np.abs(weights), np.repeat(force[:, None], 3, axis=1))
        return out

    def displaced(self, displacement: Floats, tets: Indices) -> LinearForces:
        """Returns the same forces for a motion that starts a displacement of all nodes farther [m], (n, 3)."""
        points, pairs = self.points, self.pairs
        moved = points.positions(displacement, tets)
        return LinearForces(
            self.tets.displaced(displacement, tets) if len(self.tets) else self.tets,
            replace(points, force=points.force_after(moved, np.zeros_like(moved))) if len(points) else points,
            replace(pairs, force=pairs.forces_after(displacement, tets)) if len(pairs) else pairs,
        )

    def as_points(self) -> PointForces:
        """Returns points and pairs as points, those of pairs as stiff as if their ends moved against each other."""
        pairs = self.pairs
        stiff, none = 2.0 * pairs.stiffness, np.zeros_like(pairs.stiffness)
        return PointForces.concatenate(
            self.points,
            PointForces(pairs.tet, pairs.weights, pairs.force, stiff, none),
            PointForces(pairs.other, pairs.other_weights, pairs.force, stiff, none),
        )

    def without_stiffness(self) -> LinearForces:
        """Returns points and pairs with the same forces wherever they move."""
        points, pairs = self.points, self.pairs
        return LinearForces(
            points=replace(points, stiffness=np.zeros_like(points.stiffness)),
            pairs=replace(pairs, stiffness=np.zeros_like(pairs.stiffness)),
        )

    def link_work(self, displacement: Floats, tets: Indices, island_of_row: npt.NDArray, count: int) -> Floats:
        """Returns the work on each of `count` islands by points and pairs at the end of displacements [J], (count,).

        Args:
            displacement: Of all nodes along the way there [m], (n, 3).
            tets: Nodes of the tets, (m, 4).
            island_of_row: Island of every node, (n,).
            count: Number of islands.
        """
        work = np.einsum("ni,ni->n", self.link_forces(displacement, tets), displacement)
        return np.asarray(np.bincount(island_of_row, work, count), float)

    @staticmethod
    def concatenate(*groups: LinearForces) -> LinearForces:
        """Returns the forces of all groups, in order."""
        return LinearForces(
            TetForces.concatenate(*(group.tets for group in groups)),
            PointForces.concatenate(*(group.points for group in groups)),
            PairForces.concatenate(*(group.pairs for group in groups)),
        )


def _add_to_nodes(out: Floats, nodes: Indices, weights: Floats, force: Floats) -> None:
    """Adds forces on points [N], (k, 3), to those of the nodes between which they lie, (k, 4)."""
    np.add.at(out, nodes, weights[:, :, None] * force[:, None, :])
