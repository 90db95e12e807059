# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles what runs where bodies meet each other or themselves: two boxes, one of which falls on the other, turned.

The upper one is full of tets, or a sheet on tets and on a rigid box.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import Floats
from ...scene.contact import Collision
from ...scene.meshing import RIGID, SHEET, Meshing
from ...scene.scene import Body, Scene, Settings
from ...scene.tracks import NoTracks
from ...simulation.advance_frame import advance_frame
from ...simulation.build import build
from ...simulation.simulation import Simulation
from .small_scenes import box, grid_of_tets

DROP_HEIGHT = 1.0e-3  # between the boxes, which are 1 m high
UPPER_BOX_ROTATION = np.array(
    [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
)  # of the upper one, so that edges cross


def compile_surface_contacts() -> None:
    """Takes steps in which a box falls on another."""
    low, high = _box("low", 0.0, np.eye(3)), _box("high", 1.0 + DROP_HEIGHT, UPPER_BOX_ROTATION)
    sheet, rigid = replace(high, meshing=Meshing(SHEET)), replace(low, meshing=Meshing(RIGID))
    for pair in ((low, high), (low, sheet), (rigid, sheet), (rigid, replace(high, meshing=Meshing(RIGID)))):
        _let_fall(*pair)


def _let_fall(low: Body, high: Body) -> None:
    tracks, scene = NoTracks(), Scene((low, high), settings=Settings(frame_end=2, substeps=2))
    built = build(scene, tracks, lambda stage, body: None)
    simulation = Simulation(scene, tracks, built, built.initial)
    # too few frames for one that falls from rest: both sides have to have met
    simulation.state.v[built.model.bodies[1].nodes, 2] = -2.0 * DROP_HEIGHT * scene.settings.fps
    for frame in (scene.settings.frame_start + 1, scene.settings.frame_start + 2):
        advance_frame(simulation, frame, lambda positions: None)


def _box(key: str, height: float, turn: Floats) -> Body:
    corner = np.array([-0.5, -0.5, height])
    vertices, triangles = box(corner, 1)
    nodes, tets = grid_of_tets((2, 2, 2))
    return Body(
        vertices @ turn, triangles, key=key, name="warm-up", meshing=Meshing("given"),
        tet_nodes=(corner + 0.5 * nodes) @ turn, tets=tets, collision=Collision(self_contact=True),
    )  # fmt: skip
