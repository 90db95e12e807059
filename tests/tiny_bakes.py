# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny scenes of given tets, so that baking one needs no meshing, and what a cache holds."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np

from sinew.solver.scene import Body, Collider, Material, Meshing, Scene, Settings
from sinew.solver.tracks import TrackWriter


def box_of_tets(divisions: int = 2, side: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns nodes, tets (six a cell) and outer triangles of a cube that stands on z = 0."""
    count = divisions + 1
    grid = np.stack(np.meshgrid(*[np.arange(count)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    steps = np.array([count * count, count, 1])
    tets = []
    for cell in grid[(grid < divisions).all(axis=1)] @ steps:
        for order in permutations(range(3)):
            path = cell + np.concatenate([[0], np.cumsum(steps[list(order)])])
            tets.append(path)
    tets = np.array(tets)
    nodes = grid * (side / divisions) - np.array([side / 2, side / 2, 0.0])
    volume = np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]])
    tets[volume < 0] = tets[volume < 0][:, [1, 0, 2, 3]]
    faces = tets[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, first, uses = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return nodes, tets.astype(np.int32), faces[first[uses == 1]].astype(np.int32)


def tiny_scene(frame_end: int = 24, divisions: int = 2, **settings: float) -> Scene:
    """Returns two soft cubes, one falling on the ground and one hanging from its top, which moves."""
    nodes, tets, faces = box_of_tets(divisions)
    material = Material(youngs_modulus=2.0e4, density=1000.0, poisson_ratio=0.3, stiffness_damping=0.01)
    given = Meshing(method="given")
    falling = nodes + [0.0, 0.0, 0.05]
    hanging = nodes + [3.0, 0.0, 2.0]
    top = np.flatnonzero(hanging[:, 2] > 2.99).astype(np.int32)
    bodies = (
        Body("falls", "Falling Cube", falling, faces, material, given, tet_nodes=falling, tets=tets),
        Body(
            "hangs",
            "Hanging Cube",
            hanging,
            faces,
            material,
            given,
            pinned=top,
            pin_weights=np.ones(len(top)),
            tet_nodes=hanging,
            tets=tets,
        ),
    )
    return Scene(bodies, (Collider("ground", "Ground"),), Settings(1, frame_end, substeps=2, **settings))


def write_scene(cache: Path, scene: Scene) -> None:
    """Exports a scene into a cache folder, its second body's top swinging, its object turning."""
    folder = cache / "scene"
    scene.save(folder)
    tracks = TrackWriter(folder)
    hanging = scene.bodies[1]
    times = np.arange(0.0, 3.0, 0.05)
    swing = 0.2 * np.sin(4.0 * times)[:, None, None] * np.array([1.0, 0.0, 0.0])
    tracks.append("body.hangs.targets", times, hanging.vertices[hanging.pinned] + swing)
    turns = np.tile(np.eye(4), (len(times), 1, 1))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(times)
    turns[:, 1, 0] = np.sin(times)
    turns[:, 0, 1] = -np.sin(times)
    turns[:, :3, 3] = [3.0, 0.0, 2.0]
    tracks.append("body.hangs.matrix", times, turns, "rigid")
    tracks.close()


def baked(cache: Path) -> dict[str, bytes]:
    """Returns every file that has to be the same whenever the same scene is baked: all but times and logs."""
    left_out = {"report.jsonl", "log.txt", "lock"}
    paths = sorted(path for path in cache.rglob("*") if path.is_file() and path.name not in left_out)
    return {path.relative_to(cache).as_posix(): path.read_bytes() for path in paths}
