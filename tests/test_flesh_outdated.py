# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake of flesh reads makes it Out of Date when it changes, what it does not read does not; copies and links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, counts, fresh, link_object
from fixtures.export_scenes import exported
from fixtures.flesh_rigs import arm, bend_key, bent, bone_mesh, by_armature, turn
from sinew.addon.blender_data import object_keys
from sinew.addon.export import input_digest, input_warnings
from sinew.addon.export.input_digest import bake_dependencies
from sinew.addon.objects import roles
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader


def shot() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object]:
    """Returns flesh on a rig and on a bone."""
    obj = arm()
    bent(obj, frames=(1, 9))
    bend_key(obj, (1, 9))
    for name in ("Paint", "Other"):
        obj.vertex_groups.new(name=name).add([0, 1, 2, 3], 0.5, "REPLACE")
    bone = bone_mesh()
    bone.vertex_groups.new(name="Paint").add([0, 1], 1.0, "REPLACE")
    return bpy.context.scene, obj, bone


OF_FLESH = {
    "flesh_law": "STVK", "self_contact": False, "stiffness_group": "Paint", "volume_group": "Paint",
    "density_group": "Paint", "attachment_group": "Paint", "rest_from_keys": True, "use_armature_bones": True,
    "motion": "JIGGLE",
}  # fmt: skip
OF_ALL_BODIES = ("stiffness_group", "volume_group", "density_group")
OF_ARMATURE = {"armature_bone_radius": 0.3, "use_armature_bone_spring": True}
OF_BONE = {"bone_distance": 0.1, "use_bone_spring": True, "bone_mask_group": "Paint"}
OF_SCENE = {"use_rest_frame": True, "preroll": 3, "pose_tolerance": 1.0e-5, "pose_iterations": 7}


class Digests:
    """Knows all digests that were seen."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene, self.now = scene, input_digest.settings_digest(scene)
        self.seen = {self.now}

    def changed(self, what: str) -> None:
        self.now = input_digest.settings_digest(self.scene)
        assert self.now not in self.seen, what
        self.seen.add(self.now)

    def look(self) -> None:
        """Takes what there is now as known."""
        self.now = input_digest.settings_digest(self.scene)
        self.seen.add(self.now)

    def same(self, what: str) -> None:
        assert input_digest.settings_digest(self.scene) == self.now, what


def set_each(own: bpy.types.PropertyGroup, values: dict[str, object], check: Callable[[str], None]) -> None:
    for setting, value in values.items():
        before = getattr(own, setting)
        setattr(own, setting, value)
        check(setting)
        setattr(own, setting, before)


def test_every_setting_that_is_read_makes_a_bake_outdated() -> None:
    scene, obj, bone = shot()
    digests = Digests(scene)
    set_each(obj.sinew, OF_FLESH, digests.changed)
    set_each(bone.sinew, OF_BONE, digests.changed)
    set_each(scene.sinew, OF_SCENE, digests.changed)
    obj.sinew.use_armature_bones = True
    digests.look()
    set_each(obj.sinew, OF_ARMATURE, digests.changed)
    obj.sinew.use_armature_bone_spring = True
    digests.look()
    set_each(obj.sinew, {"armature_bone_stiffness": 5.0}, digests.changed)
    bone.sinew.use_bone_spring = True
    digests.look()
    set_each(bone.sinew, {"bone_stiffness": 5.0, "bone_body": obj}, digests.changed)
    scene.sinew.use_rest_frame = True
    digests.look()
    set_each(scene.sinew, {"rest_frame": -5}, digests.changed)
    scene.sinew.rest_frame = 9
    digests.look()
    set_each(scene.sinew, {"preroll": 12}, digests.changed)
    obj.sinew.motion = "JIGGLE"
    digests.look()
    set_each(obj.sinew, {"jiggle_scheme": "NEWMARK"}, digests.changed)


def test_what_moves_and_shapes_bones_makes_a_bake_outdated() -> None:
    scene, obj, bone = shot()
    digests = Digests(scene)
    rig = bpy.data.objects["Rig"]
    for path in ('pose.bones["upper"].rotation_euler',):
        curve = next(
            c
            for layer in rig.animation_data.action.layers
            for strip in layer.strips
            for c in strip.channelbag(rig.animation_data.action_slot).fcurves
            if c.data_path == path and c.array_index == 0
        )
        curve.keyframe_points[-1].co.y += 0.25
        digests.changed("a key of the rig")
    rig.pose.bones["lower"].location.x = 0.5
    digests.changed("a pose")
    bone.location.x = 0.1
    digests.changed("a place")
    bone.data.vertices[0].co.x += 0.1
    digests.changed("a vertex of a bone")
    turn(bone, (1, 9))
    digests.changed("a bone's animation")
    by_armature(bone)
    digests.changed("a bone's modifier")
    bpy.data.armatures["Rig"].bones["lower"].use_deform = False
    digests.changed("a bone that deforms no more")
    bend_key(bone, (1, 9))
    digests.changed("shape keys of a bone")
    bone.sinew.bone_mask_group = "Paint"
    digests.changed("a mask")
    bone.vertex_groups["Paint"].add([5], 1.0, "REPLACE")
    bpy.context.view_layer.update()
    bone.data.update()
    bpy.context.evaluated_depsgraph_get().update()
    digests.changed("paint")
    obj.data.attributes.new("Soft", "FLOAT", "POINT")
    obj.sinew.stiffness_group = "Soft"
    digests.changed("a painted attribute")
    obj.data.attributes["Soft"].data[0].value = 0.5
    digests.changed("its paint")
    bone.data.attributes.new("Holds", "FLOAT", "POINT").data[3].value = 1.0
    bone.sinew.bone_mask_group = "Holds"
    digests.changed("a mask in an attribute")
    bone.data.attributes["Holds"].data[0].value = 0.5
    digests.changed("its values")
    bone_mesh("Tibia")
    digests.changed("one more bone")
    assert {rig, bone, obj} <= bake_dependencies(scene)


def test_what_is_not_read_changes_nothing() -> None:
    scene, obj, bone = shot()
    digests = Digests(scene)
    set_each(obj.sinew, {"jiggle_scheme": "NEWMARK", **OF_ARMATURE, "armature_bone_stiffness": 5.0}, digests.same)
    set_each(bone.sinew, {"bone_stiffness": 5.0, "show_attachment": False, "friction": 0.9}, digests.same)
    set_each(bone.sinew, {"motion": "JIGGLE", "stiffness_group": "Paint", "density": 5.0}, digests.same)
    set_each(obj.sinew, {"bone_distance": 4.0, "bone_body": bone}, digests.same)
    set_each(scene.sinew, {"rest_frame": -9}, digests.same)
    scene.sinew.use_rest_frame, scene.sinew.rest_frame = True, -9
    digests.changed("a rest frame")
    set_each(scene.sinew, {"preroll": 9}, digests.same)
    scene.frame_set(5)
    digests.same("the playhead")
    obj.sinew.motion = "ELASTIC"
    digests.changed("no flesh any more")
    of_flesh_alone = {name: value for name, value in OF_FLESH.items() if name not in OF_ALL_BODIES}
    set_each(obj.sinew, of_flesh_alone | OF_ARMATURE, lambda what: digests.same(what) if what != "motion" else None)
    set_each(obj.sinew, {name: OF_FLESH[name] for name in OF_ALL_BODIES}, digests.changed)
    digests.look()
    set_each(bone.sinew, OF_BONE, digests.same)
    set_each(scene.sinew, {"pose_tolerance": 1.0e-5, "pose_iterations": 7}, digests.same)
    bone.location.x = 9.0
    digests.same("bones hold nothing now")


def test_renamed_and_duplicated_bodies_and_bones(tmp_path: Path) -> None:
    scene, obj, bone = shot()
    scene.frame_end = 2
    bone.sinew.bone_body = obj
    obj.sinew.key = object_keys.body_key(obj)
    digests = Digests(scene)
    obj.name = "Upper Arm"
    digests.same("a body keeps its key")
    bone.name = "Humerus"
    digests.same("a bone that is renamed")
    assert exported(scene, tmp_path / "a.sinew")[0].bones[0].bodies == ("Arm",)
    for each in (obj, bone):
        copy = each.copy()
        copy.data = each.data.copy()
        scene.collection.objects.link(copy)
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert len({body.key for body in written.bodies}) == 2
    assert {found.bodies for found in written.bones} == {("Arm",)}, "a copy of a bone holds what the bone holds"
    keys = {found.key for found in written.bones}
    assert len(keys) == 2 and all(tracks.has(f"bone.{key}.matrix") for key in keys)
    twin = next(o for o in roles.bodies(scene) if o != obj)
    twin.sinew.use_armature_bones = obj.sinew.use_armature_bones = True
    written, _ = exported(scene, tmp_path / "c.sinew")
    assert len({found.key for found in written.bones}) == len(written.bones) == 6
    assert {found.bodies for found in written.bones} == {(body.key,) for body in written.bodies}


def character(folder: Path) -> None:
    """Writes a file with flesh on a rig and on a bone that is meant for it, and goes to an empty one."""
    scene, obj, bone = shot()
    bone.sinew.bone_body, bone.sinew.bone_distance = obj, 0.125
    bone.parent, bone.parent_type, bone.parent_bone = bpy.data.objects["Rig"], "BONE", "upper"
    obj.sinew.use_armature_bones, obj.sinew.flesh_law = True, "COROTATED"
    made = bpy.data.collections.new("Character")
    for each in (obj, bone, bpy.data.objects["Rig"]):
        scene.collection.objects.unlink(each)
        made.objects.link(each)
    scene.collection.children.link(made)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "character.blend"))
    fresh().frame_end = 9


def sound(written: Scene, tracks: TrackReader) -> bool:
    """Whether the character arrived whole."""
    (body,) = written.bodies
    mesh = next(bone for bone in written.bones if len(bone.triangles))
    upper = next(bone for bone in written.bones if bone.name.endswith(": upper"))
    turned = (tracks.sample(f"bone.{bone.key}.matrix", 8 / 24)[:3, :3] for bone in (mesh, upper))
    return (
        body.flesh is not None
        and body.flesh.law == "corotated"
        and {bone.bodies for bone in written.bones} == {(body.key,)}
        and len(written.bones) == 3
        and mesh.distance == 0.125
        and all(np.linalg.norm(turn - np.eye(3)) > 0.5 for turn in turned)
    )


def test_an_appended_character_brings_its_flesh_and_bones(tmp_path: Path) -> None:
    character(tmp_path)
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=False) as (_, wanted):
        wanted.collections = ["Character"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    assert sound(*exported(bpy.context.scene, tmp_path / "shot.sinew"))


def test_an_override_of_a_character_is_flesh_on_its_own_bones(tmp_path: Path) -> None:
    character(tmp_path)
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    scene = bpy.context.scene
    scene.collection.children.link(wanted.collections[0])
    wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(wanted.collections[0])
    before = counts()
    assert sound(*exported(scene, tmp_path / "a.sinew"))
    assert counts() == before
    own = next(o for o in scene.objects if o.sinew.role == "BONE")
    own.sinew.bone_distance = 0.25
    own.sinew.use_bone_spring = True
    body = roles.bodies(scene)[0]
    body.sinew.motion = "JIGGLE"
    body.sinew.rest_from_keys = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    digest = input_digest.settings_digest(scene)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    assert input_digest.settings_digest(scene) == digest
    written, tracks = exported(scene, tmp_path / "b.sinew")
    mesh = next(bone for bone in written.bones if len(bone.triangles))
    assert (mesh.distance, mesh.stiffness) == (0.25, pytest.approx(30000.0))
    assert mesh.bodies == (written.bodies[0].key,)
    assert written.bodies[0].flesh.motion == "dynamic"
    assert tracks.has(f"body.{written.bodies[0].key}.rest")


def test_a_linked_bone_holds_flesh_too(tmp_path: Path) -> None:
    """As linked colliders do: what is linked as it is needs no override to be a bone."""
    fresh()
    bone_mesh()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "skeleton.blend"))
    scene = arm() and bpy.context.scene
    link_object(tmp_path / "skeleton.blend", "Femur")
    scene.frame_end = 1
    assert [bone.name for bone in exported(scene, tmp_path / "c.sinew")[0].bones] == ["Femur"]


def test_keys_of_bones_are_plain_and_unlike_those_of_others(tmp_path: Path) -> None:
    arm("Плечо")
    scene = bpy.context.scene
    scene.frame_end = 1
    for name in ("Кость 1", "bone/2", "bone 2"):
        bone_mesh(name)
    add_box("Ground").sinew.role = "COLLIDER"
    written, tracks = exported(scene, tmp_path / "c.sinew")
    keys = [bone.key for bone in written.bones]
    assert len(set(keys)) == 3 and all(tracks.has(f"bone.{key}.matrix") for key in keys)
    assert {bone.name for bone in written.bones} == {"Кость 1", "bone/2", "bone 2"}


def test_flesh_on_bones_does_not_stand_on_its_foot() -> None:
    obj = arm()
    obj.scale = (3.0, 3.0, 3.0)
    bpy.context.view_layer.update()
    assert [note.kind for note in input_warnings.input_warnings(bpy.context.scene)] == ["collapses"]
    bone_mesh()
    assert [note.kind for note in input_warnings.input_warnings(bpy.context.scene)] == ["hangs-far"], "metres thick"
    obj.scale = (0.3, 0.3, 3.0)
    bpy.context.view_layer.update()
    assert list(input_warnings.input_warnings(bpy.context.scene)) == [], "as high, and no thicker than an arm"
