# SPDX-License-Identifier: GPL-3.0-or-later
"""The participants of a bake without those that only bodies which are left out need."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import bpy

from ..objects.attachment_rows import attachment_targets
from ..objects.rigid_body_constraints import constraints_of
from ..objects.roles import is_flesh
from .bone_meshes import bones_that_hold
from .fibre_objects import find_fibre_objects
from .participants import Participants, followed_objects


def only_bodies(inputs: Participants, bodies: Collection[bpy.types.Object], *, follow: bool = False) -> Participants:
    """Returns participants with some of their bodies, and with what these need.

    Args:
        inputs: The participants.
        bodies: Those that stay.
        follow: Whether the others move as they are baked, and those that stay meet them so.
    """
    kept = {obj: key for obj, key in inputs.bodies.items() if obj in bodies}
    others = {obj: key for obj, key in inputs.bodies.items() if follow and obj not in kept}
    holding = set(bones_that_hold(inputs.scene, kept))
    followed, joints = set(followed_objects(inputs.scene, kept)), set(constraints_of(inputs.scene, kept))
    fibres, wraps = set(find_fibre_objects(kept)), {obj.sinew.wrap for obj in kept}
    return replace(
        inputs,
        bodies=kept,
        bones={obj: key for obj, key in inputs.bones.items() if obj in holding},
        armature_bones=[bone for bone in inputs.armature_bones if bone.body in kept],
        followed_objects={obj: key for obj, key in inputs.followed_objects.items() if obj in followed},
        fibre_objects={obj: key for obj, key in inputs.fibre_objects.items() if obj in fibres},
        wraps={obj: key for obj, key in inputs.wraps.items() if obj in wraps},
        grounds=inputs.grounds | others,
        joints={obj: key for obj, key in inputs.joints.items() if obj in joints},
    )


def with_attached_flesh(bodies: Iterable[bpy.types.Object]) -> set[bpy.types.Object]:
    """Returns bodies, and the flesh that they and their Wraps are attached to, and so on."""
    found, waiting = set[bpy.types.Object](), list(bodies)
    while waiting:
        obj = waiting.pop()
        if obj not in found:
            found.add(obj)
            waiting += [target for target in attachment_targets(obj) if is_flesh(target)]
    return found
