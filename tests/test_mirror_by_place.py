# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror Muscle finds bones and objects of the other side by their places where their names have no side."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix, Quaternion

from fixtures.blender_scenes import add_box, fresh
from sinew.addon.objects import roles
from sinew.addon.objects.mirror_symmetry import MirrorSymmetry
from test_make_muscle import select, spindle

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
# name → head and tail of a nameless rig, whose arms somebody has numbered as they came
BONES = {
    "Spine": ((0.0, 0.0, 1.0), (0.0, 0.0, 2.0), None),
    "Bone": ((1.0, 0.0, 2.0), (1.0, 0.0, 1.0), "Spine"),
    "Bone.001": ((1.0, 0.0, 1.0), (1.0, 0.0, 0.0), "Bone"),
    "Bone.002": ((-1.0, 0.0, 1.0), (-1.0, 0.0, 0.0), "Bone.003"),
    "Bone.003": ((-1.0, 0.0, 2.0), (-1.0, 0.0, 1.0), "Spine"),
}


def nameless_rig(bones=BONES, name="Armature", rolls=()):
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for each, (head, tail, _) in bones.items():
        made = rig.data.edit_bones.new(each)
        made.head, made.tail, made.roll = head, tail, dict(rolls).get(each, 0.0)
    for each, (_, _, parent) in bones.items():
        if parent in bones:
            rig.data.edit_bones[each].parent = rig.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def scene_with_muscle(**settings):
    scene = fresh()
    rig, muscle = nameless_rig(**settings), spindle("Biceps")
    select(muscle)
    assert bpy.ops.sinew.make_muscle() == {"FINISHED"}
    return scene, rig, muscle


def mirrored(scene, muscle):
    before = set(scene.objects)
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    (made,) = set(scene.objects) - before
    bpy.context.view_layer.update()
    return made


def box_at(name, x):
    box = add_box(name)
    box.location, box.scale = (x, 0.0, 1.0), (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    return box


def world_points(obj):
    return np.array([obj.matrix_world @ v.co for v in obj.data.vertices])


def hooks(obj):
    return {m.name: (m.object.name, m.subtarget) for m in obj.modifiers if m.type == "HOOK"}


@pytest.mark.parametrize("is_posed", [False, True])
def test_a_nameless_muscle_ends_on_the_bones_at_the_mirrored_places(is_posed: bool) -> None:
    scene, rig, muscle = scene_with_muscle()
    bone = rig.pose.bones["Bone.001"]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.6 if is_posed else 0.0
    bpy.context.view_layer.update()
    made = mirrored(scene, muscle)
    assert made.name == "Biceps.001" and muscle.name == "Biceps"
    assert hooks(muscle) == {"Origin": ("Armature", "Bone"), "Insertion": ("Armature", "Bone.001")}
    assert hooks(made) == {"Origin": ("Armature", "Bone.003"), "Insertion": ("Armature", "Bone.002")}
    assert world_points(made) == pytest.approx(world_points(muscle) * [-1.0, 1.0, 1.0], abs=1e-5)


def test_a_second_mirror_image_takes_the_place_of_the_first() -> None:
    scene, _, muscle = scene_with_muscle()
    first = mirrored(scene, muscle).name
    count = len(scene.objects)
    muscle.data.vertices[0].co.y += 0.01
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert len(scene.objects) == count
    assert world_points(scene.objects[first]) == pytest.approx(world_points(muscle) * [-1.0, 1.0, 1.0], abs=1e-5)


def test_what_a_muscle_refers_to_is_found_by_its_place() -> None:
    scene, rig, muscle = scene_with_muscle()
    own = muscle.sinew
    ribs = [box_at(f"Box {x:g}", x) for x in (0.6, -0.61, 0.0, -0.2)]
    for rib in ribs:
        roles.make_collider(rib)
    decoy = box_at("Box without a role", -0.6)
    row, middle = own.attachments.add(), own.attachments.add()
    row.target, middle.target = ribs[0], ribs[2]
    empties = [bpy.data.objects.new("Empty", None) for _ in range(2)]
    lattices = [bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage")) for _ in range(2)]
    for pair in (empties, lattices):
        for obj, x in zip(pair, (0.9, -0.9), strict=True):
            scene.collection.objects.link(obj)
            obj.location = (x, 0.3, 1.0)
    own.fibre_source, own.fibre_lattice = "LATTICE", lattices[0]
    own.via_points.add().object = empties[0]
    muscle.parent, muscle.parent_type, muscle.parent_bone = rig, "BONE", "Bone"
    bpy.context.view_layer.update()
    made = mirrored(scene, muscle).sinew
    assert [each.target for each in made.attachments if each.target] == [
        ribs[1],
        ribs[2],
    ] and decoy.name in scene.objects
    assert made.fibre_lattice == lattices[1] and made.via_points[0].object == empties[1]
    assert made.id_data.parent_bone == "Bone.003"


def test_what_is_farther_than_the_tolerance_or_turned_is_no_counterpart() -> None:
    scene = fresh()
    one, far, turned, near = (box_at(name, x) for name, x in (("A", 1.0), ("B", -1.2), ("C", -1.0), ("D", -0.98)))
    # a bar across the box: its mirror image has the same box, but crosses it
    for box, sense in ((one, 1.0), (turned, 1.0), (near, -1.0)):
        box.scale, box.rotation_euler.y = (0.05, 0.05, 0.5), 0.7 * sense
    bpy.context.view_layer.update()
    sides = MirrorSymmetry(scene)
    assert sides.object(one) == near and sides.object(near) == one
    assert sides.find_object(far) is None and sides.object(far) == far and sides.find_object(turned) is None


def test_names_come_before_places() -> None:
    scene = fresh()
    left, _, right = box_at("Box.L", 1.0), box_at("Box", -1.0), box_at("Box.R", -2.0)
    assert MirrorSymmetry(scene).object(left) == right


def test_objects_on_posed_bones_are_compared_in_the_rest_pose() -> None:
    scene = fresh()
    rig = nameless_rig()
    boxes = [box_at("Ulna", 1.0), box_at("Bone mesh", -1.0)]
    for box, bone in zip(boxes, ("Bone.001", "Bone.002"), strict=True):
        placed = box.matrix_world.copy()
        box.parent, box.parent_type, box.parent_bone = rig, "BONE", bone
        bpy.context.view_layer.update()
        box.matrix_world = placed
    bone = rig.pose.bones["Bone.001"]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", 1.0
    bpy.context.view_layer.update()
    assert np.abs(np.subtract(boxes[0].matrix_world.translation[:], (1.0, 0.0, 1.0))).max() < 1.0
    assert not np.allclose(boxes[0].matrix_world, MIRROR @ boxes[1].matrix_world @ MIRROR)
    assert MirrorSymmetry(scene).object(boxes[0]) == boxes[1]


def test_two_nameless_rigs_are_counterparts() -> None:
    scene = fresh()
    left = nameless_rig({name: BONES[name] for name in ("Bone", "Bone.001")}, "Arm")
    right = nameless_rig({name: BONES[name] for name in ("Bone.002", "Bone.003")}, "Arm")
    bpy.context.view_layer.update()
    sides = MirrorSymmetry(scene)
    assert sides.object(left) == right and sides.object(right) == left
    assert [sides.bone(left, name) for name in ("Bone", "Bone.001")] == ["Bone.003", "Bone.002"]


def test_stored_poses_turn_to_bones_of_any_roll() -> None:
    scene, rig, muscle = scene_with_muscle(rolls={"Bone.001": 0.4, "Bone.002": 1.3})
    bone, other = rig.pose.bones["Bone.001"], rig.pose.bones["Bone.002"]
    for each in (bone, other):
        each.rotation_mode = "QUATERNION"
    turn = Quaternion((0.6, 0.3, -0.7), 0.9)
    pose = muscle.sinew.activation_poses.add()
    joint = pose.rotations.add()
    joint.name, joint.rotation = "Bone.001", turn
    muscle.sinew.pose_rig = rig
    made = mirrored(scene, muscle).sinew.activation_poses[0].rotations[0]
    assert made.name == "Bone.002"
    bone.rotation_quaternion, other.rotation_quaternion = turn, made.rotation
    bpy.context.view_layer.update()
    tails = [np.array((rig.matrix_world @ each.tail)[:]) for each in (bone, other)]
    assert tails[1] == pytest.approx(tails[0] * [-1.0, 1.0, 1.0], abs=1e-5)
    assert math.dist(tails[0], (1.0, 0.0, 0.0)) > 0.3
    # a roll about its own axis moves no tail: the axes themselves are mirrored, too
    rests = [np.array(rig.data.bones[each.name].matrix_local.to_3x3()) for each in (bone, other)]
    posed = [np.array(each.matrix.to_3x3()) for each in (bone, other)]
    one, two = (p @ r.T for p, r in zip(posed, rests, strict=True))
    mirror = np.diag([-1.0, 1.0, 1.0])
    assert two == pytest.approx(mirror @ one @ mirror, abs=1e-5)


def test_weights_of_nameless_bones_go_to_the_other_side() -> None:
    scene, rig, muscle = scene_with_muscle()
    muscle.modifiers.new("Armature", "ARMATURE").object = rig
    for name, vertex in (("Bone.001", 0), ("Bone.002", 1), ("Spine", 2)):
        muscle.vertex_groups.new(name=name).add([vertex], 1.0, "REPLACE")
    made = mirrored(scene, muscle)
    assert [made.vertex_groups[n].weight(v) for n, v in (("Bone.002", 0), ("Bone.001", 1), ("Spine", 2))] == [1.0] * 3


def test_a_driver_reads_the_bone_at_the_mirrored_place() -> None:
    scene, rig, muscle = scene_with_muscle()
    driver = muscle.driver_add("sinew.activation").driver
    channel, path = driver.variables.new(), driver.variables.new()
    channel.type, channel.targets[0].id, channel.targets[0].bone_target = "TRANSFORMS", rig, "Bone.001"
    path.targets[0].id, path.targets[0].data_path = rig, 'pose.bones["Bone"].scale[1]'
    found = mirrored(scene, muscle).animation_data.drivers[0].driver.variables
    assert found[0].targets[0].bone_target == "Bone.002"
    assert found[1].targets[0].data_path == 'pose.bones["Bone.003"].scale[1]'


def test_a_muscle_on_the_mirror_plane_is_refused() -> None:
    fresh()
    nameless_rig({"Bone": ((0.0, 0.0, 2.0), (0.0, 0.0, 1.0), None), "Bone.001": ((0.0, 0, 1), (0.0, 0, 0), "Bone")})
    muscle = spindle("Neck", (0.0, 0.2, 0.1), (0.0, 0.2, 1.9))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    with pytest.raises(RuntimeError, match='The muscle "Neck" is its own mirror image'):
        bpy.ops.sinew.mirror_muscle()
