# SPDX-License-Identifier: GPL-3.0-or-later
"""Fill "Rigid" of a body in Blender: what is exported, what the panel says, and a bake that moves the object."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.export_scenes import exported
from sinew.addon.command_line import commands
from sinew.addon.objects import roles
from sinew.addon.panels import tets_layout


def falling_box() -> bpy.types.Object:
    """Returns a rigid box of 1 × 1 × 2 m, turned, 3 m above a ground."""
    obj = add_box("Box", divisions=2)
    obj.location.z, obj.rotation_euler.x = 3.0, 0.4
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.sinew.make_body() == {"FINISHED"}  # with all that new bodies have, such as a stretch limit
    obj.sinew.method = "RIGID"
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    roles.make_collider(bpy.context.object)
    bpy.context.scene.frame_end = 24
    return obj


def test_a_rigid_body_is_exported_as_one(tmp_path: Path) -> None:
    fresh()
    obj = falling_box()
    assert obj.sinew.use_stretch_limit
    obj.sinew.use_core = True  # of which only the hinge and the pull are read
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    assert written.bodies[0].is_rigid and written.bodies[0].tet_nodes is None
    assert tets_layout._tet_count_text(obj, bpy.context.scene) == "Moves as one piece"


@pytest.mark.slow
def test_a_baked_object_falls_and_does_not_deform(tmp_path: Path) -> None:
    fresh()
    obj = falling_box()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    start, end = (world(*evaluated(obj, frame)) for frame in (1, 24))
    lengths = [np.linalg.norm(points[1:] - points[0], axis=1) for points in (start, end)]
    np.testing.assert_allclose(lengths[1], lengths[0], atol=1e-5)
    assert np.abs(end - start).max() > 0.5
