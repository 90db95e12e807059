# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance, Springs and Mask of bones, and Hold by Armature, become rows of attachments: when a file of an earlier
version is loaded, of new flesh at once. What is linked keeps to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, fresh
from fixtures.export_scenes import exported
from fixtures.flesh_objects import select
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import flesh_supports, roles
from sinew.addon.objects.attachment_rows import row_about_bone
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from test_addon import drawn
from test_bone_rows import arm, painted_group

FORMER = {"bone_distance", "use_bone_spring", "bone_stiffness", "bone_mask_group", "armature_bone_radius",
          "use_armature_bone_spring", "armature_bone_stiffness"}  # fmt: skip


def earlier_file(path: Path) -> bpy.types.Scene:
    """Returns the scene of a file as an earlier version had it: bones of three kinds, one of them in other flesh."""
    scene, obj, lower, upper = arm()
    lower.sinew.bone_distance = 0.15
    lower.sinew.bone_mask_group = painted_group(lower, "Mask")
    upper.sinew.use_bone_spring, upper.sinew.bone_stiffness = True, 700.0
    obj.sinew.attachment_group = painted_group(obj, "Held")
    for frame, turn in ((1, 0.0), (2, 0.2)):
        upper.rotation_euler.x = turn
        upper.keyframe_insert("rotation_euler", frame=frame)
    leg, far = add_box("Leg"), add_box("Far")
    for each in (leg, far):
        each.location = (0.0, 9.0, 0.0)
    roles.make_flesh(leg)
    roles.make_bone(far)
    far.scale, far.sinew.bone_distance = (0.3, 0.3, 0.3), 0.01
    bpy.context.view_layer.update()
    assert not obj.sinew.bones_are_rows
    return scene


def baked(scene: bpy.types.Scene, cache: Path) -> list[Floats]:
    """Returns the nodes at every frame of a bake [m], (n, 3) each."""
    exported(scene, cache)
    run_bake(cache, lambda event: None)
    reader = CacheReader(cache)
    first, last = reader.baked_range() or (0, 0)
    assert last > first
    return [reader.read_frame(frame).x for frame in range(first, last + 1)]


@pytest.mark.slow
def test_an_earlier_file_becomes_rows_and_bakes_as_before(tmp_path: Path) -> None:
    scene = earlier_file(tmp_path)
    before, digest = baked(scene, tmp_path / "a.sinew"), settings_digest(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "earlier.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "earlier.blend"))
    scene = bpy.context.scene
    own = scene.objects["Arm"].sinew
    rows = {row.target.name if row.target else row.target_type: row for row in own.attachments}
    assert own.bones_are_rows and "Lower" in rows and len(rows) == 3, "All Bones, and those that differ"
    assert set(rows) in ({"BONES", "Far", "Lower"}, {"BONES", "Upper", "Lower"})
    assert (rows["Lower"].kind, rows["Lower"].target_group) == ("FIXED", "Mask")
    assert rows["Lower"].reach == pytest.approx(0.15) and rows["Lower"].may_miss
    assert settings_digest(scene) == digest, "its bakes are not out of date"
    after = baked(scene, tmp_path / "b.sinew")
    assert all((x == y).all() for x, y in zip(before, after, strict=True))
    # the settings of before say nothing any more, and a row that is edited does
    rows["Lower"].reach = 0.3
    assert settings_digest(scene) != digest
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "now.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "now.blend"))
    assert len(bpy.context.scene.objects["Arm"].sinew.attachments) == len(rows), "once"


@pytest.mark.slow
def test_hold_by_armature_becomes_a_row(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Arm", divisions=4, height=2.0)
    roles.make_flesh(obj)
    add_rig(obj, turn=0.4, frames=(1, 2))
    obj.modifiers.move(1, 0)
    own, scene.frame_end = obj.sinew, 2
    own.use_armature_bones, own.use_armature_bone_spring, own.armature_bone_radius = True, True, 0.25
    before, digest = baked(scene, tmp_path / "a.sinew"), settings_digest(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "earlier.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "earlier.blend"))
    scene, obj = bpy.context.scene, bpy.data.objects["Arm"]
    rows = {row.target_type: (row.kind, row.reach, row.stiffness) for row in obj.sinew.attachments}
    assert rows["ARMATURE"] == ("SPRING", 0.25, 30000.0) and settings_digest(scene) == digest
    assert all((x == y).all() for x, y in zip(before, baked(scene, tmp_path / "b.sinew"), strict=True))
    # without its row, nothing holds by the armature
    obj.sinew.attachments_index = [row.target_type for row in obj.sinew.attachments].index("ARMATURE")
    select(obj)
    assert bpy.ops.sinew.remove_attachment() == {"FINISHED"}
    assert not flesh_supports.uses_armature(obj) and not obj.sinew.use_armature_bones
    assert settings_digest(scene) != digest


@pytest.mark.slow
def test_what_is_linked_or_overridden_keeps_to_the_settings_of_its_bones(tmp_path: Path) -> None:
    scene = earlier_file(tmp_path)
    before = baked(scene, tmp_path / "a.sinew")
    character = bpy.data.collections.new("Character")
    for each in list(scene.objects):
        scene.collection.objects.unlink(each)
        character.objects.link(each)
    scene.collection.children.link(character)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    (linked,) = wanted.collections
    scene.collection.children.link(linked)
    linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(linked)
    scene.frame_end = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    own = scene.objects["Arm"].sinew
    assert not own.bones_are_rows and not len(own.attachments)
    after = baked(scene, tmp_path / "b.sinew")
    assert all((x == y).all() for x, y in zip(before, after, strict=True))


def test_appended_flesh_gets_rows(tmp_path: Path) -> None:
    earlier_file(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "earlier.blend"))
    fresh()
    if not hasattr(bpy.app.handlers, "blend_import_post"):
        pytest.skip("Blender 4.5 tells nobody what was appended")
    bpy.ops.wm.append(directory=str(tmp_path / "earlier.blend" / "Object"), files=[{"name": "Arm"}])
    assert bpy.data.objects["Arm"].sinew.bones_are_rows


def test_new_flesh_has_rows_and_panels_no_settings_of_before(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Arm")
    select(obj)
    assert bpy.ops.sinew.make_flesh() == {"FINISHED"}
    (row,) = obj.sinew.attachments
    assert obj.sinew.bones_are_rows and (row.target_type, row.kind, row.reach) == ("BONES", "FIXED", 0.0)
    assert bpy.ops.sinew.add_bone() == {"FINISHED"}
    (bone,) = roles.bones(scene)
    assert row_about_bone(obj, bone) == row and flesh_supports.bones_of(scene, obj) == [bone]
    obj.sinew.use_armature_bones = True
    seen = {name for each in (obj, bone) for _, name in drawn(each, "draw_held_by", "draw_bone").drawn}
    assert "bone_body" in seen and not seen & FORMER
    obj.sinew.use_armature_bones = False
    assert [each.target_type for each in obj.sinew.attachments] == ["BONES"]
    scene.frame_end = 2
    written, _ = exported(scene, tmp_path / "a.sinew")
    assert [each.name for each in written.bones] == [bone.name]
    # without the row nothing of it is held, whatever the bone says of itself
    obj.sinew.attachments.clear()
    assert not flesh_supports.bones_of(scene, obj)
    assert not exported(scene, tmp_path / "b.sinew")[0].bones


def test_rows_follow_scripts_that_set_what_bones_said() -> None:
    scene = fresh()
    obj = add_box("Arm")
    select(obj)
    bpy.ops.sinew.make_flesh()
    bpy.ops.sinew.add_bone()
    (bone,) = roles.bones(scene)
    bone.sinew.bone_distance = 0.25
    row = row_about_bone(obj, bone)
    assert (row.target, row.kind, row.reach) == (bone, "FIXED", 0.25)
    bone.sinew.use_bone_spring, bone.sinew.bone_stiffness = True, 500.0
    assert row_about_bone(obj, bone) == row and (row.kind, row.stiffness) == ("SPRING", 500.0)


@pytest.mark.slow
def test_a_row_that_may_miss_is_no_error_and_others_are(tmp_path: Path) -> None:
    scene = earlier_file(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "earlier.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "earlier.blend"))
    scene = bpy.context.scene
    leg = scene.objects["Leg"].sinew.attachments
    row = next(r for r in leg if r.target == scene.objects["Lower"])
    assert np.isfinite(baked(scene, tmp_path / "a.sinew")[-1]).all()
    row.may_miss = False
    exported(scene, tmp_path / "b.sinew")
    with pytest.raises(BadInput, match="farther than the Reach"):
        run_bake(tmp_path / "b.sinew", lambda event: None)
