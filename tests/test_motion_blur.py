# SPDX-License-Identifier: GPL-3.0-or-later
"""A render with motion blur shows the samples between frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh, write_cache
from sinew.addon.cache import cache_paths
from sinew.addon.objects import roles
from sinew.addon.playback import mesh_cache
from test_modifier_stack import render

FRAMES = 5


def nodding(cache: Path, samples_per_frame: int) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a small box whose cache has it at rest on every frame, and two units higher halfway between."""
    scene = fresh()
    scene.frame_end = FRAMES
    box = add_box("Box", divisions=1, height=1.0)
    roles.make_body(box)
    rest = np.array([v.co for v in box.data.vertices])
    count = (FRAMES - 1) * samples_per_frame + 1
    up = np.array([1.4 if i % samples_per_frame else 0.0 for i in range(count)])
    write_cache(cache, {"Box": rest + up[:, None, None] * [0.0, 0.0, 1.0]}, samples_per_frame=samples_per_frame)
    mesh_cache.attach(box, cache, "Box")
    cache_paths.remember_bake(scene, cache)
    return scene, box


def test_motion_blur_shows_the_samples_between_frames(tmp_path: Path) -> None:
    alphas = {}
    for samples_per_frame in (1, 2):
        scene, box = nodding(tmp_path / f"{samples_per_frame}.sinew", samples_per_frame)
        scene.render.use_motion_blur = True
        scene.render.motion_blur_shutter = 1.0
        # the shutter is open from half a frame before to half a frame after
        alphas[samples_per_frame] = render(scene, 3, tmp_path / f"{samples_per_frame}.png")
    # rows from below: four units are 64 pixels, the box takes 24 to 40 at rest and 46 to 62 when it is up
    above = {count: alpha[48:60, 28:36].mean() for count, alpha in alphas.items()}
    inside = {count: alpha[28:36, 28:36].mean() for count, alpha in alphas.items()}
    assert above[1] == 0.0 and inside[1] > 0.99
    assert 0.05 < above[2] < 0.9 and 0.05 < inside[2] < 0.9, (above, inside)
