# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches of bodies that Simulate Selected baked: which count, what is out of date, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated
from fixtures.operator_scenes import status, until
from fixtures.selected_bodies import SOFTER, bake_here, only_pass, own_files, select, two_boxes
from sinew.addon.baking import bake_control, bake_status, outdated_bodies, simulate_selected
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.bake_request import BakeRequest
from sinew.addon.cache import cache_folder_status, cache_paths, selected_body_caches
from sinew.addon.cache.bake_passes import body_folder
from sinew.addon.command_line.commands import run_in_blender
from sinew.addon.objects import roles
from sinew.addon.operators import simulate_selected_bodies
from sinew.addon.playback import mesh_cache
from sinew.solver.bake.cache import CacheReader, delete_bake, is_cache, layout
from sinew.solver.runtime.errors import BadInput


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
