# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as rows of the list of attachments: what they become in the scene, and where their own settings count."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.input_warnings import input_warnings
from sinew.addon.objects import flesh_supports, roles
from sinew.addon.objects.attachment_rows import row_about_bone
from sinew.addon.objects.copy_settings import copy_settings
from sinew.addon.objects.mirrored_muscles import mirror_muscles
from sinew.addon.objects.new_attachments import add_attachment, add_bones
from sinew.addon.panels import attachments_layout
from sinew.solver.constraints.bones import make_bones
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import ALL_BONES, ARMATURE_BONES
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.build import build
from test_addon import context_of, drawn


def arm(name: str = "Arm") -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns a box of flesh with two bones in it."""
    scene = fresh()
    obj = add_box(name)
    roles.make_flesh(obj)
    bones = []
    for key, z in (("Lower", -0.5), ("Upper", 0.5)):
        bone = add_box(key)
        bone.scale, bone.location = (0.3, 0.3, 0.3), (0.0, 0.0, z)
        roles.make_bone(bone)
        bones.append(bone)
    scene.frame_end = 2
    bpy.context.view_layer.update()
    return scene, obj, *bones


def held_nodes(written: Scene, tracks: TrackReader) -> list[list[int]]:
    """Returns the nodes that each bone of a scene holds exactly or by springs."""
    built = build(written, tracks, lambda *stage: None)
    found = make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins)
    number = found.bone_of_nodes(built.model.node_count)
    return [(number == k).nonzero()[0].tolist() for k in range(len(written.bones))]


def test_rows_of_bones_arrive_in_the_scene(tmp_path: Path) -> None:
    scene, obj, lower, _ = arm()
    row = add_attachment(obj, lower)
    assert (row.kind, row.reach) == ("FIXED", 0.0), "as the bone holds it without"
    row.kind, row.reach, row.stiffness = "SPRING", 0.25, 900.0
    every = add_attachment(obj, None)
    every.target_type, every.kind, every.reach = "BONES", "FIXED", 0.125
    for frame, is_on in ((1, True), (2, False)):
        every.is_on = is_on
        every.keyframe_insert("is_on", frame=frame)
    written, tracks = exported(scene, tmp_path / "a.sinew")
    first, second = written.bodies[0].attachments
    assert (first.target, first.kind, first.reach, first.stiffness) == ("Lower", "spring", 0.25, 900.0)
    assert (second.target, second.kind, second.reach, second.stiffness) == (ALL_BONES, "fixed", 0.125, None)
    assert tracks.sample("body.Arm.attachment.1.strength", 1.0 / 24.0) == 0.0


def test_listed_bones_hold_what_they_held_before(tmp_path: Path) -> None:
    """Rows of all bones change nothing until they are edited; without them all is as it was."""
    scene, obj, lower, upper = arm()
    lower.sinew.bone_distance, upper.sinew.use_bone_spring, upper.sinew.bone_stiffness = 0.15, True, 700.0
    before = held_nodes(*exported(scene, tmp_path / "a.sinew"))
    digest = settings_digest(scene)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.list_bone_attachments() == {"FINISHED"}
    assert [(row.target, row.kind) for row in obj.sinew.attachments] == [(lower, "FIXED"), (upper, "SPRING")]
    assert add_bones(scene, obj) == 0 and len({tuple(row.color) for row in obj.sinew.attachments}) == 2
    after = held_nodes(*exported(scene, tmp_path / "b.sinew"))
    assert after == before and all(before)
    assert settings_digest(scene) != digest
    obj.sinew.attachments.clear()
    obj.sinew.attachments_index = 0
    assert settings_digest(scene) == digest


def test_bones_are_listed_as_the_row_all_bones_holds_them(tmp_path: Path) -> None:
    scene, obj, lower, upper = arm()
    every = add_attachment(obj, None)
    every.target_type, every.kind, every.reach, every.stiffness, every.strength = "BONES", "SPRING", 0.25, 700.0, 0.5
    before = held_nodes(*exported(scene, tmp_path / "a.sinew"))
    assert add_bones(scene, obj) == 2
    own = [(row.target, row.kind, row.reach, row.stiffness, row.strength) for row in obj.sinew.attachments]
    assert own[1:] == [(bone, "SPRING", 0.25, 700.0, 0.5) for bone in (lower, upper)]
    assert held_nodes(*exported(scene, tmp_path / "b.sinew")) == before
    # no row of one bone says what keys say of all
    obj.sinew.attachments.remove(2)
    obj.sinew.attachments.remove(1)
    obj.keyframe_insert("sinew.attachments[0].strength", frame=1)
    assert add_bones(scene, obj) == 0 == len(obj.sinew.attachments) - 1


def test_bones_of_an_armature_are_one_row(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Arm", divisions=4, height=2.0)
    roles.make_flesh(obj)
    add_rig(obj, turn=0.0)
    obj.modifiers.move(1, 0)
    own, scene.frame_end = obj.sinew, 2
    own.use_armature_bones, own.use_armature_bone_spring, own.armature_bone_radius = True, True, 0.25
    before, _ = exported(scene, tmp_path / "a.sinew")
    assert add_bones(scene, obj) == 1 == len(own.attachments) and add_bones(scene, obj) == 0
    (row,) = own.attachments
    assert (row.target_type, row.kind, row.reach, row.stiffness) == ("ARMATURE", "SPRING", 0.25, 30000.0)
    own.use_armature_bones, own.armature_bone_radius = False, 0.0
    after, _ = exported(scene, tmp_path / "b.sinew")
    assert [bone.distance for bone in after.bones] == [bone.distance for bone in before.bones] == [0.25, 0.25]
    assert after.bodies[0].attachments[0].target == ARMATURE_BONES and flesh_supports.is_held(scene, obj)
    check_scene(after)
    assert any("The row Armature Bones" in text for text in drawn(obj, "draw_held_by").lines)
    row.kind = "SLIDING"
    for kind, stiffness in (("SLIDING", 900.0), ("SPRING", 0.0)):
        row.kind, row.stiffness = kind, stiffness
        with pytest.raises(BadInput, match="no surface that it could slide along or hang on"):
            check_scene(exported(scene, tmp_path / "c.sinew")[0])
    own.motion = "ELASTIC"
    assert refused(scene, tmp_path / "d.sinew").kind == "bones-hold-flesh-only"


def test_a_row_counts_in_place_of_the_settings_of_its_bone() -> None:
    scene, obj, lower, upper = arm()
    upper.sinew.bone_body = add_box("Other")
    assert flesh_supports.bones_of(scene, obj) == [lower]
    row = add_attachment(obj, upper)
    assert flesh_supports.bones_of(scene, obj) == [lower, upper] and row_about_bone(obj, upper) == row
    row.kind = "SLIDING"
    assert flesh_supports.bones_of(scene, obj) == [lower]
    row.is_on = False
    assert row_about_bone(obj, upper) is None
    row.is_on, row.target_type = True, "BONES"
    assert row_about_bone(obj, lower) == row and row_about_bone(obj, upper) is None
    assert not flesh_supports.bones_of(scene, obj), "it slides on both"


def test_a_bone_of_another_body_holds_what_names_it(tmp_path: Path) -> None:
    scene, obj, lower, upper = arm()
    lower.sinew.bone_body = upper.sinew.bone_body = add_box("Other")
    add_attachment(obj, lower)
    written, _ = exported(scene, tmp_path / "a.sinew")
    assert [(bone.name, bone.bodies) for bone in written.bones] == [("Lower", ("Arm",))]


@pytest.mark.parametrize(("motion", "kind"), [("POSE", "SLIDING"), ("POSE", "SPRING"), ("ELASTIC", "SPRING")])
def test_the_surface_is_linked_to_all_bones(tmp_path: Path, motion: str, kind: str) -> None:
    """Bones whose material hold is replaced by such a row take part all the same."""
    scene, obj, *_ = arm()
    obj.sinew.motion = motion
    row = add_attachment(obj, None)
    row.target_type, row.kind, row.reach, row.stiffness = "BONES", kind, 0.5, 0.0
    written, tracks = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    assert [bone.name for bone in written.bones] == ["Lower", "Upper"]
    built = build(written, tracks, lambda *stage: None)
    assert make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins) is None
    (force,) = [force for force in built.forces if force.kind == "attachments"]
    assert [links.target.name for links in force.links] == ["Lower", "Upper"]


def test_a_bone_holds_the_surface_alone_of_what_is_no_flesh(tmp_path: Path) -> None:
    """A soft body slides along a bone inside of it that is of flesh, and along one that holds no flesh at all."""
    scene, obj, lower, upper = arm()
    upper.sinew.role = "NONE"
    lower.sinew.bone_body = obj
    soft = add_box("Soft")
    roles.make_body(soft)
    row = add_attachment(soft, lower)
    row.kind, row.reach = "SLIDING", 0.5
    bpy.context.view_layer.update()
    written, tracks = exported(scene, tmp_path / "a.sinew")
    built = build(written, tracks, lambda *stage: None)
    found = make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins)
    assert [each.name for each in found.constraints] == ["Arm"]
    obj.sinew.motion = "ELASTIC"
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert [bone.name for bone in written.bones] == ["Lower"]
    check_scene(written)
    built = build(written, tracks, lambda *stage: None)
    assert make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins) is None
    assert any(force.kind == "attachments" for force in built.forces)


def test_the_digest_reads_rows_but_no_colours() -> None:
    scene, obj, lower, _ = arm()
    found = [settings_digest(scene)]
    row = add_attachment(obj, lower)
    for change in ({}, {"reach": 0.1}, {"kind": "SPRING"}, {"stiffness": 5.0}, {"target_type": "BONES"}):
        for name, value in change.items():
            setattr(row, name, value)
        found.append(settings_digest(scene))
    assert len(set(found)) == 6
    row.color = 0.0, 0.5, 1.0
    row.target = None  # which a row of all bones does not read
    assert settings_digest(scene) == found[-1]


def test_what_rows_of_bones_cannot_be_is_told(tmp_path: Path) -> None:
    scene, obj, lower, _ = arm()
    row = add_attachment(obj, lower)
    row.kind, row.reach = "SLIDING", 0.0
    with pytest.raises(BadInput, match="Reach"):
        check_scene(exported(scene, tmp_path / "a.sinew")[0])
    row.kind, row.reach, row.target = "FIXED", 0.1, None
    assert refused(scene, tmp_path / "b.sinew").kind == "attachment-without-target"
    row.target = lower
    again = add_attachment(obj, lower)
    assert [each.kind for each in input_warnings(scene) if each.kind.startswith("attachment")] == ["attachment-twice"]
    again.is_on = False
    assert not [each for each in input_warnings(scene) if each.kind.startswith("attachment")]


def test_rows_of_bones_are_drawn_copied_and_mirrored() -> None:
    scene, obj, lower, upper = arm("Arm.L")
    lower.name, upper.name = "Lower.L", "Lower.R"
    obj.sinew.use_muscle = True
    row = add_attachment(obj, lower)
    row.kind, row.color = "SPRING", (0.0, 0.25, 1.0)
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(obj))
    assert {"target_type", "target", "kind", "stiffness", "color"} <= {name for _, name in layout.drawn}
    assert "sinew.list_bone_attachments" in {name for name, _ in layout.buttons}
    assert any("Held as in" in line for line in layout.lines)
    (made,) = mirror_muscles(bpy.context, [obj])
    assert made.sinew.attachments[0].target == upper and made.sinew.attachments[0].kind == "SPRING"
    other = add_box("Other")
    roles.make_flesh(other)
    assert copy_settings(obj, other)
    assert tuple(other.sinew.attachments[0].color) == (0.0, 0.25, 1.0) and other.sinew.attachments[0].target == lower


def test_a_row_of_all_bones_is_copied_to_the_object_that_it_was_about_before() -> None:
    """A row that is about all bones keeps its former target, which the panel does not show."""
    _, obj, *_ = arm()
    other = add_box("Other")
    roles.make_flesh(other)
    add_attachment(obj, other).target_type = "BONES"
    assert copy_settings(obj, other)
    (row,) = other.sinew.attachments
    assert (row.target_type, row.target) == ("BONES", None)


def test_listed_bones_can_be_undone() -> None:
    scene, obj, *_ = arm()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.sinew.list_bone_attachments()
    bpy.ops.ed.undo_push(message="after")
    assert len(bpy.data.objects["Arm"].sinew.attachments) == 2
    bpy.ops.ed.undo()
    assert not len(bpy.data.objects["Arm"].sinew.attachments)
    bpy.ops.ed.redo()
    assert [row.target.name for row in bpy.data.objects["Arm"].sinew.attachments] == ["Lower", "Upper"]


def test_rows_of_an_override_stay_and_those_of_its_file_count(tmp_path: Path) -> None:
    """A linked character has a row about one bone; in the shot, its override gets one about the other."""
    scene, obj, lower, upper = arm()
    add_attachment(obj, lower).reach = 0.125
    upper.sinew.bone_distance = 0.0625
    character = bpy.data.collections.new("Character")
    for each in (obj, lower, upper):
        scene.collection.objects.unlink(each)
        character.objects.link(each)
    scene.collection.children.link(character)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    scene.collection.children.link(wanted.collections[0])
    wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(wanted.collections[0])
    scene.frame_end = 2
    assert add_bones(scene, scene.objects["Arm"]) == 1
    scene.objects["Arm"].sinew.attachments[1].color = 0.0, 0.25, 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    first, second = scene.objects["Arm"].sinew.attachments
    assert (first.target, second.target) == (scene.objects["Lower"], scene.objects["Upper"])
    assert tuple(second.color) == (0.0, 0.25, 1.0) and second.kind == "FIXED"
    written, _ = exported(scene, tmp_path / "a.sinew")
    reaches = {each.target: each.reach for each in written.bodies[0].attachments}
    assert reaches == {"Lower": 0.125, "Upper": 0.0625}


def test_a_fixed_row_of_the_wrap_is_about_a_bone_of_the_fat_and_its_springs_are_not() -> None:
    scene, obj, lower, upper = arm()
    wrap = add_box("Wrap")
    obj.sinew.wrap = wrap
    row = add_attachment(wrap, lower)
    row.kind, row.stiffness = "SPRING", 900.0
    assert row_about_bone(obj, lower) is None and flesh_supports.bones_of(scene, obj) == [lower, upper]
    row.kind = "FIXED"
    assert row_about_bone(obj, lower) == row and row_about_bone(obj, upper) is None


def test_rows_that_are_off_tie_nothing() -> None:
    scene, obj, lower, upper = arm()
    for bone in (lower, upper):
        roles.clear_role(bone)
    row = add_attachment(obj, lower)
    row.kind = "SPRING"
    assert flesh_supports.is_held(scene, obj)
    row.is_on = False
    assert not flesh_supports.is_held(scene, obj)


def painted_group(obj: bpy.types.Object, name: str) -> str:
    """Paints one half of a mesh and returns the name of the group."""
    obj.vertex_groups.new(name=name).add([v.index for v in obj.data.vertices if v.co.x > 0.0], 1.0, "REPLACE")
    return name


@pytest.mark.parametrize("has_springs", [False, True])
def test_listed_bones_take_masks_over(tmp_path: Path, has_springs: bool) -> None:
    """The Mask of a bone mesh and the Attachment Group of the flesh become groups of the rows, and nothing moves."""
    scene, obj, lower, upper = arm()
    for bone in (lower, upper):
        bone.sinew.bone_distance, bone.sinew.use_bone_spring = 0.3, has_springs
        bone.sinew.bone_mask_group = painted_group(bone, "Mask")
    obj.sinew.attachment_group = painted_group(obj, "Held")
    before = held_nodes(*exported(scene, tmp_path / "a.sinew"))
    assert add_bones(scene, obj) == 2
    rows = [(row.target_group, row.group) for row in obj.sinew.attachments]
    # springs would have weights between 0 and 1 as they are
    assert rows == [("Mask", "" if has_springs else "Held")] * 2
    if not has_springs:
        obj.sinew.attachment_group = ""
    for bone in (lower, upper):
        bone.sinew.bone_mask_group = ""
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert held_nodes(written, tracks) == before and any(before)
    assert set(written.bodies[0].attachments[0].target_paint) == {0.0, 1.0}
    found = settings_digest(scene)
    obj.sinew.attachments[0].target_group = ""
    assert settings_digest(scene) != found
    obj.sinew.attachments[0].target_group = "Nothing"
    assert refused(scene, tmp_path / "c.sinew").kind == "group-gone"
