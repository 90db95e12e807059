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
from ...solver.live.live_steps import steps_per_frame
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
        BadInput: There is no run, it is shorter than a frame, or the artist has chosen a folder that has a bake.
    """
    run = end_run(scene)
    run.driver.wait_for_end()
    frames = int(run.seconds * frames_per_second(scene) + 1.0e-6)
    if not frames:
        raise BadInput("live-nothing-to-keep")
    folder = _free_folder(scene)
    if bake_status.has_preview_tets(scene):
        scene.sinew.bake_detail = PREVIEW  # as which it has run
    left_out = hand_to_scene.put_into_scene(scene, run, steps_per_frame(frames_per_second(scene)))
    words, log = _arguments(folder), folder / layout.LOG_FILE
    driver = BakeDriver(
        lambda: _copy_inputs(run, folder),
        [child_command(words), fallback_command(words, bpy.app.binary_path)],
        log,
        None,
        lambda: solver_in_waiting.take_over(words, log),
    )
    bake = RunningBake(scene.session_uid, folder, driver, bake_folder=folder)
    session.bake = bake
    session.forget_hints()
    session.forget_messages(scene)
    if left_out:
        problem = SinewError("live-hand-left-out", name=scene.name, what=", ".join(left_out))
        session.messages(scene).notes = [error_messages.note_of(problem.as_warning())]
    driver.start(run.frame, run.frame + frames)
    return bake


def _free_folder(scene: bpy.types.Scene) -> Path:
    """Returns the folder of the take that gets the run: the present one where it has no bake, or else a new one."""
    if has_bake(cache_paths.cache_folder(scene)):
        if scene.sinew.cache_path:
            raise BadInput("live-keep-folder", name=scene.name)
        scene.sinew.take = takes.next_name(scene)
        cache_folder_status.invalidate()
    return cache_paths.own_folder(scene)


def _arguments(folder: Path) -> list[str]:
    threads = preferences.threads()
    return ["live", str(folder), "--keep", "--child", "--json", *(["--threads", str(threads)] if threads else [])]


def _copy_inputs(run: LiveRun, folder: Path) -> Iterator[float]:
    """Copies the scene of a run and what was done into the cache folder of a take."""
    make_folder(folder)
    with named_errors(folder):
        target = folder / layout.LIVE_FOLDER
        target.mkdir(exist_ok=True)
        shutil.copytree(run.folder / layout.SCENE_FOLDER, folder / layout.SCENE_FOLDER, dirs_exist_ok=True)
        for name in (layout.LIVE_CONTROLS_FILE, layout.LIVE_INPUTS_FILE):
            shutil.copyfile(run.folder / layout.LIVE_FOLDER / name, target / name)
        _say_what_it_is_of(run, folder)
    yield 1.0


def _say_what_it_is_of(run: LiveRun, folder: Path) -> None:
    """Writes digests of the scene with what the hand did: a bake of it repeats the run, so the take is up to date."""
    scene = find_scene(run.scene_uid)
    if scene is not None:
        digest, each = digests(scene, is_preview=True)
        (folder / layout.SCENE_FOLDER / layout.SETTINGS_FILE).write_text(digest, newline="\n")
        (folder / layout.SCENE_FOLDER / layout.BODY_SETTINGS_FILE).write_text(body_settings_text(each), newline="\n")
