# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle, fat and skin in three passes: each has a cache of its own and follows the bake of the one below."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import evaluated, world
from fixtures.layered_arm import LayeredArm, layered_arm, select, sleeve
from fixtures.operator_scenes import status
from sinew.addon.cache.bake_passes import passes
from sinew.addon.objects import roles
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.signed_distance_derivatives import MovingSurface
from sinew.solver.runtime.arrays import Floats, floats
from sinew.solver.scene.scene import Scene
from test_passes import modified

FRAMES, GAP, THICKNESS = 3, 0.001, 0.008  # between fat and the skin's Wrap, and of the skin [m]
FAT_RADIUS = 0.062


def arm_of_three_passes() -> tuple[LayeredArm, bpy.types.Object]:
    """Returns an arm with its biceps in pass 1 and its fat in pass 2, and a skin around that in pass 3."""
    arm = layered_arm(FRAMES, skin_pass=2)
    fat = arm.skin
    fat.name = "Fat"
    inside = sleeve("Inside", -0.22, 0.27, FAT_RADIUS + GAP)
    skin = sleeve("Skin", -0.22, 0.27, FAT_RADIUS + GAP + THICKNESS)
    roles.make_wrap(inside)
    row = add_row(inside.sinew.attachments)
    row.target, row.kind, row.reach, row.strength = fat, "FIXED", 0.01, 1.0
    select(skin)
    bpy.ops.sinew.make_flesh()
    own = skin.sinew
    own.wrap, own.bake_pass = inside, 3
    own.method, own.sizing, own.tet_size = "ROBUST", "SIZE", 0.02
    return arm, skin


def shape(obj: bpy.types.Object, frame: int) -> Floats:
    return floats(world(*evaluated(obj, frame)))


def gaps(arm: LayeredArm, outer: bpy.types.Object, frame: int) -> Floats:
    """Returns how far the vertices of an object are outside of the fat, as both are shown [m]."""
    arm.skin.data.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in arm.skin.data.loop_triangles], np.int32)
    surface = MovingSurface(shape(arm.skin, 1), triangles).at(shape(arm.skin, frame))
    return surface.distances(shape(outer, frame)).distance


@pytest.mark.slow
def test_skin_follows_fat_that_follows_muscle(tmp_path: Path) -> None:
    arm, skin = arm_of_three_passes()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "arm.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert status().phase == "baked" and not status().due_passes
    # a cache for each, which has its bodies alone and what they follow
    folders = [each.folder for each in passes(arm.scene, tmp_path / "arm.sinew")]
    assert len(set(folders)) == 3
    written = [Scene.load(folder / "scene") for folder in folders]
    assert [[body.name for body in each.bodies] for each in written] == [["Biceps"], ["Fat"], ["Skin"]]
    followed = [{ground.name for ground in each.colliders} & {"Biceps", "Fat", "Skin"} for each in written]
    assert followed == [set(), {"Biceps"}, {"Biceps", "Fat"}]
    lines = [line for folder in folders for line in CacheReader(folder).report()]
    assert not any(line["not_converged"] or line["inverted_tets"] for line in lines)
    # the skin moves as the fat below it does, and stays outside
    fat, own = ((shape(obj, 1), shape(obj, FRAMES)) for obj in (arm.skin, skin))
    nearest = np.linalg.norm(own[0][:, None] - fat[0], axis=2).argmin(axis=1)
    moved, below = own[1] - own[0], (fat[1] - fat[0])[nearest]
    assert np.linalg.norm(below, axis=1).max() > 0.15
    away = np.linalg.norm(moved - below, axis=1)
    assert away.mean() < 0.1 * np.linalg.norm(below, axis=1).mean() and away.max() < 0.02
    for frame in (1, 2, FRAMES):
        assert gaps(arm, skin, frame).min() > 0.25 * THICKNESS
        inside = gaps(arm, arm.scene.objects["Inside"], frame)
        assert inside.min() > 0.25 * GAP and inside.max() < 2.0 * GAP
    # passes after one that changed are out of date
    stamps = [modified(folder) for folder in folders]
    arm.skin.sinew.youngs_modulus *= 2.0
    assert status().due_passes == (2, 3)
    assert bpy.ops.sinew.simulate(bake_pass=2) == {"FINISHED"}
    assert status().due_passes == (3,), "its own settings are as they were, and what it follows is not"
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and not status().due_passes
    now = [modified(folder) for folder in folders]
    assert [one == other for one, other in zip(stamps, now, strict=True)] == [True, False, False]
