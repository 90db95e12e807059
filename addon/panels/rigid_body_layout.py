# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about what Blender's Rigid Body settings and constraints come to for a body or a collider."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.scene.settings.rigid_body_settings import BONE_JOINT, DRIVES_BONE, HOLDS_FLESH, USE_RIGID_BODY
from ..baking import attach_motion, error_messages
from ..blender_data import motion_track
from ..blender_data.rigid_body_world import moved_objects
from ..blender_data.rna_serialisation import animated_paths
from ..objects import driven_bones, roles
from ..objects.rigid_body_constraints import (
    WORLD_NAME,
    constraint_ends,
    constraint_problem,
    constraints_of,
)
from ..objects.rigid_body_settings import (
    ANIMATED_PATHS,
    MESH_SHAPES,
    counting_rigid_body,
    follows_animation,
    friction,
)
from ..properties.role_definitions import BODY
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

UNREAD_NOTE = "Blender has Rigid Body settings for it, which do not count: Sinew's own do"
OUT_NOTE = "Sinew moves it, and Blender's rigid body world does not. Remove from Sinew gives it back"
RESTITUTION_NOTE = "Its Bounciness in Blender does not count: Sinew has none"
COMPOUND_NOTE = "Its shape is its own mesh, without those of its children"
COLLIDER_SHAPE_NOTE = "Bodies meet its mesh, which Blender takes as a {shape}"
STRIP_NOTE = 'Moves by the track "{track}" of its Nonlinear Animation. Mute that to see your own animation'
MUTED_NOTE = 'The track "{track}" of its Nonlinear Animation has its bake, and is muted'
VERTICES_NOTE = "Its vertices play the bake, and not its object, since {reason}"
BONE_DRIVING_SETTINGS = (DRIVES_BONE, BONE_JOINT, HOLDS_FLESH)
MAX_JOINTS = 8  # that are listed


def is_shown(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether Blender has anything of that kind for a rigid body, a body with a core or a collider."""
    if obj.rigid_body is not None and (obj.sinew.role != BODY or roles.is_rigid(obj)):
        return True
    if obj.sinew.role == BODY and (roles.is_rigid(obj) or next(_motion_notes(obj), "")):
        return True
    return obj.sinew.role == BODY and bool(constraints_of(scene, [obj]))


def draw_rigid_body(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what is read of Blender's settings of the object, and the joints that hold it."""
    obj, scene = context.object, context.scene
    if obj.rigid_body is not None and (obj.sinew.role != BODY or roles.is_rigid(obj)):
        draw_settings(locked_column(layout, context), obj, (USE_RIGID_BODY,))
        if counting_rigid_body(obj) is None:
            draw_wrapped(layout, UNREAD_NOTE, "INFO", context)
        else:
            column = layout.column(align=True)
            for line in _value_lines(obj):
                column.label(text=line)
            for note in _notes(obj):
                draw_wrapped(layout, note, "INFO", context)
    if obj.sinew.role == BODY:
        if roles.is_rigid(obj):
            _draw_bone(layout, context)
        for note in _motion_notes(obj):
            draw_wrapped(layout, note, "INFO", context)
        _draw_joints(layout, context, constraints_of(scene, [obj]))


def _value_lines(obj: bpy.types.Object) -> Iterator[str]:
    """Yields what is read, a row for each."""
    found = obj.rigid_body
    shape = found.bl_rna.properties["collision_shape"].enum_items[found.collision_shape].name
    if obj.sinew.role == BODY:
        yield f"Mass: {found.mass:.4g} kg"
        yield f"Damping: {found.linear_damping:.3g}, Rotation {found.angular_damping:.3g}"
        yield f"Shape: {'Mesh' if found.collision_shape in MESH_SHAPES else shape}"
        if animated_paths(obj) & {*ANIMATED_PATHS}:
            yield "Animated: by its keys"
        elif follows_animation(found):
            yield "Animated: follows its keys"
    yield f"Friction: {found.friction:.3g}, on the same: {friction(found):.3g}"


def _notes(obj: bpy.types.Object) -> Iterator[str]:
    """Yields where it differs from Blender."""
    found = obj.rigid_body
    if obj.sinew.role != BODY:
        if found.collision_shape not in MESH_SHAPES and obj.sinew.collider_shape == "MESH":
            shape = found.bl_rna.properties["collision_shape"].enum_items[found.collision_shape].name
            yield COLLIDER_SHAPE_NOTE.format(shape=shape)
        return
    if found.restitution > 0.0:
        yield RESTITUTION_NOTE
    if found.collision_shape == "COMPOUND":
        yield COMPOUND_NOTE
    if obj.sinew.is_out_of_world:
        yield OUT_NOTE


def _draw_bone(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what a rigid body has to do with the bone that it is a child of."""
    obj = context.object
    draw_settings(locked_column(layout, context), obj, BONE_DRIVING_SETTINGS)
    problem = driven_bones.driving_body_problem(obj, context.scene) if obj.sinew.drives_bone else None
    if problem is not None:
        draw_wrapped(layout, error_messages.error_text(problem), "ERROR", context)
    elif driven_bones.is_driving_body(obj):
        leader = driven_bones.driving_body_above(obj, context.scene)
        where = "" if leader is None else f', on "{leader.name}"'
        layout.label(text=f"Drives {obj.parent.name}: {obj.parent_bone}{where}", icon="BONE_DATA")


def _motion_notes(obj: bpy.types.Object) -> Iterator[str]:
    """Yields how the object plays its bake."""
    track = motion_track.find_track(obj)
    if track is not None:
        yield (MUTED_NOTE if track.mute else STRIP_NOTE).format(track=track.name)
    elif roles.is_rigid(obj):
        reason = attach_motion.obstacle(obj)
        if reason is not None:
            yield VERTICES_NOTE.format(reason=reason)


def _draw_joints(layout: bpy.types.UILayout, context: bpy.types.Context, joints: list[bpy.types.Object]) -> None:
    """Draws a row for each joint of the active object, and what is wrong with it."""
    obj, column = context.object, layout.column(align=True)
    moved = moved_objects(context.scene) if joints else set()
    for joint in joints[:MAX_JOINTS]:
        other = next((end for end in constraint_ends(joint) if end not in (obj, None)), None)
        found = joint.rigid_body_constraint
        kind = found.bl_rna.properties["type"].enum_items[found.type].name
        words = f"{kind} {joint.name}: with {WORLD_NAME if other is None else other.name}"
        column.label(text=words, icon="CONSTRAINT")
        problem = constraint_problem(joint, context.scene, moved)
        if problem is not None:
            draw_wrapped(layout, error_messages.error_text(problem), "ERROR", context)
    if len(joints) > MAX_JOINTS:
        column.label(text=f"and {len(joints) - MAX_JOINTS} more", icon="BLANK1")
