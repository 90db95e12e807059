# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that tears, by the buttons: what is exported, and the object that stands in for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.export_scenes import exported
from sinew.addon.command_line import commands
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

CELLS = 8


def curtain() -> bpy.types.Object:
    """Returns a heavy square of quads with UVs that hangs by one border and is weak along its middle."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=0.4, rotation=(np.pi / 2.0, 0, 0))
    obj = bpy.context.object
    obj.name = "Curtain"
    bpy.ops.object.transform_apply(rotation=True)
    obj.data.shade_smooth()
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    height = np.array([v.co.z for v in obj.data.vertices])
    top = obj.vertex_groups.new(name="Pins")
    top.add(np.flatnonzero(height > 0.19).tolist(), 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    strength = obj.vertex_groups.new(name="Strength")
    for vertex, z in enumerate(height.tolist()):
        strength.add([vertex], 0.1 if abs(z) < 0.06 else 1.0, "REPLACE")
    own = obj.sinew
    own.density, own.use_fracture, own.breaking_stress, own.scatter = 20000.0, True, 2.0e5, 0.0
    own.strength_group = "Strength"
    bpy.context.scene.frame_end = 8
    return obj


def test_presets_say_where_a_sheet_tears() -> None:
    fresh()
    obj = curtain()
    obj.sinew.sheet_preset = "PAPER"
    assert obj.sinew.breaking_stress == pytest.approx(SHEET_PRESETS["PAPER"].breaking_stress)
    obj.sinew.breaking_stress *= 2.0
    assert obj.sinew.sheet_preset == "CUSTOM"


def test_an_open_sheet_may_tear_and_knows_its_faces(tmp_path: Path) -> None:
    fresh()
    curtain()
    (body,) = exported(bpy.context.scene, tmp_path / "scene.sinew")[0].bodies
    assert body.fracture is not None and body.fracture.breaking_stress == pytest.approx(2.0e5)
    assert body.fracture.strength_paint.min() == pytest.approx(0.1)
    np.testing.assert_array_equal(np.bincount(body.face_of_triangle), np.full(CELLS**2, 2))


@pytest.mark.slow
def test_the_torn_mesh_keeps_faces_and_uvs_and_plays(tmp_path: Path) -> None:
    fresh()
    obj = curtain()
    uv = np.array([loop.uv[:] for loop in obj.data.uv_layers[0].data])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    made = next(each for each in bpy.data.objects if each.sinew.result_of == obj)
    mesh = made.data
    assert len(mesh.polygons) == CELLS**2 and len(mesh.vertices) > (CELLS + 1) ** 2 and not mesh.validate(verbose=True)
    assert not any(each.value for each in mesh.attributes["broken"].data)
    assert len(mesh.materials) == 1 and "Sinew Broken" not in bpy.data.materials  # a sheet has no inside
    own = np.array([loop.uv[:] for loop in mesh.uv_layers[0].data])
    np.testing.assert_allclose(np.sort(own, axis=0), np.sort(uv, axis=0), atol=1e-6)
    first, last = evaluated(made, 1)[0], evaluated(made, 8)[0]
    whole = evaluated(obj, 1)[0]
    assert np.abs(np.unique(np.round(first, 5), axis=0) - np.unique(np.round(whole, 5), axis=0)).max() < 1e-4
    assert last[:, 2].min() < first[:, 2].min() - 0.05  # a piece falls
    assert last[:, 2].max() > 0.19 and obj.hide_render and not made.hide_render
