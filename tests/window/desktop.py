# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and eyes in a real Blender with a window: the mouse, the keyboard and pictures. Needs no Sinew.

Steps are generator yields: each yields the seconds to wait before the next one.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import traceback
from collections.abc import Iterator

import bpy

OUT = pathlib.Path(os.environ["OUT"])
Steps = Iterator[float]

result: dict[str, object] = {}
WHEEL_DELAY = "4"  # between its clicks [ms]

_clicks = 0  # of the mouse, so far


def told(parts: Steps) -> Steps:
    """Takes the steps of a test, writes what it found into result.json, and then the file "done"."""
    try:
        yield from parts
        result["passed"] = True
    except Exception as problem:
        traceback.print_exc()
        result["passed"], result["problem"] = False, f"{type(problem).__name__}: {problem}"
        yield from picture("problem")
    write_result()
    (OUT / "done").touch()


def write_result() -> None:
    """Writes what was found so far: a run that is killed tells how far it came."""
    (OUT / "result.json").write_text(json.dumps(result, indent=1))


def clicks() -> int:
    """Returns how often a button of the mouse was pressed or its wheel turned, so far."""
    return _clicks


def mouse(*words: str | int) -> None:
    """Moves or presses the mouse, or a key, as xdotool does."""
    global _clicks
    _clicks += words[0] in {"click", "mousedown"}
    subprocess.run(["xdotool", *map(str, words)], check=True)


def wheel(clicks: int) -> None:
    """Turns the mouse wheel down, or up where `clicks` is negative."""
    global _clicks
    _clicks += abs(clicks)
    button = "5" if clicks > 0 else "4"
    subprocess.run(["xdotool", "click", "--repeat", str(abs(clicks)), "--delay", WHEEL_DELAY, button], check=True)


def click_at(x: int, y: int) -> Steps:
    """Moves the mouse there [pixels from the top left of the screen], as a hand would, and clicks."""
    mouse("mousemove", x - 2, y - 2)
    yield 0.3
    mouse("mousemove", x, y)
    yield 0.3
    mouse("click", 1)
    yield 0.7


def picture(name: str) -> Steps:
    """Saves the screen as NAME.png, by ImageMagick: Blender's own operator gives black pictures without a screen."""
    for area in bpy.context.window_manager.windows[0].screen.areas:
        area.tag_redraw()
    yield 0.5
    taking = subprocess.Popen(["import", "-window", "root", "-quality", "10", str(OUT / f"{name}.png")])
    while taking.poll() is None:
        yield 0.05
    assert taking.returncode == 0, f"no picture {name}"
