# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Rigid Body Constraints that hold bodies of Sinew, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import bpy

from ...solver.runtime.errors import BadInput
from ..blender_data.rigid_body_world import moved_objects
from ..blender_data.rna_serialisation import animated_paths
from . import roles

ENABLED_PATH = "rigid_body_constraint.enabled"
SPRING_TYPE = "GENERIC_SPRING"
FORCE_SPRINGS = "SPRING2"  # Blender's name of springs whose damping is a force
WORLD_NAME = "the world"


def constraint_ends(obj: bpy.types.Object) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    """Returns the two objects of the constraint that an object carries."""
    return obj.rigid_body_constraint.object1, obj.rigid_body_constraint.object2


def constraints_of(scene: bpy.types.Scene, bodies: Collection[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects, by name, whose constraints hold some bodies of which one has a rigid part, and ever act."""
    found = []
    for obj in scene.objects:
        if obj.rigid_body_constraint is None:
            continue
        ends = [end for end in constraint_ends(obj) if end is not None]
        acts = obj.rigid_body_constraint.enabled or ENABLED_PATH in animated_paths(obj)
        if acts and any(end in bodies for end in ends) and any(_has_rigid_part(end) for end in ends):
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def is_body(obj: bpy.types.Object | None) -> bool:
    """Whether one end of a constraint is a body of Sinew."""
    return obj is not None and obj.sinew.role == roles.BODY


def carrier(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Returns what the end of a constraint that is no body moves with; None where both ends are bodies.

    This is the object at that end, or, where there is none, what carries the constraint.
    """
    others = [end for end in constraint_ends(obj) if not is_body(end)]
    return (others[0] or obj) if others else None


def find_carriers(scene: bpy.types.Scene, bodies: Collection[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns what constraints of some bodies are carried by, and what their other ends move with."""
    found = [(obj, carrier(obj)) for obj in constraints_of(scene, bodies)]
    return list(dict.fromkeys(each for pair in found for each in pair if each is not None))


def constraint_problems(scene: bpy.types.Scene) -> Iterator[BadInput]:
    """Yields what is wrong with the constraints of a scene, at most one thing about each."""
    found = constraints_of(scene, roles.bodies(scene))
    moved = moved_objects(scene) if found else set()
    problems = (constraint_problem(obj, scene, moved) for obj in found)
    yield from (problem for problem in problems if problem is not None)


def constraint_problem(
    obj: bpy.types.Object, scene: bpy.types.Scene, moved: Collection[bpy.types.Object]
) -> BadInput | None:
    """Returns what is wrong with the constraint that an object carries, or None.

    Args:
        obj: It.
        scene: Its scene.
        moved: What Blender's rigid body world moves there (`moved_objects`).
    """
    try:
        _check_constraint(obj, scene, moved)
    except BadInput as problem:
        return problem
    return None


def _check_constraint(obj: bpy.types.Object, scene: bpy.types.Scene, moved: Collection[bpy.types.Object]) -> None:
    ends = [end for end in constraint_ends(obj) if end is not None]
    if len(ends) == 2 and ends[0] == ends[1]:
        raise BadInput("joint-to-itself", name=obj.name, body=ends[0].name)
    for end in ends:
        other = next((each.name for each in ends if each != end), WORLD_NAME)
        if scene not in end.users_scene:
            raise BadInput("joint-end-elsewhere", name=obj.name, end=end.name, scene=scene.name)
        if is_body(end) and not _has_rigid_part(end):
            raise BadInput("joint-soft-end", name=obj.name, body=end.name)
        if end in moved and not is_body(end) and not roles.roles_of(end):
            raise BadInput("joint-other-world", name=obj.name, body=other, end=end.name)
    if obj.rigid_body_constraint.type == SPRING_TYPE and obj.rigid_body_constraint.spring_type != FORCE_SPRINGS:
        raise BadInput("joint-spring", name=obj.name)
    bodies = [end for end in ends if is_body(end)]
    if len({end.sinew.bake_pass for end in bodies}) > 1:
        raise BadInput("joint-between-passes", name=obj.name, first=bodies[0].name, second=bodies[1].name)


def _has_rigid_part(obj: bpy.types.Object) -> bool:
    return is_body(obj) and (roles.is_rigid(obj) or bool(obj.sinew.use_core))
