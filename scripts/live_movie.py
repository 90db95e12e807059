# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/images/playground.webp, the movie of a live run, from pictures of a real window.

ONLY=playground_by_mouse SINEW_MOVIE=1 make test-window && .venv/bin/python scripts/live_movie.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SHOTS = ROOT / "build" / "window"
PICTURES_PER_SECOND = 20
WIDTH = 480


def main() -> None:
    """Cuts the 3D view out of each picture, makes it smaller, and puts all into one movie."""
    sys.path.insert(0, str(ROOT / "demo_blends"))
    import pictures

    box = json.loads((SHOTS / "result.json").read_text(encoding="utf-8"))["movie_box"]
    folder = SHOTS / "movie"
    folder.mkdir(exist_ok=True)
    shots = sorted(SHOTS.glob("movie-*.png"))
    ranges = [tuple(map(int, word.split("-"))) for word in sys.argv[1:]] or [(0, len(shots) - 1)]
    chosen = [shots[number] for first, last in ranges for number in range(first, last + 1)]
    frames = [_cut_out(path, box, folder / path.name) for path in chosen]
    pictures.write_animation(frames, ROOT / "docs" / "images" / "playground.webp", PICTURES_PER_SECOND)


def _cut_out(path: Path, box: list[int], out: Path) -> Path:
    """Writes what is in a box [pixels from the top left: x, y, width, height] of a picture, `WIDTH` wide."""
    source = bpy.data.images.load(str(path))
    wide, high = source.size
    values = np.empty(wide * high * 4, np.float32)
    source.pixels.foreach_get(values)
    x, y, width, height = box
    rows = values.reshape(high, wide, 4)[high - y - height : high - y, x : x + width]  # Blender's rows go upwards
    image = bpy.data.images.new("Cut", width, height)
    image.pixels.foreach_set(np.ascontiguousarray(rows).ravel())
    image.scale(WIDTH, round(WIDTH * height / width))
    image.filepath_raw, image.file_format = str(out), "PNG"
    image.save()
    bpy.data.images.remove(source)
    bpy.data.images.remove(image)
    return out


if __name__ == "__main__":
    main()
