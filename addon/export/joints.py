# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Rigid Body Constraints as joints of the scene, and their tracks.

Measured of Blender 5.0, whose constraints are Bullet's, with A the first object and B the second:

    translations and their limits: of B in the frame of A
    angles and their limits, rates of motors: of A in the frame of B, x y z as of `Joint`
    Max Impulse of motors: a force [N] or torque [N m]
    springs of Blender 2.8: forces by stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad]
    Breaking Threshold: an impulse [N s] in one of Blender's substeps

So B is the first end of a joint. Where translations have springs, or limits to move in, A is: angles and their limits
are negative then, which is the same as long as only one of them is free.
"""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.joint import (
    AXIS_COUNT,
    FIXED_JOINT,
    GENERIC_JOINT,
    HINGE_JOINT,
    HINGE_ROW,
    MOTOR_JOINT,
    MOTOR_ROWS,
    POINT_JOINT,
    SLIDER_JOINT,
    SLIDER_ROW,
    UNLIMITED,
    Joint,
)
from ..blender_data.names_at_first_bake import name_at_first_bake
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts
from ..evaluation.matrix_units import scale_to_metres
from ..evaluation.sample_times import frames_per_second
from ..evaluation.scene_copy import SceneCopy
from ..objects.rigid_body_constraints import ENABLED_PATH, SPRING_TYPE, WORLD_NAME, carrier, constraint_ends, is_body
from .bone_meshes import RestTransform
from .participants import ObjectKeys, Participants
from .sampling_context import Sampling
from .validation import check_matrix

KINDS = {
    "FIXED": FIXED_JOINT,
    "POINT": POINT_JOINT,
    "HINGE": HINGE_JOINT,
    "SLIDER": SLIDER_JOINT,
    "PISTON": GENERIC_JOINT,
    "GENERIC": GENERIC_JOINT,
    SPRING_TYPE: GENERIC_JOINT,
    "MOTOR": MOTOR_JOINT,
}
SPRING_AXES = ("x", "y", "z", "ang_x", "ang_y", "ang_z")
AXES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")  # in the order of `Joint.lower`
ANGLE_ROWS = slice(3, AXIS_COUNT)
# the rows of which Blender reads limits; the others are locked, or free
READ_ROWS = {
    "HINGE": (HINGE_ROW,),
    "SLIDER": (SLIDER_ROW,),
    "PISTON": MOTOR_ROWS,
    "GENERIC": tuple(range(AXIS_COUNT)),
    SPRING_TYPE: tuple(range(AXIS_COUNT)),
}
LEAST_FORCE = 1.0e-9  # [N] at which a joint breaks whose threshold is 0
DEFAULT_SUBSTEPS = 10  # of a scene without a rigid body world
UNREAD = {"object1", "object2", "use_override_solver_iterations", "solver_iterations"}
SPRING_PREFIXES = ("use_spring_", "spring_")


def read_joints(scene_copy: SceneCopy, inputs: Participants) -> tuple[Joint, ...]:
    """Returns the joints of the bodies that take part, evaluated in the rest pose.

    Raises:
        BadInput: One joins a body to one that moves as it is baked.
    """
    return tuple(_read_joint(scene_copy, inputs, obj, key) for obj, key in inputs.joints.items())


def _read_joint(scene_copy: SceneCopy, inputs: Participants, obj: bpy.types.Object, key: str) -> Joint:
    ends = constraint_ends(obj)  # original objects, not evaluated ones
    for end in ends:
        if end is not None and is_body(end) and end not in inputs.bodies:
            other = next((each.name for each in ends if each is not None and each != end), WORLD_NAME)
            raise BadInput("joint-to-baked", name=obj.name, body=other, end=end.name)
    own = scene_copy.evaluated(obj).rigid_body_constraint
    unit = inputs.unit
    lower, upper = _limits(own, unit)
    stiffness, damping = (_springs(own, of, unit) for of in ("stiffness", "damping"))
    first, second = (inputs.bodies.get(end, "") for end in ends)
    if not _has_translations(lower, upper) and not stiffness[:3].any() and not damping[:3].any():
        first, second = second, first
    else:
        lower[ANGLE_ROWS], upper[ANGLE_ROWS] = -upper[ANGLE_ROWS], -lower[ANGLE_ROWS]
    threshold = own.breaking_threshold * unit * _substep_rate(inputs.scene)
    force = (
        own.motor_lin_max_impulse * unit * own.use_motor_lin,
        own.motor_ang_max_impulse * unit**2 * own.use_motor_ang,
    )
    return Joint(
        first,
        second,
        KINDS[own.type],
        _frame(scene_copy.matrix(obj), unit),
        key,
        obj.name,
        lower,
        upper,
        motor_speed=(own.motor_lin_target_velocity * unit, own.motor_ang_target_velocity),
        motor_force=force,
        spring_stiffness=stiffness,
        spring_damping=damping,
        breaking_force=max(threshold, LEAST_FORCE) if own.use_breaking else None,
        is_enabled=bool(own.enabled),
        collides=not own.disable_collisions,
    )


def _frame(matrix: Matrix, unit: float) -> Floats:
    """Returns world [m] ← the frame of what carries a constraint, without its scale, (4, 4)."""
    place, turn, _ = matrix.decompose()
    return scale_to_metres(Matrix.LocRotScale(place * unit, turn, None), 1.0)


def _limits(own: bpy.types.RigidBodyConstraint, unit: float) -> tuple[Floats, Floats]:
    """Returns the limits of the six coordinates of A and B as Blender has them, [m] and [rad], (6,) each."""
    is_piston = own.type == "PISTON"
    lower, upper = np.full(AXIS_COUNT, -UNLIMITED, float), np.full(AXIS_COUNT, UNLIMITED, float)
    for row, axis in enumerate(AXES):
        if row not in READ_ROWS.get(own.type, ()):
            if is_piston:
                lower[row] = upper[row] = 0.0
        elif getattr(own, f"use_limit_{axis}"):
            low, high = (getattr(own, f"limit_{axis}_{end}") for end in ("lower", "upper"))
            size, most = (unit, UNLIMITED) if row < 3 else (1.0, np.pi)  # an angle never comes to more
            lower[row] = low * size if low > -most else -UNLIMITED
            upper[row] = high * size if high < most else UNLIMITED
    return lower, upper


def _springs(own: bpy.types.RigidBodyConstraint, of: str, unit: float) -> Floats:
    """Returns stiffness [N/m, N m/rad] or damping [N s/m, N m s/rad] of the springs of a constraint, (6,).

    Translations: forces over lengths have the same number in all units of length. Turns: torques have unit².
    """
    found = np.zeros(AXIS_COUNT)
    if own.type == SPRING_TYPE:
        for row, axis in enumerate(SPRING_AXES):
            if getattr(own, f"use_spring_{axis}"):
                found[row] = getattr(own, f"spring_{of}_{axis}") * (1.0 if row < 3 else unit**2)
    return found


def _has_translations(lower: Floats, upper: Floats) -> bool:
    """Whether a translation has limits, and these do not hold it at zero."""
    is_limited = (lower[:3] > -UNLIMITED) | (upper[:3] < UNLIMITED)
    return bool((is_limited & ((lower[:3] != 0.0) | (upper[:3] != 0.0))).any())


def _substep_rate(scene: bpy.types.Scene) -> float:
    """Returns how many steps Blender's rigid body world takes in a second of its own [1/s]."""
    world = scene.rigidbody_world
    if world is None:
        return frames_per_second(scene) * DEFAULT_SUBSTEPS
    return frames_per_second(scene) * world.substeps_per_frame / max(world.time_scale, 1.0e-9)


def passing_pairs(joints: tuple[Joint, ...], inputs: Participants) -> tuple[tuple[str, str], ...]:
    """Returns the pairs of keys of a body and a collider that joints keep from colliding."""
    found = []
    for (obj, _), joint in zip(inputs.joints.items(), joints, strict=True):
        other = inputs.colliders.get(carrier(obj))
        if not joint.collides and other is not None:
            found.append((joint.first or joint.second, other))
    return tuple(found)


def carrier_transforms(scene_copy: SceneCopy, joints: ObjectKeys, unit: float) -> dict[str, RestTransform]:
    """Returns where the carriers of joints are at the Rest Frame, by the keys of the joints.

    Raises:
        BadInput: A carrier has no size along an axis, or its animation gives no numbers.
    """
    found = {}
    for obj, key in joints.items():
        other = carrier(obj)
        if other is not None:
            matrix = scale_to_metres(scene_copy.matrix(other), unit)
            check_matrix(other.name, matrix)
            found[key] = RestTransform.from_matrix(matrix)
    return found


def sample_joint(sampling: Sampling, obj: bpy.types.Object, joint: Joint, rest: RestTransform | None) -> None:
    """Adds to the tracks where the end of a joint that is no body is, and whether the joint acts if that is keyed.

    Raises:
        BadInput: The constraint was removed while the scene is written.
    """
    if obj.rigid_body_constraint is None:
        raise BadInput("object-gone", name=obj.name)
    other = carrier(obj)
    if other is not None and rest is not None:
        moved = rest.motion_to(sampling.world_from_units(other))
        sampling.add(f"joint.{joint.key}.matrix", moved @ joint.frame, "rigid")
    if ENABLED_PATH in animated_paths(obj):
        is_on = float(sampling.evaluated(obj).rigid_body_constraint.enabled)
        sampling.add(f"joint.{joint.key}.enabled", is_on, "step")


def joint_parts(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    names: Mapping[bpy.types.Object, str],
    waiting: list[bpy.types.ID],
) -> Parts:
    """Returns what the digest has of the constraint of an object; that and its carrier go into `waiting`."""
    own, other = obj.rigid_body_constraint, carrier(obj)
    waiting += [each for each in (obj, other) if each is not None and not is_body(each)]
    names_of_springs = (rna.identifier for rna in own.bl_rna.properties if rna.identifier.startswith(SPRING_PREFIXES))
    springs = () if own.type == SPRING_TYPE else names_of_springs
    parts: Parts = ["joint", name_at_first_bake(obj, obj.name)]
    parts += rna_parts(own, {*UNREAD, *springs}, animated_paths(obj), "rigid_body_constraint.")
    for end in constraint_ends(obj):
        parts.append("" if end is None else names.get(end) or name_at_first_bake(end, end.name))
    return [*parts, repr(_substep_rate(scene))] if own.use_breaking else parts
