# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads surfaces: .obj, .ply, .stl and .off."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import floats
from ..errors import BadInput
from ..geometry.surface import Surface, make_surface
from .obj import read_obj

SURFACE_ENDINGS = (".obj", ".ply", ".stl", ".off")


def read_surface(path: Path) -> Surface:
    """Returns the triangles of a file; polygons are cut, vertices stay as they are numbered there.

    Raises:
        BadInput: "file-format", "file-unreadable", "mesh-empty", "mesh-not-finite" or "mesh-index".
    """
    ending = path.suffix.lower()
    if ending not in SURFACE_ENDINGS:
        raise BadInput("file-format", path=str(path), wanted=", ".join(SURFACE_ENDINGS))
    try:
        if ending == ".obj":
            vertices, triangles = read_obj(path.read_text(encoding="utf-8", errors="replace"))
        else:
            vertices, triangles = _read_by_trimesh(path, ending)
    except ImportError as problem:
        raise BadInput("file-library", path=str(path), library="trimesh") from problem
    except MemoryError:
        raise
    except Exception as problem:  # a reader of damaged files may raise anything
        raise BadInput("file-unreadable", path=str(path), problem=in_short(problem)) from problem
    return make_surface(vertices, triangles, path.name)


def _read_by_trimesh(path: Path, ending: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns vertices (n, 3) and triangles (t, 3); no materials, and no merging."""
    load = getattr(importlib.import_module(f"trimesh.exchange.{ending[1:]}"), f"load_{ending[1:]}")
    with open(path, "rb") as file:
        found: dict[str, Any] = load(file, **({"skip_materials": True} if ending == ".ply" else {}))
    parts = list(found["geometry"].values()) if "geometry" in found else [found]
    vertices, triangles, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for part in parts:
        vertices.append(floats(part["vertices"], -1, 3))
        triangles.append(np.asarray(_triangles(part["faces"]), np.int64).reshape(-1, 3) + count)
        count += len(vertices[-1])
    return np.concatenate(vertices), np.concatenate(triangles)


def _triangles(faces: Any) -> np.ndarray:
    """Returns triangles of faces that may have several numbers of corners."""
    if isinstance(faces, np.ndarray) and faces.ndim == 2 and faces.shape[1] == 3:
        return faces
    from trimesh.geometry import triangulate_quads

    return np.asarray(triangulate_quads(faces))


def in_short(problem: BaseException) -> str:
    """Returns the first line of what a library says, without its full stop."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200].rstrip(".")
