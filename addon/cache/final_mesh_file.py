# SPDX-License-Identifier: GPL-3.0-or-later
"""The final mesh of a broken body, in `result/KEY.npz`. Knows no Blender."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...solver.bake.cache.final_mesh_check import check_final_mesh
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import StorageFailed
from ..runtime.memo import Memo


@dataclass(frozen=True)
class StoredResult:
    """A closed mesh of k vertices, f polygons and c corners, and the origin of each in the render mesh.

    Attributes:
        rest: Rest positions in world space [m], (k, 3).
        source_vertex: Vertex of the render mesh, or −1 for a vertex of a cut, (k,).
        face_start: First corner of each polygon, and c at the end, (f + 1,).
        corners: Vertices of the polygons, counter-clockwise seen from outside, (c,).
        source_face: Polygon of the render mesh that contains the polygon, −1 for a broken face, (f,).
        corner_triangle: Triangle of the render mesh that contains the corner, −1 on broken faces, (c,).
        corner_weights: Barycentric weights in it, (c, 3).
        piece: Number of the closed piece of a polygon, (f,).
        opens: Frame, possibly fractional, at which a broken face becomes visible, (f,); one after the last frame if
            it never does.
        vertex_opens: Of a sheet, the frame at which a vertex and its copies part, (k,); (0,) of solids.
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
    vertex_opens: Floats = field(default_factory=lambda: np.zeros(0))

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
        """Returns the same mesh with reversed polygons, and reversed triangles of the render mesh.

        A mirrored object needs that, since the exporter reverses its triangles.
        """
        starts, ends = self.face_start[:-1], self.face_start[1:]
        faces = self.face_of_corner
        reversed_corners = (starts + ends - 1)[faces] - np.arange(len(self.corners), dtype=np.int64)
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("corners", "corner_triangle", "corner_weights"):
            same[name] = same[name][reversed_corners]
        same["corner_weights"] = same["corner_weights"][:, ::-1]
        return StoredResult(**same)

    def piece_mesh(self, piece: int) -> tuple[StoredResult, Indices]:
        """Returns one piece, and the vertex numbers of this mesh for its vertices."""
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
            vertex_opens=self.vertex_opens[vertices] if len(self.vertex_opens) else self.vertex_opens,
        )
        return part, vertices


def read_result(path: Path) -> StoredResult:
    """Reads a result of the finishing pass.

    Raises:
        StorageFailed: The file is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        check_final_mesh(arrays)
        arrays.setdefault("vertex_opens", np.zeros(0))
        found = {field.name: arrays[field.name] for field in fields(StoredResult)}
        if "partner" in arrays and "last_frame" in arrays:
            # a broken face without a partner is inside a piece and never becomes visible
            alone = (found["source_face"] < 0) & (arrays["partner"] < 0)
            found["opens"] = np.where(alone, int(arrays["last_frame"]) + 1, found["opens"])
        return StoredResult(**found)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as problem:
        file = path.relative_to(path.parents[1]).as_posix()
        raise StorageFailed("cache-damaged", path=str(path.parents[1]), file=file, problem=str(problem)) from problem


# by file, since every undo needs it
_stamps: Memo[str] = Memo(1000)


def result_stamp(path: Path) -> str:
    """Returns a digest that identifies a result, also after a copy, or "" without a file."""
    try:
        state = path.stat()
        return _stamps.result(path, (state.st_mtime_ns, state.st_size), lambda: _content_stamp(path))
    except OSError:
        return ""


def _content_stamp(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
