# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on colliders as properties of objects: for drivers, beside the artist's animation, gone with the bake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, counts, fresh
from sinew.addon.baking import attach_force_curves
from sinew.addon.blender_data import collider_force_curves
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.solver.bake.cache import layout


def ground() -> bpy.types.Object:
    obj = add_box("Ground")
    roles.make_collider(obj)
    return obj


def report(folder: Path, factor: float = 1.0, frames: int = 10, key: str = "Ground") -> None:
    folder.mkdir(exist_ok=True)
    lines = [
        f'{{"frame": {frame}, "colliders": {{"{key}": [0, 0, {-factor * frame}, {2 * frame}, 0, 0]}}}}\n'
        for frame in range(2, frames + 1)
    ]
    (folder / layout.REPORT_FILE).write_text("".join(['{"frame": 1}\n', *lines]))


def create(folder: Path) -> None:
    """Gives all colliders curves, as the button does."""
    scene = bpy.context.scene
    attach_force_curves.create_curves(scene, roles.colliders(scene), folder)


def at(obj: bpy.types.Object, frame: int) -> tuple[list[float], list[float]]:
    bpy.context.scene.frame_set(frame)
    seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return list(seen["sinew_force"]), list(seen["sinew_torque"])


def test_drivers_read_the_force_of_the_frame(tmp_path: Path) -> None:
    fresh()
    obj, follower = ground(), add_box("Follower")
    report(tmp_path / "c")
    create(tmp_path / "c")
    curve = follower.driver_add("location", 2)
    variable = curve.driver.variables.new()
    variable.name, curve.driver.expression = "pressed", "pressed"
    variable.targets[0].id, variable.targets[0].data_path = obj, '["sinew_force"][2]'
    for frame in (2, 5, 10):
        force, torque = at(obj, frame)
        assert force == pytest.approx([0.0, 0.0, -frame]) and torque == pytest.approx([2.0 * frame, 0.0, 0.0])
        z = follower.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z
        assert z == pytest.approx(-frame)
    assert at(obj, 30)[0][2] == pytest.approx(-10.0)


def test_nothing_is_written_before_it_is_asked_for(tmp_path: Path) -> None:
    scene = fresh()
    obj, many = ground(), counts()
    report(tmp_path / "c")
    attach_force_curves.refresh_curves(scene, tmp_path / "c")
    assert counts() == many and "sinew_force" not in obj and obj.animation_data is None
    create(tmp_path / "c")
    assert at(obj, 4)[0][2] == pytest.approx(-4.0)
    obj.select_set(True)
    assert bpy.ops.sinew.remove_force_curves() == {"FINISHED"}
    assert counts() == many and "sinew_force" not in obj and obj.animation_data is None


def test_the_artists_animation_stays_as_it_is(tmp_path: Path) -> None:
    scene = fresh()
    obj = ground()
    for frame, x in ((1, 0.0), (11, 5.0)):
        obj.location.x = x
        obj.keyframe_insert("location", index=0, frame=frame)
    obj["mine"] = 3.0
    action, slot = obj.animation_data.action, obj.animation_data.action_slot
    before = {frame: (scene.frame_set(frame), obj.location.x)[1] for frame in range(1, 14)}
    curves = len(action.layers[0].strips[0].channelbag(slot).fcurves)
    digest, many = settings_digest(scene), counts()
    report(tmp_path / "c")
    create(tmp_path / "c")
    data = obj.animation_data
    assert (data.action, data.action_slot) == (action, slot)
    assert len(action.layers[0].strips[0].channelbag(slot).fcurves) == curves
    assert {frame: (scene.frame_set(frame), obj.location.x)[1] for frame in range(1, 14)} == before
    assert settings_digest(scene) == digest  # what came out of a bake makes none out of date
    attach_force_curves.refresh_curves(scene, tmp_path / "none")
    assert counts() == many and data.action == action and not len(data.nla_tracks)
    assert obj["mine"] == 3.0 and not any(name in obj for name in collider_force_curves.PROPERTY_DESCRIPTIONS)


def test_nothing_is_left_where_nothing_was(tmp_path: Path) -> None:
    scene = fresh()
    obj, many = ground(), counts()
    report(tmp_path / "c")
    create(tmp_path / "c")
    assert obj.animation_data is not None
    attach_force_curves.refresh_curves(scene, tmp_path / "none", detach_missing=False)
    assert obj.animation_data is not None  # the drive may come back
    attach_force_curves.refresh_curves(scene, tmp_path / "none")
    assert obj.animation_data is None and "sinew_force" not in obj and counts() == many


def test_another_bake_takes_the_place(tmp_path: Path) -> None:
    scene = fresh()
    obj = ground()
    report(tmp_path / "c", 2.0)
    create(tmp_path / "c")
    for factor in (1.0, 30.0):
        report(tmp_path / "c", factor)
        attach_force_curves.refresh_curves(scene, tmp_path / "c")
        many = counts()
        attach_force_curves.refresh_curves(scene, tmp_path / "c")  # the same once more
        assert counts() == many
        assert at(obj, 4)[0][2] == pytest.approx(-4.0 * factor)
    assert len(obj.animation_data.nla_tracks) == 1
    assert sum(collider_force_curves.STAMP_KEY in action for action in bpy.data.actions) == 1


def test_who_is_no_collider_any_more_loses_them(tmp_path: Path) -> None:
    scene = fresh()
    obj = ground()
    report(tmp_path / "c")
    create(tmp_path / "c")
    obj.sinew.role = "NONE"
    attach_force_curves.refresh_curves(scene, tmp_path / "c")
    assert "sinew_force" not in obj and obj.animation_data is None


def test_properties_of_the_artist_are_left_alone(tmp_path: Path) -> None:
    scene = fresh()
    obj = ground()
    obj["sinew_force"] = "mine"
    report(tmp_path / "c")
    create(tmp_path / "c")
    for folder in ("c", "none"):
        attach_force_curves.refresh_curves(scene, tmp_path / folder)
        assert obj["sinew_force"] == "mine" and obj.animation_data is None


def test_remapped_time(tmp_path: Path) -> None:
    scene = fresh()
    obj = ground()
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    report(tmp_path / "c")
    create(tmp_path / "c")
    for frame in (2, 7, 10):
        assert at(obj, frame)[0][2] == pytest.approx(-frame)


def test_a_body_of_the_same_key_keeps_it(tmp_path: Path) -> None:
    fresh()
    obj, body = ground(), add_box("Ground ")
    roles.make_body(body)
    body.sinew.key = "Ground"
    report(tmp_path / "c", key="Ground_2")
    create(tmp_path / "c")
    assert at(obj, 4)[0][2] == pytest.approx(-4.0)


def test_rows_are_in_order() -> None:
    times, numbers = collider_force_curves.curve_samples({3: [3.0] * 6, 1: [1.0] * 6}, 2.0)
    assert np.array_equal(times, [0.5, 1.5]) and np.array_equal(numbers[:, 0], [1.0, 3.0])
