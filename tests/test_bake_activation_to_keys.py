# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake to Keys: what each source did comes back from keys, and animation whose keys would not count is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.export_scenes import exported
from fixtures.muscle_objects import posed_muscle, pulled_muscle, select_only
from test_export_activation import SOURCE_TRACK, at_frames, curve_of, key_activation

PATH = "sinew.activation"
HEAD_TRACK = "body.Box.head.0.activation"


def bake_alone(obj: bpy.types.Object) -> None:
    select_only(obj)
    bpy.ops.sinew.bake_activation()


def push_down(obj: bpy.types.Object) -> bpy.types.NlaTrack:
    """Makes a strip of the action of an object, which then has none; returns the strip's track."""
    data = obj.animation_data
    action, slot = data.action, data.action_slot
    track = data.nla_tracks.new()
    strip = track.strips.new("Keys", 1, action)
    strip.action_slot = slot
    data.action = None
    return track


def key_location_on_track(obj: bpy.types.Object) -> bpy.types.NlaTrack:
    obj.keyframe_insert("location", frame=1)
    return push_down(obj)


def test_baked_keys_do_what_the_source_did(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    obj.sinew.activation_source = "LENGTH"
    key_activation(obj, (1, 0.1), (13, 0.2))
    obj.keyframe_insert("location", frame=1)
    former = obj.animation_data.action
    before = at_frames(exported(scene, tmp_path / "c.sinew")[1])
    select_only(obj)
    bpy.ops.sinew.bake_activation()
    action = obj.animation_data.action
    assert action != former and former.use_fake_user and obj.sinew.activation_source == "NONE"
    assert curve_of(obj, "location") is not None, "all else of the action is in the new one"
    assert len(curve_of(obj, "sinew.activation").keyframe_points) == 13
    assert at_frames(exported(scene, tmp_path / "d.sinew")[1]) == pytest.approx(before, abs=1e-6)
    with pytest.raises(RuntimeError, match="has a source"):
        bpy.ops.sinew.bake_activation()


def test_baked_keys_do_what_poses_did(tmp_path: Path) -> None:
    scene, obj, _ = posed_muscle()
    own = obj.sinew
    own.activation_source, own.rise_time, own.fall_time = "POSE", 0.0, 0.0
    select_only(obj)
    for frame, activation in ((1, 0.1), (4, 0.9), (7, 0.4)):
        scene.frame_set(frame)
        bpy.ops.sinew.store_activation_pose(activation=activation)
    scene.frame_set(1)
    key_activation(obj, (1, 0.0), (13, 0.3))
    before = at_frames(exported(scene, tmp_path / "c.sinew")[1])
    assert before[[0, 12]] == pytest.approx([0.1, 0.7], abs=1e-5) and before[3] > 0.9
    bake_alone(obj)
    assert own.activation_source == "NONE" and len(own.activation_poses) == 3, "stored poses stay"
    _, tracks = exported(scene, tmp_path / "d.sinew")
    assert at_frames(tracks) == pytest.approx(before, abs=1e-6) and not tracks.has(SOURCE_TRACK)


def test_baked_keys_do_what_the_stretch_reflex_did(tmp_path: Path) -> None:
    scene, obj = pulled_muscle(shortening=-0.2)
    own = obj.sinew
    own.activation_source = "LENGTH"
    assert not at_frames(exported(scene, tmp_path / "b.sinew")[1]).any(), "what gets longer is slack"
    own.stretch_reflex = 0.8
    before = at_frames(exported(scene, tmp_path / "c.sinew")[1])
    assert before.max() > 0.1
    bake_alone(obj)
    assert at_frames(exported(scene, tmp_path / "d.sinew")[1]) == pytest.approx(before, abs=1e-6)


def test_driven_heads_stay_driven(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    own = obj.sinew
    own.activation_source = "LENGTH"
    obj.vertex_groups.new(name="Upper").add([v.index for v in obj.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    select_only(obj)
    bpy.ops.sinew.add_table_row(table="muscle_heads")
    own.muscle_heads[0].group = "Upper"
    driver = obj.driver_add("sinew.muscle_heads[0].activation").driver
    driver.expression = "frame / 20"
    _, tracks = exported(scene, tmp_path / "c.sinew")
    before, head = at_frames(tracks), at_frames(tracks, HEAD_TRACK)
    assert head[12] == pytest.approx(13 / 20) and before.max() > 0.5
    bake_alone(obj)
    _, tracks = exported(scene, tmp_path / "d.sinew")
    assert at_frames(tracks) == pytest.approx(before, abs=1e-6)
    assert at_frames(tracks, HEAD_TRACK) == pytest.approx(head)
    assert [curve.data_path for curve in obj.animation_data.drivers] == ["sinew.muscle_heads[0].activation"]


def test_strips_of_activation_are_refused_and_left_alone(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    obj.sinew.activation_source = "LENGTH"
    key_activation(obj, (1, 0.1), (13, 0.2))
    track = push_down(obj)
    strip = track.strips[0]
    before = at_frames(exported(scene, tmp_path / "c.sinew")[1])
    with pytest.raises(RuntimeError, match='NLA strips animate the Activation of "Box".*Mute these strips'):
        bake_alone(obj)
    assert obj.animation_data.action is None and obj.sinew.activation_source == "LENGTH"
    assert track.strips[0] == strip and at_frames(exported(scene, tmp_path / "d.sinew")[1]) == pytest.approx(before)
    strip.mute = True
    obj.sinew.activation = 0.0
    before = at_frames(exported(scene, tmp_path / "e.sinew")[1])
    bake_alone(obj)
    assert at_frames(exported(scene, tmp_path / "f.sinew")[1]) == pytest.approx(before, abs=1e-6)
    assert len(curve_of(obj, PATH).keyframe_points) == 13 and strip.action is not obj.animation_data.action


def test_a_driver_is_refused() -> None:
    _, obj = pulled_muscle()
    obj.sinew.activation_source = "LENGTH"
    obj.driver_add(PATH).driver.expression = "0.5"
    with pytest.raises(RuntimeError, match='A driver sets the Activation of "Box"'):
        bake_alone(obj)


@pytest.mark.parametrize("way", ["influence", "blending", "solo"])
def test_an_action_that_would_not_count_is_refused(way: str) -> None:
    _, obj = pulled_muscle()
    obj.sinew.activation_source = "LENGTH"
    track = key_location_on_track(obj)
    key_activation(obj, (1, 0.1))
    data = obj.animation_data
    if way == "influence":
        data.action_influence = 0.5
    elif way == "blending":
        data.action_blend_type = "MULTIPLY"
    else:
        track.is_solo = True
    with pytest.raises(RuntimeError, match='The NLA of "Box" blends or silences its action'):
        bake_alone(obj)


def test_strips_of_other_properties_do_not_matter(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    obj.sinew.activation_source = "LENGTH"
    key_location_on_track(obj)
    key_activation(obj, (1, 0.1), (13, 0.2))
    before = at_frames(exported(scene, tmp_path / "c.sinew")[1])
    bake_alone(obj)
    assert at_frames(exported(scene, tmp_path / "d.sinew")[1]) == pytest.approx(before, abs=1e-6)


def test_keyed_steps_stay_steps_beside_tracks(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    key_location_on_track(obj)
    key_activation(obj, (1, 0.1), (7, 0.8))
    for point in curve_of(obj, PATH).keyframe_points:
        point.interpolation = "CONSTANT"
    stepped = np.where(np.arange(13) < 6, 0.1, 0.8)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert at_frames(tracks) == pytest.approx(stepped)
    between = [float(tracks.sample("body.Box.activation", (5 + share) / 24.0)) for share in (0.3, 0.9)]
    assert between == pytest.approx([0.1, 0.1]), "no ramp to the next key"
    push_down(obj)
    assert at_frames(exported(scene, tmp_path / "d.sinew")[1]) == pytest.approx(stepped, abs=1e-6)
    _, tracks = exported(scene, tmp_path / "e.sinew")
    assert float(tracks.sample("body.Box.activation", 5.5 / 24.0)) == pytest.approx(0.45), "a strip may fade"
