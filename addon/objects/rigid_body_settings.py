# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own Rigid Body settings of an object mean to Sinew.

Bullet, which moves Blender's rigid bodies, multiplies the frictions of both; Sinew has √(μ₁ μ₂) between bodies, and
the friction of the collider alone against one. With the square of Blender's friction, two bodies have Bullet's product,
and a collider holds what has the same friction as Bullet does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import bpy

from ...solver.scene.settings.collision_settings import BODY_FRICTION, COLLIDER_FRICTION
from ...solver.scene.settings.material_settings import DENSITY
from ...solver.scene.settings.size_and_start_settings import ANIMATED
from . import roles

# what is read of them; of a collider the friction alone
BODY_PROPERTIES = (
    "type",
    "enabled",
    "kinematic",
    "mass",
    "friction",
    "collision_shape",
    "linear_damping",
    "angular_damping",
)
COLLIDER_PROPERTIES = ("friction",)
ANIMATED_PATHS = ("rigid_body.kinematic", "rigid_body.enabled")
# Sinew's own settings of bodies and colliders that do not count where Blender's do
SETTINGS_OF_BLENDER = {DENSITY.name, BODY_FRICTION.name, ANIMATED.name, COLLIDER_FRICTION.name}
MIN_KEPT_SHARE = 1.0e-300  # of a velocity after a second: with a damping of 1 Bullet leaves none
# shapes that have the mesh itself
MESH_SHAPES = {"MESH", "COMPOUND"}


def counting_rigid_body(obj: bpy.types.Object) -> bpy.types.RigidBodyObject | None:
    """Returns Blender's settings of a rigid body or a collider, where they count; None elsewhere."""
    if obj.rigid_body is None or not obj.sinew.use_rigid_body:
        return None
    if obj.sinew.role == roles.BODY:
        return obj.rigid_body if roles.is_rigid(obj) else None
    return obj.rigid_body if roles.has_role(obj, roles.COLLIDER) else None


def follows_animation(rigid_body: bpy.types.RigidBodyObject) -> bool:
    """Whether an object goes where its animation has it now: Passive, Animated, or not Dynamic."""
    return bool(rigid_body.type == "PASSIVE" or rigid_body.kinematic or not rigid_body.enabled)


def friction(rigid_body: bpy.types.RigidBodyObject) -> float:
    """Returns Coulomb's μ that gives what Bullet has between two objects of the same friction."""
    return float(rigid_body.friction) ** 2


def damping_rates(rigid_body: bpy.types.RigidBodyObject) -> tuple[float, float]:
    """Returns what motion and spin lose of themselves per second [1/s]: Bullet leaves (1 − d)^Δt of them in a step."""
    kept = (max(1.0 - share, MIN_KEPT_SHARE) for share in (rigid_body.linear_damping, rigid_body.angular_damping))
    linear, angular = (max(-math.log(share), 0.0) for share in kept)
    return linear, angular


def collision_layers(obj: bpy.types.Object) -> frozenset[int] | None:
    """Returns the numbers of Blender's collision collections that an object is in; None where they do not count."""
    rigid_body = counting_rigid_body(obj)
    return (
        None
        if rigid_body is None
        else frozenset(n for n, is_in in enumerate(rigid_body.collision_collections) if is_in)
    )


def rigid_body_world_meshes(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yields the meshes of Blender's rigid body world that Sinew has no role for."""
    world = scene.rigidbody_world
    members = world.collection.all_objects if world is not None and world.collection is not None else ()
    for obj in members:
        if obj.type == "MESH" and obj.rigid_body is not None and not roles.roles_of(obj):
            if obj.name in scene.objects and obj.sinew.result_of is None:
                yield obj
