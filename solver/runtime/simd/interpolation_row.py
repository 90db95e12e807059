# SPDX-License-Identifier: GPL-3.0-or-later
"""What rows of one level are made of rows of another, written in LLVM's vectors: three numbers in one of four."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from . import scalar_fallback
from .llvm import (
    accumulate,
    array_data,
    extract_lanes,
    int64_constant,
    load_index,
    load_item,
    load_vector,
    new_accumulator,
    splat,
)
from .vector_support import HAS_VECTOR_INSTRUCTIONS

_VECTOR = ir.VectorType(ir.FloatType(), 4)


def _weighted_row_sum(typing: Any, weight: Any, row: Any, x: Any, start: Any, end: Any) -> Any:
    """Returns Σ w_k x[row[k]] over k from `start` to `end`, three numbers.

    Args:
        weight, row: In 32 bits, the latter unsigned.
        x: (n, 3) of 32 bits, with a row of anything behind it.
        start, end: Which of them.
    """
    result = types.UniTuple(types.float32, 3)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        weights, rows, numbers = array_data(context, builder, signature, arguments)
        total = new_accumulator(builder, _VECTOR)
        with cgutils.for_range_slice(builder, arguments[3], arguments[4], int64_constant(1)) as (k, _):
            place = builder.mul(load_index(builder, rows, k), int64_constant(3))
            w = splat(builder, load_item(builder, weights, k))
            accumulate(builder, total, w, load_vector(builder, numbers, place, _VECTOR))
        return context.make_tuple(builder, signature.return_type, extract_lanes(builder, builder.load(total), 3))

    return result(weight, row, x, types.int64, types.int64), generate


# what kernels call: without the first argument
weighted_row_sum: Any = intrinsic(_weighted_row_sum) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.weighted_row_sum
