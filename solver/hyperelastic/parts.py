# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of tets and nodes that threads work on."""

from __future__ import annotations

from .lanes import LANES

MOST_PARTS = 16  # among which threads divide the tets, and the nodes
FEWEST = 1024  # tets or nodes of a part


def parts_of(count: int) -> list[tuple[int, int]]:
    """Returns where the parts of so many tets or nodes begin and end."""
    size = LANES * -(-max(count, 1) // (LANES * MOST_PARTS))
    size = max(size, FEWEST)
    return [(begin, min(begin + size, count)) for begin in range(0, count, size)]
