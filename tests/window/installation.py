# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside a real Blender with a window: installs the zip with the mouse, as someone new does, to a first jelly.

Started by run.sh, which has put the zip into the folder Downloads. Removes Sinew first, which window.sh has installed;
then opens Preferences › Get Extensions › Install from Disk, and goes on until a jelly plays. Writes pictures and
result.json, with the clicks that both took, into the folder $OUT, then the file "done".
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time

import bpy

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from desktop import Steps, click_at, clicks, picture, result, told

PACKAGE, REPOSITORY = "sinew", "user_default"
MODULE = f"bl_ext.{REPOSITORY}.{PACKAGE}"
EDIT, PREFERENCES = (75, 14), (132, 283)  # [pixels from the top left of the screen]
# no window manager moves windows onto the screen, or gives them a button that closes them
PREFERENCES_AT, FILE_VIEW_AT = (200, 100), (100, 80)
GET_EXTENSIONS, ARROW, INSTALL_FROM_DISK = (255, 294), (1056, 119), (947, 241)
DOWNLOADS, ZIP, INSTALL = (183, 260), (505, 162), (1131, 684)  # of the file view
CLOSE_CLICKS = 1
MAX_CLICKS = 4  # from the installed extension to a jelly that plays
SECONDS_TO_OPEN, SECONDS_TO_INSTALL = 10.0, 60.0


def steps() -> Steps:
    yield from _remove_sinew()
    start = time.monotonic()
    yield from _install_from_disk()
    result["installation_clicks"], result["installation_seconds"] = clicks(), round(time.monotonic() - start, 2)
    with bpy.context.temp_override(window=_window("PREFERENCES")):
        bpy.ops.wm.window_close()
    yield 1.0
    from first_jelly import first_jelly  # it imports Sinew

    yield from first_jelly()
    result["clicks_after_installation"] = CLOSE_CLICKS + int(str(result["first_jelly_clicks"]))
    assert result["clicks_after_installation"] <= MAX_CLICKS, result


def _remove_sinew() -> Steps:
    modules = [each.module for each in bpy.context.preferences.extensions.repos]
    bpy.ops.extensions.package_uninstall(repo_index=modules.index(REPOSITORY), pkg_id=PACKAGE)
    yield 2.0
    assert MODULE not in bpy.context.preferences.addons and not hasattr(bpy.types.Object, PACKAGE)


def _install_from_disk() -> Steps:
    yield from click_at(*EDIT)
    yield from click_at(*PREFERENCES)
    yield from _place("PREFERENCES", "Preferences", PREFERENCES_AT)
    yield from click_at(*GET_EXTENSIONS)
    yield from click_at(*ARROW)
    yield from picture("80-get-extensions")
    yield from click_at(*INSTALL_FROM_DISK)
    yield from _place("FILE_BROWSER", "File View", FILE_VIEW_AT)
    yield from click_at(*DOWNLOADS)
    yield from click_at(*ZIP)
    yield from picture("81-the-zip-in-the-file-view")
    yield from click_at(*INSTALL)
    end = time.monotonic() + SECONDS_TO_INSTALL
    while MODULE not in bpy.context.preferences.addons:
        assert time.monotonic() < end, "Sinew was not installed"
        yield 0.2
    yield 1.0
    yield from picture("82-installed")


def _window(area_type: str) -> bpy.types.Window | None:
    windows = bpy.context.window_manager.windows
    return next((window for window in windows if window.screen.areas[0].type == area_type), None)


def _place(area_type: str, title: str, place: tuple[int, int]) -> Steps:
    """Waits for a window, and moves it to a place on the screen, as a window manager would."""
    end = time.monotonic() + SECONDS_TO_OPEN
    while _window(area_type) is None:
        assert time.monotonic() < end, f"no window {title}"
        yield 0.2
    yield 1.0
    move = ["xdotool", "search", "--onlyvisible", "--name", title, "windowmove", *map(str, place)]
    subprocess.run(move, check=True)
    yield 1.0


bpy.context.preferences.view.show_splash = False
running = told(steps())
bpy.app.timers.register(lambda: next(running, None), first_interval=1.5, persistent=True)
