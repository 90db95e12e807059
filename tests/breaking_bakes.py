# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny scene that breaks: a bar pulled apart at its ends while its object turns, beside a cube that cannot break."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from meshes import bar
from scenes import boundary
from sinew.solver.scene import Body, Collider, Fracture, Heat, Material, Meshing, Plasticity, Scene, Settings
from sinew.solver.tracks import TrackWriter
from tiny_bakes import box_of_tets

FRAMES = 20
LENGTH = 2.0
INSIDE = 0.021  # how deep the render mesh lies in the outermost tets [m]


def breaking_scene(
    frame_end: int = FRAMES, attributes: tuple[str, ...] = (), strength: float = 1.0e4, **settings: float
) -> Scene:
    """Returns a bar along x between z = 1 and 1.5 that is to be pulled apart, and a soft cube on the ground."""
    nodes, tets = bar((8, 2, 2), (LENGTH, 0.5, 0.5))
    nodes = nodes + [0.0, 0.0, 1.0]
    vertices, triangles = _box(INSIDE)
    vertices = vertices + [0.0, 0.0, 1.0]
    ends = np.flatnonzero((vertices[:, 0] < 0.1) | (vertices[:, 0] > LENGTH - 0.1)).astype(np.int32)
    material = Material(youngs_modulus=1.0e5, density=1000.0, poisson_ratio=0.3, stiffness_damping=0.01)
    pulled = Body(
        "pulled",
        "Pulled Bar",
        vertices,
        triangles,
        material,
        Meshing("given"),
        pinned=ends,
        pin_weights=np.ones(len(ends)),
        tet_nodes=nodes,
        tets=tets,
        fracture=Fracture(breaking_stress=strength, seed=3),
        attributes=attributes,
    )
    cube_nodes, cube_tets, faces = box_of_tets(1, 0.5)
    cube_nodes = cube_nodes + [5.0, 0.0, 0.02]
    cube = Body(
        "cube",
        "Cube",
        cube_nodes,
        faces,
        material,
        Meshing("given"),
        tet_nodes=cube_nodes,
        tets=cube_tets,
        attributes=attributes,
        plasticity=Plasticity(yield_strain=0.0),
        heat=Heat(temperature=35.0),
    )
    return Scene((cube, pulled), (Collider("ground", "Ground"),), Settings(1, frame_end, substeps=4, **settings))


def write_breaking(cache: Path, scene: Scene, speed: float = 0.6) -> None:
    """Exports a scene into a cache folder: the ends of the bar go apart, after a while, and its object turns."""
    folder = cache / "scene"
    scene.save(folder)
    tracks = TrackWriter(folder)
    pulled = next(body for body in scene.bodies if body.key == "pulled")
    rest = pulled.vertices[pulled.pinned]
    times = np.arange(0.0, 4.0, 0.05)
    away = np.sign(rest[:, 0] - 0.5 * LENGTH)[:, None] * [0.5, 0.0, 0.0]
    tracks.append("body.pulled.targets", times, rest + speed * np.maximum(times - 0.1, 0.0)[:, None, None] * away)
    turns = np.tile(np.eye(4), (len(times), 1, 1))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(times)
    turns[:, 1, 0], turns[:, 0, 1] = np.sin(times), -np.sin(times)
    turns[:, :3, 3] = [1.0, 2.0, 3.0]
    tracks.append("body.pulled.matrix", times, turns, "rigid")
    tracks.close()


def _box(inside: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns a closed box of squares that the tets contain, finer than they are."""
    nodes, tets = bar((19, 5, 5), (LENGTH - 2 * inside, 0.5 - 2 * inside, 0.5 - 2 * inside))
    used, numbered = np.unique(boundary(tets), return_inverse=True)
    return nodes[used] + inside, numbered.reshape(-1, 3).astype(np.int32)
