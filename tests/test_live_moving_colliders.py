# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that the timeline, a rig or a shape key moves and bends while a scene runs live in Blender."""

from __future__ import annotations

import time as clock

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, recorded, run_steps, shown, started, until
from sinew.addon.baking.addon_session import session
from sinew.addon.live import deforming_colliders, run_control
from sinew.solver.live.live_loop import replay
from sinew.solver.live.recording import read_inputs
from sinew.solver.scene.scene import Scene


def table() -> bpy.types.Object:
    """Returns a collider whose top is 1 cm below the jelly, which then lies on it."""
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(0.0, 0.0, -2.01))
    made = bpy.context.object
    made.name = "Table"
    made.scale = (3.0, 3.0, 1.0)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.ops.sinew.make_collider()
    return made


def lifting_key(obj: bpy.types.Object, rise: float) -> bpy.types.ShapeKey:
    """Adds a shape key in which the top is higher."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Lift")
    key.value = 0.0
    for vertex, point in zip(obj.data.vertices, key.data, strict=True):
        if vertex.co.z > 0.0:
            point.co.z += rise
    return key


def lowest(obj: bpy.types.Object) -> float:
    return float(shown(obj)[:, 2].min())


def run_until(frame: int, seconds: float = 10.0) -> None:
    """Lets the timeline play up to a frame, each when the run has come to its time, as a player does."""
    scene, run = bpy.context.scene, session.live
    assert run is not None
    begin, first = run.seconds, scene.frame_current
    end = clock.monotonic() + seconds + 60.0
    while scene.frame_current < frame:
        run_control.poll()
        assert session.live is run and clock.monotonic() < end, run.driver.job
        due = first + int((run.seconds - begin) * scene.render.fps)
        if due > scene.frame_current:
            scene.frame_set(min(due, frame))
        clock.sleep(0.002)


def no_worse(run: object) -> None:
    assert session.live is run and not run.note, run.note  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_keyed_collider_pushes_while_the_timeline_plays() -> None:
    box, below = jelly(), table()
    scene = bpy.context.scene
    scene.frame_set(1)
    below.keyframe_insert("location", frame=1)
    below.keyframe_insert("location", frame=12)
    below.location.z += 2.0
    below.keyframe_insert("location", frame=36)
    scene.frame_set(1)
    run = started()
    run_steps(run, 20)
    run_until(60)
    run_steps(run, run.step + 30)
    assert abs(lowest(box) - 1.0) < 0.15, "it lies on the table, 2 m higher"
    moves = [given for given in recorded(run, "set") if given["track"] == "collider.Table.matrix"]
    assert sum(given.get("at_once", False) for given in moves) >= 20, "as fast as it is animated"
    below.location.z -= 0.5
    bpy.context.view_layer.update()
    run_steps(run, run.step + 10)
    assert "at_once" not in recorded(run, "set")[-1] and recorded(run, "set")[-1]["arrives"] > 0.0
    no_worse(run)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["slider", "timeline", "armature", "mirrored"])
def test_a_collider_that_bends_pushes_and_the_run_repeats_to_the_bit(by: str) -> None:
    box, below = jelly(), table()
    scene = bpy.context.scene
    scene.frame_set(1)
    if by == "armature":
        bpy.ops.object.armature_add(location=(0.0, 0.0, -2.0))
        rig = bpy.context.object
        group = below.vertex_groups.new(name="Bone")
        group.add([v.index for v in below.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
        below.modifiers.new("Armature", "ARMATURE").object = rig
    else:
        if by == "mirrored":
            below.scale.x = -1.0
        key = lifting_key(below, 1.0)
    if by == "timeline":
        key.keyframe_insert("value", frame=8)
        key.value = 1.0
        key.keyframe_insert("value", frame=24)
    scene.frame_set(1)
    run = started()
    run_steps(run, 60)
    assert abs(lowest(box) + 1.0) < 0.15
    assert [each.owner.find() for each in run.shapes] == [below]
    if by == "timeline":
        run_until(30)
    else:
        for part in range(1, 21):
            if by == "armature":
                rig.pose.bones[0].location.y = part / 20.0  # along the bone
            else:
                key.value = part / 20.0
            bpy.context.view_layer.update()
            run_steps(run, run.step + 2)
    run_steps(run, run.step + 90)
    assert abs(lowest(box)) < 0.15, "it lies on the top, 1 m higher"
    no_worse(run)
    sent = [c for given in read_inputs(run.folder).commands.values() for c in given if c["command"] == "deform"]
    assert [c["sample"] for c in sent] == list(range(len(sent))) and len(sent) > 5
    run_control.end()
    told: list[dict] = []
    replay(run.folder, Scene.load(run.folder / "scene"), lambda: False, told.append)  # type: ignore[arg-type]
    assert told[-1]["compared"] >= 2


def test_which_colliders_may_bend() -> None:
    jelly()
    plain, keyed, subdivided, rigged, plane = table(), table(), table(), table(), table()
    lifting_key(keyed, 1.0)
    subdivided.modifiers.new("Subdivision", "SUBSURF")
    bpy.ops.object.armature_add()
    rigged.modifiers.new("Armature", "ARMATURE").object = bpy.context.object
    lifting_key(plane, 1.0)
    plane.sinew.collider_shape = "PLANE"
    from sinew.addon.export.participants import find_participants

    found = find_participants(bpy.context.scene)
    keys = deforming_colliders.find_keys(found)
    assert {obj for obj, key in found.colliders.items() if key in keys} == {keyed, rigged}
    assert plain not in {keyed, rigged}


@pytest.mark.slow
def test_a_look_at_what_has_not_changed_writes_nothing_and_is_quick() -> None:
    jelly()
    below = table()
    bpy.context.view_layer.objects.active = below
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=28)  # 5,000 vertices
    bpy.ops.object.mode_set(mode="OBJECT")
    key = lifting_key(below, 1.0)
    run, scene = started(), bpy.context.scene
    run_steps(run, 5)
    list(deforming_colliders.changes(run, scene))
    assert len(below.data.vertices) > 5000
    times = []
    for _ in range(20):
        begin = clock.thread_time()  # what else the machine does is left out
        assert not list(deforming_colliders.changes(run, scene))
        times.append(clock.thread_time() - begin)
    assert np.median(times) < 0.002
    key.value = 0.5
    bpy.context.view_layer.update()
    (command,) = deforming_colliders.changes(run, scene)
    path = run.folder / "live" / f"{command['collider']}.shapes"
    assert path.stat().st_size == 12 * len(below.data.vertices) * (command["sample"] + 1)


@pytest.mark.slow
def test_a_collider_with_other_vertices_keeps_its_last_shape_and_says_so() -> None:
    jelly()
    below = table()
    lifting_key(below, 1.0)
    mask = below.modifiers.new("Mask", "MASK")
    below.vertex_groups.new(name="Top").add([v.index for v in below.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    run = started()
    run_steps(run, 5)
    assert run.later == ""
    mask.vertex_group = "Top"
    bpy.context.view_layer.update()
    until(lambda: run.later != "")
    assert run.later.startswith('The collider "Table" has 4 vertices instead of 8, so it keeps its last shape.')
    mask.vertex_group = ""
    bpy.context.view_layer.update()
    until(lambda: run.later == "")
    assert session.live is run and not run.note, run.note
