# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles what runs where a brittle body breaks: a slab of glass that hits a plane, held on one side and free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...scene.material_presets import find_preset
from ...scene.meshing import RIGID, Meshing
from ...scene.scene import Body, Scene, Settings
from ...scene.tracks import NoTracks
from ...simulation.advance_frame import advance_frame
from ...simulation.build import build
from ...simulation.simulation import Simulation
from .small_scenes import PLANE, box

SLAB = np.array([0.2, 0.12, 0.03])  # lengths of its sides [m]
SPEED = 8.0  # at which it is sure to break [m/s]
HEIGHT = 1.0e-3  # above the plane [m]
FRAMES = 3  # the pieces meet each other, too


def compile_brittle() -> None:
    """Takes steps in which slabs break."""
    corners, triangles = box(np.array([-0.5, -0.5, 0.0]), 1)
    glass = find_preset("glass")
    slab = Body(
        corners * SLAB + [0.0, 0.0, HEIGHT], triangles, key="slab", name="warm-up", meshing=Meshing(RIGID, divisions=4),
        material=glass.material, fracture=glass.fracture, initial_velocity=(0.0, 0.0, -SPEED),
    )  # fmt: skip
    side = np.flatnonzero(corners[:, 0] < 0.0).astype(np.int32)
    for body in (slab, replace(slab, pinned=side)):
        tracks, scene = NoTracks(), Scene((body,), (PLANE,), Settings(frame_end=1 + FRAMES))
        built = build(scene, tracks, lambda stage, body: None)
        simulation = Simulation(scene, tracks, built, built.initial)
        for frame in range(2, 2 + FRAMES):
            advance_frame(simulation, frame, lambda positions: None)
