# SPDX-License-Identifier: GPL-3.0-or-later
"""Which resume points a bake keeps, and the list of them, `resume/points.json`, by which a lost one is found.

The list is written after a new point and before old ones go: a crash leaves points that it does not name, never names
without a point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ...runtime.atomic_files import write_atomic
from ...runtime.checksums import tree_with_checksum, tree_without_checksum
from .layout import RESUME_LIST

MAX_REGULAR_CHECKPOINTS = 3  # regular ones; with the newest, all that a cache has


def checkpoints_to_keep(frames: Iterable[int], frame_start: int, newest: int, interval: int) -> list[int]:
    """Returns which of the resume points at `frames` stay when the newest one is written.

    Args:
        frames: Rising.
        frame_start: The first frame, which is regular.
        newest: The frame that was written last.
        interval: Frames from one regular point to the next.
    """
    regular = [frame for frame in frames if (frame - frame_start) % interval == 0 and frame <= newest]
    return sorted({*regular[-MAX_REGULAR_CHECKPOINTS:], newest})


def write_list(cache: Path, frames: Iterable[int]) -> None:
    """Writes which resume points there are."""
    write_atomic(cache / RESUME_LIST, json.dumps(tree_with_checksum({"frames": list(frames)})).encode())


def read_list(cache: Path) -> list[int] | None:
    """Returns which resume points there have to be; None without a list.

    Raises:
        ValueError: It is damaged.
        OSError: It cannot be read.
    """
    try:
        tree = tree_without_checksum(json.loads((cache / RESUME_LIST).read_bytes()))
        return [int(frame) for frame in tree["frames"]]
    except FileNotFoundError:
        return None
    except (KeyError, TypeError) as problem:
        raise ValueError(f"it lacks {problem}") from problem


def is_list_intact(cache: Path) -> bool:
    """Whether the list can be read."""
    try:
        return read_list(cache) is not None
    except (OSError, ValueError):
        return False
