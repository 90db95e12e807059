# SPDX-License-Identifier: GPL-3.0-or-later
"""The tets of one muscle, and the nodes where it is attached."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....mesh.geometry.connected_components import mesh_components
from ....runtime.arrays import Bools, Floats, Indices
from ....runtime.errors import BadInput


@dataclass(frozen=True, eq=False)
class MuscleRegion:
    """The tets of a muscle, with the nodes that they use and no others.

    Attributes:
        name: Of the muscle, for people.
        nodes: At rest [m], (n, 3).
        tets: (k, 4).
        is_origin, is_insertion: Nodes where the muscle is attached, (n,); none where nobody said.
        end_depths: Of origin and insertion, how far along the fibres their nodes are from the surface of the end [m],
            (n,) each; (0,): not at all.
    """

    name: str
    nodes: Floats
    tets: Indices
    is_origin: Bools
    is_insertion: Bools
    end_depths: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(0), np.zeros(0)))

    @property
    def centroids(self) -> Floats:
        """Centroids of the tets [m], (k, 3)."""
        return self.nodes[self.tets].mean(axis=1)

    def check_attachments(self) -> None:
        """Raises unless every piece of the muscle has an origin and an insertion, and no node is both.

        Raises:
            BadInput: An end touches no node, both ends share nodes, or a piece lacks one of them.
        """
        for end, is_end in (("origin", self.is_origin), ("insertion", self.is_insertion)):
            if not is_end.any():
                raise BadInput("muscle-end-missing", name=self.name, end=end)
        shared = int((self.is_origin & self.is_insertion).sum())
        if shared:
            raise BadInput("muscle-ends-overlap", name=self.name, count=shared)
        piece = mesh_components(self.tets, len(self.nodes))
        count = int(piece.max()) + 1
        for end, is_end in (("origin", self.is_origin), ("insertion", self.is_insertion)):
            is_detached = np.bincount(piece[is_end], minlength=count) == 0
            if is_detached.any():
                lost = int(is_detached[piece[self.tets[:, 0]]].sum())
                raise BadInput("muscle-piece-unattached", name=self.name, end=end, count=lost, pieces=count)


def used_nodes(tets: Indices) -> Indices:
    """Returns the nodes that tets use, ascending, as `muscle_region` numbers them, (n,)."""
    return np.unique(tets)


def muscle_region(name: str, X: Floats, tets: Indices, is_origin: Bools, is_insertion: Bools) -> MuscleRegion:
    """Returns the region of the tets of a muscle, (k, 4), among all nodes of its body at rest [m], (n, 3)."""
    used, own = np.unique(tets, return_inverse=True)
    return MuscleRegion(name, X[used], own.reshape(-1, 4).astype(np.int32), is_origin[used], is_insertion[used])
