# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that finds the fibres of muscles in a folder of its own. No Blender."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ...solver.runtime.errors import SolveFailed
from ...solver.runtime.npz_reader import read_arrays
from .child_process import ChildProcess

SCENE_FOLDER, RESULT_FOLDER, LOG_FILE = "scene", "fibres", "log.txt"


@dataclass(frozen=True)
class FibrePreview:
    """The fibres of a muscle before a bake.

    Attributes:
        digest: Of the settings that they were found with.
        arrays: As a model of a cache has them.
    """

    digest: str
    arrays: Mapping[str, npt.NDArray]


class FibreSearch:
    """The process, from its start to its result.

    Attributes:
        scene_uid: Session id of the scene.
        digest: Of the settings that it works with.
        folder: Its input and output, deleted at its end.
    """

    def __init__(self, scene_uid: int, digest: str, folder: Path, commands: Sequence[Sequence[str]]) -> None:
        """Starts the first of some commands that starts.

        Raises:
            SolveFailed: None does.
        """
        self.scene_uid, self.digest, self.folder = scene_uid, digest, folder
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
            self._error = event if event["event"] == "error" else self._error
        if code is None:
            return True
        self._child.close(0.0)
        self._child = None
        if code != 0 and self._error is None:
            self._start_next()
        return self._child is not None

    def result(self) -> dict[str, FibrePreview]:
        """Returns the fibres that it has found, by keys of muscles.

        Raises:
            SolveFailed: It wrote none that can be read, and had no error event.
        """
        try:
            paths = sorted((self.folder / RESULT_FOLDER).glob("*.npz"))
            if not paths:
                raise ValueError("it has no result")
            return {path.stem: FibrePreview(self.digest, read_arrays(path)) for path in paths}
        except (OSError, ValueError) as problem:
            raise SolveFailed("internal", problem=str(problem), log="what you did") from problem

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
