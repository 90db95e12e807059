# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets of ten nodes: corners and the middles of edges, straight ones, between which displacements are quadratic.

Tets of four nodes resist bending by shear that is not there: a round plate of two layers of them, hit in its middle,
gives way by 22 % of what it should. Those of ten have linear strains, and in that plate the stress of plate theory
within 2.5 %. With ∇u = Σ λᵢ Hᵢ in barycentric coordinates λ and gradients gⱼ = ∇λⱼ,

    Hᵢ = 4 (uᵢ gᵢᵀ + Σ_{j≠i} uᵢⱼ gⱼᵀ) − Σⱼ uⱼ gⱼᵀ

is the gradient at corner i, where uᵢⱼ is of the middle of the edge from i to j.

Source: Zienkiewicz and Taylor (2000), section 8.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.arrays import Floats, Indices, floats, indices
from .element_tables import gradients_and_volumes
from .quadratic_kernels import add_at_nodes


@dataclass(frozen=True, eq=False)
class QuadraticMesh:
    """Tets of ten nodes.

    Attributes:
        nodes: Positions [m], corners first, (n, 3).
        tets: Four corners, then the middles of the edges in the order of `mesh/local_tet_numbering.py`, (m, 10).
        corner_count: How many nodes are corners.
        ends: The corners at both ends of the edge of each other node, (n − corner_count, 2).
        gradients: ∇λ of the corners [1/m], (m, 4, 3).
        volume: V [m³], (m,).
    """

    nodes: Floats
    tets: Indices
    corner_count: int
    ends: Indices
    gradients: Floats
    volume: Floats

    @property
    def corners(self) -> Floats:
        """Positions of the corners of tets [m], (m, 4, 3)."""
        return self.nodes[self.tets[:, :4]]

    def prolongation(self) -> scipy.sparse.csr_array:
        """Returns the matrix from what is linear in every tet to all nodes, (n, corner_count)."""
        c, edges = self.corner_count, len(self.ends)
        rows = np.concatenate([np.arange(c, dtype=np.int64), c + np.repeat(np.arange(edges, dtype=np.int64), 2)])
        columns = np.concatenate([np.arange(c, dtype=np.int64), self.ends.ravel()])
        values = np.concatenate([np.ones(c), np.full(2 * edges, 0.5)])
        return scipy.sparse.csr_array((values, (rows, columns)), shape=(c + edges, c))

    def sum_at_nodes(self, values: Floats) -> Floats:
        """Returns the sums at nodes, (n, …), of values that tets have at their first k nodes, (m, k, …)."""
        width = math.prod(values.shape[2:])
        summed = np.zeros((len(self.nodes), width))
        add_at_nodes(self.tets, floats(values.reshape(*values.shape[:2], width)), summed)
        return floats(summed.reshape(len(self.nodes), *values.shape[2:]))


def quadratic_mesh(nodes: Floats, tets: Indices, known: tuple[Floats, Floats] | None = None) -> QuadraticMesh:
    """Returns tets with the middles of their edges.

    Args:
        nodes: Their corners [m], (c, 3).
        tets: (m, 4).
        known: Their gradients and volumes; None: they are found.
    """
    ends = np.sort(np.stack([tets[:, EDGE_STARTS], tets[:, EDGE_ENDS]], axis=2).reshape(-1, 2), axis=1)
    key, middle = np.unique(ends[:, 0].astype(np.int64) * len(nodes) + ends[:, 1], return_inverse=True)
    ends = np.stack([key // len(nodes), key % len(nodes)], axis=1)
    gradients, volume = gradients_and_volumes(nodes, tets) if known is None else known
    return QuadraticMesh(
        nodes=floats(np.concatenate([nodes, nodes[ends].mean(axis=1)])),
        tets=indices(np.concatenate([tets, len(nodes) + middle.reshape(-1, 6)], axis=1)),
        corner_count=len(nodes),
        ends=indices(ends),
        gradients=gradients,
        volume=volume,
    )
