# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives of a few kilobytes, and how they get full."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FILLER = "filler"


@contextmanager
def small_drive(place: Path, kilobytes: int) -> Iterator[Path]:
    """Mounts a drive; skips the test where that cannot be done, which takes root on Linux."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a small drive here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(drive: Path, but_kilobytes: int = 0) -> None:
    """Fills a drive, but for some kilobytes."""
    free = os.statvfs(drive).f_bavail * 4096 - but_kilobytes * 1024
    (drive / FILLER).write_bytes(b"\0" * max(free, 0))


def clear(drive: Path) -> None:
    """Makes room again."""
    (drive / FILLER).unlink()
