# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays that come in the place of others touch no new pages where the process keeps what is freed."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from sinew.solver.runtime import freed_memory
from sinew.solver.runtime.freed_memory import keep_freed_memory

PAGES = 16 * 1024  # of 4 KiB: arrays of 64 MiB
CHILD = f"""
import resource, sys
import numpy as np
from sinew.solver.runtime.freed_memory import keep_freed_memory

def touched(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.empty({PAGES} * 512)[::512] = 1.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if "keep" in sys.argv:
    assert keep_freed_memory()
touched(1)
print(touched(4))
"""


def _faults(*words: str) -> int:
    ended = subprocess.run([sys.executable, "-c", CHILD, *words], capture_output=True, text=True, check=True)
    return int(ended.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library cannot be told")
def test_arrays_take_the_pages_of_earlier_ones() -> None:
    assert _faults("keep") < 100 < _faults()  # huge pages are 512 times as large


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.sys, "platform", "win32")
    assert not keep_freed_memory()


def test_other_c_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:  # conftest.py asks the library once more at the end of every test
        patched.setattr(freed_memory.sys, "platform", "linux")
        patched.setattr(freed_memory.ctypes, "CDLL", lambda name: object())
        assert not keep_freed_memory()
