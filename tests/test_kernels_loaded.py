# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are made when they are first called; what was compiled before is loaded and not compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fixtures.compile_listener import LISTENER
from sinew.solver.runtime.jit import kernel

KERNELS = """
import numpy as np
from sinew.solver.runtime.jit import kernel

@kernel(device_only=True)
def squared(a):
    return a * a

@kernel()
def squares(values):
    found = np.empty(len(values))
    for i in range(len(values)):
        found[i] = squared(values[i])
    return found

@kernel()
def count_of_empty(count):
    return len(np.empty(count))

@kernel()
def sum_of_squares(values):
    total = 0.0
    for square in squares(values):
        total += square
    return total
"""
USE = """
import numpy as np
import kernels
with listen():
    print(kernels.squares(np.arange(4.0)), "squares" in names)
try:
    kernels.count_of_empty(-1)
except ValueError as problem:
    print(problem)
# what was not compiled before is compiled beside what was loaded
print(kernels.squares(np.arange(4)), len(kernels.squares.signatures))
# what is compiled takes in what was loaded, also what Python may not call
print(kernels.sum_of_squares(np.arange(4.0)))
"""


def _used(folder: Path) -> list[str]:
    environment = {**os.environ, "SINEW_KERNEL_CACHE": str(folder / "kept")}
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n" + LISTENER + USE
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.slow
def test_what_is_kept_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    assert _used(tmp_path) == [
        "[0. 1. 4. 9.] True",
        "negative dimensions not allowed",
        "[0. 1. 4. 9.] 2",
        "14.0",
    ]
    for kept in tmp_path.rglob("sum_of_squares*.nb?"):
        kept.unlink()
    assert _used(tmp_path) == [
        "[0. 1. 4. 9.] False",
        "negative dimensions not allowed",
        "[0. 1. 4. 9.] 2",
        "14.0",
    ]


@kernel()
def third(a):
    """Returns a / 3."""
    return a / 3.0


def test_threads_that_call_at_once_have_one_kernel_made() -> None:
    made, start = [], threading.Barrier(4)

    def call() -> None:
        start.wait()
        third(6.0)
        made.append(third._compiled)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4 and len({id(each) for each in made}) == 1
    assert third.py_func(6.0) == third(6.0) == 2.0 and len(third.signatures) == 1
