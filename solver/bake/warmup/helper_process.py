# SPDX-License-Identifier: GPL-3.0-or-later
"""Another process that compiles kernels while this one goes on. Loads neither Numba nor SciPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...runtime.kernel_cache.cache_folder import is_cache_available

MAX_WAIT_SECONDS = 300.0  # patience with the other process [s]
SOLVE_STAGE, STEPS_STAGE = "solve", "steps"  # what it says is compiled: the solve of a step, and all of a step
MULTIGRID_STAGE = "levels"  # those of multigrid


class CompilerProcess:
    """The other process. It ends when it is done or when this one does, which closes its standard input."""

    def __init__(self, process: subprocess.Popen) -> None:
        """Listens from now on to what it says."""
        self._process = process
        self._compiled_stages = {word: threading.Event() for word in (SOLVE_STAGE, STEPS_STAGE)}
        threading.Thread(target=self._listen, name="helper", daemon=True).start()

    def wait_for(self, what: str) -> None:
        """Waits until SOLVE or STEPS is compiled, or it has ended."""
        self._compiled_stages[what].wait(MAX_WAIT_SECONDS)

    def wait(self, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Waits until it is done, which is the shorter way: it began before this one got there."""
        patience = MAX_WAIT_SECONDS
        while patience > 0.0 and not should_stop():
            try:
                self._process.wait(0.1)
                return
            except subprocess.TimeoutExpired:
                patience -= 0.1

    def close(self) -> None:
        """Ends it, where it is not done."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = self._compiled_stages.get(json.loads(line)["event"])
            if said is not None:
                said.set()
        for said in self._compiled_stages.values():
            said.set()


def start_compiler_process(what: str, *words: str) -> CompilerProcess | None:
    """Starts another process that does `sinew warm-up --WHAT WORDS`; None where it would be for nothing."""
    if not is_cache_available() or (os.cpu_count() or 1) < 2:
        return None
    places = [part for folder in sys.path if folder for part in ("--site", folder)]
    # by the way this process came here, symbolic links and all: Numba keeps kernels by the paths of their sources
    package = Path(__file__).absolute().parents[3]
    bootstrap = package / "solver" / "cli" / "bootstrap.py"
    command = [sys.executable, "-s", str(bootstrap), "--package-dir", str(package), *places]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    if os.name == "nt":
        options["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return CompilerProcess(
            subprocess.Popen([*command, "warm-up", f"--{what}", *words, "--child", "--json"], **options)
        )
    except OSError:
        return None  # then all is compiled here
