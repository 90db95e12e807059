# SPDX-License-Identifier: GPL-3.0-or-later
"""A character with poses, heads and flex controls that is linked twice into a shot by library overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.export_scenes import exported
from fixtures.muscle_objects import LAST_FRAME, posed_muscle, select_only
from test_export_activation import at_frames

POSES = ((1, 0.1), (4, 0.9), (7, 0.4))


def save_character(path: Path) -> None:
    """Saves a collection "Character" with a muscle that its poses activate, one head, and its rig."""
    scene, obj, rig = posed_muscle()
    own = obj.sinew
    own.activation_source, own.rise_time, own.fall_time = "POSE", 0.0, 0.0
    select_only(obj)
    for frame, activation in POSES:
        scene.frame_set(frame)
        bpy.ops.sinew.store_activation_pose(activation=activation)
    obj.vertex_groups.new(name="Half").add(range(20), 1.0, "REPLACE")
    bpy.ops.sinew.add_table_row(table="muscle_heads")
    own.muscle_heads[0].group = "Half"
    bpy.ops.sinew.add_flex_controls(group="Arm")
    character = bpy.data.collections.new("Character")
    scene.collection.children.link(character)
    for each in (obj, rig):
        scene.collection.objects.unlink(each)
        character.objects.link(each)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


@pytest.mark.slow
def test_two_of_one_character_each_have_their_own_rig_and_rows(tmp_path: Path) -> None:
    save_character(tmp_path / "library.blend")
    scene = fresh()
    scene.frame_end = LAST_FRAME
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    for _ in range(2):
        wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    flexed, other = sorted((o for o in scene.objects if o.type == "MESH"), key=lambda o: o.name)
    rig = flexed.modifiers["Armature"].object
    rig["Flex Arm"] = 0.5
    rig.update_tag()
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert at_frames(tracks, "body.Box.activation")[[0, 3, 6]] == pytest.approx([0.6, 1.0, 0.9], abs=1e-5)
    assert at_frames(tracks, "body.Box_001.activation")[[0, 3, 6]] == pytest.approx([0.1, 0.9, 0.4], abs=1e-5)
    select_only(flexed)
    flexed.sinew.activation_poses[0].activation, flexed.sinew.muscle_heads[0].activation = 0.2, 0.3
    scene.frame_set(5)
    bpy.ops.sinew.store_activation_pose()
    with pytest.raises(RuntimeError, match="linked from"):
        bpy.ops.sinew.remove_table_row(table="muscle_heads")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    flexed, other = (bpy.data.objects[name].sinew for name in ("Box", "Box.001"))
    assert [row.activation for row in flexed.activation_poses] == pytest.approx([0.2, 0.9, 0.4, 1.0])
    assert [len(row.rotations) for row in flexed.activation_poses] == [1, 1, 1, 1]
    assert flexed.muscle_heads[0].activation == pytest.approx(0.3)
    assert len(other.activation_poses) == 3 and other.muscle_heads[0].activation == 0.0
