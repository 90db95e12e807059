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

_INT64 = ir.IntType(64)

# What the operating system has for a thread that lets others have its processor, by a name of our own, so that compiled
# kernels find it on every system.
_YIELD_SYMBOL = "sinew_give_way"
if sys.platform == "win32":
    _give_way_there = ctypes.WinDLL("kernel32").SwitchToThread
else:
    _give_way_there = ctypes.CDLL(None).sched_yield
llvmlite.binding.add_symbol(_YIELD_SYMBOL, ctypes.cast(_give_way_there, ctypes.c_void_p).value)


def _load_acquire(typing: Any, array: Any, place: Any) -> Any:
    """Returns a number, with all that was written before it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_address_pointer(context, builder, signature, arguments), "acquire", 8, typ=_INT64)

    return types.int64(array, types.int64), generate


def _store_release(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Writes a number, after all that was written before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _address_pointer(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


def _fetch_add(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Adds to a number in one piece; returns what it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw(
            "add", _address_pointer(context, builder, signature, arguments), arguments[2], "acq_rel"
        )

    return types.int64(array, types.int64, types.int64), generate


def _load_acquire_at(typing: Any, address: Any) -> Any:
    """Returns the number at an address, with all that was written before it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_item_pointer(builder, arguments), "acquire", 8, typ=_INT64)

    return types.int64(types.int64), generate


def _fetch_add_at(typing: Any, address: Any, value: Any) -> Any:
    """Adds to the number at an address in one piece; returns what it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _item_pointer(builder, arguments), arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


def _pause(typing: Any) -> Any:
    """Tells the processor that it waits, where it can be told."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


def _yield_thread(typing: Any) -> Any:
    """Lets another thread that waits for this processor have it for a while, if there is one."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELD_SYMBOL), [])
        return context.get_dummy_value()

    return types.void(), generate


def _address_pointer(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]], source_etype=_INT64)


def _item_pointer(builder: ir.IRBuilder, arguments: Any) -> Any:
    return builder.inttoptr(arguments[0], ir.PointerType())


# what kernels call: without the first argument
load_acquire: Any = intrinsic(_load_acquire)
store_release: Any = intrinsic(_store_release)
fetch_add: Any = intrinsic(_fetch_add)
load_acquire_at: Any = intrinsic(_load_acquire_at)
fetch_add_at: Any = intrinsic(_fetch_add_at)
pause: Any = intrinsic(_pause)
yield_thread: Any = intrinsic(_yield_thread)
