# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts: wireframe copies of the bodies that play another take beside the present one, and are never rendered."""

from __future__ import annotations

from pathlib import Path

import bpy
from mathutils import Matrix

from ...solver.bake.cache import CacheMetadata, layout
from ...solver.bake.cache.pc2 import read_header
from ..blender_data import motion_track, sinew_modifier
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..playback import attribute_modifier, mesh_cache, solved_frame
from ..properties.role_definitions import NONE
from . import roles

COLLECTION_NAME = "Sinew Ghosts"
GHOST_TAKE_KEY = "sinew_ghost_take"  # custom property with the name of the take that a ghost plays
MODIFIER_NAME = "Sinew Ghost"


def ghosts(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the ghosts of a scene."""
    return [obj for obj in scene.objects if GHOST_TAKE_KEY in obj]


def shown_takes(scene: bpy.types.Scene) -> set[str]:
    """Returns the names of the takes that ghosts play."""
    return {obj[GHOST_TAKE_KEY] for obj in ghosts(scene)}


def remove(scene: bpy.types.Scene, take: str | None = None) -> None:
    """Removes the ghosts of a take, or all."""
    for obj in ghosts(scene):
        if take is None or obj[GHOST_TAKE_KEY] == take:
            bpy.data.objects.remove(obj)
    for collection in list(scene.collection.children):
        if collection.library is None and _is_for_ghosts(collection) and not collection.all_objects:
            bpy.data.collections.remove(collection)


def show(scene: bpy.types.Scene, take: str, folder: Path) -> list[bpy.types.Object]:
    """Makes a ghost of every body that a take has with as many vertices as the present bake, and returns them.

    Args:
        scene: The scene.
        take: The name of the take.
        folder: Its cache.

    Raises:
        StorageFailed: A cache cannot be read.
    """
    remove(scene, take)
    made = []
    for obj in roles.bodies(scene):
        key, own = body_key(obj), body_folder(scene, obj, folder)
        path = layout.play_path(own, key)
        if not path.exists():
            continue
        head, present = CacheMetadata.load(own), cache_folder_status.read_status(body_folder(scene, obj)).metadata
        vertices = {body.key: body.vertices for each in (head, present) if each is not None for body in each.bodies}
        if read_header(path).vertices == vertices.get(key):
            made.append(_make_ghost(scene, obj, take, head, path))
    return made


def move(scene: bpy.types.Scene, take: str, folder: Path) -> None:
    """Lets the ghosts of a take play it in another folder."""
    for obj in ghosts(scene):
        modifier = sinew_modifier.find_modifier(obj)
        if obj[GHOST_TAKE_KEY] == take and modifier is not None:
            former = Path(modifier.filepath.replace("\\", "/"))
            own = folder / layout.inner_cache(former.parent.parent)
            mesh_cache.play_file(obj, modifier, CacheMetadata.load(own), layout.play_path(own, former.stem))


def _make_ghost(
    scene: bpy.types.Scene, obj: bpy.types.Object, take: str, head: CacheMetadata, path: Path
) -> bpy.types.Object:
    ghost = obj.copy()
    ghost.name, ghost[GHOST_TAKE_KEY] = f"{obj.name} Ghost", take
    modifier = sinew_modifier.find_modifier(ghost) or ghost.modifiers.new(MODIFIER_NAME, "MESH_CACHE")
    modifier.name = MODIFIER_NAME
    own = ghost.sinew
    own.role, own.extra_roles, own.key, own.modifier_uid, own.affect_group = NONE, set(), "", 0, ""
    attribute_modifier.detach(ghost)
    solved_frame.remove([ghost])
    if ghost.field is not None:
        ghost.field.type = "NONE"  # that of the body would act twice
    if motion_track.find_track(obj) is None:
        _follow(ghost, obj)
    else:
        motion_track.remove_from_copy(ghost)  # its file is for where the artist has animated the body
    ghost.display_type, ghost.hide_render, ghost.hide_select, ghost.hide_viewport = "WIRE", True, True, False
    _collection(scene).objects.link(ghost)
    mesh_cache.play_file(ghost, modifier, head, path)
    return ghost


def _follow(ghost: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Lets a ghost move with its body, however that is animated."""
    ghost.animation_data_clear()
    ghost.constraints.clear()
    ghost.parent, ghost.parent_type, ghost.matrix_parent_inverse = obj, "OBJECT", Matrix()
    ghost.matrix_basis = Matrix()
    ghost.delta_location, ghost.delta_scale = (0, 0, 0), (1, 1, 1)
    ghost.delta_rotation_euler, ghost.delta_rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)


def _collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    # one for each scene, since all that is in it is in the scene
    own = (each for each in scene.collection.children if each.library is None and _is_for_ghosts(each))
    found = next(own, None)
    if found is None:
        found = bpy.data.collections.new(COLLECTION_NAME)
        scene.collection.children.link(found)
    return found


def _is_for_ghosts(collection: bpy.types.Collection) -> bool:
    return collection.name.partition(".")[0] == COLLECTION_NAME
