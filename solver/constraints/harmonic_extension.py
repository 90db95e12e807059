# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes deep in a mesh that deforms: as smoothly between the nodes around them as can be.

Their displacements d have the least Σ V |∇d|² over the tets that follow the mesh, with what the nodes nearer to its
surface have given. That is exact where those move by an affine motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.block_pattern import BlockPattern, block_pattern
from ..linalg.block_system import BlockSystem, StoppingCriteria
from ..linalg.mesh_laplacian import laplacian
from ..linalg.pcg import solve
from ..runtime.arrays import Bools, Floats, Indices, floats

CG_TOLERANCE = 1.0e-4
MIN_RELATIVE_DISPLACEMENT = 1.0e-9  # displacements that count at least, over the size of the bone
MAX_CG_ITERATIONS = 1000


@dataclass(frozen=True, eq=False)
class HarmonicExtension:
    """Which nodes of a bone lie deep inside, and the matrix of their displacements.

    Attributes:
        is_inner: Of all nodes of the bone, (k,).
        pattern, values: The matrix, of blocks a I [m], (b, 9).
        least: What the right-hand side counts for at least, per island.
    """

    is_inner: Bools
    pattern: BlockPattern
    values: Floats
    least: Floats

    def extend(self, d: Floats) -> None:
        """Writes the displacements of the inner nodes into those of all, (k, 3)."""
        d[self.is_inner] = 0.0
        nothing = np.zeros_like(d)
        solve(
            BlockSystem(self.pattern, self.values, nothing, self.is_inner),
            d,
            StoppingCriteria(CG_TOLERANCE, MAX_CG_ITERATIONS, self.least),
        )


def make_harmonic_extension(rest: Floats, tets: Indices, is_inner: Bools) -> HarmonicExtension | None:
    """Returns the system for nodes at rest [m], (k, 3), and tets, (t, 4), of a bone; None where none is inner."""
    if not is_inner.any():
        return None
    pattern = block_pattern(tets, len(rest))
    values = laplacian(rest, tets, pattern)
    size = float(np.ptp(rest, axis=0).max())
    diagonal = values[pattern.diagonal[is_inner], 0]
    return HarmonicExtension(
        is_inner, pattern, values, floats([MIN_RELATIVE_DISPLACEMENT * size * np.sqrt(np.sum(diagonal**2))])
    )


def surrounded_nodes(tets: Indices, held: Indices, count: int) -> Bools:
    """Returns which of n nodes have no tet, (m, 4), that is not among those held, (t, 4), as (n,)."""
    return np.bincount(tets.ravel(), minlength=count) == np.bincount(held.ravel(), minlength=count)
