# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the fibres of muscles before a bake: writes the muscles at rest, and lets a child process find their fibres."""

from __future__ import annotations

import time as clock
import uuid
from pathlib import Path

import bpy

from ...solver.runtime.errors import BadInput, SinewError
from ..blender_data.object_keys import body_key
from ..blender_data.scene_by_session_uid import find_scene
from ..export import validation
from ..export.input_digest import settings_digest
from ..objects import roles
from . import bake_status, bake_timer
from .addon_session import session
from .bodies_at_rest import read_at_rest
from .child_process import child_command, fallback_command
from .fibre_search import RESULT_FOLDER, SCENE_FOLDER, FibrePreview, FibreSearch
from .last_failure import store_error_event

INTERVAL_SECONDS = 0.1


def start(scene: bpy.types.Scene) -> None:
    """Begins to find the fibres of all muscles of a scene, instead of those that were being found.

    Raises:
        BadInput: There is no muscle, or an object cannot be read.
        StorageFailed: The temporary folder cannot be written.
        SolveFailed: No process can be started.
    """
    muscles = [obj for obj in roles.bodies(scene) if obj.sinew.use_muscle and roles.is_flesh(obj)]
    if not muscles:
        raise BadInput("no-muscles")
    session.end_fibre_search()
    validation.check_objects(scene)
    (found, _), digest = read_at_rest(scene, muscles), settings_digest(scene)
    # if nothing else removes it, Blender does at its end
    folder = Path(bpy.app.tempdir) / f"sinew-fibres-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    found.save(folder / SCENE_FOLDER)
    words = ["fibres", str(folder / SCENE_FOLDER), str(folder / RESULT_FOLDER), "--json"]
    commands = [child_command(words), fallback_command(words, bpy.app.binary_path)]
    session.fibre_search = FibreSearch(scene.session_uid, digest, folder, commands)
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=INTERVAL_SECONDS, persistent=True)


def poll() -> bool:
    """Takes the fibres once they have been found, and returns whether they are still being found."""
    search = session.fibre_search
    if search is None or search.poll():
        return search is not None
    scene = find_scene(search.scene_uid)
    if scene is not None:
        try:
            if search.error is not None:
                store_error_event(scene, search.error)
            else:
                session.fibre_previews |= {(search.scene_uid, key): own for key, own in search.result().items()}
        except SinewError as problem:
            store_error_event(scene, problem.as_event())
    session.end_fibre_search()
    return False


def wait() -> None:
    """Waits until the fibres have been found; only commands and tests without a window do."""
    while poll():
        clock.sleep(0.02)


def is_searching(scene: bpy.types.Scene) -> bool:
    """Whether the fibres of a scene are being found."""
    return session.fibre_search is not None and session.fibre_search.scene_uid == scene.session_uid


def preview_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> FibrePreview | None:
    """Returns the fibres of a muscle as they were found last, or None."""
    return session.fibre_previews.get((scene.session_uid, body_key(obj)))


def is_current(scene: bpy.types.Scene, preview: FibrePreview) -> bool:
    """Whether nothing that a bake reads has changed since the fibres were found."""
    return preview.digest == bake_status.current_digest(scene)


def _tick() -> float | None:
    goes_on = poll()
    if goes_on:
        return INTERVAL_SECONDS
    bake_timer.redraw()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
    return None
