# SPDX-License-Identifier: GPL-3.0-or-later
"""The PC2 files of a cache against its head and against their own sizes: what one of them counts may not be there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from . import layout
from .metadata import CachedBody, CacheMetadata
from .pc2 import Pc2Header, complete_sample_count, read_header


def complete_samples(folder: Path, head: CacheMetadata, body: CachedBody) -> int:
    """Returns how many samples of a body its PC2 file counts and holds; 0 where its head is missing or damaged."""
    path = layout.play_path(folder, body.key)
    try:
        return complete_sample_count(path) if _matches(read_header(path), head, body) else 0
    except (OSError, ValueError):
        return 0


def pc2_problems(folder: Path, head: CacheMetadata) -> list[str]:
    """Returns what is wrong with the PC2 files of a cache with frames; empty when nothing is."""
    if not layout.numbers_in(folder / layout.FRAME_FOLDER):
        return []  # they come before the first frame
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
    """Whether a PC2 file is there that the writer of a cache with this head cannot have written."""
    for body in head.bodies:
        try:
            found = read_header(layout.play_path(folder, body.key))
        except (OSError, ValueError):
            continue
        if not _matches(found, head, body):
            return True
    return False


def _matches(found: Pc2Header, head: CacheMetadata, body: CachedBody) -> bool:
    """Whether a PC2 head is the one that the writer of this cache gives this body's file."""
    start, rate = float(np.float32(head.frame_start)), float(np.float32(1.0 / head.samples_per_frame))
    is_same_time = math.isclose(found.start, start) and math.isclose(found.rate, rate)
    return found.vertices == body.vertices and is_same_time
