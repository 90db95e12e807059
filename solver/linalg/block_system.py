# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear system of 3×3 blocks, when its solution is good enough, and the work arrays of its solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats
from .block_pattern import BlockPattern, UInt32s


@dataclass(frozen=True, eq=False)
class BlockSystem:
    """A x = b for the free nodes.

    Attributes:
        pattern: Sparsity of A.
        values: Blocks of A, (b, 9).
        b: Right-hand side, (n, 3).
        is_free: Which nodes are solved for, (n,).
        factored_islands: Of coupled islands, those with Cholesky's factors instead of block Jacobi
            (`island_cholesky.py`), (k,); None: none.
    """

    pattern: BlockPattern
    values: Floats
    b: Floats
    is_free: Bools
    factored_islands: Bools | None = None


@dataclass(frozen=True, eq=False)
class StoppingCriteria:
    """When a solver stops.

    Attributes:
        tolerance: Relative residual to reach in every island.
        max_iterations: Products with A to spend at most, not counting those for residuals.
        norm_floor: What ‖b‖ counts for at least, per island, (k,); None: nothing.
    """

    tolerance: float
    max_iterations: int
    norm_floor: Floats | None = None


class MatrixArrays(NamedTuple):
    """Chunks, rows and blocks of A, as `BlockPattern` has them, and which nodes are solved for, (n,)."""

    chunk_start: UInt32s
    chunk_island: UInt32s
    row_start: UInt32s
    column: UInt32s
    diagonal: UInt32s
    values: Floats
    is_free: Bools


GROWTH_SHARE = 8  # work arrays are by one part in so many larger than asked for


class PcgWorkspace:
    """Work arrays of conjugate gradients, as large as the largest system so far.

    Fresh memory costs more to touch than a pass over it. A simulation owns one; solves that may run at the same time
    must not share it.
    """

    def __init__(self) -> None:
        """Begins without any arrays."""
        self._buffers: dict[str, Floats] = {}

    def array(self, name: str, rows: int, columns: int) -> Floats:
        """Returns the work array of this name, (rows, columns), with anything in it."""
        size = rows * columns
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            # Systems in contact grow by a few blocks again and again. NumPy asks Linux for huge pages for np.empty, and
            # for np.zeros takes small ones, which take longer to come
            buffer = self._buffers[name] = np.empty(size + size // GROWTH_SHARE)
            buffer[:] = 0.0
        return buffer[:size].reshape(rows, columns)
