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

from . import scalar_fallback
from .llvm import (
    CONTRACT_FLAGS,
    DOUBLE4,
    array_data,
    extract_lanes,
    int32_constant,
    int64_constant,
    item_pointer,
    load_vec3,
    load_vector,
    multiply_add,
    prefetch_item,
    shuffle,
    splat,
    store_vector,
    sum_of_three,
    zero_vector,
)
from .vector_support import HAS_VECTOR_INSTRUCTIONS

_YZX, _ZXY = (1, 2, 0, 3), (2, 0, 1, 3)  # y, z, x and z, x, y of x, y, z


class Vec3Type(types.Type):
    """Numba's type of three numbers of 64 bits in a vector."""

    def __init__(self) -> None:
        super().__init__(name="Three")


VEC3 = Vec3Type()


@register_model(Vec3Type)
class _Vec3Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vec3Type) -> None:
        super().__init__(manager, kind, DOUBLE4)


def _vec3_load(typing: Any, array: Any, place: Any) -> Any:
    """Returns the three numbers of an array, which is contiguous, from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = array_data(context, builder, signature, arguments)
        return load_vec3(builder, data, arguments[1])

    return VEC3(array, types.int64), generate


def _vec3_store(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v to the three numbers of an array from number `place` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,), (_, place, v) = array_data(context, builder, signature, arguments), arguments
        store_vector(builder, shuffle(builder, v, (0, 1)), data, place)
        last = item_pointer(builder, data, builder.add(place, int64_constant(2)))
        builder.store(builder.extract_element(v, int32_constant(2)), last)
        return context.get_dummy_value()

    return types.void(array, types.int64, VEC3), generate


def _vec4_load(typing: Any, array: Any, place: Any) -> Any:
    """Returns the four numbers of an array from number `place` on: all that `vec4_store` has written."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = array_data(context, builder, signature, arguments)
        return load_vector(builder, data, arguments[1], DOUBLE4)

    return VEC3(array, types.int64), generate


def _block3_load(typing: Any, array: Any, block: Any, ahead: Any) -> Any:
    """Returns the three rows of a block of an array, (b, 9); asks memory for the one that is so many blocks ahead.

    By two loads of four numbers: of lines that only loads of three ask for, some processors get none ahead of their
    use, and wait for each.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,), (_, block, ahead) = array_data(context, builder, signature, arguments), arguments
        first = builder.mul(block, int64_constant(9))
        prefetch_item(builder, data, builder.add(first, builder.mul(ahead, int64_constant(9))))
        rows = [load_vector(builder, data, builder.add(first, int64_constant(number)), DOUBLE4) for number in (0, 3)]
        rows.append(load_vec3(builder, data, builder.add(first, int64_constant(6))))
        return context.make_tuple(builder, signature.return_type, rows)

    return types.UniTuple(VEC3, 3)(array, types.int64, types.int64), generate


def _vec4_store(typing: Any, array: Any, place: Any, v: Any) -> Any:
    """Writes v and its fourth lane to an array: in one piece, so that it can be loaded again at once."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = array_data(context, builder, signature, arguments)
        store_vector(builder, arguments[2], data, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64, VEC3), generate


def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Asks memory for number `place` of an array, which may be behind its end, before it is needed."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (data,) = array_data(context, builder, signature, arguments)
        prefetch_item(builder, data, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _vec3_zero(typing: Any) -> Any:
    """Returns three zeros."""
    return VEC3(), lambda context, builder, signature, arguments: zero_vector(DOUBLE4)


def _vec3(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns three numbers in a vector."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        vector = zero_vector(DOUBLE4)
        for number, value in enumerate(arguments):
            vector = builder.insert_element(vector, value, int32_constant(number))
        return vector

    return VEC3(types.float64, types.float64, types.float64), generate


def _vec3_axpy(typing: Any, v: Any, k: Any, w: Any) -> Any:
    """Returns v + k w for a number k."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, k, w = arguments
        return multiply_add(builder, v, splat(builder, k), w)

    return VEC3(VEC3, types.float64, VEC3), generate


def _vec3_fma(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v plus the products of w and u, lane by lane."""
    kind = VEC3(VEC3, VEC3, VEC3)
    return kind, lambda context, builder, signature, arguments: multiply_add(builder, *arguments)


def _vec3_yzx(typing: Any, v: Any) -> Any:
    """Returns y, z, x of v = x, y, z."""
    return VEC3(VEC3), lambda context, builder, signature, arguments: shuffle(builder, arguments[0], _YZX)


def _vec3_add_cross(typing: Any, v: Any, w: Any, u: Any) -> Any:
    """Returns v + w × u."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        v, w, u = arguments
        added = multiply_add(builder, v, shuffle(builder, w, _YZX), shuffle(builder, u, _ZXY))
        taken = builder.fmul(shuffle(builder, w, _ZXY), shuffle(builder, u, _YZX), flags=CONTRACT_FLAGS)
        return builder.fsub(added, taken, flags=CONTRACT_FLAGS)

    return VEC3(VEC3, VEC3, VEC3), generate


def _vec3_unpack(typing: Any, v: Any) -> Any:
    """Returns the three numbers of v one by one."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return context.make_tuple(builder, signature.return_type, extract_lanes(builder, arguments[0], 3))

    return types.UniTuple(types.float64, 3)(VEC3), generate


def _vec3_sum(typing: Any, v: Any) -> Any:
    """Returns the sum of the three numbers of v."""
    kind = types.float64(VEC3)
    return kind, lambda context, builder, signature, arguments: sum_of_three(builder, arguments[0])


# what kernels call: without the first argument
vec3_load: Any = intrinsic(_vec3_load) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_load
vec3_store: Any = intrinsic(_vec3_store) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_store
vec4_load: Any = intrinsic(_vec4_load) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec4_load
block3_load: Any = intrinsic(_block3_load) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.block3_load
vec4_store: Any = intrinsic(_vec4_store) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec4_store
prefetch: Any = intrinsic(_prefetch) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.prefetch
vec3_zero: Any = intrinsic(_vec3_zero) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_zero
vec3: Any = intrinsic(_vec3) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3
vec3_axpy: Any = intrinsic(_vec3_axpy) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_axpy
vec3_fma: Any = intrinsic(_vec3_fma) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_fma
vec3_yzx: Any = intrinsic(_vec3_yzx) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_yzx
vec3_add_cross: Any = intrinsic(_vec3_add_cross) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_add_cross
vec3_unpack: Any = intrinsic(_vec3_unpack) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_unpack
vec3_sum: Any = intrinsic(_vec3_sum) if HAS_VECTOR_INSTRUCTIONS else scalar_fallback.vec3_sum
