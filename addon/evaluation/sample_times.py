# SPDX-License-Identifier: GPL-3.0-or-later
"""The times at which a scene is read: rest pose first, then the pre-roll, then the bake."""

from __future__ import annotations

from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class SampleTime:
    """A frame with subframe, and its time in the bake [s], zero at the first frame."""

    frame: int
    subframe: float
    time: float


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """Returns the first and the last frame to bake."""
    own = scene.sinew
    return (scene.frame_start, scene.frame_end) if own.use_scene_range else (own.frame_start, own.frame_end)


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Returns the frame rate [1/s]."""
    return scene.render.fps / scene.render.fps_base


def rest_frame(scene: bpy.types.Scene) -> int:
    """Returns the frame of the rest pose: the first one, unless the artist chose another."""
    own = scene.sinew
    return int(own.rest_frame) if own.use_rest_frame else frame_range(scene)[0]


def preroll(scene: bpy.types.Scene) -> int:
    """Returns the number of frames between the rest pose and the first frame of the bake.

    These are the frames from an earlier rest frame to the first one, or else the Pre-Roll setting, in which bodies
    settle. A rest frame other than the first one takes at least one frame: bodies cannot be in two poses at once.
    """
    start, rest = frame_range(scene)[0], rest_frame(scene)
    return start - rest if rest < start else max(int(scene.sinew.preroll), int(rest > start))


def sample_times(scene: bpy.types.Scene) -> list[SampleTime]:
    """Returns all times to read, in rising order; the first one is the rest pose."""
    start, end = frame_range(scene)
    rest, before = rest_frame(scene), preroll(scene)
    per_frame = scene.sinew.samples_per_frame
    rate = frames_per_second(scene)
    found = [(frame, i / per_frame) for frame in range(min(rest, start), end + 1) for i in range(per_frame)]
    found = found[: len(found) - per_frame + 1]
    made = [SampleTime(frame, part, (frame + part - start) / rate) for frame, part in found]
    if rest >= start and before:
        made.insert(0, SampleTime(rest, 0.0, -before / rate))
    return made
