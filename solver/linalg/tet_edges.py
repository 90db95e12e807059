# SPDX-License-Identifier: GPL-3.0-or-later
"""The edges of a mesh in the order of their blocks, and what tets have in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.frozen_memo import derived
from .block_pattern import BlockPattern, UInt32s

START, END = (np.asarray(each, np.uint32) for each in (EDGE_STARTS, EDGE_ENDS))


@dataclass(frozen=True, eq=False)
class EdgeShares:
    """The e edges of a mesh, by rising number of their block above the diagonal.

    Attributes:
        upper, lower: Blocks of the edge above and below the diagonal, (e,).
        of_row: Where the edges begin whose `upper` is in each row, (n + 1,).
        start: Where the shares of each edge begin in `shares`, (e + 1,).
        shares: The tets at each edge, as 16 · tet + 4 · corner of the row of `upper` + corner of its column, (6m,).
        others: Blocks that no tet writes to, beside those on the diagonal.
    """

    upper: UInt32s
    lower: UInt32s
    of_row: UInt32s
    start: UInt32s
    shares: UInt32s
    others: UInt32s


@derived
def edge_shares(pattern: BlockPattern) -> EdgeShares:
    """Returns the edges of a pattern, derived once from each."""
    shares, upper, lower = _unsorted_shares(pattern.corner_block.reshape(-1, 4, 4))
    order = np.argsort(upper, kind="stable")
    shares, upper, lower = shares[order], upper[order], lower[order]
    del order  # this is where a bake needs most memory
    is_first = np.ones(len(upper), bool)
    np.not_equal(upper[1:], upper[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    is_used = np.zeros(pattern.block_count, bool)
    is_used[upper], is_used[lower], is_used[pattern.diagonal] = True, True, True
    return EdgeShares(
        upper=upper[first],
        lower=lower[first],
        of_row=np.searchsorted(upper[first], pattern.row_start).astype(np.uint32),
        start=np.append(first, len(upper)).astype(np.uint32),
        shares=shares,
        others=np.flatnonzero(~is_used).astype(np.uint32),
    )


def _unsorted_shares(blocks: UInt32s) -> tuple[UInt32s, UInt32s, UInt32s]:
    """Returns shares, and the blocks above and below the diagonal of each, (6m,), of the blocks of tets, (m, 4, 4)."""
    there, back = blocks[:, EDGE_STARTS, EDGE_ENDS], blocks[:, EDGE_ENDS, EDGE_STARTS]
    rises = there < back  # the block above the diagonal comes first
    shares = np.where(rises, np.uint32(4) * START + END, np.uint32(4) * END + START)
    shares += np.uint32(16) * np.arange(len(blocks), dtype=np.uint32)[:, None]
    return shares.ravel(), np.minimum(there, back).ravel(), np.maximum(there, back).ravel()
