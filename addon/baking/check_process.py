# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that looks through a scene, and the rows of what is found. No Blender."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...solver.runtime.arrays import Indices
from ...solver.runtime.errors import SolveFailed
from .folder_process import FolderProcess

Vector = tuple[float, float, float]
SCENE_FOLDER, FINDINGS_FILE = "scene", "findings.json"


@dataclass(frozen=True, eq=False)
class CheckRow:
    """A row of the list of Check.

    Attributes:
        kind: Of the problem.
        line: The sentence and the next step.
        object_uid: Session id of the object, or 0.
        is_refused: Whether a bake would be refused for it.
        vertices: Of the object's mesh, (k,).
        triangles: Of its mesh, that are to be turned, (t,).
        wanted: The value that a setting is to get [m], or 0.
        moves: How objects are to be moved, each with its session id [m].
    """

    kind: str
    line: str
    object_uid: int
    is_refused: bool = False
    vertices: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    triangles: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    wanted: float = 0.0
    moves: tuple[tuple[int, Vector], ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """What Check found last in a scene.

    Attributes:
        digest: Of the settings at that time.
        rows: What was found.
    """

    digest: str
    rows: tuple[CheckRow, ...]


@dataclass(frozen=True)
class CheckedObject:
    """An object of the scene that the process looks through.

    Attributes:
        session_uid: Its session id.
        vertex_count, triangle_count: Of its mesh in that scene, which come first there: fat has caps and a Wrap, too.
    """

    session_uid: int
    vertex_count: int = 0
    triangle_count: int = 0


class CheckProcess(FolderProcess):
    """The process, from its start to its result.

    Attributes:
        scene_uid: Session id of the scene.
        before: What was found before it started.
        objects: Those of the scene that was written, by their keys in it.
    """

    def __init__(
        self,
        scene_uid: int,
        before: CheckResult,
        objects: Mapping[str, CheckedObject],
        folder: Path,
        commands: Sequence[Sequence[str]],
    ) -> None:
        """Starts the first of some commands that starts.

        Raises:
            SolveFailed: None does.
        """
        self.scene_uid, self.before, self.objects = scene_uid, before, objects
        super().__init__(folder, commands)

    def result(self) -> list[dict[str, Any]]:
        """Returns its findings, as `Finding.to_json` writes them.

        Raises:
            SolveFailed: It wrote none that can be read, and had no error event.
        """
        try:
            found = json.loads((self.folder / FINDINGS_FILE).read_bytes())
            return [dict(each) for each in found]
        except (OSError, ValueError, TypeError) as problem:
            raise SolveFailed("internal", problem=str(problem), log="what you did") from problem
