# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the nodes around exactly pinned vertices have to be, so that those vertices are on their targets.

A region is a connected set of tets that hold vertices of pin weight 1. All its nodes are held. Their targets
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
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, identity
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from .affine_targets import follow_affine
from .arrays import Floats, Indices, floats

SPREAD_TO_HOLD = 0.15  # least extent of the vertices in two directions, in tet sizes, that tells a rotation
FLATNESS = 0.1  # third over second variance below which vertices count as lying in a plane
SAMPLE_CELL = 0.25  # side of the cells in which one vertex stands for all, in tet sizes
NEIGHBOURS = 24  # vertices around a node that tell its motion
NEIGHBOUR_RADIUS = 1.5  # width of their weights, in tet sizes
ROUND_OFF = 1e-5  # of the extent of the vertices: what float32 of an affine motion leaves
DAMPING = 1e-2  # ε relative to the mean of the diagonal of Wᵀ W


@dataclass(frozen=True)
class Motions:
    """Affine least squares around k places, ready for any targets of p vertices.

    Attributes:
        weights: Sums to one over each row, sparse (k, p); None: one place, for which all vertices count alike.
        vertices: Rest positions P [m], (p, 3).
        centre: Weighted means of P [m], (k, 3).
        inverse: Inverse of the variance of P in the directions that the vertices tell [1/m²], (k, 3, 3).
        in_plane: Two rest directions of the plane of the vertices, (k, 2, 3).
        normal: Rest normal of that plane where the vertices are flat, else zero, (k, 3).
        extent: Standard deviation of P along the second direction [m], (k,).
    """

    weights: csr_matrix | None
    vertices: Floats
    centre: Floats
    inverse: Floats
    in_plane: Floats
    normal: Floats
    extent: Floats

    def fit(self, targets: Floats) -> tuple[Floats, Floats]:
        """Returns F, (k, 3, 3), and t [m], (k, 3), of x = F (X − centre) + t for targets [m], (p, 3)."""
        if self.weights is None:
            mean = targets.mean(axis=0, keepdims=True)
            products = np.einsum("ki,kj->ij", targets, self.vertices) / len(targets)
        else:
            mean = self.weights @ targets
            products = self.weights @ (targets[:, :, None] * self.vertices[:, None, :]).reshape(-1, 9)
        covariance = products.reshape(-1, 3, 3) - mean[:, :, None] * self.centre[:, None, :]
        F = covariance @ self.inverse
        if not self.normal.any():
            return F, mean
        a, b = np.einsum("kij,kj->ik", F, self.in_plane[:, 0]), np.einsum("kij,kj->ik", F, self.in_plane[:, 1])
        # written out: np.cross takes several times as long for a few vectors
        turned = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=1)
        turned /= np.maximum(np.sqrt(np.einsum("ki,ki->k", turned, turned)), 1e-300)[:, None]
        return F + turned[:, :, None] * self.normal[:, None, :], mean


@dataclass(frozen=True)
class HeldRegion:
    """Nodes that are held because the vertices in their tets are.

    Attributes:
        nodes: Nodes of the model, (r,).
        rows: The region's vertices among the pinned ones of the body, (q,).
        rest: Rest positions of the nodes from the middle of the vertices [m], (r, 3).
        weights: W, sparse (q, r).
        whole, local: The motions of the region and around each node.
        sampled: Which of the region's vertices tell the local motions, (p,).
        solver: Factors of Wᵀ W + ε.
        holders: The tets that hold the vertices, rising, (h,).
        copy_of: Which row of `rest` each node is at, (r,); None: its own. Where nodes have split, several at one.
    """

    nodes: Indices
    rows: Indices
    rest: Floats
    weights: csr_matrix
    whole: Motions
    local: Motions
    sampled: Indices
    solver: Any
    holders: Indices
    copy_of: Indices | None = None

    def node_targets(self, targets: Floats) -> Floats:
        """Returns target positions of the nodes [m], (r, 3), for those of all pinned vertices [m]."""
        whole, y = self.whole, np.empty_like(self.rest)
        if follow_affine(
            floats(targets), self.rows, whole.vertices, whole.inverse[0], whole.in_plane[0], whole.normal[0],
            self.rest, ROUND_OFF * whole.extent[0], y,
        ):  # fmt: skip
            return self._placed(y)  # parts 2 and 3 have nothing to do
        middle = targets[self.rows].mean(axis=0)
        wanted = targets[self.rows] - middle
        F = _not_flattened(whole.fit(wanted)[0][0])
        # what is left of the targets after undoing the motion of the whole
        undone = _turned(wanted, _inverse(F))
        F_near, t_near = self.local.fit(undone[self.sampled])
        near = np.einsum("kij,kj->ki", F_near, self.rest - self.local.centre) + t_near
        y = _turned(near, F)
        y += self.solver.solve(np.ascontiguousarray(self.weights.T @ (wanted - self.weights @ y)))
        return self._placed(y + middle)

    def _placed(self, y: Floats) -> Floats:
        return y if self.copy_of is None else y[self.copy_of]

    def following(self, whole_tets: Indices, tets: Indices) -> HeldRegion:
        """Returns this region of a whole body after nodes have split: tets (m, 4) as they were and as they are."""
        place = np.searchsorted(self.nodes, whole_tets[self.holders].ravel())
        nodes, first = np.unique(tets[self.holders].ravel(), return_index=True)
        return replace(self, nodes=nodes.astype(np.int32), copy_of=place[first].astype(np.int32))


def find_regions(tets: Indices, tet_of_vertex: Indices) -> list[Indices]:
    """Returns the vertices, by position in `tet_of_vertex` (q,), of each connected set of their tets."""
    used, tet_of = np.unique(tet_of_vertex, return_inverse=True)
    if not len(used):
        return []
    nodes, corner = np.unique(tets[used], return_inverse=True)
    count = len(used)
    rows = np.repeat(np.arange(count), 4)
    links = csr_matrix(
        (np.ones(4 * count), (rows, count + corner.ravel())), shape=(count + len(nodes), count + len(nodes))
    )
    label = connected_components(links, directed=False)[1][tet_of.ravel()]
    return [np.flatnonzero(label == number).astype(np.int32) for number in np.unique(label)]


def tells_rotation(vertices: Floats, tet_size: float) -> bool:
    """Whether vertices [m], (q, 3), spread enough in two directions to tell how their tets are turned."""
    if len(vertices) < 3:
        return False
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False) / np.sqrt(len(vertices))
    return bool(spread[1] > SPREAD_TO_HOLD * tet_size)


def make_region(
    X: Floats, tets: Indices, vertices: Floats, rows: Indices, tet: Indices, weights: Floats, tet_size: float
) -> HeldRegion:
    """Returns the region of vertices at rest [m], (q, 3), bound by `tet` (q,) and `weights` (q, 4).

    Args:
        X: Rest positions of all nodes of the model [m], (n, 3).
        tets: All tets of the model, (m, 4).
        vertices: Rest positions of the region's vertices as bound: W X [m], (q, 3).
        rows: Their places among the pinned vertices of the body, (q,).
        tet, weights: Their binding.
        tet_size: Edge length of the lattice [m].
    """
    nodes, corner = np.unique(tets[tet], return_inverse=True)
    count = len(vertices)
    # from their middle, so that far from the origin no digits are lost
    middle = vertices.mean(axis=0)
    vertices, rest = vertices - middle, X[nodes] - middle
    places = (np.repeat(np.arange(count), 4), corner.ravel())
    W = csr_matrix((weights.ravel(), places), shape=(count, len(nodes)))
    normal = (W.T @ W).tocsc()
    damped = normal + identity(len(nodes), format="csc") * (DAMPING * normal.diagonal().mean())
    whole = replace(_motions(csr_matrix(np.full((1, count), 1.0 / count)), vertices), weights=None)
    sampled = _one_per_cell(vertices, SAMPLE_CELL * tet_size)
    near = _near_weights(rest, vertices[sampled], NEIGHBOUR_RADIUS * tet_size)
    local = _motions(near, vertices[sampled])
    lost = local.extent < SPREAD_TO_HOLD * tet_size
    if lost.any():
        near = near.tolil()
        near[np.flatnonzero(lost)] = 1.0 / len(sampled)
        local = _motions(near.tocsr(), vertices[sampled])
    solver = splu(csc_matrix(damped))
    holders = np.unique(tet).astype(np.int32)
    return HeldRegion(nodes.astype(np.int32), rows, floats(rest), W, whole, local, sampled, solver, holders)


def _motions(weights: csr_matrix, vertices: Floats) -> Motions:
    centre = weights @ vertices
    products = weights @ (vertices[:, :, None] * vertices[:, None, :]).reshape(-1, 9)
    variance = products.reshape(-1, 3, 3) - centre[:, :, None] * centre[:, None, :]
    sizes, axes = np.linalg.eigh(variance)
    sizes = np.maximum(sizes, 0.0)
    flat = sizes[:, 0] < FLATNESS * sizes[:, 1]
    factors = 1.0 / np.maximum(sizes, 1e-300)
    factors[flat, 0] = 0.0
    factors[sizes[:, 1] < 1e-10 * sizes[:, 2], 1] = 0.0
    inverse = np.einsum("kia,ka,kja->kij", axes, factors, axes)
    in_plane = floats(np.swapaxes(axes[:, :, 1:], 1, 2))
    normal = np.cross(in_plane[:, 0], in_plane[:, 1]) * flat[:, None]
    return Motions(weights, floats(vertices), centre, floats(inverse), in_plane, normal, np.sqrt(sizes[:, 1]))


def _near_weights(points: Floats, vertices: Floats, radius: float) -> csr_matrix:
    count = min(NEIGHBOURS, len(vertices))
    distance, found = cKDTree(vertices).query(points, k=list(range(1, count + 1)))
    weights = np.exp((distance[:, :1] ** 2 - distance**2) / radius**2)
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(points)), count)
    return csr_matrix((weights.ravel(), (rows, found.ravel())), shape=(len(points), len(vertices)))


def _one_per_cell(vertices: Floats, cell: float) -> Indices:
    cells = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    return np.sort(np.unique(cells, axis=0, return_index=True)[1]).astype(np.int32)


def _turned(vectors: Floats, F: Floats) -> Floats:
    """Returns F v for every row v; not by BLAS, whose last bit may hang on its number of threads."""
    return np.einsum("ij,kj->ki", F, vectors)


def _inverse(F: Floats) -> Floats:
    """Returns F⁻¹, (3, 3), by cofactors: for one small matrix LAPACK takes ten times as long."""
    (a, b, c), (d, e, f), (g, h, i) = F.tolist()
    adjugate = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    determinant = a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0]
    return np.array(adjugate) / determinant


def _not_flattened(F: Floats) -> Floats:
    """Returns F with its singular values kept above a tenth, so that it can be undone."""
    (a, b, c), (d, e, f), (g, h, i) = F.tolist()
    determinant = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    square = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
    # the smallest singular value is the determinant over the two others, whose product is no more than half of ‖F‖²
    if 2.0 * abs(determinant) > 0.1 * square:
        return F
    left, sizes, right = np.linalg.svd(F)
    return F if sizes[-1] > 0.1 else left @ np.diag(np.maximum(sizes, 0.1)) @ right
