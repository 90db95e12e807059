# SPDX-License-Identifier: GPL-3.0-or-later
"""From the faces across which tets have parted to the nodes that they have: copies, pieces, and their order.

Two tets have the same copy of a node if one can be reached from the other through faces at that node across which
tets have not parted. So no two tets ever hang together by an edge or a node alone, what hangs together does so by
faces, and a piece is what nodes connect. The parted faces say all: the order in which nodes have split does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Bools, Indices
from ...runtime.jit import kernel
from ...runtime.union_find import flatten_labels, union_sets
from ..tet_mesh import TetMesh
from .face_adjacency import face_adjacency

NO_LINKS = np.zeros((0, 2), np.int32)


@dataclass(frozen=True)
class SplitNodes:
    """The nodes of one breakable body.

    Attributes:
        tets: Nodes of its tets, numbered from 0, (m, 4).
        corner: For every node the first corner 4 · tet + c that has it, tets numbered in the body, (n,).
        piece_start: First node of each piece, (p,); pieces come in the order of their first tets.
    """

    tets: Indices
    corner: Indices
    piece_start: Indices


def split_nodes(
    origin: Indices, across: Indices, twin: Indices, is_parted: Bools, first_tet: int, links: Indices = NO_LINKS
) -> SplitNodes:
    """Returns the nodes of a body, piece by piece, in each in the order of the nodes that they are copies of.

    Args:
        origin: Nodes of its whole tets, (m, 4).
        across, twin: Its rows of `FaceAdjacency`, with tets and corners of the scene.
        is_parted: Across which faces its tets have parted, (m, 4).
        first_tet: Number of its first tet in the scene.
        links: Pairs of its corners 4 · tet + c, tets numbered in the body, that have one copy whatever parts, (l, 2).
    """
    count = len(origin)
    corner_label, tet_label = np.empty(4 * count, np.int32), np.empty(count, np.int32)
    label_connected(across, twin, is_parted, first_tet, links, corner_label, tet_label)
    corner = np.unique(corner_label)
    piece = tet_label[corner >> 2]
    order = np.lexsort((corner, origin.ravel()[corner], piece))
    number = np.empty(4 * count, np.int32)
    number[corner[order]] = np.arange(len(corner), dtype=np.int32)
    piece = piece[order]
    starts = np.flatnonzero(np.append(True, piece[1:] != piece[:-1])).astype(np.int32)
    return SplitNodes(number[corner_label].reshape(-1, 4), corner[order], starts)


def separate_hinges(mesh: TetMesh) -> TetMesh:
    """Returns tets that hang together by faces alone: where lumps share an edge or a node, each gets its own nodes."""
    adjacency = face_adjacency(mesh.tets, np.ones(len(mesh.tets), bool))
    is_parted = np.zeros((len(mesh.tets), 4), bool)
    copies = split_nodes(mesh.tets, adjacency.tet, adjacency.twin, is_parted, 0)
    return replace(mesh, nodes=mesh.nodes[mesh.tets.ravel()[copies.corner]], tets=copies.tets)


def count_pieces(across: Indices, twin: Indices, is_parted: Bools, first_tet: int, links: Indices = NO_LINKS) -> int:
    """Returns into how many pieces a body has fallen; arguments as for `split_nodes`."""
    corner_label, tet_label = np.empty(4 * len(is_parted), np.int32), np.empty(len(is_parted), np.int32)
    label_connected(across, twin, is_parted, first_tet, links, corner_label, tet_label)
    return int(np.count_nonzero(tet_label == np.arange(len(is_parted), dtype=np.int64)))


@kernel()
def label_connected(across, twin, is_parted, first_tet, links, corner_label, tet_label):
    """Writes for each corner, (4m,), and each tet, (m,), the lowest one that it is connected with.

    Args:
        across, twin, is_parted: See `FaceAdjacency` and `split_nodes`.
        first_tet: What tet numbers in `across` and `twin` begin with.
        links: See `split_nodes`.
        corner_label, tet_label: Out.
    """
    count = len(tet_label)
    for corner in range(4 * count):
        corner_label[corner] = corner
    for tet in range(count):
        tet_label[tet] = tet
    for tet in range(count):
        for face in range(4):
            other = across[tet, face] - first_tet
            if across[tet, face] < 0 or other > tet or is_parted[tet, face]:
                continue
            union_sets(tet_label, tet, other)
            for c in range(4):
                if c != face and twin[tet, face, c] >= 0:
                    union_sets(corner_label, 4 * tet + c, twin[tet, face, c] - 4 * first_tet)
    for k in range(len(links)):
        union_sets(corner_label, links[k, 0], links[k, 1])
        union_sets(tet_label, links[k, 0] >> 2, links[k, 1] >> 2)
    flatten_labels(corner_label)
    flatten_labels(tet_label)
