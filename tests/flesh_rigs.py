# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh with rigs, bone meshes and what moves them, for tests of what is read of Blender."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, add_driven_shape_key, add_rig, fresh, world
from sinew.addon import roles
from sinew.solver.scene import Bone
from sinew.solver.tracks import TrackReader


def arm(name: str = "Arm", divisions: int = 4) -> bpy.types.Object:
    """Returns flesh along z, from -1 to 1, in a scene of its own."""
    fresh()
    obj = add_box(name, divisions)
    roles.make_flesh(obj)
    return obj


def bent(obj: bpy.types.Object, frames: tuple[int, int] = (1, 21)) -> bpy.types.Object:
    """Returns an armature that bends an object, above Sinew's modifier."""
    rig = add_rig(obj, frames=frames)
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    return rig


def bone_mesh(name: str = "Femur", size: float = 0.2) -> bpy.types.Object:
    obj = add_box(name, 1, 1.5)
    for vertex in obj.data.vertices:
        vertex.co.x *= size
        vertex.co.y *= 1.5 * size
    obj.sinew.role = "BONE"
    return obj


def turn(obj: bpy.types.Object, frames: tuple[int, int], angle: float = 1.0) -> None:
    """Turns an object about x by `angle` from one frame to another."""
    obj.keyframe_insert("rotation_euler", frame=frames[0])
    obj.rotation_euler.x += angle
    obj.keyframe_insert("rotation_euler", frame=frames[1])


def bend_key(obj: bpy.types.Object, frames: tuple[int, int]) -> None:
    """Adds a shape key that shears an object, and lets it grow from one frame to another."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Lean")
    for point in key.data:
        point.co.x += 0.5 * point.co.z
    for frame, value in zip(frames, (0.0, 1.0), strict=True):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def moved(bone: Bone, tracks: TrackReader, time: float) -> np.ndarray:
    """Returns where the tracks have the vertices of a bone at a time."""
    if tracks.has(f"bone.{bone.key}.matrix"):
        assert not tracks.has(f"bone.{bone.key}.vertices")
        return world(bone.vertices, tracks.sample(f"bone.{bone.key}.matrix", time))
    return tracks.sample(f"bone.{bone.key}.vertices", time)


def first_time(tracks: TrackReader, name: str) -> float:
    with np.load(tracks.folder / name / "000000.npz") as stored:
        return float(stored["times"][0])


def by_object(bone: bpy.types.Object) -> None:
    turn(bone, (1, 9))


def by_mirrored_parent(bone: bpy.types.Object) -> None:
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale, parent.rotation_euler, bone.parent = (1.0, 2.0, -1.0), (0.3, 0.2, 0.1), parent
    bone.rotation_euler = (0.5, 0.1, 0.2)
    turn(parent, (1, 9))


def by_bone_of_armature(bone: bpy.types.Object) -> None:
    rig = bpy.data.objects["Rig"]
    bone.parent, bone.parent_type, bone.parent_bone = rig, "BONE", "upper"


def by_constraint(bone: bpy.types.Object) -> None:
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    turn(target, (1, 9))
    bone.constraints.new("COPY_ROTATION").target = target


def by_driver(bone: bpy.types.Object) -> None:
    bone.driver_add("location", 0).driver.expression = "0.1 * frame"


def by_strips(bone: bpy.types.Object) -> None:
    turn(bone, (1, 9))
    data = bone.animation_data
    strip = data.nla_tracks.new().strips.new("Turn", 1, data.action)
    strip.action_slot = data.action.slots[0]
    data.action = None


def by_armature(bone: bpy.types.Object) -> None:
    bone.vertex_groups.new(name="upper").add(list(range(4)), 1.0, "REPLACE")
    bone.vertex_groups.new(name="lower").add(list(range(4, 8)), 1.0, "REPLACE")
    bone.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects["Rig"]


def by_armature_as_parent(bone: bpy.types.Object) -> None:
    by_armature(bone)
    bone.modifiers.clear()
    bone.parent, bone.parent_type = bpy.data.objects["Rig"], "ARMATURE"


def by_shape_keys(bone: bpy.types.Object) -> None:
    bend_key(bone, (1, 9))


def by_driven_shape_keys(bone: bpy.types.Object) -> None:
    add_driven_shape_key(bone, bpy.data.objects["Rig"])


def rolling(rest: int | None, preroll: int = 0, **frames: int) -> bpy.types.Scene:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames.get("start", 5), frames.get("end", 9)
    scene.sinew.use_rest_frame = rest is not None
    scene.sinew.rest_frame = rest or 0
    scene.sinew.preroll = preroll
    return scene


def reshaped(name: str = "Belly") -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns flesh bent by a rig, with an animated shape key that the rest shape follows."""
    obj = arm(name)
    rig = bent(obj, frames=(1, 9))
    bend_key(obj, (1, 9))
    obj.sinew.rest_from_keys = True
    return obj, rig


def everything() -> bpy.types.Scene:
    obj, _ = reshaped()
    obj.sinew.use_armature_bones = True
    by_armature(bone_mesh())
    by_object(bone_mesh("Tibia"))
    scene = rolling(1, start=4, end=9)
    return scene
