# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of small sparse matrices and columns of numbers, again and again within steps.

SciPy checks types and shapes before each, and makes a transpose anew: a fifth of the time that the targets of a pinned
region take which bends, 0.3 ms in the scene snake. Where a product is added to an array, SciPy needs another one as
large, which took a third of the processor time between the steps of a bake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import Floats, floats
from .jit import kernel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def sparse_product(matrix: csr_matrix, columns: Floats) -> Floats:
    """Returns A c for A sparse (k, p) and columns c (p, m), to the bit what SciPy returns."""
    out = np.zeros((matrix.shape[0], columns.shape[1]))
    add_sparse_product(matrix.indptr, matrix.indices, matrix.data, floats(columns), out)
    return out


@kernel()
def add_sparse_product(indptr, indices, data, columns, out):
    """Adds A c to `out`, (k, m), for A sparse (k, p) in compressed rows and columns c (p, m)."""
    for row in range(len(out)):
        first, last = indptr[row], indptr[row + 1]
        if first == last:
            continue
        for number in range(columns.shape[1]):
            total = 0.0
            for entry in range(first, last):
                total += data[entry] * columns[indices[entry], number]
            out[row, number] += total
