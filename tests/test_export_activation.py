# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources of activation in Blender: tracks, keys and controls made of them, digests, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from fixtures.muscle_objects import posed_muscle, pulled_muscle, select_only
from sinew.addon.blender_data.animation_curves import action_curves
from sinew.addon.export.activation_inputs import columns_of_file
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.panels import activation_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.scene.activation.activation_dynamics import activation_over_time
from test_addon import context_of

FPS = 24.0
FRAMES = np.arange(13)  # from the first one on
TRACK, SOURCE_TRACK = "body.Box.activation", "body.Box.activation_source"


def at_frames(tracks, name: str = TRACK) -> np.ndarray:
    return np.array([float(tracks.sample(name, frame / FPS)) for frame in FRAMES])


def key_activation(obj: bpy.types.Object, *keys: tuple[int, float]) -> None:
    for frame, value in keys:
        obj.sinew.activation = value
        obj.sinew.keyframe_insert("activation", frame=frame)


def curve_of(obj: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    data = obj.animation_data
    return next((c for c in action_curves(data.action, data.action_slot) if c.data_path == path), None)


def test_heads_arrive_with_weights_and_keys(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    for name, side in (("Long", 1.0), ("Short", -1.0)):
        group = obj.vertex_groups.new(name=name)
        group.add([v.index for v in obj.data.vertices if side * v.co.z > 0.0], 1.0, "REPLACE")
        bpy.ops.sinew.add_table_row(table="muscle_heads")
        obj.sinew.muscle_heads[-1].group = name
    short = obj.sinew.muscle_heads[1]
    for frame, value in ((1, 0.0), (13, 0.6)):
        short.activation = value
        short.keyframe_insert("activation", frame=frame)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    muscle = written.bodies[0].muscle
    assert muscle is not None and [head.weights.sum() > 0 for head in muscle.heads] == [True, True]
    assert at_frames(tracks, "body.Box.head.1.activation")[[0, -1]] == pytest.approx([0.0, 0.6])
    assert not tracks.has("body.Box.head.0.activation")
    before = settings_digest(scene)
    scene.frame_set(5)
    assert settings_digest(scene) == before, "keys, not the value at the playhead"
    obj.sinew.muscle_heads[0].activation = 0.3
    assert settings_digest(scene) != before
    obj.sinew.muscle_heads_index = 0
    bpy.ops.sinew.remove_table_row(table="muscle_heads")
    assert [row.group for row in obj.sinew.muscle_heads] == ["Short"]
    assert curve_of(obj, "sinew.muscle_heads[0].activation") and not curve_of(obj, "sinew.muscle_heads[1].activation")


def test_a_path_that_shortens_activates_and_keys_are_added(tmp_path: Path) -> None:
    scene, obj = pulled_muscle(shortening=0.2)
    obj.sinew.activation_source, obj.sinew.shortening_full = "LENGTH", 0.4
    key_activation(obj, (1, 0.0), (13, 0.8))
    curve = curve_of(obj, "sinew.activation")
    before = [tuple(point.co) for point in curve.keyframe_points]
    _, tracks = exported(scene, tmp_path / "c.sinew")
    shortening = 0.2 * np.minimum(FRAMES / 6.0, 1.0)
    expected = np.interp(FRAMES / FPS, *activation_over_time(FRAMES / FPS, shortening / 0.4, 0.05, 0.10))
    found = at_frames(tracks, SOURCE_TRACK)
    assert found == pytest.approx(expected, abs=1e-4) and found[-1] == pytest.approx(0.5, abs=0.01)
    keyed = np.array([curve.evaluate(1 + frame) for frame in FRAMES])
    assert at_frames(tracks) == pytest.approx(np.minimum(found + keyed, 1.0), abs=1e-4)
    assert at_frames(tracks)[-1] == 1.0
    assert [tuple(point.co) for point in curve.keyframe_points] == before


def test_a_via_point_bends_the_path_and_a_fit_finds_its_range(tmp_path: Path) -> None:
    scene, obj = pulled_muscle(shortening=0.2)
    via = bpy.data.objects.new("Via", None)
    scene.collection.objects.link(via)
    via.location.z = 0.5
    obj.sinew.activation_source = "LENGTH"
    before = settings_digest(scene)
    select_only(obj, via)
    bpy.ops.sinew.add_table_row(table="via_points")
    assert [row.object for row in obj.sinew.via_points] == [via] and settings_digest(scene) != before
    bpy.ops.sinew.fit_length_range()
    ends = np.hypot(0.5, 0.5) + np.hypot(0.3, 0.5)
    assert obj.sinew.shortening_full == pytest.approx(1.0 - ends / (2.0 * np.hypot(0.5, 0.5)), abs=1e-5)
    assert obj.sinew.shortening_start == pytest.approx(0.0, abs=1e-6)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert at_frames(tracks)[-1] == pytest.approx(1.0, abs=0.02)
    bpy.ops.sinew.add_table_row(table="response_points")
    points = obj.sinew.response_points
    assert [(row.share, row.activation) for row in points] == [(0.0, 0.0), (1.0, 1.0)]
    before = settings_digest(scene)
    points[1].activation = 0.3
    assert settings_digest(scene) != before
    _, tracks = exported(scene, tmp_path / "e.sinew")
    assert at_frames(tracks)[-1] == pytest.approx(0.3, abs=0.01)
    points[1].share = 0.0
    assert refused(scene, tmp_path / "d.sinew").kind == "response-points-same"
    bpy.ops.sinew.remove_table_row(table="response_points")
    scene.collection.objects.unlink(via)
    assert refused(scene, tmp_path / "d.sinew").kind == "activation-object-elsewhere"


def test_the_ends_follow_the_bones_of_an_armature(tmp_path: Path) -> None:
    scene, obj, _ = posed_muscle(turn=1.2)
    obj.sinew.activation_source = "LENGTH"
    obj.sinew.rise_time = 0.0
    _, tracks = exported(scene, tmp_path / "c.sinew")
    # two arms of length 1 that meet at the origin
    shortening = 1.0 - np.cos(0.5 * 1.2)
    assert at_frames(tracks, SOURCE_TRACK)[7:] == pytest.approx(shortening / 0.25, abs=1e-3)


def test_activations_of_stored_poses_come_back(tmp_path: Path) -> None:
    scene, obj, rig = posed_muscle(turn=1.2)
    own = obj.sinew
    own.activation_source, own.rise_time, own.fall_time = "POSE", 0.0, 0.0
    assert refused(scene, tmp_path / "b.sinew").kind == "poses-none"
    select_only(obj)
    for frame, activation in ((1, 0.1), (4, 0.9), (7, 0.4)):
        scene.frame_set(frame)
        bpy.ops.sinew.store_activation_pose(activation=activation)
    assert [each.name for each in own.activation_poses[0].rotations] == ["upper"], "the joint between the ends"
    _, tracks = exported(scene, tmp_path / "c.sinew")
    found = at_frames(tracks)
    assert found[[0, 3, 6, 12]] == pytest.approx([0.1, 0.9, 0.4, 0.4], abs=1e-5)
    before = settings_digest(scene)
    own.activation_poses[1].activation = 0.5
    assert settings_digest(scene) != before
    before = settings_digest(scene)
    own.activation_poses_index = 1
    scene.frame_set(5)
    bpy.ops.sinew.update_activation_pose()
    assert settings_digest(scene) != before
    scene.frame_set(7)
    bpy.ops.sinew.update_activation_pose()
    assert refused(scene, tmp_path / "d.sinew").kind == "poses-same"
    rig.data.bones["upper"].name = "renamed"
    bpy.ops.sinew.remove_table_row(table="activation_poses")
    assert refused(scene, tmp_path / "e.sinew").kind == "pose-bone-gone"


def test_a_column_of_a_file_activates(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    path = tmp_path / "emg.csv"
    path.write_text("time,biceps\n0,0\n0.2,0\n0.2,80\n1,80\n")
    own = obj.sinew
    own.activation_source = "DATA"
    assert refused(scene, tmp_path / "b.sinew").kind == "data-file-none"
    own.activation_file, own.activation_column = str(path), "triceps"
    assert refused(scene, tmp_path / "b.sinew").kind == "data-column"
    own.activation_column, own.data_scale, own.data_offset = "biceps", 0.01, 0.1
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert float(tracks.sample(TRACK, 0.29)) == 0.0
    assert float(tracks.sample(TRACK, 0.3 + 0.05)) == pytest.approx(0.8 * (1.0 - np.exp(-1.0)), abs=1e-3)
    before = settings_digest(scene)
    path.write_text("time,biceps\n0,0\n0.2,0\n0.2,80\n1,90\n")
    assert settings_digest(scene) != before
    path.unlink()
    assert refused(scene, tmp_path / "d.sinew").kind == "data-file"


def test_a_flex_control_drives_its_muscles(tmp_path: Path) -> None:
    scene, obj, rig = posed_muscle()
    other = add_box("Loose")
    select_only(obj, other, rig)
    bpy.ops.sinew.add_flex_controls(group="Arm")
    limits = rig.id_properties_ui("Flex Arm").as_dict()
    assert (rig["Flex Arm"], limits["min"], limits["max"]) == (0.0, 0.0, 1.0)
    before = settings_digest(scene)
    rig["Flex Arm"] = 0.7
    assert settings_digest(scene) != before
    rig.update_tag()
    assert at_frames(exported(scene, tmp_path / "c.sinew")[1]) == pytest.approx(0.7)
    for frame, value in ((1, 0.0), (13, 0.6)):
        rig["Flex Arm"] = value
        rig.keyframe_insert('["Flex Arm"]', frame=frame)
    assert at_frames(exported(scene, tmp_path / "d.sinew")[1])[[0, -1]] == pytest.approx([0.0, 0.6])
    bpy.ops.sinew.add_flex_controls()
    drivers = [curve for curve in obj.animation_data.drivers if curve.data_path == "sinew.activation"]
    assert len(drivers) == 1 and "Flex Box" in rig, "one control of a muscle at a time"
    obj.driver_remove("sinew.activation")
    key_activation(obj, (1, 0.1))
    with pytest.raises(RuntimeError, match="override"):
        bpy.ops.sinew.add_flex_controls()


def test_the_panel_shows_source_and_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, obj = pulled_muscle()
    obj.sinew.activation_source, obj.sinew.activation = "LENGTH", 0.25
    monkeypatch.setattr(activation_layout, "body_folder", lambda _, __: tmp_path / "c.sinew")
    monkeypatch.setattr(activation_layout, "draw_wrapped", lambda layout, line, *_: layout.label(text=line))
    scene.frame_set(13)

    def lines() -> list[str]:
        layout = FakeLayout()
        activation_layout.draw_activation(layout, context_of(obj))
        return layout.lines

    assert activation_layout.NOT_BAKED_NOTE in lines()
    exported(scene, tmp_path / "c.sinew")
    assert "Source 0.80" in lines() and "With Activation 0.25: 1.00" in lines()


def test_rows_and_what_they_point_to_are_copied_to_other_muscles() -> None:
    scene, obj = pulled_muscle()
    row = add_row(obj.sinew.activation_poses)
    row.name, row.activation = "Curl", 0.5
    row.rotations.add().name = "upper"
    other = add_box("Other")
    select_only(other)
    bpy.ops.sinew.make_flesh()
    select_only(obj, other)
    bpy.ops.sinew.copy_settings()
    copied = other.sinew.activation_poses
    assert [(each.name, each.activation, [r.name for r in each.rotations]) for each in copied] == [
        ("Curl", 0.5, ["upper"])
    ]


def test_an_end_follows_what_holds_it(tmp_path: Path) -> None:
    """Pinned vertices the animated mesh, others the vertices of a bone mesh that deforms."""
    scene, obj = pulled_muscle(shortening=0.2)
    obj.sinew.activation_source, obj.sinew.rise_time = "LENGTH", 0.0
    moving = bpy.data.objects["Moving"]
    moving.animation_data_clear()
    moving.location.x = 0.6
    moving.shape_key_add(name="Basis")
    key = moving.shape_key_add(name="Nearer")
    for point in key.data:
        point.co.x -= 0.1 / 0.2  # its scale
    for frame, value in ((1, 0.0), (7, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert at_frames(tracks)[-1] == pytest.approx(0.1 / 0.25, abs=1e-4)
    obj.shape_key_add(name="Basis")
    squeezed = obj.shape_key_add(name="Squeezed")
    for point in squeezed.data:
        point.co.x *= 0.9
    for frame, value in ((1, 0.0), (7, 1.0)):
        squeezed.value = value
        squeezed.keyframe_insert("value", frame=frame)
    group = obj.vertex_groups.new(name="Pins")
    group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    _, tracks = exported(scene, tmp_path / "d.sinew")
    assert at_frames(tracks)[-1] == pytest.approx(0.1 / 0.25, abs=1e-4)
    group.remove([v.index for v in obj.data.vertices if v.co.x > 0.4])
    _, tracks = exported(scene, tmp_path / "e.sinew")
    assert at_frames(tracks)[-1] == pytest.approx(0.15 / 0.25, abs=1e-4)


def test_the_rest_shape_follows_activation_to_the_flexed_shape(tmp_path: Path) -> None:
    scene, obj = pulled_muscle()
    obj.shape_key_add(name="Basis")
    flexed = obj.shape_key_add(name="Flexed")
    for point in flexed.data:
        point.co.z *= 1.4
    key_activation(obj, (1, 0.0), (13, 0.6))
    obj.sinew.muscle_strength, obj.sinew.flexed_shape = 0.5, "Gone"
    assert refused(scene, tmp_path / "b.sinew").kind == "flexed-shape-gone"
    obj.sinew.flexed_shape = "Basis"
    assert refused(scene, tmp_path / "b.sinew").kind == "flexed-shape-not-relative"
    before = settings_digest(scene)
    obj.sinew.flexed_shape = "Flexed"
    assert settings_digest(scene) != before
    flexed.value = 1.0
    assert refused(scene, tmp_path / "b.sinew").kind == "flexed-shape-on"
    flexed.value = 0.0
    written, tracks = exported(scene, tmp_path / "c.sinew")
    at_rest = written.bodies[0].vertices
    assert tracks.sample("body.Box.rest", 0.0) == pytest.approx(at_rest)
    widened = tracks.sample("body.Box.rest", 12 / FPS) - at_rest
    assert widened[:, 2] == pytest.approx(0.4 * 0.3 * at_rest[:, 2], abs=1e-6) and not widened[:, :2].any()
    assert flexed.value == 0.0, "nothing of the file changes"


def test_the_columns_of_the_file_are_suggested(tmp_path: Path) -> None:
    _, obj = pulled_muscle()
    assert columns_of_file(obj) == []
    (tmp_path / "emg.csv").write_text("time,biceps,triceps\n0,0,0\n")
    obj.sinew.activation_file = str(tmp_path / "emg.csv")
    assert columns_of_file(obj) == ["biceps", "triceps"]
