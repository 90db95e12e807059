# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles what runs where joints hold bodies: a box hangs on the world, and another one on it."""

from __future__ import annotations

import numpy as np

from ...scene.joint import Joint
from ...scene.meshing import RIGID, Meshing
from ...scene.scene import Body, Scene, Settings
from ...scene.tracks import NoTracks
from ...simulation.advance_frame import advance_frame
from ...simulation.build import build
from ...simulation.simulation import Simulation
from .small_scenes import box


def compile_joints() -> None:
    """Takes a step of two boxes on joints."""
    bodies = tuple(
        Body(*box(np.array([0.0, 0.0, -2.0 * number]), 1), key=key, name="warm-up", meshing=Meshing(RIGID))
        for number, key in enumerate(("upper", "lower"))
    )
    joints = Joint("", "upper", key="world"), Joint("upper", "lower", "point", key="between")
    tracks, scene = NoTracks(), Scene(bodies, settings=Settings(frame_end=2, substeps=1), joints=joints)
    built = build(scene, tracks, lambda stage, body: None)
    simulation = Simulation(scene, tracks, built, built.initial)
    advance_frame(simulation, scene.settings.frame_start + 1, lambda positions: None)
