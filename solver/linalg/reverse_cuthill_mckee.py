# SPDX-License-Identifier: GPL-3.0-or-later
"""An order of the rows of a symmetric matrix in which its numbers are near the diagonal.

Source: George and Liu (1981), Computer Solution of Large Sparse Positive Definite Systems, section 4.4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..runtime.jit import kernel

Int64s = npt.NDArray[np.int64]


def reverse_cuthill_mckee(one: npt.NDArray, other: npt.NDArray, count: int) -> Int64s:
    """Returns the order of `count` rows, given which are joined, each two in any direction, once or more, (e,) each."""
    rows, columns = np.concatenate([one, other]).astype(np.int64), np.concatenate([other, one]).astype(np.int64)
    rows, columns = np.divmod(np.unique(rows * count + columns), max(count, 1))
    start = np.searchsorted(rows, np.arange(count + 1, dtype=np.int64))
    order = np.empty(count, np.int64)
    order_by_degree(start, columns, np.argsort(np.diff(start), kind="stable"), order)
    return order[::-1].copy()


@kernel()
def order_by_degree(start, column, by_degree, order):
    """Writes the order of Cuthill and McKee: row by row all that are joined to it, those with fewer joins first.

    Args:
        start, column: Rows of the matrix in CSR form, (n + 1,) and (e,).
        by_degree: All rows, those with fewest numbers first, (n,): each component begins with the first of these.
        order: Out, (n,).
    """
    is_known, end, done = np.zeros(len(order), np.bool_), 0, 0
    for seed in by_degree:
        if is_known[seed]:
            continue
        is_known[seed], order[end] = True, seed
        end += 1
        while done < end:
            row, first = order[done], end
            done += 1
            for k in range(start[row], start[row + 1]):
                near = column[k]
                if is_known[near]:
                    continue
                is_known[near] = True
                degree, at = start[near + 1] - start[near], end
                while at > first and start[order[at - 1] + 1] - start[order[at - 1]] > degree:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = near
                end += 1
