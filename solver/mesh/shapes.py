# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple shapes to begin with: closed surfaces as (vertices, triangles), and a box of tets as (nodes, tets)."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, Indices, floats
from ..scene.scene import Body, Meshing
from .boundary_faces import boundary_surface

# corners of a cube as 4 x + 2 y + z; four corner tets round a middle one, and in the mirror image bit 4 is the other
CUBE_TETS = np.array([[0, 4, 2, 1], [6, 2, 4, 7], [5, 4, 1, 7], [3, 1, 2, 7], [1, 4, 2, 7]], np.int64)
X_BIT = 4
Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)


def box(
    size: tuple[float, float, float] = (1.0, 1.0, 1.0), divisions: int = 1, center: Point = ORIGIN
) -> tuple[Floats, Indices]:
    """Returns the closed surface of a box.

    Args:
        size: Its sides [m].
        divisions: Squares along each side, of two triangles each.
        center: [m].
    """
    vertices, triangles = _unit_cube(divisions)
    return vertices * np.array(size) + np.array(center), triangles


def sphere(radius: float = 1.0, divisions: int = 8, center: Point = ORIGIN) -> tuple[Floats, Indices]:
    """Returns the closed surface of a sphere.

    Args:
        radius: [m].
        divisions: Squares along each side of the cube that is blown up to the sphere, of two triangles each.
        center: [m].
    """
    vertices, triangles = _unit_cube(divisions)
    vertices = np.tan(vertices * np.pi / 2)  # nearly equal squares
    outward = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    return floats(radius * outward + np.array(center)), triangles


def torus(
    ring_radius: float = 0.7, tube_radius: float = 0.3, around: int = 32, across: int = 16, center: Point = ORIGIN
) -> tuple[Floats, Indices]:
    """Returns the closed surface of a torus about a vertical axis.

    Args:
        ring_radius: From the axis to the middle of the tube [m].
        tube_radius: Of the tube [m].
        around, across: Squares around the axis and around the tube, of two triangles each.
        center: [m].
    """
    i, j = (
        index.ravel()
        for index in np.meshgrid(np.arange(around, dtype=np.int64), np.arange(across, dtype=np.int64), indexing="ij")
    )
    u, v = 2 * np.pi * i / around, 2 * np.pi * j / across
    distance = ring_radius + tube_radius * np.cos(v)
    vertices = np.column_stack([distance * np.cos(u), distance * np.sin(u), tube_radius * np.sin(v)])
    a, b, c, d = ((i + di) % around * across + (j + dj) % across for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return floats(vertices + np.array(center)), triangles.astype(np.int32)


def box_tets(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a box of cells with five tets each, its lowest corner at the origin.

    Source: the bar of Müller 2002, 4 × 4 × 11 nodes and 450 tets, is `box_tets((3, 3, 10), …)`.

    Args:
        cells: Along each axis.
        size: The sides of the box [m].
    """
    nx, ny, nz = cells
    grid = np.stack(np.meshgrid(*(np.arange(c + 1, dtype=np.int64) for c in cells), indexing="ij"), axis=-1)
    nodes = grid.reshape(-1, 3) * (np.array(size) / cells)
    number = np.arange(len(nodes), dtype=np.int64).reshape(nx + 1, ny + 1, nz + 1)
    cube = np.stack(
        [number[i : nx + i, j : ny + j, k : nz + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], axis=-1
    )
    is_odd = np.indices(cells).sum(axis=0) % 2 == 1
    mirrored = CUBE_TETS ^ X_BIT
    tets = np.where(is_odd[..., None, None], cube[..., mirrored], cube[..., CUBE_TETS]).reshape(-1, 4)
    corners = nodes[tets]
    is_inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tets[is_inverted] = tets[is_inverted][:, [0, 1, 3, 2]]
    return nodes, tets.astype(np.int32)


def body_of_tets(nodes: Floats, tets: Indices, **settings: object) -> Body:
    """Returns a body of given tets whose render mesh is their outside.

    Args:
        nodes, tets: Positions [m], (n, 3), and node numbers, positively oriented, (m, 4).
        settings: Further fields of the `Body`.
    """
    vertices, triangles = boundary_surface(nodes, tets)
    return Body(vertices, triangles, meshing=Meshing("given"), tet_nodes=nodes, tets=tets, **settings)  # type: ignore[arg-type]


def _unit_cube(divisions: int) -> tuple[Floats, Indices]:
    """Returns the closed surface of a cube of side one around the origin."""
    steps = np.arange(divisions + 1, dtype=np.int64)
    u, v = (along.ravel() for along in np.meshgrid(steps, steps, indexing="ij"))
    i, j = (along.ravel() for along in np.meshgrid(steps[:-1], steps[:-1], indexing="ij"))
    corner = i * (divisions + 1) + j
    outward = np.concatenate(
        [
            np.column_stack([corner, corner + divisions + 1, corner + divisions + 2]),
            np.column_stack([corner, corner + divisions + 2, corner + 1]),
        ]
    )
    points: list[Indices] = []
    triangles: list[Indices] = []
    for axis in range(3):
        for end in (0, divisions):
            face = np.empty((len(u), 3), np.int32)
            face[:, axis], face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = end, u, v
            triangles.append((outward if end else outward[:, ::-1]) + len(u) * len(points))
            points.append(face)
    # neighbouring faces share the vertices along their edge
    lattice, number = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    return lattice / divisions - 0.5, number.ravel()[np.concatenate(triangles)].astype(np.int32)
