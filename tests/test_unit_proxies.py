# SPDX-License-Identifier: GPL-3.0-or-later
"""The window shows stiffness in kPa, MPa and GPa and volume in per cent; files and scripts have SI units."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.blender_data.animation_curves import keyframe_icon
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.panels.property_rows import SETTINGS, draw_setting, label_with_unit
from sinew.addon.properties.unit_proxies import proxies_of, shown_proxy


@pytest.fixture
def own() -> bpy.types.PropertyGroup:
    fresh()
    obj = add_box()
    roles.make_body(obj)
    return obj.sinew


@pytest.mark.parametrize(
    ("value", "unit", "shown"), [(50.0, "kPa", 0.05), (5.0e3, "kPa", 5.0), (1.0e6, "MPa", 1.0), (7.0e10, "GPa", 70.0)]
)
def test_the_unit_suits_the_value(own: bpy.types.PropertyGroup, value: float, unit: str, shown: float) -> None:
    own.youngs_modulus = value
    proxy = shown_proxy(own, SETTINGS["youngs_modulus"])
    assert proxy is not None and proxy.unit == unit
    assert getattr(own, proxy.name) == pytest.approx(shown)
    assert label_with_unit(own, "youngs_modulus") == f"Stiffness ({unit})"
    layout = FakeLayout()
    draw_setting(layout, own, "youngs_modulus")
    assert [name for _, name in layout.drawn] == ["youngs_modulus", "sinew.toggle_keyframe"]
    assert layout.lines == [f"Stiffness ({unit})", ""]


@pytest.mark.parametrize("name", ["youngs_modulus", "breaking_stress", "poisson_ratio"])
def test_a_proxy_writes_what_it_shows(own: bpy.types.PropertyGroup, name: str) -> None:
    own.motion = "POSE"  # above 90 % of the volume for flesh only
    for proxy in proxies_of(SETTINGS[name]):
        setattr(own, proxy.name, 7.0)
        assert getattr(own, name) == pytest.approx(7.0 * proxy.factor)
        assert getattr(own, proxy.name) == pytest.approx(7.0, rel=1e-6)


def test_a_proxy_turns_the_preset_to_custom_and_keeps_the_limits(own: bpy.types.PropertyGroup) -> None:
    assert own.preset == "RUBBER" and own.poisson_ratio_percent == pytest.approx(90.0)
    own.youngs_modulus_kpa = 20.0
    assert own.preset == "CUSTOM"
    own.poisson_ratio_percent = 97.0
    assert own.poisson_ratio_percent == pytest.approx(90.0), "of a Soft Body"
    own.motion = "JIGGLE"
    own.poisson_ratio_percent = 97.0
    assert own.poisson_ratio == pytest.approx(0.485)


def test_proxies_are_not_stored_and_no_bake_reads_them(own: bpy.types.PropertyGroup) -> None:
    scene = bpy.context.scene
    own.youngs_modulus = 2.0e5
    before = settings_digest(scene)
    own.youngs_modulus_kpa = own.youngs_modulus_kpa
    assert settings_digest(scene) == before
    obj = bpy.context.object
    stored = obj.bl_system_properties_get() if bpy.app.version >= (5, 0, 0) else obj
    assert "youngs_modulus" in stored["sinew"] and "youngs_modulus_kpa" not in stored["sinew"]


def test_what_can_be_keyframed_still_can(own: bpy.types.PropertyGroup) -> None:
    own.use_fracture = True
    own.breaking_stress = 1.0e5
    own.keyframe_insert("breaking_stress", frame=1)
    own.breaking_stress = 3.0e5
    own.keyframe_insert("breaking_stress", frame=11)
    shown = []
    for frame in (1, 11):
        bpy.context.scene.frame_set(frame)
        shown.append(own.breaking_stress_kpa)
    assert shown == pytest.approx([100.0, 300.0])


def test_the_dot_beside_a_proxy_keyframes_what_it_shows(own: bpy.types.PropertyGroup) -> None:
    obj, scene = bpy.context.object, bpy.context.scene
    path = own.path_from_id("youngs_modulus")

    def drawn_icon() -> str:
        layout = FakeLayout()
        draw_setting(layout, own, "youngs_modulus")  # type: ignore[arg-type]
        assert layout.buttons[-1][0] == "sinew.toggle_keyframe" and layout.buttons[-1][1].setting == "youngs_modulus"
        return keyframe_icon(obj, path, scene.frame_current)

    assert drawn_icon() == "DECORATE"
    assert bpy.ops.sinew.toggle_keyframe(setting="youngs_modulus") == {"FINISHED"}
    assert drawn_icon() == "DECORATE_KEYFRAME"
    scene.frame_set(scene.frame_current + 5)
    assert drawn_icon() == "DECORATE_ANIMATE"
    bpy.ops.sinew.toggle_keyframe(setting="youngs_modulus")
    bpy.ops.sinew.toggle_keyframe(setting="youngs_modulus")
    assert drawn_icon() == "DECORATE_ANIMATE", "inserted, and deleted"
    obj.driver_add(path)
    assert drawn_icon() == "DECORATE_DRIVER"
    assert bpy.ops.sinew.toggle_keyframe(setting="youngs_modulus") == {"CANCELLED"}


def test_a_dot_stands_beside_what_can_be_keyframed_without_a_proxy(own: bpy.types.PropertyGroup) -> None:
    layout = FakeLayout()
    for name in ("activation", "origin_group"):
        draw_setting(layout, own, name)  # type: ignore[arg-type]
    assert layout.dots == ["activation"]
    layout.use_property_split = True
    draw_setting(layout, own, "activation")  # type: ignore[arg-type]
    assert layout.dots == ["activation"], "Blender draws it itself where names stand beside fields"
