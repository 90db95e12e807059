# SPDX-License-Identifier: GPL-3.0-or-later
"""Three numbers in a vector of the processor, against NumPy."""

import numpy as np
import pytest

from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.simd.vec3 import (
    block3_load,
    vec3_add_cross,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
    vec4_load,
    vec4_store,
)

FIRST, SECOND, THIRD = np.random.default_rng(0).normal(size=(3, 3))


@kernel()
def everything(a, k, out):
    """Writes what every function makes of the rows of a, (3, 3), and a number; its rows begin at the second column."""
    u, v, w = vec3_load(a, 0), vec3_load(a, 3), vec3_load(a, 6)
    vec3_store(out, 1, u)
    vec3_store(out, 6, vec3_zero())
    vec3_store(out, 11, vec3_axpy(u, k, v))
    vec3_store(out, 16, vec3_fma(u, v, w))
    vec3_store(out, 21, vec3_add_cross(u, v, w))
    out[5, 1], out[5, 2], out[5, 3] = vec3_unpack(w)
    out[6, 1] = vec3_sum(v)


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
    vec4_store(out, 2, vec4_load(a, 1))


def test_four_numbers_go_in_one_piece():
    out = np.full(7, 9.0)
    move_four(np.arange(6.0), out)
    assert out.tolist() == [9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0]


@kernel()
def rows_of(blocks, block):
    p, q, r = block3_load(blocks, block, 5)
    return vec3_unpack(p), vec3_unpack(q), vec3_unpack(r)


def test_rows_of_a_block():
    """Of the last one too, behind which there is nothing."""
    blocks = np.arange(18.0).reshape(2, 9)
    for block, rows in enumerate(blocks.reshape(2, 3, 3)):
        np.testing.assert_array_equal(rows_of(blocks, block), rows)
