# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads all files of a cache and reports which are unreadable, missing or inconsistent with each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ...runtime.errors import StorageFailed
from . import layout
from .pc2 import read_header, read_samples

if TYPE_CHECKING:
    from .reader import CacheReader


def problems(reader: CacheReader) -> list[str]:
    """Returns the problems of a cache as sentences."""
    return [*reader.play_problems(), *_missing_frames(reader), *_wrong_frames(reader), *_wrong_results(reader)]


def _missing_frames(reader: CacheReader) -> list[str]:
    """Returns a sentence for every gap before the last frame, and for frames that a PC2 file lacks."""
    there, last = reader.frames(), reader.last_frame()
    wrong = [_gap_text(*gap) for gap in missing_ranges(there, reader.metadata.frame_start)]
    # a crash leaves at most one incomplete frame
    uncounted = [frame for frame in there if last is None or frame > last]
    if len(uncounted) > 1 and not is_dropping_frames(reader):
        wrong.append(f"play/ lacks samples of the frames {uncounted[0]} to {uncounted[-1]}")
    return wrong


def is_dropping_frames(reader: CacheReader) -> bool:
    """Whether a writer is dropping frames, or was killed while it did; their remains are no damage."""
    return (reader.folder / layout.RESUME_MARK).exists()


def missing_ranges(frames: list[int], first: int) -> list[tuple[int, int]]:
    """Returns the ranges of missing frames from `first` to the last of the rising `frames`."""
    before = [first - 1, *frames]
    return [(a + 1, b - 1) for a, b in itertools.pairwise(before) if b > a + 1]


def _gap_text(first: int, last: int) -> str:
    return f"frame {first} is missing" if first == last else f"frames {first} to {last} are missing"


def _wrong_frames(reader: CacheReader) -> list[str]:
    wrong, last = [], reader.last_frame()
    for frame in reader.frames():
        if last is None or frame > last:
            continue
        try:
            topology = reader.read_frame(frame).topology
            if topology:
                reader.read_topology(topology)
        except StorageFailed as problem:
            wrong.append(f"frame {frame}: {problem.details['problem']}")
    return wrong


def _wrong_results(reader: CacheReader) -> list[str]:
    wrong = []
    for body in reader.metadata.bodies:
        path, motion = layout.result_paths(reader.folder, body.key)
        if not path.exists():
            continue
        try:
            made, head = reader.read_arrays(path), read_header(motion)
            required = (len(made["rest"]), reader.metadata.sample_count(int(made["last_frame"])))
            if (head.vertices, head.samples) != required:
                wrong.append(f"{motion.name} has {head.samples} samples of {head.vertices} vertices")
            read_samples(motion, head.samples - 1, 1)
        except (OSError, ValueError, KeyError, StorageFailed) as problem:
            wrong.append(f"result of {body.key}: {problem}")
    return wrong
