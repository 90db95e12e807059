# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the child process that computes, reads its events without waiting, sends it commands, ends it. No Blender."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
import time as clock
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from ...solver.runtime.reproducible_library_environment import fix_numeric_environment

PACKAGE = Path(__file__).resolve().parents[2]
LAUNCHER = PACKAGE / "solver" / "cli" / "bootstrap.py"
REQUIRED_PACKAGES = ("numpy", "numba", "llvmlite", "scipy")
KERNEL_PACKAGE = "sinew_kernels"  # compiled kernels, where the zip brought some
MAX_LOG_BYTES = 1_000_000
MAX_NON_JSON_LINES = 100
PIPE_TIMEOUT_SECONDS = 0.5  # after the end of the child, whose own children may keep the pipe open
# environment variables that would make the Python of the child load other modules than this one
_FOREIGN_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT")


def child_command(arguments: Sequence[str], python: str | None = None) -> list[str]:
    """Returns the command that runs `sinew ARGUMENTS` in this Blender's own Python."""
    return [python or sys.executable, "-s", str(LAUNCHER), *_launcher_options(), *arguments]


def fallback_command(arguments: Sequence[str], blender: str) -> list[str]:
    """Returns the command that does the same in a Blender without a window, or [] when there is none."""
    if not blender:
        return []
    quiet = ["-b", "--factory-startup", "--python-exit-code", "1"]
    return [blender, *quiet, "--python", str(LAUNCHER), "--", *_launcher_options(), *arguments]


def _launcher_options() -> list[str]:
    """Returns where the package and its wheels are, as options of the launcher."""
    found = []
    for name in (*REQUIRED_PACKAGES, KERNEL_PACKAGE):
        spec = importlib.util.find_spec(name)  # looks, does not load
        if spec is not None and spec.origin:
            folder = str(Path(spec.origin).parent.parent)
            if folder not in found:
                found.append(folder)
    return ["--package-dir", str(PACKAGE), *(part for folder in found for part in ("--site", folder))]


class ChildProcess:
    """One child process; it ends when this process does, since its standard input closes then."""

    def __init__(self, command: Sequence[str], log: Path | None = None) -> None:
        """Starts `command`, with its standard error in the file `log`.

        Raises:
            OSError: It cannot be started.
        """
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._is_drained = False
        self._exited_at: float | None = None
        self.non_json_lines: list[str] = []
        errors: int | IO[bytes] = subprocess.DEVNULL
        try:
            errors = open(log, _log_mode(log)) if log is not None else errors
        except OSError:
            pass  # a bake does not fail because of its log; the child reports what is wrong with the folder
        environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN_VARIABLES}
        environment["PYTHONUTF8"] = "1"
        fix_numeric_environment(environment)  # also for a Blender as child, which loads NumPy before it runs a script
        options: dict[str, Any] = {}
        if os.name == "nt":
            options["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        else:
            options["start_new_session"] = True  # Ctrl-C in the terminal is for Blender, which tells the child
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                bufsize=0,
                **options,
            )
        finally:
            if not isinstance(errors, int):
                errors.close()
        threading.Thread(target=self._listen, name="Sinew child", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def events(self) -> list[dict[str, Any]]:
        """Returns the events since the last call, at once; lines that are not JSON objects go to `non_json_lines`."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return found
            if line is None:
                self._is_drained = True
                continue
            event = _parse_event(line)
            if event is not None:
                found.append(event)
            elif line.strip():
                self.non_json_lines = [
                    *self.non_json_lines[1 - MAX_NON_JSON_LINES :],
                    line.decode("utf-8", "replace").rstrip(),
                ]

    def exit_code(self) -> int | None:
        """Returns the exit code once the child has ended and all its output was read, else None."""
        code = self._process.poll()
        if code is None:
            return None
        if self._exited_at is None:
            self._exited_at = clock.monotonic()
        return code if self._is_drained or clock.monotonic() - self._exited_at > PIPE_TIMEOUT_SECONDS else None

    def send(self, command: Mapping[str, Any]) -> None:
        """Sends one command; does nothing after the child has ended."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
        except (OSError, ValueError):
            pass

    def kill(self) -> None:
        """Kills the child at once; the cache stays whole."""
        if self._process.poll() is None:
            try:
                self._process.kill()
            except OSError:
                pass

    def close(self, timeout: float = 1.0) -> None:
        """Closes its standard input, gives it `timeout` seconds to end, then kills it."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                pass

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            with open(self._process.stdout.fileno(), "rb", closefd=False) as lines:
                for line in lines:
                    self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)


def _log_mode(log: Path) -> Literal["ab", "wb"]:
    """Returns the mode to open a log in: one larger than `MAX_LOG_BYTES` starts over."""
    return "wb" if log.exists() and log.stat().st_size > MAX_LOG_BYTES else "ab"


def _parse_event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
