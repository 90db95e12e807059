# SPDX-License-Identifier: GPL-3.0-or-later
"""Values at some nodes of a tet mesh from those at the others: as smooth between them as can be.

The values d have the least Σ V |∇d|² over the tets, with those that are given. So they are harmonic, by linear finite
elements, without a flux through the surface where nothing is given, and exact where the given ones are affine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Bools, Floats, Indices, floats
from .block_pattern import BlockPattern, block_pattern
from .block_system import BlockSystem, StoppingCriteria
from .mesh_laplacian import laplacian
from .pcg import SolveResult, solve

CG_TOLERANCE = 1.0e-4
MIN_RELATIVE_DISPLACEMENT = 1.0e-9  # displacements that count at least, over the size of the mesh
MAX_CG_ITERATIONS = 1000


@dataclass(frozen=True, eq=False)
class HarmonicExtension:
    """Which nodes have no given values, and the matrix for three values per node.

    Attributes:
        is_inner: Whether values of a node are sought, (k,).
        pattern, values: The matrix, of blocks a I [m], (b, 9).
        stopping: When a solve stops.
    """

    is_inner: Bools
    pattern: BlockPattern
    values: Floats
    stopping: StoppingCriteria

    def extend(self, d: Floats) -> SolveResult:
        """Writes the values of the inner nodes into those of all, (k, 3)."""
        d[self.is_inner] = 0.0
        nothing = np.zeros_like(d)
        return solve(BlockSystem(self.pattern, self.values, nothing, self.is_inner), d, self.stopping)


def make_harmonic_extension(
    rest: Floats,
    tets: Indices,
    is_inner: Bools,
    tolerance: float = CG_TOLERANCE,
    max_iterations: int = MAX_CG_ITERATIONS,
) -> HarmonicExtension | None:
    """Returns the system of a mesh; None where no node is inner.

    Args:
        rest: Nodes at rest [m], (k, 3).
        tets: Their tets, (t, 4).
        is_inner: Whether values of a node are sought, (k,). Every piece has nodes where they are given.
        tolerance: Residual at which a solve stops, over the norm of what the given values contribute.
        max_iterations: Iterations after which it stops anyway.
    """
    if not is_inner.any():
        return None
    pattern = block_pattern(tets, len(rest))
    values = laplacian(rest, tets, pattern)
    size = float(np.ptp(rest, axis=0).max())
    diagonal = values[pattern.diagonal[is_inner], 0]
    least = floats([MIN_RELATIVE_DISPLACEMENT * size * np.sqrt(np.sum(diagonal**2))])
    return HarmonicExtension(is_inner, pattern, values, StoppingCriteria(tolerance, max_iterations, least))


def surrounded_nodes(tets: Indices, held: Indices, count: int) -> Bools:
    """Returns which of n nodes have no tet, (m, 4), that is not among those held, (t, 4), as (n,)."""
    return np.bincount(tets.ravel(), minlength=count) == np.bincount(held.ravel(), minlength=count)
