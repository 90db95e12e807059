# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes and files: the first save, copies, takes, links, other drives, and files that moved."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh, link_object, overridden_box
from fixtures.operator_scenes import child_pid, evaluated, falling_box, is_alive, panel_lines, status, until
from sinew.addon import handlers
from sinew.addon.baking import bake_control, bake_status, move_caches_on_save
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.cache import cache_paths
from sinew.solver.bake.cache import CacheReader

pytestmark = pytest.mark.slow


def test_loading_a_file_ends_the_bake_and_leaves_no_process(tmp_path: Path) -> None:
    scene, _ = falling_box(frames=2000)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    bake = bake_control.start(scene)
    pid = child_pid(bake)
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert session.bake is None and not is_alive(pid)
    assert not bake_status.status(bpy.context.scene).is_running
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "one.blend"))
    found = status()
    assert found.phase == "partial" and found.label.startswith("Resume from Frame")


def test_a_bake_of_an_unsaved_file_moves_along_at_the_first_save(tmp_path: Path) -> None:
    scene, box = falling_box(frames=4)
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    before = cache_paths.cache_folder(scene)
    assert CacheReader(before).last_frame() == 4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert not before.exists() and CacheReader(tmp_path / "saved.sinew").last_frame() == 4
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert sinew_modifier.find_modifier(bpy.data.objects["Box"]).filepath == "//saved.sinew/play/Box.pc2"
    assert status().baked_label == "Baked to Frame 4"

    # Save As elsewhere: plays the old bake, which stays; the next one goes beside the new file
    (tmp_path / "new").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new" / "v2.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new" / "v2.blend"))
    scene, box = bpy.context.scene, bpy.data.objects["Box"]
    assert cache_paths.cache_folder(scene) == tmp_path / "saved.sinew" and status().baked_label == "Baked to Frame 4"
    assert evaluated(box, 4)[:, 2].mean() < -0.01
    assert cache_paths.own_folder(scene) == tmp_path / "new" / "v2.sinew"
    bpy.ops.sinew.delete_bake()
    assert CacheReader(tmp_path / "saved.sinew").last_frame() == 4, "it belongs to the other file"
    assert status().label == "Simulate"

    # the .blend and its folder moved together
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "saved.blend").rename(moved / "renamed.blend")
    (tmp_path / "saved.sinew").rename(moved / "saved.sinew")
    bpy.ops.wm.open_mainfile(filepath=str(moved / "renamed.blend"))
    assert status().baked_label == "Baked to Frame 4"
    assert evaluated(bpy.data.objects["Box"], 4)[:, 2].mean() < -0.01


def test_a_bake_that_cannot_be_moved_at_the_first_save_is_told_and_moved_at_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.sinew.simulate()
    before = cache_paths.cache_folder(scene)
    shapes = evaluated(box, 3)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def copy_half(_: Path, target: Path) -> None:
        target.mkdir()
        (target / "cache.json").write_text("half")
        refuse()

    monkeypatch.setattr(move_caches_on_save.os, "rename", refuse)
    monkeypatch.setattr(move_caches_on_save.shutil, "copytree", copy_half)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "first.blend"))
    monkeypatch.undo()
    lines = " ".join(panel_lines(box))
    assert f"stays in {before}" in lines and "No space left on device" in lines
    assert not (tmp_path / "first.sinew").exists() and CacheReader(before).last_frame() == 3
    assert (evaluated(box, 3) == shapes).all() and status().baked_label == "Baked to Frame 3"
    bpy.ops.wm.save_mainfile()
    assert CacheReader(tmp_path / "first.sinew").last_frame() == 3 and not before.exists()
    assert "could not move" not in " ".join(panel_lines(box))
    assert (evaluated(box, 3) == shapes).all() and sinew_modifier.find_modifier(
        box
    ).filepath == "//first.sinew/play/Box.pc2"


def test_a_bake_is_moved_to_another_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.sinew.simulate()
    before = cache_paths.cache_folder(scene)

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(move_caches_on_save.os, "rename", refuse)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    assert CacheReader(tmp_path / "other.sinew").integrity_problems() == [] and not before.exists()
    assert "could not move" not in " ".join(panel_lines(box))


def test_resuming_after_save_as_goes_on_in_a_copy(tmp_path: Path) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v1.blend"))
    bpy.ops.sinew.simulate()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v2.blend"))
    scene.frame_end = 5
    assert status().label == "Resume from Frame 4"
    assert bpy.ops.sinew.simulate(resume=True) == {"FINISHED"}
    assert CacheReader(tmp_path / "v1.sinew").last_frame() == 3
    assert CacheReader(tmp_path / "v2.sinew").last_frame() == 5
    assert sinew_modifier.find_modifier(box).filepath == "//v2.sinew/play/Box.pc2" and not cache_paths.is_borrowed(
        scene
    )


def test_the_next_unsaved_file_does_not_see_the_bake_of_the_last() -> None:
    scene, _ = falling_box(frames=2)
    bpy.ops.sinew.simulate()
    before = cache_paths.cache_folder(scene)
    assert status().baked_label == "Baked to Frame 2"
    scene, _ = falling_box(frames=2)
    assert status().label == "Simulate" and cache_paths.own_folder(scene) != before
    assert CacheReader(before).last_frame() == 2


def test_a_copy_saved_elsewhere_changes_nothing_here(tmp_path: Path) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.sinew.simulate()
    (tmp_path / "sub").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "sub" / "copy.blend"), copy=True)
    assert cache_paths.own_folder(scene) == tmp_path / "a.sinew" and not cache_paths.is_borrowed(scene)
    assert sinew_modifier.find_modifier(box).filepath == "//a.sinew/play/Box.pc2"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "sub" / "copy.blend"))
    assert cache_paths.cache_folder(bpy.context.scene) == tmp_path / "a.sinew"


def test_takes_have_caches_of_their_own(tmp_path: Path) -> None:
    scene, box = falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "t.blend"))
    bpy.ops.sinew.simulate()
    scene.sinew.take = "soft"
    assert status().label == "Simulate" and sinew_modifier.find_modifier(box).filepath == ""
    box.sinew.preset = "JELLY"
    bpy.ops.sinew.simulate()
    assert (tmp_path / "t-soft.sinew" / "cache.json").exists()
    scene.sinew.take = ""
    assert sinew_modifier.find_modifier(box).filepath == "//t.sinew/play/Box.pc2"
    assert status().label == "Out of Date: Simulate Again"
    box.sinew.preset = "JELLY_BY_SIZE"
    assert status().baked_label == "Baked to Frame 3"


@pytest.mark.parametrize("stored", ["D:\\\\shots\\\\good one.sinew", "/Users/ann/shots/good one.sinew"])
def test_a_cache_is_found_again_beside_the_file_that_moved_with_it(tmp_path: Path, stored: str) -> None:
    """Baked into a folder of a name of its own, on another operating system, then carried here."""
    scene, box = falling_box(frames=3)
    (tmp_path / "there").mkdir()
    scene.sinew.cache_path = str(tmp_path / "there" / "good one.sinew")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "there" / "shot.blend"))
    bpy.ops.sinew.simulate()
    shapes = evaluated(box, 3)
    with session.rebasing_paths():
        scene.sinew.cache_path = scene.sinew.baked_path = stored
        scene.sinew.baked_for = cache_paths._path_settings(scene)
    sinew_modifier.find_modifier(box).filepath = stored + "/play/Box.pc2"
    bpy.ops.wm.save_mainfile()
    (tmp_path / "there").rename(tmp_path / "here")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "here" / "shot.blend"))
    box = bpy.data.objects["Box"]
    assert cache_paths.cache_folder(bpy.context.scene) == tmp_path / "here" / "good one.sinew"
    assert (evaluated(box, 3) == shapes).all()
    assert sinew_modifier.find_modifier(box).filepath == "//good one.sinew/play/Box.pc2"


def test_saving_during_the_first_bake_moves_the_bake_at_its_end(tmp_path: Path) -> None:
    scene, box = falling_box(frames=12)
    bake = bake_control.start(scene)
    until(lambda: (bake.driver.job.frame or 0) >= 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "late.blend"))
    until(lambda: session.bake is None)
    assert bake.driver.job.phase == "done" and not bake.folder.exists()
    assert CacheReader(tmp_path / "late.sinew").last_frame() == 12
    assert sinew_modifier.find_modifier(box).filepath == "//late.sinew/play/Box.pc2"
    assert status().baked_label == "Baked to Frame 12"


def test_a_linked_character_with_an_override_bakes_and_survives_a_reload(tmp_path: Path) -> None:
    own = overridden_box(tmp_path)
    own.location.z = 3.0
    own.select_set(True)
    bpy.context.view_layer.objects.active = own
    bpy.context.scene.frame_end = 4
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    own.sinew.divisions = 3
    own.sinew.preset = "JELLY"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    own = next(o for o in bpy.context.scene.objects if o.override_library)
    assert own.sinew.role == "BODY" and own.sinew.divisions == 3 and own.sinew.preset == "JELLY"
    assert evaluated(own, 4)[:, 2].mean() < -0.01
    assert status().baked_label == "Baked to Frame 4"
    own.sinew.density = 7.0
    assert status().label == "Out of Date: Simulate Again"


def test_a_linked_body_plays_what_was_baked_in_its_own_file(tmp_path: Path) -> None:
    falling_box(frames=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "prop.blend"))
    bpy.ops.sinew.simulate()
    bpy.ops.wm.save_mainfile()
    fresh()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    link_object(tmp_path / "prop.blend", "Box")
    with pytest.raises(RuntimeError, match='"Box" is linked'):
        bpy.ops.sinew.simulate()
    handlers.undo_post()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    box = bpy.data.objects["Box"]
    assert box.library is not None and evaluated(box, 3)[:, 2].mean() < -0.005
    assert handlers.missing_bake_text(bpy.context.scene, 3) == ""


def test_two_scenes_have_two_caches(tmp_path: Path) -> None:
    first, _ = falling_box(frames=2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "both.blend"))
    bpy.ops.sinew.simulate()
    bpy.ops.scene.new(type="FULL_COPY")
    second = bpy.context.scene
    assert second != first and cache_paths.cache_folder(second) == tmp_path / "both.sinew"
    second.frame_end = 3
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert CacheReader(tmp_path / "both.sinew").last_frame() == 2
    assert CacheReader(cache_paths.cache_folder(second)).last_frame() == 3
    assert cache_paths.cache_folder(first) == tmp_path / "both.sinew"
    assert cache_paths.cache_folder(second).parent == tmp_path
