# SPDX-License-Identifier: GPL-3.0-or-later
"""The processor that kernels are compiled for: one that all machines of a kind contain, so that kernels can be shipped.

Kernels for x86-64-v3 run as fast as those for the machine's own processor (docs/kernels.md) and give the same bytes on
all of them. Where a processor is none of these, Numba compiles for the one that it finds.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numba.core.config

from ..reproducible_library_environment import has_x86_64_v3

TARGET_VARIABLE = "NUMBA_CPU_NAME"
NATIVE = "native"  # whatever Numba finds; Numba's own index tells such kernels of different processors apart

_config: Any = numba.core.config


def kernel_target() -> str:
    """Returns LLVM's name of the processor that kernels are compiled for, or NATIVE."""
    chosen = os.environ.get(TARGET_VARIABLE)
    if chosen:
        return chosen
    if sys.platform == "darwin" and os.uname().machine == "arm64":
        return "apple-m1"
    return "x86-64-v3" if has_x86_64_v3() else NATIVE


def set_numba_target() -> None:
    """Lets Numba compile for that processor; an environment variable of Numba's has precedence."""
    if not os.environ.get(TARGET_VARIABLE) and kernel_target() != NATIVE:
        _config.CPU_NAME, _config.CPU_FEATURES = kernel_target(), ""
