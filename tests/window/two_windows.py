# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Blenders live at once, each with a window: each hand moves its own body; one is closed by Ctrl Q and a dialog."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import time
from collections.abc import Generator
from typing import Any

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.live import grabs
from desktop import OUT, Steps, click_at, mouse, picture, result
from live_hand import MOST_SECONDS, choose_tool, escape, front_view, hold_at, jelly_cube, screen, vertices
from ui_driver import wait_for

HALF_WIDTH, HEIGHT = 640, 800
PULL_PIXELS = 120
STILL, LIFTED = 0.05, 0.4  # how far the middle of a body may move, and has to where it is pulled
# where the buttons of Blender's dialog are: in its width, and above its lower side [pixels]
DONT_SAVE_SHARE, CANCEL_SHARE, BUTTONS_ABOVE = 0.27, 0.60, 26
MIN_CHANGE, MIN_CHANGED_SHARE = 0.1, 0.1  # of a colour; of the pixels of a row or column that has the dialog


def two_windows() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    jelly_cube(cuts=8)
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -1.0))
    bpy.ops.sinew.make_collider()
    for each in subprocess.check_output(["xdotool", "search", "--class", "blender"], text=True).split():
        mouse("windowsize", each, HALF_WIDTH, HEIGHT)
    yield 2.0
    front_view((0.0, 0.0, 0.5), 12.0)
    choose_tool("sinew.grab_tool")
    shared_before = _shared()
    other = _start_other()
    try:
        yield from wait_for("the other Blender", lambda: _report() is not None, MOST_SECONDS)
        yield 2.0
        yield from _both_live()
        yield from _pull_each()
        yield from _close_other(other)
        assert _shared() == shared_before, _shared()
    finally:
        if other.poll() is None:
            other.kill()
    yield from picture("83-live-goes-on-alone")
    yield from escape()


def _start_other() -> subprocess.Popen[bytes]:
    script = str(pathlib.Path(__file__).with_name("other_window.py"))
    place = ["--window-geometry", str(HALF_WIDTH), "0", str(HALF_WIDTH), str(HEIGHT)]
    with open(OUT / "other.log", "wb") as log:
        command = [bpy.app.binary_path, *place, "--gpu-backend", "opengl", "--python", script]
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def _report() -> dict[str, Any] | None:
    """Returns what the other Blender has said last."""
    path = OUT / "other.json"
    return json.loads(path.read_text()) if path.exists() else None


def _other_step() -> int:
    return (_report() or {}).get("step", -1)


def _shared() -> set[str]:
    return set(os.listdir("/dev/shm"))


def _both_live() -> Steps:
    """Starts both by the key, the mouse over their viewports, and waits until both bodies lie."""
    for x in (HALF_WIDTH // 3, HALF_WIDTH + HALF_WIDTH // 3):
        mouse("mousemove", x - 3, HEIGHT // 4)
        yield 0.3
        mouse("mousemove", x, HEIGHT // 4)
        yield 0.5
        mouse("key", "alt+j")
        yield 0.5
    yield from wait_for("both", lambda: session.live is not None and session.live.step > 90, MOST_SECONDS)
    yield from wait_for("both", lambda: _other_step() > 90, MOST_SECONDS)
    assert _report()["folder"] != str(session.live.folder)
    yield from picture("80-two-live")


def _pull_each() -> Steps:
    """Pulls one body up while the other lies, each in turn."""
    own, run = vertices()[:, 2].mean(), session.live
    before = _report()
    yield from _pull(*screen(vertices().mean(axis=0)))
    yield from wait_for("a lift", lambda: vertices()[:, 2].mean() > own + LIFTED, 30)
    assert len(run.grabs) == 1 and _report()["grabs"] == 0
    yield from wait_for("more steps of the other", lambda: _other_step() > before["step"] + 20, MOST_SECONDS)
    result["two_windows_other_moved"] = abs(_report()["height"] - before["height"])
    assert abs(_report()["height"] - before["height"]) < STILL, (before, _report())
    yield from picture("81-left-pulled")
    mouse("keydown", "shift")  # it stays as a pin
    yield 1.0
    mouse("mouseup", 1)
    yield from wait_for("a pin", lambda: any(each.is_pin for each in run.grabs.values()), 10)
    mouse("keyup", "shift")
    yield from _until_it_rests()
    step, before = run.step, _report()
    yield from _pull(*before["middle"])
    yield from wait_for("a lift", lambda: _report()["height"] > before["height"] + LIFTED, 30)
    assert _report()["grabs"] == 1 and len(run.grabs) == 1
    yield from wait_for("more steps", lambda: run.step > step + 20, MOST_SECONDS)
    hung = next(iter(run.grabs.values()))
    assert np.linalg.norm(grabs.grabbed_point(run, hung) - hung.hand) < LIFTED, "it hangs where it was"
    yield from picture("81-right-pulled")
    assert not run.note and not _report()["note"], (run.note, _report())


def _until_it_rests() -> Steps:
    """Waits until the own body has come to rest where it hangs."""
    end = time.monotonic() + MOST_SECONDS
    before = np.inf
    while abs(vertices()[:, 2].mean() - before) > 0.5 * STILL:
        assert time.monotonic() < end, "it does not come to rest"
        before = vertices()[:, 2].mean()
        yield 1.0


def _pull(x: int, y: int) -> Steps:
    yield from hold_at(x, y)
    yield 0.5
    for step in range(1, 21):
        mouse("mousemove", x, y - PULL_PIXELS * step // 20)
        yield 0.05


def _close_other(other: subprocess.Popen[bytes]) -> Steps:
    """Presses Ctrl Q in the other window while it is live, takes it back, and does it again, without saving."""
    mouse("mouseup", 1)
    yield 1.0
    last = _report()
    assert last["dirty"] and pathlib.Path(last["folder"]).is_dir()
    box = yield from _ask_to_quit("82-save-changes")
    yield from click_at(*_button(box, CANCEL_SHARE))
    yield from wait_for("it to go on", lambda: _other_step() > last["step"] + 30, MOST_SECONDS)
    assert other.poll() is None and _report()["live"]
    box = yield from _ask_to_quit("82-save-changes-again")
    run, step = session.live, session.live.step
    yield from click_at(*_button(box, DONT_SAVE_SHARE))
    yield from wait_for("its end", lambda: other.poll() is not None, 30)
    assert other.returncode == 0, other.returncode
    assert not pathlib.Path(last["tempdir"]).exists() and not pathlib.Path(last["folder"]).exists()
    assert not pathlib.Path(f"/proc/{last['child']}").exists(), "no process is left"
    yield from wait_for("more steps of this one", lambda: run.step > step + 30, MOST_SECONDS)
    assert session.live is run and run.folder.is_dir()


def _ask_to_quit(name: str) -> Generator[float, None, tuple[int, int, int, int]]:
    """Presses Ctrl Q over the other window; returns where its dialog is: left, upper, right and lower side [pixels]."""
    mouse("mousemove", HALF_WIDTH + HALF_WIDTH // 3 - 3, HEIGHT // 4)
    yield 0.3
    mouse("mousemove", HALF_WIDTH + HALF_WIDTH // 3, HEIGHT // 4)
    yield 0.3
    yield from picture(f"{name}-before")
    mouse("key", "ctrl+q")
    yield 1.5
    yield from picture(name)
    yield 1.0
    before, after = (_pixels(OUT / f"{each}.png") for each in (f"{name}-before", name))
    changed = np.abs(after - before).max(axis=2)[:, HALF_WIDTH:] > MIN_CHANGE
    rows = _first_run(np.flatnonzero(changed.mean(axis=1) > MIN_CHANGED_SHARE))  # the status bar changes too
    columns = np.flatnonzero(changed[rows].mean(axis=0) > MIN_CHANGED_SHARE)
    assert len(rows) and len(columns), "no dialog is seen"
    left, right = HALF_WIDTH + int(columns[0]), HALF_WIDTH + int(columns[-1])
    return left, int(rows[0]), right, int(rows[-1])


def _first_run(rows: np.ndarray) -> np.ndarray:
    """Returns the first of rising numbers as far as they follow each other without a gap."""
    gaps = np.flatnonzero(np.diff(rows) > 1)
    return rows[: gaps[0] + 1] if len(gaps) else rows


def _button(box: tuple[int, int, int, int], share: float) -> tuple[int, int]:
    left, _, right, lower = box
    return round(left + share * (right - left)), lower - BUTTONS_ABOVE


def _pixels(path: pathlib.Path) -> np.ndarray:
    """Returns the colours of a picture, the upper row first, (height, width, 4)."""
    image = bpy.data.images.load(str(path))
    found = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(found)
    width, height = image.size
    bpy.data.images.remove(image)
    return found.reshape(height, width, 4)[::-1]
