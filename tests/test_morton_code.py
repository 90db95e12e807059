# SPDX-License-Identifier: GPL-3.0-or-later
"""Morton codes interleave the bits of three coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mesh.geometry.morton_code import MAX_BITS, morton_codes


def interleaved(cell: list[int]) -> int:
    """Returns the code of a cell, a bit at a time."""
    return sum((number >> bit & 1) << (3 * bit + axis) for axis, number in enumerate(cell) for bit in range(MAX_BITS))


@pytest.mark.parametrize("bits", [1, 10, 16, MAX_BITS])
def test_codes_are_those_of_interleaving_a_bit_at_a_time(bits: int) -> None:
    cells = np.random.default_rng(bits).integers(0, 2**bits, (200, 3))
    cells[0], cells[1] = 0, 2**bits - 1
    assert morton_codes(cells).tolist() == [interleaved(cell) for cell in cells.tolist()]


def test_no_cells_have_no_codes() -> None:
    assert morton_codes(np.zeros((0, 3), int)).tolist() == []
