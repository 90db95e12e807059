# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones are what Blender shows: meshes moved by anything, and the bones of armatures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, world
from fixtures.export_scenes import exported, refused
from fixtures.flesh_rigs import (
    arm,
    bend_key,
    bent,
    bone_mesh,
    by_armature,
    by_armature_as_parent,
    by_bone_of_armature,
    by_constraint,
    by_driven_shape_keys,
    by_driver,
    by_mirrored_parent,
    by_object,
    by_shape_keys,
    by_strips,
    moved,
    turn,
)
from sinew.addon.export import armature_bones, input_warnings
from sinew.addon.objects import roles

# bone meshes


RIGID = (by_object, by_mirrored_parent, by_bone_of_armature, by_constraint, by_driver, by_strips)
DEFORMING = (by_armature, by_armature_as_parent, by_shape_keys, by_driven_shape_keys)


@pytest.mark.parametrize("move", [*RIGID, *DEFORMING], ids=lambda move: move.__name__)
def test_a_bone_mesh_follows_whatever_moves_it(move: Callable[[bpy.types.Object], None], tmp_path: Path) -> None:
    obj = arm()
    bent(obj, frames=(1, 9))
    bone = bone_mesh()
    move(bone)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    scene.frame_end = 9
    seen = {frame: 0.5 * world(*evaluated(bone, frame)) for frame in (1, 4, 9)}
    scene.frame_set(5)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    (found,) = written.bones
    assert (found.name, found.stiffness, found.bodies, found.distance) == ("Femur", None, (), 0.0)
    assert np.abs(found.vertices - seen[1]).max() < 1e-6
    for frame, points in seen.items():
        assert np.abs(moved(found, tracks, (frame - 1) / 24) - points).max() < 1e-5, frame
    assert np.abs(seen[9] - seen[1]).max() > 0.02
    assert tracks.has("bone.Femur.matrix") == (move in RIGID)
    # faces look outwards, also of what is mirrored
    a, b, c = (found.vertices[found.triangles[:, i]] for i in range(3))
    outwards = np.einsum("ti,ti->t", np.cross(b - a, c - a), (a + b + c) / 3.0 - found.vertices.mean(axis=0))
    assert (outwards > 0).all()


def test_modifiers_that_stand_still_leave_a_bone_rigid(tmp_path: Path) -> None:
    arm()
    bone = bone_mesh()
    bone.modifiers.new("Subdivision", "SUBSURF").levels = 2
    bevel = bone.modifiers.new("Bevel", "BEVEL")
    turn(bone, (1, 5))
    scene = bpy.context.scene
    scene.frame_end = 5
    written, tracks = exported(scene, tmp_path / "a.sinew")
    assert len(written.bones[0].vertices) > 50
    seen = world(*evaluated(bone, 5))
    assert np.abs(moved(written.bones[0], tracks, 4 / 24) - seen).max() < 1e-5
    bevel.keyframe_insert("width", frame=1)
    bevel.width *= 2.0
    bevel.keyframe_insert("width", frame=5)
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert tracks.has("bone.Femur.vertices")
    assert np.abs(moved(written.bones[0], tracks, 4 / 24) - world(*evaluated(bone, 5))).max() < 1e-5


def test_a_mirror_around_another_object_deforms(tmp_path: Path) -> None:
    arm()
    bone = bone_mesh()
    middle = bpy.data.objects.new("Middle", None)
    bpy.context.scene.collection.objects.link(middle)
    middle.location.x = 2.0
    turn(middle, (1, 5), 0.0)
    middle.driver_add("location", 0).driver.expression = "2 + 0.1 * frame"
    bone.modifiers.new("Mirror", "MIRROR").mirror_object = middle
    bpy.context.scene.frame_end = 5
    written, tracks = exported(bpy.context.scene, tmp_path / "c.sinew")
    seen = world(*evaluated(bone, 5))
    assert np.abs(moved(written.bones[0], tracks, 4 / 24) - seen).max() < 1e-5
    assert np.abs(seen - written.bones[0].vertices).max() > 0.1


def test_settings_of_bones_arrive(tmp_path: Path) -> None:
    obj = arm()
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    scene.frame_end = 1
    other = add_box("Other")
    other.location.x = 5.0
    roles.make_flesh(other)
    bone, free = bone_mesh(), bone_mesh("Tibia")
    bone.vertex_groups.new(name="Half").add([0, 1, 2], 0.75, "REPLACE")
    own = bone.sinew
    own.bone_distance, own.use_bone_spring, own.bone_stiffness = 2.0, True, 500.0
    own.bone_mask_group, own.bone_body = "Half", obj
    written, _ = exported(scene, tmp_path / "c.sinew")
    found = {each.name: each for each in written.bones}
    assert found["Femur"].distance == pytest.approx(0.02) and found["Femur"].stiffness == 500.0
    assert found["Femur"].bodies == ("Arm",)
    assert np.allclose(found["Femur"].mask, np.where(np.arange(8) < 3, 0.75, 0.0))
    assert found["Tibia"].stiffness is None and found["Tibia"].bodies == () and len(found["Tibia"].mask) == 0
    values = np.arange(8) / 8.0
    free.data.attributes.new("Even", "FLOAT", "POINT").data.foreach_set("value", values.astype(np.float32))
    free.sinew.bone_mask_group = "Even"
    found = {each.name: each for each in exported(scene, tmp_path / "d.sinew")[0].bones}
    assert np.allclose(found["Tibia"].mask, values)


def test_a_bone_for_a_body_that_is_not_baked_stays_out_and_is_told(tmp_path: Path) -> None:
    arm()
    scene = bpy.context.scene
    scene.frame_end = 1
    jelly = add_box("Jelly")
    roles.make_body(jelly)
    bone = bone_mesh()
    bone.sinew.bone_body = jelly
    assert exported(scene, tmp_path / "c.sinew")[0].bones == ()
    (note,) = (note for note in input_warnings.input_warnings(scene) if note.kind == "bone-holds-no-flesh")
    assert '"Femur"' in note.sentence and '"Jelly"' in note.sentence
    jelly.sinew.motion = "JIGGLE"
    assert exported(scene, tmp_path / "d.sinew")[0].bones[0].bodies == ("Jelly",)
    assert not [note for note in input_warnings.input_warnings(scene) if note.kind == "bone-holds-no-flesh"]


def test_hidden_bones_hold_as_well(tmp_path: Path) -> None:
    arm()
    bone = bone_mesh()
    by_object(bone)
    bpy.context.scene.frame_end = 9
    written, tracks = exported(bpy.context.scene, tmp_path / "a.sinew")
    bone.hide_set(True)
    bone.hide_viewport = bone.hide_render = True
    bpy.context.view_layer.update()
    hidden, hidden_tracks = exported(bpy.context.scene, tmp_path / "b.sinew")
    assert hidden.digest() == written.digest() and hidden_tracks.digest() == tracks.digest()


def test_a_bone_moved_by_rigid_bodies(tmp_path: Path) -> None:
    obj = arm()
    scene = bpy.context.scene
    rig = bent(obj, frames=(1, 9))
    obj.sinew.use_armature_bones = True
    bend_key(obj, (1, 9))
    obj.sinew.rest_from_keys = True
    ball = bone_mesh("Ball")
    ball.location.z = 3.0
    bpy.context.view_layer.objects.active = ball
    with bpy.context.temp_override(object=ball, active_object=ball, selected_objects=[ball]):
        bpy.ops.rigidbody.object_add()
    scene.frame_end = 9
    scene.frame_set(1)
    seen = {}
    for frame in range(1, 10):
        scene.frame_set(frame)
        seen[frame] = np.array(ball.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    scene.frame_set(4)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert seen[1][2, 3] - seen[9][2, 3] > 0.1
    found = {bone.name: bone for bone in written.bones}
    for frame in (1, 5, 9):
        local = np.array([v.co for v in ball.data.vertices])
        assert np.abs(moved(found["Ball"], tracks, (frame - 1) / 24) - world(local, seen[frame])).max() < 1e-4
    scene.frame_set(9)
    tail = rig.matrix_world @ rig.pose.bones["upper"].tail
    assert np.abs(moved(found["Rig: upper"], tracks, 8 / 24)[1] - np.array(tail)).max() < 1e-5
    assert tracks.has("body.Arm.rest")


# bones of armatures


def test_bones_of_an_armature_move_as_they_do_in_blender(tmp_path: Path) -> None:
    obj = arm()
    rig = bent(obj, frames=(1, 9))
    rig.location, rig.scale = (0.5, 0.0, 0.0), (1.0, 1.0, 1.5)
    rig.pose.bones["upper"].scale = (1.0, 2.0, 1.0)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.25
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    scene.frame_end = 9

    def line(frame: int) -> np.ndarray:
        scene.frame_set(frame)
        posed = rig.pose.bones["upper"]
        return 0.5 * np.array([rig.matrix_world @ posed.head, rig.matrix_world @ posed.tail])

    seen = {frame: line(frame) for frame in (1, 5, 9)}
    scene.frame_set(3)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    found = {bone.key: bone for bone in written.bones}
    assert set(found) == {"Arm-lower", "Arm-upper"}
    upper = found["Arm-upper"]
    assert upper.name == "Rig: upper" and upper.bodies == ("Arm",) and len(upper.triangles) == 0
    assert upper.distance == pytest.approx(0.125) and upper.stiffness is None
    assert np.abs(upper.vertices - seen[1]).max() < 1e-6
    for frame, points in seen.items():
        assert np.abs(moved(upper, tracks, (frame - 1) / 24) - points).max() < 1e-5
    assert np.abs(seen[9] - seen[1]).max() > 0.3
    group = obj.vertex_groups["upper"].index
    weights = [sum(g.weight for g in v.groups if g.group == group) for v in obj.data.vertices]
    assert np.allclose(upper.weights, weights)
    obj.sinew.use_armature_bone_spring, obj.sinew.armature_bone_stiffness = True, 900.0
    assert {bone.stiffness for bone in exported(scene, tmp_path / "d.sinew")[0].bones} == {900.0}


def test_weights_of_armature_bones_come_through_the_modifiers(tmp_path: Path) -> None:
    obj = arm()
    bent(obj)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    obj.modifiers["Subdivision"].render_levels = 1
    obj.modifiers.move(2, 0)
    assert [m.type for m in obj.modifiers] == ["SUBSURF", "ARMATURE", "MESH_CACHE"]
    mask = obj.vertex_groups.new(name="Right")
    mask.add([v.index for v in obj.data.vertices if v.co.x > -0.01], 1.0, "REPLACE")
    obj.modifiers["Armature"].vertex_group = "Right"
    obj.sinew.use_armature_bones = True
    bpy.context.scene.frame_end = 1
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    body, upper = written.bodies[0], next(b for b in written.bones if b.key == "Arm-upper")
    assert len(body.vertices) > len(obj.data.vertices) and len(upper.weights) == len(body.vertices)
    right, above = body.vertices[:, 0] > 0.01, body.vertices[:, 2] > 0.05
    assert (upper.weights[right & above] > 0.4).all()
    assert (upper.weights[(body.vertices[:, 0] < -0.3) | (body.vertices[:, 2] < -0.05)] == 0.0).all()
    obj.modifiers["Armature"].invert_vertex_group = True
    written, _ = exported(bpy.context.scene, tmp_path / "d.sinew")
    inverted = next(b for b in written.bones if b.key == "Arm-upper").weights
    assert (inverted[(body.vertices[:, 0] > 0.3)] < 0.01).all() and inverted.max() > 0.9


def test_the_radius_that_nobody_set_suits_the_limb() -> None:
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    angles = np.linspace(0.0, 6.0, 50)
    skin = np.stack([0.3 * np.cos(angles), 0.3 * np.sin(angles), angles / 6.0], axis=1)
    assert armature_bones.automatic_radius(ends, skin, 0.01) == pytest.approx(0.1)
    assert armature_bones.automatic_radius(ends, skin, 0.15) == 0.15, "there would be no node within the radius"
    assert armature_bones.automatic_radius(ends, skin[:0], None) == pytest.approx(1.0 / 3.0)


def test_only_what_deforms_and_has_weights_holds(tmp_path: Path) -> None:
    obj = arm()
    rig = bent(obj)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.0
    rig.data.bones["lower"].use_deform = False
    bpy.context.scene.frame_end = 1
    (upper,) = exported(bpy.context.scene, tmp_path / "a.sinew")[0].bones
    assert upper.key == "Arm-upper" and 0.1 < upper.distance < 0.3
    rig.data.bones["lower"].use_deform = True
    obj.vertex_groups["lower"].remove(list(range(len(obj.data.vertices))))
    assert len(exported(bpy.context.scene, tmp_path / "b.sinew")[0].bones) == 1
    obj.vertex_groups["upper"].remove(list(range(len(obj.data.vertices))))
    problem = refused(bpy.context.scene, tmp_path / "c.sinew")
    assert problem.kind == "armature-no-groups" and '"Arm"' in problem.sentence and '"Rig"' in problem.sentence


def test_two_armatures_with_bones_of_one_name(tmp_path: Path) -> None:
    obj = arm()
    bent(obj, frames=(1, 5))
    second = bpy.data.objects["Rig"].copy()
    bpy.context.scene.collection.objects.link(second)
    second.animation_data_clear()
    second.name = "Second"
    obj.modifiers.new("Second", "ARMATURE").object = second
    obj.modifiers.move(2, 1)
    obj.sinew.use_armature_bones = True
    mesh = bone_mesh("Arm-upper")
    bpy.context.scene.frame_end = 5
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    names = {bone.key: bone.name for bone in written.bones}
    assert len(names) == 5 and names["Arm-upper"] == mesh.name
    assert sorted(names.values()) == sorted(["Arm-upper", "Rig: lower", "Rig: upper", "Second: lower", "Second: upper"])
