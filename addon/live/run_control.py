# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a live run, lets it go on, and ends it; the file is then as it was."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bpy

from ...solver.bake.cache import layout
from ...solver.live.sample_files import SampleReader
from ...solver.runtime.errors import BadInput, StorageFailed
from ..baking import attach_bake, error_messages, last_failure
from ..baking.addon_session import session
from ..baking.bake_driver import BakeDriver
from ..baking.child_process import child_command, fallback_command
from ..baking.live_state import LiveRun
from ..baking.solver_warm_up import solver_in_waiting
from ..blender_data import held_transform, motion_track, rigid_body_world, sinew_modifier
from ..blender_data.object_handle import ObjectHandle
from ..blender_data.scene_by_session_uid import find_scene
from ..export import validation
from ..fracture_meshes import results_while_live, torn_mesh_modifier
from ..objects import flesh_supports, roles
from ..playback import live_modifier
from ..properties import preferences
from ..properties.role_definitions import BODY
from . import (
    deforming_colliders,
    driven_poses,
    handled_inputs,
    key_hints,
    real_time_tets,
    run_export,
    run_folders,
    settings_of_next_run,
    torn_bodies,
    unsettled_steps,
)

MAX_PLAYED_FRAMES = 5.0  # by which the timeline goes on between two looks while it plays; farther it is put there


def start(scene: bpy.types.Scene) -> LiveRun:
    """Begins to run the bodies of a scene from the present frame on; whoever calls this is an operator.

    Raises:
        BadInput: Something cannot be simulated as it is, or something else runs.
    """
    check_can_run(scene)
    end()
    session.forget_last_live()
    session.end_frame_solve()
    run_folders.delete_orphans_in_thread()
    folder, lock = run_folders.new_folder()
    words, log = _arguments(scene, folder), folder / layout.LOG_FILE
    commands = [child_command(words), fallback_command(words, bpy.app.binary_path)]
    driver = BakeDriver(
        lambda: run_export.export(run),
        commands,
        log,
        lambda event: _hear(run, event),
        lambda: solver_in_waiting.take_over(words, log),
    )
    run = LiveRun(scene.session_uid, scene.frame_current, folder, driver, {}, lock)
    session.live = run
    _take_out_of_world(run)
    _hide_motion(run)
    driver.start(run.frame, run.frame)
    return run


def check_can_run(scene: bpy.types.Scene) -> None:
    """Makes sure that the bodies of a scene can run live.

    Raises:
        BadInput: They cannot; says why. Nothing was changed.
    """
    if session.bake is not None or session.frame_solve is not None:
        raise BadInput("bake-running", name=scene.name)
    bodies = roles.bodies(scene)
    linked = next((o for o in scene.objects if o.sinew.role == BODY and o.library is not None), None)
    if linked is not None:
        raise BadInput("linked-without-override", name=linked.name)
    if not bodies:
        raise BadInput("no-bodies", name=scene.name)
    validation.check_objects(scene)
    flesh_supports.check_held(scene)


def _arguments(scene: bpy.types.Scene, folder: Path) -> list[str]:
    threads = preferences.threads()
    words = ["live", str(folder), "--child", "--json", "--rate", f"{scene.sinew.live_rate:g}"]
    return words + (["--threads", str(threads)] if threads else [])


def _hear(run: LiveRun, event: Mapping[str, Any]) -> None:
    if event["event"] == "live":
        run.status = event
        run.tets = event.get("tets", run.tets)
        run.body_tets = event.get("body_tets", run.body_tets)
        if event.get("load", 0.0) > 0.0:
            real_time_tets.hear_load(run, event["load"])
        unsettled_steps.count(run, event)
        scene = find_scene(run.scene_uid)
        if scene is not None:
            problem = settings_of_next_run.difference(run.begun_with, settings_of_next_run.stamp(scene, run.inputs))
            problem = problem or deforming_colliders.kept_shape(run)
            run.later = "" if problem is None else error_messages.error_text(problem)
    elif event["event"] == "paused":
        run.held_at = event["step"]
    elif event["event"] == "torn":
        for body in event["bodies"]:
            run.torn_steps.setdefault(body["key"], event["step"])
    elif event["event"] == "starts":
        run.starts_step = event["step"]
    elif event["event"] == "warning":
        run.note = error_messages.message_text(event["kind"], event["sentence"], event["next_step"])


def poll() -> bool:
    """Lets the run go on without waiting, and returns whether it still runs."""
    run = session.live
    if run is None:
        return False
    try:
        run.driver.poll()
    except Exception:
        # the job has ended with it, and says so; the traceback is for the console
        traceback.print_exc()
    if not run.driver.job.is_running:
        _finish(run)
        return False
    if not run.is_hidden and run.driver.job.phase != "cancelling":
        _show_newest(run)
        _send_changes(run)
    return True


def _show_newest(run: LiveRun) -> None:
    if run.reader is None:
        if not run.status:
            return
        try:
            run.reader = SampleReader(run.folder / layout.LIVE_FOLDER)
        except (OSError, ValueError):
            return
    if not run.is_shown:
        show(run)
    head = run.reader.newest()
    if head is None or head.step == run.step:
        return
    run.step = head.step
    run.seconds = head.time
    for key, obj in _objects(run):
        if torn_bodies.follow(run, key, obj, head):
            live_modifier.show_slot(obj, head.slot)
    driven_poses.show(run, head)


def _send_changes(run: LiveRun) -> None:
    scene = find_scene(run.scene_uid)
    if scene is None or run.step < 0:
        return
    now, before = scene.frame_current_final, run.seen_frame
    run.seen_frame = now
    # animated colliders have the speed of their animation; what a hand moves, or Escape puts back, has a bounded one
    more = {"at_once": True} if before is not None and 0.0 < now - before <= MAX_PLAYED_FRAMES else {}
    for command in handled_inputs.changes(run.inputs, scene, run.sent, run.channels):
        run.send({**command, **more})
    try:
        for command in deforming_colliders.changes(run, scene):
            run.send({**command, **more})
    except StorageFailed as problem:  # such as a full disk: the collider stays as it was, and the run goes on
        run.note = error_messages.error_text(problem)


def show(run: LiveRun) -> None:
    """Lets the bodies of a run play its samples."""
    run.is_shown, run.step = True, -1
    _take_out_of_world(run)
    _hide_motion(run)
    results_while_live.show_bodies(obj for _, obj in _objects(run))
    for handle in run.moved:
        moved = handle.find()
        if moved is not None:
            sinew_modifier.move_below_subdivision(moved)
    for key, obj in _objects(run):
        live_modifier.show(obj, layout.live_samples_path(run.folder / layout.LIVE_FOLDER, key, 0))


def _put_back(run: LiveRun) -> None:
    """Shows the bodies as they were before the run."""
    run.is_shown = False
    _remove_from_file()
    torn_bodies.forget_shown(run)
    torn_bodies.put_modifiers_back(run)
    _give_back_to_world(run)
    for obj in _moving_objects(run):
        motion_track.show(obj)


def _take_out_of_world(run: LiveRun) -> None:
    """Takes the bodies out of Blender's rigid body worlds, which would move them, too, and notes from where."""
    for obj in _bodies(run):
        taken = rigid_body_world.take_out(obj)
        if taken:
            run.left_collections.append((ObjectHandle.of(obj), taken))


def _hide_motion(run: LiveRun) -> None:
    """Lets objects be where the artist has animated them, which is what samples are played in the space of."""
    for obj in _moving_objects(run):
        motion_track.hide(obj)


def _moving_objects(run: LiveRun) -> list[bpy.types.Object]:
    """Returns the objects of the scene of a run that baked motion moves: bodies, and armatures that they drive."""
    scene = find_scene(run.scene_uid)
    return [obj for obj in scene.objects if motion_track.find_track(obj) is not None] if scene is not None else []


def _bodies(run: LiveRun) -> list[bpy.types.Object]:
    """Returns the bodies of the scene of a run."""
    scene = find_scene(run.scene_uid)
    return roles.bodies(scene) if scene is not None else []


def _give_back_to_world(run: LiveRun) -> None:
    """Puts the bodies back that the run has taken out, and no others."""
    for handle, taken in run.left_collections:
        obj = handle.find()
        if obj is not None:
            rigid_body_world.give_back(obj, only=taken)
    run.left_collections.clear()


def _remove_from_file() -> None:
    """Takes away what shows a run, also from copies that the artist has made meanwhile."""
    live_modifier.remove(obj for obj in bpy.data.objects if obj.library is None and obj.type == "MESH")
    held_transform.let_go_all()
    torn_mesh_modifier.remove_all()
    if results_while_live.undo_marks():
        for scene in bpy.data.scenes:
            attach_bake.attach(scene, detach_missing=False, is_undoable=False)


def _objects(run: LiveRun) -> Iterator[tuple[str, bpy.types.Object]]:
    for key, handle in run.bodies.items():
        obj = handle.find()
        if obj is not None:
            yield key, obj


def stop() -> None:
    """Asks the run to end, and shows the bodies as they were at once."""
    run = session.live
    if run is not None:
        _put_back(run)
        key_hints.clear(run)
        run.close()
        run.driver.cancel()


def end() -> None:
    """Ends the run now: the file has changed under it, or another one is loaded."""
    run = session.live
    if run is not None:
        _put_back(run)
        key_hints.clear(run)
        session.end_live()


def end_by_undo() -> None:
    """Ends the run after an undo step, which has changed the file under it; the panel then says so."""
    if session.live is not None:
        session.live.is_ended_by_undo = True
        end()


def remove_left_over() -> None:
    """Takes modifiers of runs away that are over, which an undo step or a recovered file may have."""
    if session.live is None:
        _remove_from_file()


def hide_for_undo() -> None:
    """Shows the bodies as they were before an undo step is read, which may not meet data-blocks that it has not.

    The run ends after it; where there was nothing to undo, it is shown again.
    """
    if session.live is not None:
        _put_back(session.live)


def hide_for_save() -> None:
    """Shows the bodies as they were, while the file is written."""
    run = session.live
    if run is not None:
        _put_back(run)
        run.is_hidden = True


def show_after_save() -> None:
    """Goes on showing the run."""
    run = session.live
    if run is not None and run.is_hidden:
        run.is_hidden = False
        _take_out_of_world(run)
        _hide_motion(run)
        if run.reader is not None:
            show(run)


def _finish(run: LiveRun) -> None:
    """Puts everything back after the child has ended, and says why where it failed."""
    _put_back(run)
    key_hints.clear(run)
    session.end_live()
    scene, error = find_scene(run.scene_uid), run.driver.job.error
    if scene is not None and error is not None:
        last_failure.store_error_event(scene, error)
