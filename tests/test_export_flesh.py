# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is flesh, what cannot be, and that all of it is read in slices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import counts
from fixtures.export_scenes import exported, refused
from fixtures.flesh_rigs import arm, bone_mesh, everything
from sinew.addon.export import export_scene
from sinew.solver.scene import flesh as anatomy
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.settings.flesh_settings import FLESH_LAW, JIGGLE_SCHEME
from sinew.solver.scene.tracks import TrackReader

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
    for law in (choice.identifier for choice in FLESH_LAW.choices):
        own.flesh_law = law
        written, _ = exported(scene, tmp_path / law)
        flesh = written.bodies[0].flesh
        assert flesh is not None and flesh.law in anatomy.FLESH_LAWS
        assert (flesh.motion, flesh.self_contact, flesh.keeps_volume) == ("quasistatic", False, False)
    assert set(FLESH_LAW.words) == set(anatomy.FLESH_LAWS)
    assert written.settings.pose_tolerance == pytest.approx(1.0e-5) and written.settings.pose_iterations == 33
    assert written.bodies[0].material.youngs_modulus == pytest.approx(own.youngs_modulus)
    own.motion = "JIGGLE"
    for scheme in (choice.identifier for choice in JIGGLE_SCHEME.choices):
        own.jiggle_scheme = scheme
        flesh = exported(scene, tmp_path / scheme)[0].bodies[0].flesh
        assert flesh.motion == "dynamic" and flesh.scheme in anatomy.FLESH_TIME_SCHEMES and flesh.keeps_volume


PAINTS = {
    "stiffness_group": "material_paint.youngs_modulus",
    "volume_group": "material_paint.poisson_ratio",
    "density_group": "material_paint.density",
    "damping_group": "material_paint.stiffness_damping",
    "mass_damping_group": "material_paint.mass_damping",
    "attachment_group": "flesh.attachment_paint",
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
        body = exported(scene, tmp_path / group)[0].bodies[0]
        assert np.allclose(operator.attrgetter(PAINTS[setting])(body), wanted), group
        others = set(PAINTS.values()) - {PAINTS[setting]}
        assert all(len(operator.attrgetter(name)(body)) == 0 for name in others)
    obj.vertex_groups.new(name="Nothing")
    for group, kind in (("Nothing", "group-empty"), ("gone", "group-gone")):
        setattr(obj.sinew, setting, group)
        problem = refused(scene, tmp_path / "refused.sinew")
        assert problem.kind == kind and '"Arm"' in problem.sentence and f'"{group}"' in problem.sentence


# all of it, in slices


def test_slices_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = everything()
    exported(scene, tmp_path / "whole.sinew")
    amounts = counts()
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    fractions = []
    for fraction in export_scene.export_scene(bpy.context, scene, tmp_path / "sliced.sinew"):
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
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    steps = export_scene.export_scene(bpy.context, scene, tmp_path / "c.sinew")
    next(steps)
    bpy.data.objects.remove(bpy.data.objects[name])
    with pytest.raises(Exception) as caught:
        next(steps)
    assert getattr(caught.value, "kind", "") == "object-gone" and f'"{name}"' in caught.value.sentence
    assert not (tmp_path / "c.sinew").exists()


def test_an_armature_bone_removed_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = everything()
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    steps = export_scene.export_scene(bpy.context, scene, tmp_path / "c.sinew")
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


def shrunk_onto_flesh() -> None:
    modifier = bpy.data.objects["Femur"].modifiers.new("Shrinkwrap", "SHRINKWRAP")
    modifier.target = bpy.data.objects["Belly"]


def hung_on_flesh() -> None:
    bone = bpy.data.objects["Tibia"]
    bone.parent, bone.parent_type = bpy.data.objects["Belly"], "VERTEX"


REFUSED = (
    (shrunk_onto_flesh, "bone-shaped-by-body", "Femur"),
    (hung_on_flesh, "bone-shaped-by-body", "Tibia"),
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
