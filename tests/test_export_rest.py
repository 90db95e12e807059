# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest pose, the way to the first frame, and the rest shape that shape keys make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_driven_shape_key, counts, evaluated, fresh, world
from fixtures.export_scenes import exported
from fixtures.flesh_rigs import arm, bent, bone_mesh, by_bone_of_armature, first_time, moved, reshaped, rolling, turn
from sinew.addon.evaluation import sample_times
from sinew.addon.export import input_warnings
from sinew.addon.objects import roles

# the rest pose and the pre-roll


def moving_arm() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns flesh bent by its rig, a bone on the rig and a collider, which all move from frame 1 to 9."""
    obj = arm()
    bent(obj, frames=(1, 9))
    obj.vertex_groups.new(name="Pin").add([0, 1], 1.0, "REPLACE")
    obj.sinew.pin_group = "Pin"
    bone = bone_mesh()
    by_bone_of_armature(bone)
    ground = add_box("Ground")
    roles.make_collider(ground)
    ground.location.x = 5.0
    turn(ground, (1, 9))
    return obj, bone, ground


def test_a_rest_frame_before_the_first_brings_its_own_pre_roll(tmp_path: Path) -> None:
    obj, bone, ground = moving_arm()
    scene = rolling(2, preroll=50)
    scene.sinew.samples_per_frame = 2
    seen = {f: (world(*evaluated(obj, f)), world(*evaluated(bone, f)), evaluated(ground, f)[1]) for f in (2, 3, 5, 9)}
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.settings.preroll == 3 and written.settings.frame_start == 5
    assert np.abs(written.bodies[0].vertices - seen[2][0]).max() < 1e-6
    assert np.abs(written.bones[0].vertices - seen[2][1]).max() < 1e-6
    pinned = written.bodies[0].pinned
    for frame, (skin, femur, place) in seen.items():
        time = written.settings.time(frame)
        assert np.abs(tracks.sample("body.Arm.targets", time) - skin[pinned]).max() < 1e-5
        assert np.abs(moved(written.bones[0], tracks, time) - femur).max() < 1e-5
        assert np.abs(tracks.sample("collider.Ground.matrix", time) - place).max() < 1e-5
    between = world(*evaluated(bone, 3, 0.5))
    assert np.abs(moved(written.bones[0], tracks, -1.5 / 24) - between).max() < 1e-5, "samples of parts of frames, too"
    for name in ("gravity", "body.Arm.matrix", "body.Arm.targets", "bone.Femur.matrix", "collider.Ground.matrix"):
        assert first_time(tracks, name) == -3 / 24


@pytest.mark.parametrize("rest", [5, 9, 12])
def test_a_rest_frame_from_the_first_on_is_gone_from_in_the_pre_roll(rest: int, tmp_path: Path) -> None:
    obj, bone, _ = moving_arm()
    scene = rolling(rest, preroll=6)
    skin, femur = world(*evaluated(obj, rest)), {f: world(*evaluated(bone, f)) for f in (5, 8, rest)}
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.settings.preroll == 6
    assert np.abs(written.bodies[0].vertices - skin).max() < 1e-6
    assert np.abs(written.bones[0].vertices - femur[rest]).max() < 1e-6
    for time, frame in ((-6 / 24, rest), (0.0, 5), (3 / 24, 8)):
        assert np.abs(moved(written.bones[0], tracks, time) - femur[frame]).max() < 1e-5
    assert first_time(tracks, "bone.Femur.matrix") == -6 / 24
    turns = tracks.sample("bone.Femur.matrix", -3 / 24)[:3, :3]
    assert np.abs(turns @ turns.T - np.eye(3)).max() < 1e-6, "it turns half the way, and keeps its size"


def test_another_pose_than_the_first_takes_a_frame_at_least(tmp_path: Path) -> None:
    moving_arm()
    scene = rolling(9)
    assert [m.time for m in sample_times.sample_times(scene)[:2]] == [-1 / 24, 0.0]
    assert exported(scene, tmp_path / "c.sinew")[0].settings.preroll == 1
    scene = rolling(5)
    assert sample_times.preroll(scene) == 0 and len(sample_times.sample_times(scene)) == 5


def test_without_a_rest_frame_the_first_frame_is_the_rest_pose_and_a_pre_roll_settles_in_it(tmp_path: Path) -> None:
    obj, _, _ = moving_arm()
    scene = rolling(None)
    scene.sinew.rest_frame = 2
    skin = world(*evaluated(obj, 5))
    written, tracks = exported(scene, tmp_path / "a.sinew")
    assert written.settings.preroll == 0 and first_time(tracks, "bone.Femur.matrix") == 0.0
    assert np.abs(written.bodies[0].vertices - skin).max() < 1e-6
    scene.sinew.preroll = 7
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert written.settings.preroll == 7 and first_time(tracks, "bone.Femur.matrix") == -7 / 24
    for time in (-7 / 24, -2 / 24, 0.0):
        assert np.array_equal(tracks.sample("bone.Femur.matrix", time), np.eye(4))


def test_what_simulates_above_is_run_up_to_the_rest_frame_and_again(tmp_path: Path) -> None:
    fresh()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6)
    obj = bpy.context.object
    obj.vertex_groups.new(name="Hung").add([0, 1, 2], 1.0, "REPLACE")
    obj.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "Hung"
    obj.sinew.role = "BONE"
    roles.make_flesh(add_box("Arm"))
    seen = {frame: world(*evaluated(obj, frame)) for frame in range(1, 13)}
    scene = rolling(11, preroll=2)
    scene.frame_set(1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert np.abs(written.bones[0].vertices - seen[11]).max() < 1e-5
    for frame in (5, 9):
        assert np.abs(moved(written.bones[0], tracks, (frame - 5) / 24) - seen[frame]).max() < 1e-5


# the rest shape


def frozen(obj: bpy.types.Object, rig: bpy.types.Object, value: float, frame: int) -> np.ndarray:
    """Returns what Blender shows at a frame if the shape key has that value."""
    keys = obj.data.shape_keys
    action, keys.animation_data.action = keys.animation_data.action, None
    slot = action.slots[0]
    keys.key_blocks["Lean"].value = value
    points = world(*evaluated(obj, frame))
    keys.animation_data.action = action
    keys.animation_data.action_slot = slot
    return points


def test_the_rest_shape_follows_shape_keys_in_the_rest_pose(tmp_path: Path) -> None:
    obj, rig = reshaped()
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    obj.modifiers["Subdivision"].render_levels = 1
    obj.modifiers.move(2, 0)
    obj.rotation_euler, obj.scale = (0.0, 0.4, 0.0), (1.0, -1.0, 1.0)
    scene = rolling(3, start=3, end=9)
    scene.unit_settings.scale_length = 2.0
    now = {frame: keyed_value(obj, frame) for frame in (3, 6, 9)}
    seen = {frame: 2.0 * frozen(obj, rig, value, 3) for frame, value in now.items()}
    assert np.abs(seen[9] - seen[3]).max() > 0.3
    before = counts()
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert counts() == before
    body = written.bodies[0]
    assert np.abs(tracks.sample("body.Belly.rest", 0.0) - body.vertices).max() < 1e-6
    for frame, points in seen.items():
        assert np.abs(tracks.sample("body.Belly.rest", (frame - 3) / 24) - points).max() < 1e-5, frame


def keyed_value(obj: bpy.types.Object, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return obj.data.shape_keys.key_blocks["Lean"].value


def test_driven_muted_and_absolute_keys(tmp_path: Path) -> None:
    obj = arm("Belly")
    rig = bent(obj, frames=(1, 9))
    add_driven_shape_key(obj, rig)
    obj.sinew.rest_from_keys = True
    scene = bpy.context.scene
    scene.frame_end = 9
    wide = np.array([p.co for p in obj.data.shape_keys.key_blocks["Wide"].data])
    basis = np.array([p.co for p in obj.data.shape_keys.key_blocks[0].data])
    _, tracks = exported(scene, tmp_path / "a.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - wide).max() < 1e-5, "the bend drives it to 1"
    assert np.abs(tracks.sample("body.Belly.rest", 0.0) - basis).max() < 1e-5
    obj.data.shape_keys.key_blocks["Wide"].mute = True
    _, tracks = exported(scene, tmp_path / "b.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - basis).max() < 1e-5
    keys = obj.data.shape_keys
    keys.key_blocks["Wide"].mute = False
    keys.use_relative = False
    for frame, block in ((1, 0), (9, 1)):
        keys.eval_time = keys.key_blocks[block].frame
        keys.keyframe_insert("eval_time", frame=frame)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert np.abs(tracks.sample("body.Belly.rest", 8 / 24) - wide).max() < 1e-5


def test_pins_follow_the_reshaped_mesh_in_its_pose(tmp_path: Path) -> None:
    """Rest shape and targets agree: what is pinned has no stress of its own where the keys alone move it."""
    obj, rig = reshaped()
    rig.animation_data_clear()
    rig.pose.bones["upper"].rotation_euler.x = 0.0
    obj.vertex_groups.new(name="Pin").add(list(range(20)), 1.0, "REPLACE")
    obj.sinew.pin_group = "Pin"
    scene = bpy.context.scene
    scene.frame_end = 9
    written, tracks = exported(scene, tmp_path / "c.sinew")
    rest, targets = tracks.sample("body.Belly.rest", 8 / 24), tracks.sample("body.Belly.targets", 8 / 24)
    assert np.abs(rest[written.bodies[0].pinned] - targets).max() < 1e-6
    assert np.abs(targets - tracks.sample("body.Belly.targets", 0.0)).max() > 0.1


def test_no_rest_shape_where_none_is_asked_for(tmp_path: Path) -> None:
    obj, _ = reshaped()
    bpy.context.scene.frame_end = 2
    obj.sinew.motion = "ELASTIC"
    assert not exported(bpy.context.scene, tmp_path / "a.sinew")[1].has("body.Belly.rest")
    obj.sinew.motion, obj.sinew.rest_from_keys = "JIGGLE", False
    assert not exported(bpy.context.scene, tmp_path / "b.sinew")[1].has("body.Belly.rest")
    obj.sinew.rest_from_keys = True
    assert exported(bpy.context.scene, tmp_path / "c.sinew")[1].has("body.Belly.rest")
    obj.shape_key_clear()
    assert not exported(bpy.context.scene, tmp_path / "d.sinew")[1].has("body.Belly.rest")


def test_shape_keys_that_flesh_does_not_follow_are_told() -> None:
    obj, _ = reshaped()
    bone_mesh()
    assert list(input_warnings.input_warnings(bpy.context.scene)) == []
    obj.sinew.rest_from_keys = False
    (note,) = input_warnings.input_warnings(bpy.context.scene)
    assert note.kind == "keys-not-followed" and '"Belly"' in note.sentence
    obj.sinew.motion, obj.sinew.youngs_modulus = "ELASTIC", 1.0e6
    assert list(input_warnings.input_warnings(bpy.context.scene)) == []
