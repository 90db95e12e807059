# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's rigid body world and the objects that it moves.

What Sinew moves is taken out of the collection of the world, which alone says what takes part. So all settings of the
object stay as they are, in the file and in Blender's panel, and an object that is linked again moves as before.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy


def moved_objects(scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """Returns the objects that the rigid body world of a scene moves, at least at some frames."""
    world = scene.rigidbody_world
    if world is None or not world.enabled or world.collection is None:
        return set()
    return {obj for obj in world.collection.all_objects if obj.rigid_body is not None and _may_move(obj.rigid_body)}


def take_out(obj: bpy.types.Object) -> None:
    """Takes an object that moves out of Blender's rigid body worlds; one that does not move stays an obstacle there.

    So does one that would no longer be in its scene, where the collection of the world is part of that.
    """
    if obj.rigid_body is None or obj.rigid_body.type != "ACTIVE":
        return
    for scene, world in _worlds(obj):
        if _may_leave(obj, scene, world.collection):
            world.collection.objects.unlink(obj)
            obj.sinew.is_out_of_world = True
            _clear_cache(world)


def stays_in_world(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether Blender's rigid body world moves an object that cannot be taken out of it."""
    return obj in moved_objects(scene) and not _may_leave(obj, scene, scene.rigidbody_world.collection)


def give_back(obj: bpy.types.Object) -> None:
    """Puts an object that was taken out into the rigid body worlds of its scenes."""
    if not obj.sinew.is_out_of_world:
        return
    obj.sinew.is_out_of_world = False
    for _, world in _worlds(obj) if obj.rigid_body is not None else ():
        if obj not in world.collection.objects.values() and _is_editable(world.collection):
            world.collection.objects.link(obj)
            _clear_cache(world)


def detach(copy: bpy.types.Scene) -> None:
    """Takes all objects out of the rigid body world of a copy of a scene.

    The copy shares the collections of the original. With it Blender would delete what Bullet has of these objects,
    which the world of the original still uses, and crash later.
    """
    world = copy.rigidbody_world
    if world is not None:
        world.enabled = False
        world.collection = world.constraints = None


def _may_leave(obj: bpy.types.Object, scene: bpy.types.Scene, collection: bpy.types.Collection) -> bool:
    """Whether an object is in a collection, and stays in a scene when it is taken out of it."""
    others = {scene.collection, *scene.collection.children_recursive} - {collection}
    is_in = obj in collection.objects.values() and _is_editable(collection)
    return is_in and bool(others & {*obj.users_collection})


def _is_editable(collection: bpy.types.Collection) -> bool:
    """Whether Blender lets objects be linked to a collection and unlinked: it is neither linked nor overridden."""
    return collection.library is None and collection.override_library is None


def _worlds(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Scene, bpy.types.RigidBodyWorld]]:
    """Yields the scenes that have an object, with their rigid body worlds."""
    for scene in obj.users_scene:
        world = scene.rigidbody_world
        if world is not None and world.collection is not None:
            yield scene, world


def _may_move(settings: bpy.types.RigidBodyObject) -> bool:
    return bool(settings.type == "ACTIVE" and settings.enabled)


def _clear_cache(world: bpy.types.RigidBodyWorld) -> None:
    """Lets Blender simulate anew: it notices that a value was set, but not that its collection has changed."""
    world.time_scale = world.time_scale
