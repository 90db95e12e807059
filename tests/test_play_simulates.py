# SPDX-License-Identifier: GPL-3.0-or-later
"""Play Simulates in Blender without a window: its handlers are called as its player calls them."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import overridden_box
from fixtures.live_in_blender import jelly, shown
from sinew.addon.baking import bake_control, bake_status, play_simulates
from sinew.addon.baking.addon_session import RunningBake, session
from sinew.addon.baking.bake_status import Status

SECONDS, LAST = 60.0, 6
LONG = 5000  # frames: more than are baked before a busy machine looks again


@pytest.fixture(autouse=True)
def ended():
    """No child outlives its test."""
    yield
    session.close()
    session.played_scene = None


def falling(tmp_path: Path) -> bpy.types.Object:
    box = jelly()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.sinew.play_simulates = True
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    return box


def play() -> RunningBake | None:
    """Presses Play, and returns what it has begun."""
    for handler in bpy.app.handlers.animation_playback_pre:
        handler(bpy.context.scene, None)
    assert not play_simulates.start_due()
    return session.bake


def stop() -> None:
    for handler in bpy.app.handlers.animation_playback_post:
        handler(bpy.context.scene, None)


def until(what: Callable[[], object]) -> None:
    """Lets the timer of bakes beat until something holds."""
    end = clock.monotonic() + SECONDS
    while not what():
        bake_control.poll()
        assert clock.monotonic() < end, "it has not come to that"
        clock.sleep(0.002)


@pytest.mark.slow
def test_play_bakes_and_the_playhead_waits_for_the_frames(tmp_path: Path) -> None:
    box, scene = falling(tmp_path), bpy.context.scene
    before = shown(box)
    bake = play()
    assert bake is not None and bake.is_played
    scene.frame_set(LAST)
    assert scene.frame_current == 1, "no frame is baked: it plays from the first"
    seen: dict[int, float] = {}
    while session.bake is not None:
        bake_control.poll()
        scene.frame_set(LAST)  # what a player that is too fast does
        newest = bake.driver.job.frame or 1
        assert scene.frame_current <= newest
        seen[scene.frame_current] = shown(box)[:, 2].mean()
        clock.sleep(0.002)
    scene.frame_set(LAST)
    assert scene.frame_current == LAST, "nothing holds the playhead any more"
    heights = [shown_at(box, frame) for frame in range(1, LAST + 1)]
    assert np.all(np.diff(heights) < 0.0) and heights[-1] < before[:, 2].mean() - 0.05
    for frame, height in seen.items():
        if frame > 1:
            assert height == heights[frame - 1], "what was seen while it baked is the frame itself, no stale shape"
    status = bake_status.status(scene)
    assert status.phase == "baked" and not status.outdated
    assert play() is None, "it is up to date"


def shown_at(box: bpy.types.Object, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return float(shown(box)[:, 2].mean())


@pytest.mark.slow
def test_stopping_keeps_the_frames_and_the_next_play_goes_on(tmp_path: Path) -> None:
    box, scene = falling(tmp_path), bpy.context.scene
    scene.frame_end = LONG
    bake = play()
    assert bake is not None
    until(lambda: (bake.driver.job.frame or 0) >= 4)
    stop()
    until(lambda: session.bake is None)
    assert bake.driver.job.phase == "cancelled"
    newest = bake.driver.job.frame
    scene.frame_set(2)
    early = shown(box)
    scene.frame_set(newest + 50)
    assert scene.frame_current == newest + 50, "scrubbing is free"
    assert np.array_equal(shown(box), (scene.frame_set(newest), shown(box))[1]), "beyond the cache is the last frame"
    again = play()
    assert again is not None and again.driver.job.resume_frame == newest
    scene.frame_set(newest + 1)
    assert scene.frame_current == newest
    until(lambda: again.driver.job.frame > newest)
    stop()
    until(lambda: session.bake is None)
    scene.frame_set(2)
    assert np.array_equal(shown(box), early)


def test_a_changed_setting_bakes_anew_from_the_first_frame(tmp_path: Path) -> None:
    box, scene = falling(tmp_path), bpy.context.scene
    play()
    until(lambda: session.bake is None)
    stop()
    box.sinew.density = 333.0
    scene.frame_set(5)
    bake = play()
    assert bake is not None and bake.driver.job.resume_frame is None
    scene.frame_set(6)
    assert scene.frame_current == 1
    stop()


@pytest.mark.slow
@pytest.mark.parametrize("why", ["off", "protected", "live"])
def test_play_leaves_alone_what_it_may_not_bake(tmp_path: Path, why: str) -> None:
    box, scene = falling(tmp_path), bpy.context.scene
    play()
    until(lambda: session.bake is None)
    stop()
    files = sorted((each, each.stat().st_mtime_ns) for each in (tmp_path / "c.sinew").rglob("*"))
    box.sinew.density = 333.0  # out of date
    scene.sinew.play_simulates = why != "off"
    scene.sinew.protect = why == "protected"
    if why == "live":
        bpy.ops.sinew.live()
    assert play() is None
    scene.frame_set(5)
    assert scene.frame_current == 5
    assert sorted((each, each.stat().st_mtime_ns) for each in (tmp_path / "c.sinew").rglob("*")) == files


def test_what_cannot_be_baked_says_why_and_plays_on(tmp_path: Path) -> None:
    box, scene = falling(tmp_path), bpy.context.scene
    (tmp_path / "c.sinew").mkdir()
    (tmp_path / "c.sinew" / "diary.txt").write_text("not Sinew's")
    assert play() is None
    failure = session.messages(scene).failure
    assert failure is not None and failure.kind == "folder-in-use"
    scene.frame_set(5)
    assert scene.frame_current == 5
    (tmp_path / "c.sinew" / "diary.txt").unlink()
    box.data.vertices[0].co.x = float("nan")
    play()
    until(lambda: session.bake is None)
    failure = session.messages(scene).failure
    assert failure is not None and box.name in failure.line
    scene.frame_set(5)
    assert scene.frame_current == 5


@pytest.mark.slow
def test_an_undo_while_it_plays_goes_on(tmp_path: Path) -> None:
    falling(tmp_path)
    bpy.context.scene.frame_end = LONG
    bake = play()
    assert bake is not None
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    for handler in bpy.app.handlers.undo_post:
        handler(bpy.context.scene, None)
    newest = bake.driver.job.frame
    bpy.context.scene.frame_set(300)
    assert bpy.context.scene.frame_current == newest
    until(lambda: bake.driver.job.frame > newest)
    stop()


@pytest.mark.slow
def test_it_waits_for_another_bake(tmp_path: Path) -> None:
    falling(tmp_path)
    bpy.context.scene.frame_end = LONG
    bake = play()
    assert bake is not None
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    stop()
    for handler in bpy.app.handlers.animation_playback_pre:
        handler(bpy.context.scene, None)
    assert play_simulates.start_due(), "the one before is stopping"
    until(lambda: session.bake is None)
    assert not play_simulates.start_due() and session.bake is not None and session.bake is not bake
    stop()


@pytest.mark.slow
def test_a_library_override_is_baked(tmp_path: Path) -> None:
    own = overridden_box(tmp_path)
    bpy.context.view_layer.objects.active = own
    own.select_set(True)
    bpy.ops.sinew.make_body()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    scene.sinew.play_simulates, scene.sinew.cache_path = True, str(tmp_path / "c.sinew")
    assert play() is not None
    until(lambda: session.bake is None)
    assert shown_at(own, 4) < shown_at(own, 1) - 0.02


@pytest.mark.parametrize(
    ("status", "due"),
    [
        (Status(), True),
        (Status("partial", frame=3), True),
        (Status("partial", frame=3, is_protected=True), False),
        (Status("baked", frame=9), False),
        (Status("baked", frame=9, outdated=True), True),
        (Status("baked", frame=9, outdated=True, is_protected=True), False),
        (Status("baked", frame=9, outdated=True, busy_elsewhere=True), False),
        (Status("partial", frame=9, due_passes=(2,)), True),
        (Status("baking", frame=9), False),
    ],
)
def test_when_a_bake_is_due(status: Status, due: bool) -> None:
    assert play_simulates.is_due(status) is due
