# SPDX-License-Identifier: GPL-3.0-or-later
"""Small scenes of given tets, built and run in a few lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from meshes import bar
from sinew.solver.advance import FrameReport, advance_frame
from sinew.solver.build import Built, build
from sinew.solver.scene import Body, Material, Meshing, Scene
from sinew.solver.simulation import Simulation
from sinew.solver.state import State
from sinew.solver.tracks import TrackReader, TrackWriter

JELLY = Material(youngs_modulus=1.0e5, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.01)


def boundary(tets):
    """Returns the outward faces that only one tet has, (t, 3)."""
    faces = np.concatenate([tets[:, [1, 2, 3]], tets[:, [0, 3, 2]], tets[:, [0, 1, 3]], tets[:, [0, 2, 1]]])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])].astype(np.int32)


def block(cells=(3, 3, 3), lengths=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0), *, turn=None, key="block", **settings) -> Body:
    """Returns a body of five tets per cell with its lowest corner at `at`, then turned about the origin."""
    nodes, tets = bar(cells, lengths)
    nodes = nodes + at
    if turn is not None:
        nodes = nodes @ np.asarray(turn).T
    faces = boundary(tets)
    used, numbered = np.unique(faces, return_inverse=True)
    settings.setdefault("material", JELLY)
    return Body(
        key=key,
        name=key.capitalize(),
        vertices=nodes[used],
        triangles=numbered.reshape(-1, 3).astype(np.int32),
        meshing=Meshing("given"),
        tet_nodes=nodes,
        tets=tets,
        **settings,
    )


class Run:
    """A scene with its tracks, built and moved on frame by frame."""

    def __init__(self, folder: Path, scene: Scene, **tracks: object) -> None:
        """`tracks`: name with "__" for "." → (times, values) or (times, values, kind)."""
        writer = TrackWriter(folder)
        for name, samples in tracks.items():
            writer.append(name.replace("__", "."), *samples)
        writer.close()
        self.scene = scene
        self.tracks = TrackReader(folder)
        self.stages: list[tuple[str, str]] = []
        built = build(scene, self.tracks, lambda *stage: self.stages.append(stage))
        self.simulation = Simulation(scene, self.tracks, built, built.initial.copy())
        self.frame = scene.settings.frame_start
        self.render: dict = {}
        self.reports: list[FrameReport] = []

    def advance(self, frames: int = 1, before_step=lambda: None):
        """Moves on and returns the render positions of the only or first body."""
        for _ in range(frames):
            self.frame += 1
            self.reports.append(advance_frame(self.simulation, self.frame, self._sampled, before_step))
        return next(iter(self.render.values()))

    @property
    def built(self) -> Built:
        """What is constant during a step."""
        return self.simulation.built

    @property
    def state(self) -> State:
        """Where it is."""
        return self.simulation.state

    def _sampled(self, positions) -> None:
        self.render = positions


def rotation(axis, angle):
    """Returns the rotation matrix about an axis by an angle [rad]."""
    from scipy.spatial.transform import Rotation

    axis = np.asarray(axis, float)
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()


def pose(turn=None, move=(0.0, 0.0, 0.0)):
    """Returns a 4×4 matrix."""
    matrix = np.eye(4)
    if turn is not None:
        matrix[:3, :3] = turn
    matrix[:3, 3] = move
    return matrix
