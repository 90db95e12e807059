# SPDX-License-Identifier: GPL-3.0-or-later
"""Cholesky's factor of the small matrix of coupled bodies' motions, in its envelope.

Every row is kept from its first number that is not zero to the diagonal, where the inverse of the factor's is. A body
that others hardly tell apart from themselves, such as a line of nodes, has pivots of next to nothing: these motions
are left out, as if they were not there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runtime.jit import kernel
from ..runtime.union_find import union_pairs
from .reverse_cuthill_mckee import reverse_cuthill_mckee

MIN_RELATIVE_PIVOT = 1.0e-12  # of a number on the diagonal, that what is left of it is compared with

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EnvelopeLayout:
    """Where the motions of bodies are in the matrix.

    Attributes:
        place: Of each body, the same for those that move as one, (b,).
        start: Where rows begin, (6g + 1,).
        first: Column of the first number of each, (6g,).
    """

    place: Int64s
    start: Int64s
    first: Int64s


def envelope_layout(first: Int64s, second: Int64s, count: int, most_work: float) -> EnvelopeLayout:
    """Returns an arrangement of `count` bodies that touch each other, (t,) each.

    Where the factor of all would be more than `most_work`, the sum of the squares of the rows' lengths, all that hang
    together move as one: with some of them as one, hardly less iterations are needed than with none.
    """
    whole = _layout_of_groups(np.arange(count, dtype=np.int64), first, second)
    if np.sum((np.arange(len(whole.first), dtype=np.int64) - whole.first) ** 2, dtype=float) <= most_work:
        return whole
    root = np.arange(count, dtype=np.int64)
    union_pairs(first, second, root)
    return _layout_of_groups(np.unique(root, return_inverse=True)[1].ravel(), first, second)


def _layout_of_groups(group: Int64s, first: Int64s, second: Int64s) -> EnvelopeLayout:
    """Returns the arrangement of groups of bodies."""
    count = int(group.max(initial=-1)) + 1
    one, two = group[first], group[second]
    order = np.empty(count, np.int64)
    order[reverse_cuthill_mckee(one, two, count)] = np.arange(count, dtype=np.int64)
    return EnvelopeLayout(order[group], *envelope_rows(order[one], order[two], count))


def envelope_rows(first: Int64s, second: Int64s, count: int) -> tuple[Int64s, Int64s]:
    """Returns where rows begin, (6g + 1,), and the column of their first number, (6g,), for g bodies with six each."""
    lowest = np.arange(count, dtype=np.int64)
    np.minimum.at(lowest, np.maximum(first, second), np.minimum(first, second))
    columns = np.repeat(6 * lowest, 6)
    return np.concatenate([[0], np.cumsum(np.arange(6 * count, dtype=np.int64) - columns + 1, dtype=np.int64)]), columns


@kernel(allow_fma=True)
def factor_envelope(start, first, values):
    """Turns the lower half of a symmetric matrix into its factor, both in the same envelope."""
    for i in range(len(first)):
        lowest, own = first[i], start[i] - first[i]
        whole = values[own + i]
        pivot = whole
        for j in range(lowest, i):
            other, begin = start[j] - first[j], max(lowest, first[j])
            # four sums at once, always in the same order: one alone waits for its own last addition
            a, b, c, d, k = values[own + j], 0.0, 0.0, 0.0, begin
            while k + 4 <= j:
                a -= values[own + k] * values[other + k]
                b -= values[own + k + 1] * values[other + k + 1]
                c -= values[own + k + 2] * values[other + k + 2]
                d -= values[own + k + 3] * values[other + k + 3]
                k += 4
            while k < j:
                a -= values[own + k] * values[other + k]
                k += 1
            total = (a + b + (c + d)) * values[other + j]
            values[own + j] = total
            pivot -= total * total
        if pivot > MIN_RELATIVE_PIVOT * whole and pivot < np.inf:
            values[own + i] = 1.0 / np.sqrt(pivot)
        else:
            for j in range(lowest, i + 1):
                values[own + j] = 0.0


@kernel(allow_fma=True, device_only=True)
def solve_envelope(start, first, values, y):
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
