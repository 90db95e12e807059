# SPDX-License-Identifier: GPL-3.0-or-later
"""Warms up the solver: one process compiles its kernels ahead, another one loads them and waits for a bake.

A process of the lowest priority compiles what is not compiled yet, once per machine. Another one then loads everything
and waits to be asked (`sinew wait`). Both are made of the command that a bake has, and end with Blender. Neither is
ever waited for: a bake that begins before takes its own way. No Blender; `solver_warm_up_timer.py` says when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .child_process import ChildProcess, child_command

COMPILE_ARGUMENTS = ("warm-up", "--gently", "--child", "--json")
WAIT_ARGUMENTS = ("wait", "--json")


class WarmSolver:
    """The two processes. Call `update` every now and then."""

    def __init__(self, command: Callable[[Sequence[str]], list[str]] = child_command) -> None:
        """Makes ready; nothing runs yet. `command` returns what runs `sinew ARGUMENTS`."""
        self._command = command
        self._compiling: ChildProcess | None = None
        self._waiting: ChildProcess | None = None
        self._is_ready = False
        self._is_requested = False
        self._is_compiled = False
        self._has_failed = False

    @property
    def is_compiling(self) -> bool:
        """Whether kernels are being compiled."""
        return self._compiling is not None

    @property
    def is_compiled(self) -> bool:
        """Whether all kernels were compiled, as far as this Blender has asked."""
        return self._is_compiled

    @property
    def is_ready(self) -> bool:
        """Whether a process waits that has everything loaded."""
        return self._waiting is not None and self._is_ready

    def update(self, compiles: bool, waits: bool) -> None:
        """Hears what the processes say; starts what is wanted and not there, ends what is no longer wanted.

        Args:
            compiles: Whether to compile ahead.
            waits: Whether a process is to wait for a bake, once nothing is being compiled.
        """
        self._read_events()
        if compiles and not self._is_compiled and self._compiling is None:
            self._compile()
        elif not compiles and not self._is_requested:
            self._close_compiling()
        is_due = self._compiling is None and (self._is_compiled or not compiles)
        if waits and is_due and self._waiting is None and not self._has_failed:
            self._waiting, self._is_ready = self._started(WAIT_ARGUMENTS), False
        elif not waits:
            self._close_waiting()

    def compile(self) -> None:
        """Compiles what is not compiled yet although it may not be wanted ahead; to find nothing takes two seconds."""
        self._is_requested = True
        self._compile()

    def _compile(self) -> None:
        if self._compiling is None:
            self._compiling = self._started(COMPILE_ARGUMENTS)
            self._is_compiled = self._compiling is None  # where it does not start, a bake will say why

    def take_over(self, arguments: Sequence[str], log: Path) -> ChildProcess | None:
        """Returns a process that does `sinew ARGUMENTS`, a bake, from now on; None where none is ready.

        Compiling ends: the bake needs the processor, and compiles what it needs itself.
        """
        self._read_events()
        self._close_compiling()
        child = self._waiting if self._is_ready else None
        if child is None:
            self._close_waiting()
            return None
        self._waiting, self._is_ready = None, False
        child.send({"command": arguments[0], "arguments": list(arguments[1:]), "log": str(log)})
        return child

    def close(self) -> None:
        """Ends both."""
        self._close_compiling()
        self._close_waiting()

    def _started(self, arguments: Sequence[str]) -> ChildProcess | None:
        try:
            return ChildProcess(self._command(arguments))
        except OSError:
            return None

    def _read_events(self) -> None:
        if self._compiling is not None:
            self._compiling.events()
            if self._compiling.exit_code() is not None:
                self._is_compiled = True
                self._close_compiling()
        if self._waiting is not None:
            code = self._waiting.exit_code()
            self._is_ready |= any(event["event"] == "ready" for event in self._waiting.events())
            if code is not None:
                self._has_failed = True  # it would fail again at every look
                self._close_waiting()

    def _close_compiling(self) -> None:
        if self._compiling is not None:
            self._compiling.close(0.0)
        self._compiling, self._is_requested = None, False

    def _close_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.close(0.0)
        self._waiting, self._is_ready = None, False


# of this Blender
solver_in_waiting = WarmSolver()
