# SPDX-License-Identifier: GPL-3.0-or-later
"""From a new file to a first jelly that plays, as someone does who never saw Sinew: at most four clicks and 60 s."""

from __future__ import annotations

import time

import bpy
from desktop import Steps, clicks, mouse, picture, result
from ui_driver import lowest_and_height, press, status, view, wait_for

MAX_CLICKS, MAX_SECONDS = 4, 60.0
SPLASH_CLICKS = 1  # scenarios.py turns the splash off, which a first start shows
TAB_FROM_RIGHT, TAB_FROM_TOP = 14, 322  # the tab Sinew, below the four of a new file [pixels]


def first_jelly() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    before, start = clicks(), time.monotonic()
    yield from _open_tab()
    yield from picture("01-the-tab-of-a-new-file")
    yield from press("bpy.ops.sinew.simulate_selected")
    pressed = time.monotonic()
    yield from wait_for("the first frame", lambda: (status().frame or 0) >= 2, MAX_SECONDS)
    result["first_jelly_seconds_to_first_frame"] = round(time.monotonic() - pressed, 2)
    yield from wait_for("the end", lambda: status().phase == "baked", MAX_SECONDS)
    result["first_jelly_seconds_to_bake"] = round(time.monotonic() - pressed, 2)
    mouse("key", "space")
    yield from wait_for("the playback", lambda: bpy.context.screen.is_animation_playing, 10)
    yield from wait_for("its start", lambda: bpy.context.scene.frame_current < bpy.context.scene.frame_end, 10)
    result["first_jelly_seconds"] = round(time.monotonic() - start, 2)
    result["first_jelly_clicks"] = clicks() - before + SPLASH_CLICKS
    yield from picture("02-the-first-jelly-plays")
    mouse("key", "space")
    yield from wait_for("the stop", lambda: not bpy.context.screen.is_animation_playing, 10)
    _check_motion()
    yield from picture("03-the-first-jelly-at-its-flattest")
    assert result["first_jelly_clicks"] <= MAX_CLICKS and result["first_jelly_seconds"] <= MAX_SECONDS, result
    bpy.ops.wm.read_homefile()
    yield 1.5


def _open_tab() -> Steps:
    """Opens the sidebar with N, and its tab with a click."""
    window, area, region = view()
    mouse("mousemove", area.x + 200, window.height - (area.y + 200))
    yield 0.5
    mouse("key", "n")
    yield from wait_for("the sidebar", lambda: area.spaces.active.show_region_ui, 10)
    yield 1.0
    mouse("mousemove", region.x + region.width - TAB_FROM_RIGHT, TAB_FROM_TOP)
    yield 0.5
    mouse("click", 1)
    yield from wait_for("the tab", lambda: region.active_panel_category == "Sinew", 10)
    yield 1.0


def _check_motion() -> None:
    """Checks that the cube falls, lands on its ground, is seen to be soft, and stands again; shows it flattest."""
    scene, summary = bpy.context.scene, status().convergence
    assert not summary.not_converged and summary.contacts, summary
    shapes = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        shapes[frame] = lowest_and_height()
    first, (last_low, last_height) = shapes[scene.frame_start], shapes[scene.frame_end]
    ground = bpy.data.objects["Ground"].location.z
    assert min(low for low, _ in shapes.values()) > ground - 0.01 * first[1], "it sank into the ground"
    assert abs(last_low - ground) < 0.01 * first[1], "it did not come to rest on the ground"
    flattest = min(shapes, key=lambda frame: shapes[frame][1])
    assert 0.5 * first[1] < shapes[flattest][1] < 0.95 * first[1], "it does not look like jelly"
    assert last_height > 0.9 * first[1], "it collapsed"
    scene.frame_set(flattest)
