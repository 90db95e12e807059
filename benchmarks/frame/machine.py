# SPDX-License-Identifier: GPL-3.0-or-later
"""What numbers were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numba
import numpy as np


def machine() -> str:
    """Returns processor, cores, system and versions, as the end of a sentence."""
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}"
    )


def processor() -> str:
    """Returns the processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
