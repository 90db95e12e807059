# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep with Last Seconds in Blender: the end of a run is a take from the frame on at which the run began."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box
from fixtures.fake_layout import FakeLayout
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import ground, jelly, pulled_until_torn, run_key, run_steps, shown, started, until
from sinew.addon.baking import bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.cache import cache_paths
from sinew.addon.live import grabs, run_control
from sinew.addon.operators import live
from sinew.addon.panels import live_layout
from sinew.solver.bake.cache import CacheMetadata, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live.recording import read_inputs
from test_hand_to_scene import curves_of
from test_live_torn_bodies import LONG, bar


def keep_last(seconds: float) -> Path:
    """Keeps the last seconds of the run that has ended, and returns the folder of the take."""
    scene = bpy.context.scene
    scene.sinew.live_kept, scene.sinew.live_kept_seconds = "LAST", seconds
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    return Path(cache_paths.cache_folder(scene))


def stop() -> None:
    run_control.stop()
    until(lambda: session.live is None)


def pose(obj: bpy.types.Object, angle: float) -> None:
    """Bends a box by a shape key."""
    obj.data.shape_keys.key_blocks[1].value = angle
    bpy.context.view_layer.update()


@pytest.mark.slow
def test_the_end_of_a_run_is_a_take_with_what_the_hand_did_then(tmp_path: Path) -> None:
    box, plane, scene = jelly(), ground(-1.2), bpy.context.scene
    bends = add_box("Bends", divisions=2)
    bends.location.x = 6.0
    bends.shape_key_add(name="Basis")
    bends.shape_key_add(name="Higher").data[0].co.z += 0.3
    bpy.context.view_layer.objects.active = bends
    bpy.ops.sinew.make_collider()
    scene.frame_set(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 5)
    plane.location.z += 0.05
    pose(bends, 0.5)
    number = grabs.take(run, run_key(run), shown(box)[np.argmax(shown(box).sum(axis=1))], 0.0)
    run_steps(run, 200)
    plane.location.z += 0.1
    pose(bends, 1.0)
    grabs.move(run, number, run.grabs[number].hand + [0.1, 0.0, 0.2])
    run_steps(run, 215)
    grabs.release(run, number)
    run_steps(run, 235)
    stop()
    assert layout.live_restart_steps(run.folder) == [144]
    recorded, key = read_inputs(run.folder), run_key(run)

    last = keep_last(1.0)
    status, head, rate = bake_status.status(scene), CacheMetadata.load(last), scene.render.fps
    assert (head.frame_start, head.frame_end) == (3, 3 + rate) and not status.outdated
    in_frame = head.samples_per_frame
    begin = (recorded.steps // in_frame - rate) * in_frame
    assert layout.live_restart_steps(last) == [144] and begin > 144

    empty = bpy.data.objects["Grab of Jelly"]
    strength = curves_of(box, "sinew.attachments[0].strength")[0]
    released = next(step for step, all_ in recorded.commands.items() for c in all_ if c["command"] == "release")
    keys = [tuple(point.co) for point in strength.keyframe_points]
    assert np.allclose(keys, [(3.0, 1.0), (3.0 + (released + 1 - begin) / in_frame, 0.0)], rtol=0.0, atol=1e-4)
    heights = [point.co.y for point in curves_of(plane, "location")[2].keyframe_points]
    assert heights == pytest.approx([-1.15, -1.15, -1.05], abs=1e-6) and len(curves_of(empty, "location")) == 3

    scene.sinew.live_kept = "WHOLE"
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    whole = Path(cache_paths.cache_folder(scene))
    wanted = read_samples(layout.play_path(whole, key), begin, rate * in_frame + 1)
    assert np.array_equal(read_samples(layout.play_path(last, key), 0, rate * in_frame + 1), wanted)
    assert len(box.sinew.attachments) == 1 and "Grab of Jelly.001" not in bpy.data.objects, "not twice"
    assert [group.name for group in box.vertex_groups] == ["Grabbed"]
    heights = [point.co.y for point in curves_of(plane, "location")[2].keyframe_points]
    assert heights[0] == pytest.approx(-1.2) and len(heights) == 5


@pytest.mark.slow
def test_a_body_that_was_torn_before_is_named_and_the_scene_is_as_it_was(tmp_path: Path) -> None:
    obj, scene = bar(), bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = pulled_until_torn(obj, LONG)
    run_steps(run, run.step + 60)
    stop()
    take, objects = scene.sinew.take, len(bpy.data.objects)
    scene.sinew.live_kept, scene.sinew.live_kept_seconds = "LAST", 0.5
    with pytest.raises(RuntimeError, match='"Bar" was torn before'):
        bpy.ops.sinew.keep_live()
    assert (scene.sinew.take, len(bpy.data.objects)) == (take, objects) and not session.bake
    assert not list(tmp_path.glob("*.sinew"))


@pytest.mark.slow
def test_the_panel_has_the_choice_beside_keep() -> None:
    jelly()
    run = started()
    run_steps(run, 4)
    scene = bpy.context.scene
    for kept, has_seconds in (("WHOLE", False), ("LAST", True)):
        scene.sinew.live_kept = kept
        drawn = FakeLayout()
        live_layout.draw_live(drawn, bpy.context)
        text = str(drawn.drawn)
        assert "live_kept" in text and ("live_kept_seconds" in text) == has_seconds


def test_escape_while_keep_waits_for_the_run_to_end_leaves_it_at_that() -> None:
    waits, left = SimpleNamespace(is_ending=True), list[object]()
    keep = SimpleNamespace(_bake=None, _run=SimpleNamespace(driver=waits), cancel=left.append)
    escape, move = (SimpleNamespace(type=kind, value="PRESS") for kind in ("ESC", "MOUSEMOVE"))
    assert live.SINEW_OT_keep_live.modal(keep, bpy.context, move) == {"PASS_THROUGH"} and not left
    assert live.SINEW_OT_keep_live.modal(keep, bpy.context, escape) == {"CANCELLED"} and len(left) == 1
