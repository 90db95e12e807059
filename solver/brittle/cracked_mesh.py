# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of a body whose tets have parted across some faces: copies of nodes, pieces, and where cracks end."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..mesh.node_splitting.face_adjacency import FACE_CORNERS
from ..mesh.node_splitting.node_duplication import SplitNodes, split_nodes
from ..runtime.arrays import Bools, Floats, Indices
from .brittle_body import BrittleBody


@dataclass(frozen=True, eq=False)
class CrackedMesh:
    """A body with cracks.

    Attributes:
        body: It, while it was whole.
        is_parted: Across which faces its tets have parted, (m, 4).
    """

    body: BrittleBody
    is_parted: Bools

    @functools.cached_property
    def copies(self) -> SplitNodes:
        """The nodes of its tets."""
        adjacency = self.body.neighbours
        return split_nodes(self.body.tets, adjacency.tet, adjacency.twin, self.is_parted, 0)

    @property
    def tets(self) -> Indices:
        """Nodes of its tets, (m, 4)."""
        return self.copies.tets

    @functools.cached_property
    def nodes(self) -> Floats:
        """Where the nodes are [m], (n, 3)."""
        return self.body.nodes[self.body.tets.ravel()[self.copies.corner]]

    @functools.cached_property
    def piece(self) -> Indices:
        """The piece of each tet, (m,), by the order of their first tets."""
        return self.body.neighbours.piece_of_tets(self.is_parted)

    @property
    def piece_count(self) -> int:
        """Into how many pieces it has fallen."""
        return int(self.piece.max(initial=-1)) + 1

    @functools.cached_property
    def is_tip(self) -> Bools:
        """Which nodes cracks end at, (n,): tets have parted across a face there, and still have the node together."""
        tet, face = np.nonzero(self.is_parted)
        own, twin = self.tets[tet], self.body.neighbours.twin[tet, face]
        other = self.tets.ravel()[np.maximum(twin, 0)]
        tips = np.zeros(len(self.copies.corner), bool)
        tips[own[(twin >= 0) & (other == own)]] = True
        return tips

    @functools.cached_property
    def crack_faces(self) -> Indices:
        """The faces across which tets have parted, once each, as nodes of the whole body, (k, 3)."""
        tet, face = np.nonzero(self.is_parted)
        is_first = tet < self.body.neighbours.tet[tet, face]
        tet, face = tet[is_first], face[is_first]
        return np.take_along_axis(self.body.tets[tet], FACE_CORNERS[face].astype(np.int32), axis=1)

    @property
    def crack_area(self) -> float:
        """Of these faces [m²]."""
        a, b, c = np.moveaxis(self.body.nodes[self.crack_faces], 1, 0)
        return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def whole_mesh(body: BrittleBody) -> CrackedMesh:
    """Returns a body without cracks."""
    return CrackedMesh(body, np.zeros((len(body.tets), 4), bool))
