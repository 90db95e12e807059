# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that scattered points carry: every vertex follows the nearest of them, and hands its forces down to these.

The points stand about a lattice around the sheet. They have no elements of their own: what stretches, bends, weighs and
touches is the mesh of the sheet.

Source: S07, section 6.2.2 and figure 6.6.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices, floats, indices
from ..runtime.counter_rng import uniform
from ..runtime.errors import BadInput
from .point_clouds import weights_in_cloud
from .t_junctions import TJunctions
from .tet_mesh import TetMesh

POINTS_PER_VERTEX = 12  # four tell an affine motion; with so many weights are small, and hardly jump between neighbours
SCATTER = 1.0 / 3.0  # of the spacing: points of a plain lattice would often lie in one plane, or be equally far
MARGIN = 2  # cells around those of vertices that have points, more than the nearest reach
LEAST_MASS_SHARE = 1.0e-3  # of the mean mass of points, below which one is left out
SEED = 0x51E7


def carry_by_points(mesh: TetMesh, spacing: float, name: str) -> TetMesh:
    """Returns a sheet whose nodes follow points, which are further nodes behind its own.

    Args:
        mesh: The sheet, without strands.
        spacing: Of the points, over the size of the sheet's edges.
        name: Of the sheet, for people.

    Raises:
        BadInput: The points would be farther apart than the sheet is large.
    """
    sheet = mesh.sheet
    assert sheet is not None
    apart, largest = spacing * mesh.report.tet_size, float(np.linalg.norm(np.ptp(mesh.nodes, axis=0)))
    if apart > largest:
        raise BadInput("sheet-points-too-far-apart", name=name, apart=f"{apart:.3g}", largest=f"{largest:.3g}")
    cloud = scatter_points(mesh.nodes, apart)
    points, nearest, weights = _carrying_points(cloud, mesh.nodes, _vertex_areas(mesh.nodes, sheet.triangles))
    count = len(mesh.nodes)
    followers = TJunctions(
        np.arange(count, dtype=np.int32),
        np.arange(0, nearest.size + 1, POINTS_PER_VERTEX, dtype=np.int32),
        indices(nearest.ravel() + count),
        floats(weights.ravel()),
    )
    return replace(mesh, nodes=np.concatenate([mesh.nodes, points]), junctions=followers)


def scatter_points(places: Floats, spacing: float) -> Floats:
    """Returns points about a lattice in the cells around some places [m], (c, 3); the same places give the same.

    Args:
        places: [m], (k, 3).
        spacing: Of the lattice [m]; each point is up to a sixth of it off in every direction.
    """
    origin = places.min(axis=0)
    cells = np.unique(np.floor((places - origin) / spacing + 0.5).astype(np.int64), axis=0)
    near = np.arange(-MARGIN, MARGIN + 1, dtype=np.int64)
    around = np.stack(np.meshgrid(near, near, near, indexing="ij"), axis=-1).reshape(-1, 3)
    cells = np.unique((cells[:, None] + around).reshape(-1, 3), axis=0)
    off = uniform(SEED, cells[:, :1], cells[:, 1:2], cells[:, 2:], np.arange(3, dtype=np.int64)) - 0.5
    return floats(origin + spacing * (cells + SCATTER * off), -1, 3)


def _carrying_points(cloud: Floats, nodes: Floats, area: Floats) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Returns the points that carry nodes [m], (c, 3), and which of them carry each and by what weights, (n, k).

    Points to which the nodes would hand down no mass are left out: some weights are negative.
    """
    while True:
        nearest, weights = weights_in_cloud(cloud, nodes, POINTS_PER_VERTEX)
        share = np.bincount(nearest.ravel(), (weights * area[:, None]).ravel(), len(cloud))
        used = np.zeros(len(cloud), bool)
        used[nearest] = True
        is_heavy = share > LEAST_MASS_SHARE * area.sum() / used.sum()
        if is_heavy[used].all():
            number = np.cumsum(used, dtype=np.int64) - 1
            return cloud[used], number[nearest], weights
        cloud = cloud[is_heavy | ~used]


def _vertex_areas(nodes: Floats, triangles: Indices) -> Floats:
    """Returns a third of the area of the triangles at each node [m²], (n,)."""
    a, b, c = (nodes[triangles[:, corner]] for corner in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return floats(np.bincount(triangles.ravel(), np.repeat(area, 3), len(nodes)))
