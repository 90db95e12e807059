# SPDX-License-Identifier: GPL-3.0-or-later
"""The final mesh of a body that broke, as the finishing pass keeps it: `result/KEY.npz`. No Blender in here."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import StorageFailed


@dataclass(frozen=True)
class StoredResult:
    """A closed mesh of k vertices, f polygons and c corners, and where each of them comes from.

    Attributes:
        rest: Positions before anything moved [m], world, (k, 3).
        source_vertex: Vertex of the render mesh, or −1 for one that a cut made, (k,).
        face_start: First corner of each polygon, and c at the end, (f + 1,).
        corners: Vertices of the polygons, counter-clockwise seen from outside, (c,).
        source_face: Polygon of the render mesh that a polygon is part of, −1 for a broken face, (f,).
        corner_triangle: Triangle of the render mesh on which a corner lies, −1 on broken faces, (c,).
        corner_weights: Where on it, (c, 3).
        piece: Number of the closed piece that a polygon belongs to, (f,).
        opens: Frame, perhaps between two, at which a broken face is first seen, (f,); of one that never opens, one
            after the last.
    """

    rest: Floats
    source_vertex: Indices
    face_start: Indices
    corners: Indices
    source_face: Indices
    corner_triangle: Indices
    corner_weights: Floats
    piece: Indices
    opens: Floats

    @property
    def face_of_corner(self) -> Indices:
        """The polygon of each corner, (c,)."""
        return np.repeat(np.arange(len(self.source_face), dtype=np.int64), np.diff(self.face_start))

    @property
    def next_corner(self) -> npt.NDArray[np.int64]:
        """The corner that follows each one around its polygon, (c,)."""
        following = np.arange(1, len(self.corners) + 1, dtype=np.int64)
        following[self.face_start[1:] - 1] = self.face_start[:-1]
        return following

    @property
    def is_broken(self) -> np.ndarray:
        """Whether a polygon is a broken face, (f,) bool."""
        return self.source_face < 0

    def flipped(self) -> StoredResult:
        """Returns the same mesh with every polygon turned round, and every triangle of the render mesh too.

        A mirrored object needs that: the solver got its triangles turned round.
        """
        starts, ends = self.face_start[:-1], self.face_start[1:]
        faces = self.face_of_corner
        order = (starts + ends - 1)[faces] - np.arange(len(self.corners), dtype=np.int64)
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("corners", "corner_triangle", "corner_weights"):
            same[name] = same[name][order]
        same["corner_weights"] = same["corner_weights"][:, ::-1]
        return StoredResult(**same)

    def piece_mesh(self, piece: int) -> tuple[StoredResult, Indices]:
        """Returns one piece, and which vertices of this mesh its vertices are."""
        faces = self.piece == piece
        corners = faces[self.face_of_corner]
        vertices, numbers = np.unique(self.corners[corners], return_inverse=True)
        part = StoredResult(
            rest=self.rest[vertices],
            source_vertex=self.source_vertex[vertices],
            face_start=np.concatenate([[0], np.cumsum(np.diff(self.face_start)[faces], dtype=np.int64)]),
            corners=numbers.ravel(),
            source_face=self.source_face[faces],
            corner_triangle=self.corner_triangle[corners],
            corner_weights=self.corner_weights[corners],
            piece=self.piece[faces],
            opens=self.opens[faces],
        )
        return part, vertices


def read_result(path: Path) -> StoredResult:
    """Reads what the finishing pass wrote.

    Raises:
        StorageFailed: It is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {field.name: stored[field.name] for field in fields(StoredResult)}
            if "partner" in stored and "last_frame" in stored:
                # a broken face that fits to no other one is inside a piece: it is never seen to open
                alone = (found["source_face"] < 0) & (stored["partner"] < 0)
                found["opens"] = np.where(alone, int(stored["last_frame"]) + 1, found["opens"])
        return StoredResult(**found)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as problem:
        file = path.relative_to(path.parents[1]).as_posix()
        raise StorageFailed("cache-damaged", path=str(path.parents[1]), file=file, problem=str(problem)) from problem


# of files that were looked at: (time of change, size) and stamp; every undo asks
_stamps: dict[Path, tuple[tuple[int, int], str]] = {}


def result_stamp(path: Path) -> str:
    """Returns what tells one result from another, wherever its file was copied to, or "" when it is not there."""
    try:
        state = path.stat()
        now = (state.st_mtime_ns, state.st_size)
        known = _stamps.get(path)
        if known is None or known[0] != now:
            known = _stamps[path] = (now, hashlib.sha256(path.read_bytes()).hexdigest()[:16])
    except OSError:
        return ""
    return known[1]
