# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of 64 bits by which threads come to terms with each other, for kernels to work with."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


def _get(typing: Any, array: Any, place: Any) -> Any:
    """Returns a number, with all that was written before it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_at(context, builder, signature, arguments), "acquire", 8)

    return types.int64(array, types.int64), generate


def _put(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Writes a number, after all that was written before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _at(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


def _add_to(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Adds to a number in one piece; returns what it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _at(context, builder, signature, arguments), arguments[2], "acq_rel")

    return types.int64(array, types.int64, types.int64), generate


def _rest(typing: Any) -> Any:
    """Tells the processor that it waits, where it can be told."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


def _at(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


# what kernels call: without the first argument
get: Any = intrinsic(_get)
put: Any = intrinsic(_put)
add_to: Any = intrinsic(_add_to)
rest: Any = intrinsic(_rest)
