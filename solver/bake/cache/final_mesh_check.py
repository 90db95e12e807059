# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the arrays of a final mesh fit each other (solver/bake/postprocess/result_npz.py)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

# by name: letters are counts that are the same in all arrays: k vertices, f faces, c corners
SHAPES: Mapping[str, tuple[str | int, ...]] = {
    "rest": ("k", 3),
    "source_vertex": ("k",),
    "source_face": ("f",),
    "piece": ("f",),
    "opens": ("f",),
    "corners": ("c",),
    "corner_triangle": ("c",),
    "corner_weights": ("c", 3),
}
FLOATS = ("rest", "weights", "opens", "corner_weights", "vertex_opens")  # all others are whole numbers
OPTIONAL_SHAPES: Mapping[str, tuple[str | int, ...]] = {  # what only the solver reads, or files before 0.2 do not have
    "last_frame": (),
    "tet": ("k",),
    "weights": ("k", 4),
    "face_tet": ("f",),
    "partner": ("f",),
    "vertex_opens": ("k",),
}


def check_final_mesh(arrays: Mapping[str, npt.NDArray]) -> None:
    """Checks the arrays of a file.

    Raises:
        ValueError: One is missing, has a shape that does not fit, or numbers faces and corners that do not exist.
    """
    missing = [name for name in (*SHAPES, "face_start") if name not in arrays]
    if missing:
        raise ValueError(f"{', '.join(missing)} missing")
    counts: dict[str, int] = {}
    for name, shape in {**SHAPES, "face_start": ("f + 1",), **OPTIONAL_SHAPES}.items():
        if name not in arrays:
            continue
        array = arrays[name]
        if not _fits(array.shape, shape, counts):
            raise ValueError(f"{name} has the shape {array.shape}")
        if array.dtype.kind not in ("fiu" if name in FLOATS else "iu") or not np.isfinite(array).all():
            raise ValueError(f"{name} holds other things than {'' if name in FLOATS else 'whole '}numbers")
    start = arrays["face_start"]
    if len(start) != counts["f"] + 1 or start[0] != 0 or start[-1] != counts["c"]:
        raise ValueError("face_start does not fit")
    if (np.diff(start) < 1).any():
        raise ValueError("face_start does not rise")
    corners = arrays["corners"]
    if len(corners) and (corners.min() < 0 or corners.max() >= counts["k"]):
        raise ValueError("a corner has no vertex")


def _fits(found: tuple[int, ...], shape: tuple[str | int, ...], counts: dict[str, int]) -> bool:
    """Whether an array has a shape; takes note of counts that no array before it had."""
    if len(found) != len(shape):
        return False
    pairs = zip(shape, found, strict=True)
    return all(size == (counts.setdefault(each, size) if isinstance(each, str) else each) for each, size in pairs)
