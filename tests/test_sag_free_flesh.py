# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh with Gravity Already in Shape is at the first frame as it was modeled, under every law."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.flesh_scenes import bending, limb
from fixtures.scenes import Run, block
from sinew.solver.scene.flesh import DYNAMIC, FLESH_LAWS, QUASISTATIC, Flesh
from sinew.solver.scene.scene import Body, Collider, Material, Scene, Settings
from test_pins import pinned

SOFT = Material(1e6, 0.45, 1000.0, stiffness_damping=0.01)
TIGHT = Settings(frame_end=6, substeps=2, pose_tolerance=1.0e-7)


def hung(**settings: Any) -> Body:
    """Returns a bar of 1 m that is held at one end and would sag by 0.2 m."""
    body = block((8, 2, 2), (1.0, 0.25, 0.25), **{"material": SOFT, "gravity_in_shape": True, **settings})
    return pinned(body, lambda v: v[:, 0] < 1e-9)


def drift(run: Run, frames: int = 5) -> float:
    """Returns how far any vertex gets from where it was modeled [m]."""
    rest = run.scene.bodies[0].vertices
    start = np.abs(run.simulation.start().positions[run.scene.bodies[0].key] - rest).max()
    return max(float(start), *(float(np.abs(run.advance() - rest).max()) for _ in range(frames)))


@pytest.mark.parametrize("motion", [QUASISTATIC, DYNAMIC])
@pytest.mark.parametrize("law", FLESH_LAWS)
def test_flesh_stays_as_it_was_modeled(tmp_path: Path, law: str, motion: str) -> None:
    run = Run(tmp_path / "with", Scene((hung(flesh=Flesh(motion, law)),), (), TIGHT))
    assert drift(run) < 1e-6
    assert not run.built.bodies[0].warnings and ("rest", "Block") in run.stages
    without = hung(flesh=Flesh(motion, law), gravity_in_shape=False)
    assert drift(Run(tmp_path / "without", Scene((without,), (), TIGHT))) > 0.02


@pytest.mark.parametrize("motion", [QUASISTATIC, DYNAMIC])
def test_nearly_incompressible_flesh_stays_too(tmp_path: Path, motion: str) -> None:
    """Part of its energy is averaged at nodes, so its tets do not push back one by one."""
    body = hung(flesh=Flesh(motion), material=replace(SOFT, poisson_ratio=0.49))
    assert drift(Run(tmp_path, Scene((body,), (), TIGHT))) < 1e-6


@pytest.mark.parametrize("motion", [QUASISTATIC, DYNAMIC])
def test_springs_bear_their_share(tmp_path: Path, motion: str) -> None:
    plain = block((3, 3, 3), material=replace(SOFT, youngs_modulus=3e4), gravity_in_shape=True, flesh=Flesh(motion))
    body = pinned(plain, lambda v: v[:, 2] > 0.99, 0.5)
    assert drift(Run(tmp_path / "with", Scene((body,), (), TIGHT))) < 1e-6
    without = replace(body, gravity_in_shape=False)
    assert drift(Run(tmp_path / "without", Scene((without,), (), TIGHT))) > 5e-3


def test_loose_flesh_falls_without_stress(tmp_path: Path) -> None:
    body = block((2, 2, 2), at=(0.0, 0.0, 1.0), material=SOFT, gravity_in_shape=True, flesh=Flesh(DYNAMIC))
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),), TIGHT))
    first = run.advance(3)
    assert first[:, 2].max() < 1.99
    assert np.ptp(run.state.v[:, 2]) < 1e-6 and not run.built.bodies[0].warnings


def test_in_other_poses_it_hangs_from_the_shape_that_it_had_without_weight(tmp_path: Path) -> None:
    """A limb that is turned over sags to the other side: its rest shape is bent against gravity, and turns along."""
    settings = replace(TIGHT, frame_end=4)
    body = limb(flesh=Flesh(), gravity_in_shape=True, material=replace(SOFT, youngs_modulus=2e5))
    track = bending(body, settings, 60.0)
    with_gravity = Run(tmp_path / "with", Scene((body,), (), settings), body__limb__targets=track)
    none = replace(settings, gravity=(0.0, 0.0, 0.0))
    weightless = Run(tmp_path / "weightless", Scene((body,), (), none), body__limb__targets=track)
    first, other = (run.simulation.start().positions["limb"] for run in (with_gravity, weightless))
    assert np.abs(first - other).max() < 1e-6
    later, there = with_gravity.advance(3), weightless.advance(3)
    assert np.abs(later - there).max() > 1e-4


def test_what_is_far_too_soft_says_so(tmp_path: Path) -> None:
    body = hung(flesh=Flesh(DYNAMIC), material=replace(SOFT, youngs_modulus=3e3))
    run = Run(tmp_path, Scene((body,), (), TIGHT))
    assert [warning.kind for warning in run.built.bodies[0].warnings] == ["gravity-in-shape-left"]
