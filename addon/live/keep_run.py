# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep: bakes what a run has shown into a take of its own; the child repeats the run (solver/live/keep.py).

From then on it is a bake as any other: with its progress, Escape, frames in the viewport, and one undo step.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import bpy

from ...solver.bake.cache import has_bake, layout
from ...solver.live.live_steps import kept_frames, steps_per_frame
from ...solver.live.recording import read_inputs
from ...solver.runtime.errors import BadInput, SinewError
from ...solver.runtime.storage_errors import make_folder, named_errors
from ...solver.scene.settings.simulation_settings import PREVIEW
from ..baking import bake_status, error_messages
from ..baking.addon_session import RunningBake, session
from ..baking.bake_driver import BakeDriver
from ..baking.child_process import child_command, fallback_command
from ..baking.live_state import LiveRun
from ..baking.solver_warm_up import solver_in_waiting
from ..blender_data.scene_by_session_uid import find_scene
from ..cache import cache_folder_status, cache_paths, takes
from ..cache.selected_body_caches import body_settings_text
from ..evaluation.sample_times import frames_per_second
from ..export.input_digest import digests
from ..properties import preferences
from ..properties.scene_properties import LAST_SECONDS
from ..runtime.name_text import few_names
from . import hand_to_scene, run_control


def can_keep(scene: bpy.types.Scene) -> bool:
    """Whether there is a run of a scene that can be kept."""
    run = session.live or session.last_live
    return session.bake is None and run is not None and run.scene_uid == scene.session_uid and run.seconds > 0.0


def end_run(scene: bpy.types.Scene) -> LiveRun:
    """Ends the run that is to be kept if it goes on, without waiting for its child, and returns it.

    Raises:
        BadInput: There is none.
    """
    if not can_keep(scene):
        raise BadInput("live-nothing-to-keep")
    run_control.end()
    if session.last_live is None:
        raise BadInput("live-nothing-to-keep")
    return session.last_live


def start(scene: bpy.types.Scene) -> RunningBake:
    """Ends the run if it goes on, and begins to bake it into a take; whoever calls this is an operator.

    It waits until the child has written all that came; an operator with a window lets that happen before.

    Raises:
        BadInput: There is no run, it is shorter than a frame, a body was torn before its last seconds, which alone are
            to be kept, or the artist has chosen a folder that has a bake.
        StorageFailed: What was done cannot be read.
    """
    run = end_run(scene)
    run.driver.wait_for_end()
    recorded, rate = read_inputs(run.folder), frames_per_second(scene)
    in_frame, seconds = steps_per_frame(rate), _last_seconds(scene)
    frames = kept_frames(recorded.steps, in_frame, rate, seconds)
    if not frames.count:
        raise BadInput("live-nothing-to-keep")
    _check_whole(run, frames.first * in_frame)
    folder = _free_folder(scene)
    notes = _choose_preview(scene)
    before = run.kept
    left_out = hand_to_scene.put_into_scene(scene, run, recorded, frames, in_frame)
    if run.kept and run.kept != before:
        notes.append(SinewError("live-hand-kept", name=scene.name, what=few_names(run.kept)))
    if left_out:
        notes.append(SinewError("live-hand-left-out", name=scene.name, what=", ".join(left_out)))
    words, log = _arguments(folder, seconds), folder / layout.LOG_FILE
    driver = BakeDriver(
        lambda: _copy_inputs(run, folder, (frames.first - 1) * in_frame),
        [child_command(words), fallback_command(words, bpy.app.binary_path)],
        log,
        None,
        lambda: solver_in_waiting.take_over(words, log),
    )
    bake = RunningBake(scene.session_uid, folder, driver, bake_folder=folder, is_kept_run=True)
    session.bake = bake
    session.forget_hints()
    session.forget_messages(scene)
    last = run.frame + frames.count
    notes += _show_until(scene, last)
    session.messages(scene).notes = [error_messages.note_of(note.as_warning()) for note in notes]
    driver.start(run.frame, last)
    return bake


def _choose_preview(scene: bpy.types.Scene) -> list[SinewError]:
    """Chooses the preview's tets, with which a run goes where bodies have them; returns what tells of it."""
    if not bake_status.has_preview_tets(scene) or scene.sinew.bake_detail == PREVIEW:
        return []
    scene.sinew.bake_detail = PREVIEW
    return [SinewError("live-kept-as-preview", name=scene.name)]


def _show_until(scene: bpy.types.Scene, last: int) -> list[SinewError]:
    """Lets the timeline of a scene reach a frame; returns what tells that where it ended before."""
    if scene.frame_end >= last:
        return []
    before, scene.frame_end = scene.frame_end, last
    return [SinewError("live-end-moved", name=scene.name, before=before, last=last)]


def _last_seconds(scene: bpy.types.Scene) -> float | None:
    """Returns how many of the last seconds the artist wants to keep; None: the whole run."""
    return scene.sinew.live_kept_seconds if scene.sinew.live_kept == LAST_SECONDS else None


def _check_whole(run: LiveRun, step: int) -> None:
    """Raises BadInput where a body was seen torn by a step: frames of a bake begin with whole bodies."""
    for key, torn in run.torn_steps.items():
        handle = run.bodies.get(key)
        obj = None if handle is None else handle.find()
        if torn <= step and obj is not None:
            raise BadInput("live-torn-before", name=obj.name)


def _free_folder(scene: bpy.types.Scene) -> Path:
    """Returns the folder of the take that gets the run: the present one where it has no bake, or else a new one."""
    if has_bake(cache_paths.cache_folder(scene)):
        if scene.sinew.cache_path:
            raise BadInput("live-keep-folder", name=scene.name)
        scene.sinew.take = takes.next_name(scene)
        cache_folder_status.invalidate()
    return cache_paths.own_folder(scene)


def _arguments(folder: Path, seconds: float | None) -> list[str]:
    threads = preferences.threads()
    last = [] if seconds is None else ["--last", repr(seconds)]
    return [
        "live",
        str(folder),
        "--keep",
        *last,
        "--child",
        "--json",
        *(["--threads", str(threads)] if threads else []),
    ]


def _copy_inputs(run: LiveRun, folder: Path, step: int) -> Iterator[float | None]:
    """Copies the scene of a run and what was done into the cache folder of a take.

    Args:
        run: The run.
        folder: The cache folder.
        step: The last step from which on the run may be repeated; below zero: it has to be repeated from the first one.
    """
    make_folder(folder)
    with named_errors(folder):
        target = folder / layout.LIVE_FOLDER
        target.mkdir(exist_ok=True)
        shutil.copytree(run.folder / layout.SCENE_FOLDER, folder / layout.SCENE_FOLDER, dirs_exist_ok=True)
    yield 0.3
    yield None  # Blender's window answers in between
    with named_errors(folder):
        for name in (layout.LIVE_CONTROLS_FILE, layout.LIVE_INPUTS_FILE):
            shutil.copyfile(run.folder / layout.LIVE_FOLDER / name, target / name)
        for shapes in (run.folder / layout.LIVE_FOLDER).glob(f"*{layout.LIVE_SHAPES_ENDING}"):
            shutil.copyfile(shapes, target / shapes.name)
        for old in layout.live_restart_steps(folder):  # of another run
            layout.live_restart_path(folder, old).unlink()
        restart = layout.newest_live_restart(run.folder, step)
        if restart is not None:
            shutil.copyfile(layout.live_restart_path(run.folder, restart), layout.live_restart_path(folder, restart))
    yield 0.6
    yield None
    with named_errors(folder):
        _say_what_it_is_of(run, folder)
    yield 1.0


def _say_what_it_is_of(run: LiveRun, folder: Path) -> None:
    """Writes digests of the scene with what the hand did: a bake of it repeats the run, so the take is up to date."""
    scene = find_scene(run.scene_uid)
    if scene is not None:
        digest, each = digests(scene, is_preview=True)
        (folder / layout.SCENE_FOLDER / layout.SETTINGS_FILE).write_text(digest, newline="\n")
        (folder / layout.SCENE_FOLDER / layout.BODY_SETTINGS_FILE).write_text(body_settings_text(each), newline="\n")
