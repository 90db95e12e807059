# SPDX-License-Identifier: GPL-3.0-or-later
"""Renaming a body, a bone mesh, a collider or a Wrap leaves a bake up to date; what is another object does not."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box
from fixtures.fat_balls import fat_ball
from fixtures.operator_scenes import status
from sinew.addon.blender_data.names_at_first_bake import remember_names
from sinew.addon.blender_data.object_keys import body_key
from sinew.addon.export.input_digest import body_digests, settings_digest
from sinew.addon.objects import roles
from sinew.addon.properties.table_editing import add_row


def baked_fat() -> tuple[bpy.types.Scene, dict[str, bpy.types.Object]]:
    """Returns fat around a Wrap on a collider, with a row about a bone mesh that a hook follows too; as if baked."""
    scene, skin, wrap, core = fat_ball()
    skin.sinew.motion = "POSE"
    bone = add_box("Bone")
    roles.make_bone(bone)
    bone.scale = 0.2, 0.2, 0.2
    row = add_row(skin.sinew.attachments)
    row.target, row.kind, row.reach = bone, "FIXED", 0.1
    hook = skin.modifiers.new("Hook", "HOOK")
    hook.object = bone
    skin.modifiers.move(1, 0)
    skin.sinew.key = body_key(skin)
    bpy.context.view_layer.update()
    return scene, {obj.name: obj for obj in (skin, wrap, core, bone)}


@pytest.mark.parametrize("name", ["Skin", "Wrap", "Core", "Bone"])
def test_renaming_leaves_a_bake_up_to_date(name: str) -> None:
    scene, objects = baked_fat()
    before = settings_digest(scene), body_digests(scene)
    remember_names(objects.values())
    assert (settings_digest(scene), body_digests(scene)) == before, "caches of before stay up to date"
    objects[name].name = "Another Name"
    assert (settings_digest(scene), body_digests(scene)) == before
    objects[name].name = "A Third"
    remember_names(objects.values())  # another bake
    assert settings_digest(scene) == before[0]


def test_another_object_is_not_taken_for_a_renamed_one() -> None:
    scene, objects = baked_fat()
    remember_names(objects.values())
    before, row, bone = settings_digest(scene), objects["Skin"].sinew.attachments[0], objects["Bone"]
    copy = bone.copy()
    scene.collection.objects.link(copy)
    row.target = copy
    bone.name = "Radius"
    assert settings_digest(scene) != before
    row.target = bone
    beside = settings_digest(scene)
    row.target = copy
    assert settings_digest(scene) != beside, "of two that remember one name, one has it"
    copy.name = "Bone"
    row.target = bone
    by_name = settings_digest(scene)
    row.target = copy
    assert settings_digest(scene) != by_name, "a new object may have the name of an old one"


@pytest.mark.slow
def test_a_bake_stays_up_to_date_when_bone_and_wrap_are_renamed(tmp_path: Path) -> None:
    scene, skin, wrap, core = fat_ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fat.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert status().phase == "baked" and not status().outdated
    for obj in (skin, wrap, core):
        obj.name = f"My {obj.name}"
    assert status().phase == "baked" and not status().outdated
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "fat.blend"))
    assert status().phase == "baked" and not status().outdated
