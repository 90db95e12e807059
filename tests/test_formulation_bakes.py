# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method bakes to the end what falls, hangs, swings and touches, and a resumed bake has the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.formulation_choices import CHOICES, resisting, words
from fixtures.tiny_bakes import baked, box_of_tets
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter

pytestmark = pytest.mark.slow

LAST, STOPPED = 14, 6
SIDE = 1.0
STIFF = Material(youngs_modulus=1.0e6, density=1000.0, poisson_ratio=0.3, stiffness_damping=0.01)


def cube(key: str, at: tuple[float, float, float], method: FormulationSettings, **more: Any) -> Body:
    nodes, tets, faces = box_of_tets()
    nodes = nodes + at
    given = Meshing(method="given")
    body = Body(nodes, faces, STIFF, given, key, key.capitalize(), tet_nodes=nodes, tets=tets, **more)
    return resisting(body, method)


def stack(method: FormulationSettings) -> Scene:
    """Returns a cube above the ground, another one above it, and one that hangs by its top, which swings."""
    at = (3.0, 0.0, 2.0)
    nodes = box_of_tets()[0] + at
    top = np.flatnonzero(nodes[:, 2] > 2.99).astype(np.int32)
    return Scene(
        (
            cube("lower", (0.0, 0.0, 0.02), method),
            cube("upper", (0.2, 0.1, 1.05), method),
            cube("hangs", at, method, pinned=top, pin_weights=np.where(np.arange(len(top)) % 2, 1.0, 0.5)),
        ),
        (Collider("ground", "Ground"),),
        Settings(1, LAST, substeps=2),
    )


def write(cache: Path, scene: Scene) -> None:
    scene.save(cache / "scene")
    tracks = TrackWriter(cache / "scene")
    hanging = scene.bodies[2]
    times = np.arange(0.0, 1.0, 0.05)
    swing = 0.2 * np.sin(6.0 * times)[:, None, None] * np.array([1.0, 0.0, 0.0])
    tracks.append("body.hangs.targets", times, hanging.vertices[hanging.pinned] + swing)
    tracks.close()


def nothing(_: Any) -> None:
    """Hears an event."""


@pytest.mark.parametrize("method", CHOICES, ids=words)
def test_it_bakes_and_resumes_with_the_same_bytes(method: FormulationSettings, tmp_path: Path) -> None:
    write(tmp_path / "whole", stack(method))
    events: list[dict[str, Any]] = []
    run_bake(tmp_path / "whole", events.append)
    done = events[-1]
    assert done["event"] == "done" and done["frames"] == LAST
    cache = CacheReader(tmp_path / "whole")
    shapes = {frame: cache.read_frame(frame).x for frame in (1, LAST)}
    assert all(np.isfinite(x).all() for x in shapes.values())
    count = len(shapes[1]) // 3
    lower, upper, hanging = (shapes[LAST][i * count : (i + 1) * count] for i in range(3))
    assert -0.02 < lower[:, 2].min() < 0.02, "stands on the ground"
    assert upper[:, 2].min() > 0.8, "stands on the lower one"
    assert np.ptp(hanging[:, 2]) < 1.6 and hanging[:, 2].max() > 2.9, "hangs"

    write(tmp_path / "parts", stack(method))
    frames: list[int] = []
    with pytest.raises(Cancelled):
        run_bake(
            tmp_path / "parts",
            lambda event: frames.append(event.get("frame", 0)),
            lambda: max(frames, default=0) >= STOPPED,
        )
    assert CacheReader(tmp_path / "parts").baked_range()[1] < LAST
    run_bake(tmp_path / "parts", nothing, options=BakeOptions(resume=True))
    assert baked(tmp_path / "parts") == baked(tmp_path / "whole")
