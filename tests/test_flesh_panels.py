# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh and bones in the window: how they are made, what the panels say of them, and what can be changed when."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_mesh, add_rig, fresh, link_object
from fixtures.fake_layout import FakeLayout
from fixtures.flesh_objects import bone, flesh, select
from sinew.addon.baking import bake_status
from sinew.addon.baking.bake_status import Status
from sinew.addon.objects import role_checks, roles
from sinew.addon.panels import flesh_locked_rows, panels
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import FLESH_LAWS, FLESH_TIME_SCHEMES
from sinew.solver.scene.material_presets import (
    MATERIAL_PRESETS,
    NEARLY_INCOMPRESSIBLE,
    NEARLY_INCOMPRESSIBLE_FLESH,
    SIZED_PRESETS,
)
from sinew.solver.scene.settings.flesh_settings import ARMATURE_SETTINGS, BONE_HOLD_SETTINGS, NON_FLESH_SWITCHES
from sinew.solver.scene.settings.preset_settings import MATERIAL_NUMBERS
from test_addon import context_of, drawn

# settings of earlier versions, which are rows of attachments now
FORMER = {setting.name for setting in (*ARMATURE_SETTINGS, *BONE_HOLD_SETTINGS)}
PARTS = ("draw_held_by", "draw_flesh", "draw_bone")


def test_make_flesh_and_make_bone() -> None:
    scene = fresh()
    boxes = [add_box(f"Box {i}", divisions=4) for i in range(3)]
    select(*boxes[:2])
    assert bpy.ops.sinew.make_flesh() == {"FINISHED"}
    assert roles.bodies(scene) == boxes[:2] and all(roles.is_flesh(obj) for obj in boxes[:2])
    own = boxes[0].sinew
    assert (own.role, own.motion, own.preset) == ("BODY", "POSE", "FLESH_BY_SIZE")
    assert own.density == MATERIAL_PRESETS["FLESH"].material.density
    own.preset, own.motion = "FAT", "JIGGLE"
    select(boxes[0])
    bpy.ops.sinew.make_flesh()
    assert (own.preset, own.motion) == ("FAT", "JIGGLE"), "what is flesh keeps its settings"
    select(boxes[2], boxes[0])
    assert bpy.ops.sinew.make_bone() == {"FINISHED"}
    assert roles.bones(scene) == [boxes[2]] and roles.is_flesh(boxes[0]), "active flesh stays flesh"
    select(boxes[1], boxes[2])
    bpy.ops.sinew.make_bone()
    assert roles.bones(scene) == boxes[1:], "flesh that is not active is meant"
    assert not boxes[1].modifiers and not roles.is_flesh(boxes[1])
    select(boxes[1])
    bpy.ops.sinew.remove()
    assert roles.bones(scene) == boxes[2:]


def test_what_cannot_be_flesh_or_bone_is_refused_by_name() -> None:
    fresh()
    box = flesh()
    twin = bpy.data.objects.new("Twin", box.data)
    bpy.context.scene.collection.objects.link(twin)
    rig = add_rig(box)
    empty = add_mesh("Nothing", np.zeros((0, 3)), [])
    for objects, operator, words in (
        ((twin,), "make_flesh", '"Twin"'),
        ((rig,), "make_flesh", '"Rig" is not a mesh'),
        ((rig,), "make_bone", '"Rig" is an armature'),
        ((empty,), "make_bone", '"Nothing"'),
    ):
        select(*objects)
        with pytest.raises(RuntimeError) as failure:
            getattr(bpy.ops.sinew, operator)()
        assert words in str(failure.value), operator
        assert all(obj.sinew.role == "NONE" for obj in objects)
    with pytest.raises(BadInput) as refused:
        role_checks.check_bone(rig)
    assert "Hold by Armature" in refused.value.next_step


def test_every_setting_stands_in_a_panel() -> None:
    scene = fresh()
    obj = flesh()
    names: set[str] = set()
    obj.sinew.use_armature_bones = True
    for motion in ("POSE", "JIGGLE"):
        obj.sinew.motion = motion
        names |= {
            name
            for _, name in drawn(obj, "draw_main", "draw_solver", "draw_collision", *PARTS, "draw_material_paint").drawn
        }
    for group in type(obj.sinew).__mro__:
        if group.__name__ in {"FleshProperties", "BoneProperties"}:
            assert set(group.__annotations__) - FORMER <= names, group
    assert {"use_rest_frame", "rest_frame", "preroll", "pose_tolerance", "pose_iterations"} <= names
    for name in ("bone_stiffness", "armature_bone_stiffness"):
        assert "[1/s²]" in obj.sinew.bl_rna.properties[name].description
    for owner in (obj.sinew, scene.sinew):
        for rna in owner.bl_rna.properties:
            assert rna.is_hidden or rna.description or rna.identifier in {"rna_type", "name"}, rna.identifier


def test_menus_are_what_the_solver_knows() -> None:
    fresh()
    own = flesh().sinew
    items = {name: own.bl_rna.properties[name].enum_items for name in ("motion", "flesh_law", "jiggle_scheme", "role")}
    assert {item.identifier.lower().replace("_", "-") for item in items["flesh_law"]} == set(FLESH_LAWS)
    assert [item.identifier.lower() for item in items["jiggle_scheme"]] == list(FLESH_TIME_SCHEMES)
    assert [(item.name, item.value) for item in items["motion"]] == [
        ("Soft Body", 0),
        ("Follow Pose", 1),
        ("Jiggle", 2),
        ("Brittle", 3),
    ]
    assert "quasistatic" in items["motion"]["POSE"].description and "dynamic" in items["motion"]["JIGGLE"].description
    assert {item.identifier: item.value for item in items["role"]} == {
        "NONE": 0, "BODY": 1, "COLLIDER": 2, "HEAT": 3, "BONE": 4, "WRAP": 5,
    }  # fmt: skip


def test_materials_keep_their_numbers_in_files() -> None:
    fresh()
    own = flesh().sinew
    menu = own.bl_rna.properties["preset"].enum_items
    assert {item.identifier: item.value for item in menu} == MATERIAL_NUMBERS
    assert (
        len(set(MATERIAL_NUMBERS.values())) == len(MATERIAL_NUMBERS) == len(MATERIAL_PRESETS) + len(SIZED_PRESETS) + 1
    )
    assert menu["FLESH"].value == 2 and menu["CUSTOM"].value == 13, "as in files of 0.2"
    for key in ("FAT", "FLESH", "SKIN", "MUSCLE"):
        own.preset = key
        assert (own.motion, own.preset) == ("POSE", key)
        assert own.poisson_ratio == pytest.approx(NEARLY_INCOMPRESSIBLE)
        assert menu[key].description == MATERIAL_PRESETS[key].description


def test_only_flesh_goes_near_incompressible() -> None:
    fresh()
    own = flesh().sinew
    assert own.motion == "POSE"
    for motion in ("POSE", "JIGGLE"):
        own.motion = motion
        for given, kept in ((0.48, 0.48), (0.6, NEARLY_INCOMPRESSIBLE_FLESH)):
            own.poisson_ratio = given
            assert own.poisson_ratio == pytest.approx(kept) and own.preset == "CUSTOM"
    for _ in range(2):
        own.motion = "ELASTIC"
        assert own.poisson_ratio == pytest.approx(NEARLY_INCOMPRESSIBLE)
        own.poisson_ratio = 0.48
        assert own.poisson_ratio == pytest.approx(NEARLY_INCOMPRESSIBLE)


def test_flesh_does_nothing_that_flesh_does_not() -> None:
    fresh()
    obj = add_box()
    roles.make_body(obj)
    own = obj.sinew
    own.preset = "CLAY"
    own.use_fracture = own.use_heat = True
    own.motion = "JIGGLE"
    assert not any(getattr(own, name) for name in NON_FLESH_SWITCHES)
    own.preset = "WAX"
    assert own.motion == "JIGGLE" and not any(getattr(own, name) for name in NON_FLESH_SWITCHES)
    own.motion = "ELASTIC"
    own.preset = "CHOCOLATE"
    assert own.use_plasticity and own.use_fracture


def test_what_flesh_does_not_do_is_grey_with_the_reason() -> None:
    fresh()
    obj = flesh()
    for part, setting, switch in (
        ("draw_plasticity", "yield_strain", "use_plasticity"),
        ("draw_heat", "conductivity", "use_heat"),
        ("draw_fracture", "breaking_stress", "use_fracture"),
    ):
        for motion in ("POSE", "JIGGLE", "ELASTIC"):
            obj.sinew.motion = motion
            layout = drawn(obj, part)
            assert layout.enabled_of(setting) == (motion == "ELASTIC"), part
            reason = flesh_locked_rows.FLESH_WITHOUT_FEATURES_NOTE
            assert (reason in " ".join(layout.lines)) == (motion != "ELASTIC")
            panel = next(p for p in panels.CLASSES if getattr(p, "bl_label", "").lower() == switch[4:])
            header = FakeLayout()
            panel.draw_header(SimpleNamespace(layout=header), context_of(obj))
            assert header.enabled == (motion == "ELASTIC")


def test_panels_are_shown_for_what_they_are_about() -> None:
    fresh()
    arm, humerus, plain = flesh(), bone(), add_box("Plain")

    def shown(obj: bpy.types.Object) -> set[str]:
        found = [p for p in panels.CLASSES if issubclass(p, bpy.types.Panel) and p.bl_space_type == "PROPERTIES"]
        return {p.bl_label for p in found if p.poll(context_of(obj))}

    assert {"Bones", "Flesh", "Material", "Pins"} <= shown(arm) and "Bone Mesh" not in shown(arm)
    assert {"Bone Mesh"} <= shown(humerus) and not {"Bones", "Flesh", "Material"} & shown(humerus)
    assert shown(plain) == {"Check", "Solver", "Cache"}
    roles.make_body(plain)
    assert not {"Bones", "Flesh", "Bone"} & shown(plain)
    closed = {p.bl_label for p in panels.CLASSES if "DEFAULT_CLOSED" in getattr(p, "bl_options", ())}
    assert "Flesh" in closed and not {"Bones", "Bone", "Material"} & closed


def test_settings_are_locked_while_baked(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = flesh()
    for state in (Status(), Status("baking"), Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        layout = drawn(obj, "draw_main", "draw_solver", *PARTS)
        for name in ("motion", "flesh_law", "attachment_group", "bone_body", "rest_frame", "pose_tolerance"):
            assert layout.enabled_of(name) == (not state.is_locked), name
        assert layout.enabled_of("show_attachment")


def test_a_new_bone_lies_along_the_flesh() -> None:
    scene = fresh()
    obj = flesh()
    obj.scale, obj.location = (1.0, 1.0, 0.25), (1.0, 2.0, 3.0)
    bpy.context.view_layer.update()
    select(obj)
    bpy.ops.sinew.add_bone()
    (made,) = roles.bones(scene)
    bpy.context.view_layer.update()
    # along the longest side as it is in the world
    assert np.allclose(made.dimensions, [0.8, 0.3, 0.3 * 0.5]) and np.allclose(made.matrix_world, obj.matrix_world)
    assert all(face.normal.dot(face.center) > 0.0 for face in made.data.polygons), "outward"


def test_flesh_and_bones_of_another_file_can_be_changed_on_their_overrides(tmp_path: Path) -> None:
    fresh()
    made_flesh, made_bone = flesh(), bone()
    made_bone.sinew.bone_body = made_flesh
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    linked = [link_object(tmp_path / "character.blend", name) for name in ("Arm", "Humerus")]
    for obj in linked:
        with pytest.raises(BadInput):
            role_checks.check_bone(obj)
    assert roles.bodies(scene) == [] and len(roles.bones(scene)) == 1, "a linked bone holds flesh that is here"
    made = {obj.name: obj.override_create(remap_local_usages=True) for obj in linked}
    arm, humerus = made["Arm"].sinew, made["Humerus"].sinew
    arm.motion, arm.preset, arm.flesh_law, arm.stiffness_group = "JIGGLE", "SKIN", "COROTATED", "Soft"
    humerus.bone_distance, humerus.use_bone_spring, humerus.bone_body = 0.25, True, None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    arm, humerus = (next(o for o in bpy.data.objects if o.name == n and not o.library).sinew for n in made)
    assert (arm.motion, arm.preset, arm.flesh_law, arm.stiffness_group) == ("JIGGLE", "SKIN", "COROTATED", "Soft")
    assert arm.youngs_modulus == pytest.approx(MATERIAL_PRESETS["SKIN"].material.youngs_modulus)
    assert (humerus.bone_distance, humerus.use_bone_spring, humerus.bone_body) == (0.25, True, None)


def test_nothing_of_flesh_and_bones_can_be_keyed() -> None:
    scene = fresh()
    own = flesh().sinew
    groups = [g for g in type(own).__mro__ if g.__name__ in {"FleshProperties", "BoneProperties"}]
    names = {name for group in groups for name in group.__annotations__}
    assert len(names) > 15 and not [name for name in names if own.bl_rna.properties[name].is_animatable]
    for name in ("rest_frame", "preroll", "pose_tolerance", "pose_iterations"):
        assert not scene.sinew.bl_rna.properties[name].is_animatable
    assert all(own.bl_rna.properties[name].is_overridable for name in names)
