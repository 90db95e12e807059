# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy Settings to Selected, and materials that an artist saves and deletes."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.objects import initial_settings, roles
from sinew.addon.panels import user_material_presets
from test_addon import context_of


@pytest.fixture
def two() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns two selected bodies, of which the first is active."""
    fresh()
    one, other = add_box("One"), add_box("Other")
    for obj in (other, one):
        initial_settings.make_new_body(obj)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
    return one, other


def test_settings_are_copied_to_the_selected(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    one.sinew.preset = "WAX"
    one.sinew.youngs_modulus = 1234.0
    one.sinew.softening[0].temperature = 21.0
    one.sinew.pin_group, one.sinew.body_friction = "Held", 0.125
    assert bpy.ops.sinew.copy_settings() == {"FINISHED"}
    assert other.sinew.preset == "CUSTOM" and other.sinew.youngs_modulus == 1234.0
    assert (other.sinew.pin_group, other.sinew.body_friction, other.sinew.use_heat) == ("Held", 0.125, True)
    assert [row.temperature for row in other.sinew.softening] == [row.temperature for row in one.sinew.softening]


def test_keyframes_that_go_on_setting_a_copied_value_are_named(
    two: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    one, other = two
    one.sinew.density = 700.0
    one.keyframe_insert("sinew.use_collision", frame=1)
    assert bpy.ops.sinew.copy_settings() == {"FINISHED"}
    assert "Keyframes" not in capfd.readouterr().out, "keys of the source set nothing of the target"
    other.sinew.density = 1300.0
    other.keyframe_insert("sinew.density", frame=1)
    assert bpy.ops.sinew.copy_settings() == {"FINISHED"}
    assert other.sinew.density == 700.0
    assert 'Keyframes or drivers of "Other" go on setting Density.' in capfd.readouterr().out
    bpy.context.scene.frame_set(2)
    assert other.sinew.density == 1300.0, "as after Copy to Selected"


def test_a_preset_by_size_suits_the_other(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    other.scale = (10.0, 10.0, 10.0)
    bpy.context.view_layer.update()
    one.sinew.preset = "CLAY_BY_SIZE"
    bpy.ops.sinew.copy_settings()
    assert other.sinew.preset == "CLAY_BY_SIZE"
    assert other.sinew.youngs_modulus == pytest.approx(10.0 * one.sinew.youngs_modulus, rel=0.05)


def test_others_are_left_alone_and_nobody_is_refused_in_silence(
    two: tuple[bpy.types.Object, bpy.types.Object],
) -> None:
    one, other = two
    roles.make_collider(other)
    before = other.sinew.youngs_modulus
    one.sinew.youngs_modulus = 77.0
    with pytest.raises(RuntimeError, match='No other selected object has the role of "One"'):
        bpy.ops.sinew.copy_settings()
    assert other.sinew.youngs_modulus == before


def test_a_material_is_saved_chosen_and_deleted(
    two: tuple[bpy.types.Object, bpy.types.Object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    folder = tmp_path / "presets"
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_, path="", **__: str(folder / path))
    (folder / "presets" / user_material_presets.FOLDER).mkdir(parents=True)
    one.sinew.preset = "WAX"
    one.sinew.density = 1650.0
    one.sinew.softening[0].temperature = 21.0
    assert bpy.ops.sinew.material_preset_add(name="My Wax") == {"FINISHED"}
    (saved,) = folder.rglob("*.py")
    bpy.context.view_layer.objects.active = other
    exec(compile(saved.read_text(), str(saved), "exec"), {})
    assert other.sinew.density == 1650.0 and other.sinew.use_plasticity and other.sinew.preset == "CUSTOM"
    assert other.sinew.yield_strain == pytest.approx(one.sinew.yield_strain)
    rows = [[(row.temperature, row.flow) for row in obj.sinew.softening] for obj in (one, other)]
    assert rows[0] == rows[1] and rows[0][0][0] == 21.0


def test_the_panel_draws_the_menu(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    from sinew.addon.panels import material_layout

    layout = FakeLayout()
    material_layout.draw_material(layout, context_of(two[0]))
    assert "SINEW_MT_material_presets" in {name for _, name in layout.drawn}
    assert [name for name, _ in layout.buttons].count("sinew.material_preset_add") == 2
