# SPDX-License-Identifier: GPL-3.0-or-later
"""A collider that jumps into a body, or is switched on there, ends no bake: it pushes the body out; a note says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.scenes import block, pose
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter
from sinew.solver.simulation import step_halving

pytestmark = pytest.mark.slow
FPS, FRAMES, AT = 24, 24, 4  # AT: the frame, from 0, in which the collider comes into the body
INSIDE, AWAY = pose(move=(0.2, 0.05, 0.3)), pose(move=(3.0, 0.0, 0.25))


def baked(folder: Path, youngs_modulus: float, is_switched: bool) -> list[dict[str, Any]]:
    """Bakes a block on the ground into which a box comes from one frame to the next; returns the warnings."""
    body = block((4, 4, 4), (0.5, 0.5, 0.5), at=(-0.25, -0.25, 0.0))
    body = replace(body, material=replace(body.material, youngs_modulus=youngs_modulus))
    vertices, triangles = shapes.cube(2)
    colliders = (Collider("box", "Box", "mesh", 0.3 * vertices, triangles), Collider("ground", "Ground"))
    Scene((body,), colliders, Settings(frame_end=FRAMES)).save(folder / "scene")
    writer, times = TrackWriter(folder / "scene"), np.arange(2 * AT) / FPS
    matrices = [INSIDE if is_switched or number >= AT else AWAY for number in range(2 * AT)]
    writer.append("collider.box.matrix", times, np.array(matrices), "rigid")
    if is_switched:
        writer.append("collider.box.active", times, np.repeat([0.0, 1.0], AT), "step")
    writer.close()
    events: list[dict[str, Any]] = []
    run_bake(folder, lambda event: events.append(dict(event)))
    return [event for event in events if event["event"] == "warning"]


@pytest.mark.parametrize("is_switched", [False, True], ids=["jumps", "is switched on"])
def test_the_bake_goes_on_and_a_note_names_the_collider(tmp_path: Path, is_switched: bool) -> None:
    warnings = baked(tmp_path, 1.0e6, is_switched)
    told = [each for each in warnings if each["kind"] == "collider-jumps-in"]
    assert [each["sentence"].count('"Box"') for each in told] == [1], warnings
    reader = CacheReader(tmp_path)
    assert reader.last_frame() == FRAMES
    last, before = (reader.read_frame(frame).x for frame in (FRAMES, FRAMES - 1))
    assert np.isfinite(last).all() and np.ptp(last, axis=0).max() < 0.75, "it keeps its shape"
    assert np.abs(last - before).max() < 1.0e-3, "it has come to rest"


def test_without_time_to_be_let_out_it_ends_and_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_halving, "has_moved_colliders", lambda *_: False)
    with pytest.raises(SolveFailed) as told:
        baked(tmp_path, 1.0e6, is_switched=False)
    assert told.value.kind == "step-gains-energy"
    assert '"Block"' in told.value.sentence and "frame" in told.value.sentence and "Substeps" in told.value.next_step
