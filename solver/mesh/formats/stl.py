# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads STL, binary and text, and joins the corners that lie in one place: the format itself knows no vertices."""

from __future__ import annotations

import re

import numpy as np

from ...runtime.arrays import Floats, Indices

HEADER_BYTES = 80
COUNT_BYTES = 4
TRIANGLE_DTYPE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
_VERTEX = re.compile(rb"^[ \t]*vertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_FACET = re.compile(rb"^[ \t]*facet\b", re.IGNORECASE | re.MULTILINE)
_END = re.compile(rb"^[ \t]*endsolid\b", re.IGNORECASE | re.MULTILINE)


def read_stl(data: bytes) -> tuple[Floats, Indices]:
    """Returns positions, (n, 3), no two of them equal, and triangles, (t, 3).

    Raises:
        ValueError: The file is cut off, or is no STL.
    """
    corners = _text_corners(data) if _is_text(data) else _binary_corners(data)
    positions, numbers = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)  # -0.0 is 0.0, too
    return positions, numbers.reshape(-1, 3).astype(np.int32)


def _is_text(data: bytes) -> bool:
    """Whether a file is text; some binary ones begin with "solid", too, but are as long as their count says."""
    count = int.from_bytes(data[HEADER_BYTES : HEADER_BYTES + COUNT_BYTES], "little")
    is_binary = len(data) == HEADER_BYTES + COUNT_BYTES + count * TRIANGLE_DTYPE.itemsize
    return data.lstrip()[:5].lower() == b"solid" and not is_binary and b"\0" not in data[:1000]


def _binary_corners(data: bytes) -> Floats:
    if len(data) < HEADER_BYTES + COUNT_BYTES:
        raise ValueError("it is shorter than the head of an STL file")
    count = int.from_bytes(data[HEADER_BYTES : HEADER_BYTES + COUNT_BYTES], "little")
    there = (len(data) - HEADER_BYTES - COUNT_BYTES) // TRIANGLE_DTYPE.itemsize
    if there < count:
        raise ValueError(f"it is cut off: its head says {count:,} triangles, and {there:,} are there")
    found = np.frombuffer(data, TRIANGLE_DTYPE, count, HEADER_BYTES + COUNT_BYTES)
    return found["corners"].astype(np.float64)


def _text_corners(data: bytes) -> Floats:
    if not _END.search(data):
        raise ValueError("it is cut off: it has no endsolid")
    numbers = [float(word) for match in _VERTEX.finditer(data) for word in match.groups()]
    facets = sum(1 for _ in _FACET.finditer(data))
    if len(numbers) != 9 * facets:
        raise ValueError(f"its {facets:,} facets have {len(numbers) // 3:,} vertices instead of three each")
    return np.array(numbers, np.float64).reshape(-1, 3, 3)
