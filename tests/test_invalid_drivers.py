# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that is open before the add-on is registered: drivers on its settings are computed again, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

import sinew
from fixtures.blender_scenes import add_box, fresh
from sinew.addon.blender_data.invalid_drivers import retry_drivers


def drive(owner: bpy.types.Object, path: str, source: bpy.types.Object, source_path: str) -> None:
    """Lets the value at one data path follow that at another."""
    driver = owner.driver_add(path).driver
    driver.type = "AVERAGE"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = source, source_path


def is_valid(name: str) -> bool:
    return bool(bpy.data.objects[name].animation_data.drivers[0].driver.is_valid)


def both_values() -> list[float]:
    """Returns what is computed for the muscle and for the object that reads it."""
    graph = bpy.context.evaluated_depsgraph_get()
    muscle, reader = (bpy.data.objects[name].evaluated_get(graph) for name in ("Muscle", "Reader"))
    return [muscle.sinew.activation, reader.empty_display_size]


def test_drivers_given_up_without_the_addon_are_computed_again(tmp_path: Path) -> None:
    fresh()
    rig, muscle, reader, other = (add_box(name) for name in ("Rig", "Muscle", "Reader", "Other"))
    rig["Flex"] = 0.75
    drive(muscle, "sinew.activation", rig, '["Flex"]')
    drive(reader, "empty_display_size", muscle, "sinew.activation")
    drive(other, "empty_display_size", rig, '["Not There"]')
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flex.blend"))
    sinew.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "flex.blend"))
        bpy.context.view_layer.update()
        assert not any(map(is_valid, ("Muscle", "Reader", "Other")))  # else there is nothing to be done
    finally:
        sinew.register()
    bpy.context.view_layer.update()
    assert is_valid("Muscle") and is_valid("Reader") and not is_valid("Other")
    assert both_values() == pytest.approx([0.75, 0.75])
    rig = bpy.data.objects["Rig"]
    rig["Flex"] = 0.25
    rig.update_tag()
    bpy.context.view_layer.update()
    assert both_values() == pytest.approx([0.25, 0.25])
    assert retry_drivers() == 0
