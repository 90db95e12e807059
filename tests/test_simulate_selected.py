# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate Selected: some bodies are baked anew, while the others move as they are baked and do not feel them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.fat_balls import fat_ball
from fixtures.operator_scenes import panel_lines, status, until
from sinew.addon.baking import bake_control, bake_status, outdated_bodies, simulate_selected
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.bake_request import BakeRequest
from sinew.addon.cache import cache_folder_status, cache_paths, selected_body_caches
from sinew.addon.cache.bake_passes import BakePass, body_folder, pass_numbers
from sinew.addon.command_line.commands import run_in_blender
from sinew.addon.export import export_scene
from sinew.addon.objects import roles
from sinew.addon.operators import simulate_selected_bodies
from sinew.addon.playback import mesh_cache
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader, delete_bake, is_cache, layout
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader

STIFFNESS, SOFTER = 1.0e6, 1.0e5  # [Pa]
GAP = 0.02  # between two boxes that are to touch


def two_boxes(frames: int, shift: tuple[float, float, float]) -> tuple[bpy.types.Scene, ...]:
    """Returns a scene, a box that falls, and another one beside it or above it."""
    scene = fresh()
    scene.frame_end = frames
    lower, upper = add_box("Lower"), add_box("Upper")
    upper.location = shift
    for obj in (lower, upper):
        roles.make_body(obj)
        obj.sinew.divisions, obj.sinew.youngs_modulus = 2, STIFFNESS
    bpy.context.view_layer.update()
    return scene, lower, upper


def only_pass(scene: bpy.types.Scene, folder: Path) -> BakePass:
    (number,) = pass_numbers(scene)
    return BakePass(number, (number,), folder)


def bake_here(scene: bpy.types.Scene, bake_pass: BakePass, *chosen: bpy.types.Object) -> Path:
    """Exports and bakes a pass, or some of its bodies, in this process, and returns the cache."""
    folder = selected_body_caches.next_folder(bake_pass.folder) if chosen else bake_pass.folder
    for _ in export_scene.export_scene(
        bpy.context, scene, folder, bake_pass=bake_pass, chosen=chosen if chosen else None
    ):
        pass
    run_bake(folder, lambda event: None)
    cache_folder_status.invalidate()
    return folder


def select(*objects: bpy.types.Object) -> None:
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)


def own_files(cache: Path) -> dict[str, bytes]:
    """Returns the files of a cache itself, without those of bodies that were baked later."""
    paths = (path for path in cache.rglob("*") if path.is_file() and path.name != layout.LOCK_FILE)
    inner = {path.relative_to(cache): path for path in paths}
    return {
        name.as_posix(): path.read_bytes() for name, path in inner.items() if not layout.is_selected_name(name.parts[0])
    }


def played(cache: Path, key: str) -> np.ndarray:
    """Returns what a body of a bake plays, (frames, vertices, 3)."""
    reader = CacheReader(selected_body_caches.folder_of_body(cache, key))
    return reader.read_samples(key, 0, reader.metadata.sample_count(reader.last_frame()))


def test_the_others_are_moving_colliders_and_keep_their_files(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(3, (0.0, 0.0, 2.0 + GAP))
    scene.sinew.preroll = 2
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    before = own_files(base)
    upper.sinew.density = 500.0
    folder = bake_here(scene, bake_pass, upper)
    assert folder.name == "selected-1" and own_files(base) == before
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    assert [body.name for body in written.bodies] == ["Upper"]
    (ground,) = written.colliders
    modeled = world(np.array([v.co[:] for v in lower.data.vertices]), np.array(lower.matrix_world))
    assert ground.key == "Lower" and ground.rest_vertices == pytest.approx(modeled, abs=1e-6)
    for frame, shown in enumerate(played(base, "Lower")):
        assert tracks.sample("collider.Lower.vertices", frame / scene.render.fps) == pytest.approx(shown, abs=1e-6)
    # its pre-roll was written for nobody: it goes straight from the rest pose to the first frame
    start = -2.0 / scene.render.fps
    assert tracks.sample("collider.Lower.vertices", start) == pytest.approx(modeled, abs=1e-6)
    between = 0.5 * (modeled + played(base, "Lower")[0])
    assert tracks.sample("collider.Lower.vertices", 0.5 * start) == pytest.approx(between, abs=1e-6)


@pytest.mark.slow
def test_what_each_body_plays_and_whether_it_is_out_of_date(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(1, (9.0, 0.0, 0.0))
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)

    def outdated() -> list[str]:
        return [obj.name for obj in outdated_bodies.outdated_bodies(scene, bake_pass)]

    assert outdated() == [] and selected_body_caches.played_folders(base) == [base]
    known = {selected_body_caches.content(base)}
    upper.sinew.density = 500.0
    assert outdated() == ["Upper"] and status().outdated
    first = bake_here(scene, bake_pass, upper)
    assert outdated() == [] and not status().outdated and status().selected_names == ("Upper",)
    assert [body_folder(scene, obj) for obj in (lower, upper)] == [base, first]
    assert selected_body_caches.content(base) not in known, "later passes follow other frames now"
    lower.sinew.density = 700.0
    assert outdated() == ["Lower"] and status().outdated
    second = bake_here(scene, bake_pass, lower, upper)
    assert outdated() == [] and selected_body_caches.played_folders(base) == [base, second]
    selected_body_caches.delete_unplayed(base)
    assert layout.selected_paths(base) == [second]
    # one that is not complete does not count
    (second / "frames" / "000001.npz").unlink()
    cache_folder_status.invalidate()
    assert body_folder(scene, upper) == base and outdated() == ["Lower", "Upper"]
    # gravity changes all, a new body changes no other
    third = bake_here(scene, bake_pass, lower, upper)
    other = add_box("Other")
    roles.make_body(other)
    other.location.y = 9.0
    assert outdated() == ["Other"] and status().outdated and body_folder(scene, lower) == third
    bpy.data.objects.remove(other)
    scene.use_gravity = False
    assert outdated() == ["Lower", "Upper"]
    # the bake of all of them replaces it, and Delete Bake takes all
    bake_here(scene, bake_pass)
    assert not layout.selected_paths(base) and status().selected_names == ()
    bake_here(scene, bake_pass, upper)
    assert delete_bake(base) == [] and not base.exists()


def test_a_bake_without_digests_of_its_bodies_may_be_of_other_settings(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(1, (9.0, 0.0, 0.0))
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    (base / "scene" / layout.BODY_SETTINGS_FILE).unlink()
    assert outdated_bodies.outdated_bodies(scene, bake_pass) == []
    upper.sinew.density = 500.0
    assert outdated_bodies.outdated_bodies(scene, bake_pass) == [lower, upper]


@pytest.mark.slow
def test_a_change_that_is_taken_back_makes_the_body_baked_with_it_out_of_date(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(1, (9.0, 0.0, 0.0))
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    density, upper.sinew.density = upper.sinew.density, 500.0
    bake_here(scene, bake_pass, upper)
    upper.sinew.density = density  # as all of them were baked, but it plays the other bake
    assert outdated_bodies.outdated_bodies(scene, bake_pass) == [upper] and status().outdated
    assert [each.kind for each in simulate_selected.selected_warnings(scene, base, [lower])] == [
        "selected-follows-outdated"
    ]
    # beside a bake of an earlier version, which knows the digest of the whole alone
    bake_here(scene, bake_pass, upper)
    (base / "scene" / layout.BODY_SETTINGS_FILE).unlink()
    cache_folder_status.invalidate()
    bake_status.invalidate()
    assert outdated_bodies.outdated_bodies(scene, bake_pass) == [] and not status().outdated


def test_what_cannot_be_followed_is_told(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(2, (9.0, 0.0, 0.0))
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    bake_pass = only_pass(scene, tmp_path / "c.sinew")

    def refusal(*chosen: bpy.types.Object) -> BadInput:
        cache_folder_status.invalidate()
        with pytest.raises(BadInput) as problem:
            bake_control.start(scene, BakeRequest(chosen=frozenset(obj.session_uid for obj in chosen)))
        return problem.value

    assert refusal().kind == "no-body-selected"
    found = refusal(upper)
    assert found.kind == "selected-without-bake" and '"Lower"' in found.sentence
    base = bake_here(scene, bake_pass)
    scene.frame_end = 5
    found = refusal(upper)
    assert found.kind == "selected-follows-unbaked" and '"Lower"' in found.sentence and "frame 2" in found.sentence
    scene.frame_end = 2
    other = add_box("Other")
    roles.make_body(other)
    found = refusal(upper)
    assert found.kind == "selected-follows-unbaked" and '"Other"' in found.sentence
    bpy.data.objects.remove(other)
    select(lower)
    bpy.context.view_layer.objects.active = lower
    with pytest.raises(RuntimeError, match="not baked yet"):
        delete_bake(base)
        cache_folder_status.invalidate()
        bpy.ops.sinew.simulate_chosen()
    select()
    with pytest.raises(RuntimeError, match="None of the selected objects"):
        bpy.ops.sinew.simulate_chosen()


def test_a_broken_body_is_selected_by_what_it_broke_into() -> None:
    _, lower, upper = two_boxes(2, (9.0, 0.0, 0.0))
    result = add_box("Upper Broken")
    result.sinew.result_of = upper
    upper.hide_set(True)
    select(lower, result)
    chosen = simulate_selected_bodies.SINEW_OT_simulate_chosen.request(None).chosen
    assert chosen == {lower.session_uid, upper.session_uid}


@pytest.mark.slow
def test_bodies_apart_move_as_in_a_bake_of_all(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(10, (5.0, 0.0, 0.0))
    ground = add_box("Ground", height=0.1)
    ground.scale, ground.location.z = (20.0, 20.0, 1.0), -1.2
    roles.make_collider(ground)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = tmp_path / "two.sinew"
    before, stiff = own_files(cache), played(cache, "Upper")
    upper.sinew.youngs_modulus = SOFTER
    assert status().label == "Out of Date: Simulate Again"
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert status().label == "Simulate Again" and status().phase == "baked"
    assert "Simulated Alone: Upper" in panel_lines(upper) and own_files(cache) == before
    alone = played(cache, "Upper")
    shown = evaluated(upper, 10)[0]
    assert np.abs(alone - stiff).max() > 0.01, "a softer box falls on the ground"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert not layout.selected_paths(cache) and "Simulated Alone: Upper" not in panel_lines(upper)
    assert alone == pytest.approx(played(cache, "Upper"), abs=1e-5)
    assert shown == pytest.approx(evaluated(upper, 10)[0], abs=1e-5)


@pytest.mark.slow
def test_a_body_rests_on_another_one_that_does_not_feel_it(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(24, (0.0, 0.0, 2.0 + GAP))
    lower.sinew.pin_group = "Base"
    base = [vertex.index for vertex in lower.data.vertices if vertex.co.z < -0.9]
    lower.vertex_groups.new(name="Base").add(base, 1.0, "REPLACE")
    for frame, height in ((1, 0.0), (24, 0.5)):
        lower.location.z = height
        lower.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = tmp_path / "two.sinew"
    before = own_files(cache)
    upper.sinew.youngs_modulus = 3.0e5
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert own_files(cache) == before, "the lower one keeps its bytes"
    on, under = (world(*evaluated(obj, 24)) for obj in (upper, lower))
    gap = on[:, 2].min() - under[:, 2].max()
    print(f"gap {gap:.4f} m, top {on[:, 2].max():.3f} m")
    assert -0.02 < gap < 0.02 and on[:, 2].max() > 3.0, "it is carried upwards"
    assert not status().outdated and status().convergence.not_converged == 0


@pytest.mark.slow
def test_a_cancelled_one_keeps_the_bake_from_before(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(200, (9.0, 0.0, 0.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = tmp_path / "two.sinew"
    before, shown = own_files(cache), evaluated(upper, 50)[0]
    upper.sinew.youngs_modulus, upper.sinew.divisions = SOFTER, 8
    bake = bake_control.start(scene, BakeRequest(chosen=frozenset({upper.session_uid})))
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    assert bake.folder == cache / "selected-1" and evaluated(upper, 1)[0] is not None
    playing = {Path(m.filepath).parent.parent.name for m in upper.modifiers if m.type == "MESH_CACHE"}
    assert playing == {"selected-1"}, "its frames are shown as they come"
    session.cancel()
    bake_control.wait()
    assert bake.is_dropped and not layout.selected_paths(cache) and own_files(cache) == before
    assert evaluated(upper, 50)[0] == pytest.approx(shown) and status().label == "Out of Date: Simulate Again"
    # a crash leaves frames that do not count, and that the next one deletes
    bake = bake_control.start(scene, BakeRequest(chosen=frozenset({upper.session_uid})))
    until(lambda: (bake.driver.job.frame or 0) >= 2)
    session.close()
    assert layout.selected_paths(cache) and body_folder(scene, upper) == cache and status().outdated
    upper.sinew.divisions = 2
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert [path.name for path in layout.selected_paths(cache)] == ["selected-1"] and not status().outdated
    assert is_cache(cache / "selected-1")


@pytest.mark.slow
def test_it_travels_with_the_file(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(3, (9.0, 0.0, 0.0))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    upper.sinew.density = 500.0
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    shown = evaluated(upper, 3)[0]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert (tmp_path / "two.sinew" / "selected-1").is_dir(), "the cache of an unsaved file moves with it"
    for path in (tmp_path / "two.blend", tmp_path / "other" / "copy.blend"):
        if not path.exists():
            path.parent.mkdir()
            bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        upper = bpy.data.objects["Upper"]
        assert evaluated(upper, 3)[0] == pytest.approx(shown, abs=1e-7)
        assert status().phase == "baked" and not status().outdated and status().selected_names == ("Upper",)
    # the copy bakes in its own folder, which gets the bake of the other file first
    upper.sinew.density = 700.0
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    own, other = tmp_path / "other" / "copy.sinew", tmp_path / "two.sinew"
    assert [path.name for path in layout.selected_paths(own)] == ["selected-2"]
    assert [path.name for path in layout.selected_paths(other)] == ["selected-1"]
    assert cache_paths.cache_folder(bpy.context.scene) == own and not status().outdated
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert not own.exists() and is_cache(other / "selected-1")


@pytest.mark.slow
def test_it_bakes_without_a_window(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene, lower, upper = two_boxes(2, (9.0, 0.0, 0.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert run_in_blender(["bake", "--selected", "Upper"]) == 2
    assert '"Lower" is not baked yet' in capfd.readouterr().err
    assert run_in_blender(["bake"]) == 0
    lower.sinew.density = upper.sinew.density = 500.0
    assert run_in_blender(["bake", "--selected", "Upper"]) == 0
    assert 'warning: "Lower" has changed since it was baked' in capfd.readouterr().out
    assert (tmp_path / "two.sinew" / "selected-1").is_dir() and status().outdated
    assert run_in_blender(["bake", "--selected", "Nobody"]) == 2
    assert run_in_blender(["bake", "--selected", "Upper", "--resume"]) == 2
    assert run_in_blender(["bake", "--resume"]) == 2
    assert "after the others" in capfd.readouterr().err
    assert run_in_blender(["bake", "--selected", "Lower", "--object", "Upper"]) == 2
    assert run_in_blender(["bake", "--selected", "Lower"]) == 0 and not status().outdated


@pytest.mark.slow
def test_attachments_of_the_others_hold_from_their_side(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(4, (0.0, 0.0, 2.0 + GAP))
    top = [vertex.index for vertex in lower.data.vertices if vertex.co.z > 0.9 and vertex.co.x > -0.1]
    lower.vertex_groups.new(name="Half").add(top, 1.0, "REPLACE")
    row = add_row(lower.sinew.attachments)
    row.target, row.kind, row.reach, row.group = upper, "SPRING", 0.5, "Half"
    for frame, strength in ((1, 10.0), (4, 2.0)):
        row.strength = strength
        lower.keyframe_insert("sinew.attachments[0].strength", frame=frame)
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    bake_here(scene, bake_pass)
    together = played(bake_pass.folder, "Upper")
    folder = bake_here(scene, bake_pass, upper)
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    (attachment,) = written.bodies[0].attachments
    assert (attachment.target, attachment.kind, attachment.reach) == ("Lower", "spring", 0.5)
    under = {tuple(np.round(v, 3)) for v in written.bodies[0].vertices[attachment.paint > 0.0] if v[2] < 1.1}
    assert {x for x, _, _ in under} == {0.0, 0.5}, "painted as the vertices below"
    assert tracks.sample("body.Upper.attachment.0.strength", 3.0 / scene.render.fps) == pytest.approx(2.0)
    fall = [shown[:, :, 2].mean(axis=1)[-1] - shown[0, :, 2].mean() for shown in (together, played(folder, "Upper"))]
    assert fall[1] == pytest.approx(fall[0], rel=0.05) and fall[0] < -0.02
    upper.location.z += 1.0
    with pytest.raises(BadInput, match='"Lower", which stays as it is baked, is attached to "Upper"'):
        bake_here(scene, bake_pass, upper)


@pytest.mark.slow
def test_flesh_that_follows_a_pose_does_not_feel_what_is_thrown_at_it(tmp_path: Path) -> None:
    """Where all are baked together, such flesh feels no contact and no attachment of a body that has inertia."""
    scene, lower, upper = two_boxes(1, (0.0, 0.0, 2.0 + GAP))
    lower.sinew.motion = "POSE"
    base = [vertex.index for vertex in lower.data.vertices if vertex.co.z < -0.9]
    lower.vertex_groups.new(name="Base").add(base, 1.0, "REPLACE")
    lower.sinew.pin_group = "Base"
    row = add_row(upper.sinew.attachments)
    row.target, row.kind, row.reach = lower, "SPRING", 0.5
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    together = played(bake_here(scene, bake_pass), "Lower")
    written = Scene.load(bake_here(scene, bake_pass, lower) / "scene")
    assert written.bodies[0].attachments == () and written.ignored_pairs == (("Lower", "Upper"),)
    assert played(bake_pass.folder, "Lower") == pytest.approx(together, abs=1e-5)
    # the other way round it is felt
    written = Scene.load(bake_here(scene, bake_pass, upper) / "scene")
    assert len(written.bodies[0].attachments) == 1 and written.ignored_pairs == ()


@pytest.mark.slow
def test_flesh_stays_as_deep_in_flesh_that_is_baked_as_it_was_modeled(tmp_path: Path) -> None:
    """Two boxes of flesh overlap by a tenth; baked together neither moves, and alone neither does."""
    scene = fresh()
    scene.frame_end, scene.use_gravity = 1, False
    for name, x in (("Left", 0.0), ("Right", 0.9)):
        obj, bone = add_box(name), add_box(f"Bone of {name}")
        bone.scale = 0.3, 0.3, 0.6
        obj.location.x = bone.location.x = x
        roles.make_flesh(obj)
        roles.make_bone(bone)
        obj.sinew.divisions, bone.sinew.bone_body = 4, obj
    bpy.context.view_layer.update()
    left = scene.objects["Left"]
    modeled = np.array([vertex.co[:] for vertex in left.data.vertices])
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    assert played(bake_here(scene, bake_pass), "Left")[0] == pytest.approx(modeled, abs=1e-6)
    bake_here(scene, bake_pass, left)
    assert played(bake_pass.folder, "Left")[0] == pytest.approx(modeled, abs=1e-6)


@pytest.mark.slow
def test_bodies_of_several_passes_are_baked_from_the_inside_out(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(3, (0.0, 0.0, 2.0 + GAP))
    beside = add_box("Beside")
    beside.location.x = 9.0
    roles.make_body(beside)
    beside.sinew.divisions, beside.sinew.youngs_modulus = 2, STIFFNESS
    upper.sinew.bake_pass = 2
    row = add_row(upper.sinew.attachments)
    row.target, row.kind, row.reach = lower, "SPRING", 0.5
    scene.sinew.preroll = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    first, second = (BakePass(number, (1, 2), tmp_path / "layers.sinew") for number in (1, 2))
    lower.sinew.density = 500.0
    select(lower)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    # what follows it is out of date, and follows the later frames then
    assert status().due_passes == (2,) and status().label == "Out of Date: Simulate Pass 2"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert status().phase == "baked" and not status().due_passes and status().selected_names == ("Lower",)
    tracks = TrackReader(second.folder / "scene")
    time = 2.0 / scene.render.fps
    assert tracks.sample("collider.Lower.vertices", time) == pytest.approx(played(first.folder, "Lower")[2], abs=1e-6)
    assert selected_body_caches.folder_of_body(first.folder, "Lower") == first.folder / "selected-1"
    # bodies of two passes at once
    lower.sinew.density = upper.sinew.density = 600.0
    select(lower, upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert not status().due_passes and status().selected_names == ("Lower", "Upper")
    assert body_folder(scene, upper) == second.folder / "selected-1"
    tracks = TrackReader(second.folder / "selected-1" / "scene")
    assert tracks.sample("collider.Lower.vertices", time) == pytest.approx(played(first.folder, "Lower")[2], abs=1e-6)
    # a pass that is baked anew has no bodies that were baked later
    assert bpy.ops.sinew.simulate(bake_pass=1) == {"FINISHED"}
    assert not layout.selected_paths(first.folder) and status().selected_names == ("Upper",)


@pytest.mark.slow
def test_nothing_follows_what_broke(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(6, (9.0, 0.0, 0.0))
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    lower.sinew.preset = "CHOCOLATE"
    lower.sinew.divisions, lower.sinew.breaking_stress = 3, 1.0e3
    top = [vertex.index for vertex in lower.data.vertices if vertex.co.z > 0.9]
    lower.vertex_groups.new(name="Top").add(top, 1.0, "REPLACE")
    lower.sinew.pin_group = "Top"
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    assert CacheReader(base).results(), "it did not break"
    upper.sinew.density = 500.0
    with pytest.raises(BadInput) as refusal:
        bake_here(scene, bake_pass, upper)
    assert refusal.value.kind == "selected-follows-broken" and '"Lower"' in refusal.value.sentence
    assert not layout.selected_paths(base), "nothing was begun"
    # it breaks anew where it is selected too
    folder = bake_here(scene, bake_pass, lower, upper)
    assert CacheReader(folder).results() and body_folder(scene, lower) == folder


@pytest.mark.slow
def test_a_cache_is_attached_as_its_bodies_play_it(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(2, (9.0, 0.0, 0.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    bake_pass = only_pass(scene, tmp_path / "two.sinew")
    bake_here(scene, bake_pass)
    later = bake_here(scene, bake_pass, upper)
    assert run_in_blender(["attach", str(tmp_path / "two.sinew"), "--out", str(tmp_path / "out.blend")]) == 0
    files = {obj.name: mesh_cache.attached_file(obj) for obj in (lower, upper)}
    assert files == {"Lower": bake_pass.folder / "play" / "Lower.pc2", "Upper": later / "play" / "Upper.pc2"}


@pytest.mark.slow
def test_a_body_below_a_wrap_meets_it_as_the_fat_is_baked(tmp_path: Path) -> None:
    scene, skin, wrap, core = fat_ball(is_open=True)
    core.sinew.role = "NONE"
    roles.make_body(core)
    skin.sinew.divisions = core.sinew.divisions = 4
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    folder = bake_here(scene, bake_pass, core)
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    (ground,) = written.colliders
    (attachment,) = written.bodies[0].attachments
    assert (attachment.target, attachment.reach) == ("Skin", 0.5) and (attachment.paint == 1.0).all()
    count, fat = len(skin.data.vertices), Scene.load(base / "scene").bodies[1]
    assert len(ground.vertices) == len(fat.vertices) == count + 1 + len(wrap.data.vertices)
    assert find_manifold_defects(ground.triangles) is None, "the core is outside of what is closed"
    now = tracks.sample("collider.Skin.vertices", 1.0 / scene.render.fps)
    assert now[:count] == pytest.approx(played(base, "Skin")[1], abs=1e-6)
    fall = (fat.vertices - now)[:, 2]
    assert fall[count:].mean() == pytest.approx(fall[:count].mean(), rel=0.1) and fall.min() > 0.0
