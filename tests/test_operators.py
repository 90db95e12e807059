# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist presses: bodies, colliders, Simulate, Cancel, Delete Bake, and what may come in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.operator_scenes import child_pid, evaluated, falling_box, is_alive, panel_lines, status, until
from sinew.addon import handlers
from sinew.addon.baking import bake_control, bake_request, bake_status, last_failure
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.cache import cache_paths
from sinew.addon.objects import coarse_mesh_subdivision, roles
from sinew.addon.operators.simulate import SINEW_OT_simulate
from sinew.addon.panels import bake_layout, main_layout
from sinew.addon.playback import shape_keys
from sinew.solver.bake.cache import CacheReader

pytestmark = pytest.mark.slow


def test_several_meshes_become_bodies_at_once_and_lamps_are_left_alone() -> None:
    scene = fresh()
    boxes = [add_box("A"), add_box("B")]
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    scene.collection.objects.link(lamp)
    for obj in (*boxes, lamp):
        obj.select_set(True)
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert [o.sinew.role for o in (*boxes, lamp)] == ["BODY", "BODY", "NONE"]
    assert all(sinew_modifier.find_modifier(o) for o in boxes)
    assert roles.bodies(scene) == boxes
    assert bpy.ops.sinew.remove() == {"FINISHED"}
    assert not any(o.modifiers for o in boxes) and roles.bodies(scene) == []


def test_a_collider_loses_the_modifier_of_the_body_that_it_was() -> None:
    fresh()
    box = add_box()
    bpy.ops.sinew.make_body()
    bpy.ops.sinew.make_collider()
    assert box.sinew.role == "COLLIDER" and not box.modifiers


@pytest.mark.parametrize(("height", "wanted"), [(3.0, 0.0), (1.0, -1.0), (-2.0, -4.0)])
def test_the_ground_lies_at_zero_or_leaves_half_a_height_of_fall(height: float, wanted: float) -> None:
    scene = fresh()
    box = add_box(height=2.0)
    box.location.z = height
    bpy.ops.sinew.make_body()
    bpy.context.view_layer.update()
    bpy.ops.sinew.add_ground()
    (ground,) = roles.colliders(scene)
    assert ground.location.z == pytest.approx(wanted, abs=1e-6)
    assert ground.sinew.collider_shape == "PLANE"
    assert bpy.context.object == box and box.select_get()


def test_a_sheet_falls_a_tenth_of_its_longest_side() -> None:
    scene = fresh()
    bpy.ops.mesh.primitive_grid_add(size=20.0)
    bpy.context.object.scale.y = 0.5
    bpy.ops.sinew.make_body()
    bpy.context.view_layer.update()
    bpy.ops.sinew.add_ground()
    (ground,) = roles.colliders(scene)
    assert ground.location.z == pytest.approx(-2.0, abs=1e-5)
    assert ground.sinew.thickness == pytest.approx(0.1), "it will not lie in the ground, where it flickers"


def test_the_ground_lies_right_under_what_is_held() -> None:
    scene = fresh()
    box = add_box(height=2.0)
    bpy.ops.sinew.make_body()
    box.vertex_groups.new(name="Top")
    box.sinew.pin_group = "Top"
    bpy.ops.sinew.add_ground()
    assert roles.colliders(scene)[0].location.z == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize(("vertices", "faces", "level"), [(8, 6, 3), (500, 498, 1), (4, 1, 5), (60, 58, 2)])
def test_simple_subdivision_makes_vertices_enough(vertices: int, faces: int, level: int) -> None:
    assert coarse_mesh_subdivision.subdivision_level(vertices, faces) == level


def test_subdivide_goes_above_sinew_alike_in_the_viewport_and_the_render() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.sinew.make_body()
    bpy.ops.sinew.subdivide()
    assert [m.type for m in cube.modifiers] == ["SUBSURF", "MESH_CACHE"]
    modifier = cube.modifiers[0]
    assert modifier.subdivision_type == "SIMPLE" and modifier.levels == modifier.render_levels == 3


def test_the_selection_of_edit_mode_becomes_the_pin_group() -> None:
    fresh()
    box = add_box()
    bpy.ops.sinew.make_body()
    for vertex in box.data.vertices:
        vertex.select = vertex.co.z > 0.4
    bpy.ops.sinew.pin_selected()
    group = box.vertex_groups[box.sinew.pin_group]
    held = [v.index for v in box.data.vertices if any(g.group == group.index and g.weight == 1.0 for g in v.groups)]
    assert held == [v.index for v in box.data.vertices if v.co.z > 0.4] and held


def test_undo_takes_a_body_back() -> None:
    fresh()
    box = add_box("Undone")
    bpy.ops.ed.undo_push(message="a box")
    bpy.ops.sinew.make_body()
    bpy.ops.ed.undo_push(message="Make Body")
    bpy.ops.ed.undo()
    box = bpy.data.objects["Undone"]
    assert box.sinew.role == "NONE" and not box.modifiers
    bpy.ops.ed.redo()
    assert bpy.data.objects["Undone"].sinew.role == "BODY"


def test_bake_change_resume_protect_and_delete(tmp_path: Path) -> None:
    """The life of a bake, as the button shows it."""
    scene, box = falling_box()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert status().label == "Simulate"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    folder = tmp_path / "shot.sinew"
    assert cache_paths.cache_folder(scene) == folder
    assert status().baked_label == "Baked to Frame 8" and not status().is_locked
    assert sinew_modifier.find_modifier(box).filepath == "//shot.sinew/play/Box.pc2"
    shown = evaluated(box, 8)
    samples = CacheReader(folder).read_samples("Box", 7)[0]
    assert np.abs(shown - samples).max() < 1e-6
    fallen = 9.81 / 2 * (7 / 24) ** 2
    assert shown[:, 2].mean() == pytest.approx(-fallen, rel=0.2)

    scene.frame_end = 12
    assert status().label == "Resume from Frame 9"
    assert bpy.ops.sinew.simulate(resume=True) == {"FINISHED"}
    assert status().baked_label == "Baked to Frame 12"

    box.sinew.density = 500.0
    assert status().label == "Out of Date: Simulate Again"
    assert (evaluated(box, 8) == shown).all(), "it still plays"
    scene.sinew.protect = True
    assert status().is_locked
    with pytest.raises(RuntimeError, match="is locked"):
        bpy.ops.sinew.simulate()
    with pytest.raises(RuntimeError, match="is locked"):
        bpy.ops.sinew.delete_bake()
    assert CacheReader(folder).last_frame() == 12
    assert "is locked" in last_failure.failure_text(scene)
    scene.sinew.protect = False

    (folder / "notes.txt").write_text("mine")
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert sinew_modifier.find_modifier(box).filepath == ""
    assert status().label == "Simulate" and last_failure.failure_text(scene) == ""


def test_cancel_keeps_frames_and_the_playhead_is_free(tmp_path: Path) -> None:
    scene, box = falling_box(frames=2000)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "long.blend"))
    bake = bake_control.start(scene)
    until(lambda: (bake.driver.job.frame or 0) >= 3)
    assert sinew_modifier.find_modifier(box).filepath.endswith("Box.pc2"), "frames play while later ones bake"
    assert evaluated(box, 3)[:, 2].mean() < -0.01
    assert status().label.startswith("Baking") and status().is_running
    with pytest.raises(RuntimeError, match="is baking"):
        bpy.ops.sinew.simulate()
    begun = time.monotonic()
    bpy.ops.sinew.cancel()
    until(lambda: session.bake is None)
    assert time.monotonic() - begun < 5.0  # 0.9 s, but the machine may be busy
    kept = CacheReader(tmp_path / "long.sinew").last_frame()
    assert kept >= 3 and status().label == f"Resume from Frame {kept + 1}"
    assert scene.frame_current == 3


def test_undo_and_deletion_during_a_bake_change_nothing_of_it(tmp_path: Path) -> None:
    scene, box = falling_box(frames=2000)
    bpy.ops.object.duplicate()
    other = bpy.context.object
    other.location.x = 5.0
    other.data = other.data.copy()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "undo.blend"))
    bpy.ops.ed.undo_push(message="before")
    box.location.y = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bake = bake_control.start(scene)
    pid = child_pid(bake)
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    bpy.ops.ed.undo()
    scene, box = bpy.context.scene, bpy.data.objects["Box"]
    assert box.location.y == 0.0 and session.is_baking(scene)
    assert sinew_modifier.find_modifier(box).filepath.endswith("Box.pc2"), "an undo does not detach what is baked"
    bpy.data.objects.remove(bpy.data.objects["Box.001"])
    frame = bake.driver.job.frame
    until(lambda: bake.driver.job.frame > frame + 2)
    bpy.ops.ed.redo()
    assert session.is_baking(bpy.context.scene)
    session.cancel()
    until(lambda: session.bake is None)
    assert not is_alive(pid)


def test_rendering_what_is_not_baked_warns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "r.blend"))
    assert "not baked" in handlers.missing_bake_text(scene, 1)
    bpy.ops.sinew.simulate()
    assert handlers.missing_bake_text(scene, 3) == ""
    assert "up to frame 3 only" in handlers.missing_bake_text(scene, 4)
    handlers.render_pre(scene)
    assert last_failure.failure_text(scene) == ""
    scene.frame_set(9)
    handlers.render_pre(scene)
    assert "up to frame 3 only" in last_failure.failure_text(scene)
    handlers.render_init(scene)
    assert "out of date" not in capfd.readouterr().err
    box.sinew.density = 7.0
    bake_status.invalidate()
    handlers.render_init(scene)
    assert "out of date" in capfd.readouterr().err


def test_resume_from_an_earlier_frame_with_changed_settings(tmp_path: Path) -> None:
    scene, box = falling_box(frames=25)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "early.blend"))
    bpy.ops.sinew.simulate()
    folder = tmp_path / "early.sinew"
    before = CacheReader(folder).read_samples("Box", 0, 25)
    assert bake_status.earlier_resume_frame(scene) is None
    scene.frame_set(24)
    earlier = bake_status.earlier_resume_frame(scene)
    assert earlier is not None and 1 <= earlier < 25
    box.sinew.mass_damping = 5.0
    assert bpy.ops.sinew.simulate(resume=True, from_frame=earlier) == {"FINISHED"}
    after = CacheReader(folder).read_samples("Box", 0, 25)
    kept = earlier  # frame 1 is sample 0
    assert (after[:kept] == before[:kept]).all() and (after[kept:] != before[kept:]).any()
    assert after[-1, :, 2].mean() > before[-1, :, 2].mean(), "drag slows the fall"
    assert status().baked_label == "Baked to Frame 25"


def test_a_solver_killed_from_outside_is_told_and_can_be_resumed(tmp_path: Path) -> None:
    scene, box = falling_box(frames=400, divisions=8)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "killed.blend"))
    bake = bake_control.start(scene)
    pid = child_pid(bake)
    until(lambda: (bake.driver.job.frame or 0) >= 5)
    # on Windows SIGTERM kills, and the signal's number becomes the exit code
    killed, words = (
        (signal.SIGTERM, "exit code 15") if sys.platform == "win32" else (signal.SIGKILL, "signal 9 (killed)")
    )
    os.kill(pid, killed)
    until(lambda: session.bake is None)
    last = CacheReader(tmp_path / "killed.sinew").last_frame()
    assert last is not None and 5 <= last < 400
    lines = " ".join(panel_lines(box))
    assert "The solver crashed after frame" in lines and words in lines
    resume_frame = CacheReader(tmp_path / "killed.sinew").resume_frame()
    assert status().label == f"Resume from Frame {resume_frame + 1}" and status().label in lines
    scene.frame_end = last + 2
    assert bpy.ops.sinew.simulate(resume=True) == {"FINISHED"}
    assert status().baked_label == f"Baked to Frame {last + 2}" and "crashed" not in " ".join(panel_lines(box))


def test_steps_that_did_not_converge_stay_in_the_panel(tmp_path: Path) -> None:
    """While it bakes, after it, and when the file is opened again: a popup alone is gone in a moment."""
    scene, box = falling_box(frames=4)
    group = box.vertex_groups.new(name="Top")
    group.add([v.index for v in box.data.vertices if v.co.z > 0.5], 1.0, "REPLACE")
    box.sinew.pin_group = "Top"
    scene.sinew.max_iterations, scene.sinew.tolerance = 1, 1e-9
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hard.blend"))
    bake = bake_control.start(scene)
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    assert "less exact than the Tolerance" in " ".join(panel_lines(box))
    until(lambda: session.bake is None)
    count = CacheReader(tmp_path / "hard.sinew").convergence().not_converged
    assert count > 4 and f"{count} steps are less exact than the Tolerance" in " ".join(panel_lines(box))
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hard.blend"))
    box = bpy.data.objects["Box"]
    assert f"{count} steps are less exact than the Tolerance" in " ".join(panel_lines(box))
    scene = bpy.context.scene
    scene.sinew.max_iterations, scene.sinew.tolerance = 400, 1e-4
    bpy.ops.sinew.simulate()
    lines = " ".join(panel_lines(box, main_layout.draw_main, bake_layout.draw_solver))
    assert "than the Tolerance" not in lines and "Largest residual" in lines


def test_a_cache_that_another_blender_writes_is_left_alone(tmp_path: Path) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "busy.blend"))
    bpy.ops.sinew.simulate()
    before = CacheReader(tmp_path / "busy.sinew").read_samples("Box", 0, 3)
    code = (
        "import sys, time; from pathlib import Path; from sinew.solver.bake.cache import CacheWriter\n"
        "w = CacheWriter(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "busy.sinew")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        assert status().busy_elsewhere and "Baking in Another Blender …" in panel_lines(box)
        with pytest.raises(RuntimeError, match="Another Sinew is baking"):
            bpy.ops.sinew.simulate()
        with pytest.raises(RuntimeError, match="Another Sinew is baking"):
            bpy.ops.sinew.delete_bake()
    finally:
        other.kill()
        other.wait()
    assert (CacheReader(tmp_path / "busy.sinew").read_samples("Box", 0, 3) == before).all()
    assert status().baked_label == "Baked to Frame 3"


def test_escape_stops_a_bake_and_everything_else_passes_through(tmp_path: Path) -> None:
    falling_box(frames=4000)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "esc.blend"))
    bake = bake_control.start(bpy.context.scene)
    operator = SimpleNamespace(_bake=bake, _timer=None)

    def press(key: str, value: str = "PRESS") -> set[str]:
        return SINEW_OT_simulate.modal(operator, bpy.context, SimpleNamespace(type=key, value=value))

    until(lambda: (bake.driver.job.frame or 0) >= 3)
    with pytest.raises(RuntimeError, match="is baking"):
        bpy.ops.sinew.convert_to_shape_keys()  # it would have the frames up to now
    assert press("SPACE") == press("TIMER", "NOTHING") == press("ESC", "RELEASE") == {"PASS_THROUGH"}
    assert bake.driver.job.phase == "baking"
    begun = time.monotonic()
    assert press("ESC") == {"RUNNING_MODAL"}
    until(lambda: session.bake is None)
    assert time.monotonic() - begun < 5.0 and bake.driver.job.phase == "cancelled"
    assert CacheReader(tmp_path / "esc.sinew").last_frame() >= 3
    assert status().label.startswith("Resume from Frame")


def test_a_cache_folder_that_never_was_is_told_as_that(tmp_path: Path) -> None:
    scene, _ = falling_box(frames=2)
    (tmp_path / "file").write_text("")
    places = {str(tmp_path / "file" / "cache"): ("folder-is-file", "needs a folder")}
    places |= {"/proc/x": ("folder-not-made", "cannot create the folder")} if sys.platform == "linux" else {}
    for place, (kind, words) in places.items():
        scene.sinew.cache_path = place
        bake = bake_control.start(scene)
        bake_control.wait()
        assert bake.driver.job.error["kind"] == kind
        assert words in last_failure.failure_text(scene) and "Choose another folder" in last_failure.failure_text(scene)


def test_how_a_bake_is_asked_for_reaches_the_child() -> None:
    words = bake_request.child_arguments(Path("c"), bake_control.BakeRequest(True, 7, True, threads=3, strict=True))
    assert words == [
        "simulate", "c", "--child", "--json", "--resume", "--accept-changes", "--from-frame", "7", "--strict",
        "--threads", "3",
    ]  # fmt: skip


def test_a_bake_that_cannot_be_read_is_told_and_can_be_locked(tmp_path: Path) -> None:
    """Of a later version, say: the panel must not look as if nothing were there."""
    scene, box = falling_box(frames=2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "later.blend"))
    bpy.ops.sinew.simulate()
    head, its_copy = tmp_path / "later.sinew" / "cache.json", tmp_path / "later.sinew" / "model" / "cache.json"
    for written, words in (('{"format": 99}', "has format 99, but this Sinew reads"), ("no", "cannot read")):
        head.write_text(written)
        its_copy.write_text(written)
        assert words in " ".join(panel_lines(box))
    assert "Delete Bake" in panel_lines(box)
    scene.sinew.protect = True
    with pytest.raises(RuntimeError, match="is locked"):
        bpy.ops.sinew.simulate()
    assert head.read_text() == "no"
    scene.sinew.protect = False
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and "cannot read" not in " ".join(panel_lines(box))


def test_an_error_of_our_own_is_told_and_leaves_nothing_stuck(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scene, _ = falling_box(frames=2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "e.blend"))
    monkeypatch.setattr(bake_control.export_scene, "export_scene", lambda *_, **__: iter([1.0 / 0.0]))
    with pytest.raises(RuntimeError, match="internal error: ZeroDivisionError"):
        bpy.ops.sinew.simulate()
    assert session.bake is None and "ZeroDivisionError" in last_failure.failure_text(scene)
    monkeypatch.undo()
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and last_failure.failure_text(scene) == ""


def test_convert_to_shape_keys_from_the_panel(tmp_path: Path) -> None:
    scene, box = falling_box(frames=4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "k.blend"))
    bpy.ops.sinew.simulate()
    assert bake_status.shape_key_bytes(scene, box) == shape_keys.shape_key_bytes(len(box.data.vertices), 4)
    wanted = evaluated(box, 4)
    assert bpy.ops.sinew.convert_to_shape_keys() == {"FINISHED"}
    copy = bpy.context.object
    assert copy != box and len(copy.data.shape_keys.key_blocks) >= 4
    assert np.abs(evaluated(copy, 4) - wanted).max() < 1e-5
    assert box.hide_viewport and box.hide_render and not copy.hide_viewport, "two in one place"
