# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs each experiment or benchmark in its own process, free of what others loaded or compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(folder: Path, name: str, quick: bool, threads: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `python FOLDER NAME --one` on `threads` threads (None: one per core) and waits for its end."""
    command = [sys.executable, str(folder), name, "--one", *(["--quick"] if quick else [])]
    environment = dict(os.environ, PYTHONUTF8="1", **({"NUMBA_NUM_THREADS": threads} if threads else {}))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, encoding="utf-8", **pipes) as process:
        _running.add(process)
        try:
            out, errors = process.communicate()
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def stop_all() -> None:
    """Asks all running processes to end and to end their own children."""
    for process in [*_running]:
        process.terminate()


_running: set[subprocess.Popen[str]] = set()
