# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact contact as an artist meets it: a new body, a ground, Contact on Exact, and everything else as it comes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import evaluated, fresh, world
from sinew.addon.baking import last_failure
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.triangle_intersections import surface_intersections

pytestmark = pytest.mark.slow

FRAMES = 20


def triangles(obj: bpy.types.Object) -> np.ndarray:
    obj.data.calc_loop_triangles()
    return np.array([triangle.vertices[:] for triangle in obj.data.loop_triangles], np.int32)


@pytest.mark.parametrize("preset", [None, "CLAY", "CHOCOLATE", "TEARING_RUBBER"])
def test_a_new_body_on_a_new_ground_bakes_and_nothing_intersects(tmp_path: Path, preset: str | None) -> None:
    """As it comes, and with a material that stays pressed: on its eight vertices alone clay was pressed flat."""
    scene = fresh()
    scene.frame_end = FRAMES
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert bpy.ops.sinew.add_ground() == {"FINISHED"}
    (ground,) = roles.colliders(scene)
    if preset:
        cube.sinew.preset = preset
    assert cube.sinew.use_stretch_limit
    scene.sinew.contact = "EXACT"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}, last_failure.failure_text(scene)
    summary = CacheReader(tmp_path / "shot.sinew").convergence()
    assert summary.not_converged == summary.unsettled == 0 and summary.contacts > 0, "it has fallen on the ground"
    assert summary.inverted_tets == 0
    lowest, heights = [], []
    for frame in range(1, FRAMES + 1):
        shown = {obj.name: (world(*evaluated(obj, frame)), triangles(obj)) for obj in (cube, ground)}
        assert not surface_intersections(shown), frame
        z = shown[cube.name][0][:, 2]
        lowest.append(z.min())
        heights.append(np.ptp(z))
    assert min(lowest) > ground.location.z
    assert min(lowest) < ground.location.z + 0.01, "and is near it"
    assert min(heights) > 1.7, "and keeps a shape"
