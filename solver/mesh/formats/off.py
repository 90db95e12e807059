# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads OFF: positions and faces, one to a line; colours, normals and comments are passed over."""

from __future__ import annotations

import re

import numpy as np

from ...runtime.arrays import Floats
from .obj import fan_triangles

_HEADER = re.compile(r"(ST)?C?N?OFF\b", re.IGNORECASE)


def read_off(text: str) -> tuple[Floats, np.ndarray]:
    """Returns positions, (n, 3), and triangles, (t, 3); polygons are cut into fans.

    Raises:
        ValueError: It is no OFF, or has fewer rows than it announces.
    """
    lines = [line for line in (each.split("#")[0].strip() for each in text.splitlines()) if line]
    head = _HEADER.match(lines[0]) if lines else None
    if head is None or lines[0][head.end() :].strip().upper() == "BINARY":
        raise ValueError("it does not begin as a text file of OFF does")
    rest = lines[0][head.end() :].strip()
    lines = [rest, *lines[1:]] if rest else lines[1:]
    counts = [int(word) for word in lines[0].split()[:2]] if lines else []
    if len(counts) < 2 or min(counts) < 0:
        raise ValueError("it announces no numbers of vertices and faces")
    vertex_count, face_count = counts
    if len(lines) - 1 < vertex_count + face_count:
        raise ValueError(f"it is cut off: it announces {sum(counts):,} rows, and {len(lines) - 1:,} are there")
    positions = [[float(word) for word in line.split()[:3]] for line in lines[1 : 1 + vertex_count]]
    faces = [_face(line) for line in lines[1 + vertex_count : 1 + vertex_count + face_count]]
    corners = np.array([corner for face in faces for corner in face], np.int64)
    sizes = np.array([len(face) for face in faces], np.int64)
    return np.array(positions, np.float64).reshape(vertex_count, 3), fan_triangles(corners, sizes)


def _face(line: str) -> list[int]:
    words = line.split()
    count = int(words[0])
    if count < 0 or len(words) <= count:
        raise ValueError(f"it is cut off in a face of {count} corners")
    return [int(word) for word in words[1 : 1 + count]]
