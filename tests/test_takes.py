# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: one is kept, another begins; they are listed, played, compared by ghosts, and deleted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh, write_cache
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import bake_status
from sinew.addon.cache import cache_folder_status, cache_paths, takes
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles, take_ghosts
from sinew.addon.panels import bake_layout


@pytest.fixture
def box(tmp_path: Path) -> bpy.types.Object:
    """Returns a body of which two takes are baked: under gravity, and "Take 2" without, which plays."""
    scene = fresh()
    scene.frame_end = 4
    obj = add_box("Box", 2)
    roles.make_body(obj)
    obj.sinew.divisions = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.sinew.simulate()
    obj["fallen"] = float(evaluated(obj, 4)[0][:, 2].mean())
    assert bpy.ops.sinew.new_take() == {"FINISHED"}
    assert scene.sinew.take == "Take 2" and bake_status.status(scene).phase == "none"
    scene.use_gravity = False
    bpy.ops.sinew.simulate()
    return obj


def height(obj: bpy.types.Object, frame: int = 4) -> float:
    return float(evaluated(obj, frame)[0][:, 2].mean())


def names() -> list[str]:
    cache_folder_status.invalidate()
    return [take.name for take in takes.takes(bpy.context.scene)]


@pytest.mark.slow
def test_a_new_take_keeps_the_bake_and_both_can_be_played(box: bpy.types.Object, tmp_path: Path) -> None:
    assert names() == ["", "Take 2"] and height(box) == pytest.approx(0.0, abs=1e-6)
    assert {path.name for path in tmp_path.glob("*.sinew")} == {"shot.sinew", "shot-Take 2.sinew"}
    assert bpy.ops.sinew.play_take(take="") == {"FINISHED"}
    assert height(box) == pytest.approx(box["fallen"]) and box["fallen"] < -0.01
    assert bake_status.status(bpy.context.scene).label == "Out of Date: Simulate Again", "gravity is off now"
    bpy.ops.sinew.play_take(take="Take 2")
    assert bake_status.status(bpy.context.scene).label == "Simulate Again"
    with pytest.raises(RuntimeError, match='no take "Take 7"'):
        bpy.ops.sinew.play_take(take="Take 7")


@pytest.mark.slow
def test_a_ghost_plays_the_other_take_beside(box: bpy.types.Object) -> None:
    scene = bpy.context.scene
    box.location.x = 5.0
    assert bpy.ops.sinew.compare_take(take="") == {"FINISHED"}
    (ghost,) = take_ghosts.ghosts(scene)
    assert height(ghost) == pytest.approx(box["fallen"]) and height(box) == pytest.approx(0.0, abs=1e-6)
    assert np.allclose(ghost.matrix_world, box.matrix_world) and ghost.matrix_world.translation.x == 5.0
    assert ghost.hide_render and ghost.display_type == "WIRE" and ghost not in roles.bodies(scene)
    assert take_ghosts.shown_takes(scene) == {""}
    bpy.ops.sinew.compare_take(take="")
    assert not take_ghosts.ghosts(scene) and take_ghosts.COLLECTION_NAME not in bpy.data.collections


@pytest.mark.slow
def test_what_has_other_vertices_now_is_not_compared(box: bpy.types.Object) -> None:
    other = add_box("Other", 3)
    box.data = other.data
    bpy.data.objects.remove(other)
    bpy.ops.sinew.simulate()
    with pytest.raises(RuntimeError, match="other vertices"):
        bpy.ops.sinew.compare_take(take="")
    assert not take_ghosts.ghosts(bpy.context.scene)


@pytest.mark.slow
def test_a_take_is_deleted_with_its_ghosts(box: bpy.types.Object, tmp_path: Path) -> None:
    bpy.ops.sinew.compare_take(take="")
    bpy.ops.sinew.delete_take(take="")
    assert names() == ["Take 2"] and not (tmp_path / "shot.sinew").exists()
    assert not take_ghosts.ghosts(bpy.context.scene) and height(box) == pytest.approx(0.0, abs=1e-6)
    bpy.ops.sinew.delete_take(take="Take 2")
    assert names() == [] and bake_status.status(bpy.context.scene).phase == "none"


@pytest.mark.slow
def test_the_panel_lists_them(box: bpy.types.Object) -> None:
    cache_folder_status.invalidate()
    layout = FakeLayout()
    bake_layout.draw_cache(layout, bpy.context)  # type: ignore[arg-type]
    words = " ".join(layout.lines)
    assert "First Take, to Frame 4" in words and "Take 2, to Frame 4" in words
    played = [button.take for name, button in layout.buttons if name == "sinew.play_take"]
    assert played == ["", "Take 2"]


@pytest.mark.slow
def test_a_chosen_folder_has_no_takes(box: bpy.types.Object, tmp_path: Path) -> None:
    bpy.context.scene.sinew.cache_path = str(tmp_path / "mine.sinew")
    assert names() == [] and not bpy.ops.sinew.new_take.poll()


@pytest.mark.slow
def test_caches_of_other_scenes_are_no_takes(box: bpy.types.Object) -> None:
    other = bpy.data.scenes.new("Second")
    folder = cache_paths.default_folder(other, bpy.data.filepath, other.name)
    bpy.context.scene.sinew.take = ""
    (folder.parent / "shot.sinew").rename(folder)
    assert names() == ["Take 2"]


@pytest.mark.slow
def test_caches_of_other_files_are_no_takes(box: bpy.types.Object, tmp_path: Path) -> None:
    (tmp_path / "shot-Take 2.blend").write_bytes(b"")
    bpy.context.scene.sinew.take = ""
    assert names() == [""], "nor can they be deleted here"
    with pytest.raises(RuntimeError, match='no take "Take 2"'):
        bpy.ops.sinew.delete_take(take="Take 2")


@pytest.mark.slow
def test_a_lock_outlasts_a_change_of_takes(box: bpy.types.Object) -> None:
    scene = bpy.context.scene
    scene.sinew.protect = True
    bpy.ops.sinew.play_take(take="")
    assert scene.sinew.protect
    with pytest.raises(RuntimeError, match="is locked"):
        bpy.ops.sinew.delete_take(take="Take 2")
    assert names() == ["", "Take 2"]


@pytest.mark.slow
def test_all_takes_move_beside_the_file_at_its_first_save(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 3
    obj = add_box("Box", 2)
    roles.make_body(obj)
    obj.sinew.divisions = 2
    bpy.ops.sinew.simulate()
    bpy.ops.sinew.new_take()
    bpy.ops.sinew.simulate()
    bpy.ops.sinew.compare_take(take="")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert names() == ["", "Take 2"]
    assert {path.name for path in tmp_path.glob("*.sinew")} == {"shot.sinew", "shot-Take 2.sinew"}
    (ghost,) = take_ghosts.ghosts(scene)
    assert ghost.modifiers[0].filepath == "//shot.sinew/play/Box.pc2"


def unsaved_bake(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """Returns a body of a scene of an unsaved file, and writes it a bake that plays."""
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], [(0, 1, 2)])
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    roles.make_body(obj)
    add_unsaved_take(scene, name)
    return obj


def add_unsaved_take(scene: bpy.types.Scene, key: str, take: str = "") -> None:
    scene.sinew.take = take
    folder = cache_paths.own_folder(scene)
    write_cache(folder, {key: np.zeros((3, 3, 3))})
    cache_paths.remember_bake(scene, folder)
    cache_folder_status.invalidate()


def test_two_scenes_keep_the_names_of_their_folders_at_the_first_save(tmp_path: Path) -> None:
    scene, other = fresh(), bpy.data.scenes.new("Second")
    for each, name in ((scene, "Box"), (other, "Ball")):
        unsaved_bake(each, name)
        add_unsaved_take(each, name, "Take 2")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert {path.name for path in tmp_path.glob("*.sinew")} == {
        "shot.sinew",
        "shot-Take 2.sinew",
        "shot-Second.sinew",
        "shot-Second-Take 2.sinew",
    }
    for each in (scene, other):
        assert [take.name for take in takes.takes(each)] == ["", "Take 2"]


def test_the_written_file_says_where_ghosts_find_their_take(tmp_path: Path) -> None:
    scene = fresh()
    unsaved_bake(scene, "Box")
    add_unsaved_take(scene, "Box", "Take 2")
    assert bpy.ops.sinew.compare_take(take="") == {"FINISHED"}
    there = take_ghosts.ghosts(scene)[0].modifiers[0].filepath
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    assert take_ghosts.ghosts(scene)[0].modifiers[0].filepath == there and Path(there).exists()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    (ghost,) = take_ghosts.ghosts(bpy.context.scene)
    assert ghost.modifiers[0].filepath == "//shot.sinew/play/Box.pc2"


@pytest.mark.slow
def test_another_scene_neither_plays_nor_replaces_a_kept_take(box: bpy.types.Object, tmp_path: Path) -> None:
    scene, other = bpy.context.scene, bpy.data.scenes.new("Second")
    other.frame_end = 3
    copy = bpy.data.objects.new("Other", box.data.copy())
    other.collection.objects.link(copy)
    roles.make_body(copy)
    copy.sinew.divisions = 2
    kept = (tmp_path / "shot.sinew" / "play" / "Box.pc2").read_bytes()
    assert takes.takes(other) == [] and bake_status.status(other).phase == "none"
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        bpy.ops.sinew.simulate()
        bpy.ops.sinew.new_take()
        bpy.ops.sinew.simulate()
    cache_folder_status.invalidate()
    assert [(t.name, t.folder.name) for t in takes.takes(other)] == [
        ("", "shot-Second.sinew"),
        ("Take 2", "shot-Second-Take 2.sinew"),
    ]
    assert [(t.name, t.folder.name) for t in takes.takes(scene)] == [
        ("", "shot.sinew"),
        ("Take 2", "shot-Take 2.sinew"),
    ]
    assert (tmp_path / "shot.sinew" / "play" / "Box.pc2").read_bytes() == kept


@pytest.mark.slow
def test_a_ghost_has_no_force_field_and_a_collection_of_its_scene(box: bpy.types.Object) -> None:
    scene, other = bpy.context.scene, bpy.data.scenes.new("Second")
    elsewhere = bpy.data.collections.new(take_ghosts.COLLECTION_NAME)
    other.collection.children.link(elsewhere)
    with bpy.context.temp_override(object=box, active_object=box):
        bpy.ops.object.forcefield_toggle()
    before = settings_digest(scene)
    bpy.ops.sinew.compare_take(take="")
    (ghost,) = take_ghosts.ghosts(scene)
    assert settings_digest(scene) == before and box.field.type == "FORCE" and ghost.field.type == "NONE"
    assert not elsewhere.all_objects and not take_ghosts.ghosts(other)
    bpy.ops.sinew.compare_take(take="")
    assert list(other.collection.children) == [elsewhere], "only those of this scene are removed"


@pytest.mark.slow
def test_a_new_take_after_save_as_says_where_the_bake_of_before_stays(
    box: bpy.types.Object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "later.blend"))
    bpy.ops.sinew.new_take()
    assert 'stays with the file that made it, in "shot-Take 2.sinew"' in capfd.readouterr().out
    assert names() == []


@pytest.mark.slow
def test_the_take_that_plays_is_listed_once_whatever_its_folder_is_called(
    box: bpy.types.Object, tmp_path: Path
) -> None:
    moved = (tmp_path / "shot-Take 2.sinew").rename(tmp_path / "shot-Take 2-2.sinew")
    cache_paths.remember_bake(bpy.context.scene, moved)
    assert names() == ["", "Take 2"]
