# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a closed surface along the faces of tets that have parted."""

from __future__ import annotations

from ..arrays import Floats, Indices
from .cut_surface import CutSurface


def cut(
    nodes: Floats,
    tets: Indices,
    parted_tets: Indices,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
    name: str,
) -> CutSurface:
    """Returns the surface cut along every face at which two tets have different nodes now.

    Args:
        nodes: Rest positions of the whole tets [m], (n, 3).
        tets: Nodes of the whole tets, (m, 4).
        parted_tets: Nodes of the same tets after nodes have split, (m, 4).
        vertices: Render vertices at rest [m], (v, 3).
        triangles: The closed render surface, outward, (t, 3).
        face_of_triangle: The face of the render mesh that each triangle is a part of, (t,).
        name: What the object is called, for failures.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets.
    """
    raise NotImplementedError
