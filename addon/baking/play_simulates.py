# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets pressing Play bake what is missing, where the scene has Play Simulates on, as Blender's own physics does.

    Play ─▶ a bake begins or is resumed ─▶ frames in the cache ─▶ the playhead goes no further than the newest
    Stop ─▶ the bake is cancelled; its frames stay, and the next Play goes on from them

The child bakes frame by frame as in every bake, however fast the animation plays. Blender's player only shows: before
it evaluates a frame that is not baked yet, `hold` takes the playhead back to the newest one that is.
"""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import SinewError
from ..blender_data.scene_by_session_uid import find_scene
from ..objects import roles
from . import bake_control, bake_status, bake_timer, last_failure
from .addon_session import session
from .bake_request import BakeRequest
from .bake_status import Status

INTERVAL_SECONDS = 0.05


def playback_began(scene: bpy.types.Scene) -> None:
    """Notes that the animation of a scene plays; a timer begins the bake, since a handler must not change objects."""
    if not scene.sinew.play_simulates:
        return
    session.played_scene = scene.session_uid
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=0.0)


def playback_ended() -> None:
    """Stops the bake that playing has begun; what it has baked stays."""
    session.played_scene = None
    if session.bake is not None and session.bake.is_played:
        session.cancel()


def stop() -> None:
    """Stops waiting: the add-on is turned off."""
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)


def start_due() -> bool:
    """Begins the bake of the scene that plays where it lacks one, and returns whether it still waits for another.

    What cannot be baked gets its sentence in the panel, and the animation plays on.
    """
    scene = None if session.played_scene is None else find_scene(session.played_scene)
    if scene is None or session.live is not None:
        return False
    if session.bake is not None:
        return True  # one that was stopped a moment ago, or that a button has begun
    bake_status.invalidate()
    status = bake_status.status(scene)
    if not roles.bodies(scene) or not is_due(status):
        return False
    try:
        bake_control.start(scene, BakeRequest(resume=status.can_resume and not status.outdated, is_played=True))
    except SinewError as problem:
        last_failure.store_error_event(scene, problem.as_event())
    return False


def is_due(status: Status) -> bool:
    """Whether frames are missing or out of date that may be baked: none of a bake that is protected or damaged."""
    is_kept = status.is_protected and status.frame is not None
    if is_kept or status.busy_elsewhere or status.problem is not None or status.is_running:
        return False
    return status.outdated or bool(status.due_passes) or status.phase in ("none", "partial")


def hold(scene: bpy.types.Scene) -> None:
    """Takes the playhead back to the newest frame that is baked; Blender calls this before it evaluates a frame."""
    bake = session.bake
    if bake is None or not bake.is_played or bake.scene_uid != scene.session_uid:
        return
    if session.played_scene is None or bpy.app.is_job_running("RENDER"):  # a render shows what it is asked for
        return
    job = bake.driver.job
    newest = job.frame_start if job.frame is None else job.frame
    if scene.frame_current > newest:
        scene.frame_current = newest


def _tick() -> float | None:
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[0] if windows else None):
        waits = start_due()
    if waits:
        return INTERVAL_SECONDS
    if session.bake is not None:
        bake_timer.start()
    bake_timer.redraw()
    return None
