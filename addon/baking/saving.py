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

from ...solver.cache import is_cache
from ...solver.errors import StorageFailed
from .. import messages
from ..attributes import playing
from . import bakes, cache_look, cache_place, present_bake

PLACES = ("cache_path", "baked_path", "baked_for", "baked_scene", "borrowed")

# where the file is about to be written, and what to set back if it does not stay there (Save Copy, a failure)
_target = ""
_before: dict[int, dict[str, object]] = {}
_tet_files_before: dict[int, str] = {}
_attributes_before: dict[str, tuple[str, str]] = {}


# written in the place of which file, before it is renamed to that
_written_for: dict[str, str] = {}


@contextmanager
def beside(path: Path, part: Path) -> Iterator[None]:
    """Lets a file that is written to `part` be meant for `path`, in the same folder."""
    _written_for[os.path.abspath(part)] = os.path.abspath(path)
    try:
        yield
    finally:
        del _written_for[os.path.abspath(part)]


def before_save(path: str, *_: object) -> None:
    """Lets every cache be found from the place that the file is about to get; called by Blender."""
    global _target
    path = _written_for.get(os.path.abspath(path), path) if path else path
    _before.clear()
    _tet_files_before.clear()
    _attributes_before.clear()
    _target = os.path.abspath(path) if path else ""
    old = bpy.data.filepath
    if not path:
        return
    if old and os.path.abspath(old) == _target:
        for scene in _own_scenes():
            if _is_temporary(cache_place.cache_folder(scene)) and not bakes.is_running(scene):
                messages.forget(scene)
                settle(scene)  # what could not be moved at the first save
        return
    if old:
        _repoint_tet_files(old, path)
    for scene in _own_scenes():
        _before[scene.session_uid] = {name: getattr(scene.sinew, name) for name in PLACES}
        present = cache_place.cache_folder(scene)
        if old:
            _repoint(scene, present, old, path)
        elif _is_temporary(present) and not bakes.is_running(scene):
            _move(scene, present, path)
            moved = cache_place.absolute(scene.sinew.baked_path, path)
            _before[scene.session_uid].update(baked_path=str(moved), baked_for=scene.sinew.baked_for)
    _attributes_before.update(playing.repoint(old, path))


def after_save(*_: object) -> None:
    """Sets back what was only right for another place; called by Blender, also when saving failed."""
    if os.path.abspath(bpy.data.filepath or ".") != _target:
        for scene in _own_scenes():
            for name, value in _before.get(scene.session_uid, {}).items():
                with cache_place.quietly():
                    setattr(scene.sinew, name, value)
        for obj in bpy.data.objects:
            if obj.session_uid in _tet_files_before:
                obj.sinew.tets_path = _tet_files_before[obj.session_uid]
        playing.set_back(_attributes_before)
    _before.clear()
    _tet_files_before.clear()
    cache_look.forget()


def settle(scene: bpy.types.Scene) -> None:
    """Moves a bake that ran through the first save of its file to its place, now that nobody writes it."""
    present = cache_place.cache_folder(scene)
    if bpy.data.filepath and _is_temporary(present):
        _move(scene, present, bpy.data.filepath)


def _own_scenes() -> list[bpy.types.Scene]:
    return [scene for scene in bpy.data.scenes if scene.library is None]


def _is_temporary(folder: Path) -> bool:
    return cache_place.temporary_home() in folder.parents and is_cache(folder)


def _repoint(scene: bpy.types.Scene, present: Path, old: str, new: str) -> None:
    """Makes the places of a scene right as seen from `new`."""
    with cache_place.quietly():
        if scene.sinew.cache_path.startswith("//"):
            chosen = cache_place.absolute(scene.sinew.cache_path, old)
            scene.sinew.cache_path = cache_place.portable(chosen, new)
        if is_cache(present):
            cache_place.remember(scene, present, borrowed=not scene.sinew.cache_path, blend=new)


def _repoint_tet_files(old: str, new: str) -> None:
    """Makes relative paths of files of tets right as seen from `new`, as Blender does with its own."""
    for obj in bpy.data.objects:
        if obj.library is None and obj.sinew.tets_path.startswith("//"):
            path = cache_place.absolute(obj.sinew.tets_path, old)
            # what an override says is often as seen from its library
            if obj.override_library is None or path.is_file():
                _tet_files_before[obj.session_uid] = obj.sinew.tets_path
                obj.sinew.tets_path = cache_place.portable(path, new)


def _relocate(folder: Path, target: Path) -> None:
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


def _move(scene: bpy.types.Scene, present: Path, blend: str) -> None:
    """Moves a bake beside `blend`, under a name that is free there; where that fails, the panel says so."""
    wanted = cache_place.default_folder(scene, blend)
    target, number = wanted, 2
    while target.exists():
        target = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
        number += 1
    try:
        _relocate(present, target)
    except OSError as problem:
        why = problem.strerror or "files could not be copied"  # shutil.Error lists them all
        failed = StorageFailed("bake-not-moved", path=str(present), problem=why)
        messages.remember(scene, messages.text_of(failed))
        return
    cache_place.remember(scene, target, blend=blend)
    cache_place.hold_temporary()
    cache_look.forget()
    present_bake.attach(scene, folder=target, is_undoable=False)
