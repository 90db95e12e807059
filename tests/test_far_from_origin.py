# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache keeps the shape of bodies that lie far from the origin, where float32 positions would not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.tiny_bakes import tiny_scene
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.layout import play_path
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Scene

FRAMES = 4
FAR = np.array([2.0**27, -(2.0**26), 0.0])  # [m]: float32 steps by 8 m there, float64 by 3e-8 m


def scene_at(offset: Floats) -> Scene:
    """Returns a cube that falls on the ground beside `offset` [m], (3,)."""
    falls = tiny_scene(FRAMES).bodies[0]
    assert falls.tet_nodes is not None
    moved = dataclasses.replace(falls, vertices=falls.vertices + offset, tet_nodes=falls.tet_nodes + offset)
    return dataclasses.replace(tiny_scene(FRAMES), bodies=(moved,))


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> CacheReader:
    return baked(tmp_path_factory.mktemp("far"), FAR)


def baked(folder: Path, offset: Floats) -> CacheReader:
    scene_at(offset).save(folder / "scene")
    run_bake(folder, lambda event: None)
    return CacheReader(folder)


def test_frames_keep_the_shape(far: CacheReader, tmp_path: Path) -> None:
    near = baked(tmp_path, np.zeros(3))
    assert near.read_frame(FRAMES).x.dtype == np.float32
    for frame in range(1, FRAMES + 1):
        np.testing.assert_allclose(far.read_frame(frame).x - FAR, near.read_frame(frame).x, atol=1.0e-5)


def test_lost_motion_is_drawn_again_from_frames(far: CacheReader) -> None:
    path = play_path(far.folder, far.metadata.bodies[0].key)
    before = path.read_bytes()
    path.unlink()
    run_bake(far.folder, lambda event: None, options=BakeOptions(resume=True))
    assert path.read_bytes() == before  # of float64 positions, so to the last bit
