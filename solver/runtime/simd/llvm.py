# SPDX-License-Identifier: GPL-3.0-or-later
"""What kernels that are written in LLVM's vectors have in common: where arrays are, sums of products, lanes.

`data` is the `ArrayData` of an array, `place` the number of one of its items, and v, w and u are vectors. Products may
be fused with the sums that they go to, whose order is fixed anyway.

llvmlite drops typed pointers, so every address and load names the type of what it points to, and pointers are opaque.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils, types

POINTER = ir.PointerType()
INT32 = ir.IntType(32)
DOUBLE4 = ir.VectorType(ir.DoubleType(), 4)
CONTRACT_FLAGS = ("contract",)


class ArrayData(NamedTuple):
    """A contiguous array in LLVM: the pointer to its first item, and the type of its items."""

    pointer: Any
    item: Any


def int32_constant(number: int) -> Any:
    """Returns a constant of 32 bits, such as the number of a lane."""
    return ir.Constant(INT32, number)


def int64_constant(number: int) -> Any:
    """Returns a constant of 64 bits, such as a place."""
    return ir.Constant(ir.IntType(64), number)


def zero_vector(kind: ir.VectorType) -> Any:
    """Returns a vector of zeros."""
    return ir.Constant(kind, [0.0] * kind.count)


def array_data(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> list[ArrayData]:
    """Returns the data of those of the arguments that are arrays, which are contiguous."""
    return [
        ArrayData(context.make_array(kind)(context, builder, value).data, context.get_data_type(kind.dtype))
        for kind, value in zip(signature.args, arguments, strict=True)
        if isinstance(kind, types.Array)
    ]


def item_pointer(builder: ir.IRBuilder, data: ArrayData, place: Any) -> Any:
    """Returns an opaque pointer to an item of an array."""
    pointer = builder.gep(data.pointer, [place], source_etype=data.item)
    pointer.type = POINTER  # Numba's own may still be typed, and would refuse vectors
    return pointer


def load_item(builder: ir.IRBuilder, data: ArrayData, place: Any) -> Any:
    """Returns an item of an array."""
    return builder.load(item_pointer(builder, data, place), typ=data.item)


def load_index(builder: ir.IRBuilder, data: ArrayData, place: Any) -> Any:
    """Returns an item of an array of unsigned numbers as a place, of 64 bits."""
    return builder.zext(load_item(builder, data, place), ir.IntType(64))


def load_vector(builder: ir.IRBuilder, data: ArrayData, place: Any, kind: ir.VectorType) -> Any:
    """Returns the vector that begins with an item of an array."""
    return builder.load(item_pointer(builder, data, place), align=_item_size(data), typ=kind)


def store_vector(builder: ir.IRBuilder, v: Any, data: ArrayData, place: Any) -> None:
    """Writes a vector to an array, from an item on."""
    builder.store(v, item_pointer(builder, data, place), align=_item_size(data))


def load_vec3(builder: ir.IRBuilder, data: ArrayData, place: Any) -> Any:
    """Returns three numbers of 64 bits and a zero; what follows them in memory is not read."""
    mask = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])
    kind = ir.FunctionType(DOUBLE4, [POINTER, INT32, mask.type, DOUBLE4])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0")
    return builder.call(
        function,
        [item_pointer(builder, data, place), int32_constant(_item_size(data)), mask, zero_vector(DOUBLE4)],
    )


def prefetch_item(builder: ir.IRBuilder, data: ArrayData, place: Any) -> None:
    """Asks memory for an item, which may be behind the end of its array, before it is needed."""
    kind = ir.FunctionType(ir.VoidType(), [POINTER, INT32, INT32, INT32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # for reading, into all caches, as data
    builder.call(
        function,
        [item_pointer(builder, data, place), int32_constant(0), int32_constant(3), int32_constant(1)],
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


def _item_size(data: ArrayData) -> int:
    """Returns how many bytes an item of an array has: 8, or 4."""
    return 8 if data.item == ir.DoubleType() else 4
