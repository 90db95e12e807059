# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that jiggles, from the scene to the cache: beside another body, pinned, on the ground, stopped and resumed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.scenes import Run
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Scene


def jiggling(schemes: tuple[str, str], frame_end: int = 12, **settings: Any) -> Scene:
    """Returns a cube that falls on the ground and one that is swung by its top."""
    scene = tiny_scene(frame_end, 3, **settings)
    flesh = [Flesh("dynamic", scheme=scheme) if scheme else None for scheme in schemes]
    bodies = [dataclasses.replace(body, flesh=own) for body, own in zip(scene.bodies, flesh, strict=True)]
    return dataclasses.replace(scene, bodies=tuple(bodies))


def stopped(cache: Path, scene: Scene, threads: int) -> dict[str, bytes]:
    """Bakes a scene in two parts."""
    write_scene(cache, scene)
    seen: list[int] = []
    with pytest.raises(Cancelled):
        run_bake(
            cache,
            lambda event: seen.append(event.get("frame", 0)),
            lambda: max(seen, default=0) >= 5,
            options=BakeOptions(threads=threads),
        )
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True, threads=threads))
    return baked(cache)


@pytest.mark.slow
@pytest.mark.parametrize("schemes", [("euler", "euler"), ("newmark", "newmark"), ("", "newmark"), ("newmark", "euler")])
def test_the_same_bytes_with_any_number_of_threads_and_after_a_stop(tmp_path: Path, schemes: tuple[str, str]):
    scene = jiggling(schemes)
    write_scene(tmp_path / "whole", scene)
    events: list[Any] = []
    run_bake(tmp_path / "whole", events.append, options=BakeOptions(threads=2))
    assert baked(tmp_path / "whole") == stopped(tmp_path / "parts", scene, 1)
    frames = [event for event in events if event["event"] == "frame"]
    assert all(event["not_converged"] == 0 for event in frames)
    if "euler" in schemes:
        assert frames[-1]["newton_iterations"] >= scene.settings.substeps
        line = json.loads((tmp_path / "whole" / "report.jsonl").read_text().splitlines()[-1])
        assert line["newton_iterations"] == frames[-1]["newton_iterations"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "newmark"])
def test_it_falls_hangs_and_rests_as_soft_bodies_do(tmp_path: Path, scheme: str):
    """Strains are small: where bodies come to rest is the same for all of them."""
    ends = []
    for name in ("", scheme):
        scene = jiggling((name, name), 48)
        stiff = dataclasses.replace(scene.bodies[0].material, youngs_modulus=2.0e5, mass_damping=3.0)
        bodies = tuple(dataclasses.replace(body, material=stiff) for body in scene.bodies)
        run = Run(tmp_path / (name or "soft"), dataclasses.replace(scene, bodies=bodies))
        run.advance(40)
        assert sum(report.unsettled for report in run.reports[-10:]) == 0
        ends.append(run.state.x)
    assert np.abs(ends[0] - ends[1]).max() < 0.01
