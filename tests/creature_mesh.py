# SPDX-License-Identifier: GPL-3.0-or-later
"""A creature with four limbs, made of capsules: its surface, its tets, and which nodes its hands and feet are.

    python tests/creature_mesh.py CREATURE.vtu PINS.npz [DIVISIONS]

writes the tets, and the pins that hold hands and feet where they are, as `sinew equilibrium` reads them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from sinew.solver.arrays import Floats, Indices
from sinew.solver.geometry.surface import Surface
from sinew.solver.quasistatic.held import Held
from sinew.solver.scene import Meshing
from sinew.solver.tetrahedralize import tetrahedralize
from sinew.solver.tetrahedralize.tet_mesh import TetMesh

DIVISIONS = 48  # along its height: some 60,000 tets
RINGS, SEGMENTS = 12, 24  # of each capsule
# ends [m] and radius [m]; limbs are mirrored at x = 0
TRUNK = (
    ((0.0, 0.0, 0.85), (0.0, 0.0, 1.25), 0.19),
    ((0.0, 0.02, 1.25), (0.0, 0.0, 1.62), 0.08),
    ((0.0, -0.03, 1.62), (0.0, -0.03, 1.68), 0.14),
)
LIMBS = (
    ((0.12, 0.0, 1.30), (0.40, 0.05, 1.10), 0.08),
    ((0.40, 0.05, 1.10), (0.52, -0.20, 0.95), 0.06),
    ((0.52, -0.20, 0.95), (0.53, -0.28, 0.93), 0.08),
    ((0.11, 0.0, 0.80), (0.22, -0.06, 0.45), 0.10),
    ((0.22, -0.06, 0.45), (0.24, 0.0, 0.09), 0.075),
    ((0.24, 0.0, 0.08), (0.26, -0.18, 0.07), 0.08),
)
MIRROR = np.array([-1.0, 1.0, 1.0])
EXTREMITIES = (2, 5)  # of LIMBS: hand and foot


def creature_surface() -> Surface:
    """Returns the closed surfaces of all capsules; they overlap."""
    parts = [capsule(np.array(a), np.array(b), radius) for a, b, radius in TRUNK]
    for a, b, radius in LIMBS:
        parts += [capsule(np.array(a), np.array(b), radius), capsule(MIRROR * a, MIRROR * b, radius)]
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    triangles = [each + start for (_, each), start in zip(parts, first, strict=False)]
    return Surface(np.concatenate([vertices for vertices, _ in parts]), np.concatenate(triangles))


def capsule(a: Floats, b: Floats, radius: float) -> tuple[Floats, Indices]:
    """Returns vertices [m], (n, 3), and triangles, (t, 3), of a cylinder from a to b with half a ball at each end."""
    axis = (b - a) / np.linalg.norm(b - a)
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    v = np.cross(axis, u)
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, RINGS + 2)[1:-1]
    angle = np.arange(SEGMENTS) * 2.0 * np.pi / SEGMENTS
    around = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    rings = [(a if rise < 0.0 else b) + radius * (np.sin(rise) * axis + np.cos(rise) * around) for rise in latitude]
    vertices = np.concatenate([*rings, [a - radius * axis, b + radius * axis]])
    near, far = len(vertices) - 2, len(vertices) - 1
    here = np.arange(SEGMENTS)
    there = np.roll(here, -1)
    triangles = [np.stack([np.full(SEGMENTS, near), there, here], axis=1)]
    for ring in range(RINGS - 1):
        low, high = ring * SEGMENTS, (ring + 1) * SEGMENTS
        triangles.append(np.stack([low + here, low + there, high + there], axis=1))
        triangles.append(np.stack([low + here, high + there, high + here], axis=1))
    last = (RINGS - 1) * SEGMENTS
    triangles.append(np.stack([last + here, last + there, np.full(SEGMENTS, far)], axis=1))
    return vertices, np.concatenate(triangles).astype(np.int32)


def creature_tets(divisions: int = DIVISIONS) -> TetMesh:
    """Returns the lattice of so many cells along the height inside the capsules."""
    return tetrahedralize(creature_surface(), Meshing(method="robust", divisions=divisions), "creature")


def hands_and_feet(X: Floats) -> Held:
    """Returns the nodes at rest positions X [m], (n, 3), inside hands and feet, held where they are."""
    is_held = np.zeros(len(X), np.bool_)
    for limb in EXTREMITIES:
        a, b, radius = LIMBS[limb]
        for side in (np.ones(3), MIRROR):
            is_held |= _distance(X, side * a, side * b) <= radius
    nodes = np.flatnonzero(is_held)
    return Held(nodes.astype(np.int32), X[nodes])


def _distance(X: Floats, a: Floats, b: Floats) -> Floats:
    """Returns how far points are from the segment from a to b [m], (n,)."""
    along = np.clip((X - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.asarray(np.linalg.norm(X - a - along[:, None] * (b - a), axis=1))


def main(arguments: list[str]) -> None:
    """Writes tets and pins."""
    import meshio

    mesh, pins = Path(arguments[0]), Path(arguments[1])
    filled = creature_tets(int(arguments[2]) if len(arguments) > 2 else DIVISIONS)
    held = hands_and_feet(filled.nodes)
    meshio.write(mesh, meshio.Mesh(filled.nodes, [("tetra", filled.tets)]))
    np.savez(pins, nodes=held.nodes, positions=held.positions)
    print(f"{mesh}: {len(filled.tets)} tets, {len(held.nodes)} nodes held")


if __name__ == "__main__":
    main(sys.argv[1:])
