# SPDX-License-Identifier: GPL-3.0-or-later
"""What kernels that are written in LLVM's vectors have in common: where arrays are, sums of products, lanes.

Data is a pointer to the first number of an array, place the number of another one behind it, and v, w and u are
vectors. Products may be fused with the sums that they go to, whose order is fixed anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

INT32 = ir.IntType(32)
DOUBLE4 = ir.VectorType(ir.DoubleType(), 4)
CONTRACT_FLAGS = ("contract",)


def int32_constant(number: int) -> Any:
    """Returns a constant of 32 bits, such as the number of a lane."""
    return ir.Constant(INT32, number)


def int64_constant(number: int) -> Any:
    """Returns a constant of 64 bits, such as a place."""
    return ir.Constant(ir.IntType(64), number)


def zero_vector(kind: ir.VectorType) -> Any:
    """Returns a vector of zeros."""
    return ir.Constant(kind, [0.0] * kind.count)


def array_pointers(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> list[Any]:
    """Returns the data of those of the arguments that are arrays, which are contiguous."""
    return [
        context.make_array(kind)(context, builder, value).data
        for kind, value in zip(signature.args, arguments, strict=True)
        if isinstance(kind, types.Array)
    ]


def load_index(builder: ir.IRBuilder, data: Any, place: Any) -> Any:
    """Returns a number of an array of unsigned ones as a place, of 64 bits."""
    return builder.zext(builder.load(builder.gep(data, [place])), ir.IntType(64))


def load_vector(builder: ir.IRBuilder, data: Any, place: Any, kind: ir.VectorType) -> Any:
    """Returns the vector that begins with a number of an array."""
    return builder.load(_vector_pointer(builder, data, place, kind), align=_item_size(data))


def store_vector(builder: ir.IRBuilder, v: Any, data: Any, place: Any) -> None:
    """Writes a vector to an array, from a number on."""
    builder.store(v, _vector_pointer(builder, data, place, v.type), align=_item_size(data))


def load_vec3(builder: ir.IRBuilder, data: Any, place: Any) -> Any:
    """Returns three numbers of 64 bits and a zero; what follows them in memory is not read."""
    mask = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])
    kind = ir.FunctionType(DOUBLE4, [DOUBLE4.as_pointer(), INT32, mask.type, DOUBLE4])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0")
    return builder.call(
        function,
        [_vector_pointer(builder, data, place, DOUBLE4), int32_constant(_item_size(data)), mask, zero_vector(DOUBLE4)],
    )


def prefetch_element(builder: ir.IRBuilder, data: Any, place: Any) -> None:
    """Asks memory for a number, which may be behind the end of its array, before it is needed."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # for reading, into all caches, as data
    builder.call(
        function,
        [builder.bitcast(builder.gep(data, [place]), byte), int32_constant(0), int32_constant(3), int32_constant(1)],
    )


def multiply_add(builder: ir.IRBuilder, v: Any, w: Any, u: Any) -> Any:
    """Returns v plus the products of w and u, lane by lane."""
    return builder.fadd(v, builder.fmul(w, u, flags=CONTRACT_FLAGS), flags=CONTRACT_FLAGS)


def new_accumulator(builder: ir.IRBuilder, kind: ir.VectorType) -> Any:
    """Returns where a sum is kept over the turns of a loop, zero at first."""
    return cgutils.alloca_once_value(builder, zero_vector(kind))


def accumulate(builder: ir.IRBuilder, kept: Any, w: Any, u: Any) -> None:
    """Adds the products of w and u, lane by lane, to a sum that is kept."""
    builder.store(multiply_add(builder, builder.load(kept), w, u), kept)


def splat(builder: ir.IRBuilder, number: Any) -> Any:
    """Returns a vector of four times the same number."""
    one = builder.insert_element(ir.Constant(ir.VectorType(number.type, 4), ir.Undefined), number, int32_constant(0))
    return shuffle(builder, one, [0] * 4)


def shuffle(builder: ir.IRBuilder, v: Any, order: Sequence[int], w: Any = None) -> Any:
    """Returns lanes of v, and of w as those behind, in an order."""
    kind = ir.VectorType(INT32, len(order))
    return builder.shuffle_vector(v, v if w is None else w, ir.Constant(kind, list(order)))


def extract_lanes(builder: ir.IRBuilder, v: Any, count: int) -> list[Any]:
    """Returns the first numbers of a vector one by one."""
    return [builder.extract_element(v, int32_constant(number)) for number in range(count)]


def sum_of_three(builder: ir.IRBuilder, v: Any) -> Any:
    """Returns the sum of the first three lanes, in their order."""
    first, second, third = extract_lanes(builder, v, 3)
    return builder.fadd(builder.fadd(first, second), third)


def _vector_pointer(builder: ir.IRBuilder, data: Any, place: Any, kind: ir.VectorType) -> Any:
    """Returns a pointer to the vector that begins with a number of an array."""
    return builder.bitcast(builder.gep(data, [place]), kind.as_pointer())


def _item_size(data: Any) -> int:
    """Returns how many bytes a number of an array has: 8, or 4."""
    return 8 if data.type.pointee == ir.DoubleType() else 4
