# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads surfaces: .obj, .ply, .stl and .off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...runtime.arrays import floats
from ...runtime.errors import BadInput
from ...runtime.npz_reader import first_line
from ..geometry.triangle_surface import Surface, make_surface
from .obj import read_obj
from .off import read_off
from .ply_truncation_check import check_row_count
from .stl import read_stl
from .text_decoding import decode_text

OUT_OF_MEMORY_TEXT = "what it announces needs more memory than there is"
SURFACE_SUFFIXES = (".obj", ".ply", ".stl", ".off")


def read_surface(path: Path) -> Surface:
    """Returns the triangles of a file; polygons are cut, vertices stay as they are numbered there.

    STL numbers no vertices: corners in the same place become one.

    Raises:
        BadInput: "file-format", "file-unreadable", or as `make_surface`.
    """
    ending = path.suffix.lower()
    if ending not in SURFACE_SUFFIXES:
        raise BadInput("file-format", path=str(path), wanted=", ".join(SURFACE_SUFFIXES))
    try:
        if ending == ".obj":
            vertices, triangles = read_obj(decode_text(path.read_bytes()))
        elif ending == ".stl":
            vertices, triangles = read_stl(path.read_bytes())
        elif ending == ".off":
            vertices, triangles = read_off(decode_text(path.read_bytes()))
        else:
            vertices, triangles = _read_ply(path)
    except ImportError as problem:
        raise BadInput("file-library", path=str(path), library="trimesh") from problem
    except MemoryError as problem:
        raise BadInput("file-unreadable", path=str(path), problem=OUT_OF_MEMORY_TEXT) from problem
    except Exception as problem:  # a reader of damaged files may raise anything
        raise BadInput("file-unreadable", path=str(path), problem=first_line(problem)) from problem
    return make_surface(vertices, triangles, path.name)


def _read_ply(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns vertices (n, 3) and triangles (t, 3); no materials, and no merging."""
    from trimesh.exchange.ply import load_ply

    check_row_count(path.read_bytes())
    with open(path, "rb") as file:
        found: dict[str, Any] = load_ply(file, skip_materials=True)
    return floats(found["vertices"], -1, 3), np.asarray(_triangles(found["faces"]), np.int64).reshape(-1, 3)


def _triangles(faces: Any) -> np.ndarray:
    """Returns triangles of faces that may have several numbers of corners."""
    if isinstance(faces, np.ndarray) and faces.ndim == 2 and faces.shape[1] == 3:
        return faces
    from trimesh.geometry import triangulate_quads

    return np.asarray(triangulate_quads(faces))
