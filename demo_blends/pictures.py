# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the open file without a graphics card: one picture per frame, a sheet of some of them, and movies."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np

SIZE = (480, 270)
SAMPLES = 5
# of animated pictures: the best quality, 0 to 100, at which they are small enough for a page
MAX_ANIMATION_BYTES = 1_000_000
QUALITIES = (90, 80, 70, 60, 50, 40)


def render_frames(folder: Path, every: int = 1) -> Iterator[Path]:
    """Renders the scene with Cycles on the processor, with `every` = 2 only every second frame; yields each picture
    when it is there.
    """
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES
    scene.cycles.use_denoising = True
    scene.cycles.denoising_quality = "FAST"  # looks the same at this size, and takes 0.6 of the time of a frame
    scene.cycles.max_bounces = 3
    scene.render.use_persistent_data = True
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    folder.mkdir(parents=True, exist_ok=True)
    for frame in range(scene.frame_start, scene.frame_end + 1, every):
        scene.frame_set(frame)
        path = folder / f"{frame:04d}.png"
        scene.render.filepath = str(path)
        with quiet():
            bpy.ops.render.render(write_still=True)
        yield path


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps what Blender prints about every frame away from standard output."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def write_sheet(frames: list[Path], out: Path, columns: int = 3) -> None:
    """Writes pictures of one size side by side, `columns` in a row, as one PNG."""
    pictures = [_pixels(path) for path in frames]
    rows = [np.concatenate(pictures[i : i + columns], axis=1) for i in range(0, len(pictures), columns)]
    sheet = np.concatenate(rows[::-1], axis=0)  # Blender's rows go upwards
    image = bpy.data.images.new("Sheet", sheet.shape[1], sheet.shape[0])
    image.pixels.foreach_set(np.ascontiguousarray(sheet, np.float32).ravel())
    image.filepath_raw, image.file_format = str(out), "PNG"
    image.save()
    bpy.data.images.remove(image)


def _pixels(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    values = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(values)
    size = (image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return values.reshape(size)


def write_movie(frames: list[Path], out: Path, fps: int) -> None:
    """Writes the pictures as an H.264 movie with Blender's own encoder, in a scene that goes away again."""
    scene = bpy.data.scenes.new("Movie")
    strip = scene.sequence_editor_create().strips.new_image("Frames", str(frames[0]), 1, 1)
    for path in frames[1:]:
        strip.elements.append(path.name)
    scene.frame_start, scene.frame_end = 1, len(frames)
    scene.render.fps = fps
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.media_type = "VIDEO"
    scene.render.image_settings.file_format = "FFMPEG"
    scene.render.ffmpeg.format, scene.render.ffmpeg.codec = "MPEG4", "H264"
    scene.render.ffmpeg.constant_rate_factor = "HIGH"
    scene.render.filepath = str(out)
    with quiet():
        bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)


def write_animation(frames: list[Path], out: Path, fps: int) -> None:
    """Writes the pictures as an animated WebP that repeats, for pages that show no movies.

    Raises:
        ValueError: It has more than MAX_ANIMATION_BYTES at every quality.
    """
    from PIL import Image

    pictures = [Image.open(path).convert("RGB") for path in frames]
    for quality in QUALITIES:
        options = {"quality": quality, "method": 6, "duration": round(1000 / fps), "loop": 0}
        pictures[0].save(out, save_all=True, append_images=pictures[1:], **options)
        if out.stat().st_size <= MAX_ANIMATION_BYTES:
            return
    raise ValueError(f"{out} has {out.stat().st_size} bytes at the least quality: render it smaller or shorter")
