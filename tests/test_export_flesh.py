# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh and bones as Blender shows them are what the scene folder says: in the rest pose, and over time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, add_driven_shape_key, add_rig, counts, evaluated, fresh, world
from sinew.addon import export, roles
from sinew.addon.choices import FLESH_LAWS, JIGGLE_SCHEMES
from sinew.addon.reading import armature_bones, input_notes, moments
from sinew.solver import anatomy
from sinew.solver.scene import Bone, Scene
from sinew.solver.tracks import TrackReader
from test_export import exported, refused


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


# flesh


def test_a_soft_body_is_no_flesh(tmp_path: Path) -> None:
    obj = arm()
    obj.sinew.motion = "ELASTIC"
    bone_mesh()
    bpy.context.scene.frame_end = 2
    written, tracks = exported(bpy.context.scene, tmp_path / "c.sinew")
    assert written.bodies[0].flesh is None and written.bones == () and not tracks.has("bone.Femur.matrix")
    assert written.settings.preroll == 0


def test_settings_of_flesh_arrive(tmp_path: Path) -> None:
    own = arm().sinew
    scene = bpy.context.scene
    scene.frame_end = 1
    scene.sinew.pose_tolerance, scene.sinew.pose_iterations = 1.0e-5, 33
    own.preset = "MUSCLE"
    own.self_contact = False
    for law in (item[0] for item in FLESH_LAWS):
        own.flesh_law = law
        written, _ = exported(scene, tmp_path / law)
        flesh = written.bodies[0].flesh
        assert flesh is not None and flesh.law in anatomy.FLESH_LAWS
        assert (flesh.motion, flesh.self_contact) == ("quasistatic", False)
    assert {item[0].lower().replace("_", "-") for item in FLESH_LAWS} == set(anatomy.FLESH_LAWS)
    assert written.settings.pose_tolerance == pytest.approx(1.0e-5) and written.settings.pose_iterations == 33
    assert written.bodies[0].material.youngs_modulus == pytest.approx(own.youngs_modulus)
    own.motion = "JIGGLE"
    for scheme in (item[0] for item in JIGGLE_SCHEMES):
        own.jiggle_scheme = scheme
        flesh = exported(scene, tmp_path / scheme)[0].bodies[0].flesh
        assert flesh.motion == "dynamic" and flesh.scheme in anatomy.SCHEMES


PAINTS = {
    "stiffness_group": "stiffness_paint",
    "volume_group": "volume_paint",
    "density_group": "density_paint",
    "attachment_group": "attachment_paint",
}


@pytest.mark.parametrize("setting", PAINTS)
def test_paint_arrives_from_groups_attributes_and_modifiers(setting: str, tmp_path: Path) -> None:
    obj = arm()
    scene = bpy.context.scene
    scene.frame_end = 1
    upper = np.array([v.co.z > 0 for v in obj.data.vertices])
    obj.vertex_groups.new(name="Group").add(np.flatnonzero(upper).tolist(), 0.25, "REPLACE")
    values = np.linspace(0.0, 1.0, len(upper)).astype(np.float32)
    obj.data.attributes.new("Attribute", "FLOAT", "POINT").data.foreach_set("value", values)
    obj.vertex_groups.new(name="Made")
    modifier = obj.modifiers.new("Weights", "VERTEX_WEIGHT_EDIT")
    modifier.vertex_group, modifier.use_add, modifier.default_weight = "Made", True, 0.5
    modifier.add_threshold = 0.0
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    for group, wanted in (("Group", 0.25 * upper), ("Attribute", values), ("Made", np.full(len(upper), 0.5))):
        setattr(obj.sinew, setting, group)
        flesh = exported(scene, tmp_path / group)[0].bodies[0].flesh
        assert np.allclose(getattr(flesh, PAINTS[setting]), wanted), group
        others = set(PAINTS.values()) - {PAINTS[setting]}
        assert all(len(getattr(flesh, name)) == 0 for name in others)
    obj.vertex_groups.new(name="Nothing")
    for group, kind in (("Nothing", "group-empty"), ("gone", "group-gone")):
        setattr(obj.sinew, setting, group)
        problem = refused(scene, tmp_path / "refused.sinew")
        assert problem.kind == kind and '"Arm"' in problem.sentence and f'"{group}"' in problem.sentence


# bone meshes


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


def by_shape_keys(bone: bpy.types.Object) -> None:
    bend_key(bone, (1, 9))


def by_driven_shape_keys(bone: bpy.types.Object) -> None:
    add_driven_shape_key(bone, bpy.data.objects["Rig"])


RIGID = (by_object, by_mirrored_parent, by_bone_of_armature, by_constraint, by_driver, by_strips)
DEFORMING = (by_armature, by_shape_keys, by_driven_shape_keys)


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
    (note,) = (note for note in input_notes.notes(scene) if note.kind == "bone-holds-no-flesh")
    assert '"Femur"' in note.sentence and '"Jelly"' in note.sentence
    jelly.sinew.motion = "JIGGLE"
    assert exported(scene, tmp_path / "d.sinew")[0].bones[0].bodies == ("Jelly",)
    assert not [note for note in input_notes.notes(scene) if note.kind == "bone-holds-no-flesh"]


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


# the rest pose and the pre-roll


def rolling(rest: int | None, preroll: int = 0, **frames: int) -> bpy.types.Scene:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames.get("start", 5), frames.get("end", 9)
    scene.sinew.use_rest_frame = rest is not None
    scene.sinew.rest_frame = rest or 0
    scene.sinew.preroll = preroll
    return scene


def moving_arm() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns flesh bent by its rig, a bone on the rig and a collider, which all move from frame 1 to 9."""
    obj = arm()
    bent(obj, frames=(1, 9))
    obj.vertex_groups.new(name="Pin").add([0, 1], 1.0, "REPLACE")
    obj.sinew.pin_group = "Pin"
    bone = bone_mesh()
    by_bone_of_armature(bone)
    ground = add_box("Ground")
    roles.make_collider(ground)
    ground.location.x = 5.0
    turn(ground, (1, 9))
    return obj, bone, ground


def test_a_rest_frame_before_the_first_brings_its_own_pre_roll(tmp_path: Path) -> None:
    obj, bone, ground = moving_arm()
    scene = rolling(2, preroll=50)
    scene.sinew.samples_per_frame = 2
    seen = {f: (world(*evaluated(obj, f)), world(*evaluated(bone, f)), evaluated(ground, f)[1]) for f in (2, 3, 5, 9)}
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.settings.preroll == 3 and written.settings.frame_start == 5
    assert np.abs(written.bodies[0].vertices - seen[2][0]).max() < 1e-6
    assert np.abs(written.bones[0].vertices - seen[2][1]).max() < 1e-6
    pinned = written.bodies[0].pinned
    for frame, (skin, femur, place) in seen.items():
        time = written.settings.time(frame)
        assert np.abs(tracks.sample("body.Arm.targets", time) - skin[pinned]).max() < 1e-5
        assert np.abs(moved(written.bones[0], tracks, time) - femur).max() < 1e-5
        assert np.abs(tracks.sample("collider.Ground.matrix", time) - place).max() < 1e-5
    between = world(*evaluated(bone, 3, 0.5))
    assert np.abs(moved(written.bones[0], tracks, -1.5 / 24) - between).max() < 1e-5, "samples of parts of frames, too"
    for name in ("gravity", "body.Arm.matrix", "body.Arm.targets", "bone.Femur.matrix", "collider.Ground.matrix"):
        assert first_time(tracks, name) == -3 / 24


@pytest.mark.parametrize("rest", [5, 9, 12])
def test_a_rest_frame_from_the_first_on_is_gone_from_in_the_pre_roll(rest: int, tmp_path: Path) -> None:
    obj, bone, _ = moving_arm()
    scene = rolling(rest, preroll=6)
    skin, femur = world(*evaluated(obj, rest)), {f: world(*evaluated(bone, f)) for f in (5, 8, rest)}
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.settings.preroll == 6
    assert np.abs(written.bodies[0].vertices - skin).max() < 1e-6
    assert np.abs(written.bones[0].vertices - femur[rest]).max() < 1e-6
    for time, frame in ((-6 / 24, rest), (0.0, 5), (3 / 24, 8)):
        assert np.abs(moved(written.bones[0], tracks, time) - femur[frame]).max() < 1e-5
    assert first_time(tracks, "bone.Femur.matrix") == -6 / 24
    turns = tracks.sample("bone.Femur.matrix", -3 / 24)[:3, :3]
    assert np.abs(turns @ turns.T - np.eye(3)).max() < 1e-6, "it turns half the way, and keeps its size"


def test_another_pose_than_the_first_takes_a_frame_at_least(tmp_path: Path) -> None:
    moving_arm()
    scene = rolling(9)
    assert [m.time for m in moments.moments(scene)[:2]] == [-1 / 24, 0.0]
    assert exported(scene, tmp_path / "c.sinew")[0].settings.preroll == 1
    scene = rolling(5)
    assert moments.preroll(scene) == 0 and len(moments.moments(scene)) == 5


def test_without_a_rest_frame_the_first_frame_is_the_rest_pose(tmp_path: Path) -> None:
    obj, _, _ = moving_arm()
    scene = rolling(None, preroll=7)
    scene.sinew.rest_frame = 2
    skin = world(*evaluated(obj, 5))
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.settings.preroll == 0 and first_time(tracks, "bone.Femur.matrix") == 0.0
    assert np.abs(written.bodies[0].vertices - skin).max() < 1e-6


def test_what_simulates_above_is_run_up_to_the_rest_frame_and_again(tmp_path: Path) -> None:
    fresh()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6)
    obj = bpy.context.object
    obj.vertex_groups.new(name="Hung").add([0, 1, 2], 1.0, "REPLACE")
    obj.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "Hung"
    obj.sinew.role = "BONE"
    roles.make_flesh(add_box("Arm"))
    seen = {frame: world(*evaluated(obj, frame)) for frame in range(1, 13)}
    scene = rolling(11, preroll=2)
    scene.frame_set(1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert np.abs(written.bones[0].vertices - seen[11]).max() < 1e-5
    for frame in (5, 9):
        assert np.abs(moved(written.bones[0], tracks, (frame - 5) / 24) - seen[frame]).max() < 1e-5


# the rest shape


def reshaped(name: str = "Belly") -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns flesh bent by a rig, with an animated shape key that the rest shape follows."""
    obj = arm(name)
    rig = bent(obj, frames=(1, 9))
    bend_key(obj, (1, 9))
    obj.sinew.rest_from_keys = True
    return obj, rig


def frozen(obj: bpy.types.Object, rig: bpy.types.Object, value: float, frame: int) -> np.ndarray:
    """Returns what Blender shows at a frame if the shape key has that value."""
    keys = obj.data.shape_keys
    action, keys.animation_data.action = keys.animation_data.action, None
    slot = action.slots[0]
    keys.key_blocks["Lean"].value = value
    points = world(*evaluated(obj, frame))
    keys.animation_data.action = action
    keys.animation_data.action_slot = slot
    return points


def test_the_rest_shape_follows_shape_keys_in_the_rest_pose(tmp_path: Path) -> None:
    obj, rig = reshaped()
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    obj.modifiers["Subdivision"].render_levels = 1
    obj.modifiers.move(2, 0)
    obj.rotation_euler, obj.scale = (0.0, 0.4, 0.0), (1.0, -1.0, 1.0)
    scene = rolling(3, start=3, end=9)
    scene.unit_settings.scale_length = 2.0
    now = {frame: keyed_value(obj, frame) for frame in (3, 6, 9)}
    seen = {frame: 2.0 * frozen(obj, rig, value, 3) for frame, value in now.items()}
    assert np.abs(seen[9] - seen[3]).max() > 0.3
    before = counts()
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert counts() == before
    body = written.bodies[0]
    assert np.abs(tracks.sample("body.Belly.rest", 0.0) - body.vertices).max() < 1e-6
    for frame, points in seen.items():
        assert np.abs(tracks.sample("body.Belly.rest", (frame - 3) / 24) - points).max() < 1e-5, frame


def keyed_value(obj: bpy.types.Object, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return obj.data.shape_keys.key_blocks["Lean"].value


def test_driven_muted_and_absolute_keys(tmp_path: Path) -> None:
    obj = arm("Belly")
    rig = bent(obj, frames=(1, 9))
    add_driven_shape_key(obj, rig)
    obj.sinew.rest_from_keys = True
    scene = bpy.context.scene
    scene.frame_end = 9
    wide = np.array([p.co for p in obj.data.shape_keys.key_blocks["Wide"].data])
    basis = np.array([p.co for p in obj.data.shape_keys.key_blocks[0].data])
    _, tracks = exported(scene, tmp_path / "a.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - wide).max() < 1e-5, "the bend drives it to 1"
    assert np.abs(tracks.sample("body.Belly.rest", 0.0) - basis).max() < 1e-5
    obj.data.shape_keys.key_blocks["Wide"].mute = True
    _, tracks = exported(scene, tmp_path / "b.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - basis).max() < 1e-5
    keys = obj.data.shape_keys
    keys.key_blocks["Wide"].mute = False
    keys.use_relative = False
    for frame, block in ((1, 0), (9, 1)):
        keys.eval_time = keys.key_blocks[block].frame
        keys.keyframe_insert("eval_time", frame=frame)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - wide).max() < 1e-5


def test_pins_follow_the_reshaped_mesh_in_its_pose(tmp_path: Path) -> None:
    """Rest shape and targets agree: what is pinned has no stress of its own where the keys alone move it."""
    obj, rig = reshaped()
    rig.animation_data_clear()
    rig.pose.bones["upper"].rotation_euler.x = 0.0
    obj.vertex_groups.new(name="Pin").add(list(range(20)), 1.0, "REPLACE")
    obj.sinew.pin_group = "Pin"
    scene = bpy.context.scene
    scene.frame_end = 9
    written, tracks = exported(scene, tmp_path / "c.sinew")
    rest, targets = tracks.sample("body.Belly.rest", 8 / 24), tracks.sample("body.Belly.targets", 8 / 24)
    assert np.abs(rest[written.bodies[0].pinned] - targets).max() < 1e-6
    assert np.abs(targets - tracks.sample("body.Belly.targets", 0.0)).max() > 0.1


def test_no_rest_shape_where_none_is_asked_for(tmp_path: Path) -> None:
    obj, _ = reshaped()
    bpy.context.scene.frame_end = 2
    obj.sinew.motion = "ELASTIC"
    assert not exported(bpy.context.scene, tmp_path / "a.sinew")[1].has("body.Belly.rest")
    obj.sinew.motion, obj.sinew.rest_from_keys = "JIGGLE", False
    assert not exported(bpy.context.scene, tmp_path / "b.sinew")[1].has("body.Belly.rest")
    obj.sinew.rest_from_keys = True
    assert exported(bpy.context.scene, tmp_path / "c.sinew")[1].has("body.Belly.rest")
    obj.shape_key_clear()
    assert not exported(bpy.context.scene, tmp_path / "d.sinew")[1].has("body.Belly.rest")


# all of it, in slices


def everything() -> bpy.types.Scene:
    obj, _ = reshaped()
    obj.sinew.use_armature_bones = True
    by_armature(bone_mesh())
    by_object(bone_mesh("Tibia"))
    scene = rolling(1, start=4, end=9)
    return scene


def test_slices_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = everything()
    exported(scene, tmp_path / "whole.sinew")
    amounts = counts()
    monkeypatch.setattr(export, "slice_end", lambda begun: 0.0)
    fractions = []
    for fraction in export.export_scene(bpy.context, scene, tmp_path / "sliced.sinew"):
        fractions.append(fraction)
        assert counts() == amounts
        scene.frame_set(len(fractions))
    assert len(fractions) == 9 and fractions[-1] == 1.0
    a, b = (tmp_path / name / "scene" for name in ("whole.sinew", "sliced.sinew"))
    assert Scene.load(a).digest() == Scene.load(b).digest()
    assert TrackReader(a).digest() == TrackReader(b).digest()


@pytest.mark.parametrize("name", ["Femur", "Tibia", "Rig", "Belly"])
def test_what_is_deleted_meanwhile_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = everything()
    monkeypatch.setattr(export, "slice_end", lambda begun: 0.0)
    steps = export.export_scene(bpy.context, scene, tmp_path / "c.sinew")
    next(steps)
    bpy.data.objects.remove(bpy.data.objects[name])
    with pytest.raises(Exception) as caught:
        next(steps)
    assert getattr(caught.value, "kind", "") == "object-gone" and f'"{name}"' in caught.value.sentence
    assert not (tmp_path / "c.sinew").exists()


def test_an_armature_bone_removed_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = everything()
    monkeypatch.setattr(export, "slice_end", lambda begun: 0.0)
    steps = export.export_scene(bpy.context, scene, tmp_path / "c.sinew")
    next(steps)
    bpy.data.armatures["Rig"].bones["upper"].name = "elbow"
    with pytest.raises(Exception) as caught:
        next(steps)
    assert getattr(caught.value, "kind", "") == "object-gone" and "upper" in caught.value.sentence


# what is refused


def editing(name: str) -> None:
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    bpy.ops.object.mode_set(mode="EDIT")


def without_faces() -> None:
    bpy.data.objects["Tibia"].data.clear_geometry()


def flat() -> None:
    bpy.data.objects["Tibia"].animation_data_clear()
    bpy.data.objects["Tibia"].scale.x = 0.0


def changing() -> None:
    modifier = bpy.data.objects["Femur"].modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = -1, 9


def changing_keys() -> None:
    """The body shrinks by its shape key as its bones make it grow: only in the rest pose its vertices merge."""
    obj, rig = bpy.data.objects["Belly"], bpy.data.objects["Rig"]
    obj.modifiers.new("Weld", "WELD").merge_threshold = 0.2
    obj.modifiers.move(2, 1)
    basis, key = obj.data.shape_keys.key_blocks
    for point, from_point in zip(key.data, basis.data, strict=True):
        point.co = 0.5 * from_point.co
    lower = rig.pose.bones["lower"]
    for frame, scale in ((1, 1.0), (9, 2.0)):
        lower.scale = (scale, scale, scale)
        lower.keyframe_insert("scale", frame=frame)


def no_mask() -> None:
    bpy.data.objects["Tibia"].sinew.bone_mask_group = "gone"


def empty_mask() -> None:
    bpy.data.objects["Tibia"].vertex_groups.new(name="Nothing")
    bpy.data.objects["Tibia"].sinew.bone_mask_group = "Nothing"


def empty_object() -> None:
    empty = bpy.data.objects.new("Cross", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.sinew.role = "BONE"


def no_armature() -> None:
    bpy.data.objects["Belly"].modifiers.remove(bpy.data.objects["Belly"].modifiers["Armature"])


def armature_below() -> None:
    bpy.data.objects["Belly"].modifiers.move(0, 1)


def no_object() -> None:
    bpy.data.objects["Belly"].modifiers["Armature"].object = None


def other_groups() -> None:
    for group in bpy.data.objects["Belly"].vertex_groups:
        group.name += " old"


def nothing_in_a_bone() -> None:
    bpy.data.objects["Belly"].sinew.motion = "JIGGLE"
    bpy.data.objects["Belly"].sinew.use_plasticity = True


REFUSED = (
    (lambda: editing("Tibia"), "in-edit-mode", "Tibia"),
    (lambda: editing("Rig"), "in-edit-mode", "Rig"),
    (without_faces, "mesh-empty", "Tibia"),
    (flat, "object-flat", "Tibia"),
    (changing, "bone-vertices-change", "Femur"),
    (changing_keys, "rest-shape-vertices", "Belly"),
    (no_mask, "group-gone", "Tibia"),
    (empty_mask, "group-empty", "Tibia"),
    (empty_object, "not-a-mesh", "Cross"),
    (no_armature, "armature-none", "Belly"),
    (armature_below, "armature-none", "Belly"),
    (no_object, "armature-none", "Belly"),
    (other_groups, "armature-no-groups", "Belly"),
    (nothing_in_a_bone, "flesh-combined", "Belly"),
)


@pytest.mark.parametrize(("spoil", "kind", "name"), REFUSED, ids=[f"{kind}-{name}" for _, kind, name in REFUSED])
def test_what_cannot_be_is_told_by_name(spoil: Callable[[], None], kind: str, name: str, tmp_path: Path) -> None:
    scene = everything()
    spoil()
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == kind and f'"{name}"' in problem.sentence and problem.next_step
