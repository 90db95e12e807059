# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's rigid body world and the objects that it moves.

What Sinew moves is taken out of the collection of the world, which alone says what takes part. So all settings of the
object stay as they are, in the file and in Blender's panel, and an object that is linked again moves as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import bpy

from .rna_serialisation import animated_paths


def moved_objects(scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """Returns the objects that the rigid body world of a scene moves, at least at some frames."""
    world = scene.rigidbody_world
    if world is None or not world.enabled or world.collection is None:
        return set()
    return {obj for obj in world.collection.all_objects if obj.rigid_body is not None and _may_move(obj)}


def take_out(obj: bpy.types.Object) -> set[int]:
    """Takes an object that moves out of Blender's rigid body worlds; one that does not move stays an obstacle there.

    So does one that would no longer be in its scene, where the collection of the world is part of that.

    Returns:
        Session ids of the collections that it was taken from.
    """
    taken: set[int] = set()
    if obj.rigid_body is None or obj.rigid_body.type != "ACTIVE":
        return taken
    for scene, world in _worlds(obj):
        held_by = _held_by(obj, world)
        if held_by and _keeper(obj, scene, world) is None:
            for collection in held_by:
                collection.objects.unlink(obj)
                _remember(obj, collection)
                taken.add(collection.session_uid)
            _clear_cache(world)
    return taken


def keeper(obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection | None:
    """Returns the collection that keeps an object in the rigid body world, which moves it; None where it may leave."""
    return _keeper(obj, scene, scene.rigidbody_world) if obj in moved_objects(scene) else None


def is_editable(collection: bpy.types.Collection) -> bool:
    """Whether Blender lets objects be linked to a collection and unlinked: it is neither linked nor overridden."""
    return collection.library is None and collection.override_library is None


def give_back(obj: bpy.types.Object, only: Collection[int] | None = None) -> None:
    """Puts an object that was taken out into those collections of the rigid body worlds that it was taken from.

    Args:
        obj: The object.
        only: Session ids of the only collections that it goes back to; None: all.
    """
    rows = obj.sinew.left_collections
    for i in reversed(range(len(rows))):
        left = rows[i].collection
        if left is None or only is None or left.session_uid in only:
            rows.remove(i)
            if left is not None and obj.rigid_body is not None:
                _put_back(obj, left)
    obj.sinew.is_out_of_world = len(rows) > 0


def _put_back(obj: bpy.types.Object, left: bpy.types.Collection) -> None:
    """Links an object to a collection, where that still is of a rigid body world of one of its scenes."""
    worlds = [world for _, world in _worlds(obj) if left in _collections(world)]
    if worlds and is_editable(left) and left not in obj.users_collection:
        left.objects.link(obj)
        for world in worlds:
            _clear_cache(world)


def _remember(obj: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Notes in the file that an object was taken out of a collection."""
    rows = obj.sinew.left_collections
    if all(row.collection != collection for row in rows):
        rows.add().collection = collection
    obj.sinew.is_out_of_world = True


def detach(copy: bpy.types.Scene) -> None:
    """Takes all objects out of the rigid body world of a copy of a scene.

    The copy shares the collections of the original. With it Blender would delete what Bullet has of these objects,
    which the world of the original still uses, and crash later.
    """
    world = copy.rigidbody_world
    if world is not None:
        world.enabled = False
        world.collection = world.constraints = None


def _keeper(
    obj: bpy.types.Object, scene: bpy.types.Scene, world: bpy.types.RigidBodyWorld
) -> bpy.types.Collection | None:
    """Returns a collection that an object in a world cannot leave: it is not editable, or alone has it in the scene."""
    held_by = _held_by(obj, world)
    others = {scene.collection, *scene.collection.children_recursive} - {*held_by}
    fixed = [collection for collection in held_by if not is_editable(collection)]
    return next(iter(fixed if others & {*obj.users_collection} else fixed or held_by), None)


def _held_by(obj: bpy.types.Object, world: bpy.types.RigidBodyWorld) -> list[bpy.types.Collection]:
    """Returns the collections of a rigid body world that an object is in."""
    users = {*obj.users_collection}
    return [collection for collection in _collections(world) if collection in users]


def _collections(world: bpy.types.RigidBodyWorld) -> list[bpy.types.Collection]:
    """Returns the collection of a rigid body world and all those in it, whose objects take part as well."""
    return list(dict.fromkeys((world.collection, *world.collection.children_recursive)))


def _worlds(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Scene, bpy.types.RigidBodyWorld]]:
    """Yields the scenes that have an object, with their rigid body worlds."""
    for scene in obj.users_scene:
        world = scene.rigidbody_world
        if world is not None and world.collection is not None:
            yield scene, world


def _may_move(obj: bpy.types.Object) -> bool:
    """Whether an object is Active, and Dynamic now or, being animated, at other frames."""
    found = obj.rigid_body
    return bool(found.type == "ACTIVE" and (found.enabled or "rigid_body.enabled" in animated_paths(obj)))


def _clear_cache(world: bpy.types.RigidBodyWorld) -> None:
    """Lets Blender simulate anew: it notices that a value was set, but not that its collection has changed."""
    world.time_scale = world.time_scale
