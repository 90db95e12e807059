# SPDX-License-Identifier: GPL-3.0-or-later
"""The pattern that joins nodes also to the neighbours of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Bools
from ..runtime.frozen_memo import derived_from
from .block_pattern import BlockPattern, UInt32s


@dataclass(frozen=True, eq=False)
class SecondRing:
    """A wider pattern.

    Attributes:
        pattern: All blocks between two neighbours of the same middle, beside those that were there.
        transposed_block: Block of the first pattern → the block on the other side of its diagonal, (b,).
    """

    pattern: BlockPattern
    transposed_block: UInt32s


def second_ring(pattern: BlockPattern, is_middle: Bools) -> SecondRing:
    """Returns the pattern in which neighbours of the middles, (n,), are joined; kept with the first pattern."""
    return derived_from(pattern, "second_ring", lambda: _make_second_ring(pattern, is_middle), values=(is_middle,))


def _make_second_ring(pattern: BlockPattern, is_middle: Bools) -> SecondRing:
    from scipy.sparse import csr_matrix

    n, b = pattern.node_count, pattern.block_count
    shape, starts = (n, n), pattern.row_start.astype(np.int64)
    near = csr_matrix((np.ones(b, np.float32), pattern.column.astype(np.int64), starts), shape)
    rows = near[np.flatnonzero(is_middle)]
    wide = (near + rows.T @ rows).tocsr()
    wide.sort_indices()
    row_of = np.repeat(np.arange(n, dtype=np.int64), np.diff(wide.indptr))
    mirrored = csr_matrix((np.arange(b, dtype=np.int64), pattern.column.astype(np.int64), starts), shape).T.tocsr()
    mirrored.sort_indices()
    keys = np.repeat(np.arange(n, dtype=np.int64), np.diff(starts)) * n + pattern.column
    places = np.searchsorted(row_of * n + wide.indices.astype(np.int64), keys)
    return SecondRing(
        replace(
            pattern,
            row_start=_as_uint32(wide.indptr),
            column=_as_uint32(wide.indices),
            diagonal=_as_uint32(np.flatnonzero(row_of == wide.indices)),
            corner_block=_as_uint32(places[pattern.corner_block]),
        ),
        _as_uint32(mirrored.data),
    )


def _as_uint32(values: npt.NDArray) -> UInt32s:
    return np.asarray(values).astype(np.uint32)
