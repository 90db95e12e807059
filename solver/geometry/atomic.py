# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of 64 bits by which threads come to terms with each other, and ways to wait, for kernels to work with."""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

# What the operating system has for a thread that lets others have its processor, by a name of our own, so that compiled
# kernels find it on every system.
_GIVE_WAY = "sinew_give_way"
if sys.platform == "win32":
    _give_way_there = ctypes.WinDLL("kernel32").SwitchToThread
else:
    _give_way_there = ctypes.CDLL(None).sched_yield
llvmlite.binding.add_symbol(_GIVE_WAY, ctypes.cast(_give_way_there, ctypes.c_void_p).value)


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


def _get_at(typing: Any, address: Any) -> Any:
    """Returns the number at an address, with all that was written before it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_there(builder, arguments), "acquire", 8)

    return types.int64(types.int64), generate


def _add_at(typing: Any, address: Any, value: Any) -> Any:
    """Adds to the number at an address in one piece; returns what it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _there(builder, arguments), arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


def _rest(typing: Any) -> Any:
    """Tells the processor that it waits, where it can be told."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


def _give_way(typing: Any) -> Any:
    """Lets another thread that waits for this processor have it for a while, if there is one."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _GIVE_WAY), [])
        return context.get_dummy_value()

    return types.void(), generate


def _at(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


def _there(builder: ir.IRBuilder, arguments: Any) -> Any:
    return builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())


# what kernels call: without the first argument
get: Any = intrinsic(_get)
put: Any = intrinsic(_put)
add_to: Any = intrinsic(_add_to)
get_at: Any = intrinsic(_get_at)
add_at: Any = intrinsic(_add_at)
rest: Any = intrinsic(_rest)
give_way: Any = intrinsic(_give_way)
