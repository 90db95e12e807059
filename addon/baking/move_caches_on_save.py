# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps caches findable when the .blend gets a place or changes it.

At the first save the cache of an unsaved file moves beside the .blend. After Save As the new file plays the bake
of the old one, which stays where it is; its own next bake goes to its own folder. A path that the artist has
chosen keeps meaning the same folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from ...solver.bake.cache import has_bake
from ...solver.runtime.errors import StorageFailed
from ...solver.scene.settings.setting import FILE
from ...solver.scene.settings.tables import OBJECT_SETTINGS
from ..blender_data.scene_by_session_uid import find_scene
from ..cache import cache_folder_status, cache_paths, takes
from ..objects import take_ghosts
from ..playback import attribute_modifier
from . import attach_bake, error_messages, last_failure
from .addon_session import MovedTake, PendingSave, session

OBJECT_FILES = tuple(name for name, setting in OBJECT_SETTINGS.items() if setting.kind == FILE)
PATH_PROPERTIES = ("cache_path", "baked_path", "baked_for", "baked_scene", "borrowed")


@contextmanager
def writing_part_file(path: Path, part: Path) -> Iterator[None]:
    """Lets a file that is written to `part` be meant for `path`, in the same folder."""
    session.final_paths[os.path.abspath(part)] = os.path.abspath(path)
    try:
        yield
    finally:
        del session.final_paths[os.path.abspath(part)]


def before_save(path: str, *_: object) -> None:
    """Lets every cache be found from the place that the file is about to get; called by Blender."""
    path = session.final_paths.get(os.path.abspath(path), path) if path else path
    pending = session.pending_save = PendingSave(os.path.abspath(path) if path else "")
    old = bpy.data.filepath
    if not path:
        return
    if old and os.path.abspath(old) == pending.target:
        for scene in _own_scenes():
            if _is_temporary(cache_paths.cache_folder(scene)) and not session.is_baking(scene):
                last_failure.forget_failure(scene)
                move_to_final_folder(scene)  # what could not be moved at the first save
        return
    if old:
        pending.object_files = _rebase_object_files(old, path)
    # of all scenes, before one of them leaves the name of its folder to another
    unplayed = {} if old else {scene.session_uid: takes.temporary_takes(scene) for scene in _own_scenes()}
    for scene in _own_scenes():
        pending.moved_takes += _move_takes(scene, unplayed.get(scene.session_uid, []), path)
        pending.paths[scene.session_uid] = {name: getattr(scene.sinew, name) for name in PATH_PROPERTIES}
        present = cache_paths.cache_folder(scene)
        if old:
            _rebase_scene_paths(scene, present, old, path)
        elif _is_temporary(present) and not session.is_baking(scene):
            _move_bake(scene, present, path)
            moved = cache_paths.absolute_path(scene.sinew.baked_path, path)
            pending.paths[scene.session_uid].update(baked_path=str(moved), baked_for=scene.sinew.baked_for)
    pending.attributes = attribute_modifier.rebase_paths(old, path)


def after_save(*_: object) -> None:
    """Sets back what was only right for another place; called by Blender, also when saving failed."""
    pending, session.pending_save = session.pending_save, None
    if pending is not None and os.path.abspath(bpy.data.filepath or ".") != pending.target:
        _restore_paths(pending)
    cache_folder_status.invalidate()


def _move_takes(scene: bpy.types.Scene, unplayed: list[takes.Take], blend: str) -> list[MovedTake]:
    """Moves the takes of a scene that do not play beside `blend`, and returns those that could be moved.

    They move before the file is written, so that it says where their ghosts find them.
    """
    moved = []
    for take in unplayed:
        target = _free_path(cache_paths.take_folder(scene, take.name, blend))
        if _move_take(scene, take, take.folder, target):
            moved.append(MovedTake(scene.session_uid, take, target))
    return moved


def _move_take(scene: bpy.types.Scene, take: takes.Take, folder: Path, target: Path) -> bool:
    """Moves a take and lets its ghosts play it there; returns False, and tells the panel, where that fails."""
    try:
        _move_folder(folder, target)
    except OSError as problem:
        _tell_not_moved(scene, folder, problem)
        return False
    cache_folder_status.invalidate()
    take_ghosts.move(scene, take.name, target)
    return True


def _restore_paths(pending: PendingSave) -> None:
    for moved in pending.moved_takes:
        scene = find_scene(moved.scene_uid)
        if scene is not None:
            moved.take.folder.parent.mkdir(parents=True, exist_ok=True)
            _move_take(scene, moved.take, moved.folder, moved.take.folder)
    for scene in _own_scenes():
        for name, value in pending.paths.get(scene.session_uid, {}).items():
            with session.rebasing_paths():
                setattr(scene.sinew, name, value)
    for obj in bpy.data.objects:
        for name in OBJECT_FILES:
            if (obj.session_uid, name) in pending.object_files:
                setattr(obj.sinew, name, pending.object_files[obj.session_uid, name])
    attribute_modifier.restore_paths(pending.attributes)


def move_to_final_folder(scene: bpy.types.Scene) -> None:
    """Moves a bake that ran through the first save of its file to its place, now that nobody writes it."""
    present = cache_paths.cache_folder(scene)
    if bpy.data.filepath and _is_temporary(present):
        _move_bake(scene, present, bpy.data.filepath)


def _own_scenes() -> list[bpy.types.Scene]:
    return [scene for scene in bpy.data.scenes if scene.library is None]


def _is_temporary(folder: Path) -> bool:
    return cache_paths.temporary_home() in folder.parents and has_bake(folder)


def _rebase_scene_paths(scene: bpy.types.Scene, present: Path, old: str, new: str) -> None:
    """Makes the places of a scene right as seen from `new`."""
    with session.rebasing_paths():
        if scene.sinew.cache_path.startswith("//"):
            chosen = cache_paths.absolute_path(scene.sinew.cache_path, old)
            scene.sinew.cache_path = cache_paths.portable_path(chosen, new)
        if has_bake(present):
            cache_paths.remember_bake(scene, present, borrowed=not scene.sinew.cache_path, blend=new)


def _rebase_object_files(old: str, new: str) -> dict[tuple[int, str], str]:
    """Makes relative paths of files that objects name right as seen from `new`, as Blender does with its own.

    Returns the paths before, by session id of the object and setting.
    """
    before = {}
    for obj in (each for each in bpy.data.objects if each.library is None):
        for name in OBJECT_FILES:
            chosen = getattr(obj.sinew, name)
            path = cache_paths.absolute_path(chosen, old)
            # what an override says is often as seen from its library
            if chosen.startswith("//") and (obj.override_library is None or path.is_file()):
                before[obj.session_uid, name] = chosen
                setattr(obj.sinew, name, cache_paths.portable_path(path, new))
    return before


def _move_folder(folder: Path, target: Path) -> None:
    """Moves a folder, to another drive too; where that fails it is still whole in its old place.

    Raises:
        OSError: It could not be done.
    """
    try:
        os.rename(folder, target)
    except OSError:
        try:
            shutil.copytree(folder, target)
        except OSError:
            shutil.rmtree(target, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _free_path(wanted: Path) -> Path:
    target, number = wanted, 2
    while target.exists():
        target = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
        number += 1
    return target


def _tell_not_moved(scene: bpy.types.Scene, folder: Path, problem: OSError) -> None:
    why = problem.strerror or "files could not be copied"  # shutil.Error lists them all
    failed = StorageFailed("bake-not-moved", path=str(folder), problem=why)
    last_failure.store_failure_text(scene, error_messages.error_text(failed))


def _move_bake(scene: bpy.types.Scene, present: Path, blend: str) -> None:
    """Moves a bake beside `blend`, under a name that is free there; where that fails, the panel says so."""
    target = _free_path(cache_paths.take_folder(scene, scene.sinew.take.strip(), blend))
    try:
        _move_folder(present, target)
    except OSError as problem:
        _tell_not_moved(scene, present, problem)
        return
    cache_paths.remember_bake(scene, target, blend=blend)
    cache_paths.lock_temporary_folders()
    cache_folder_status.invalidate()
    attach_bake.attach(scene, folder=target, is_undoable=False)
