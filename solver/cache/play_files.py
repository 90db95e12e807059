# SPDX-License-Identifier: GPL-3.0-or-later
"""The PC2 files of a cache against its head and against their own sizes: what one of them counts may not be there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..pc2 import Pc2Head, read_head, whole_samples
from . import layout
from .head import CachedBody, CacheHead


def whole_play_samples(folder: Path, head: CacheHead, body: CachedBody) -> int:
    """Returns how many samples of a body its PC2 file counts and holds; 0 where its head is missing or damaged."""
    path = layout.play_path(folder, body.key)
    try:
        return whole_samples(path) if _fits(read_head(path), head, body) else 0
    except (OSError, ValueError):
        return 0


def play_problems(folder: Path, head: CacheHead) -> list[str]:
    """Returns what is wrong with the PC2 files of a cache with frames; empty when nothing is."""
    if not layout.numbers(folder / layout.FRAME_FOLDER):
        return []  # they come before the first frame
    wrong = []
    for body in head.bodies:
        path, name = layout.play_path(folder, body.key), layout.play_name(body.key)
        try:
            found, whole = read_head(path), whole_samples(path)
        except FileNotFoundError:
            wrong.append(f"{name} is missing")
        except (OSError, ValueError) as problem:
            wrong.append(f"{name}: {problem}")
        else:
            if found.vertices != body.vertices:
                wrong.append(f"{name} has {found.vertices} vertices instead of {body.vertices}")
            elif not _fits(found, head, body):
                wrong.append(f"{name} has another first frame or other samples per frame than cache.json")
            elif whole < found.samples:
                wrong.append(f"{name} counts {found.samples} samples and holds {whole}")
    return wrong


def has_other_shape(folder: Path, head: CacheHead) -> bool:
    """Whether a PC2 file is there that the writer of a cache with this head cannot have written."""
    for body in head.bodies:
        try:
            found = read_head(layout.play_path(folder, body.key))
        except (OSError, ValueError):
            continue
        if not _fits(found, head, body):
            return True
    return False


def _fits(found: Pc2Head, head: CacheHead, body: CachedBody) -> bool:
    """Whether a PC2 head is the one that the writer of this cache gives this body's file."""
    start, rate = float(np.float32(head.frame_start)), float(np.float32(1.0 / head.samples_per_frame))
    is_same_time = math.isclose(found.start, start) and math.isclose(found.rate, rate)
    return found.vertices == body.vertices and is_same_time
