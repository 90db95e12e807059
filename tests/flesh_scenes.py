# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of flesh that pins bend, for tests of how flesh is baked."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from scenes import block, rotation
from sinew.solver.anatomy import Flesh
from sinew.solver.arrays import Floats
from sinew.solver.scene import Body, Material, Scene, Settings
from sinew.solver.tracks import TrackWriter

LONG, WIDE = 2.0, 0.5
CELLS = (8, 2, 2)
FLESH = Material(youngs_modulus=5.0e4, poisson_ratio=0.3, density=1000.0)


def limb(key: str = "limb", at: tuple[float, float, float] = (0.0, 0.0, 0.0), **settings: Any) -> Body:
    """Returns a bar along x of which both ends are pinned."""
    settings.setdefault("flesh", Flesh())
    settings.setdefault("material", FLESH)
    body = block(settings.pop("cells", CELLS), (LONG, WIDE, WIDE), at, key=key, **settings)
    x = body.vertices[:, 0] - at[0]
    ends = np.flatnonzero((x < 0.3) | (x > LONG - 0.3)).astype(np.int32)
    return dataclasses.replace(body, pinned=ends, pin_weights=np.ones(len(ends)))


def bent(body: Body, degrees: float) -> Floats:
    """Returns where the pins of a limb are when its far end is turned up about its middle [m], (p, 3)."""
    pinned = body.vertices[body.pinned].copy()
    middle = 0.5 * (body.vertices.min(axis=0) + body.vertices.max(axis=0))
    far = pinned[:, 0] > middle[0]
    pinned[far] = (pinned[far] - middle) @ rotation((0, -1, 0), np.radians(degrees)).T + middle
    return pinned


def bending(body: Body, settings: Settings, degrees: float, first: float = 0.0) -> tuple[Floats, Floats]:
    """Returns times [s] and targets [m] of a limb that bends evenly, from the pre-roll on to so many degrees."""
    frames = np.arange(settings.frame_start - settings.preroll, settings.frame_end + 1)
    angles = np.linspace(first, degrees, len(frames))
    return np.array([settings.time(f) for f in frames]), np.array([bent(body, angle) for angle in angles])


def write_limb(cache: Path, scene: Scene, degrees: float = 90.0, first: float = 0.0) -> None:
    """Exports a scene of limbs into a cache folder; all of them bend."""
    scene.save(cache / "scene")
    tracks = TrackWriter(cache / "scene")
    for body in scene.bodies:
        if len(body.pinned):
            tracks.append(f"body.{body.key}.targets", *bending(body, scene.settings, degrees, first))
    tracks.close()
