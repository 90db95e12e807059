# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes: each bakes its own bodies into its own cache and follows the bake of those before it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.fake_layout import FakeLayout
from fixtures.operator_scenes import status, until
from sinew.addon.baking import bake_control, bake_status, frame_report_reader
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.bake_request import BakeRequest
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.cache import cache_folder_status, cache_paths
from sinew.addon.cache.bake_passes import BakePass, body_folder, pass_numbers
from sinew.addon.export import export_scene
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles, take_ghosts
from sinew.addon.panels import passes_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader, delete_bake, is_cache, layout
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader


def two_layers(frames: int = 3) -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object]:
    """Returns a box that falls, in pass 1, and one that springs tie to its top, in pass 2."""
    scene = fresh()
    scene.frame_end = frames
    lower, upper = add_box("Lower"), add_box("Upper")
    upper.location.z = 2.02
    for obj in (lower, upper):
        roles.make_body(obj)
        obj.sinew.divisions, obj.sinew.youngs_modulus = 2, 1.0e6
    upper.sinew.bake_pass = 2
    row = add_row(upper.sinew.attachments)
    row.target, row.kind, row.reach, row.strength = lower, "SPRING", 0.5, 10.0
    bpy.context.view_layer.update()
    return scene, lower, upper


def passes_at(scene: bpy.types.Scene, folder: Path) -> list[BakePass]:
    return [BakePass(number, pass_numbers(scene), folder) for number in pass_numbers(scene)]


def bake_here(scene: bpy.types.Scene, bake_pass: BakePass) -> None:
    """Exports and bakes a pass in this process."""
    for _ in export_scene.export_scene(bpy.context, scene, bake_pass.folder, bake_pass=bake_pass):
        pass
    cache_folder_status.invalidate()
    run_bake(bake_pass.folder, lambda event: None)
    cache_folder_status.invalidate()


def test_a_pass_reads_the_bake_of_the_one_before_as_a_moving_collider(tmp_path: Path) -> None:
    scene, lower, _ = two_layers()
    scene.sinew.preroll = 2
    first, second = passes_at(scene, tmp_path / "c.sinew")
    bake_here(scene, first)
    assert [body.name for body in Scene.load(first.folder / "scene").bodies] == ["Lower"]
    bake_here(scene, second)
    written, tracks = Scene.load(second.folder / "scene"), TrackReader(second.folder / "scene")
    assert [body.name for body in written.bodies] == ["Upper"]
    (ground,) = written.colliders
    (attachment,) = written.bodies[0].attachments
    assert ground.key == attachment.target == "Lower"
    modeled = world(np.array([v.co[:] for v in lower.data.vertices]), np.array(lower.matrix_world))
    assert ground.rest_vertices == pytest.approx(modeled, abs=1e-6)
    # frames as they are played, and the pre-roll before them
    reader, rate = CacheReader(first.folder), scene.render.fps
    for frame in range(1, 4):
        played = reader.read_samples("Lower", frame - 1)[0]
        assert tracks.sample("collider.Lower.vertices", (frame - 1) / rate) == pytest.approx(played, abs=1e-6)
    times, values, _ = tracks.samples_around("collider.Lower.vertices", -1.0, -1.0 / rate)
    assert times[0] == pytest.approx(-2.0 / rate) and len(np.unique(values[:, :, 2].min(axis=1))) == len(times)
    # g t² / 2 from the rest pose on, at implicit Euler's accuracy, and the upper box with it
    fall = modeled[:, 2].mean() - reader.read_samples("Lower", 2)[0][:, 2].mean()
    assert fall == pytest.approx(0.5 * 9.81 * (4.0 / rate) ** 2, rel=0.1)
    top = CacheReader(second.folder).read_samples("Upper", 2)[0][:, 2].mean()
    assert top == pytest.approx(-fall, abs=0.02)


def test_a_single_pass_is_baked_as_ever(tmp_path: Path) -> None:
    scene, lower, upper = two_layers()
    upper.sinew.bake_pass = 1
    (only,) = passes_at(scene, tmp_path / "c.sinew")
    assert only.folder == tmp_path / "c.sinew" and settings_digest(scene, only) == settings_digest(scene)
    for name, chosen in (("a", only), ("b", None)):
        for _ in export_scene.export_scene(bpy.context, scene, tmp_path / name, bake_pass=chosen):
            pass
    files = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "a", tmp_path / "b")
    ]
    assert files[0] == files[1]
    # bodies of one pass alone have the folder of the bake, whatever its number
    lower.sinew.bake_pass = upper.sinew.bake_pass = 3
    assert body_folder(scene, lower, tmp_path) == tmp_path


def test_what_a_pass_cannot_follow_is_told(tmp_path: Path) -> None:
    scene, lower, upper = two_layers()
    first, second = passes_at(scene, tmp_path / "c.sinew")

    def refused(bake_pass: BakePass) -> BadInput:
        with pytest.raises(BadInput) as refusal:
            for _ in export_scene.export_scene(bpy.context, scene, bake_pass.folder, bake_pass=bake_pass):
                pass
        return refusal.value

    assert refused(second).kind == "pass-not-baked"
    lower.sinew.bake_pass = 3
    problem = refused(BakePass(2, (2, 3), tmp_path / "c.sinew"))
    assert problem.kind == "pass-follows-later" and '"Upper"' in problem.sentence and '"Lower"' in problem.sentence
    lower.sinew.bake_pass = 1
    with pytest.raises(BadInput) as refusal:
        bake_control.start(scene, BakeRequest(bake_pass=7, folder=tmp_path / "c.sinew"))
    assert refusal.value.kind == "no-such-pass"
    bake_here(scene, first)
    scene.frame_end = 5
    assert refused(second).kind == "pass-not-baked" and "frame 3" in refused(second).sentence
    scene.frame_end, scene.sinew.preroll = 3, 2
    assert refused(second).kind == "pass-other-times"


def test_the_digest_of_a_pass_follows_its_bodies_and_the_bakes_before(tmp_path: Path) -> None:
    scene, lower, upper = two_layers()
    first, second = passes_at(scene, tmp_path / "c.sinew")
    before = [settings_digest(scene, each) for each in (first, second)]
    upper.sinew.density = 500.0
    assert settings_digest(scene, first) == before[0] and settings_digest(scene, second) != before[1]
    upper.sinew.property_unset("density")
    lower.sinew.density = 500.0
    assert settings_digest(scene, first) != before[0] and settings_digest(scene, second) == before[1]
    bake_here(scene, first)
    assert settings_digest(scene, second) != before[1]
    # the pre-roll is only written for a later pass
    scene.sinew.preroll = 2
    with_later = settings_digest(scene, first)
    assert with_later != settings_digest(scene, BakePass(1, (1,), first.bake))


def test_caches_of_passes_are_deleted_with_the_bake_and_alone(tmp_path: Path) -> None:
    scene, *_ = two_layers(frames=1)
    first, second = passes_at(scene, tmp_path / "c.sinew")
    bake_here(scene, first)
    bake_here(scene, second)
    (second.folder / "mine.txt").write_text("stays")
    bake_here(scene, first)
    assert is_cache(second.folder), "a pass that is baked anew leaves those after it"
    assert layout.pass_paths(first.bake) == [second.folder]
    assert delete_bake(first.bake) == [second.folder / "mine.txt"]
    assert [path.name for path in first.bake.rglob("*") if path.is_file()] == ["mine.txt"]


def test_a_bake_whose_first_pass_was_deleted_stays_with_its_file(tmp_path: Path) -> None:
    scene, *_ = two_layers(frames=1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    first, second = passes_at(scene, tmp_path / "layers.sinew")
    for each in (first, second):
        bake_here(scene, each)
    cache_paths.remember_bake(scene, first.bake)
    bake_control.delete(scene, number=1)
    assert not is_cache(first.folder) and is_cache(second.folder)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    assert cache_paths.cache_folder(bpy.context.scene) == first.bake, "the copy plays pass 2"
    assert delete_bake(first.bake) == [] and not first.bake.exists()


def test_bodies_that_changed_their_pass_are_not_followed_as_they_were_baked(tmp_path: Path) -> None:
    scene, lower, _ = two_layers(frames=1)
    other = add_box("Other")
    roles.make_body(other)
    other.location.x, other.sinew.divisions = 9.0, 2
    first, second = passes_at(scene, tmp_path / "c.sinew")
    bake_here(scene, first)
    other.sinew.bake_pass = 2

    def colliders() -> list[str]:
        for _ in export_scene.export_scene(bpy.context, scene, second.folder, bake_pass=second):
            pass
        return [each.key for each in Scene.load(second.folder / "scene").colliders]

    assert colliders() == ["Lower"], "its own former bake would be in its way"
    bake_here(scene, first)
    other.sinew.bake_pass = 1
    with pytest.raises(BadInput) as refusal:
        colliders()
    assert refusal.value.kind == "pass-without-body" and '"Other"' in refusal.value.sentence
    bpy.data.objects.remove(other)
    assert colliders() == ["Lower"]


def test_takes_are_compared_in_all_passes_and_without_solved_frames(tmp_path: Path) -> None:
    scene, lower, upper = two_layers(frames=1)
    lower.modifiers.new(sinew_modifier.SOLVED_MODIFIER_NAME, "MESH_CACHE")
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    for each in passes_at(scene, tmp_path / "c.sinew"):
        bake_here(scene, each)
    shown = take_ghosts.show(scene, "Take 2", tmp_path / "c.sinew")
    assert [each.parent for each in shown] == [lower, upper]
    assert [[m.name for m in each.modifiers if m.type == "MESH_CACHE"] for each in shown] == [
        [take_ghosts.MODIFIER_NAME]
    ] * 2


def test_meshes_that_broke_in_a_later_pass_are_cut_in_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, *_ = two_layers(frames=1)
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    first, second = passes_at(scene, tmp_path / "c.sinew")
    for each in (first, second):
        bake_here(scene, each)
    monkeypatch.setattr(frame_report_reader, "lacks_final_mesh", lambda folder: folder == second.folder)
    bake = bake_control.start(scene, BakeRequest(only_cuts=True))
    session.cancel()
    bake_control.wait()
    assert (bake.folder, bake.bake_folder) == (second.folder, first.bake)
    assert not scene.sinew.baked_path.endswith("pass-2"), "later bakes go to the folder of the whole bake"
    assert bake_status.earlier_resume_frame(scene) is None


def modified(folder: Path) -> float:
    return os.stat(folder / "report.jsonl").st_mtime_ns


@pytest.mark.slow
def test_the_button_bakes_what_is_missing_or_out_of_date(tmp_path: Path) -> None:
    scene, lower, upper = two_layers()
    blend = tmp_path / "layers.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    first, second = passes_at(scene, tmp_path / "layers.sinew")
    assert status().label == "Simulate"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert status().phase == "baked" and not status().due_passes
    heights = [evaluated(obj, 3)[0][:, 2].mean() for obj in (lower, upper)]
    assert heights[0] == pytest.approx(heights[1], abs=0.02) and heights[0] < -0.02
    layout_rows = FakeLayout()
    passes_layout.draw_passes(layout_rows, bpy.context)
    lines = [line for line in layout_rows.lines if "Pass" in line or "Baked" in line]
    assert lines[0] == "Pass 1: Lower" and lines[1].startswith("Baked, ")
    # only what changed is baked again
    stamps = [modified(each.folder) for each in (first, second)]
    upper.sinew.density = 500.0
    assert status().due_passes == (2,) and status().label == "Out of Date: Simulate Pass 2"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert modified(first.folder) == stamps[0] and modified(second.folder) != stamps[1]
    lower.sinew.density = 500.0
    assert status().due_passes == (1, 2)
    # a pass alone, then what follows it
    stamps = [modified(each.folder) for each in (first, second)]
    assert bpy.ops.sinew.simulate(bake_pass=1) == {"FINISHED"}
    assert modified(first.folder) != stamps[0] and modified(second.folder) == stamps[1]
    assert status().due_passes == (2,)
    assert bpy.ops.sinew.delete_bake(bake_pass=2) == {"FINISHED"}
    assert is_cache(first.folder) and not is_cache(second.folder)
    assert status().label == "Simulate Pass 2"
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and is_cache(second.folder)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert not (tmp_path / "layers.sinew").exists()


@pytest.mark.slow
def test_passes_follow_in_a_saved_and_reopened_file_and_after_save_as(tmp_path: Path) -> None:
    scene, _, upper = two_layers()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    shown = evaluated(upper, 3)[0]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "layers.blend"))
    upper = bpy.data.objects["Upper"]
    assert status().phase == "baked" and evaluated(upper, 3)[0] == pytest.approx(shown, abs=1e-6)
    other = tmp_path / "other"
    other.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(other / "copy.blend"))
    assert status().phase == "baked" and evaluated(upper, 3)[0] == pytest.approx(shown, abs=1e-6)
    # the copy bakes pass 2 in its own folder, which gets the bake of the other file first
    bpy.data.objects["Upper"].sinew.density = 700.0
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert is_cache(other / "copy.sinew" / "pass-2") and is_cache(tmp_path / "layers.sinew" / "pass-2")


@pytest.mark.slow
def test_a_cancelled_pass_goes_on_where_it_stopped(tmp_path: Path) -> None:
    scene, _, upper = two_layers(frames=40)
    upper.sinew.divisions = 6
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    first, second = passes_at(scene, tmp_path / "layers.sinew")
    bake_control.start(scene)
    until(lambda: session.bake is not None and session.bake.pass_number == 2 and session.bake.driver.job.frame)
    session.cancel()
    bake_control.wait()
    assert status().phase == "partial" and status().due_passes == (2,) and not status().outdated
    stamps = [modified(first.folder), (second.folder / "frames" / "000001.npz").stat().st_mtime_ns]
    done = CacheReader(second.folder).last_frame()
    assert done is not None and done < 40
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert CacheReader(second.folder).last_frame() == 40 and status().phase == "baked"
    assert [modified(first.folder), (second.folder / "frames" / "000001.npz").stat().st_mtime_ns] == stamps


@pytest.mark.slow
def test_passes_and_wraps_travel_with_linked_characters(tmp_path: Path) -> None:
    """Two overrides of one character: each follows its own muscle, and ends at its own Wrap."""
    scene, lower, upper = two_layers()
    wrap = add_box("Wrap")
    wrap.scale, wrap.location = (0.4, 0.4, 0.4), upper.location
    roles.make_wrap(wrap)
    add_row(wrap.sinew.attachments).target = lower
    wrap.sinew.attachments[0].reach = 2.0
    upper.sinew.wrap = wrap
    character = bpy.data.collections.new("Character")
    for each in (lower, upper, wrap):
        scene.collection.objects.unlink(each)
        character.objects.link(each)
    scene.collection.children.link(character)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    scene.frame_end = 2
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    (source,) = wanted.collections
    made = [source.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True) for _ in range(2)]
    for x, each in zip((0.0, 9.0), made, strict=True):
        for obj in each.all_objects:
            obj.location.x += x
    bpy.context.view_layer.update()
    assert len(roles.bodies(scene)) == 4 and pass_numbers(scene) == (1, 2)
    for each in made:
        fat = next(o for o in each.all_objects if o.sinew.wrap is not None)
        assert fat.sinew.wrap.name in each.all_objects and fat.override_library is not None
    first, second = passes_at(scene, tmp_path / "shot.sinew")
    bake_here(scene, first)
    for _ in export_scene.export_scene(bpy.context, scene, second.folder, bake_pass=second):
        pass
    written = Scene.load(second.folder / "scene")
    places = {ground.key: ground.vertices[:, 0].mean() for ground in written.colliders}
    for body in written.bodies:
        own, of_wrap = body.attachments
        assert own.target == of_wrap.target
        assert places[own.target] == pytest.approx(body.vertices[:, 0].mean(), abs=0.1)
    assert {round(x) for x in places.values()} == {0, 9}
