# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that rigid bodies drive move in the viewport while Live runs or a bake goes on, and come back."""

from __future__ import annotations

import time as clock
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import recorded, run_steps, started, until
from fixtures.ragdoll_scenes import add_tube, limb, make_ragdoll
from sinew.addon import handlers
from sinew.addon.baking import bake_control, bake_status, running_bake_poses
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data.animation_curves import action_curves
from sinew.addon.export.input_digest import digests
from sinew.addon.live import run_control

pytestmark = pytest.mark.slow

CLOSE = 2.0e-5


def hanging_limb() -> tuple[bpy.types.Object, dict[str, bpy.types.Object]]:
    """Returns a turned and scaled armature whose upper bone is not driven, and the bodies on the others."""
    fresh()
    rig = limb()
    rig.location, rig.rotation_euler, rig.scale = (1.0, 0.0, 0.5), (0.2, 0.1, 0.3), (1.5, 1.5, 1.5)
    rig.pose.bones["Lower"].rotation_mode = "XYZ"
    rig.pose.bones["Lower"].rotation_euler = (0.0, 0.0, 0.4)
    rig.pose.bones["Lower"].keyframe_insert("rotation_euler", frame=1)
    bodies = make_ragdoll(rig)
    bpy.data.objects.remove(bodies.pop("Upper"))
    bpy.context.view_layer.update()
    return rig, bodies


def posed(rig: bpy.types.Object) -> dict[str, np.ndarray]:
    """Returns world ← bone as it is seen now, by name."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: np.array(evaluated.matrix_world @ bone.matrix) for bone in evaluated.pose.bones}


def seen(obj: bpy.types.Object) -> np.ndarray:
    """Returns the vertices of a mesh as they are seen now, world, (n, 3)."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])


def in_bone(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    return (points - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T


def keyed(rig: bpy.types.Object) -> list[tuple[float, ...]]:
    """Returns the keys of the artist's action."""
    data = rig.animation_data
    return [tuple(p.co) for curve in action_curves(data.action, data.action_slot) for p in curve.keyframe_points]


def constraints(rig: bpy.types.Object) -> list[str]:
    """Returns the names of all constraints of a file."""
    owners = [*bpy.data.objects, *rig.pose.bones]
    return [each.name for owner in owners for each in owner.constraints]


def test_bones_go_with_their_bodies_and_come_back(tmp_path: Path) -> None:
    rig, bodies = hanging_limb()
    bpy.ops.object.empty_add()
    ring = bpy.context.object
    ring.parent, ring.parent_type, ring.parent_bone = rig, "BONE", "Hand"
    scene = bpy.context.scene
    before, rest, places = posed(rig), {name: seen(obj) for name, obj in bodies.items()}, ring.matrix_world.copy()
    action, stamp = rig.animation_data.action, digests(scene)
    keys = keyed(rig)
    run = started()
    run_steps(run, 12)
    now = posed(rig)
    assert np.abs(now["Hand"] - before["Hand"]).max() > 0.02
    np.testing.assert_allclose(now["Upper"], before["Upper"], atol=1e-7)  # nothing drives it
    for name, obj in bodies.items():
        own = in_bone(now[name], seen(obj))
        assert np.abs(own - in_bone(before[name], rest[name])).max() < CLOSE, name
    bpy.context.view_layer.update()
    assert np.abs(np.array(ring.matrix_world) - np.array(places)).max() > 0.02  # what hangs on a bone goes along
    assert not recorded(run, "set")  # a run does not hear of its own motion
    assert digests(scene) == stamp
    path = tmp_path / "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    with bpy.data.libraries.load(str(path)) as (found, loaded):
        loaded.objects = [name for name in found.objects if name == rig.name]
    saved = loaded.objects[0]
    assert not any(each.constraints for each in saved.pose.bones)
    bpy.data.objects.remove(saved)
    run_steps(run, run.step + 2)
    assert constraints(rig)
    bpy.ops.sinew.stop_live()
    assert not constraints(rig)
    until(lambda: session.live is None)
    for name, matrix in posed(rig).items():
        np.testing.assert_array_equal(matrix, before[name])
    bpy.context.view_layer.update()
    np.testing.assert_allclose(ring.matrix_world, places, atol=1e-6)
    assert rig.animation_data.action == action
    assert keyed(rig) == keys


def test_an_undo_lets_bones_be_as_they_were() -> None:
    rig, _ = hanging_limb()
    before = posed(rig)
    run = started()
    run_steps(run, 8)
    assert constraints(rig)
    run_control.hide_for_undo()  # as before Blender reads an undo step
    assert not constraints(rig)
    run_control.end_by_undo()
    assert session.live is None
    for name, matrix in posed(rig).items():
        np.testing.assert_array_equal(matrix, before[name])


def test_flesh_on_driven_bones_is_seen_where_the_run_has_it() -> None:
    """Its mesh follows the armature too, but plays its samples, which know the bodies."""
    rig, bodies = hanging_limb()
    rig.matrix_world = np.eye(4)
    flesh = add_tube(rig)
    bpy.context.view_layer.objects.active = flesh
    bpy.ops.sinew.make_body()
    flesh.sinew.divisions = 6
    run = started()
    run_steps(run, 10)
    assert not recorded(run, "set")
    lower = seen(bodies["Lower"]).mean(axis=0)
    group = flesh.vertex_groups["Lower"].index
    own = [v.index for v in flesh.data.vertices if any(g.group == group for g in v.groups)]
    assert np.linalg.norm(seen(flesh)[own].mean(axis=0) - lower) < 0.1
    assert bake_status.status(bpy.context.scene) is not None


@pytest.mark.parametrize("is_saved", [False, True])
def test_bones_go_with_a_bake_that_goes_on(is_saved: bool, tmp_path: Path) -> None:
    rig, bodies = hanging_limb()
    scene = bpy.context.scene
    rig.keyframe_insert("location", frame=1)
    rig.location.x += 0.3
    rig.keyframe_insert("location", frame=12)
    scene.frame_end = 120  # so that it still goes on when it is looked at
    scene.frame_set(1)
    before, rest = posed(rig), {name: seen(obj) for name, obj in bodies.items()}
    scene.frame_set(4)
    animated = posed(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bake_control.start(scene)
    while bake_control.poll() and (session.bake.driver.job.frame or 0) < 6:
        clock.sleep(0.005)
    assert session.bake is not None and session.bake.driven
    handlers.frame_change_pre(scene)
    for frame in (3, 4):
        scene.frame_set(frame)
        running_bake_poses.follow(scene)  # as Blender's handler does
        now = posed(rig)
        for name, obj in bodies.items():
            own = in_bone(now[name], seen(obj))
            assert np.abs(own - in_bone(before[name], rest[name])).max() < CLOSE, (name, frame)
    assert np.abs(now["Hand"] - animated["Hand"]).max() > 0.01
    if is_saved:
        handlers.save_pre("")
        assert not constraints(rig)
    scene.frame_set(400)
    running_bake_poses.follow(scene)
    assert not constraints(rig)  # what is not baked yet stays as it is animated
    scene.frame_set(4)
    while bake_control.poll():
        clock.sleep(0.005)
    assert not constraints(rig)
    scene.frame_set(4)
    np.testing.assert_allclose(posed(rig)["Hand"], now["Hand"], atol=CLOSE)  # the strip says the same
