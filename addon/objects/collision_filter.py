# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects collide: each is in the other's Collision Collection; without one, an object collides with all.

Rigid bodies that keep Blender's settings also share one of the collision collections of its rigid body world.

Flesh never collides with the bones that may hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import bpy

from ..properties.role_definitions import BODY, BONE
from . import roles
from .flesh_supports import is_bone_of
from .rigid_body_settings import collision_layers

CollectionMembers = dict[bpy.types.Object, set[bpy.types.Object]]
CollisionLayers = dict[bpy.types.Object, frozenset[int]]


def ignored_objects(scene: bpy.types.Scene) -> Iterator[tuple[bpy.types.Object, bpy.types.Object]]:
    """Yields the bodies with the other bodies and the colliders that they pass through, each pair once."""
    bodies, colliders = roles.bodies(scene), roles.colliders(scene)
    members, layers = _members([*bodies, *colliders]), _layers([*bodies, *colliders])
    has_bones = any(roles.has_role(collider, BONE) for collider in colliders)
    if not members and not has_bones and not _leave_out(layers):
        return
    for number, body in enumerate(bodies):
        for other in [*bodies[number + 1 :], *colliders]:
            if not _can_collide(members, layers, body, other):
                yield body, other


def ignored_pairs(scene: bpy.types.Scene, keys: Mapping[bpy.types.Object, str]) -> tuple[tuple[str, str], ...]:
    """Returns `Scene.ignored_pairs` of the solver; `keys` are those of the bodies and colliders that are read."""
    return tuple((keys[body], keys[other]) for body, other in ignored_objects(scene) if body in keys and other in keys)


def has_filters(scene: bpy.types.Scene) -> bool:
    """Whether any body or collider of a scene does not collide with everything."""
    objects = [*roles.bodies(scene), *roles.colliders(scene)]
    return bool(_members(objects)) or _leave_out(_layers(objects))


def collision_partners(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the bodies and colliders that a body or a collider touches, itself left out."""
    others = _others(scene, obj)
    members, layers = _members([obj, *others]), _layers([obj, *others])
    return [other for other in others if _can_collide(members, layers, obj, other)]


def excluded_by(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Object | None:
    """Returns the first object that this one's Collision Collection admits and whose own one leaves it out, or None."""
    others = _others(scene, obj)
    members = _members([obj, *others])
    wanted = (other for other in others if other in members.get(obj, (other,)))
    return next((other for other in wanted if obj not in members.get(other, (obj,))), None)


def _others(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns all that a body or a collider may touch."""
    others = roles.bodies(scene)
    if obj.sinew.role == BODY:
        others = [*others, *roles.colliders(scene)]
    return [other for other in others if other != obj]


def _can_collide(members: CollectionMembers, layers: CollisionLayers, a: bpy.types.Object, b: bpy.types.Object) -> bool:
    is_chosen = b in members.get(a, (b,)) and a in members.get(b, (a,))
    is_apart = a in layers and b in layers and not layers[a] & layers[b]
    return is_chosen and not is_apart and not is_bone_of(a, b) and not is_bone_of(b, a)


def _layers(objects: Iterable[bpy.types.Object]) -> CollisionLayers:
    """Returns Blender's collision collections of the objects for which they count."""
    found = ((obj, collision_layers(obj)) for obj in objects)
    return {obj: layers for obj, layers in found if layers is not None}


def _leave_out(layers: CollisionLayers) -> bool:
    """Whether Blender's collision collections may keep any two objects from colliding."""
    return len(set(layers.values())) > 1 or frozenset() in layers.values()


def _members(objects: Iterable[bpy.types.Object]) -> CollectionMembers:
    """Returns the objects of the collection that each one collides with, of those that have one."""
    chosen = {obj: obj.sinew.collision_collection for obj in objects}
    return {obj: set(found.all_objects) for obj, found in chosen.items() if found is not None}
