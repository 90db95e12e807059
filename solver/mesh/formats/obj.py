# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads Wavefront OBJ: positions and faces, whatever else is in it.

Vertices stay as they are numbered in the file (trimesh splits them where textures or materials meet).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats

MAX_INDEX = 2**62  # int64 holds it and its sums


def read_obj(text: str) -> tuple[Floats, np.ndarray]:
    """Returns positions, (n, 3), and triangles, (t, 3); polygons are cut into fans.

    Raises:
        ValueError: A line cannot be understood.
    """
    positions: list[list[float]] = []
    corners: list[int] = []
    sizes: list[int] = []
    for indented in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        line = indented.lstrip()
        if line.startswith(("v ", "v\t")):
            positions.append([float(word) for word in line.split()[1:4]])
            if len(positions[-1]) != 3:
                raise ValueError(f"a vertex has {len(positions[-1])} coordinates")
        elif line.startswith(("f ", "f\t")):
            face = [_corner(word, len(positions)) for word in line.split("#")[0].split()[1:]]
            corners.extend(face)
            sizes.append(len(face))
    wide = np.array(corners, np.int64), np.array(sizes, np.int64)
    return np.array(positions, np.float64).reshape(-1, 3), fan_triangles(*wide)


def fan_triangles(corners: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns polygons of `sizes` (f,), whose corners follow each other in `corners`, as triangles (t, 3)."""
    sizes = sizes.astype(np.int64)
    first = np.cumsum(sizes, dtype=np.int64) - sizes
    counts = np.maximum(sizes - 2, 0)
    start = np.repeat(first, counts)
    step = np.arange(int(counts.sum()), dtype=np.int64) - np.repeat(np.cumsum(counts, dtype=np.int64) - counts, counts)
    return corners[np.stack([start, start + step + 1, start + step + 2], axis=1)]


def _corner(word: str, count: int) -> int:
    """Returns the vertex number of "7", "7/1" or "7/1/3"; negative ones count from the last vertex back."""
    number = int(word.split("/", 1)[0])
    if number == 0:
        raise ValueError("a face asks for vertex 0; the first is 1")
    if abs(number) > MAX_INDEX:
        raise ValueError(f"a face asks for vertex {word[:20]}")
    return number - 1 if number > 0 else count + number
