# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the bodies of a scene play what lies on disk, whatever the file says: after a bake, a load, an undo."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from ...solver.cache import layout
from ...solver.errors import SinewError
from .. import export, messages, modifier_place, playback, roles
from ..attributes import playing
from ..results import present
from ..results.result_objects import results_of
from . import cache_look, cache_place, collider_forces


def key_of(obj: bpy.types.Object) -> str:
    """Returns the name of a body's files in a cache."""
    return export.body_key(obj)


def attach(
    scene: bpy.types.Scene, lost_ones: bool = True, folder: Path | None = None, is_undoable: bool = True
) -> None:
    """Makes every body of `scene` play the present bake, and its own mesh where there is none.

    Args:
        scene: The scene.
        lost_ones: Whether bodies whose bake cannot be found lose their path; not where the drive may come back.
        folder: Where the present bake is while the .blend changes its place.
        is_undoable: Whether an undo step follows. Without, as in a timer or after an undo, no data-block is made or
            pointed to (`bake_step.py`): a body that broke is hidden from its first crack on, and `is_whole` says so.
    """
    if scene is None or scene.library is not None:
        return
    folder = folder or cache_place.cache_folder(scene)
    head = cache_look.look(folder).head
    keys = {body.key for body in head.bodies} if head is not None else set()
    for obj in roles.bodies(scene):
        key = key_of(obj)
        if key in keys and layout.play_path(folder, key).exists():
            if obj.sinew.key != key:
                obj.sinew.key = key  # it is found under this name even when it is renamed
            show(scene, obj, folder, key, is_undoable)
        elif lost_ones:
            playback.detach(obj)
            playing.detach(obj)
            present.drop(obj)
    if is_undoable:
        collider_forces.refresh(scene, folder, lost_ones)


def is_whole(scene: bpy.types.Scene) -> bool:
    """Whether the file has all that the present bake needs: broken meshes, and nodes for attributes."""
    folder = cache_place.cache_folder(scene)
    if scene.library is not None or cache_look.look(folder).head is None:
        return True
    return all(_is_whole(obj, folder, key_of(obj)) for obj in roles.bodies(scene))


def _is_whole(obj: bpy.types.Object, folder: Path, key: str) -> bool:
    if not present.has_result(folder, key):
        return playback.attached_file(obj) is None or playing.is_attached(obj, folder, key)
    shown = [made for made in results_of(obj) if made.type == "MESH"]
    return present.is_made(obj, folder, key) and all(playing.is_attached(made, folder, key) for made in shown)


def attach_one(obj: bpy.types.Object) -> None:
    """Makes what stands in for a broken body as its settings say by now; nothing where nothing does."""
    for scene in obj.users_scene:
        folder = cache_place.cache_folder(scene)
        if present.has_result(folder, key_of(obj)) and results_of(obj):
            show(scene, obj, folder, key_of(obj))
            return


def show(scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool = True) -> None:
    """Makes a body play what a cache has of it: its motion, what stands in for it, its attributes."""
    if obj.sinew.use_fracture and present.may_break(folder, key):
        modifier_place.settle(obj)
    playback.attach(obj, folder, key)
    shown = _show_result(scene, obj, folder, key, is_undoable)
    for each in shown or [obj]:
        modifier = playback.find_modifier(each)
        if modifier is not None:
            playing.attach(each, modifier, folder, key, is_undoable)
    if shown:
        playing.detach(obj)  # the files are of the vertices of what stands in for it


def _show_result(
    scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool
) -> list[bpy.types.Object]:
    """Lets what a broken body has become stand in for it, and returns it; why that cannot be, the panel says."""
    try:
        if present.has_result(folder, key) and (is_undoable or present.is_made(obj, folder, key)):
            return present.show(scene, obj, folder, key, is_undoable)
    except SinewError as problem:
        messages.remember(scene, messages.text_of(problem))
        if bpy.app.background:
            print(f"sinew: {messages.text_of(problem)}", file=sys.stderr)
    present.show_none(obj, folder, key)
    return []


def restore(scene: bpy.types.Scene) -> None:
    """Gives every body of `scene` back as it was before it was baked."""
    attach(scene)
    for obj in roles.bodies(scene):
        modifier_place.unsettle(obj)
    present.drop_orphans()


def mend(scene: bpy.types.Scene) -> None:
    """Empties paths that name no file: Blender's first save makes "//../" or the like of an empty one."""
    for obj in roles.bodies(scene) if scene.library is None else []:
        modifier = playback.find_modifier(obj)
        if modifier is not None and modifier.filepath and not modifier.filepath.endswith(".pc2"):
            modifier.filepath = ""
