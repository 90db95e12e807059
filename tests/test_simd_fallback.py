# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written in LLVM's vectors against its fallback in plain Numba, and which of the two kernels get."""

from __future__ import annotations

import subprocess
import sys

import llvmlite
import numpy as np
import pytest

from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.simd import block_row_product, int16_block_rows, interpolation_row, vec3, vector_support
from sinew.solver.runtime.simd import scalar_fallback as fallback
from sinew.solver.runtime.simd.int16_block_layout import BLOCKS_PER_QUAD, WORDS_PER_QUAD

ROUND_OFF = 1.0e-15

load, store, load_four, store_four = vec3.vec3_load, vec3.vec3_store, vec3.vec4_load, vec3.vec4_store
block_of, prefetch, zero, made = vec3.block3_load, vec3.prefetch, vec3.vec3_zero, vec3.vec3
axpy, fma, yzx, add_cross = vec3.vec3_axpy, vec3.vec3_fma, vec3.vec3_yzx, vec3.vec3_add_cross
unpack, sum_of = vec3.vec3_unpack, vec3.vec3_sum
multiply_row, row_sum = block_row_product.multiply_row, interpolation_row.weighted_row_sum
multiply_quads, store_block = int16_block_rows.multiply_quads, int16_block_rows.store_block

load_, store_, load_four_, store_four_ = (
    fallback.vec3_load,
    fallback.vec3_store,
    fallback.vec4_load,
    fallback.vec4_store,
)
block_of_, prefetch_, zero_, made_ = fallback.block3_load, fallback.prefetch, fallback.vec3_zero, fallback.vec3
axpy_, fma_, yzx_, add_cross_ = fallback.vec3_axpy, fallback.vec3_fma, fallback.vec3_yzx, fallback.vec3_add_cross
unpack_, sum_of_ = fallback.vec3_unpack, fallback.vec3_sum
multiply_row_, row_sum_ = fallback.multiply_row, fallback.weighted_row_sum
multiply_quads_, store_block_ = fallback.multiply_quads, fallback.store_block


@kernel(no_refcount=True)
def by_vectors(a, k, out):
    """Writes what every function of three numbers makes of a, (4, 9), into rows of `out`, (9, 5)."""
    prefetch(a, 0)
    u, v, w = load(a, 0), load(a, 3), load(a, 6)
    store(out, 0, axpy(u, k, v))
    store(out, 5, fma(u, v, w))
    store(out, 10, add_cross(u, v, w))
    store(out, 15, yzx(axpy(zero(), k, u)))
    store_four(out, 20, axpy(load_four(a, 11), k, load_four(a, 3)))
    p, q, r = block_of(a, 3, 2)
    store(out, 25, p)
    store(out, 30, fma(q, r, made(k, 1.0, 2.0)))
    x, y, z = unpack(w)
    out[7, 0], out[7, 1], out[7, 2], out[7, 3] = x, y, z, sum_of(v)


@kernel(no_refcount=True)
def by_numbers(a, k, out):
    """Does the same with the fallback."""
    prefetch_(a, 0)
    u, v, w = load_(a, 0), load_(a, 3), load_(a, 6)
    store_(out, 0, axpy_(u, k, v))
    store_(out, 5, fma_(u, v, w))
    store_(out, 10, add_cross_(u, v, w))
    store_(out, 15, yzx_(axpy_(zero_(), k, u)))
    store_four_(out, 20, axpy_(load_four_(a, 11), k, load_four_(a, 3)))
    p, q, r = block_of_(a, 3, 2)
    store_(out, 25, p)
    store_(out, 30, fma_(q, r, made_(k, 1.0, 2.0)))
    x, y, z = unpack_(w)
    out[7, 0], out[7, 1], out[7, 2], out[7, 3] = x, y, z, sum_of_(v)


@kernel(no_refcount=True)
def rows_by_vectors(values, column, p, weight, x, out):
    out[0, 0], out[0, 1], out[0, 2] = multiply_row(values, column, p, 1, len(column))
    out[1, 0], out[1, 1], out[1, 2] = row_sum(weight, column, x, 1, len(column))


@kernel(no_refcount=True)
def rows_by_numbers(values, column, p, weight, x, out):
    out[0, 0], out[0, 1], out[0, 2] = multiply_row_(values, column, p, 1, len(column))
    out[1, 0], out[1, 1], out[1, 2] = row_sum_(weight, column, x, 1, len(column))


@kernel(no_refcount=True)
def quads_by_vectors(blocks, quads, x, left, out):
    for slot in range(len(blocks)):
        p, q, r = store_block(
            quads, slot, load(blocks, 9 * slot), load(blocks, 9 * slot + 3), load(blocks, 9 * slot + 6)
        )
        store(left, 9 * slot, p)
        store(left, 9 * slot + 3, q)
        store(left, 9 * slot + 6, r)
    out[0], out[1], out[2] = multiply_quads(quads, x, 0, len(quads))


@kernel(no_refcount=True)
def quads_by_numbers(blocks, quads, x, left, out):
    for slot in range(len(blocks)):
        p, q, r = store_block_(
            quads, slot, load_(blocks, 9 * slot), load_(blocks, 9 * slot + 3), load_(blocks, 9 * slot + 6)
        )
        store_(left, 9 * slot, p)
        store_(left, 9 * slot + 3, q)
        store_(left, 9 * slot + 6, r)
    out[0], out[1], out[2] = multiply_quads_(quads, x, 0, len(quads))


def test_functions_of_three_numbers_agree():
    a = np.random.default_rng(1).normal(size=(4, 9))
    found, wanted = np.full((2, 9, 5), 7.0)
    by_numbers(a, 0.3, found)
    by_vectors(a, 0.3, wanted)
    np.testing.assert_allclose(found, wanted, rtol=ROUND_OFF, atol=ROUND_OFF)
    assert (wanted != 7.0).any(axis=1).tolist() == [True] * 8 + [False]


def test_rows_agree():
    lots = np.random.default_rng(2)
    values, p = lots.normal(size=(7, 9)), lots.normal(size=(9, 3))
    column, weight = lots.integers(0, 9, 6).astype(np.uint32), lots.random(6).astype(np.float32)
    x = lots.normal(size=(10, 3)).astype(np.float32)
    found, wanted = np.zeros((2, 2, 3))
    rows_by_numbers(values, column, p, weight, x, found)
    rows_by_vectors(values, column, p, weight, x, wanted)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-14)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-6)
    assert wanted.all()


def test_quads_of_fixed_point_agree():
    """Words and remainders bit for bit: they are whole numbers."""
    lots = np.random.default_rng(3)
    blocks = lots.uniform(-1.0, 1.0, (2 * BLOCKS_PER_QUAD, 9)) * int16_block_rows.MAX_ROUNDABLE
    blocks[0] = int16_block_rows.MAX_ROUNDABLE
    x, quads = lots.normal(size=(12, 3)).astype(np.float32), np.zeros((2, WORDS_PER_QUAD), np.uint32)
    quads[:, :BLOCKS_PER_QUAD] = 3 * lots.integers(0, 11, (2, BLOCKS_PER_QUAD))
    answers = []
    for write in (quads_by_numbers, quads_by_vectors):
        words, left, out = quads.copy(), np.zeros_like(blocks), np.zeros(3)
        write(blocks, words, x, left, out)
        answers.append((words, left, out))
    for found, wanted in zip(answers[0][:2], answers[1][:2], strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(answers[0][2], answers[1][2], rtol=1e-5)
    assert answers[1][0][:, BLOCKS_PER_QUAD:].all() and answers[1][2].all()


def test_vectors_are_used_with_the_installed_release():
    assert vector_support.HAS_VECTOR_INSTRUCTIONS and vec3.vec3_load is not fallback.vec3_load
    assert llvmlite.__version__.startswith(vector_support.TESTED_RELEASES)


def test_an_untested_release_is_probed(monkeypatch):
    assert vector_support.has_vector_instructions("99.1")
    monkeypatch.setattr(vector_support, "load_vec3", lambda *_: 1 / 0)
    assert not vector_support.has_vector_instructions("99.1")


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["gep", "shuffle_vector"])
def test_kernels_fall_back_where_the_probe_fails(broken):
    """In a process whose llvmlite lacks an instruction."""
    code = f"""
import llvmlite, numba
from llvmlite import ir
llvmlite.__version__ = "99.1"
kept = ir.IRBuilder.{broken}
def missing(*values, **named):
    raise TypeError("gone")
ir.IRBuilder.{broken} = missing
from sinew.solver.runtime.simd import scalar_fallback, vec3, block_row_product
ir.IRBuilder.{broken} = kept
assert vec3.vec3_sum is scalar_fallback.vec3_sum, vec3.vec3_sum
assert block_row_product.multiply_row is scalar_fallback.multiply_row
"""
    subprocess.run([sys.executable, "-c", code], check=True)
