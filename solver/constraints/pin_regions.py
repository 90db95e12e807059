# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the nodes around exactly pinned vertices have to be, so that those vertices are on their targets.

A region is a connected set of tets that hold vertices of pin weight 1. All its nodes are held, instead of those at
T-junctions, or of a sheet that points carry, the nodes that these follow. Their targets
follow from the targets T of the vertices at rest positions P in three parts, each on top of the one before:

1. one affine motion of the whole region, x = F X + t, by least squares. Where the vertices lie in a plane, the
   normal is turned along and not stretched.
2. around every node an affine motion of the vertices near it, in the same way: bending and twisting targets
   turn the nodes below the surface along, so that tets are not crushed.
3. the smallest node displacements d that bring the vertices onto what is still missing, by damped least
   squares: (Wᵀ W + ε) d = Wᵀ (T − W y), where row i of W holds the barycentric weights of vertex i.

An affine motion of the targets is thereby followed to round-off: parts 2 and 3 find nothing left to do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..linalg.bound_nodes import BoundNodes
from ..mesh.embedding import Binding
from ..mesh.geometry.connected_components import connected_components
from ..mesh.moving_least_squares import (
    AffineLeastSquares,
    affine_fit_of_all,
    affine_fits_around,
    clamp_singular_values,
    inverse_3x3,
    neighbour_weights,
    transform_rows,
    vertex_per_cell,
)
from ..runtime.arrays import Floats, Indices, floats
from ..runtime.sparse_product import sparse_product
from .affine_pin_motion import apply_affine_fit

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MIN_SPREAD = 0.15  # least extent of the vertices in two directions, in tet sizes, that tells a rotation
SAMPLE_CELL_SIZE = 0.25  # side of the cells in which one vertex stands for all, in tet sizes
MAX_NEIGHBOURS = 24  # vertices around a node that tell its motion
NEIGHBOUR_RADIUS = 1.5  # width of their weights, in tet sizes
ROUND_OFF_EXTENT_RATIO = 1e-5  # of the extent of the vertices: what float32 of an affine motion leaves
DAMPING_RATIO = 1e-2  # ε relative to the mean of the diagonal of Wᵀ W


@dataclass(frozen=True)
class FixedRegion:
    """Nodes that are held because the vertices in their tets are.

    Attributes:
        nodes: Nodes of the model, (r,).
        rows: The region's vertices among the pinned ones of the body, (q,).
        rest: Rest positions of the nodes from the middle of the vertices [m], (r, 3).
        weights, transposed_weights: W, sparse (q, r), and Wᵀ, (r, q).
        affine_fit, local_fits: The motions of the region and around each node.
        sampled: Which of the region's vertices tell the local motions, (p,).
        solver: Factors of Wᵀ W + ε.
        vertex_tets: The tets that hold the vertices, rising, (h,).
        copy_of: Which row of `rest` each node is at, (r,); None: its own. Where nodes have split, several at one.
    """

    nodes: Indices
    rows: Indices
    rest: Floats
    weights: csr_matrix
    transposed_weights: csr_matrix
    affine_fit: AffineLeastSquares
    local_fits: AffineLeastSquares
    sampled: Indices
    solver: Any
    vertex_tets: Indices
    copy_of: Indices | None = None

    def node_targets(self, targets: Floats) -> Floats:
        """Returns target positions of the nodes [m], (r, 3), for those of all pinned vertices [m]."""
        whole, y = self.affine_fit, np.empty_like(self.rest)
        if apply_affine_fit(
            floats(targets), self.rows, whole.vertices, whole.inverse[0], whole.in_plane[0], whole.normal[0],
            self.rest, ROUND_OFF_EXTENT_RATIO * whole.extent[0], y,
        ):  # fmt: skip
            return self._vertex_positions(y)  # parts 2 and 3 have nothing to do
        middle = targets[self.rows].mean(axis=0)
        wanted = targets[self.rows] - middle
        F = clamp_singular_values(whole.fit(wanted)[0][0])
        # what is left of the targets after undoing the motion of the whole
        undone = transform_rows(wanted, inverse_3x3(F))
        F_near, t_near = self.local_fits.fit(undone[self.sampled])
        near = np.einsum("kij,kj->ki", F_near, self.rest - self.local_fits.centre) + t_near
        y = transform_rows(near, F)
        missed = wanted - sparse_product(self.weights, y)
        y += self.solver.solve(sparse_product(self.transposed_weights, missed))
        return self._vertex_positions(y + middle)

    def _vertex_positions(self, y: Floats) -> Floats:
        return y if self.copy_of is None else y[self.copy_of]

    def remapped(self, whole_tets: Indices, tets: Indices) -> FixedRegion:
        """Returns this region of a whole body after nodes have split: tets (m, 4) as they were and as they are."""
        place = np.searchsorted(self.nodes, whole_tets[self.vertex_tets].ravel())
        nodes, first = np.unique(tets[self.vertex_tets].ravel(), return_index=True)
        return replace(self, nodes=nodes.astype(np.int32), copy_of=place[first].astype(np.int32))


@dataclass(frozen=True)
class FixedVertices:
    """Nodes of a sheet that are held because they are pinned vertices.

    Attributes:
        nodes: Nodes of the model, (r,).
        rows: Which of the pinned vertices of the body each is, (r,).
    """

    nodes: Indices
    rows: Indices

    def node_targets(self, targets: Floats) -> Floats:
        """Returns target positions of the nodes [m], (r, 3), for those of all pinned vertices [m]."""
        return targets[self.rows]

    def remapped(self, whole_tets: Indices, tets: Indices) -> FixedVertices:
        """Returns all copies of these nodes after nodes have split: tets (m, 4) as they were and as they are."""
        rows = np.full(int(whole_tets.max(initial=-1)) + 1, -1, np.int32)
        rows[self.nodes] = self.rows
        row = rows[whole_tets.ravel()]
        nodes, first = np.unique(tets.ravel()[row >= 0], return_index=True)
        return FixedVertices(nodes.astype(np.int32), row[row >= 0][first])


def find_regions(tets: Indices, tet_of_vertex: Indices) -> list[Indices]:
    """Returns the vertices, by position in `tet_of_vertex` (q,), of each connected set of their tets."""
    used, tet_of = np.unique(tet_of_vertex, return_inverse=True)
    if not len(used):
        return []
    nodes, corner = np.unique(tets[used], return_inverse=True)
    count = len(used)
    rows = np.repeat(np.arange(count, dtype=np.int64), 4)
    label = connected_components(rows, count + corner.ravel(), count + len(nodes))[tet_of.ravel()]
    return [np.flatnonzero(label == number).astype(np.int32) for number in np.unique(label)]


def tells_rotation(vertices: Floats, tet_size: float) -> bool:
    """Whether vertices [m], (q, 3), spread enough in two directions to tell how their tets are turned."""
    if len(vertices) < 3:
        return False
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False) / np.sqrt(len(vertices))
    return bool(spread[1] > MIN_SPREAD * tet_size)


def make_region(
    X: Floats,
    tets: Indices,
    vertices: Floats,
    rows: Indices,
    tet: Indices,
    weights: Floats,
    tet_size: float,
    bound: BoundNodes | None = None,
) -> FixedRegion:
    """Returns the region of vertices at rest [m], (q, 3), bound by `tet` (q,) and `weights` (q, 4).

    Args:
        X: Rest positions of all nodes of the model [m], (n, 3).
        tets: All tets of the model, (m, 4).
        vertices: Rest positions of the region's vertices as bound: W X [m], (q, 3).
        rows: Their places among the pinned vertices of the body, (q,).
        tet, weights: Their binding.
        tet_size: Edge length of the lattice [m].
        bound: Nodes that follow others of the body; None: none do.
    """
    from scipy.sparse import csr_matrix

    nodes, corner = np.unique(tets[tet], return_inverse=True)
    count = len(vertices)
    places = (np.repeat(np.arange(count, dtype=np.int64), 4), corner.ravel())
    W = csr_matrix((weights.ravel(), places), shape=(count, len(nodes)))
    if bound is not None:
        parents = _rows_of_nodes(bound, len(X))[nodes]
        nodes = np.unique(parents.indices)
        W = W @ parents[:, nodes]
    return _region(X[nodes], nodes, W, vertices, rows, tet_size, tet)


def vertices_on_points(tets: Indices, binding: Binding, bound: BoundNodes, node_count: int) -> csr_matrix:
    """Returns the weights of the points that carry a sheet at vertices of it, sparse (q, n).

    Args:
        tets: All tets of the model, (m, 4).
        binding: Of the vertices in these.
        bound: The nodes of the sheet, which follow the points.
        node_count: Of the model.
    """
    from scipy.sparse import csr_matrix

    vertex, corner = np.nonzero(binding.weights)  # hinges have nodes that a vertex does not hang on
    entries = binding.weights[vertex, corner], (vertex, tets[binding.tet[vertex], corner])
    return (csr_matrix(entries, shape=(len(binding.tet), node_count)) @ _rows_of_nodes(bound, node_count)).tocsr()


def find_regions_of_points(on_points: csr_matrix) -> list[Indices]:
    """Returns the vertices, by their rows of `vertices_on_points`, of each set of them that shares points."""
    count, points = on_points.shape
    vertex, point = on_points.nonzero()
    label = connected_components(vertex.astype(np.int64), count + point.astype(np.int64), count + points)[:count]
    return [np.flatnonzero(label == number).astype(np.int32) for number in np.unique(label)]


def make_region_of_points(
    X: Floats, on_points: csr_matrix, vertices: Floats, rows: Indices, tet_size: float
) -> FixedRegion:
    """Returns the region of vertices of a sheet, (q,), all of whose points are held.

    Args:
        X: Rest positions of all nodes of the model [m], (n, 3).
        on_points: Their rows of `vertices_on_points`, (q, n).
        vertices: Their rest positions [m], (q, 3).
        rows: Their places among the pinned vertices of the body, (q,).
        tet_size: Edge length of the sheet [m].
    """
    nodes = np.unique(on_points.indices)
    return _region(X[nodes], nodes, on_points[:, nodes], vertices, rows, tet_size, np.zeros(0, np.int32))


def _rows_of_nodes(bound: BoundNodes, node_count: int) -> csr_matrix:
    """Returns W of all nodes, sparse (n, n)."""
    from scipy.sparse import csr_matrix

    row_start, column, weight = bound.matrix_rows(node_count)
    return csr_matrix((weight, column, row_start), shape=(node_count, node_count))


def _region(
    X: Floats, nodes: Indices, W: csr_matrix, vertices: Floats, rows: Indices, tet_size: float, tet: Indices
) -> FixedRegion:
    """Returns the region of vertices that W, (q, r), puts between nodes, (r,), with rest positions X [m], (r, 3)."""
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    # from their middle, so that far from the origin no digits are lost
    middle = vertices.mean(axis=0)
    vertices, rest = vertices - middle, X - middle
    transposed = W.T.tocsr()
    normal = (transposed @ W).tocsc()
    damped = normal + identity(len(nodes), format="csc") * (DAMPING_RATIO * normal.diagonal().mean())
    whole = affine_fit_of_all(vertices)
    sampled = vertex_per_cell(vertices, SAMPLE_CELL_SIZE * tet_size)
    near = neighbour_weights(rest, vertices[sampled], MAX_NEIGHBOURS, NEIGHBOUR_RADIUS * tet_size)
    local = affine_fits_around(near, vertices[sampled])
    lost = local.extent < MIN_SPREAD * tet_size
    if lost.any():
        near = near.tolil()
        near[np.flatnonzero(lost)] = 1.0 / len(sampled)
        local = affine_fits_around(near.tocsr(), vertices[sampled])
    solver = splu(csc_matrix(damped))
    holders = np.unique(tet).astype(np.int32)
    return FixedRegion(
        nodes.astype(np.int32), rows, floats(rest), W, transposed, whole, local, sampled, solver, holders
    )
