# SPDX-License-Identifier: GPL-3.0-or-later
"""One row of a block matrix times a vector, three numbers at a time: where most of a step's time goes.

Written in LLVM's vectors, since Numba's loops over three numbers stay loops over single ones: with them a product takes
half as long. The three rows of a block are multiplied with the vector's three numbers lane by lane, and lanes are
summed once at the end of the row, always in the same order, block after block: so blocks of zeros, of which patterns
that contacts have widened keep some, change no bit. In the fourth lane is what comes behind in memory; only the last
block of a row, behind which nothing need be, is read to its end alone. Processors without such vectors get what LLVM
makes of it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from . import scalar_fallback
from .llvm import (
    DOUBLE4,
    accumulate,
    array_data,
    int64_constant,
    load_index,
    load_vec3,
    load_vector,
    new_accumulator,
    prefetch_item,
    sum_of_three,
)
from .vector_support import HAS_VECTOR_INSTRUCTIONS

PREFETCH_BLOCKS = 64  # blocks that memory is asked for ahead of their use: a core alone does not ask for enough


def _multiply_row(typing: Any, values: Any, column: Any, p: Any, start: Any, end: Any) -> Any:
    """Returns Σ A_k p[column[k]] over the blocks k from `start` to `end`, three numbers.

    Args:
        values: Blocks A, row by row, (b, 9).
        column: Column of every block, (b,), unsigned.
        p: (n, 3).
        start, end: The blocks of the row.
    """
    result = types.UniTuple(types.float64, 3)
    return result(values, column, p, types.int64, types.int64), _generate


# what kernels call: without the first argument
multiply_row: Any = intrinsic(_multiply_row) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.multiply_row


def _generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    values, column, p = array_data(context, builder, signature, arguments)
    start, end = arguments[3:]
    sums = [new_accumulator(builder, DOUBLE4) for _ in range(3)]

    def add_block(k: Any, is_last: bool) -> None:
        y = load_vec3(builder, p, builder.mul(load_index(builder, column, k), int64_constant(3)))
        block = builder.mul(k, int64_constant(9))
        prefetch_item(builder, values, builder.add(block, int64_constant(9 * PREFETCH_BLOCKS)))
        for row, kept in enumerate(sums):
            place = builder.add(block, int64_constant(3 * row))
            a = load_vec3(builder, values, place) if is_last else load_vector(builder, values, place, DOUBLE4)
            accumulate(builder, kept, a, y)

    last = builder.sub(end, int64_constant(1))
    with cgutils.for_range_slice(builder, start, last, int64_constant(1)) as (k, _):
        add_block(k, False)
    with builder.if_then(builder.icmp_signed("<", start, end)):
        add_block(last, True)
    rows = [sum_of_three(builder, builder.load(kept)) for kept in sums]
    return context.make_tuple(builder, signature.return_type, rows)
