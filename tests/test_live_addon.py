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
from sinew.addon.baking import last_failure
from sinew.addon.baking.addon_session import Note, session
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.export import input_digest
from sinew.addon.live import grabs, real_time_tets, run_control, unsettled_steps
from sinew.addon.panels import live_layout, main_layout
from sinew.solver.bake.cache import CacheLock, CacheMetadata, is_locked, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live.recording import read_inputs
from sinew.solver.runtime.errors import SinewError
from test_addon import context_of

pytestmark = pytest.mark.slow
BUTTONS = {"Live", "Stop Live (Esc)", "Keep", "Keep Shape", "Keep as Start", "Step"}


def stack(obj: bpy.types.Object) -> list[str]:
    return [modifier.name for modifier in obj.modifiers]


def test_a_run_has_the_preview_tets_and_says_so() -> None:
    box = jelly()
    box.sinew.divisions, box.sinew.use_preview_tets, box.sinew.preview_tets = 20, True, 500
    run = started()
    run_steps(run, 5)
    assert run.tets is not None and run.tets < 1500
    assert live_layout.progress_text(run, 1.0).endswith(f"{run.tets:,} tets")
    scene = bpy.context.scene
    preview = (run.folder / layout.SCENE_FOLDER / layout.SETTINGS_FILE).read_text()
    assert input_digest.settings_digest(scene) != preview
    scene.sinew.bake_detail = "PREVIEW"
    assert input_digest.settings_digest(scene) == preview
    run_control.end()
    assert live_layout.PREVIEW_LABEL in _lines_of_panel()
    box.sinew.use_preview_tets = False
    assert live_layout.PREVIEW_LABEL not in _lines_of_panel()


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


@pytest.mark.parametrize(
    ("ratio", "rate", "text"),
    [
        (0.61, 1.0, "0.6 × real time"),
        (0.04, 1.0, "0.04 × real time"),
        (0.99, 1.0, "Real time"),
        (0.25, 0.25, "0.25 × real time"),
    ],
)
def test_the_panel_says_how_time_passes(ratio: float, rate: float, text: str) -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    run.status = {"ratio": ratio}
    assert live_layout.progress_text(run, rate) == f"{text}, {run.tets:,} tets"


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


def test_the_rows_of_the_panel_stay_where_they_are_while_the_run_goes_on() -> None:
    box = jelly()
    box.sinew.divisions = 12
    run = started()
    rows = [len(_lines_of_panel())]
    run_steps(run, 1)
    for loads, ratio in (([], 1.0), ([0.1] * 3, 1.0), ([2.0] * 7, 0.5)):
        run.loads.clear()
        run.real_time_tets = None
        heard(run, *loads)
        run.status = {**run.status, "ratio": ratio}
        rows.append(len(_lines_of_panel()))
    assert real_time_tets.is_slow(run) and len(set(rows)) == 1, rows
    assert {"Keep", "Keep Shape", "Keep as Start"} <= set(_lines_of_panel())


def test_the_panel_says_what_unsettled_steps_mean() -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    words = "may tremble or sink in"
    calm = [(30 * n, 1) for n in range(8)]  # of a blow
    for events, is_said in ((calm, False), ([(240, 2), (270, 30)], True), ([(2000, 30), (4000, 30)], True)):
        for step, unsettled in events:
            unsettled_steps.count(run, {"step": step, "unsettled": unsettled})
        text = " ".join(_lines_of_panel())
        assert (words in text) == is_said and (("Thickness" in text) == is_said)


def _lines_of_panel() -> list[str]:
    drawn = FakeLayout()
    live_layout.draw_live(drawn, context_of(bpy.context.object))
    live_layout.draw_live_messages(drawn, context_of(bpy.context.object))
    return drawn.lines


def test_messages_move_no_button() -> None:
    box = jelly()
    run = started()
    run_steps(run, 1)
    before = _names_until_the_last_button(box)
    run.note, run.later, run.has_trembled = "Something is said", "And more", True
    session.messages(bpy.context.scene).notes = [Note("A note")]
    after = _names_until_the_last_button(box)
    assert after == before and "sinew.stop_live" in before and "sinew.simulate" in before
    drawn = _main_panel(box)
    assert "Something is said" in drawn.lines and "A note" in drawn.lines
    assert not next(at.is_enabled for at, name in drawn.drawn if name == "sinew.simulate"), "while it runs live"
    run_control.end()
    before = _names_until_the_last_button(box)
    last_failure.store_error_event(bpy.context.scene, SinewError("live-not-running").as_event())
    assert _names_until_the_last_button(box) == before and "sinew.live" in before
    drawn = _main_panel(box)
    assert next(at.is_enabled for at, name in drawn.drawn if name == "sinew.simulate")


def _main_panel(obj: bpy.types.Object) -> FakeLayout:
    drawn = FakeLayout()
    main_layout.draw_main(drawn, context_of(obj))
    return drawn


def _names_until_the_last_button(obj: bpy.types.Object) -> list[str]:
    """Returns what is drawn down to the buttons of the run, one after the other."""
    drawn = _main_panel(obj)
    lines = drawn.lines[: 1 + max(at for at, line in enumerate(drawn.lines) if line in BUTTONS)]
    return [*lines, *(name for _, name in drawn.drawn if name.startswith("sinew."))]


def heard(run: LiveRun, *loads: float) -> None:
    for load in loads:
        real_time_tets.hear_load(run, load)


def test_the_number_of_tets_that_keep_up_stays_until_it_is_another_by_a_quarter() -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    run.tets = 1000
    run.loads.clear()
    run.real_time_tets, told = None, list[int | None]()
    for load in (1.0, 1.0, 1.0, 0.9, 1.2, 0.8, 1.25, 5.0, 0.1, 0.85, 1.2, 1.2):
        heard(run, load)
        told.append(run.real_time_tets)
    assert told == [None, None, *[800] * 10], "the median changes by less"
    heard(run, *[2.0] * 10)
    assert 400 <= (run.real_time_tets or 0) <= 530 and real_time_tets.is_slow(run)
    heard(run, *[1.05] * 10)
    assert run.real_time_tets == 760 and not real_time_tets.is_slow(run)


def test_the_panel_offers_as_many_tets_as_keep_up() -> None:
    box = jelly()
    box.sinew.divisions = 12
    run = started()
    run_steps(run, 1)
    run.loads.clear()
    run.real_time_tets = None
    heard(run, 0.1, 0.2)
    assert run.real_time_tets is None
    heard(run, 0.1)
    tets = run.tets
    assert tets is not None and run.body_tets == {next(iter(run.bodies)): tets}
    assert run.real_time_tets == pytest.approx(0.8 * tets / 0.1, rel=0.1)
    assert not real_time_tets.is_slow(run)
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.use_real_time_tets" not in str(drawn.drawn)
    heard(run, *[2.0] * 7)
    run.status = {**run.status, "ratio": 0.5}
    count = run.real_time_tets
    assert count == pytest.approx(0.4 * tets, rel=0.1) and real_time_tets.is_slow(run)
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.use_real_time_tets" in str(drawn.drawn)
    assert bpy.ops.sinew.use_real_time_tets() == {"FINISHED"}
    assert box.sinew.use_preview_tets and box.sinew.preview_tets <= count
    assert run.offered_tets == pytest.approx(count, rel=0.25) and live_layout.offer_text(run).startswith("Real Time")
    again = session.live
    assert again is not None and again is not run
    run_steps(again, 1)
    assert again.tets == pytest.approx(count, rel=0.3), "as many as were offered, not more"


def test_the_offer_counts_the_tets_that_each_body_needs() -> None:
    box = jelly()
    box.sinew.divisions = 12
    for place in range(3):
        other = box.copy()
        other.data, other.location.x = box.data.copy(), 4.0 * (place + 1)
        bpy.context.collection.objects.link(other)
    run = started()
    run_steps(run, 1)
    tets = run.tets
    assert tets is not None and len(run.body_tets) == 4
    run.real_time_tets = None
    heard(run, *[100.0] * 7)
    wanted, offered = run.real_time_tets, run.offered_tets
    assert wanted is not None and offered == 4 * real_time_tets.MIN_BODY_TETS and wanted < 0.5 * offered
    assert "at Least: 0." in live_layout.offer_text(run)
    real_time_tets.ask_for(run, wanted)
    run_control.end()
    again = started()
    run_steps(again, 1)
    # set after 1152 tets were seen: a box of 200 cannot be told from one of 300 without measuring its mesh
    assert again.tets is not None and 0.5 * offered < again.tets < min(1.5 * offered, 0.75 * tets)


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
    (note,) = session.messages(scene).notes
    assert f"now ends at {head.frame_end}" in note.line
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


def test_the_panel_says_that_undo_has_ended_the_run() -> None:
    box = jelly()
    bpy.ops.ed.undo_push(message="before")
    box.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    run_steps(started(), 2)
    assert not any("Undo" in line for line in _lines_of_panel())
    bpy.ops.ed.undo()
    assert session.live is None and any("Undo" in line for line in _lines_of_panel())
    started()
    bpy.ops.sinew.stop_live()
    until(lambda: session.live is None)
    assert not any("Undo" in line for line in _lines_of_panel()), "Stop says nothing"


def test_a_run_begins_from_the_modeled_shape_where_a_bake_plays_and_the_panel_says_so(tmp_path: Path) -> None:
    box, scene = jelly(), bpy.context.scene
    scene.frame_end, scene.sinew.cache_path = 10, str(tmp_path / "bake.sinew")
    modeled = shown(box)
    assert live_layout.FROM_REST not in " ".join(_lines_of_panel())
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.frame_set(1)
    assert live_layout.FROM_REST not in " ".join(_lines_of_panel()), "the bake is in that shape too"
    scene.frame_set(10)
    assert (modeled - shown(box))[:, 2].min() > 0.3, "it has fallen in the bake"
    assert live_layout.FROM_REST in " ".join(_lines_of_panel())
    run = started()
    run_steps(run, 0)
    begun = modeled - shown(box)
    assert begun[:, 2].max() < 0.5 * 9.81 * ((run.step + 2) / 60.0) ** 2 + 1e-4, "it falls from where it was modeled"
    run_control.stop()
    until(lambda: session.live is None)
    assert (modeled - shown(box))[:, 2].min() > 0.3, "the bake plays again"
