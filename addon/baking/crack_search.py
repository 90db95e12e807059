# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that finds the cracks of a brittle body at one hit, in a folder of its own. No Blender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput, SolveFailed
from ...solver.runtime.npz_reader import read_arrays
from ..evaluation.matrix_units import transform_points
from .folder_process import FolderProcess

SCENE_FOLDER, CRACKS_FILE = "scene", "cracks.npz"


@dataclass(frozen=True)
class FoundCracks:
    """The cracks of a body at one hit.

    Attributes:
        vertices: In the space of its object [Blender units], (n, 3).
        triangles: Faces of cracks, (t, 3).
        outline: Edges of these where cracks come to the surface, (e, 2).
        piece_count: Into how many pieces it falls.
        dust_count: How many splinters are dust.
    """

    vertices: Floats
    triangles: Indices
    outline: Indices
    piece_count: int
    dust_count: int


class CrackSearch(FolderProcess):
    """The process, from its start to its result.

    Attributes:
        object_uid: Session id of the body's object.
        speed: At which it hits the ground [m/s].
        matrix: From the space of the object to the world [m], (4, 4).
    """

    def __init__(
        self, object_uid: int, speed: float, matrix: Floats, folder: Path, commands: Sequence[Sequence[str]]
    ) -> None:
        """Starts the first of some commands that starts.

        Raises:
            SolveFailed: None does.
        """
        self.object_uid, self.speed, self.matrix = object_uid, speed, matrix
        super().__init__(folder, commands)

    @property
    def piece_count(self) -> int:
        """How many pieces there are so far."""
        told = self.event if self.event is not None and self.event["event"] == "cracking" else {}
        return int(told.get("pieces", 1))

    def result(self) -> FoundCracks:
        """Returns the cracks that it has found.

        Raises:
            BadInput: The body does not break, or the stress was not found.
            SolveFailed: It wrote no cracks that can be read.
        """
        if self.error is not None:
            raise BadInput(self.error["kind"], **self.error["details"])
        said = self.event
        if said is None or said["event"] != "cracks":
            raise SolveFailed("internal", problem="it has no result", log="what you did")
        try:
            arrays = read_arrays(self.folder / CRACKS_FILE)
        except (OSError, ValueError) as problem:
            raise SolveFailed("internal", problem=str(problem), log="what you did") from problem
        local = transform_points(np.linalg.inv(self.matrix), arrays["vertices"])
        return FoundCracks(local, arrays["triangles"], arrays["outline"], said["pieces"], said["dust"])
