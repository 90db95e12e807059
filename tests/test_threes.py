# SPDX-License-Identifier: GPL-3.0-or-later
"""Three numbers in a vector of the processor, against NumPy."""

import numpy as np
import pytest

from sinew.solver.jit import kernel
from sinew.solver.linear.threes import (
    add,
    add_cross,
    add_products,
    load,
    load_block,
    load_four,
    nothing,
    numbers,
    store,
    store_four,
    total,
)

FIRST, SECOND, THIRD = np.random.default_rng(0).normal(size=(3, 3))


@kernel()
def everything(a, k, out):
    """Writes what every function makes of the rows of a, (3, 3), and a number; its rows begin at the second column."""
    u, v, w = load(a, 0), load(a, 3), load(a, 6)
    store(out, 1, u)
    store(out, 6, nothing())
    store(out, 11, add(u, k, v))
    store(out, 16, add_products(u, v, w))
    store(out, 21, add_cross(u, v, w))
    out[5, 1], out[5, 2], out[5, 3] = numbers(w)
    out[6, 1] = total(v)


def test_every_function_does_what_it_says():
    out = np.full((7, 5), 9.0)
    everything(np.array([FIRST, SECOND, THIRD]), 0.7, out)
    wanted = [FIRST, np.zeros(3), FIRST + 0.7 * SECOND, FIRST + SECOND * THIRD, FIRST + np.cross(SECOND, THIRD), THIRD]
    assert out[:6, 1:4] == pytest.approx(np.array(wanted), rel=1e-15, abs=1e-15)
    assert out[6, 1] == pytest.approx(SECOND.sum(), rel=1e-15)


def test_nothing_beside_the_three_numbers_is_read_or_written():
    out = np.full((7, 5), 9.0)
    everything(np.array([FIRST, SECOND, THIRD]), 0.7, out)
    assert (out[:, [0, 4]] == 9.0).all() and (out[6, 2:] == 9.0).all()
    # the last three numbers of an array, with what is no number behind them
    row = np.full(4, np.nan)
    row[:3] = THIRD
    everything(np.array([FIRST, SECOND, row[:3]]), np.inf, out)
    assert out[5, 1:4] == pytest.approx(THIRD)


@kernel()
def move_four(a, out):
    """Writes four numbers of a from the second on into `out`, from its third on."""
    store_four(out, 2, load_four(a, 1))


def test_four_numbers_go_in_one_piece():
    out = np.full(7, 9.0)
    move_four(np.arange(6.0), out)
    assert out.tolist() == [9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0]


@kernel()
def rows_of(blocks, block):
    p, q, r = load_block(blocks, block, 5)
    return numbers(p), numbers(q), numbers(r)


def test_rows_of_a_block():
    """Of the last one too, behind which there is nothing."""
    blocks = np.arange(18.0).reshape(2, 9)
    for block, rows in enumerate(blocks.reshape(2, 3, 3)):
        np.testing.assert_array_equal(rows_of(blocks, block), rows)
