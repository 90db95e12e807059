# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose sharp edges meet across each other, and how deep edges are in bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contact_measures import depths
from contact_scenes import RUBBER, bent_block, held, stay
from meshes import bar
from scenes import boundary, rotation
from sinew.solver.arrays import Floats, Indices
from sinew.solver.collision import Collision
from sinew.solver.scene import Collider, Scene, Settings

SAMPLES = np.linspace(0.0, 1.0, 33)[:-1]  # along an edge of a mesh
RIDGE = rotation([1, 0, 0], np.pi / 4)  # turns a block along x so that an edge is up and another one down
ACROSS = rotation([0, 0, 1], np.pi / 2)


def sharp_edges(vertices: Floats, triangles: Indices) -> Indices:
    """Returns the edges between faces that are turned by more than 30 degrees, (e, 2), one by one."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    beside: dict[tuple[int, int], list[int]] = {}
    for t, corners in enumerate(triangles.tolist()):
        for k in range(3):
            beside.setdefault((min(corners[k], corners[k - 1]), max(corners[k], corners[k - 1])), []).append(t)
    sharp = [e for e, t in beside.items() if len(t) == 2 and normal[t[0]] @ normal[t[1]] < np.cos(np.radians(30.0))]
    return np.array(sharp, np.int32).reshape(-1, 2)


def edge_depth(edges: Indices, at: Floats, vertices: Floats, triangles: Indices) -> float:
    """Returns how deep edges, with their ends `at` [m], are in a closed surface [m]."""
    first, last = at[edges[:, :1]], at[edges[:, 1:]]
    points = (first + SAMPLES[None, :, None] * (last - first)).reshape(-1, 3)
    return float(depths(points, vertices, triangles).max(initial=0.0))


class EdgesIn:
    """How deep the edges of bodies are in others, over the size of the smallest."""

    def __init__(self, run, size: float, colliders=()) -> None:
        """`colliders`: vertices and triangles of those that stand still."""
        self.size, self.bodies, self.colliders = size, run.scene.bodies, colliders
        self.edges = {body.key: sharp_edges(body.vertices, body.triangles) for body in self.bodies}
        self.still = [sharp_edges(*each) for each in colliders]
        self.most = 0.0

    def look(self, run) -> float:
        """Returns how deep the deepest is now."""
        depth = 0.0
        for a in self.bodies:
            for b in self.bodies:
                if a is not b:
                    depth = max(depth, edge_depth(self.edges[a.key], run.render[a.key], run.render[b.key], b.triangles))
            for (vertices, triangles), edges in zip(self.colliders, self.still, strict=True):
                depth = max(depth, edge_depth(self.edges[a.key], run.render[a.key], vertices, triangles))
                depth = max(depth, edge_depth(edges, vertices, run.render[a.key], a.triangles))
        self.most = max(self.most, depth / self.size)
        return depth / self.size


def crossed(
    cells=(8, 8, 8), lengths=(1.0, 1.0, 1.0), speed: float = 0.0, gap: float = 0.01, aside: float = 0.0,
    material=RUBBER, gravity=(0.0, 0.0, -9.81), is_held: bool = True,
) -> Scene:  # fmt: skip
    """Returns two blocks one above the other, an edge along x of the lower one under an edge along y of the upper one.

    The points of both are as far from where the edges cross as they can be. The lower one is held below.
    """
    lengths = np.array(lengths)
    half, shift = 0.5 * lengths, 0.5 * lengths[0] / cells[0]
    top = np.sqrt(2.0) * half[1]
    # cells[0] is even, so the middle of an edge is a point; moved by half a cell it is as far from one as can be
    low = bent_block("low", cells, lengths, lambda v: (v - half) @ RIDGE.T + [shift, 0.0, -top], material=material,
                     collision=Collision(0.5))  # fmt: skip
    up = bent_block(
        "up", cells, lengths, lambda v: (v - half) @ RIDGE.T @ ACROSS.T + [aside, shift, top + gap], material=material,
        collision=Collision(0.5), initial_velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    if is_held:
        low = held(low, lambda v: v[:, 2] < -1.01 * top)
    return Scene((low, up), (), Settings(gravity=gravity))


def tracks_of(scene: Scene) -> dict[str, tuple]:
    """Returns the tracks of what is held."""
    return {name: track for body in scene.bodies if len(body.pinned) for name, track in stay(body).items()}


def on_collider(
    cells=(8, 8, 8), lengths=(1.0, 1.0, 1.0), speed: float = 0.0, gap: float = 0.01, material=RUBBER,
    gravity=(0.0, 0.0, -9.81), deforms: bool = False,
) -> tuple[Scene, dict, tuple[Floats, Indices]]:  # fmt: skip
    """Returns a block that falls as above on the edge of a long collider that stands still, tracks, and its mesh."""
    lengths = np.array(lengths)
    scene = crossed(cells, lengths, speed, gap, material=material, gravity=gravity, is_held=False)
    low, up = scene.bodies
    middle = low.vertices.mean(axis=0)
    vertices, triangles = box(1.5 * lengths)
    vertices = (vertices - 0.75 * lengths) @ RIDGE.T + [0.01, 0.0, middle[2] - 0.5 * np.sqrt(0.5) * lengths[1]]
    collider = Collider("edge", "Edge", "mesh", vertices, triangles, friction=0.5)
    tracks: dict[str, tuple] = {}
    if deforms:
        tracks["collider__edge__vertices"] = ([0.0, 1.0], np.stack([vertices, vertices]))
    return replace(scene, bodies=(up,), colliders=(collider,)), tracks, (vertices, triangles)


def box(lengths: Floats) -> tuple[Floats, Indices]:
    """Returns a box with a corner at the origin, of twelve triangles."""
    nodes, tets = bar((1, 1, 1), tuple(lengths))
    return nodes, boundary(tets)


def corrugated(thick: float = 0.05, gap: float = 0.002, E: float = 1.0e6) -> Scene:
    """Returns two plates of 1 m, each with two sharp ridges, that lie on each other crosswise; the lower one is held.

    Four times an edge lies across an edge, so the upper one rests.
    """

    def folded(nodes: Floats) -> Floats:
        height = 0.15 * np.abs(np.abs(4.0 * nodes[:, 0] - 2.0) - 1.0)  # 0 at both ridges
        return nodes + np.column_stack([np.full(len(nodes), -0.5), np.full(len(nodes), -0.5), height - 0.0])

    material = replace(RUBBER, youngs_modulus=E)
    cells, lengths = (16, 13, 1), (1.0, 1.0, thick)
    up = bent_block("up", cells, lengths, lambda v: folded(v) + [0, 0, gap], material=material)
    low = bent_block("low", cells, lengths, lambda v: folded(v) * [1, 1, -1] @ ACROSS.T, material=material)
    low = replace(low, triangles=low.triangles[:, ::-1].copy(), tets=low.tets[:, [0, 1, 3, 2]].copy())
    return Scene((held(low, lambda v: v[:, 2] < -0.1), up))
