# SPDX-License-Identifier: GPL-3.0-or-later
"""A body on a collider whose shape changes, from Blender to the bake and back: forces come, and go with the bake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, counts, evaluated, fresh, world
from sinew.addon.blender_data import collider_force_curves
from sinew.addon.cache import cache_paths
from sinew.addon.objects import roles
from sinew.solver.bake.cache import layout

pytestmark = pytest.mark.slow


def rising(name: str) -> bpy.types.Object:
    """Returns a sheet that a shape key bulges up in the middle by 0.4 m until frame 12."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=4.0)
    obj = bpy.context.object
    obj.name = name
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.4 * np.exp(-(point.co.x**2 + point.co.y**2))
    for frame, value in ((1, 0.0), (12, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    return obj


def test_a_body_on_a_collider_that_changes_its_shape(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 36
    body, sheet = add_box("Jelly", divisions=2, height=1.0), rising("Sheet")
    body.scale = (0.3, 0.3, 0.3)
    body.location.z = 0.5 * max(body.dimensions) + 0.2
    bpy.context.view_layer.update()
    roles.make_body(body)
    body.sinew.divisions, body.sinew.youngs_modulus = 3, 1.0e5
    roles.make_collider(sheet)
    sheet.sinew.friction = 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    volume = np.prod(body.dimensions)
    before, action = counts(), sheet.data.shape_keys.animation_data.action
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    folder = cache_paths.cache_folder(scene)
    assert len(layout.numbers_in(folder / layout.CONTACT_FOLDER)) > 10
    out, ground = world(*evaluated(body, 36)), world(*evaluated(sheet, 36))
    near = [ground[np.linalg.norm((ground - p)[:, :2], axis=1).argmin(), 2] for p in out]
    assert (out[:, 2] - near).min() > -0.1  # a face of the sheet is 0.4 m wide
    assert "sinew_force" not in sheet and sheet.animation_data is None  # only when asked for
    for obj in scene.objects:
        obj.select_set(obj == sheet)
    assert bpy.ops.sinew.create_force_curves() == {"FINISHED"}
    forces = []
    for frame in range(30, 37):
        scene.frame_set(frame)
        forces.append(list(sheet["sinew_force"]))
    assert np.mean(forces, axis=0) == pytest.approx([0.0, 0.0, -1000.0 * 9.81 * volume], abs=0.1 * 9810.0 * volume)
    assert sheet.data.shape_keys.animation_data.action == action
    bpy.ops.sinew.delete_bake()
    assert (
        not any(name in sheet for name in collider_force_curves.PROPERTY_DESCRIPTIONS) and sheet.animation_data is None
    )
    assert counts()["actions"] == before["actions"] and not folder.exists()
