# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that rigid bodies drive: joints at their heads, flesh that follows both ways, and the pose that plays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.export_scenes import exported
from fixtures.ragdoll_scenes import add_rig, add_tube, bone_matrix, limb, make_ragdoll
from fixtures.rigid_body_scenes import bake, positions
from sinew.addon.baking import bake_control, bake_status
from sinew.addon.blender_data import motion_track
from sinew.addon.export import validation
from sinew.addon.objects import driven_bones, roles
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.joint import FIXED_JOINT, GENERIC_JOINT, POINT_JOINT
from sinew.solver.scene.validation import check_scene

CLOSE = 1.0e-5


def test_make_ragdoll_makes_a_body_on_each_bone() -> None:
    scene = fresh()
    bodies = make_ragdoll(limb())
    assert {*bodies} == {"Upper", "Lower", "Hand"}
    for obj in bodies.values():
        assert driven_bones.is_driving_body(obj) and roles.is_rigid(obj) and obj.hide_render
    assert driven_bones.driving_body_above(bodies["Hand"], scene) == bodies["Lower"]
    assert [bodies[name].sinew.bone_joint for name in ("Upper", "Lower", "Hand")] == ["FREE", "LIMITED", "LIMITED"]
    ends = np.array([bodies["Lower"].matrix_world @ vertex.co for vertex in bodies["Lower"].data.vertices])
    np.testing.assert_allclose([ends[:, 0].min(), ends[:, 0].max()], [0.4, 0.8], atol=1e-5)
    assert bpy.ops.sinew.make_ragdoll() == {"FINISHED"}  # again: nothing is left to do
    assert len(driven_bones.driving_bodies(scene)) == 3


def test_a_mesh_that_rides_on_a_bone_becomes_its_body() -> None:
    fresh()
    rig = limb()
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.6, 0.0, 0.0))
    mesh = bpy.context.object
    roles.make_collider(mesh)
    mesh.parent, mesh.parent_type, mesh.parent_bone = rig, "BONE", "Lower"
    assert make_ragdoll(rig)["Lower"] == mesh
    assert driven_bones.is_driving_body(mesh) and not roles.has_role(mesh, "COLLIDER")


def test_joints_are_at_heads_and_have_the_limits_of_bones(tmp_path: Path) -> None:
    scene = fresh()
    rig = limb()
    lower, hand = (rig.pose.bones[name] for name in ("Lower", "Hand"))
    lower.use_ik_limit_x, lower.ik_min_x, lower.ik_max_x = True, -0.5, 2.0
    lower.lock_ik_y = lower.lock_ik_z = True
    lower.rotation_mode, lower.rotation_euler = "XYZ", (0.3, 0.0, 0.0)
    limits = hand.constraints.new("LIMIT_ROTATION")
    limits.owner_space, limits.use_limit_z, limits.min_z, limits.max_z = "LOCAL", True, -0.1, 0.2
    bodies = make_ragdoll(rig)
    written = exported(scene, tmp_path / "c.sinew")[0]
    joints = {joint.name: joint for joint in written.joints}
    assert {*joints} == {"Rig: Lower", "Rig: Hand"}
    joint = joints["Rig: Lower"]
    assert (joint.kind, joint.first, joint.second) == (GENERIC_JOINT, "Rig_Upper", "Rig_Lower")
    np.testing.assert_allclose(joint.frame[:3, 3], (0.4, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(joint.lower, (0, 0, 0, -0.5, 0, 0), atol=1e-6)
    np.testing.assert_allclose(joint.upper, (0, 0, 0, 2.0, 0, 0), atol=1e-6)
    angle = np.arctan2(joint.second_turn[2, 1], joint.second_turn[2, 2])
    assert angle == pytest.approx(0.3)  # the bone is bent in the rest pose, and its angle counts from its own
    hand_joint = joints["Rig: Hand"]
    np.testing.assert_allclose((hand_joint.lower[5], hand_joint.upper[5]), (-0.1, 0.2), atol=1e-6)
    assert hand_joint.lower[3] < -1e19
    bodies["Lower"].sinew.bone_joint, bodies["Hand"].sinew.bone_joint = "POINT", "FIXED"
    kinds = [joint.kind for joint in exported(scene, tmp_path / "d.sinew")[0].joints]
    assert sorted(kinds) == sorted([POINT_JOINT, FIXED_JOINT])
    assert ("Rig_Hand", "Rig_Upper") in written.ignored_pairs  # neighbours' neighbours overlap where bones meet


def falling_limb() -> tuple[bpy.types.Object, dict[str, bpy.types.Object]]:
    """Returns an armature that falls, keyed, with bones in several rotation modes, and its bodies."""
    fresh()
    rig = limb()
    rig.location, rig.rotation_euler, rig.scale = (1.0, 0.0, 0.5), (0.2, 0.1, 0.3), (1.5, 1.5, 1.5)
    for bone, mode in zip(rig.pose.bones, ("QUATERNION", "YXZ", "AXIS_ANGLE"), strict=True):
        bone.rotation_mode = mode
    rig.pose.bones["Lower"].rotation_euler = (0.0, 0.0, 0.4)
    rig.pose.bones["Lower"].keyframe_insert("rotation_euler", frame=1)
    rig.pose.bones["Upper"].location = (0.1, 0.0, 0.0)
    bodies = make_ragdoll(rig)
    bodies["Hand"].sinew.initial_spin = (3.0, 8.0, -5.0)
    return rig, bodies


def test_the_pose_is_where_the_solver_has_the_bodies(tmp_path: Path) -> None:
    rig, bodies = falling_limb()
    action = rig.animation_data.action
    before = {bone: bone_matrix(rig, bone, 6) for bone in bodies}
    bake(tmp_path, 6)
    assert not bake_status.status(bpy.context.scene).outdated
    assert motion_track.find_track(rig) is not None
    for obj in bodies.values():
        assert motion_track.find_track(obj) is not None
    offsets = {
        name: np.linalg.inv(bone_matrix(rig, name, 1)) @ positions_matrix(obj, 1) for name, obj in bodies.items()
    }
    for frame in (3, 6):
        for name, obj in bodies.items():
            wanted = positions_matrix(obj, frame)
            assert np.abs(bone_matrix(rig, name, frame) @ offsets[name] - wanted).max() < CLOSE, (name, frame)
    # that bodies are where the solver has them is in test_motion_strips.py; here with the armature that moves them
    found = {name: positions(obj, range(1, 7)) for name, obj in bodies.items()}
    motion_track.find_track(rig).mute = True
    for name in bodies:
        assert np.abs(bone_matrix(rig, name, 6) - before[name]).max() < CLOSE
    motion_track.find_track(rig).mute = False
    assert np.abs(found["Hand"][-1] - found["Hand"][0]).max() > 0.1
    joint = {name: bone_matrix(rig, name, 6) for name in bodies}
    tail = joint["Upper"] @ np.array([0.0, 0.4, 0.0, 1.0])
    assert np.abs(tail - joint["Lower"][:, 3]).max() < CLOSE
    bake_control.delete(bpy.context.scene)
    assert rig.animation_data.action == action and not len(rig.animation_data.nla_tracks)
    for name in bodies:
        assert np.abs(bone_matrix(rig, name, 6) - before[name]).max() < CLOSE


def positions_matrix(obj: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def test_animated_bones_follow_their_keys_and_are_let_go(tmp_path: Path) -> None:
    fresh()
    rig = limb()
    upper = rig.pose.bones["Upper"]
    upper.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (5, 0.8)):
        upper.rotation_euler.z = angle
        upper.keyframe_insert("rotation_euler", frame=frame)
    bodies = make_ragdoll(rig)
    keyed = {frame: bone_matrix(rig, "Upper", frame) for frame in range(1, 9)}
    body = bodies["Upper"].sinew
    for frame, is_animated in ((1, True), (4, False), (7, True)):
        body.animated = is_animated
        body.keyframe_insert("animated", frame=frame)
    bake(tmp_path, 8)
    for frame in (2, 4, 7, 8):
        assert np.abs(bone_matrix(rig, "Upper", frame) - keyed[frame]).max() < 1e-4, frame
    assert np.abs(bone_matrix(rig, "Upper", 6) - keyed[6]).max() > 0.01


def test_a_top_bone_hangs_on_the_bone_above_as_it_is_animated(tmp_path: Path) -> None:
    scene = fresh()
    rig = limb()
    rig.pose.bones["Upper"].keyframe_insert("location", frame=1)
    rig.pose.bones["Upper"].location.x = 0.2
    rig.pose.bones["Upper"].keyframe_insert("location", frame=4)
    bpy.ops.object.mode_set(mode="POSE")
    for posed in rig.pose.bones:
        chosen = posed if hasattr(posed, "select") else posed.bone
        chosen.select = posed.name != "Upper"
    assert bpy.ops.sinew.make_ragdoll() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    (top,) = [obj for obj in driven_bones.driving_bodies(scene) if obj.parent_bone == "Lower"]
    assert top.sinew.bone_joint == "FREE"
    top.sinew.bone_joint = "POINT"
    bake(tmp_path, 4)
    for frame in range(1, 5):
        tail = bone_matrix(rig, "Upper", frame) @ np.array([0.0, 0.4, 0.0, 1.0])
        assert np.abs(bone_matrix(rig, "Lower", frame)[:, 3] - tail).max() < 1e-4


@pytest.mark.slow
def test_flesh_follows_the_bodies_and_they_feel_it(tmp_path: Path) -> None:
    scene = fresh()
    rig = limb()
    flesh = add_tube(rig)
    bpy.context.view_layer.objects.active = flesh
    roles.make_body(flesh)
    flesh.sinew.sizing, flesh.sinew.divisions, flesh.sinew.youngs_modulus = "DIVISIONS", 12, 30000.0
    bodies = make_ragdoll(rig)
    bodies["Upper"].sinew.animated = True
    written = exported(scene, tmp_path / "c.sinew")[0]
    owners = {body.key: body for body in written.bodies}
    assert [row.target for row in owners["Rig_Lower"].attachments] == ["Flesh"]
    bake(tmp_path, 12)
    assert motion_track.find_track(rig) is not None and motion_track.find_track(flesh) is None
    skin = positions(flesh, range(1, 13))
    near = np.abs(skin[0, :, 0] - 1.0) < 0.15  # about the middle of the hand
    moved = bone_matrix(rig, "Hand", 12) @ np.linalg.inv(bone_matrix(rig, "Hand", 1))
    with_bone = skin[0, near] @ moved[:3, :3].T + moved[:3, 3]
    assert np.linalg.norm(skin[-1, near] - with_bone, axis=1).max() < 0.05
    assert bone_matrix(rig, "Hand", 12)[2, 3] < -0.3
    flesh.sinew.youngs_modulus = 3.0e6  # stiff flesh bears the limb, which falls freely without
    bake(tmp_path, 12)
    assert bone_matrix(rig, "Hand", 12)[2, 3] > -0.15


@pytest.mark.parametrize("row", ["BONES", "ARMATURE", "BONE"])
def test_jiggling_flesh_is_held_by_bodies_in_place_of_bones(tmp_path: Path, row: str) -> None:
    scene = fresh()
    rig = limb()
    flesh = add_tube(rig)
    roles.make_flesh(flesh)
    flesh.sinew.motion = "JIGGLE"
    own = flesh.sinew.attachments.add()
    own.kind, own.target_type = "FIXED", row
    if row == "BONE":
        own.armature, own.bone = rig, "Lower"
    make_ragdoll(rig)
    if row == "BONE":
        with pytest.raises(BadInput) as refused:
            exported(scene, tmp_path / "c.sinew")
        assert refused.value.kind == "attachment-to-driven-bone"
        assert all(name in refused.value.sentence for name in ("Flesh", "Rig: Lower", "Rig Lower"))
        return
    written = exported(scene, tmp_path / "c.sinew")[0]
    assert not written.bones
    assert [[each.target for each in body.attachments] for body in written.bodies if body.is_rigid] == [["Flesh"]] * 3
    check_scene(written)


def problems() -> list[str]:
    return [problem.kind for problem in validation.object_problems(bpy.context.scene)]


def test_bad_input_gets_a_sentence_with_the_names() -> None:
    scene = fresh()
    rig = limb()
    bodies = make_ragdoll(rig)
    assert not problems()
    lower, hand = bodies["Lower"], bodies["Hand"]
    hand.parent_bone = "Lower"
    assert problems() == ["bone-driven-twice"] * 2
    sentence = driven_bones.driving_body_problem(hand, scene).sentence
    assert "Rig: Lower" in sentence and lower.name in sentence and hand.name in sentence
    hand.parent_bone = "Hand"
    hand.parent_type = "OBJECT"
    assert problems() == ["bone-driver-without-bone"]
    hand.parent_type = "BONE"
    limits = rig.pose.bones["Hand"].constraints.new("LIMIT_ROTATION")
    limits.owner_space, limits.use_limit_x, limits.min_x, limits.max_x = "LOCAL", True, 0.5, -0.5
    assert problems() in (["bone-limits"], [])  # Blender may exchange them itself
    limits.use_limit_x = False
    flesh = add_tube(rig)
    roles.make_flesh(flesh)
    assert "driven-bone-of-pose" in problems()


def test_a_bone_without_length_is_refused() -> None:
    fresh()
    rig = add_rig([("Long", "", (0, 0, 0), (1, 0, 0)), ("Short", "Long", (2, 0, 0), (2, 0, 1e-5))])
    bpy.context.view_layer.objects.active = rig
    driven_bones_min = driven_bones.MIN_LENGTH
    driven_bones.MIN_LENGTH = 1e-3
    try:
        with pytest.raises(RuntimeError, match="Rig: Short"):
            bpy.ops.sinew.make_ragdoll()
    finally:
        driven_bones.MIN_LENGTH = driven_bones_min
