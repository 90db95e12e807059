# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of a block matrix in fixed point of 16 bits, four blocks at a time, written in LLVM's vectors.

A preconditioner need not be exact, and what it costs is the reading of its matrices. So each row has a unit of its own,
of which its numbers are multiples: whole numbers of 32 bits of which the upper 16 are kept. For the numbers that count
that is a hundred times finer than bfloat16, by whose 8 bits a smoother felt forces in what only turns: rods a hundred
times longer than thick then took up to twice the iterations.

Four blocks make a quad of 22 words: where in the vector their columns begin; the rows of each, first and second number
by number in the upper and the lower halves of three words, the first two numbers of the third in those of a fourth; the
last numbers of the four. Numbers in upper halves are taken with the lower ones behind them, which is allowed for where
they are written. Quads follow each other in one stream, which memory is asked for far ahead. Processors with vectors of
16 numbers do two rows of a quad in two instructions, others get what LLVM makes of it; sums are always taken in the
same order.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from . import scalar_fallback
from .int16_block_layout import BLOCKS_PER_QUAD, LAST_NUMBERS_OFFSET, ROWS_OFFSET, WORDS_PER_QUAD
from .llvm import (
    INT32,
    ArrayData,
    accumulate,
    array_data,
    extract_lanes,
    int32_constant,
    int64_constant,
    item_pointer,
    load_index,
    load_vector,
    new_accumulator,
    prefetch_item,
    shuffle,
    store_vector,
    sum_of_three,
)
from .vec3 import VEC3
from .vector_support import HAS_VECTOR_INSTRUCTIONS

MAX_ROUNDABLE = 0x7FFE0000  # the largest number, in units of its row, that can still be rounded
PREFETCH_QUADS = 64  # quads that memory is asked for ahead of their use

_FLOAT, _HALF = ir.FloatType(), ir.IntType(16)
# what numbers of x the halves of a quad's words, and its last numbers, are multiplied with
_LOW_HALF_LANES, _HIGH_HALF_LANES = (
    [4 * k + c for k in range(BLOCKS_PER_QUAD) for c in (0, 1, 2, last)] for last in (0, 1)
)
_LAST_NUMBER_LANES = [4 * k + 2 for k in range(BLOCKS_PER_QUAD)]


def _multiply_quads(typing: Any, quads: Any, p: Any, start: Any, end: Any) -> Any:
    """Returns Σ A_k p[column[k]] over the blocks of the quads from `start` to `end`, three numbers in units of the row.

    Args:
        quads: See above, (q, 22), unsigned.
        p: (n, 3) of 32 bits, with a row of anything behind it.
        start, end: The quads of a row.
    """
    result = types.UniTuple(types.float32, 3)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        words, numbers = array_data(context, builder, signature, arguments)
        first, second, last = (new_accumulator(builder, ir.VectorType(_FLOAT, size)) for size in (16, 16, 4))
        begin, behind = (builder.mul(place, int64_constant(WORDS_PER_QUAD)) for place in arguments[2:])
        with cgutils.for_range_slice(builder, begin, behind, int64_constant(WORDS_PER_QUAD)) as (quad, _):
            prefetch_item(builder, words, builder.add(quad, int64_constant(WORDS_PER_QUAD * PREFETCH_QUADS)))
            x = _gather_columns(builder, words, numbers, quad)
            pairs = load_vector(
                builder, words, builder.add(quad, int64_constant(ROWS_OFFSET)), ir.VectorType(INT32, 16)
            )
            halves = load_vector(
                builder, words, builder.add(quad, int64_constant(LAST_NUMBERS_OFFSET)), ir.VectorType(_HALF, 4)
            )
            _accumulate_product(builder, first, pairs, shuffle(builder, x, _LOW_HALF_LANES))
            _accumulate_product(
                builder, second, _low_halves_raised(builder, pairs), shuffle(builder, x, _HIGH_HALF_LANES)
            )
            wide = builder.zext(halves, ir.VectorType(INT32, 4))
            _accumulate_product(
                builder, last, _low_halves_raised(builder, wide), shuffle(builder, x, _LAST_NUMBER_LANES)
            )
        a, b = (_sum_of_halves(builder, _sum_of_halves(builder, builder.load(v))) for v in (first, second))
        c, d = extract_lanes(builder, _sum_of_halves(builder, builder.load(last)), 2)
        ends = (builder.extract_element(v, int32_constant(3)) for v in (a, b))
        third = builder.fadd(builder.fadd(*ends), builder.fadd(c, d))
        rows = [sum_of_three(builder, a), sum_of_three(builder, b), third]
        return context.make_tuple(builder, signature.return_type, rows)

    return result(quads, p, types.int64, types.int64), generate


def _store_block(typing: Any, quads: Any, slot: Any, p: Any, q: Any, r: Any) -> Any:
    """Writes the block of rows p, q and r to a slot, rounded; returns what is left of them, A − Â, row by row.

    Args:
        quads: See above, (q, 22), unsigned; out.
        slot: Number of a block, four to a quad.
        p, q, r: Vectors of `vec3.py`, in units of the row; no number exceeds `MAX_ROUNDABLE`.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (words,), (_, slot, p, q, r) = array_data(context, builder, signature, arguments), arguments
        quad, lane = builder.lshr(slot, int64_constant(2)), builder.and_(slot, int64_constant(3))
        at = builder.mul(quad, int64_constant(WORDS_PER_QUAD))
        a, b, c = (builder.fptosi(row, ir.VectorType(INT32, 4)) for row in (p, q, r))
        # the first two numbers of the third row come behind the others, its last one is alone
        upper = shuffle(builder, a, (0, 1, 2, 4), c)
        lower = _round_to_high_halves(builder, shuffle(builder, b, (0, 1, 2, 5), c))
        below = builder.lshr(lower, _splat_like(lower, 16))
        pair = builder.or_(_round_to_high_halves(builder, builder.sub(upper, below)), below)
        store_vector(
            builder,
            pair,
            words,
            builder.add(at, builder.add(builder.mul(lane, int64_constant(4)), int64_constant(ROWS_OFFSET))),
        )
        third = _round_to_high_halves(builder, c)
        half = builder.trunc(builder.lshr(builder.extract_element(third, int32_constant(2)), int32_constant(16)), _HALF)
        halves = ArrayData(item_pointer(builder, words, builder.add(at, int64_constant(LAST_NUMBERS_OFFSET))), _HALF)
        builder.store(half, item_pointer(builder, halves, lane), align=2)
        for k, taken in ((0, pair), (1, lower)):
            third = builder.insert_element(third, builder.extract_element(taken, int32_constant(3)), int32_constant(k))
        left = [
            builder.fsub(row, builder.sitofp(taken, row.type))
            for row, taken in ((p, pair), (q, lower), (r, third))
        ]  # fmt: skip
        return context.make_tuple(builder, signature.return_type, left)

    return types.UniTuple(VEC3, 3)(quads, types.int64, VEC3, VEC3, VEC3), generate


# what kernels call: without the first argument
multiply_quads: Any = intrinsic(_multiply_quads) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.multiply_quads
store_block: Any = intrinsic(_store_block) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.store_block


def _splat_like(vector: Any, number: int) -> Any:
    """Returns a vector of the same number, of another's type."""
    return ir.Constant(vector.type, [number] * vector.type.count)


def _gather_columns(builder: ir.IRBuilder, words: Any, numbers: Any, quad: Any) -> Any:
    """Returns three numbers of the vector and a fourth that counts for nothing for each block of a quad, 16 lanes."""
    of_blocks = []
    for block in range(BLOCKS_PER_QUAD):
        place = load_index(builder, words, builder.add(quad, int64_constant(block)))
        of_blocks.append(load_vector(builder, numbers, place, ir.VectorType(_FLOAT, 4)))
    first, second = (shuffle(builder, of_blocks[k], range(8), of_blocks[k + 1]) for k in (0, 2))
    return shuffle(builder, first, range(16), second)


def _low_halves_raised(builder: ir.IRBuilder, words: Any) -> Any:
    """Returns words with their lower halves as the upper ones."""
    return builder.shl(words, _splat_like(words, 16))


def _accumulate_product(builder: ir.IRBuilder, kept: Any, numbers: Any, x: Any) -> None:
    """Adds to a sum that is kept, lane by lane, the product of whole numbers with others."""
    accumulate(builder, kept, builder.sitofp(numbers, x.type), x)


def _sum_of_halves(builder: ir.IRBuilder, vector: Any) -> Any:
    """Returns the sum of a vector's two halves."""
    size = vector.type.count // 2
    return builder.fadd(*(shuffle(builder, vector, range(begin, begin + size)) for begin in (0, size)))


def _round_to_high_halves(builder: ir.IRBuilder, words: Any) -> Any:
    """Returns words with lower halves of zero that are nearest to others."""
    return builder.and_(builder.add(words, _splat_like(words, 1 << 15)), _splat_like(words, 0xFFFF0000))
