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

WORD = ir.IntType(32)
FOUR = ir.VectorType(ir.DoubleType(), 4)
FUSED = ("contract",)


def word(number: int) -> Any:
    """Returns a constant of 32 bits, such as the number of a lane."""
    return ir.Constant(WORD, number)


def whole(number: int) -> Any:
    """Returns a constant of 64 bits, such as a place."""
    return ir.Constant(ir.IntType(64), number)


def zeros(kind: ir.VectorType) -> Any:
    """Returns a vector of zeros."""
    return ir.Constant(kind, [0.0] * kind.count)


def data_of(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> list[Any]:
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
    return builder.load(_at(builder, data, place, kind), align=_bytes(data))


def store_vector(builder: ir.IRBuilder, v: Any, data: Any, place: Any) -> None:
    """Writes a vector to an array, from a number on."""
    builder.store(v, _at(builder, data, place, v.type), align=_bytes(data))


def load_three(builder: ir.IRBuilder, data: Any, place: Any) -> Any:
    """Returns three numbers of 64 bits and a zero; what follows them in memory is not read."""
    mask = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])
    kind = ir.FunctionType(FOUR, [FOUR.as_pointer(), WORD, mask.type, FOUR])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0")
    return builder.call(function, [_at(builder, data, place, FOUR), word(_bytes(data)), mask, zeros(FOUR)])


def ask_ahead(builder: ir.IRBuilder, data: Any, place: Any) -> None:
    """Asks memory for a number, which may be behind the end of its array, before it is needed."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, WORD, WORD, WORD])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # for reading, into all caches, as data
    builder.call(function, [builder.bitcast(builder.gep(data, [place]), byte), word(0), word(3), word(1)])


def add_product(builder: ir.IRBuilder, v: Any, w: Any, u: Any) -> Any:
    """Returns v plus the products of w and u, lane by lane."""
    return builder.fadd(v, builder.fmul(w, u, flags=FUSED), flags=FUSED)


def new_sum(builder: ir.IRBuilder, kind: ir.VectorType) -> Any:
    """Returns where a sum is kept over the turns of a loop, zero at first."""
    return cgutils.alloca_once_value(builder, zeros(kind))


def add_to(builder: ir.IRBuilder, kept: Any, w: Any, u: Any) -> None:
    """Adds the products of w and u, lane by lane, to a sum that is kept."""
    builder.store(add_product(builder, builder.load(kept), w, u), kept)


def spread(builder: ir.IRBuilder, number: Any) -> Any:
    """Returns a vector of four times the same number."""
    one = builder.insert_element(ir.Constant(ir.VectorType(number.type, 4), ir.Undefined), number, word(0))
    return picked(builder, one, [0] * 4)


def picked(builder: ir.IRBuilder, v: Any, order: Sequence[int], w: Any = None) -> Any:
    """Returns lanes of v, and of w as those behind, in an order."""
    kind = ir.VectorType(WORD, len(order))
    return builder.shuffle_vector(v, v if w is None else w, ir.Constant(kind, list(order)))


def lanes(builder: ir.IRBuilder, v: Any, count: int) -> list[Any]:
    """Returns the first numbers of a vector one by one."""
    return [builder.extract_element(v, word(number)) for number in range(count)]


def total_of_three(builder: ir.IRBuilder, v: Any) -> Any:
    """Returns the sum of the first three lanes, in their order."""
    first, second, third = lanes(builder, v, 3)
    return builder.fadd(builder.fadd(first, second), third)


def _at(builder: ir.IRBuilder, data: Any, place: Any, kind: ir.VectorType) -> Any:
    """Returns a pointer to the vector that begins with a number of an array."""
    return builder.bitcast(builder.gep(data, [place]), kind.as_pointer())


def _bytes(data: Any) -> int:
    """Returns how many bytes a number of an array has: 8, or 4."""
    return 8 if data.type.pointee == ir.DoubleType() else 4
