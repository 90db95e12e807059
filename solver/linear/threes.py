# SPDX-License-Identifier: GPL-3.0-or-later
"""Three numbers of a node at a time, in one of the processor's vectors, for kernels to work with.

Written in LLVM's vectors, since Numba's loops over three numbers stay loops over single ones: conjugate gradients
take two thirds of the time with them, and half the time to compile. The fourth lane counts for nothing, and lanes are
summed always in the same order. Processors without such vectors get what LLVM makes of it.

    p = add(load(z, 3 * i), beta, load(p, 3 * i))      z + β p of node i
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

_DOUBLE, _LANE = ir.DoubleType(), ir.IntType(32)
VECTOR = ir.VectorType(_DOUBLE, 4)
_MASK = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])
_ZERO = ir.Constant(VECTOR, [0.0] * 4)
_FUSED = ("contract",)


class Three(types.Type):
    """Numba's type of three numbers of 64 bits in a vector."""

    def __init__(self) -> None:
        super().__init__(name="Three")


THREE = Three()


@register_model(Three)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Three) -> None:
        super().__init__(manager, kind, VECTOR)


def _load(typing: Any, array: Any, place: Any) -> Any:
    """Returns the three numbers of an array, which is contiguous, from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR.as_pointer(), _LANE, _MASK.type, VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0")
        pointer = builder.bitcast(_at(context, builder, signature, arguments), VECTOR.as_pointer())
        return builder.call(function, [pointer, ir.Constant(_LANE, 8), _MASK, _ZERO])

    return THREE(array, types.int64), generate


def _store(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v to the three numbers of an array from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer, pair = _at(context, builder, signature, arguments), ir.VectorType(_DOUBLE, 2)
        two = builder.shuffle_vector(arguments[2], _ZERO, ir.Constant(ir.VectorType(_LANE, 2), [0, 1]))
        builder.store(two, builder.bitcast(pointer, pair.as_pointer()), align=8)
        builder.store(_lane(builder, arguments[2], 2), builder.gep(pointer, [ir.Constant(ir.IntType(64), 2)]))
        return context.get_dummy_value()

    return types.void(array, types.int64, THREE), generate


def _load_four(typing: Any, array: Any, place: Any) -> Any:
    """Returns the four numbers of an array from number `place` on: all that `store_four` has written."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_at(context, builder, signature, arguments), VECTOR.as_pointer())
        return builder.load(pointer, align=8)

    return THREE(array, types.int64), generate


def _store_four(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v and its fourth lane to an array: in one piece, so that it can be loaded again at once."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_at(context, builder, signature, arguments), VECTOR.as_pointer())
        builder.store(arguments[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, THREE), generate


def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Asks memory for number `place` of an array, which may be behind its end, before it is needed."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        ask_ahead(builder, _at(context, builder, signature, arguments))
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _nothing(typing: Any) -> Any:
    """Returns three zeros."""
    return THREE(), lambda context, builder, signature, arguments: _ZERO


def _three(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns three numbers in a vector."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        vector = _ZERO
        for number, value in enumerate(arguments):
            vector = builder.insert_element(vector, value, ir.Constant(_LANE, number))
        return vector

    return THREE(types.float64, types.float64, types.float64), generate


def _add(typing: Any, v: Any, k: Any, w: Any) -> Any:
    """Returns v + k w for a number k."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, k, w = arguments
        return _plus(builder, v, builder.fmul(_spread(builder, k), w, flags=_FUSED))

    return THREE(THREE, types.float64, THREE), generate


def _add_products(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v plus the products of w and u, lane by lane."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return _plus(builder, arguments[0], builder.fmul(arguments[1], arguments[2], flags=_FUSED))

    return THREE(THREE, THREE, THREE), generate


def _cycled(typing: Any, v: Any) -> Any:
    """Returns y, z, x of v = x, y, z."""
    return THREE(THREE), lambda context, builder, signature, arguments: _turned(builder, arguments[0], (1, 2, 0, 3))


def _add_cross(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v + w × u."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, w, u = arguments
        ahead, behind = (_turned(builder, x, (1, 2, 0, 3)) for x in (w, u)), (2, 0, 1, 3)
        w1, u1 = ahead
        first = builder.fmul(w1, _turned(builder, u, behind), flags=_FUSED)
        second = builder.fmul(_turned(builder, w, behind), u1, flags=_FUSED)
        return builder.fsub(_plus(builder, v, first), second, flags=_FUSED)

    return THREE(THREE, THREE, THREE), generate


def _numbers(typing: Any, v: Any) -> Any:
    """Returns the three numbers of v one by one."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        parts = [_lane(builder, arguments[0], number) for number in range(3)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.float64, 3)(THREE), generate


def _total(typing: Any, v: Any) -> Any:
    """Returns the sum of the three numbers of v."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first, second, third = (_lane(builder, arguments[0], number) for number in range(3))
        return builder.fadd(builder.fadd(first, second), third)

    return types.float64(THREE), generate


# what kernels call: without the first argument
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
load_four: Any = intrinsic(_load_four)
store_four: Any = intrinsic(_store_four)
prefetch: Any = intrinsic(_prefetch)
nothing: Any = intrinsic(_nothing)
three: Any = intrinsic(_three)
add: Any = intrinsic(_add)
add_products: Any = intrinsic(_add_products)
cycled: Any = intrinsic(_cycled)
add_cross: Any = intrinsic(_add_cross)
numbers: Any = intrinsic(_numbers)
total: Any = intrinsic(_total)


def ask_ahead(builder: ir.IRBuilder, pointer: Any) -> None:
    """Asks memory for what is at a pointer before it is needed; for kernels that are written in LLVM themselves."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _LANE, _LANE, _LANE])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # for reading, into all caches, as data
    builder.call(function, [builder.bitcast(pointer, byte), *(ir.Constant(_LANE, k) for k in (0, 3, 1))])


def _at(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    """Returns a pointer to number `place` of an array."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


def _plus(builder: ir.IRBuilder, v: Any, w: Any) -> Any:
    return builder.fadd(v, w, flags=_FUSED)


def _spread(builder: ir.IRBuilder, k: Any) -> Any:
    """Returns a vector of four times the same number."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), k, ir.Constant(_LANE, 0))
    return _turned(builder, one, (0, 0, 0, 0))


def _turned(builder: ir.IRBuilder, v: Any, order: tuple[int, ...]) -> Any:
    return builder.shuffle_vector(v, _ZERO, ir.Constant(ir.VectorType(_LANE, 4), list(order)))


def _lane(builder: ir.IRBuilder, v: Any, number: int) -> Any:
    return builder.extract_element(v, ir.Constant(_LANE, number))
