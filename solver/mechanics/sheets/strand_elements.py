# SPDX-License-Identifier: GPL-3.0-or-later
"""The strands of a sheet, which a model holds as tets among those of its hinges.

A strand of the diameter d has the area A = π d² / 4 and the second moment of area I = π d⁴ / 64. It resists a stretch
with E A, and a bend at a node between strands of the mean length l with k = E I / l. Half of its mass ρ A L is at each
of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...mesh.strand_mesh import strand_lengths, strand_tets
from ...runtime.arrays import Floats, Indices, floats
from .strand_kernels import StrandArrays

if TYPE_CHECKING:
    from .sheet_elements import SheetMaterial

MIN_REST_ANGLE = 1.0e-3  # below which strands are straight at rest: round-off of single precision bends none


@dataclass(frozen=True, eq=False)
class StrandElements:
    """The strands of a model.

    Attributes:
        tets: Which tets of the model they are, rising, (s,).
        arrays: What they are made of.
        mass: Of the strands that belong to each [kg], as `StrandArrays.length`, (s, 2).
    """

    tets: Indices
    arrays: StrandArrays
    mass: Floats

    def select(self, own: npt.NDArray[np.bool_], tets: Indices) -> StrandElements | None:
        """Returns some of them as these tets; None where there are none."""
        if not own.any():
            return None
        return StrandElements(tets, StrandArrays(*(values[own] for values in self.arrays)), self.mass[own])

    def of_tets(self, rows: Indices) -> StrandElements | None:
        """Returns those among these tets, rising, by their places there; None where there are none."""
        own = np.isin(self.tets, rows)
        return self.select(own, np.searchsorted(rows, self.tets[own]).astype(np.int32))

    def moved(self, first_tet: int) -> StrandElements:
        """Returns the same as tets of a model where theirs begin at `first_tet`."""
        return StrandElements(self.tets + np.int32(first_tet), self.arrays, self.mass)

    def scaled(self, factor: Floats) -> StrandElements:
        """Returns the same with strands that are so many times as long at rest, for factors of all nodes, (s, 3)."""
        longer = 0.5 * (factor[:, :1] + factor[:, 1:])
        a = self.arrays
        of_bending = a.bending / longer.mean(axis=1)
        arrays = StrandArrays(of_bending, a.rest_angle, a.stretching / longer, a.length * longer)
        return StrandElements(self.tets, arrays, self.mass)

    def changed(self, tets: slice, before: SheetMaterial, after: SheetMaterial) -> StrandElements:
        """Returns the same where those of a body's tets are of another stiffness and density; Bending stays."""
        own, a = slice(*np.searchsorted(self.tets, (tets.start, tets.stop)).tolist()), self.arrays
        stretching, bending, mass = a.stretching.copy(), a.bending.copy(), self.mass.copy()
        stretching[own] *= after.youngs_modulus / before.youngs_modulus
        bending[own] *= after.youngs_modulus / before.youngs_modulus
        mass[own] *= after.density / before.density
        return StrandElements(self.tets, a._replace(stretching=stretching, bending=bending), mass)

    def node_masses(self, tets: Indices, node_count: int) -> Floats:
        """Returns half of the mass of the strands at each node [kg], (n,), for the tets of the model, (m, 4)."""
        own = tets[self.tets]
        found = np.bincount(own[:, 0], 0.5 * self.mass.sum(axis=1), node_count)
        for side in range(2):
            found += np.bincount(own[:, 1 + side], 0.5 * self.mass[:, side], node_count)
        return floats(found)

    def stiffness(self) -> tuple[Floats, Floats]:
        """Returns what resists strain and angles in each [J], (s,), and about how stiff it is [N/m], (s,)."""
        a = self.arrays
        largest = (1.0 / np.where(a.length > 0.0, a.length, np.inf) ** 2).max(axis=1)
        whole = (a.stretching * a.length**2).sum(axis=1) + a.bending
        return floats(whole), floats(a.stretching.sum(axis=1) + a.bending * largest)

    @staticmethod
    def concatenate(groups: Sequence[StrandElements]) -> StrandElements | None:
        """Returns the strands of all groups, in order; None where there are none."""
        if len(groups) <= 1:
            return groups[0] if groups else None
        arrays = zip(*(group.arrays for group in groups), strict=True)
        tets, mass = (np.concatenate([getattr(group, name) for group in groups]) for name in ("tets", "mass"))
        return StrandElements(tets, StrandArrays(*(np.concatenate(values) for values in arrays)), mass)


def make_strand_elements(
    nodes: Floats, strands: Indices, material: SheetMaterial, name: str
) -> tuple[Indices, StrandElements | None]:
    """Returns the nodes of the tets of strands, (s, 4), and the strands, whose tets begin at 0; None: there are none.

    Args:
        nodes: Rest positions [m], (n, 3).
        strands: Two nodes of each, (e, 2).
        material: Its thickness is the diameter.
        name: Of the sheet, for people.

    Raises:
        BadInput: A strand has no length.
    """
    if not len(strands):
        return np.zeros((0, 4), np.int32), None
    length = strand_lengths(nodes, strands, name)
    made = strand_tets(nodes, strands)
    count, d, E = len(made.tets), material.thickness, material.youngs_modulus
    area, moment = np.pi * d**2 / 4.0, np.pi * d**4 / 64.0
    at = made.owner, made.side
    stretching, mass = np.zeros((count, 2)), np.zeros((count, 2))
    stretching[at], mass[at] = E * area / length, material.density * area * length
    both = np.linalg.norm(nodes[made.tets[:, 1:3]] - nodes[made.tets[:, :1]], axis=2)
    bending = material.strand_bending * E * moment / both.mean(axis=1)
    angle = np.where(made.is_pair, turn_angles(nodes, made.tets), 0.0)
    arrays = StrandArrays(
        floats(np.where(made.is_pair, bending, 0.0)),
        floats(np.where(angle < MIN_REST_ANGLE, 0.0, angle)),
        stretching,
        floats(both, -1, 2),
    )
    return made.tets, StrandElements(np.arange(count, dtype=np.int32), arrays, mass)


def turn_angles(nodes: Floats, tets: Indices) -> Floats:
    """Returns by which angles strands turn at the first nodes of tets, (s, 4), at places of nodes [m], (s,)."""
    u, v = (nodes[tets[:, corner]] - nodes[tets[:, 0]] for corner in (1, 2))
    sine = np.linalg.norm(np.cross(u, v), axis=1)
    return floats(np.arctan2(sine, -np.einsum("si,si->s", u, v)))
