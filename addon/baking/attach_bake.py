# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaches the bake on disk to the bodies of a scene, which then play it: after a bake, a load, an undo."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ...solver.runtime.errors import SinewError, StorageFailed
from ..blender_data import sinew_modifier
from ..blender_data.names_at_first_bake import remember_names
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import body_folder
from ..fracture_meshes import show_results
from ..fracture_meshes.result_objects import results_of
from ..objects import roles
from ..objects.rigid_body_constraints import constraints_of, find_carriers
from ..playback import attribute_modifier, mesh_cache, wrap_motion
from . import attach_force_curves, attach_motion, attach_pose_motion, error_messages, last_failure


def attach(
    scene: bpy.types.Scene, detach_missing: bool = True, folder: Path | None = None, is_undoable: bool = True
) -> None:
    """Makes every body of `scene` play the present bake, and its own mesh where there is none.

    Args:
        scene: The scene.
        detach_missing: Whether bodies without a bake on disk stop playing. False where the drive may come back.
        folder: Where the present bake, with all its passes, is while the .blend changes its place.
        is_undoable: Whether an undo step follows. Without, as in a timer or after an undo, no data-block is made or
            pointed to (`undo_step.py`): a body that broke is hidden from its first crack on, and `is_whole` says so.
    """
    if scene is None or scene.library is not None:
        return
    folder, is_baked = folder or cache_paths.cache_folder(scene), False
    bodies = attach_motion.leaders_first(roles.bodies(scene))
    played = {obj: (body_folder(scene, obj, folder), body_key(obj)) for obj in bodies}
    played = {obj: own for obj, own in played.items() if _has_bake(*own)}
    attach_pose_motion.attach(scene, played, detach_missing, is_undoable)
    if is_undoable:
        attach_motion.write_strips(scene, played)
    for obj in bodies:
        key, own = body_key(obj), body_folder(scene, obj, folder)
        if _has_bake(own, key) and _attach_existing(scene, obj, own, key, is_undoable):
            is_baked = True
        elif detach_missing:
            mesh_cache.detach(obj)
            attach_motion.detach(obj, is_undoable)
            attribute_modifier.detach(obj)
            show_results.restore_body(obj)
    if is_baked:
        remember_names(obj for obj in scene.objects if roles.roles_of(obj))
        remember_names([*constraints_of(scene, roles.bodies(scene)), *find_carriers(scene, roles.bodies(scene))])
    _attach_wraps(scene, folder, detach_missing)
    if is_undoable:
        attach_force_curves.refresh_curves(scene, folder, detach_missing)


def _has_bake(folder: Path, key: str) -> bool:
    head = cache_folder_status.read_status(folder).metadata
    return head is not None and any(b.key == key for b in head.bodies) and layout.play_path(folder, key).exists()


def _attach_existing(scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool) -> bool:
    """Makes a body play its bake; returns False if another process has deleted that since its status was read."""
    try:
        attach_body(scene, obj, folder, key, is_undoable)
    except StorageFailed as problem:
        if problem.kind != "cache-missing":
            raise
        return False
    if obj.sinew.key != key:
        obj.sinew.key = key  # it is found under this name even when it is renamed
    return True


def _attach_wraps(scene: bpy.types.Scene, folder: Path, detach_missing: bool) -> None:
    """Makes the Wraps of bodies play the bake in a folder; those that no body names any more show their own shape."""
    wraps = {each for each in roles.wraps(scene) if each.library is None}  # linked ones play as in their own file
    for obj in roles.bodies(scene):
        wrap, key, own = obj.sinew.wrap, body_key(obj), body_folder(scene, obj, folder)
        if wrap in wraps and (detach_missing or layout.wrap_path(own, key).exists()):
            wrap_motion.attach(wrap, own, key)
            wraps.discard(wrap)
    for wrap in wraps if detach_missing else ():
        mesh_cache.detach(wrap)


def is_whole(scene: bpy.types.Scene) -> bool:
    """Whether the file has all that the present bake needs: broken meshes, and nodes for attributes."""
    folder = cache_paths.cache_folder(scene)
    if scene.library is not None or cache_folder_status.read_status(folder).metadata is None:
        return True
    return all(_is_whole(scene, obj, body_folder(scene, obj, folder), body_key(obj)) for obj in roles.bodies(scene))


def _is_whole(scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str) -> bool:
    if _has_bake(folder, key) and not attach_motion.is_attached(scene, obj, folder, key):
        return False
    if not show_results.has_result(folder, key):
        return mesh_cache.attached_file(obj) is None or attribute_modifier.is_attached(obj, folder, key)
    shown = [made for made in results_of(obj) if made.type == "MESH"]
    return show_results.has_result_objects(obj, folder, key) and all(
        attribute_modifier.is_attached(made, folder, key) for made in shown
    )


def refresh_result(obj: bpy.types.Object) -> None:
    """Remakes the result objects of a broken body after its settings changed; does nothing if it has none."""
    for scene in obj.users_scene:
        folder = body_folder(scene, obj)
        if show_results.has_result(folder, body_key(obj)) and results_of(obj):
            attach_body(scene, obj, folder, body_key(obj))
            return


def attach_body(
    scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool = True
) -> None:
    """Makes a body play what a cache has of it: its motion, what stands in for it, its attributes."""
    if obj.sinew.use_fracture and show_results.may_break(folder, key):
        sinew_modifier.move_below_subdivision(obj)
    if attach_motion.attach(scene, obj, folder, key, is_undoable):
        mesh_cache.detach(obj)
    else:
        mesh_cache.attach(obj, folder, key)
    shown = _attach_result(scene, obj, folder, key, is_undoable)
    for each in shown or [obj]:
        modifier = sinew_modifier.find_modifier(each)
        if modifier is not None:
            attribute_modifier.attach(each, modifier, folder, key, is_undoable)
    if shown:
        attribute_modifier.detach(obj)  # the files are of the vertices of what stands in for it


def _attach_result(
    scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool
) -> list[bpy.types.Object]:
    """Replaces a broken body by its result objects and returns them.

    On failure it stores the message for the panel and shows the original.
    """
    try:
        if show_results.has_result(folder, key) and (is_undoable or show_results.has_result_objects(obj, folder, key)):
            return show_results.show_result(scene, obj, folder, key, is_undoable)
    except SinewError as problem:
        last_failure.store_failure_text(scene, error_messages.error_text(problem))
        if bpy.app.background:
            print(f"sinew: {error_messages.error_text(problem)}", file=sys.stderr)
    show_results.show_original(obj, folder, key)
    return []


def restore(scene: bpy.types.Scene) -> None:
    """Gives every body of `scene` back as it was before it was baked."""
    attach(scene)
    for obj in roles.bodies(scene):
        sinew_modifier.restore_stack_index(obj)
    show_results.remove_orphans()


def repair_empty_paths(scene: bpy.types.Scene) -> None:
    """Empties paths that name no file: Blender's first save makes "//../" or the like of an empty one."""
    for obj in [*roles.bodies(scene), *roles.wraps(scene)] if scene.library is None else []:
        modifier = sinew_modifier.find_modifier(obj)
        if modifier is not None and modifier.filepath and not modifier.filepath.endswith(".pc2"):
            modifier.filepath = ""
