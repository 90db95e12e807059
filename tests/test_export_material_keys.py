# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes and paint of materials arrive in the scene and its tracks, for bodies of every kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.solver.scene.settings.material_settings import MATERIAL_SETTINGS

VALUES = {
    "youngs_modulus": 5.0e4, "poisson_ratio": 0.25, "density": 500.0, "mass_damping": 2.0, "stiffness_damping": 0.5,
}  # fmt: skip


def keyed_box(setting: str, motion: str, interpolation: str) -> bpy.types.Object:
    """Returns a body whose setting has keys at frames 1 and 3 of three."""
    scene = fresh()
    scene.frame_start, scene.frame_end = 1, 3
    obj = add_box()
    roles.make_body(obj)
    obj.sinew.motion = motion
    obj.keyframe_insert(f"sinew.{setting}", frame=1)
    setattr(obj.sinew, setting, VALUES[setting])
    obj.keyframe_insert(f"sinew.{setting}", frame=3)
    action = obj.animation_data.action
    for curve in action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = interpolation
    scene.frame_set(1)
    return obj


@pytest.mark.parametrize("motion", ["ELASTIC", "JIGGLE"])
@pytest.mark.parametrize("setting", VALUES)
def test_keys_become_tracks(setting: str, motion: str, tmp_path: Path) -> None:
    """Constant interpolation holds until the frame of the key, whatever steps there are between; linear is linear."""
    for interpolation, between in (("CONSTANT", 0.0), ("LINEAR", 0.75)):
        obj = keyed_box(setting, motion, interpolation)
        default = next(each.default for each in MATERIAL_SETTINGS if each.name == setting)
        written, tracks = exported(bpy.context.scene, tmp_path / interpolation)
        key = f"body.{written.bodies[0].key}.{setting}"
        assert getattr(written.bodies[0].material, setting) == pytest.approx(default, rel=1e-6)
        wanted = default + np.array([0.0, between, 1.0]) * (VALUES[setting] - default)
        found = [float(tracks.sample(key, time / 24.0)) for time in (0.0, 1.5, 2.0)]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        assert obj.sinew.bl_rna.properties[setting].is_animatable


def test_keys_and_paint_make_a_bake_outdated() -> None:
    obj = keyed_box("density", "ELASTIC", "LINEAR")
    scene = bpy.context.scene
    seen = {settings_digest(scene)}
    curve = obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves[0]
    curve.keyframe_points[-1].co.y = 700.0
    seen.add(settings_digest(scene))
    obj.vertex_groups.new(name="Paint").add([0, 1], 0.5, "REPLACE")
    seen.add(settings_digest(scene))
    for name in ("stiffness_group", "damping_group", "mass_damping_group"):
        setattr(obj.sinew, name, "Paint")
        seen.add(settings_digest(scene))
    assert len(seen) == 6
    scene.frame_set(2)
    assert settings_digest(scene) in seen


def test_a_value_out_of_its_range_is_named(tmp_path: Path) -> None:
    obj = keyed_box("youngs_modulus", "ELASTIC", "LINEAR")
    curve = obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves[0]
    curve.keyframe_points[-1].co.y = -5.0e6
    problem = refused(bpy.context.scene, tmp_path / "c.sinew")
    assert problem.kind == "setting-out-of-range" and "Stiffness" in problem.sentence


def test_rest_scale_arrives_with_paint_direction_and_keys(tmp_path: Path) -> None:
    """Directions are turned into the world as the object is; keys become a track."""
    scene = fresh()
    scene.frame_start, scene.frame_end = 1, 2
    obj = add_box()
    roles.make_body(obj)
    before = settings_digest(scene)
    obj.rotation_euler.z = np.pi / 2
    count = len(obj.data.vertices)
    obj.data.attributes.new("Fibres", "FLOAT_VECTOR", "POINT").data.foreach_set("vector", np.tile([2.0, 0, 0], count))
    obj.vertex_groups.new(name="Belly").add(list(range(count)), 0.5, "REPLACE")
    own = obj.sinew
    own.rest_scale, own.rest_scale_group, own.rest_scale_direction = 0.75, "Belly", "Fibres"
    bpy.context.view_layer.update()
    body = exported(scene, tmp_path / "still")[0].bodies[0]
    assert body.rest_scale.scale == 0.75 and np.allclose(body.rest_scale.paint, 0.5)
    np.testing.assert_allclose(body.rest_scale.direction, np.tile([0.0, 2.0, 0.0], (count, 1)), atol=1e-6)
    seen = {before, settings_digest(scene)}
    obj.data.attributes["Fibres"].data[0].vector = (0.0, 0.0, 1.0)
    seen.add(settings_digest(scene))
    assert len(seen) == 3
    obj.keyframe_insert("sinew.rest_scale", frame=1)
    own.rest_scale = 1.25
    obj.keyframe_insert("sinew.rest_scale", frame=2)
    written, tracks = exported(scene, tmp_path / "keyed")
    key = f"body.{written.bodies[0].key}.rest_scale"
    assert [float(tracks.sample(key, time)) for time in (0.0, 1 / 24)] == pytest.approx([0.75, 1.25])
    obj.data.attributes.new("Number", "FLOAT", "POINT")
    for name, kind in (("Number", "attribute-not-vectors"), ("gone", "group-gone")):
        own.rest_scale_direction = name
        assert refused(scene, tmp_path / "refused.sinew").kind == kind
