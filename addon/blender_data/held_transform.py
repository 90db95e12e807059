# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds bones and objects where a live run or a bake that goes on has them: two constraints with equal limits.

They are the last of their stacks. No key, channel or data-block is touched, so taking them away puts all back as it
was, for an undo step or a save too. What hangs on a bone goes along with it. A connected bone keeps its head at the
tail of its parent, where its joint has it. Inverse kinematics come after the constraints of their bones, and keep what
they move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats

LOCATION_NAME, ROTATION_NAME = "Sinew Location", "Sinew Rotation"
AXES = "xyz"


def hold(owner: bpy.types.Object | bpy.types.PoseBone, matrix: Matrix) -> None:
    """Holds an object at a matrix of the world, or a bone at one of its armature; its scale stays as it is."""
    space = "WORLD" if isinstance(owner, bpy.types.Object) else "POSE"
    location = _constraint(owner, LOCATION_NAME, "LIMIT_LOCATION", space)
    rotation = _constraint(owner, ROTATION_NAME, "LIMIT_ROTATION", space)
    turned = matrix.to_euler("XYZ")
    for axis, place, angle in zip(AXES, matrix.translation, turned, strict=True):
        for end in ("min", "max"):
            setattr(location, f"{end}_{axis}", place)
            setattr(rotation, f"{end}_{axis}", angle)


def hold_bone(rig: bpy.types.Object, bone: str, matrix: Floats) -> None:
    """Holds a bone of an armature at a matrix of the world [Blender units], (4, 4)."""
    hold(rig.pose.bones[bone], Matrix(np.linalg.inv(np.array(rig.matrix_world)) @ matrix))


def artist_constraints(owner: bpy.types.Object | bpy.types.PoseBone) -> Iterator[bpy.types.Constraint]:
    """Yields the constraints of an object or a bone that Sinew has not made."""
    return (each for each in owner.constraints if each.name not in (LOCATION_NAME, ROTATION_NAME))


def let_go_all() -> None:
    """Lets everything in the file be where the artist has it."""
    let_go(obj for obj in bpy.data.objects if obj.library is None)


def let_go(objects: Iterable[bpy.types.Object]) -> None:
    """Lets objects, and the bones of those that are armatures, be where the artist has them."""
    for obj in objects:
        for owner in (obj, *(obj.pose.bones if obj.pose is not None else ())):
            for name in (LOCATION_NAME, ROTATION_NAME):
                constraint = owner.constraints.get(name)
                if constraint is not None:
                    owner.constraints.remove(constraint)


def _constraint(
    owner: bpy.types.Object | bpy.types.PoseBone, name: str, kind: str, space: str
) -> bpy.types.LimitLocationConstraint | bpy.types.LimitRotationConstraint:
    """Returns the constraint of a name, which is made and set up where it is not there."""
    found = owner.constraints.get(name)
    if found is not None:
        return found
    made = owner.constraints.new(kind)
    made.name, made.owner_space, made.show_expanded = name, space, False
    for axis in AXES:
        for flag in ("use_limit",) if kind == "LIMIT_ROTATION" else ("use_min", "use_max"):
            setattr(made, f"{flag}_{axis}", True)
    if kind == "LIMIT_ROTATION":
        made.euler_order = "XYZ"
    return made
