# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the meshes that are to be wrapped: surface files, and .npz files with "N.vertices" and "N.triangles"."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...runtime.errors import BadInput
from ...runtime.npz_reader import first_line, read_arrays
from ..formats.surface_files import read_surface
from ..geometry.triangle_surface import Surface, make_surface

ARRAYS_SUFFIX = ".npz"


def read_wrapped_surfaces(paths: Sequence[Path]) -> list[Surface]:
    """Returns the surfaces in files, in their order.

    Raises:
        BadInput: A file cannot be read, or has no surface.
    """
    return [surface for path in paths for surface in _read(path)]


def _read(path: Path) -> list[Surface]:
    if path.suffix.lower() != ARRAYS_SUFFIX:
        return [read_surface(path)]
    try:
        arrays = read_arrays(path)
        count = len(arrays) // 2
        parts = [(arrays[f"{number}.vertices"], arrays[f"{number}.triangles"]) for number in range(count)]
    except (OSError, KeyError, ValueError) as problem:
        raise BadInput("file-unreadable", path=str(path), problem=first_line(problem)) from problem
    return [
        make_surface(vertices, triangles, f"{path.name}, {number}")
        for number, (vertices, triangles) in enumerate(parts)
    ]
