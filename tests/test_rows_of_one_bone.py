# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of attachments about one bone of an armature: its line, what rides on it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, evaluated, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.input_warnings import input_warnings
from sinew.addon.objects import flesh_supports, roles
from sinew.addon.objects.attachment_rows import is_about_line, is_without_target, row_about_bone, row_surfaces
from sinew.addon.objects.mirrored_muscles import mirror_muscles
from sinew.addon.objects.new_attachments import add_attachment
from sinew.addon.overlays import attached_points, bone_attachment_preview
from sinew.addon.panels import attachments_layout
from sinew.solver.constraints.bones import make_bones
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.build import build
from test_addon import context_of
from test_bone_rows import held_nodes


def arm_beside_rig() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object, bpy.types.PropertyGroup]:
    """Returns a box of flesh around an armature that does not pose it, with a row about the lower one of two bones."""
    scene = fresh()
    obj, other = add_box("Arm", divisions=4, height=2.0), add_box("Other")
    roles.make_flesh(obj)
    rig = add_rig(other, turn=0.5, frames=(1, 2))
    bpy.data.objects.remove(other)
    rig.data.bones.active = rig.data.bones["lower"]
    row = add_attachment(obj, rig)
    row.reach = 0.3
    scene.frame_end = 2
    bpy.context.view_layer.update()
    return scene, obj, rig, row


def rider(name: str, rig: bpy.types.Object, bone: str = "lower") -> bpy.types.Object:
    """Returns a small box that is the child of a bone, half way up the lower one."""
    made = add_box(name)
    made.parent, made.parent_type, made.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    made.scale = 0.3, 0.3, 0.3
    made.matrix_parent_inverse.identity()
    made.location = 0.0, -0.5, 0.0
    bpy.context.view_layer.update()
    return made


def test_the_line_of_a_bone_holds_what_is_near_and_moves_it_along(tmp_path: Path) -> None:
    scene, obj, rig, row = arm_beside_rig()
    assert (row.target_type, row.armature, row.bone, row.kind) == ("BONE", rig, "lower", "FIXED")
    assert is_about_line(row) and flesh_supports.is_held(scene, obj)
    row.bone = "upper"
    written, tracks = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    (line,), (attachment,) = written.bones, written.bodies[0].attachments
    assert (line.key, line.name, line.bodies) == ("Arm-upper", "Rig: upper", ("Arm",)) and not len(line.weights)
    assert line.vertices == pytest.approx(np.array([[0, 0, 0], [0, 0, 1]]), abs=1e-6)
    assert (attachment.target, attachment.kind, attachment.reach) == (line.key, "fixed", pytest.approx(0.3))
    built = build(written, tracks, lambda *stage: None)
    found = make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins)
    (hold,) = found.constraints
    rest = built.model.X[hold.nodes]
    nearest = rest * [0.0, 0.0, 1.0]
    nearest[:, 2] = nearest[:, 2].clip(0.0, 1.0)
    assert (np.linalg.norm(rest - nearest, axis=1) <= 0.3).all() and len(rest) > 10
    # about x through the head of the bone, by half a radian at frame 2
    turned = rest.copy()
    cos, sin = np.cos(0.5), np.sin(0.5)
    turned[:, 1], turned[:, 2] = cos * rest[:, 1] - sin * rest[:, 2], sin * rest[:, 1] + cos * rest[:, 2]
    assert hold.targets(tracks, 1.0 / 24.0) == pytest.approx(turned, abs=1e-5)


def test_a_reach_of_zero_is_a_third_of_the_way_to_the_skin(tmp_path: Path) -> None:
    scene, _, _, row = arm_beside_rig()
    row.reach, scene.objects["Arm"].sinew.method = 0.0, "ROBUST"
    scene.objects["Arm"].sinew.sizing, scene.objects["Arm"].sinew.tet_size = "SIZE", 0.1
    line = exported(scene, tmp_path / "a.sinew")[0].bones[0]
    nearest = min((v.co.xy.length for v in scene.objects["Arm"].data.vertices), default=0.0)
    assert line.distance == pytest.approx(max(0.1, min(nearest, 1.0) / 3.0), rel=0.3)


def test_bone_meshes_on_the_bone_hold_in_place_of_its_line(tmp_path: Path) -> None:
    scene, obj, rig, row = arm_beside_rig()
    one, other = rider("Ulna", rig), rider("Radius", rig)
    other.location.x = 0.2
    for each in (one, other):
        roles.make_bone(each)
        each.sinew.bone_distance = 0.5
    bpy.context.view_layer.update()
    assert row_surfaces(row) == [other, one] and not is_about_line(row)
    assert row_about_bone(obj, one) == row == row_about_bone(obj, other)
    row.reach = 0.02
    written, tracks = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    (attachment,) = written.bodies[0].attachments
    assert attachment.targets == ("Radius", "Ulna") and [bone.key for bone in written.bones] == ["Radius", "Ulna"]
    assert all(held_nodes(written, tracks))
    # one out of reach is no error, both are
    other.location.x = 9.0
    assert [bool(nodes) for nodes in held_nodes(*exported(scene, tmp_path / "b.sinew"))] == [False, True]


def test_a_surface_slides_on_colliders_of_the_bone_and_flesh_is_not_held_by_them(tmp_path: Path) -> None:
    scene, obj, rig, row = arm_beside_rig()
    shell = rider("Shell", rig)
    roles.make_collider(shell)
    assert is_about_line(row), "what holds flesh inside is the bone, not what others collide with"
    row.kind, row.reach = "SLIDING", 1.5
    assert row_surfaces(row) == [shell] and not is_about_line(row)
    written, tracks = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    assert written.bodies[0].attachments[0].target == "Shell" and not written.bones
    built = build(written, tracks, lambda *stage: None)
    (force,) = [force for force in built.forces if force.kind == "attachments"]
    assert [links.target.name for links in force.links] == ["Shell"]
    shell.sinew.use_collision = False
    assert refused(scene, tmp_path / "b.sinew").kind == "attachment-line-slides"


@pytest.mark.parametrize("way", ["child of", "armature", "weights"])
def test_what_follows_a_bone_in_other_ways_rides_on_it(way: str) -> None:
    _, obj, rig, row = arm_beside_rig()
    mesh = add_box("Bone")
    roles.make_bone(mesh)
    assert row_surfaces(row) == []
    if way == "weights":
        mesh.vertex_groups.new(name="lower")
        mesh.modifiers.new("Armature", "ARMATURE").object = rig
    elif way == "armature":
        target = mesh.constraints.new("ARMATURE").targets.new()
        target.target, target.subtarget = rig, "lower"
    else:
        constraint = mesh.constraints.new("CHILD_OF")
        constraint.target, constraint.subtarget = rig, "lower"
    assert row_surfaces(row) == [mesh] and row_about_bone(obj, mesh) == row
    row.bone = "upper"
    assert row_surfaces(row) == [] and row_about_bone(obj, mesh) is None
    if way == "weights":  # weighted to two bones, it is neither
        mesh.vertex_groups.new(name="upper")
        assert row_surfaces(row) == []


def test_a_row_about_one_bone_comes_before_that_about_all_of_the_armature(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Arm", divisions=4, height=2.0)
    roles.make_flesh(obj)
    rig = add_rig(obj, turn=0.0)
    obj.modifiers.move(1, 0)
    scene.frame_end, obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = 2, True, 0.25
    row = add_attachment(obj, rig)
    row.bone, row.kind, row.reach, row.stiffness = "upper", "SPRING", 0.4, 900.0
    written, tracks = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    assert [bone.key for bone in written.bones] == ["Arm-lower", "Arm-upper"] and len(written.bones[1].weights)
    built = build(written, tracks, lambda *stage: None)
    found = make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins)
    held = {hold.number: (hold.bone.distance, hold.bone.stiffness) for hold in found.constraints}
    assert held == {0: (0.25, None), 1: (pytest.approx(0.4), 900.0)}
    assert (built.model.X[found.constraints[1].nodes][:, 2] > 0.0).all(), "weights still say which bone is which"


def test_what_a_row_about_one_bone_cannot_be_is_told(tmp_path: Path) -> None:
    scene, obj, rig, row = arm_beside_rig()
    row.bone = "gone"
    problem = refused(scene, tmp_path / "a.sinew")
    assert problem.kind == "attachment-without-bone" and is_without_target(row)
    assert all(f'"{name}"' in problem.sentence for name in ("Arm", "gone", "Rig"))
    row.bone, row.armature = "lower", None
    assert refused(scene, tmp_path / "b.sinew").kind == "attachment-without-target"
    row.armature, row.kind = rig, "SLIDING"
    assert refused(scene, tmp_path / "c.sinew").kind == "attachment-line-slides"
    row.kind, obj.sinew.motion = "FIXED", "ELASTIC"
    assert refused(scene, tmp_path / "d.sinew").kind == "bones-hold-flesh-only"
    obj.sinew.motion = "POSE"
    again = add_attachment(obj, rig)
    (note,) = [each for each in input_warnings(scene) if each.kind == "attachment-twice"]
    assert '"Rig: lower"' in note.sentence
    again.bone = "upper"
    assert not [each for each in input_warnings(scene) if each.kind == "attachment-twice"]


def test_the_digest_follows_bone_rig_and_riders() -> None:
    scene, _, rig, row = arm_beside_rig()
    found = [settings_digest(scene)]
    row.bone = "upper"
    found.append(settings_digest(scene))
    rig.pose.bones["upper"].location.y = 0.25
    found.append(settings_digest(scene))
    roles.make_bone(rider("Ulna", rig, "upper"))
    found.append(settings_digest(scene))
    assert len(set(found)) == 4
    scene.frame_set(2)
    assert settings_digest(scene) == found[-1]


def test_a_row_about_one_bone_is_drawn_shown_and_mirrored() -> None:
    scene, obj, rig, row = arm_beside_rig()
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(obj))
    assert {"target_type", "armature", "bone", "reach"} <= {name for _, name in layout.drawn}
    assert any("line from its head to its tail" in line for line in layout.lines)
    found = bone_attachment_preview.preview(scene, obj, bpy.context.evaluated_depsgraph_get())
    assert found.names == ("Rig: lower",) and len(found.points[0])
    assert found.points[0][:, 2].max() <= 0.3 and np.linalg.norm(found.points[0][:, :2], axis=1).max() <= 0.3
    mesh = rider("Ulna", rig)
    roles.make_bone(mesh)
    row.kind = "SLIDING"
    (points,) = attached_points.points_at_rest(obj, bpy.context.evaluated_depsgraph_get())
    assert points[0] == tuple(row.color)
    for name, other in (("lower", "Fore.L"), ("upper", "Fore.R")):
        rig.data.bones[name].name = other
    row.bone, obj.name, obj.sinew.use_muscle = "Fore.L", "Arm.L", True
    (made,) = mirror_muscles(bpy.context, [obj])
    assert (made.sinew.attachments[0].armature, made.sinew.attachments[0].bone) == (rig, "Fore.R")


@pytest.mark.slow
def test_flesh_follows_the_bones_that_its_rows_name(tmp_path: Path) -> None:
    """Without an Armature modifier, two rows bend flesh as the bones bend: its top goes with the upper one."""
    scene, obj, rig, row = arm_beside_rig()
    add_attachment(obj, rig).reach = 0.3
    obj.sinew.attachments[1].bone = "upper"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "arm.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    before, after = (evaluated(obj, frame)[0] for frame in (1, 2))
    bottom, top = before[:, 2] < -0.99, before[:, 2] > 0.99
    turned = before[top].mean(axis=0)
    cos, sin = np.cos(0.5), np.sin(0.5)
    turned = np.array([turned[0], cos * turned[1] - sin * turned[2], sin * turned[1] + cos * turned[2]])
    assert after[top].mean(axis=0) == pytest.approx(turned, abs=0.05)
    assert after[bottom].mean(axis=0) == pytest.approx(before[bottom].mean(axis=0), abs=0.05)
