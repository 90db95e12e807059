# SPDX-License-Identifier: GPL-3.0-or-later
"""The check whether a mesh is closed, as it has to be to break into closed pieces. It loads neither bpy nor SciPy."""

from __future__ import annotations

import numpy as np

from ...solver.mesh.geometry.manifold_defects import ManifoldDefects, find_manifold_defects
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput


def defects_text(defects: ManifoldDefects) -> str:
    """Returns what a person reads of them: "42 open edges and 3 edges with more than two faces"."""
    named = (
        (defects.open_edges, "open edge", "open edges"),
        (defects.nonmanifold_edges, "edge with more than two faces", "edges with more than two faces"),
        (defects.flipped_edges, "edge between faces turned to different sides",
         "edges between faces turned to different sides"),
        (defects.degenerate_triangles, "face without area", "faces without area"),
    )  # fmt: skip
    parts = [f"{count:,} {one if count == 1 else many}" for count, one, many in named if count]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def check_watertight(name: str, points: Floats, triangles: Indices) -> None:
    """Makes sure that the mesh of a body that may break is closed, and that its faces look outwards.

    Raises:
        BadInput: Not so; says why.
    """
    found = find_manifold_defects(triangles)
    if found is not None:
        raise BadInput("breaks-open", name=name, defects=defects_text(found))
    a, b, c = (points[triangles[:, i]] - points.mean(axis=0) for i in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
        raise BadInput("breaks-inside-out", name=name)
