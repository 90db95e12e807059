# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body of another file is made of can be changed on its override, and is so after a reload."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh, link_object
from sinew.addon.objects import new_role_objects, roles
from sinew.addon.properties import material_preset_filling, softening_table_editing
from sinew.solver.scene.material_presets import MATERIAL_PRESETS


def override(folder: Path) -> bpy.types.Object:
    """Returns the override of a body of wax."""
    fresh()
    obj = add_box("Candle")
    roles.make_body(obj)
    obj.sinew.preset = "WAX"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "candle.blend"))
    fresh()
    made = link_object(folder / "candle.blend", "Candle").override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = made
    return made


def reloaded(folder: Path) -> bpy.types.Object:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    return next(o for o in bpy.data.objects if o.library is None)


def test_another_preset_with_fewer_rows(tmp_path: Path) -> None:
    own = override(tmp_path).sinew
    own.preset = "GLASS"
    assert own.preset == "GLASS" and own.use_fracture and not own.use_heat
    own = reloaded(tmp_path).sinew
    assert own.preset == "GLASS" and material_preset_filling.matches_preset(own)
    rows = softening_table_editing.table_rows(own.softening)
    assert len(rows) == 4 and (np.diff(rows[:, 0]) > 0).all()
    glass = MATERIAL_PRESETS["GLASS"].heat
    assert glass is not None
    for temperature in (0.0, 300.0, 640.0, 730.0, 2000.0):
        for factor in (1, 2, 3):
            wanted = np.interp(temperature, glass.softening[:, 0], glass.softening[:, factor])
            assert np.interp(temperature, rows[:, 0], rows[:, factor]) == pytest.approx(wanted, rel=1e-5)


def test_rows_are_added_and_only_those_are_removed(tmp_path: Path) -> None:
    own = override(tmp_path).sinew
    own.softening[1].flow = 7.0
    for _ in range(3):
        assert bpy.ops.sinew.add_softening() == {"FINISHED"}
    assert bpy.ops.sinew.remove_softening() == {"FINISHED"}
    wanted = softening_table_editing.table_rows(own.softening)
    assert len(wanted) == 6 and own.preset == "CUSTOM"
    obj = reloaded(tmp_path)
    assert np.array_equal(softening_table_editing.table_rows(obj.sinew.softening), wanted)
    obj.sinew.softening_index = 1
    bpy.context.view_layer.objects.active = obj
    with pytest.raises(RuntimeError, match='The file that "Candle" is linked from'):
        bpy.ops.sinew.remove_softening()
    assert len(obj.sinew.softening) == 6


def test_a_heat_source_of_another_file_is_moved_by_its_override(tmp_path: Path) -> None:
    fresh()
    new_role_objects.add_heat_source(bpy.context)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fire.blend"))
    fresh()
    linked = link_object(tmp_path / "fire.blend", "Heat Source")
    assert roles.heat_sources(bpy.context.scene) == [linked], "it heats where it is linked, too"
    made = linked.override_create(remap_local_usages=True)
    made.sinew.source_radius = 3.0
    assert made.empty_display_size == pytest.approx(3.0)
