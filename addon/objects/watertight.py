# SPDX-License-Identifier: GPL-3.0-or-later
"""The check whether a mesh is closed, as it has to be to break into closed pieces. It loads neither bpy nor SciPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput


@dataclass(frozen=True)
class Defects:
    """What keeps a mesh from being closed.

    Attributes:
        open_edges: Edges of one triangle.
        nonmanifold_edges: Edges of more than two triangles.
        flipped_edges: Edges whose two triangles disagree which side is out.
        degenerate_triangles: Triangles that have a vertex twice.
    """

    open_edges: int = 0
    nonmanifold_edges: int = 0
    flipped_edges: int = 0
    degenerate_triangles: int = 0

    @property
    def words(self) -> str:
        """What a person reads: "42 open edges and 3 edges with more than two faces"."""
        named = (
            (self.open_edges, "open edge", "open edges"),
            (self.nonmanifold_edges, "edge with more than two faces", "edges with more than two faces"),
            (self.flipped_edges, "edge between faces turned to different sides",
             "edges between faces turned to different sides"),
            (self.degenerate_triangles, "face without area", "faces without area"),
        )  # fmt: skip
        parts = [f"{count:,} {one if count == 1 else many}" for count, one, many in named if count]
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def defects(triangles: Indices) -> Defects | None:
    """Returns what keeps triangles (t, 3) from being closed, each edge between two that agree; None: nothing."""
    a, b, c = triangles.astype(np.int64).T
    is_flat = (a == b) | (b == c) | (c == a)
    kept = triangles[~is_flat].astype(np.int64)
    begin, end = kept.ravel(), np.roll(kept, -1, axis=1).ravel()
    many = int(triangles.max(initial=0)) + 1
    _, edge = np.unique(np.minimum(begin, end) * many + np.maximum(begin, end), return_inverse=True)
    edge = edge.ravel()
    faces_at = np.bincount(edge)
    balance = np.bincount(edge, np.where(begin < end, 1.0, -1.0))
    found = Defects(
        int((faces_at == 1).sum()),
        int((faces_at > 2).sum()),
        int(((faces_at == 2) & (balance != 0)).sum()),
        int(is_flat.sum()),
    )
    return found if found != Defects() else None


def check_watertight(name: str, points: Floats, triangles: Indices) -> None:
    """Makes sure that the mesh of a body that may break is closed, and that its faces look outwards.

    Raises:
        BadInput: Not so; says why.
    """
    found = defects(triangles)
    if found is not None:
        raise BadInput("breaks-open", name=name, defects=found.words)
    a, b, c = (points[triangles[:, i]] - points.mean(axis=0) for i in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
        raise BadInput("breaks-inside-out", name=name)
