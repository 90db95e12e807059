# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of checkpoints, `resume/points.json`, which reveals a lost one, and which of them stay.

The list is written after a new point and before old ones are deleted: after a crash, points may be missing from the
list, but every listed point exists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ...runtime.atomic_files import write_atomic
from ...runtime.checksums import CHECKSUM_KEY, tree_with_checksum, tree_without_checksum
from .layout import RESUME_LIST

MAX_REGULAR_CHECKPOINTS = 3  # regular ones, in addition to the newest


def checkpoints_to_keep(frames: Iterable[int], frame_start: int, newest: int, interval: int) -> list[int]:
    """Returns the checkpoints of `frames` that stay after the newest one was written.

    Args:
        frames: Rising.
        frame_start: The first frame, which is regular.
        newest: The newest frame.
        interval: Frames between regular points.
    """
    regular = [frame for frame in frames if (frame - frame_start) % interval == 0 and frame <= newest]
    return sorted({*regular[-MAX_REGULAR_CHECKPOINTS:], newest})


def write_list(cache: Path, frames: Iterable[int]) -> None:
    """Writes the list of checkpoints."""
    write_atomic(cache / RESUME_LIST, json.dumps(tree_with_checksum({"frames": list(frames)})).encode())


def read_list(cache: Path) -> list[int] | None:
    """Returns the listed checkpoints, or None without a list.

    Raises:
        ValueError: The list is damaged.
        OSError: The list cannot be read.
    """
    try:
        stored = json.loads((cache / RESUME_LIST).read_bytes())
        tree = tree_without_checksum(stored)
        if CHECKSUM_KEY not in stored:  # all versions that write a list write one
            raise ValueError("it lacks its checksum")
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
