# SPDX-License-Identifier: GPL-3.0-or-later
"""Cholesky's factor of the small matrix of coupled bodies' motions, in its envelope.

Every row is kept from its first number that is not zero to the diagonal, where the inverse of the factor's is. A body
that others hardly tell apart from themselves, such as a line of nodes, has pivots of next to nothing: these motions
are left out, as if they were not there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..jit import kernel

LEAST_PIVOT = 1.0e-12  # of a number on the diagonal, that what is left of it is compared with

Whole = npt.NDArray[np.int64]


def narrow_order(first: Whole, second: Whole, count: int) -> Whole:
    """Returns an order of `count` bodies in which those that touch, (t,) each, are near each other."""
    if not count:
        return np.zeros(0, np.int64)
    graph = coo_matrix((np.ones(len(first), np.int8), (first, second)), (count, count))
    return reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True).astype(np.int64)


def envelope(first: Whole, second: Whole, count: int) -> tuple[Whole, Whole]:
    """Returns where rows begin, (6g + 1,), and the column of their first number, (6g,), for g bodies with six each."""
    lowest = np.arange(count)
    np.minimum.at(lowest, np.maximum(first, second), np.minimum(first, second))
    columns = np.repeat(6 * lowest, 6)
    return np.concatenate([[0], np.cumsum(np.arange(6 * count) - columns + 1)]), columns


@kernel(contract=True)
def factor_rows(start, first, values):
    """Turns the lower half of a symmetric matrix into its factor, both in the same envelope."""
    for i in range(len(first)):
        lowest, own = first[i], start[i] - first[i]
        whole = values[own + i]
        pivot = whole
        for j in range(lowest, i):
            other, begin = start[j] - first[j], max(lowest, first[j])
            total = values[own + j]
            for k in range(begin, j):
                total -= values[own + k] * values[other + k]
            total *= values[other + j]
            values[own + j] = total
            pivot -= total * total
        if pivot > LEAST_PIVOT * whole and pivot < np.inf:
            values[own + i] = 1.0 / np.sqrt(pivot)
        else:
            for j in range(lowest, i + 1):
                values[own + j] = 0.0


@kernel(contract=True)
def solve_rows(start, first, values, y):
    """Puts A⁻¹ y into y, (6g,), with the factor of A."""
    for i in range(len(first)):
        own, total = start[i] - first[i], y[i]
        for k in range(first[i], i):
            total -= values[own + k] * y[k]
        y[i] = total * values[own + i]
    for i in range(len(first) - 1, -1, -1):
        own = start[i] - first[i]
        found = y[i] * values[own + i]
        y[i] = found
        for k in range(first[i], i):
            y[k] -= values[own + k] * found
