# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets bodies play the frames of the running bake as they come, and all that they need once it has ended."""

from __future__ import annotations

import bpy

from ...solver.bake.cache import layout
from ...solver.runtime.errors import SinewError
from ..blender_data import held_transform
from ..blender_data.object_keys import body_key
from ..blender_data.scene_by_session_uid import find_scene
from ..cache import cache_paths
from ..cache.bake_passes import body_folder
from ..objects import roles
from ..playback import mesh_cache, wrap_motion
from . import attach_bake, last_failure, playhead, running_bake_poses, simulate_selected, state_machine, undo_step
from .addon_session import RunningBake, session


def show_frames(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Lets the bodies play what is baked so far; only tags updates once they do."""
    if bake.driver.job.frame is None:
        return
    if not bake.is_shown:
        cache_paths.remember_bake(scene, bake.bake_folder or bake.folder)
        cache_paths.lock_temporary_folders()
        _attach_running(scene, bake)
        bake.is_shown = True
    if not bpy.app.background and not bake.only_cuts:
        playhead.follow(scene, bake, bpy.context.window_manager.windows)
    cracked = _cracked_bodies(bake.driver.job)
    if cracked != bake.cracked_bodies:
        bake.cracked_bodies = cracked
        _attach_running(scene, bake)
    if scene.frame_current_final >= bake.driver.job.frame - 1:
        mesh_cache.refresh(roles.bodies(scene))
    running_bake_poses.show(scene, bake)


def show_end(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Lets the bodies play all that was baked, what takes data-blocks in an undo step of its own."""
    held_transform.let_go_all()
    _write_wrap_motions(scene, bake)
    # where nobody can press undo, nobody needs a step
    attach_bake.attach(scene, detach_missing=bake.is_shown, is_undoable=bpy.app.background)
    if not bpy.app.background and (bake.driver.job.frame is not None or not attach_bake.is_whole(scene)):
        undo_step.schedule(scene)


def _attach_running(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Lets the bodies play what is baked so far, those that are baked alone too."""
    attach_bake.attach(scene, is_undoable=False)
    for obj in simulate_selected.find_chosen(scene, bake.chosen or ()):
        key = body_key(obj)
        if layout.play_path(bake.folder, key).exists():
            attach_bake.attach_body(scene, obj, bake.folder, key, is_undoable=False)


def _write_wrap_motions(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Writes the motion of the wraps of bodies that were baked."""
    if bake.driver.job.frame is None or bake.is_dropped:
        return
    for obj in roles.bodies(scene):
        is_baked = bake.chosen is None or obj.session_uid in bake.chosen
        if is_baked and obj.sinew.wrap is not None and bake.pass_number in (None, obj.sinew.bake_pass):
            try:
                # where it is now: the first save of the file may have moved it meanwhile
                wrap_motion.write_wrap_motion(scene, obj.sinew.wrap, body_folder(scene, obj), body_key(obj))
            except SinewError as problem:
                last_failure.store_error_event(scene, problem.as_event())


def _cracked_bodies(job: state_machine.Job) -> frozenset[str]:
    """Returns the keys of the bodies that have cracked by the last frame."""
    numbers = (job.last_frame_event or {}).get("bodies", {})
    return frozenset(key for key, said in numbers.items() if said.get("splits"))


def reattach() -> None:
    """Notes the running bake in the file again: an undo took that out."""
    bake = session.bake
    scene = find_scene(bake.scene_uid) if bake is not None else None
    if scene is not None and bake is not None and bake.is_shown:
        cache_paths.remember_bake(scene, bake.bake_folder or bake.folder)
        bake.is_shown = bake.chosen is None  # what is baked alone plays again from the next frame on
