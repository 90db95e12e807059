# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that a body brings itself."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ..geometry.coordinate_range import check_extent
from ..geometry.triangle_surface import Surface, signed_volume
from ..tet_mesh import MeshReport, TetMesh
from ..tet_quality import dihedral_range, first_of_duplicates, signed_volumes


def user_tets(nodes: Floats | None, tets: Indices | None, surface: Surface | None, name: str) -> TetMesh:
    """Returns tets (m, 4) of `nodes` [m], (n, 3), with their report; unused nodes are left out.

    The tet size is the mean length of the edges from the first node of every tet. The volume of the surface is
    taken from the surface as it is oriented.

    Raises:
        BadInput: There are none, they name nodes that are not there, some are there twice, flat or inside out, or as
            `check_extent`.
    """
    if nodes is None or tets is None or not len(tets):
        raise BadInput("no-tets", name=name)
    positions, corners = floats(nodes, -1, 3), np.asarray(tets)
    if not 0 <= corners.min() <= corners.max() < len(positions):
        raise BadInput("tets-without-nodes", name=name)
    used, numbered = np.unique(corners, return_inverse=True)
    positions, corners = np.ascontiguousarray(positions[used]), indices(numbered.reshape(-1, 4), -1, 4)
    check_extent(positions, name)
    doubled = len(corners) - len(first_of_duplicates(corners))
    if doubled:
        raise BadInput("tets-twice", name=name, count=doubled)
    volumes = signed_volumes(positions, corners)
    if not (volumes > 0.0).all():
        raise BadInput("tets-inverted", name=name, count=int((~(volumes > 0.0)).sum()))
    edges = positions[corners[:, 1:]] - positions[corners[:, :1]]
    low, high = dihedral_range(positions, corners)
    volume = float(volumes.sum())
    enclosed = abs(signed_volume(surface.vertices, surface.triangles)) if surface else volume
    report = MeshReport(
        tet_size=float(np.linalg.norm(edges, axis=2).mean()),
        min_dihedral=low,
        max_dihedral=high,
        volume=volume,
        volume_ratio=volume / enclosed if enclosed > 0.0 else 0.0,
    )
    return TetMesh(positions, corners, np.ones(len(corners)), report)
