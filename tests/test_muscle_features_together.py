# SPDX-License-Identifier: GPL-3.0-or-later
"""Where features of muscles meet: attachments, fibres and heads of muscles that are built, mirrored and renamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_mesh, evaluated, fresh, overridden_box, world
from fixtures.export_scenes import refused
from fixtures.muscle_objects import add_ends, pulled_muscle
from sinew.addon.baking.bodies_at_rest import read_at_rest
from sinew.addon.blender_data.animation_curves import action_curves
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.objects.copy_settings import copy_settings
from sinew.addon.properties.table_editing import add_row
from test_make_muscle import elbow, group, select, spindle


def made_muscle() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object]:
    """Returns a scene, its rig, and a muscle on the left that Make Muscle has made."""
    scene = fresh()
    rig, muscle = elbow(), spindle()
    select(muscle)
    bpy.ops.sinew.make_muscle()
    return scene, rig, muscle


def test_fibres_are_built_of_a_muscle_that_is_attached_to_a_bone() -> None:
    scene, obj = pulled_muscle()
    add_row(obj.sinew.attachments).target = scene.objects["Fixed"]
    found, _ = read_at_rest(scene, [obj])
    assert found.bodies[0].muscle is not None


def test_a_range_is_fitted_only_where_length_is_the_source() -> None:
    scene, obj = pulled_muscle()
    via = bpy.data.objects.new("Via", None)
    scene.collection.objects.link(via)
    add_row(obj.sinew.via_points).object = via
    select(obj)
    with pytest.raises(RuntimeError, match="does not come from its length"):
        bpy.ops.sinew.fit_length_range()


def test_renaming_a_body_leaves_bakes_of_what_is_attached_to_it_up_to_date() -> None:
    scene, obj = pulled_muscle()
    other, bone = add_box("Other"), scene.objects["Fixed"]
    roles.make_body(other)
    other.sinew.key = "Other"  # as after a bake
    row = add_row(obj.sinew.attachments)
    row.target = other
    before = settings_digest(scene)
    other.name = "Renamed"
    assert settings_digest(scene) == before
    row.target = bone
    assert settings_digest(scene) != before


def test_bakes_read_attachments_that_are_on_with_their_painted_groups() -> None:
    scene, obj = pulled_muscle()
    row = add_row(obj.sinew.attachments)
    row.target, row.group = scene.objects["Fixed"], "Paint"
    painted = obj.data.attributes.new("Paint", "FLOAT", "POINT").data
    before = settings_digest(scene)
    painted[0].value = 0.5
    assert settings_digest(scene) != before
    row.is_on, before = False, settings_digest(scene)
    assert settings_digest(scene) != before
    before, row.strength = settings_digest(scene), 3.0
    assert settings_digest(scene) == before


def test_a_property_that_drives_an_attachment_counts_for_bakes() -> None:
    scene, obj = pulled_muscle()
    add_row(obj.sinew.attachments).target = scene.objects["Fixed"]
    obj["Hold"] = 1.0
    driver = obj.driver_add("sinew.attachments[0].strength").driver
    driver.variables.new().targets[0].id = obj
    driver.variables[0].targets[0].data_path, driver.expression = '["Hold"]', "var"
    before = settings_digest(scene)
    obj["Hold"] = 2.0
    assert settings_digest(scene) != before


def test_copied_settings_do_not_name_the_object_that_gets_them() -> None:
    _, obj = pulled_muscle()
    other = add_box("Other")
    add_ends(other)
    obj.sinew.tendon_mesh = add_row(obj.sinew.via_points).object = other
    copy_settings(obj, other)
    assert other.sinew.tendon_mesh is None and other.sinew.via_points[0].object is None


def test_a_mirrored_muscle_takes_what_is_on_its_side() -> None:
    scene, rig, muscle = made_muscle()
    own = muscle.sinew
    for side in (".L", ".R"):
        lattice = bpy.data.objects.new("Lattice" + side, bpy.data.lattices.new("Lattice"))
        scene.collection.objects.link(lattice)
        roles.make_collider(add_box("Rib" + side))
    own.fibre_source, own.fibre_lattice, own.fibre_direction = "LATTICE", scene.objects["Lattice.L"], "Along"
    add_row(own.attachments).target = scene.objects["Rib.L"]
    directions = muscle.data.attributes.new("Along", "FLOAT_VECTOR", "POINT").data
    directions.foreach_set("vector", np.tile([0.6, 0.0, 0.8], len(directions)).astype(np.float32))
    head = add_row(own.muscle_heads)
    head.group = own.pin_group = "Fore.L"
    head.keyframe_insert("activation", frame=1)
    muscle.vertex_groups.new(name="Fore.L").add([0], 1.0, "REPLACE")
    muscle.vertex_groups.new(name="Fore.R").add([1], 0.5, "REPLACE")
    muscle.modifiers.new("Armature", "ARMATURE").object = rig
    muscle.parent, muscle.parent_type, muscle.parent_bone = rig, "BONE", "Upper.L"
    bone = rig.pose.bones["Fore.L"]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.5  # a muscle is mirrored in any pose
    bpy.context.view_layer.update()
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = scene.objects["Biceps.R"]
    assert other.sinew.fibre_lattice.name == "Lattice.R" and other.sinew.attachments[-1].target.name == "Rib.R"
    assert other.data.attributes["Along"].data[0].vector[:] == pytest.approx((-0.6, 0.0, 0.8))
    assert other.parent_bone == "Upper.R" and other.sinew.pin_group == other.sinew.muscle_heads[0].group == "Fore.R"
    assert [other.vertex_groups[n].weight(i) for n, i in (("Fore.R", 0), ("Fore.L", 1))] == [1.0, 0.5]
    data = other.animation_data
    assert data.action != muscle.animation_data.action
    assert [curve.data_path for curve in action_curves(data.action, data.action_slot)] == [
        "sinew.muscle_heads[0].activation"
    ]
    for side in (".L", ".R"):
        bone = rig.pose.bones["Fore" + side]
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.5
    bpy.context.view_layer.update()
    assert world(*evaluated(other, 1)) == pytest.approx(world(*evaluated(muscle, 1)) * [-1.0, 1.0, 1.0], abs=1e-5)


def test_fibre_objects_without_another_side_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    scene, _, muscle = made_muscle()
    strands = bpy.data.objects.new("Strands", bpy.data.curves.new("Strands", "CURVE"))
    scene.collection.objects.link(strands)
    muscle.sinew.fibre_source, muscle.sinew.fibre_curves = "CURVES", strands
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    assert 'have "Strands" as Fibre Curves' in capfd.readouterr().out


def test_what_refers_to_a_muscle_refers_to_the_one_that_takes_its_place() -> None:
    scene, _, muscle = made_muscle()
    bpy.ops.sinew.mirror_muscle()
    row, back = add_row(add_box("Skin").sinew.attachments), add_row(muscle.sinew.attachments)
    row.target = back.target = scene.objects["Biceps.R"]
    arm = bpy.data.collections.new("Arm")
    scene.collection.children.link(arm)
    arm.objects.link(row.target)
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = scene.objects["Biceps.R"]
    assert row.target == back.target == other and other.sinew.attachments[-1].target == muscle
    assert list(arm.objects) == [other] and list(scene.collection.objects).count(other) == 1


def test_muscles_that_are_mirrored_at_once_are_attached_to_each_other() -> None:
    scene, _, muscle = made_muscle()
    other = spindle("Triceps.L", (1.0, -0.2, 0.1), (1.0, -0.2, 1.9))
    select(other)
    bpy.ops.sinew.make_muscle()
    for one, target in ((muscle, other), (other, muscle)):
        add_row(one.sinew.attachments).target = target
    select(muscle, other)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    targets = {name: scene.objects[name].sinew.attachments[-1].target.name for name in ("Biceps.R", "Triceps.R")}
    assert targets == {"Biceps.R": "Triceps.R", "Triceps.R": "Biceps.R"}


def test_nothing_else_than_a_muscle_of_one_side_gives_way_to_a_mirror_image() -> None:
    scene, _, muscle = made_muscle()
    add_box("Biceps.R")
    select(muscle)
    with pytest.raises(RuntimeError, match="that is no muscle"):
        bpy.ops.sinew.mirror_muscle()
    bpy.data.objects.remove(scene.objects["Biceps.R"])
    bpy.ops.sinew.mirror_muscle()
    select(muscle, scene.objects["Biceps.R"])
    with pytest.raises(RuntimeError, match="one side only"):
        bpy.ops.sinew.mirror_muscle()


def test_meshes_in_edit_mode_and_without_faces_become_no_muscles() -> None:
    fresh()
    elbow()
    muscle = spindle()
    select(muscle)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode"):
        bpy.ops.sinew.make_muscle()
    bpy.ops.object.mode_set(mode="OBJECT")
    empty = add_mesh("Empty", np.zeros((0, 3)), [])
    empty.modifiers.new("Nodes", "NODES")
    select(empty)
    with pytest.raises(RuntimeError, match="Empty"):
        bpy.ops.sinew.make_muscle()
    assert not roles.roles_of(muscle) and not muscle.vertex_groups


def test_bone_meshes_and_points_become_no_muscles() -> None:
    fresh()
    elbow()
    bone, point = add_box("Bone"), add_mesh("Point", np.ones((3, 3)), [(0, 1, 2)])
    roles.make_bone(bone)
    for obj, words in ((bone, "is a bone mesh"), (point, "at one place")):
        select(obj, spindle(f"{obj.name}.L"))
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.sinew.make_muscle()
    assert roles.has_role(bone, "BONE") and not roles.roles_of(point)


def test_an_armature_does_not_move_the_ends_a_second_time() -> None:
    fresh()
    rig, muscle = elbow(), spindle()
    lower = [v.index for v in muscle.data.vertices if v.co.z < 1.0]
    muscle.vertex_groups.new(name="Fore.L").add(lower, 1.0, "REPLACE")
    muscle.modifiers.new("Armature", "ARMATURE").object = rig
    select(muscle)
    bpy.ops.sinew.make_muscle()
    rest, bone = evaluated(muscle, 1)[0], rig.pose.bones["Fore.L"]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.5
    bpy.context.view_layer.update()
    wanted = world(rest, np.array(bone.matrix @ bone.bone.matrix_local.inverted()))
    is_end = group(muscle, "Insertion")
    assert evaluated(muscle, 1)[0][is_end] == pytest.approx(wanted[is_end], abs=1e-5)


def test_a_muscle_is_made_in_any_pose_of_the_armature_that_poses_it() -> None:
    for is_skinned in (True, False):
        fresh()
        rig, muscle = elbow(), spindle()
        if is_skinned:
            muscle.modifiers.new("Armature", "ARMATURE").object = rig
        else:
            select(muscle)
            bpy.ops.sinew.make_muscle()
        rest, bone = evaluated(muscle, 1)[0], rig.pose.bones["Fore.L"]
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", 1.5
        bpy.context.view_layer.update()
        select(muscle)
        assert bpy.ops.sinew.make_muscle(end_share=10.0) == {"FINISHED"}
        bone.rotation_euler.x = 0.0
        assert evaluated(muscle, 1)[0] == pytest.approx(rest, abs=1e-5)
        assert muscle.modifiers["Insertion"].subtarget == "Fore.L"


def test_a_mesh_of_another_file_becomes_no_muscle(tmp_path: Path) -> None:
    own = overridden_box(tmp_path)
    elbow()
    select(own)
    with pytest.raises(RuntimeError, match="in another file"):
        bpy.ops.sinew.make_muscle()
    assert not own.vertex_groups and not own.modifiers


def test_hooks_of_ends_that_follow_nothing_are_told(tmp_path: Path) -> None:
    scene, rig, muscle = made_muscle()
    rig.data.bones["Fore.L"].name = "Radius"
    assert muscle.modifiers["Insertion"].subtarget == "Radius"  # Blender renames it, too
    muscle.modifiers["Insertion"].subtarget = "Ulna"
    assert refused(scene, tmp_path / "c.sinew").kind == "hook-without-bone"
    bpy.data.objects.remove(rig)
    assert refused(scene, tmp_path / "c.sinew").kind == "hook-without-object"
