# SPDX-License-Identifier: GPL-3.0-or-later
"""A rabbit and a liver of tets, made of ellipsoids: the papers' own meshes are not given."""

from __future__ import annotations

import functools

import numpy as np

from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.shapes import sphere
from sinew.solver.mesh.tetrahedralize.fill import fill_surface
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.scene import Meshing

# centre and half-axes [m], x to the nose, z up
RABBIT_ELLIPSOIDS = (
    ((0.0, 0.0, 0.30), (0.42, 0.28, 0.29)),  # body
    ((0.42, 0.0, 0.55), (0.20, 0.17, 0.19)),  # head
    ((0.36, 0.09, 0.86), (0.06, 0.05, 0.24)),  # ears
    ((0.36, -0.09, 0.86), (0.06, 0.05, 0.24)),
    ((0.25, 0.15, 0.09), (0.17, 0.08, 0.09)),  # paws
    ((0.25, -0.15, 0.09), (0.17, 0.08, 0.09)),
    ((-0.15, 0.22, 0.14), (0.24, 0.10, 0.14)),  # haunches
    ((-0.15, -0.22, 0.14), (0.24, 0.10, 0.14)),
    ((-0.45, 0.0, 0.33), (0.10, 0.10, 0.10)),  # tail
)
# the large lobe, the small one, and what joins them; x from lobe to lobe
LIVER_ELLIPSOIDS = (
    ((-0.28, 0.0, 0.0), (0.42, 0.34, 0.20)),
    ((-0.30, 0.0, -0.12), (0.28, 0.26, 0.22)),
    ((0.10, 0.03, 0.05), (0.36, 0.24, 0.13)),
    ((0.42, 0.05, 0.07), (0.28, 0.17, 0.08)),
)


@functools.cache
def rabbit(divisions: int = 14) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a sitting rabbit a metre long, its feet on z = 0."""
    return _fill_ellipsoids(RABBIT_ELLIPSOIDS, divisions, "rabbit")


@functools.cache
def liver(divisions: int = 18) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a liver a metre and a half across."""
    return _fill_ellipsoids(LIVER_ELLIPSOIDS, divisions, "liver")


def _fill_ellipsoids(parts: tuple, divisions: int, name: str) -> tuple[Floats, Indices]:
    ball, triangles = sphere(divisions=16)
    vertices = np.concatenate([ball * radii + np.array(centre) for centre, radii in parts])
    faces = np.concatenate([triangles + number * len(ball) for number in range(len(parts))])
    mesh = fill_surface(make_surface(vertices, faces, name), Meshing("smooth", divisions=divisions), name)
    return mesh.nodes, mesh.tets
