# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that works in a folder of its own, which is deleted at its end. No Blender."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...solver.runtime.errors import SolveFailed
from .child_process import ChildProcess

LOG_FILE = "log.txt"


class FolderProcess:
    """The process, from its start to its end.

    Attributes:
        folder: Its input and output.
        event: The last event that it emitted, or None.
    """

    def __init__(self, folder: Path, commands: Sequence[Sequence[str]]) -> None:
        """Starts the first of some commands that starts.

        Raises:
            SolveFailed: None does.
        """
        self.folder = folder
        self.event: Mapping[str, Any] | None = None
        self._commands = [command for command in commands if command]
        self._error: Mapping[str, Any] | None = None
        self._child: ChildProcess | None = None
        self._start_next()
        if self._child is None:
            self.close()
            raise SolveFailed("internal", problem="no process could be started", log="the console")

    def poll(self) -> bool:
        """Hears what the process says, and returns whether it is still at work."""
        if self._child is None:
            return False
        code = self._child.exit_code()  # first, so that all that it said before is heard before its end
        for event in self._child.events():
            self.event = event
            self._error = event if event["event"] == "error" else self._error
        if code is None:
            return True
        self._child.close(0.0)
        self._child = None
        if code != 0 and self._error is None:
            self._start_next()
        return self._child is not None

    @property
    def error(self) -> Mapping[str, Any] | None:
        """Its `error` event, if it had one."""
        return self._error

    def close(self) -> None:
        """Ends the process if it still runs, and deletes its files."""
        if self._child is not None:
            self._child.close(0.0)
            self._child = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start_next(self) -> None:
        while self._commands and self._child is None:
            try:
                self._child = ChildProcess(self._commands.pop(0), self.folder / LOG_FILE)
            except OSError:
                continue
