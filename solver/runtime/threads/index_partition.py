# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of consecutive tets or nodes, the same for any number of threads that work on them."""

from __future__ import annotations

from ..simd.lane_count import LANES

MAX_PARTS = 16  # among which threads divide the tets, and the nodes
MIN_PART_SIZE = 1024  # tets or nodes of a part


def partition(count: int) -> list[tuple[int, int]]:
    """Returns where the parts of so many tets or nodes begin and end."""
    size = LANES * -(-max(count, 1) // (LANES * MAX_PARTS))
    size = max(size, MIN_PART_SIZE)
    return [(begin, min(begin + size, count)) for begin in range(0, count, size)]
