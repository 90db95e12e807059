# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory is free on this machine, asked of the operating system."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

MACOS_FREE_SHARE = 0.6  # of the memory built in: macOS does not tell simply what it could free


def free_memory() -> int | None:
    """Returns the bytes that can be taken without swapping, or None where nobody says."""
    try:
        if sys.platform == "win32":
            return _free_on_windows()
        if sys.platform == "darwin":
            return int(MACOS_FREE_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        return _free_on_linux()
    except (OSError, ValueError, AttributeError):
        return None


def _free_on_linux() -> int | None:
    """Returns what the kernel calls available, or what the container has left if that is less."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    available = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
    try:
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text(encoding="ascii"))
        left = most - int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return available
    return max(left, 0) if available is None else min(available, max(left, 0))


def _free_on_windows() -> int:
    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in ("total", "available", "total_page", "free_page", "total_virtual", "free_virtual", "extended")
        ]

    status = Status()
    status.length = ctypes.sizeof(status)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined]
        raise OSError("GlobalMemoryStatusEx failed")
    return int(status.available)
