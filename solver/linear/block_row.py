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

from .threes import ask_ahead

_VECTOR, _SIZE = ir.VectorType(ir.DoubleType(), 4), 8  # how many bytes a number has
_ZERO = ir.Constant(_VECTOR, [0.0] * 4)
_LANE = ir.IntType(32)
AHEAD = 32  # blocks that memory is asked for ahead of their use: a core alone does not ask for enough
_MASK = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])


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
multiply_row: Any = intrinsic(_multiply_row)


def _generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    values, column, p = (
        context.make_array(kind)(context, builder, value).data
        for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
    )
    start, end = arguments[3:]
    whole = ir.IntType(64)
    sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in range(3)]
    load_type = ir.FunctionType(_VECTOR, [_VECTOR.as_pointer(), _LANE, _MASK.type, _VECTOR])
    load = cgutils.get_or_insert_function(builder.module, load_type, "llvm.masked.load.v4f64.p0")

    def add_block(k: Any, is_last: bool) -> None:
        node = builder.zext(builder.load(builder.gep(column, [k])), whole)
        y = _three(builder, load, p, builder.mul(node, ir.Constant(whole, 3)))
        block = builder.mul(k, ir.Constant(whole, 9))
        ask_ahead(builder, builder.gep(values, [builder.add(block, ir.Constant(whole, 9 * AHEAD))]))
        for row, total in enumerate(sums):
            place = builder.add(block, ir.Constant(whole, 3 * row))
            a = _three(builder, load, values, place) if is_last else _four(builder, values, place)
            product = builder.fmul(a, y, flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)

    last = builder.sub(end, ir.Constant(whole, 1))
    with cgutils.for_range_slice(builder, start, last, ir.Constant(whole, 1)) as (k, _):
        add_block(k, False)
    with builder.if_then(builder.icmp_signed("<", start, end)):
        add_block(last, True)
    return context.make_tuple(builder, signature.return_type, [_across(builder, builder.load(t)) for t in sums])


def _three(builder: ir.IRBuilder, load: Any, array: Any, place: Any) -> Any:
    """Returns three numbers from `place` on, and a zero."""
    pointer = builder.bitcast(builder.gep(array, [place]), _VECTOR.as_pointer())
    return builder.call(load, [pointer, ir.Constant(_LANE, _SIZE), _MASK, _ZERO])


def _four(builder: ir.IRBuilder, array: Any, place: Any) -> Any:
    """Returns four numbers from `place` on."""
    return builder.load(builder.bitcast(builder.gep(array, [place]), _VECTOR.as_pointer()), align=_SIZE)


def _across(builder: ir.IRBuilder, vector: Any) -> Any:
    """Returns the sum of the first three lanes."""
    first, second, third = (builder.extract_element(vector, ir.Constant(_LANE, i)) for i in range(3))
    return builder.fadd(builder.fadd(first, second), third)
