# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake at Final repeats a kept run with the final tets: colliders to the bit, grabbed points near their hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh, world
from fixtures.fake_layout import FakeLayout
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import (
    ground,
    jelly,
    last_values,
    run_key,
    run_steps,
    set_count,
    shown,
    started,
    until,
)
from fixtures.source_imports import ROOT
from sinew.addon.baking import bake_control, bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.cache import cache_folder_status, cache_paths, takes
from sinew.addon.live import final_bake, grabs, run_control
from sinew.addon.objects import roles
from sinew.addon.panels import live_layout
from sinew.solver.bake.cache import CacheMetadata, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live.recording import read_inputs
from sinew.solver.scene.tracks import TrackReader

SIZE = 2.0  # of the jelly
MOVES, MOVE_STEPS = 24, 2


def live_with_a_hand(box: bpy.types.Object, plane: bpy.types.Object) -> None:
    """Lifts the ground, and pulls a corner at less than half the size of the jelly a second."""
    run = started()
    run_steps(run, 3)
    number = grabs.take(run, run_key(run), shown(box)[np.argmax(shown(box).sum(axis=1))], 0.0)
    for _ in range(MOVES):
        plane.location.z += 0.005
        bpy.context.view_layer.update()
        grabs.move(run, number, run.grabs[number].hand + [0.012, 0.0, 0.016])
        run_steps(run, run.step + MOVE_STEPS)
    run_steps(run, run.step + 6)
    run_control.stop()
    until(lambda: session.live is None)


@pytest.mark.slow
def test_the_playground_at_final_repeats_the_run(tmp_path: Path) -> None:
    box, plane, scene = jelly(), ground(-1.5), bpy.context.scene
    box.sinew.divisions, box.sinew.use_preview_tets, box.sinew.preview_tets = 8, True, 200
    scene.frame_set(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert not bpy.ops.sinew.bake_at_final.poll()
    live_with_a_hand(box, plane)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    kept = cache_paths.cache_folder(scene)
    recorded, run_head = read_inputs(kept), CacheMetadata.load(kept)
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.bake_at_final" in str(drawn.drawn)

    assert bpy.ops.sinew.bake_at_final() == {"FINISHED"}
    final = cache_paths.cache_folder(scene)
    head, status = CacheMetadata.load(final), bake_status.status(scene)
    assert final != kept and not status.outdated and not status.is_preview
    assert (head.frame_start, head.frame_end) == (run_head.frame_start, run_head.frame_end)
    tets = [cache_folder_status.tet_counts(folder, head.bodies[0].key)[0] for folder in (kept, final)]
    assert tets[1] >= 4 * tets[0] > 0
    print("tets", tets)
    assert not final_bake.can_bake(scene), "it is no run"

    tracks, steps, key = TrackReader(final / layout.SCENE_FOLDER), run_head.samples_per_frame, head.bodies[0].key
    last = (head.frame_end - head.frame_start) * steps

    def sample(track: str, step: int) -> np.ndarray:
        frame = head.frame_start + (step // steps + step % steps / steps)
        return tracks.sample(track, (frame - head.frame_start) / scene.render.fps)

    assert set_count(recorded, "collider.Ground.matrix") == MOVES
    for step, value in last_values(recorded, "collider.Ground.matrix").items():  # several may come in a step
        assert np.array_equal(sample("collider.Ground.matrix", step), value)

    ((begin, grab),) = [(s, c) for s, cs in recorded.commands.items() for c in cs if c["command"] == "grab"]
    matrix, vertex = np.array(box.matrix_world), grab["vertices"][0]
    reach = 0.05 * SIZE  # of a grab whose hand moves by at most half the size a second (constraints/grabs.py)
    for folder in (kept, final):
        played = read_samples(layout.play_path(folder, key), begin, last - begin + 1)
        points = np.array([world(each, matrix)[vertex] for each in played])
        hands = np.array([sample(f"body.{key}.hook.0.matrix", step)[:3, 3] for step in range(begin, last + 1)])
        away = np.linalg.norm(points - points[0] - (hands - hands[0]), axis=1)
        assert away.max() < reach, (folder.name, away.max())
        assert np.linalg.norm(hands[-1] - hands[0]) > 0.4
        print(folder.name, f"farthest from the hand {away.max():.4f} of {reach}")


@pytest.mark.slow
def test_what_cannot_be_baked_leaves_the_scene_as_it_is(tmp_path: Path) -> None:
    jelly()
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.bake_at_final()
    run = started()
    run_steps(run, 6)
    run_control.stop()
    until(lambda: session.live is None)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    before = {name: getattr(scene.sinew, name) for name in final_bake.CHANGED}
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Edit Mode"):
        bpy.ops.sinew.bake_at_final()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert {name: getattr(scene.sinew, name) for name in final_bake.CHANGED} == before


@pytest.mark.slow
def test_a_bake_cancelled_before_its_first_frame_leaves_the_kept_run_playing(tmp_path: Path) -> None:
    jelly()
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 6)
    run_control.stop()
    until(lambda: session.live is None)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    kept = cache_paths.cache_folder(scene)
    before = {name: getattr(scene.sinew, name) for name in final_bake.CHANGED}
    final_bake.start(scene)
    empty = cache_paths.own_folder(scene)
    assert empty != kept
    session.cancel()
    bake_control.wait()
    assert {name: getattr(scene.sinew, name) for name in final_bake.CHANGED} == before
    assert cache_paths.cache_folder(scene) == kept and final_bake.can_bake(scene)
    assert not empty.exists() and [take.folder for take in takes.takes(scene)] == [kept]


@pytest.mark.slow
@pytest.mark.long
def test_the_playground_of_the_demos_kept_and_baked_at_final(tmp_path: Path) -> None:
    """Two bodies are pulled while the table rises."""
    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "demo_blends" / "playground.blend"))
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "playground.blend"))
    table = roles.colliders(scene)[0]
    run = started()
    run_steps(run, 3)
    taken = list(run.bodies)[:2]
    numbers = {}
    for key in taken:
        vertices = grabs.shown_vertices(run, key)
        numbers[key] = grabs.take(run, key, vertices[np.argmax(vertices[:, 2])], 0.0)
    sizes = {key: max(run.bodies[key].find().dimensions) for key in taken}
    for _ in range(12):
        table.location.z += 0.0007
        bpy.context.view_layer.update()
        for key, number in numbers.items():
            # a quarter of the size a second
            grabs.move(run, number, run.grabs[number].hand + [0.0, 0.0, 0.25 * sizes[key] * 2.0 / 72.0])
        run_steps(run, run.step + 2)
    run_control.stop()
    until(lambda: session.live is None)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    kept = cache_paths.cache_folder(scene)
    recorded, run_head = read_inputs(kept), CacheMetadata.load(kept)
    assert bpy.ops.sinew.bake_at_final() == {"FINISHED"}
    final = cache_paths.cache_folder(scene)
    head = CacheMetadata.load(final)
    assert not bake_status.status(scene).outdated
    counts = [
        sum(cache_folder_status.tet_counts(folder, body.key)[0] for body in head.bodies) for folder in (kept, final)
    ]
    assert counts[1] >= 4 * counts[0]
    tracks, steps, rate = TrackReader(final / layout.SCENE_FOLDER), run_head.samples_per_frame, scene.render.fps
    last = (head.frame_end - head.frame_start) * steps

    def sample(track: str, step: int) -> np.ndarray:
        frame = head.frame_start + (step // steps + step % steps / steps)
        return tracks.sample(track, (frame - head.frame_start) / rate)

    colliders = {c["track"] for cs in recorded.commands.values() for c in cs if c["command"] == "set"}
    colliders = {track for track in colliders if track.startswith("collider.")}
    assert sum(set_count(recorded, track) for track in colliders) >= 10
    for track in colliders:
        for step, value in last_values(recorded, track).items():
            assert step > last or np.array_equal(sample(track, step), value), track
    found = {c["body"]: (s, c) for s, cs in recorded.commands.items() for c in cs if c["command"] == "grab"}
    unit = scene.unit_settings.scale_length
    for key, (begin, grab) in found.items():
        matrix, vertex = np.array(run.bodies[key].find().matrix_world), grab["vertices"][0]
        played = read_samples(layout.play_path(final, key), begin, last - begin + 1)
        points = unit * np.array([world(each, matrix)[vertex] for each in played])
        hands = np.array([sample(f"body.{key}.hook.0.matrix", step)[:3, 3] for step in range(begin, last + 1)])
        away = np.linalg.norm(points - points[0] - (hands - hands[0]), axis=1)
        share = away.max() / (sizes[key] * unit)
        print(key, counts, f"farthest from the hand: {100.0 * share:.2f} % of the size")
        assert share < 0.05, key
