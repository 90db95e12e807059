# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in Blender without a window: the real mesh moves, and whatever ends it, the file is as it was."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_rig, counts, fresh, overridden_box, world
from fixtures.fake_layout import FakeLayout
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import ground, jelly, run_key, run_steps, shown, started, until
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.live import grabs, run_control
from sinew.addon.panels import live_layout
from sinew.solver.bake.cache import CacheLock, CacheMetadata, is_locked, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live.recording import read_inputs
from test_addon import context_of

pytestmark = pytest.mark.slow


def stack(obj: bpy.types.Object) -> list[str]:
    return [modifier.name for modifier in obj.modifiers]


def test_the_mesh_falls_with_its_modifiers_and_stops_as_it_was() -> None:
    box = jelly()
    box.location.x = 3.0
    box.modifiers.new("Subdivision", "SUBSURF")
    bpy.context.view_layer.update()
    before, datablocks = shown(box), counts()
    run = started()
    run_steps(run, 30)
    assert stack(box) == ["Sinew", "Sinew Live", "Subdivision"]
    moved = shown(box) - before
    assert moved[:, 2].max() < -0.5 and np.abs(moved[:, :2]).max() < 0.01
    assert run.tets is not None and run.tets > 0
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.stop_live" in str(drawn.drawn)
    assert bpy.ops.sinew.stop_live() == {"FINISHED"}
    assert stack(box) == ["Sinew", "Subdivision"] and np.array_equal(shown(box), before), "at once"
    until(lambda: session.live is None)
    assert run.driver.job.phase == "done" and counts() == datablocks
    assert run.folder.is_dir() and read_inputs(run.folder).steps >= 30, "until the next run"
    started()
    until(lambda: not run.folder.exists())


@pytest.mark.slow
def test_a_bake_stays_and_plays_again(tmp_path: Path) -> None:
    box = jelly()
    scene = bpy.context.scene
    scene.frame_end = 3
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.sinew.protect = True
    scene.frame_set(3)
    modifier = sinew_modifier.find_modifier(box)
    settings = {p.identifier: getattr(modifier, p.identifier) for p in modifier.bl_rna.properties if not p.is_readonly}
    baked, files = shown(box), sorted((f, f.stat().st_mtime_ns) for f in (tmp_path / "c.sinew").rglob("*"))
    run = started()
    run_steps(run, 20)
    assert stack(box) == ["Sinew", "Sinew Live"] and np.abs(shown(box) - baked).max() > 0.3
    assert sinew_modifier.find_modifier(box) == modifier and sinew_modifier.input_modifier_count(box) == 0
    run_control.stop()
    until(lambda: session.live is None)
    assert {name: getattr(modifier, name) for name in settings} == settings
    assert np.array_equal(shown(box), baked)
    assert sorted((f, f.stat().st_mtime_ns) for f in (tmp_path / "c.sinew").rglob("*")) == files


def test_a_file_that_is_saved_meanwhile_is_as_it_was_and_the_run_goes_on(tmp_path: Path) -> None:
    box = jelly()
    run = started()
    run_steps(run, 5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), copy=True)
    assert stack(box) == ["Sinew", "Sinew Live"]
    run_steps(run, run.step + 10)
    with bpy.data.libraries.load(str(tmp_path / "a.blend"), link=True) as (_, wanted):
        wanted.objects = ["Jelly"]
    assert stack(wanted.objects[0]) == ["Sinew"]


@pytest.mark.slow
def test_another_file_ends_it_and_deletes_its_folder(tmp_path: Path) -> None:
    jelly()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 5)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert session.live is None and session.last_live is None and not run.folder.exists()
    assert stack(bpy.data.objects["Jelly"]) == ["Sinew"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_crash_of_the_child_leaves_the_scene_as_it_was() -> None:
    box = jelly()
    before = shown(box)
    run = started()
    run_steps(run, 5)
    os.kill(run.driver._child.pid, signal.SIGKILL)
    until(lambda: session.live is None)
    assert stack(box) == ["Sinew"] and np.array_equal(shown(box), before)
    failure = session.messages(bpy.context.scene).failure
    assert failure is not None and failure.kind == "child-crashed"


def test_an_override_runs_live_and_a_linked_body_is_refused(tmp_path: Path) -> None:
    own = overridden_box(tmp_path)
    bpy.context.view_layer.objects.active = own
    own.select_set(True)
    bpy.ops.sinew.make_body()
    run = started()
    run_steps(run, 20)
    assert shown(own)[:, 2].min() < -1.2
    run_control.end()
    assert stack(own) == ["Sinew"]


@pytest.mark.slow
def test_colliders_gravity_and_stiffness_act_while_it_runs() -> None:
    box = jelly()
    plane = ground()
    run = started()
    run_steps(run, 5)
    for _ in range(20):
        plane.location.z += 0.02
        bpy.context.view_layer.update()
        run_steps(run, run.step + 2)
    until(lambda: shown(box)[:, 2].min() > -0.75)
    bpy.context.scene.gravity = (0.0, 0.0, 9.81)
    box.sinew.youngs_modulus *= 2.0
    until(lambda: shown(box)[:, 2].min() > 0.5)
    recorded = [c for line in read_inputs(run.folder).commands.values() for c in line]
    tracks = {c["track"].split(".")[-1] for c in recorded}
    assert {"matrix", "gravity", "youngs_modulus"} <= tracks and not run.note


@pytest.mark.slow
def test_what_needs_new_tets_is_said() -> None:
    box = jelly()
    run = started()
    run_steps(run, 2)
    box.sinew.youngs_modulus *= 2.0
    box.sinew.divisions = 5
    until(lambda: run.later)
    assert "Jelly" in run.later and "press Live again" in run.later
    drawn = FakeLayout()
    live_layout.draw_live_messages(drawn, context_of(box))
    assert "Live again" in " ".join(drawn.lines)
    box.sinew.divisions = 4
    until(lambda: not run.later)


def test_pins_follow_their_object() -> None:
    box = jelly()
    group = box.vertex_groups.new(name="Pin")
    group.add([v.index for v in box.data.vertices if v.co.z > 0.9], 1.0, "REPLACE")
    box.sinew.pin_group = "Pin"
    run = started()
    run_steps(run, 5)
    box.location.x = 0.5
    bpy.context.view_layer.update()
    until(lambda: shown(box)[:, 0].mean() > 0.4)


def test_a_run_is_held_and_goes_on_step_by_step() -> None:
    box = jelly()
    run = started()
    run_steps(run, 3)
    assert bpy.ops.sinew.pause_live() == {"FINISHED"}
    assert live_layout.progress_text(run, 1.0).startswith("Paused at ")
    until(lambda: run.held_at is not None and run.step == run.held_at)
    step, before = run.step, shown(box)
    assert bpy.ops.sinew.step_live() == {"FINISHED"}
    until(lambda: run.held_at == step + 1 and run.step == step + 1)
    assert not np.array_equal(shown(box), before)
    assert bpy.ops.sinew.pause_live() == {"FINISHED"} and not run.is_paused
    run_steps(run, step + 10)


def test_the_rate_can_be_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    jelly()
    bpy.context.scene.sinew.live_rate = 0.5
    run = started()
    sent: list[object] = []
    monkeypatch.setattr(type(run), "send", lambda _, command: sent.append(command))
    bpy.context.scene.sinew.live_rate = 0.25
    assert sent == [{"command": "rate", "rate": 0.25}]


def test_what_cannot_run_is_named(tmp_path: Path) -> None:
    fresh()
    assert not bpy.ops.sinew.live.poll()
    box = jelly()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Edit Mode"):
        bpy.ops.sinew.live()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert session.live is None and stack(box) == ["Sinew"]


def test_a_disk_that_is_full_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    box = jelly()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sinew.addon.live.run_export.export_part", full)
    run = started()
    until(lambda: session.live is None)
    assert run.driver.job.phase == "failed" and stack(box) == ["Sinew"]
    assert session.messages(bpy.context.scene).failure is not None


def test_files_of_a_run_are_those_of_a_cache() -> None:
    jelly()
    run = started()
    run_steps(run, 3)
    files = [path.relative_to(run.folder) for path in run.folder.rglob("*") if path.is_file()]
    assert files and all(layout.is_sinew_file(path) for path in files)


def test_a_grabbed_place_follows_the_hand_stays_as_a_pin_and_is_let_go() -> None:
    box = jelly()
    box.location.x = 2.0
    bpy.context.view_layer.update()
    run = started()
    run_steps(run, 2)
    assert grabs.body_of(run, box) == run_key(run) and grabs.body_of(run, ground()) is None
    top = shown(box)[np.argmax(shown(box).sum(axis=1))]
    number = grabs.take(run, run_key(run), top, 0.0)
    hand = top + [0.5, 0.0, 0.5]
    grabs.move(run, number, hand)
    until(lambda: np.linalg.norm(grabs.grabbed_point(run, run.grabs[number]) - hand) < 0.1)
    # the newest sample is ahead of the picture
    until(lambda: np.linalg.norm(shown(box) - hand, axis=1).min() < 0.15)
    grabs.take_again(run, number, 0.4)
    run_steps(run, run.step + 20)
    assert np.linalg.norm(grabs.grabbed_point(run, run.grabs[number]) - hand) < 0.2
    grabs.release(run, number)
    until(lambda: shown(box)[:, 2].max() < top[2] - 1.0)
    names = [c["command"] for line in read_inputs(run.folder).commands.values() for c in line]
    assert [n for n in names if n != "set"] == ["grab", "move", "grab", "move", "release"] and not run.note


@pytest.mark.slow
def test_what_was_seen_is_kept_as_a_take_beside_the_bake(tmp_path: Path) -> None:
    box = jelly()
    scene = bpy.context.scene
    scene.frame_end = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    files = sorted((f, f.stat().st_mtime_ns) for f in (tmp_path / "a.sinew").rglob("*"))
    assert not bpy.ops.sinew.keep_live.poll()
    scene.frame_set(2)
    run = started()
    run_steps(run, 2)
    number = grabs.take(run, run_key(run), shown(box)[0], 0.3)
    grabs.move(run, number, shown(box)[0] + [0.3, 0.0, 0.5])
    run_steps(run, 20)
    run_control.stop()
    until(lambda: session.live is None)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    assert scene.sinew.take == "Take 2"
    kept = tmp_path / "a-Take 2.sinew"
    head = CacheMetadata.load(kept)
    assert head.frame_start == 2 and head.frame_end == 2 + read_inputs(run.folder).steps // head.samples_per_frame
    assert scene.frame_end == head.frame_end, "the timeline reaches what was kept"
    hand, end = session.messages(scene).notes
    assert "Grab of" in hand.line and f"now ends at {head.frame_end}" in end.line
    for frame, sample in ((2, 0), (5, 3 * head.samples_per_frame)):
        scene.frame_set(frame)
        played = read_samples(layout.play_path(kept, run_key(run)), sample, 1)[0]
        assert shown(box) == pytest.approx(world(played, np.array(box.matrix_world)), abs=1e-6)
    assert sorted((f, f.stat().st_mtime_ns) for f in (tmp_path / "a.sinew").rglob("*")) == files, "the bake stays"
    assert bpy.ops.sinew.keep_live() == {"FINISHED"} and scene.sinew.take == "Take 3", "again, until the next run"


def test_flesh_follows_bones_that_are_posed_while_it_runs() -> None:
    box = jelly()
    rig = add_rig(box, turn=0.0)
    rig.animation_data_clear()
    box.modifiers.move(len(box.modifiers) - 1, 0)
    bpy.context.view_layer.objects.active = box
    bpy.ops.sinew.make_flesh()
    box.sinew.use_armature_bones = True
    box.sinew.divisions = 4
    run = started()
    run_steps(run, 3)
    before = shown(box)
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler.x = 0.8
    bpy.context.view_layer.update()
    until(lambda: np.abs(shown(box) - before).max() > 0.4)
    assert rig.animation_data is None and not run.note
    run_control.end()
    assert bone.rotation_euler.x == pytest.approx(0.8)


def test_what_a_killed_blender_has_left_is_deleted_and_what_another_uses_stays() -> None:
    jelly()
    home = Path(bpy.app.tempdir)
    left, used = (home.with_name(home.name[:-1] + end) / "sinew-live-0123456789ab" for end in ("_left", "_used"))
    for folder in (left, used):
        (folder / "live.sinew").mkdir(parents=True)
    lock = CacheLock(used)
    try:
        run = started()
        until(lambda: not left.exists())
        assert used.is_dir() and is_locked(run.folder.parent)
    finally:
        lock.release()
        for folder in (left, used):
            shutil.rmtree(folder.parent, ignore_errors=True)
