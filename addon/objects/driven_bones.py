# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies that drive the bones that they are children of, and where these bones may turn.

Each hangs on the body of the nearest bone above that has one. The basis of a bone is what its channels turn it by: the
angles of joints, and their limits, are those of the basis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.flesh_settings import POSE
from ..blender_data import sinew_modifier
from ..properties.role_definitions import BODY
from . import roles

AXES = "xyz"
MIN_LENGTH = 1.0e-6  # of a bone [Blender units], below which it has no direction


def is_driving_body(obj: bpy.types.Object) -> bool:
    """Whether a rigid body drives a bone of an armature."""
    if obj.type != "MESH" or obj.sinew.role != BODY or not roles.is_rigid(obj) or not obj.sinew.drives_bone:
        return False
    return _is_on_bone(obj)


def driving_bodies(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the rigid bodies of a scene that drive bones, by name."""
    return [obj for obj in roles.bodies(scene) if is_driving_body(obj)]


def drives(obj: bpy.types.Object, rig: bpy.types.Object, bone: str) -> bool:
    """Whether a body drives a bone of an armature."""
    return is_driving_body(obj) and obj.parent == rig and obj.parent_bone == bone


def driving_body_above(obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Object | None:
    """Returns the body that drives the nearest bone above that of a body, or None."""
    found = {each.parent_bone: each for each in driving_bodies(scene) if each.parent == obj.parent}
    return next(
        (found[b.name] for b in obj.parent.data.bones[obj.parent_bone].parent_recursive if b.name in found), None
    )


def driven_bones(scene: bpy.types.Scene, rig: bpy.types.Object) -> set[str]:
    """Returns the names of the bones of an armature that bodies drive."""
    return {obj.parent_bone for obj in driving_bodies(scene) if obj.parent == rig}


def bone_angle_limits(posed: bpy.types.PoseBone) -> tuple[Floats, Floats]:
    """Returns the least and the largest angles of a bone's basis about its x, y and z [rad], (3,); ∓∞ without limits.

    They are those of its last Limit Rotation in local space, or else its IK limits and locks.
    """
    low, high = np.full(3, -np.inf, float), np.full(3, np.inf, float)
    limits = [c for c in posed.constraints if c.type == "LIMIT_ROTATION" and c.owner_space == "LOCAL" and not c.mute]
    for row, axis in enumerate(AXES):
        if limits:
            if getattr(limits[-1], f"use_limit_{axis}"):
                low[row], high[row] = (getattr(limits[-1], f"{end}_{axis}") for end in ("min", "max"))
        elif getattr(posed, f"lock_ik_{axis}"):
            low[row] = high[row] = 0.0
        elif getattr(posed, f"use_ik_limit_{axis}"):
            low[row], high[row] = (getattr(posed, f"ik_{end}_{axis}") for end in ("min", "max"))
    return low, high


@dataclass(frozen=True)
class HeldFlesh:
    """A body that a driver holds: its object, and the vertex group of the bone."""

    flesh: bpy.types.Object
    group: str


def held_flesh(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[HeldFlesh]:
    """Yields the bodies that follow the bone of a driver by an Armature modifier, and which it holds."""
    if not obj.sinew.holds_flesh:
        return
    for body in roles.bodies(scene):
        if not roles.is_rigid(body) and not roles.is_sheet(body) and body.sinew.bake_pass == obj.sinew.bake_pass:
            if obj.parent_bone in body.vertex_groups and obj.parent in _rigs(body):
                yield HeldFlesh(body, obj.parent_bone)


def driving_body_problem(obj: bpy.types.Object, scene: bpy.types.Scene) -> BadInput | None:
    """Returns why a rigid body that is to drive its bone cannot; None where it can."""
    if not _is_on_bone(obj):
        return BadInput("bone-driver-without-bone", name=obj.name)
    rig, bone = obj.parent, obj.parent.data.bones[obj.parent_bone]
    if rig.library is not None:
        return BadInput("linked-without-override", name=rig.name)
    label = f"{rig.name}: {bone.name}"
    if bone.length < MIN_LENGTH:
        return BadInput("bone-without-length", name=label)
    other = next((o for o in driving_bodies(scene) if o != obj and (o.parent, o.parent_bone) == (rig, bone.name)), None)
    if other is not None:
        return BadInput("bone-driven-twice", name=label, first=obj.name, second=other.name)
    for held in held_flesh(obj, scene):
        if roles.is_flesh(held.flesh) and held.flesh.sinew.motion == POSE:
            return BadInput("driven-bone-of-pose", name=held.flesh.name, bone=label)
    low, high = bone_angle_limits(rig.pose.bones[bone.name])
    if (low > high).any():
        return BadInput("bone-limits", name=label, axis=AXES[int(np.argmax(low > high))].upper())
    leader = driving_body_above(obj, scene)
    if leader is not None and leader.sinew.bake_pass != obj.sinew.bake_pass:
        return BadInput("joint-between-passes", name=label, first=obj.name, second=leader.name)
    return None


def check_driving_bodies(scene: bpy.types.Scene) -> Iterator[BadInput]:
    """Yields what is wrong with the bodies of a scene that are to drive bones."""
    for obj in roles.bodies(scene):
        if roles.is_rigid(obj) and obj.sinew.drives_bone:
            problem = driving_body_problem(obj, scene)
            if problem is not None:
                yield problem


def _is_on_bone(obj: bpy.types.Object) -> bool:
    rig = obj.parent
    is_on_rig = rig is not None and rig.type == "ARMATURE" and obj.parent_type == "BONE"
    return is_on_rig and obj.parent_bone in rig.data.bones


def _rigs(body: bpy.types.Object) -> set[bpy.types.Object]:
    """Returns the armatures that pose the mesh of a body by vertex groups."""
    above = list(body.modifiers)[: sinew_modifier.input_modifier_count(body)]
    return {m.object for m in above if m.type == "ARMATURE" and m.object is not None and m.use_vertex_groups}
