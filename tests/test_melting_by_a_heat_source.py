# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Heat Source suits the active body, so that it melts within the shot, and the panel says how deep heat gets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.melting_scenes import add_shape, melt, melting_scene
from sinew.addon.export import input_digest
from sinew.addon.objects import heat_depth, roles
from sinew.solver.scene.material_presets import MATERIAL_PRESETS
from test_addon import drawn


def wax(size: float = 0.3) -> bpy.types.Object:
    """Returns a cube of wax, alone in a new file with 25 frames a second, which stands at height 0."""
    scene = fresh()
    scene.render.fps, scene.frame_end = 25, 61
    obj = add_shape("cube", size)
    roles.make_body(obj)
    obj.sinew.preset = "WAX"
    return obj


def added() -> bpy.types.Object:
    """Returns the heat source that the button adds."""
    before = set(roles.heat_sources(bpy.context.scene))
    assert bpy.ops.sinew.add_heat_source() == {"FINISHED"}
    (source,) = set(roles.heat_sources(bpy.context.scene)) - before
    return source


def test_a_cube_melts_from_the_top_within_a_few_seconds(tmp_path: Path) -> None:
    """Wax of 0.3 m as the buttons make it; tests/validate_melting_presets.py has the others."""
    melting_scene("WAX", "cube", 0.3, divisions=2)
    found = melt(tmp_path / "c.sinew", 100)
    assert found.melts_at is not None and found.melts_at > 10
    assert found.volume_change < 0.05 and not found.unconverged


def test_the_source_is_above_the_active_body_and_reaches_through_it() -> None:
    obj = wax()
    obj.location = (2.0, 1.0, 0.5)
    bpy.context.view_layer.update()
    source = added()
    assert np.allclose(source.location[:2], (2.0, 1.0), atol=1e-6)
    assert source.location.z > 0.8
    assert source.sinew.source_radius > source.location.z - 0.5, "its foot would stay cold"
    assert source.sinew.source_temperature == 200.0
    assert bpy.context.object is obj


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_heat_speed_lets_heat_through_a_third_of_the_body_in_60_frames(unit: float) -> None:
    obj = wax()
    bpy.context.scene.unit_settings.scale_length = unit
    added()
    heat = MATERIAL_PRESETS["WAX"].heat
    assert heat is not None
    diffusivity = obj.sinew.heat_speed * heat.conductivity / (900.0 * heat.heat_capacity)
    assert np.sqrt(4.0 * diffusivity * 60 / 25) == pytest.approx(0.1 * unit, rel=1e-5)
    assert heat_depth.heat_depth(obj, bpy.context.scene) == pytest.approx(0.1, rel=1e-5)


def test_a_simulated_size_is_that_of_the_heat() -> None:
    obj = wax()
    added()
    obj.sinew.use_simulated_size, obj.sinew.simulated_size = True, 0.6
    assert heat_depth.heat_depth(obj, bpy.context.scene) == pytest.approx(0.05, rel=1e-5)


def test_the_panel_says_how_deep_heat_gets() -> None:
    obj = wax()
    assert any("Heat gets 1.1 mm deep in 60 frames" in line for line in drawn(obj, "draw_heat").lines)
    added()
    assert any("Heat gets 10 cm deep in 60 frames" in line for line in drawn(obj, "draw_heat").lines)
    obj.sinew.use_heat = False
    assert not any("Heat gets" in line for line in drawn(obj, "draw_heat").lines)


def test_what_melts_late_gets_a_hotter_source() -> None:
    wax().sinew.melting_point = 1000.0
    assert added().sinew.source_temperature > 2000.0


def test_a_heat_speed_of_ones_own_stays() -> None:
    obj = wax()
    obj.sinew.heat_speed = 30.0
    added()
    assert obj.sinew.heat_speed == 30.0


def test_without_heat_in_the_active_body_the_source_is_at_the_cursor() -> None:
    obj = wax()
    obj.sinew.use_heat = False
    bpy.context.scene.cursor.location = (1.0, 2.0, 3.0)
    assert tuple(added().location) == (1.0, 2.0, 3.0)
    obj.sinew.use_heat = True
    bpy.context.view_layer.objects.active = add_box("Plain")
    assert tuple(added().location) == (1.0, 2.0, 3.0)
    assert obj.sinew.heat_speed == 1.0


def test_what_cannot_conduct_keeps_its_heat_speed() -> None:
    obj = wax()
    obj.sinew.conductivity = 0.0
    added()
    assert obj.sinew.heat_speed == 1.0


def test_heat_speed_outdates_a_bake_and_1_is_as_before() -> None:
    obj, scene = wax(), bpy.context.scene
    digest = input_digest.settings_digest(scene)
    obj.sinew.heat_speed = 2.0
    assert input_digest.settings_digest(scene) != digest
    obj.sinew.heat_speed = 1.0
    assert input_digest.settings_digest(scene) == digest
    assert obj.sinew.preset == "WAX", "it belongs to the scene, not to the material"


def test_ice_is_not_chosen_molten() -> None:
    obj = wax()
    obj.sinew.temperature = 30.0
    obj.sinew.preset = "CHOCOLATE"
    assert obj.sinew.temperature == 30.0 and obj.sinew.use_heat
    obj.sinew.preset = "ICE"
    assert obj.sinew.temperature == -10.0 and obj.sinew.use_heat and obj.sinew.preset == "ICE"
