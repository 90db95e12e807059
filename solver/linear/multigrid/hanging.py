# SPDX-License-Identifier: GPL-3.0-or-later
"""What rows of one level are made of rows of another, written in LLVM's vectors: three numbers in one of four."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_FLOAT, _WORD, _WHOLE = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, 4)
_FUSED = ("contract",)


def _weighted(typing: Any, weight: Any, row: Any, x: Any, start: Any, end: Any) -> Any:
    """Returns Σ w_k x[row[k]] over k from `start` to `end`, three numbers.

    Args:
        weight, row: In 32 bits, the latter unsigned.
        x: (n, 3) of 32 bits, with a row of anything behind it.
        start, end: Which of them.
    """
    result = types.UniTuple(types.float32, 3)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        weights, rows, numbers = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * 4))
        with cgutils.for_range_slice(builder, arguments[3], arguments[4], ir.Constant(_WHOLE, 1)) as (k, _):
            place = builder.mul(builder.zext(builder.load(builder.gep(rows, [k])), _WHOLE), ir.Constant(_WHOLE, 3))
            x = builder.load(builder.bitcast(builder.gep(numbers, [place]), _VECTOR.as_pointer()), align=4)
            product = builder.fmul(_spread(builder, builder.load(builder.gep(weights, [k]))), x, flags=_FUSED)
            builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)
        lanes = [builder.extract_element(builder.load(total), _lane(k)) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return result(weight, row, x, types.int64, types.int64), generate


# what kernels call: without the first argument
weighted: Any = intrinsic(_weighted)


def _spread(builder: ir.IRBuilder, number: Any) -> Any:
    """Returns a vector of four times the same number."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _lane(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_WORD, 4), [0] * 4))


def _lane(number: int) -> Any:
    return ir.Constant(_WORD, number)
