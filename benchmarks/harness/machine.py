# SPDX-License-Identifier: GPL-3.0-or-later
"""Description of the machine that runs the measurements."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import numba
import numpy as np


def machine_description() -> str:
    """Returns processor, cores, system and versions, as the end of a sentence."""
    return (
        f"{processor_name()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}"
    )


def processor_name() -> str:
    """Returns the processor's name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def is_busy(share: float = 0.1) -> bool:
    """Returns whether other programs take more than a share of all cores, so that times mean nothing (Linux only)."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return False

    def idle_and_all() -> np.ndarray:
        numbers = [float(word) for word in stat.read_text(encoding="utf-8").split("\n")[0].split()[1:9]]
        return np.array([numbers[3] + numbers[4], sum(numbers)])

    before = idle_and_all()
    time.sleep(1.0)
    idle, total = idle_and_all() - before
    return bool(idle < (1.0 - share) * total)
