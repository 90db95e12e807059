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
from numba.core import types
from numba.extending import intrinsic, models, register_model

from .llvm_vectors import (
    FOUR,
    FUSED,
    add_product,
    ask_ahead,
    data_of,
    lanes,
    load_three,
    load_vector,
    picked,
    spread,
    store_vector,
    total_of_three,
    whole,
    word,
    zeros,
)

_CYCLE, _BACK = (1, 2, 0, 3), (2, 0, 1, 3)  # y, z, x and z, x, y of x, y, z


class Three(types.Type):
    """Numba's type of three numbers of 64 bits in a vector."""

    def __init__(self) -> None:
        super().__init__(name="Three")


THREE = Three()


@register_model(Three)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Three) -> None:
        super().__init__(manager, kind, FOUR)


def _load(typing: Any, array: Any, place: Any) -> Any:
    """Returns the three numbers of an array, which is contiguous, from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = data_of(context, builder, signature, arguments)
        return load_three(builder, data, arguments[1])

    return THREE(array, types.int64), generate


def _store(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v to the three numbers of an array from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,), (_, place, v) = data_of(context, builder, signature, arguments), arguments
        store_vector(builder, picked(builder, v, (0, 1)), data, place)
        builder.store(builder.extract_element(v, word(2)), builder.gep(data, [builder.add(place, whole(2))]))
        return context.get_dummy_value()

    return types.void(array, types.int64, THREE), generate


def _load_four(typing: Any, array: Any, place: Any) -> Any:
    """Returns the four numbers of an array from number `place` on: all that `store_four` has written."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = data_of(context, builder, signature, arguments)
        return load_vector(builder, data, arguments[1], FOUR)

    return THREE(array, types.int64), generate


def _load_block(typing: Any, array: Any, block: Any, ahead: Any) -> Any:
    """Returns the three rows of a block of an array, (b, 9); asks memory for the one that is so many blocks ahead.

    By two loads of four numbers: of lines that only loads of three ask for, some processors get none ahead of their
    use, and wait for each.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,), (_, block, ahead) = data_of(context, builder, signature, arguments), arguments
        first = builder.mul(block, whole(9))
        ask_ahead(builder, data, builder.add(first, builder.mul(ahead, whole(9))))
        rows = [load_vector(builder, data, builder.add(first, whole(number)), FOUR) for number in (0, 3)]
        rows.append(load_three(builder, data, builder.add(first, whole(6))))
        return context.make_tuple(builder, signature.return_type, rows)

    return types.UniTuple(THREE, 3)(array, types.int64, types.int64), generate


def _store_four(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v and its fourth lane to an array: in one piece, so that it can be loaded again at once."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = data_of(context, builder, signature, arguments)
        store_vector(builder, arguments[2], data, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64, THREE), generate


def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Asks memory for number `place` of an array, which may be behind its end, before it is needed."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = data_of(context, builder, signature, arguments)
        ask_ahead(builder, data, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _nothing(typing: Any) -> Any:
    """Returns three zeros."""
    return THREE(), lambda context, builder, signature, arguments: zeros(FOUR)


def _three(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns three numbers in a vector."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        vector = zeros(FOUR)
        for number, value in enumerate(arguments):
            vector = builder.insert_element(vector, value, word(number))
        return vector

    return THREE(types.float64, types.float64, types.float64), generate


def _add(typing: Any, v: Any, k: Any, w: Any) -> Any:
    """Returns v + k w for a number k."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, k, w = arguments
        return add_product(builder, v, spread(builder, k), w)

    return THREE(THREE, types.float64, THREE), generate


def _add_products(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v plus the products of w and u, lane by lane."""
    kind = THREE(THREE, THREE, THREE)
    return kind, lambda context, builder, signature, arguments: add_product(builder, *arguments)


def _cycled(typing: Any, v: Any) -> Any:
    """Returns y, z, x of v = x, y, z."""
    return THREE(THREE), lambda context, builder, signature, arguments: picked(builder, arguments[0], _CYCLE)


def _add_cross(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v + w × u."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, w, u = arguments
        added = add_product(builder, v, picked(builder, w, _CYCLE), picked(builder, u, _BACK))
        taken = builder.fmul(picked(builder, w, _BACK), picked(builder, u, _CYCLE), flags=FUSED)
        return builder.fsub(added, taken, flags=FUSED)

    return THREE(THREE, THREE, THREE), generate


def _numbers(typing: Any, v: Any) -> Any:
    """Returns the three numbers of v one by one."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return context.make_tuple(builder, signature.return_type, lanes(builder, arguments[0], 3))

    return types.UniTuple(types.float64, 3)(THREE), generate


def _total(typing: Any, v: Any) -> Any:
    """Returns the sum of the three numbers of v."""
    kind = types.float64(THREE)
    return kind, lambda context, builder, signature, arguments: total_of_three(builder, arguments[0])


# what kernels call: without the first argument
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
load_four: Any = intrinsic(_load_four)
load_block: Any = intrinsic(_load_block)
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
