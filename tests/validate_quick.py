# SPDX-License-Identifier: GPL-3.0-or-later
"""Quick Jelly and Quick Clay on ten meshes that nobody prepared, at the size of a thumb, a table and a house.

Every frame converges, nothing sinks into the ground by more than 1 % of its size, and every body keeps a shape.

python -m pytest -s tests/validate_quick.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.claim_table import reach
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader

SECTION = "Quick effects on meshes that nobody prepared"
PRIMITIVES = ("cube", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus", "monkey")
SURFACES = ("spot_low", "goathead", "penguin")
SIZES = (0.02, 1.0, 20.0)  # [m], the longest side
MAX_SUNK_SHARE, MIN_HEIGHT_SHARE = 0.01, 0.25
FRAMES = 100


def selected_mesh(name: str, size: float, shared: Path) -> bpy.types.Object:
    """Returns a mesh of Blender's or of a file, whose longest side is `size` [m]."""
    if name in PRIMITIVES:
        getattr(bpy.ops.mesh, f"primitive_{name}_add")()
    else:
        bpy.ops.wm.obj_import(filepath=str(shared / "testdata" / "surface" / f"{name}.obj"))
    obj = bpy.context.object
    bpy.context.view_layer.update()
    obj.scale = [factor * size / max(obj.dimensions) for factor in obj.scale]
    bpy.context.view_layer.update()
    bpy.ops.object.transform_apply(rotation=True, scale=True)
    return obj


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("effect", ["quick_jelly", "quick_clay"])
def test_a_quick_effect_on_ten_meshes(tmp_path: Path, shared: Path, effect: str, size: float) -> None:
    unsolved, sunk, heights = 0, [], []
    for name in (*PRIMITIVES, *SURFACES):
        scene = fresh()
        scene.frame_end = FRAMES
        scene.sinew.cache_path = str(tmp_path / f"{name}.sinew")
        obj = selected_mesh(name, size, shared)
        getattr(bpy.ops.sinew, effect)()
        (ground,) = roles.colliders(scene)
        unsolved += CacheReader(tmp_path / f"{name}.sinew").convergence().not_converged
        shapes = [evaluated(obj, frame)[0] for frame in range(1, FRAMES + 1)]
        z = [points[:, 2] + obj.location.z for points in shapes]
        sunk.append((ground.location.z - min(each.min() for each in z)) / size)
        heights.append(min(np.ptp(each) for each in z) / np.ptp(z[0]))
    words = f"{effect.replace('_', ' ')}, {size:g} m: "
    reach(SECTION, f"{words}steps that did not converge", unsolved, 0, unsolved == 0)
    reach(SECTION, f"{words}sunk into the ground", f"{max(sunk):.2%}", "1 %", max(sunk) <= MAX_SUNK_SHARE)
    lowest = f"{min(heights):.0%}"
    reach(SECTION, f"{words}least height", lowest, "25 %", min(heights) >= MIN_HEIGHT_SHARE)
