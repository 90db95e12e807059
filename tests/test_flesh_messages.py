# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of flesh and bones: refusals, notes, marks in the timeline, progress."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, fresh, write_cache
from fixtures.flesh_objects import bone, flesh, select
from sinew.addon.baking import bake_status, bake_summary, last_failure, stale_errors
from sinew.addon.baking.state_machine import Job, advance
from sinew.addon.baking.state_machine_events import ChildSaid
from sinew.addon.blender_data import object_keys
from sinew.addon.cache import cache_folder_status
from sinew.addon.objects import flesh_supports, roles
from sinew.addon.overlays import unconverged_marks
from sinew.addon.panels import flesh_layout
from sinew.solver.bake.cache.convergence_summary import ConvergenceSummary
from sinew.solver.runtime.errors import BadInput, SolveFailed, StorageFailed
from test_addon import drawn


def test_flesh_that_nothing_holds_gets_an_offer() -> None:
    scene = fresh()
    obj = flesh()
    obj.scale = (1.0, 1.0, 0.25)
    bpy.context.view_layer.update()

    def offers() -> set[str]:
        names = {"sinew.add_bone", "use_armature_bones", "sinew.move_below_armature"}
        return {name for _, name in drawn(obj).drawn if name in names}

    assert offers() == {"sinew.add_bone"} and flesh_layout.NOT_HELD_NOTE in " ".join(drawn(obj).lines)
    obj.sinew.motion = "JIGGLE"
    assert flesh_layout.FALLS_NOTE in " ".join(drawn(obj).lines)
    obj.sinew.pin_group = "Any"
    assert offers() == set()
    obj.sinew.pin_group = ""
    rig = add_rig(obj)
    obj.modifiers.new("Subdivision", "SUBSURF")
    assert flesh_supports.armatures_of(obj) == [] and offers() == {"sinew.add_bone", "sinew.move_below_armature"}
    select(obj)
    bpy.ops.sinew.move_below_armature()
    assert [m.type for m in obj.modifiers] == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    assert flesh_supports.armatures_of(obj) == [rig] and offers() == {"sinew.add_bone", "use_armature_bones"}
    obj.sinew.use_armature_bones = True
    assert offers() == set()
    obj.sinew.use_armature_bones = False
    select(obj)
    assert bpy.ops.sinew.add_bone() == {"FINISHED"}
    (made,) = roles.bones(scene)
    bpy.context.view_layer.update()
    assert offers() == set() and bpy.context.object == obj
    assert flesh_supports.bones_of(scene, obj) == [made]
    made.sinew.bone_body = add_box("Other")
    assert offers() != set()


def test_flesh_that_nothing_holds_is_refused_at_once() -> None:
    scene = fresh()
    obj = flesh()
    with pytest.raises(RuntimeError, match='Nothing holds the flesh of "Arm"'):
        bpy.ops.sinew.simulate()
    obj.sinew.motion = "JIGGLE"
    flesh_supports.check_held(scene)
    obj.sinew.motion = "POSE"
    bone()
    flesh_supports.check_held(scene)


def told_in_panel(obj: bpy.types.Object, words: str) -> bool:
    stale_errors.invalidate()
    return words in " ".join(drawn(obj).lines)


def test_a_refusal_leaves_the_panel_when_its_cause_is_gone() -> None:
    scene = fresh()
    obj = flesh()
    other = add_box("Other")
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.simulate()
    words = 'Nothing holds the flesh of "Arm"'
    assert told_in_panel(other, words) and told_in_panel(other, words), "as long as nothing has changed"
    assert not told_in_panel(obj, words) and flesh_layout.NOT_HELD_NOTE in " ".join(drawn(obj).lines), "the box says it"
    scene.frame_set(7)
    assert told_in_panel(other, words), "the playhead changes nothing"
    obj.sinew.motion = "JIGGLE"
    assert not told_in_panel(other, words)
    obj.sinew.motion = "POSE"
    assert not told_in_panel(other, words), "forgotten"


def test_a_locked_bake_is_said_until_it_is_not() -> None:
    scene = fresh()
    obj = flesh()
    scene.sinew.protect = True
    last_failure.store_error_event(scene, BadInput("bake-protected", name=scene.name).as_event())
    assert told_in_panel(obj, "is locked")
    scene.sinew.protect = False
    assert not told_in_panel(obj, "is locked")


def test_what_a_solve_or_the_disk_said_stays() -> None:
    scene = fresh()
    obj = flesh()
    for failed in (
        SolveFailed("child-crashed", place="x", code="9"),
        StorageFailed("disk-failed", path="x", problem="y"),
    ):
        last_failure.store_error_event(scene, failed.as_event())
        obj.sinew.motion = "POSE" if obj.sinew.motion == "JIGGLE" else "JIGGLE"
        assert told_in_panel(obj, failed.sentence)


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
    roles.clear_role(obj)
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
    write_cache(folder, {object_keys.body_key(obj): np.zeros((len(lines), len(obj.data.vertices), 3))})
    told = [json.dumps({"frame": 1 + i, **line}) + "\n" for i, line in enumerate(lines)]
    (folder / "report.jsonl").write_text("".join(told))
    cache_folder_status.invalidate()
    return folder


ARRIVED = {"residual": 0.0, "not_converged": 0, "poses_not_converged": 0, "pose_residual": 4.0e-4}
LOST = ARRIVED | {"not_converged": 1, "poses_not_converged": 1, "pose_residual": 0.025}
LOST_STEP = ARRIVED | {"not_converged": 2, "residual": 0.5}


def test_frames_that_did_not_converge_are_marked_and_told(tmp_path: Path) -> None:
    scene = fresh()
    obj = flesh()
    assert unconverged_marks.unconverged_runs(scene) == []
    folder = baked(tmp_path, scene, obj, [ARRIVED, LOST, LOST, ARRIVED, LOST | {"pose_residual": 0.0125}, LOST_STEP])
    assert unconverged_marks.unconverged_runs(scene) == [(2, 3), (5, 6)]
    words = " ".join(drawn(obj).lines)
    assert "Flesh did not come to rest in 3 poses, at worst in frame 2" in words
    assert "2 steps are less exact than the Tolerance asks for, at worst in frame 6" in words
    notes = bake_summary.unconverged_notes(bake_status.status(scene).convergence)
    assert [note.measured for note in notes] == [
        "The largest relative residual is 0.5",
        "The largest residual is 0.025",
    ]
    words = " ".join(drawn(obj, "draw_solver").lines)
    assert "Largest residual of a pose 2.5e-02, in frame 2" in words and "Largest residual 5.0e-01" in words
    # the same frame again, as after a resume
    with open(folder / "report.jsonl", "a") as file:
        file.write(json.dumps({"frame": 3, **ARRIVED}) + "\n")
    assert unconverged_marks.unconverged_runs(scene) == [(2, 2), (5, 6)]
    ending = bake_summary.unconverged_text(ConvergenceSummary.from_report([{"frame": 7, **LOST}]))
    assert ending.startswith("Flesh did not come to rest in 1 poses") and "Pre-Roll" in ending
    assert "steps" not in ending
    assert bake_summary.unconverged_text(ConvergenceSummary.from_report([{"frame": 7, **ARRIVED}])) == ""
    astray = bake_summary.unconverged_text(
        ConvergenceSummary.from_report([{"frame": 7, **LOST_STEP, "residual": 40.0}])
    )
    assert "went wrong in 2 steps, at worst in frame 7" in astray and "One Newton Step" in astray


def test_frames_in_which_colliders_are_let_in_are_marked(tmp_path: Path) -> None:
    scene = fresh()
    obj = flesh()
    assert unconverged_marks.let_in_runs(scene) == []
    folder = baked(tmp_path, scene, obj, [ARRIVED, ARRIVED | {"let_in": 3}, LOST | {"let_in": 1}, ARRIVED])
    assert unconverged_marks.let_in_runs(scene) == [(2, 3)] and unconverged_marks.unconverged_runs(scene) == [(3, 3)]
    with open(folder / "report.jsonl", "a") as file:  # the same frame again, as after a resume
        file.write(json.dumps({"frame": 3, **ARRIVED}) + "\n")
    assert unconverged_marks.let_in_runs(scene) == [(2, 2)]


def test_marks_can_be_seen_however_far_a_timeline_is_zoomed_out() -> None:
    assert unconverged_marks.consecutive_runs([]) == [] and unconverged_marks.consecutive_runs([9, 3, 4, 5]) == [
        (3, 5),
        (9, 9),
    ]
    corners = unconverged_marks.mark_triangles([(10.0, 10.5), (40.0, 90.0), (-50.0, -20.0), (500.0, 900.0)], 2.0, 600.0)
    left, right = corners.reshape(-1, 6, 2)[:, :, 0].min(axis=1), corners.reshape(-1, 6, 2)[:, :, 0].max(axis=1)
    assert np.allclose(right - left, [6.0, 50.0, 100.0]) and np.allclose((left + right)[0], 20.5)
    assert unconverged_marks.mark_triangles([], 1.0, 100.0).shape == (0, 2)


def test_progress_tells_preroll_iterations_and_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = flesh()
    job = Job("baking", 1, 50, tets=1234)

    def after(**event: Any) -> str:
        nonlocal job
        job, _ = advance(job, ChildSaid(event, 1.0))
        monkeypatch.setattr(bake_status, "status", lambda _: bake_status._running_status(job))
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
