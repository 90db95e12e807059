# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the installed llvmlite builds the LLVM instructions that `llvm.py` asks for.

Releases that the tests have run with are listed. Of any other one a small function of the same instructions is built
and parsed; where that fails, kernels use `scalar_fallback.py`.
"""

from __future__ import annotations

from typing import Any

import llvmlite
import llvmlite.binding
from llvmlite import ir

from .llvm import (
    DOUBLE4,
    INT32,
    POINTER,
    ArrayData,
    accumulate,
    int64_constant,
    load_index,
    load_vec3,
    load_vector,
    new_accumulator,
    prefetch_item,
    splat,
    store_vector,
    sum_of_three,
)

TESTED_RELEASES = ("0.50",)  # of llvmlite


def has_vector_instructions(release: str) -> bool:
    """Returns whether kernels can be built of vector instructions with this release of llvmlite."""
    return ".".join(release.split(".")[:2]) in TESTED_RELEASES or can_build_vectors()


def can_build_vectors() -> bool:
    """Returns whether a function of all kinds of instructions that `llvm.py` builds can be built and parsed."""
    try:
        llvmlite.binding.parse_assembly(str(_probe_module())).verify()
    except Exception:  # whatever a later release raises, the fallback does without it
        return False
    return True


def _probe_module() -> ir.Module:
    """Returns a module with a function of opaque pointers that loads, multiplies, sums and stores vectors."""
    module = ir.Module("vector_probe")
    function = ir.Function(module, ir.FunctionType(ir.DoubleType(), [POINTER, POINTER]), "probe")
    builder = ir.IRBuilder(function.append_basic_block())
    numbers, indices = ArrayData(function.args[0], ir.DoubleType()), ArrayData(function.args[1], INT32)
    place = load_index(builder, indices, int64_constant(1))
    prefetch_item(builder, numbers, place)
    total: Any = new_accumulator(builder, DOUBLE4)
    accumulate(builder, total, load_vec3(builder, numbers, place), load_vector(builder, numbers, place, DOUBLE4))
    product = builder.load(total, typ=DOUBLE4)
    store_vector(builder, splat(builder, sum_of_three(builder, product)), numbers, place)
    builder.ret(sum_of_three(builder, product))
    return module


HAS_VECTOR_INSTRUCTIONS = has_vector_instructions(llvmlite.__version__)
