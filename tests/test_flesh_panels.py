# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh and bones in the window: how they are made, what the panels say of them, and what can be changed when."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, add_mesh, add_rig, fresh, write_cache
from fake_layout import FakeLayout
from sinew.addon import export, holding, messages, presets, roles
from sinew.addon.baking import bake_status, cache_look, refusals
from sinew.addon.baking.bake_job import Job, advance
from sinew.addon.baking.happenings import ChildSaid
from sinew.addon.baking.status import Status
from sinew.addon.drawing import layout_flesh, layout_materials, layouts, panels, timeline_marks
from sinew.addon.drawing.settings import UNITS
from sinew.solver.anatomy import FLESH_LAWS, SCHEMES
from sinew.solver.cache.tally import Tally
from sinew.solver.errors import BadInput, SolveFailed, StorageFailed
from sinew.solver.presets import INCOMPRESSIBLE_FLESH, NEARLY_INCOMPRESSIBLE, PRESETS
from test_addon import context_of, drawn

PARTS = ("draw_held_by", "draw_flesh", "draw_bone")


def flesh(name: str = "Arm") -> bpy.types.Object:
    obj = add_box(name, divisions=4)
    roles.make_flesh(obj)
    return obj


def bone(name: str = "Humerus") -> bpy.types.Object:
    obj = add_box(name, divisions=1)
    roles.make_bone(obj)
    return obj


def select(*objects: bpy.types.Object) -> None:
    """Selects objects, the last one active."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1]


def test_make_flesh_and_make_bone() -> None:
    scene = fresh()
    boxes = [add_box(f"Box {i}", divisions=4) for i in range(3)]
    select(*boxes[:2])
    assert bpy.ops.sinew.make_flesh() == {"FINISHED"}
    assert roles.bodies(scene) == boxes[:2] and all(roles.is_flesh(obj) for obj in boxes[:2])
    own = boxes[0].sinew
    assert (own.role, own.motion, own.preset) == ("BODY", "POSE", "FLESH")
    assert own.youngs_modulus == PRESETS["FLESH"].material.youngs_modulus
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
        roles.check_bone(rig)
    assert "Armature Bones" in refused.value.next_step


def test_every_setting_stands_in_a_panel() -> None:
    scene = fresh()
    obj = flesh()
    names: set[str] = set()
    obj.sinew.use_armature_bones = True
    for motion in ("POSE", "JIGGLE"):
        obj.sinew.motion = motion
        names |= {name for _, name in drawn(obj, "draw_main", "draw_solver", *PARTS).drawn}
    for group in type(obj.sinew).__mro__:
        if group.__name__ in {"FleshSettings", "BoneSettings"}:
            assert set(group.__annotations__) <= names, group
    assert {"use_rest_frame", "rest_frame", "preroll", "pose_tolerance", "pose_iterations"} <= names
    for name in ("bone_stiffness", "armature_bone_stiffness"):
        assert f"[{UNITS[name]}]" in obj.sinew.bl_rna.properties[name].description
    for owner in (obj.sinew, scene.sinew):
        for rna in owner.bl_rna.properties:
            assert rna.is_hidden or rna.description or rna.identifier in {"rna_type", "name"}, rna.identifier


def test_menus_are_what_the_solver_knows() -> None:
    fresh()
    own = flesh().sinew
    items = {name: own.bl_rna.properties[name].enum_items for name in ("motion", "flesh_law", "jiggle_scheme", "role")}
    assert {item.identifier.lower().replace("_", "-") for item in items["flesh_law"]} == set(FLESH_LAWS)
    assert [item.identifier.lower() for item in items["jiggle_scheme"]] == list(SCHEMES)
    assert [(item.name, item.value) for item in items["motion"]] == [
        ("Soft Body", 0),
        ("Follow Pose", 1),
        ("Jiggle", 2),
    ]
    assert "Quasistatic" in items["motion"]["POSE"].description and "Dynamic" in items["motion"]["JIGGLE"].description
    assert {item.identifier: item.value for item in items["role"]} == {
        "NONE": 0, "BODY": 1, "COLLIDER": 2, "HEAT": 3, "BONE": 4,
    }  # fmt: skip


def test_materials_keep_their_numbers_in_files() -> None:
    fresh()
    own = flesh().sinew
    menu = own.bl_rna.properties["preset"].enum_items
    assert {item.identifier: item.value for item in menu} == presets.NUMBERS
    assert len(set(presets.NUMBERS.values())) == len(presets.NUMBERS) == len(PRESETS) + 1
    assert menu["FLESH"].value == 2 and menu["CUSTOM"].value == 13, "as in files of 0.2"
    for key in ("FAT", "FLESH", "SKIN", "MUSCLE"):
        own.preset = key
        assert (own.motion, own.preset) == ("POSE", key)
        assert own.poisson_ratio == pytest.approx(NEARLY_INCOMPRESSIBLE)
        assert PRESETS[key].source in menu[key].description


def test_only_flesh_goes_near_incompressible() -> None:
    fresh()
    own = flesh().sinew
    assert own.motion == "POSE"
    for motion in ("POSE", "JIGGLE"):
        own.motion = motion
        for given, kept in ((0.48, 0.48), (0.6, INCOMPRESSIBLE_FLESH)):
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
    own.use_fracture = own.use_heat = own.gravity_in_shape = True
    own.motion = "JIGGLE"
    assert not any(getattr(own, name) for name in presets.NOT_OF_FLESH)
    own.preset = "WAX"
    assert own.motion == "JIGGLE" and not any(getattr(own, name) for name in presets.NOT_OF_FLESH)
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
        ("draw_motion", "gravity_in_shape", ""),
    ):
        for motion in ("POSE", "JIGGLE", "ELASTIC"):
            obj.sinew.motion = motion
            layout = drawn(obj, part)
            assert layout.enabled_of(setting) == (motion == "ELASTIC"), part
            reason = layout_materials.NOT_FLESH if switch else layouts.NO_GRAVITY_IN_SHAPE
            assert (reason in " ".join(layout.lines)) == (motion != "ELASTIC")
            if not switch:
                continue
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

    assert {"Bones", "Flesh", "Material", "Pins"} <= shown(arm) and "Bone" not in shown(arm)
    assert {"Bone"} <= shown(humerus) and not {"Bones", "Flesh", "Material"} & shown(humerus)
    assert shown(plain) == {"Solver", "Cache"}
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
        for name in ("motion", "flesh_law", "attachment_group", "bone_distance", "rest_frame", "pose_tolerance"):
            assert layout.enabled_of(name) == (not state.is_locked), name
        assert layout.enabled_of("show_attachment")


def test_flesh_that_nothing_holds_gets_an_offer() -> None:
    scene = fresh()
    obj = flesh()
    obj.scale = (1.0, 1.0, 0.25)
    bpy.context.view_layer.update()

    def offers() -> set[str]:
        names = {"sinew.add_bone", "use_armature_bones", "sinew.move_below_armature"}
        return {name for _, name in drawn(obj).drawn if name in names}

    assert offers() == {"sinew.add_bone"} and layout_flesh.NOT_HELD in " ".join(drawn(obj).lines)
    obj.sinew.motion = "JIGGLE"
    assert layout_flesh.FALLS in " ".join(drawn(obj).lines)
    obj.sinew.pin_group = "Any"
    assert offers() == set()
    obj.sinew.pin_group = ""
    rig = add_rig(obj)
    obj.modifiers.new("Subdivision", "SUBSURF")
    assert holding.armatures_of(obj) == [] and offers() == {"sinew.add_bone", "sinew.move_below_armature"}
    select(obj)
    bpy.ops.sinew.move_below_armature()
    assert [m.type for m in obj.modifiers] == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    assert holding.armatures_of(obj) == [rig] and offers() == {"sinew.add_bone", "use_armature_bones"}
    obj.sinew.use_armature_bones = True
    assert offers() == set()
    obj.sinew.use_armature_bones = False
    select(obj)
    assert bpy.ops.sinew.add_bone() == {"FINISHED"}
    (made,) = roles.bones(scene)
    bpy.context.view_layer.update()
    assert offers() == set() and bpy.context.object == obj
    assert holding.bones_of(scene, obj) == [made]
    made.sinew.bone_body = add_box("Other")
    assert offers() != set()


def test_flesh_that_nothing_holds_is_refused_at_once() -> None:
    scene = fresh()
    obj = flesh()
    with pytest.raises(RuntimeError, match='Nothing holds the flesh of "Arm"'):
        bpy.ops.sinew.simulate()
    obj.sinew.motion = "JIGGLE"
    holding.check_held(scene)
    obj.sinew.motion = "POSE"
    bone()
    holding.check_held(scene)


def told_in_panel(obj: bpy.types.Object, words: str) -> bool:
    refusals.forget()
    return words in " ".join(drawn(obj).lines)


def test_a_refusal_leaves_the_panel_when_its_cause_is_gone() -> None:
    scene = fresh()
    obj = flesh()
    other = add_box("Other")
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.simulate()
    words = 'Nothing holds the flesh of "Arm"'
    assert told_in_panel(other, words) and told_in_panel(other, words), "as long as nothing has changed"
    assert not told_in_panel(obj, words) and layout_flesh.NOT_HELD in " ".join(drawn(obj).lines), "the box says it"
    scene.frame_set(7)
    assert told_in_panel(other, words), "the playhead changes nothing"
    obj.sinew.motion = "JIGGLE"
    assert not told_in_panel(other, words)
    obj.sinew.motion = "POSE"
    assert not told_in_panel(other, words), "forgotten"


def test_a_protected_bake_is_said_until_it_is_not() -> None:
    scene = fresh()
    obj = flesh()
    scene.sinew.protect = True
    messages.remember_error(scene, BadInput("bake-protected", name=scene.name).as_event())
    assert told_in_panel(obj, "protected")
    scene.sinew.protect = False
    assert not told_in_panel(obj, "protected")


def test_what_a_solve_or_the_disk_said_stays() -> None:
    scene = fresh()
    obj = flesh()
    for failed in (
        SolveFailed("child-crashed", place="x", code="9"),
        StorageFailed("disk-failed", path="x", problem="y"),
    ):
        messages.remember_error(scene, failed.as_event())
        obj.sinew.motion = "POSE" if obj.sinew.motion == "JIGGLE" else "JIGGLE"
        assert told_in_panel(obj, failed.sentence)


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


def test_bones_are_named() -> None:
    fresh()
    obj = flesh()
    assert "No bones yet" in drawn(obj, "draw_held_by").lines
    bone("A")
    # a bone anywhere in the scene is named, also one that is out of reach
    assert "Bones: A" in drawn(obj, "draw_held_by").lines
    for name in ("B", "C", "D", "E"):
        bone(name)
    assert "Bones: A, B, C and 2 more" in drawn(obj, "draw_held_by").lines
    add_rig(obj)
    select(obj)
    bpy.ops.sinew.move_below_armature()
    assert "Bones: A, B, C and 2 more" in drawn(obj, "draw_held_by").lines
    obj.sinew.use_armature_bones = True
    assert "Bones: those of Rig, A, B and 3 more" in drawn(obj, "draw_held_by").lines
    roles.clear(obj)
    assert any("There is no flesh yet" in line for line in drawn(bpy.data.objects["A"], "draw_bone").lines)


def test_the_rest_frame_says_its_preroll() -> None:
    scene = fresh()
    obj, settings = flesh(), scene.sinew
    settings.use_rest_frame, settings.rest_frame = True, -19
    assert "20 frames of pre-roll" in drawn(obj, "draw_solver").lines
    settings.rest_frame = 0
    assert "1 frame of pre-roll" in drawn(obj, "draw_solver").lines
    settings.rest_frame = 5
    assert "Pre-Roll" in drawn(obj, "draw_solver").lines


def baked(tmp_path: Path, scene: bpy.types.Scene, obj: bpy.types.Object, lines: list[dict[str, Any]]) -> Path:
    """Returns the cache of `obj` with a line of the report for every frame from 1 on."""
    folder = tmp_path / "c.sinew"
    scene.sinew.cache_path = str(folder)
    write_cache(folder, {export.body_key(obj): np.zeros((len(lines), len(obj.data.vertices), 3))})
    told = [json.dumps({"frame": 1 + i, **line}) + "\n" for i, line in enumerate(lines)]
    (folder / "report.jsonl").write_text("".join(told))
    cache_look.forget()
    return folder


ARRIVED = {"residual": 0.0, "not_converged": 0, "poses_not_converged": 0, "pose_residual": 4.0e-4}
LOST = ARRIVED | {"not_converged": 1, "poses_not_converged": 1, "pose_residual": 0.025}
LOST_STEP = ARRIVED | {"not_converged": 2, "residual": 0.5}


def test_frames_that_did_not_converge_are_marked_and_told(tmp_path: Path) -> None:
    scene = fresh()
    obj = flesh()
    assert timeline_marks.marked(scene) == []
    folder = baked(tmp_path, scene, obj, [ARRIVED, LOST, LOST, ARRIVED, LOST | {"pose_residual": 0.0125}, LOST_STEP])
    assert timeline_marks.marked(scene) == [(2, 3), (5, 6)]
    words = " ".join(drawn(obj).lines)
    assert "Flesh did not come to rest in 3 poses" in words and "residual of 0.025 is left in frame 2" in words
    assert "2 steps stopped at Max Iterations" in words and "0.5 in frame 6" in words
    words = " ".join(drawn(obj, "draw_solver").lines)
    assert "Largest residual of a pose 2.5e-02, in frame 2" in words and "Largest residual 5.0e-01" in words
    # the same frame again, as after a resume
    with open(folder / "report.jsonl", "a") as file:
        file.write(json.dumps({"frame": 3, **ARRIVED}) + "\n")
    assert timeline_marks.marked(scene) == [(2, 2), (5, 6)]
    ending = messages.not_converged(Tally.of([{"frame": 7, **LOST}]))
    assert ending.startswith("Flesh did not come to rest in 1 poses") and "Pre-Roll" in ending
    assert "steps" not in ending
    assert messages.not_converged(Tally.of([{"frame": 7, **ARRIVED}])) == ""


def test_marks_can_be_seen_however_far_a_timeline_is_zoomed_out() -> None:
    assert timeline_marks.runs([]) == [] and timeline_marks.runs([9, 3, 4, 5]) == [(3, 5), (9, 9)]
    corners = timeline_marks.rectangles([(10.0, 10.5), (40.0, 90.0), (-50.0, -20.0), (500.0, 900.0)], 2.0, 600.0)
    left, right = corners.reshape(-1, 6, 2)[:, :, 0].min(axis=1), corners.reshape(-1, 6, 2)[:, :, 0].max(axis=1)
    assert np.allclose(right - left, [6.0, 50.0, 100.0]) and np.allclose((left + right)[0], 20.5)
    assert timeline_marks.rectangles([], 1.0, 100.0).shape == (0, 2)


def test_progress_tells_preroll_iterations_and_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = flesh()
    job = Job("baking", 1, 50, tets=1234)

    def after(**event: Any) -> str:
        nonlocal job
        job, _ = advance(job, ChildSaid(event, 1.0))
        monkeypatch.setattr(bake_status, "status", lambda _: bake_status._status_of(job))
        return " | ".join(drawn(obj).lines)

    assert "1,234 tets" in after(event="compiling")
    words = after(event="solving", frame=-4, newton_iterations=3, residual=0.125)
    assert "Iteration 3, residual 0.12 → 0.001" in words
    assert "Pre-roll 25 %" in after(event="preroll", fraction=0.25)
    words = after(event="frame", frame=1, not_converged=0, residual=0.0)
    assert "Frame 1 of 50" in words and "Pre-roll" not in words and "Iteration" not in words
    words = after(event="solving", frame=2, newton_iterations=0, residual=None)
    assert "Iteration 0" in words and "residual" not in words and "Frame 1 of 50" in words
    assert job.phase == "baking" and job.frame == 1
    job = replace(job, phase="cancelling")
    after(event="solving", frame=2, newton_iterations=9, residual=0.1)
    assert job.phase == "cancelling"
    assert "Iteration" not in after(event="finishing", body="Arm", fraction=0.5)


def test_flesh_and_bones_of_another_file_can_be_changed_on_their_overrides(tmp_path: Path) -> None:
    fresh()
    made_flesh, made_bone = flesh(), bone()
    made_bone.sinew.bone_body = made_flesh
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.objects = ["Arm", "Humerus"]
    for obj in wanted.objects:
        scene.collection.objects.link(obj)
        with pytest.raises(BadInput):
            roles.check_bone(obj)
    assert roles.bodies(scene) == [] and len(roles.bones(scene)) == 1, "a linked bone holds flesh that is here"
    made = {obj.name: obj.override_create(remap_local_usages=True) for obj in wanted.objects}
    arm, humerus = made["Arm"].sinew, made["Humerus"].sinew
    arm.motion, arm.preset, arm.flesh_law, arm.stiffness_group = "JIGGLE", "SKIN", "COROTATED", "Soft"
    humerus.bone_distance, humerus.use_bone_spring, humerus.bone_body = 0.25, True, None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    arm, humerus = (next(o for o in bpy.data.objects if o.name == n and not o.library).sinew for n in made)
    assert (arm.motion, arm.preset, arm.flesh_law, arm.stiffness_group) == ("JIGGLE", "SKIN", "COROTATED", "Soft")
    assert arm.youngs_modulus == pytest.approx(PRESETS["SKIN"].material.youngs_modulus)
    assert (humerus.bone_distance, humerus.use_bone_spring, humerus.bone_body) == (0.25, True, None)


def test_nothing_of_flesh_and_bones_can_be_keyed() -> None:
    scene = fresh()
    own = flesh().sinew
    groups = [g for g in type(own).__mro__ if g.__name__ in {"FleshSettings", "BoneSettings"}]
    names = {name for group in groups for name in group.__annotations__}
    assert len(names) > 15 and not [name for name in names if own.bl_rna.properties[name].is_animatable]
    for name in ("rest_frame", "preroll", "pose_tolerance", "pose_iterations"):
        assert not scene.sinew.bl_rna.properties[name].is_animatable
    assert all(own.bl_rna.properties[name].is_overridable for name in names)
