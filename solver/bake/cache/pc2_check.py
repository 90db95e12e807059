# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the headers and sizes of the PC2 files of a cache against its metadata."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from . import layout
from .metadata import CachedBody, CacheMetadata
from .pc2 import Pc2Header, complete_sample_count, read_header


def complete_samples(folder: Path, head: CacheMetadata, body: CachedBody) -> int:
    """Returns the number of samples that a body's PC2 header counts and its file contains; 0 for a damaged header."""
    path = layout.play_path(folder, body.key)
    try:
        return complete_sample_count(path) if _matches(read_header(path), head, body) else 0
    except (OSError, ValueError):
        return 0


def pc2_problems(folder: Path, head: CacheMetadata) -> list[str]:
    """Returns the problems of the PC2 files of a cache with frames."""
    if not layout.numbers_in(folder / layout.FRAME_FOLDER):
        return []  # they are written before the first frame
    wrong = []
    for body in head.bodies:
        path, name = layout.play_path(folder, body.key), layout.relative_play_path(body.key)
        try:
            found, whole = read_header(path), complete_sample_count(path)
        except FileNotFoundError:
            wrong.append(f"{name} is missing")
        except (OSError, ValueError) as problem:
            wrong.append(f"{name}: {problem}")
        else:
            if found.vertices != body.vertices:
                wrong.append(f"{name} has {found.vertices} vertices instead of {body.vertices}")
            elif not _matches(found, head, body):
                wrong.append(f"{name} has another first frame or other samples per frame than cache.json")
            elif whole < found.samples:
                wrong.append(f"{name} counts {found.samples} samples and holds {whole}")
    return wrong


def has_other_layout(folder: Path, head: CacheMetadata) -> bool:
    """Whether a PC2 file exists that belongs to a cache with other metadata."""
    for body in head.bodies:
        try:
            found = read_header(layout.play_path(folder, body.key))
        except (OSError, ValueError):
            continue
        if not _matches(found, head, body):
            return True
    return False


def _matches(found: Pc2Header, head: CacheMetadata, body: CachedBody) -> bool:
    """Whether a PC2 header is the right one for this body."""
    start, rate = float(np.float32(head.frame_start)), float(np.float32(1.0 / head.samples_per_frame))
    is_same_time = math.isclose(found.start, start) and math.isclose(found.rate, rate)
    return found.vertices == body.vertices and is_same_time
