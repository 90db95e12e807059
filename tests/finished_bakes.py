# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of bodies that broke, and their results."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from breaking_bakes import breaking_scene, write_breaking
from sinew.solver.cache import CacheReader
from sinew.solver.cutting.cut_surface import CutSurface
from sinew.solver.simulate import simulate

KEY = "pulled"
ASKED = ("stress", "velocity")


def nothing(_: Mapping[str, Any]) -> None:
    """Hears an event."""


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bake in which a bar broke, with two samples a frame."""
    cache = tmp_path_factory.mktemp("broken") / "Take 1.sinew"
    write_breaking(cache, breaking_scene(attributes=ASKED, samples_per_frame=2))
    simulate(cache, nothing)
    return cache


def surface_of(cache: Path) -> tuple[CutSurface, dict[str, np.ndarray]]:
    made = CacheReader(cache).read_result(KEY)
    assert made is not None
    return CutSurface(**{field.name: made[field.name] for field in dataclasses.fields(CutSurface)}), made
