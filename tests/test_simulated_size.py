# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated Size: a body breaks as one of that size does, and says the stress that one would have."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import Run, block
from sinew.solver.scene.scene import Fracture, Scene, Settings

SCALE = 0.25


def pulled(folder: Path, size: float, scale: float, fracture: Fracture) -> Run:
    """Returns a bar of a size whose ends are pulled apart by a fifth of its length within half a second."""
    body = block((6, 2, 2), (3.0 * size, size, size), simulated_scale=scale, fracture=fracture)
    x = body.vertices[:, 0]
    ends = np.flatnonzero((x < 1e-9) | (x > 3.0 * size - 1e-9)).astype(np.int32)
    body = dataclasses.replace(body, pinned=ends, pin_weights=np.ones(len(ends)))
    start = body.vertices[ends]
    moved = start + np.where(start[:, :1] > size, [[0.6 * size, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    settings = Settings(frame_end=13, gravity=(0.0, 0.0, 0.0), substeps=2, tolerance=1e-10)
    run = Run(folder, Scene((body,), settings=settings), body__block__targets=([0.0, 0.5], np.stack([start, moved])))
    run.advance(12)
    return run


@pytest.mark.parametrize(
    "fracture", [Fracture(1.0e9), Fracture(1.0e4, seed=3), Fracture(1.0e4, 4.0e3, seed=3)], ids=["whole", "no K", "K"]
)
def test_a_large_body_of_a_small_simulated_size_breaks_as_the_small_one(tmp_path: Path, fracture: Fracture) -> None:
    small = pulled(tmp_path / "small", SCALE, 1.0, fracture)
    large = pulled(tmp_path / "large", 1.0, SCALE, fracture)
    assert np.allclose(large.state.x, small.state.x / SCALE, atol=1e-5)
    told, wanted = large.reports[-1].bodies["block"], small.reports[-1].bodies["block"]
    assert told["largest_stress"] == pytest.approx(wanted["largest_stress"], rel=1e-5)
    assert (told["pieces"], told["splits"]) == (wanted["pieces"], wanted["splits"])
    assert (wanted["splits"] > 0) == (fracture.breaking_stress < 1.0e6)
    if wanted["splits"] == 0:
        # E ε, of a bar stretched by a fifth whose ends cannot contract
        assert 0.9 * 2.0e4 < told["largest_stress"] < 2.0 * 2.0e4
