# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that finds the fibres of muscles in a folder of its own. No Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy.typing as npt

from ...solver.runtime.errors import SolveFailed
from ...solver.runtime.npz_reader import read_arrays
from .folder_process import FolderProcess

SCENE_FOLDER, RESULT_FOLDER = "scene", "fibres"


@dataclass(frozen=True)
class FibrePreview:
    """The fibres of a muscle before a bake.

    Attributes:
        digest: Of the settings that they were found with.
        arrays: As a model of a cache has them.
    """

    digest: str
    arrays: Mapping[str, npt.NDArray]


class FibreSearch(FolderProcess):
    """The process, from its start to its result.

    Attributes:
        scene_uid: Session id of the scene.
        digest: Of the settings that it works with.
    """

    def __init__(self, scene_uid: int, digest: str, folder: Path, commands: Sequence[Sequence[str]]) -> None:
        """Starts the first of some commands that starts.

        Raises:
            SolveFailed: None does.
        """
        self.scene_uid, self.digest = scene_uid, digest
        super().__init__(folder, commands)

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
