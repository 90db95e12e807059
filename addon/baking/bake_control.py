# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the bake of the session, lets it go on, says how it ended, and deletes bakes."""

from __future__ import annotations

import dataclasses
import time as clock
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy

from ...solver.bake.cache import delete_bake, delete_cache, is_cache, layout
from ...solver.runtime.errors import BadInput, SinewError
from ..blender_data import rigid_body_world, sinew_modifier
from ..blender_data.scene_by_session_uid import find_scene
from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import BakePass, pass_folder, pass_numbers, played_folders
from ..evaluation import sample_times
from ..export import export_scene, input_warnings
from ..export.blender_physics_dependence import follows_rigid_bodies
from ..fracture_meshes import show_results
from ..objects import roles
from ..playback import live_modifier, solved_frame
from . import (
    attach_bake,
    error_messages,
    frame_report_reader,
    last_failure,
    move_caches_on_save,
    passes_to_bake,
    running_bake_playback,
    simulate_selected,
    state_machine,
    undo_step,
)
from .addon_session import Note, RunningBake, session
from .bake_driver import BakeDriver
from .bake_preconditions import check_can_bake
from .bake_request import DEFAULT_REQUEST, BakeRequest, child_arguments, copy_borrowed, make_resumable
from .child_process import child_command, fallback_command
from .passes_to_bake import BakeOrder
from .solver_warm_up import solver_in_waiting


def start(scene: bpy.types.Scene, request: BakeRequest = DEFAULT_REQUEST) -> RunningBake:
    """Begins a bake of `scene`, or goes on with the one that is there, and returns it.

    Raises:
        BadInput: It cannot be baked; nothing was changed.
        StorageFailed: The folder cannot be written.
    """
    folder = request.folder or cache_paths.own_folder(scene)
    if session.bake is not None:
        running = find_scene(session.bake.scene_uid)
        raise BadInput("bake-running", name=running.name if running else scene.name)
    if request.only_cuts:
        make_resumable(scene, request, folder)
        return _start_cutting(scene, _unfinished_folder(scene, folder), folder)
    check_can_bake(scene, folder)
    chosen = _chosen_bodies(scene, request)
    if chosen is not None:
        simulate_selected.check_selected(scene, _present_folder(scene, request), chosen)
    noted = bake_warnings(scene, request)
    session.end_frame_solve()
    solved_frame.remove(roles.bodies(scene))
    live_modifier.remove(roles.bodies(scene))
    session.end_live()
    order = passes_to_bake.find_order(scene, folder, request)
    _prepare_objects(scene)
    notes = [error_messages.note_of(note.as_warning()) for note in noted]
    bake = _start_pass(scene, request, order)
    session.forget_messages(scene)
    session.messages(scene).notes = notes
    return bake


def bake_warnings(scene: bpy.types.Scene, request: BakeRequest) -> list[SinewError]:
    """Returns the warnings about a bake that is about to begin."""
    chosen, found = _chosen_bodies(scene, request), list(input_warnings.input_warnings(scene))
    if chosen is None:
        return found
    return [*simulate_selected.selected_warnings(scene, _present_folder(scene, request), chosen), *found]


def _chosen_bodies(scene: bpy.types.Scene, request: BakeRequest) -> list[bpy.types.Object] | None:
    return None if request.chosen is None else simulate_selected.find_chosen(scene, request.chosen)


def _present_folder(scene: bpy.types.Scene, request: BakeRequest) -> Path:
    return request.folder or cache_paths.cache_folder(scene)


def _start_pass(scene: bpy.types.Scene, request: BakeRequest, order: BakeOrder) -> RunningBake:
    """Begins to bake the first pass of an order; raises as `start`."""
    bake_pass = BakePass(order.numbers[0], pass_numbers(scene), request.folder or cache_paths.own_folder(scene))
    folder, end = bake_pass.folder, sample_times.frame_range(scene)
    if request.chosen is not None:
        copy_borrowed(scene, request)
        folder = simulate_selected.new_folder(bake_pass)
    elif not bake_pass.is_only:
        copy_borrowed(scene, request)
        request = passes_to_bake.resuming_request(scene, request, bake_pass)
    elif request.resume:
        simulate_selected.check_resumable(scene, _present_folder(scene, request))
    resume_frame = make_resumable(scene, request, folder) if request.resume else None
    words, log = child_arguments(folder, request), folder / layout.LOG_FILE
    uid = scene.session_uid  # undo replaces scenes while a bake runs
    driver = BakeDriver(
        lambda: _export(uid, bake_pass, folder, request.chosen),
        _commands(words),
        log,
        request.on_event,
        lambda: solver_in_waiting.take_over(words, log),
    )
    bake = RunningBake(
        uid,
        folder,
        driver,
        bake_folder=bake_pass.bake,
        pass_number=None if bake_pass.is_only else bake_pass.number,
        on_done=lambda: _start_following(uid, request, order),
        chosen=request.chosen,
        is_played=request.is_played,
    )
    return _run(bake, *end, resume_frame)


def _start_following(scene_uid: int, request: BakeRequest, order: BakeOrder) -> RunningBake | None:
    """Begins to bake the next pass that is due after the first of an order, and returns it, if there is one.

    Raises:
        BadInput, StorageFailed: As `start`.
    """
    scene = find_scene(scene_uid)
    folder = None if scene is None else request.folder or cache_paths.own_folder(scene)
    if scene is None or folder is None:
        return None
    rest = passes_to_bake.rest_of_order(scene, folder, order)
    return None if rest is None else _start_pass(scene, dataclasses.replace(request, resume=False), rest)


def _unfinished_folder(scene: bpy.types.Scene, bake: Path) -> Path:
    """Returns the first cache that bodies play and that lacks a final mesh, or the first one where none does."""
    return next(filter(frame_report_reader.lacks_final_mesh, played_folders(scene, bake)), bake)


def _start_cutting(scene: bpy.types.Scene, folder: Path, bake_folder: Path) -> RunningBake:
    """Begins to cut the mesh of what broke in the frames that a cache in the folder of a bake has."""
    seen = cache_folder_status.read_status(folder)
    if seen.metadata is None or seen.last_frame is None:
        raise BadInput("not-baked", name=scene.name)
    driver = BakeDriver(
        lambda: iter(()), _commands(child_arguments(folder, BakeRequest(only_cuts=True))), folder / layout.LOG_FILE
    )
    bake = RunningBake(scene.session_uid, folder, driver, only_cuts=True, bake_folder=bake_folder)
    return _run(bake, seen.metadata.frame_start, seen.last_frame, seen.last_frame)


def _commands(words: list[str]) -> list[list[str]]:
    return [child_command(words), fallback_command(words, bpy.app.binary_path)]


def _run(bake: RunningBake, frame_start: int, frame_end: int, resume_frame: int | None) -> RunningBake:
    session.bake = bake
    session.forget_hints()
    bake.driver.start(frame_start, frame_end, resume_frame)
    return bake


def _prepare_objects(scene: bpy.types.Scene) -> None:
    """Puts Sinew's modifiers where the bake needs them, and shows bodies that have to be seen to be read.

    Bodies that were put into Blender's rigid body world, or into Sinew by an earlier version, are taken out of it.
    """
    bodies = roles.bodies(scene)
    for obj in bodies:
        rigid_body_world.take_out(obj)
        sinew_modifier.move_below_subdivision(obj)
    if follows_rigid_bodies(scene):  # all that can leave its world have left it
        for obj in bodies:
            show_results.restore_body(obj)


def wait(pause: float = 0.02) -> None:
    """Lets the running bake go on until it has ended.

    Only operators and commands call this; their undo step covers what it makes.
    """
    while poll():
        clock.sleep(pause)
    undo_step.attach_due()


def _export(scene_uid: int, bake_pass: BakePass, folder: Path, chosen_uids: frozenset[int] | None) -> Iterator[float]:
    scene = find_scene(scene_uid)
    if scene is None:
        raise BadInput("no-such-scene", name="", path=bpy.data.filepath)
    chosen = None if chosen_uids is None else simulate_selected.find_chosen(scene, chosen_uids)
    yield from export_scene.export_scene(bpy.context, scene, folder, bake_pass=bake_pass, chosen=chosen)


def poll() -> bool:
    """Lets the running bake go on without waiting, and returns whether it still runs."""
    bake = session.bake
    if bake is None:
        return False
    for effect in _poll_driver(bake.driver):
        scene = find_scene(bake.scene_uid)
        if effect == state_machine.WARN:
            if scene is not None:
                messages = session.messages(scene)
                messages.warnings = _warning_notes(bake.driver.job, messages.notes)
        elif effect == state_machine.FRAMES_CHANGED:
            cache_folder_status.invalidate()
            if scene is not None:
                running_bake_playback.show_frames(scene, bake)
        elif effect == state_machine.END:
            session.bake = None
            if scene is not None:
                _drop_unfinished(scene, bake)
                _take_back_empty(scene, bake)
                move_caches_on_save.move_to_final_folder(scene)
                cache_folder_status.invalidate()
                running_bake_playback.show_end(scene, bake)
                _report_end(scene, bake.driver.job)
                if not _continue_with_pass(scene, bake):
                    _resume_cutting(scene, bake)
    return session.bake is not None


def _poll_driver(driver: BakeDriver) -> list[str]:
    try:
        return driver.poll()
    except Exception:
        # the job has ended with it, and says so; the traceback is for the console
        traceback.print_exc()
        return driver.poll()


def _drop_unfinished(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Deletes a bake of chosen bodies that did not come to its end, and what it replaces where it did."""
    if bake.chosen is None:
        return
    problem = simulate_selected.delete_unplayed(bake.folder)
    bake.is_dropped = not bake.folder.exists()
    if problem is not None:
        last_failure.store_error_event(scene, problem.as_event())


def _take_back_empty(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Takes back what was changed in the scene for a bake that has ended before its first frame."""
    cache_folder_status.invalidate()
    if bake.driver.job.phase == "done" or cache_folder_status.read_status(bake.folder).last_frame is not None:
        return
    try:
        bake.on_empty(scene)
    except SinewError as problem:
        last_failure.store_error_event(scene, problem.as_event())


def _continue_with_pass(scene: bpy.types.Scene, bake: RunningBake) -> bool:
    """Goes on with the next pass of a bake that is done, and returns whether there is one."""
    if bake.driver.job.phase != "done":
        return False
    try:
        bake.following = bake.on_done()
    except SinewError as problem:
        last_failure.store_error_event(scene, problem.as_event())
    return bake.following is not None


def _resume_cutting(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Goes on with the mesh of what broke where a cancelled bake had no time for it: a step took too long."""
    is_left = bake.driver.job.phase == "cancelled" and not bake.only_cuts
    has_frames = cache_folder_status.read_status(bake.folder).last_frame is not None
    if is_left and has_frames and frame_report_reader.lacks_final_mesh(bake.folder):
        _start_cutting(scene, bake.folder, bake.bake_folder or bake.folder)


def _report_end(scene: bpy.types.Scene, job: state_machine.Job) -> None:
    if job.error is not None:
        last_failure.store_error_event(scene, job.error)


def _warning_notes(job: state_machine.Job, notes: list[Note]) -> list[Note]:
    """Returns what the child warned about, without the notes from when the bake began."""
    known = [note.line for note in notes]
    news = [w for w in job.warnings if not any(line.startswith(w["sentence"].rstrip(".")) for line in known)]
    return list(dict.fromkeys(map(error_messages.note_of, news)))


def delete(scene: bpy.types.Scene, number: int | None = None) -> list[Path]:
    """Deletes the bake of `scene` and returns the files in its folder that are not Sinew's, which stay.

    A bake that belongs to another .blend is only let go.

    Args:
        scene: The scene.
        number: Of the only pass to delete; None: all of them.

    Raises:
        BadInput: It is locked or being baked.
        StorageFailed: The operating system refused.
    """
    if session.is_baking(scene):
        raise BadInput("bake-running", name=scene.name)
    if scene.sinew.protect:
        raise BadInput("bake-protected", name=scene.name)
    folder = cache_paths.cache_folder(scene)
    if number is not None:
        own = pass_folder(folder, number, pass_numbers(scene))
        foreign = [] if cache_paths.is_borrowed(scene) or not is_cache(own) else delete_cache(own)
        cache_folder_status.invalidate()
        attach_bake.attach(scene)
        return foreign
    foreign = [] if cache_paths.is_borrowed(scene) else delete_bake(folder)
    cache_paths.forget_bake(scene)
    cache_folder_status.invalidate()
    session.forget_messages(scene)
    attach_bake.restore(scene)
    return foreign
