# SPDX-License-Identifier: GPL-3.0-or-later
"""How what is near a place moves: affine least squares over vertices, exact where their motion is affine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.arrays import Floats, Indices, floats
from ..runtime.sparse_product import sparse_product
from .geometry.nearest_points import nearest_points

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_FLAT_VARIANCE_RATIO = 0.1  # third over second variance below which vertices count as lying in a plane


@dataclass(frozen=True)
class AffineLeastSquares:
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

    weights: csr_matrix | FactoredWeights | None
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
            mean = _weighted_sums(self.weights, targets)
            products = _weighted_sums(self.weights, (targets[:, :, None] * self.vertices[:, None, :]).reshape(-1, 9))
        covariance = products.reshape(-1, 3, 3) - mean[:, :, None] * self.centre[:, None, :]
        F = covariance @ self.inverse
        if not self.normal.any():
            return F, mean
        a, b = np.einsum("kij,kj->ik", F, self.in_plane[:, 0]), np.einsum("kij,kj->ik", F, self.in_plane[:, 1])
        # written out: np.cross takes several times as long for a few vectors
        turned = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=1)
        turned /= np.maximum(np.sqrt(np.einsum("ki,ki->k", turned, turned)), 1e-300)[:, None]
        return F + turned[:, :, None] * self.normal[:, None, :], mean


def _weighted_sums(weights: csr_matrix | FactoredWeights, values: Floats) -> Floats:
    """Returns the sums of values, (p, m), for all places, (k, m)."""
    return weights @ values if isinstance(weights, FactoredWeights) else sparse_product(weights, values)


def affine_fits_around(weights: csr_matrix | FactoredWeights, vertices: Floats) -> AffineLeastSquares:
    """Returns the least squares for the weights of vertices around k places, (k, p), and the vertices at rest [m]."""
    centre = weights @ vertices
    products = weights @ (vertices[:, :, None] * vertices[:, None, :]).reshape(-1, 9)
    variance = products.reshape(-1, 3, 3) - centre[:, :, None] * centre[:, None, :]
    sizes, axes = np.linalg.eigh(variance)
    sizes = np.maximum(sizes, 0.0)
    flat = sizes[:, 0] < MAX_FLAT_VARIANCE_RATIO * sizes[:, 1]
    factors = 1.0 / np.maximum(sizes, 1e-300)
    factors[flat, 0] = 0.0
    factors[sizes[:, 1] < 1e-10 * sizes[:, 2], 1] = 0.0
    inverse = np.einsum("kia,ka,kja->kij", axes, factors, axes)
    in_plane = floats(np.swapaxes(axes[:, :, 1:], 1, 2))
    normal = np.cross(in_plane[:, 0], in_plane[:, 1]) * flat[:, None]
    return AffineLeastSquares(
        weights, floats(vertices), centre, floats(inverse), in_plane, normal, np.sqrt(sizes[:, 1])
    )


def affine_fit_of_all(vertices: Floats) -> AffineLeastSquares:
    """Returns the least squares of one place, for which all vertices [m], (p, 3), from their middle, count alike."""
    from scipy.sparse import csr_matrix

    count = len(vertices)
    return replace(affine_fits_around(csr_matrix(np.full((1, count), 1.0 / count)), vertices), weights=None)


def neighbour_weights(points: Floats, vertices: Floats, most: int, radius: Floats | float) -> csr_matrix:
    """Returns weights of the vertices [m], (p, 3), around points [m], (k, 3), that sum to one, sparse (k, p).

    Args:
        points, vertices: At rest [m].
        most: How many vertices around a point count.
        radius: How much farther than the nearest vertex one may be until it counts for little [m], one or (k,).
    """
    from scipy.sparse import csr_matrix

    count = min(most, len(vertices))
    distance, found = nearest_points(vertices, points, count)
    weights = np.exp((distance[:, :1] ** 2 - distance**2) / np.square(radius).reshape(-1, 1))
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(points), dtype=np.int64), count)
    return csr_matrix((weights.ravel(), (rows, found.ravel())), shape=(len(points), len(vertices)))


@dataclass(frozen=True)
class FactoredWeights:
    """Weights in two steps, outer @ inner, which is less work than their product: (k, c) and (c, p)."""

    outer: csr_matrix
    inner: csr_matrix

    def __matmul__(self, values: Floats) -> Floats:
        """Returns the sums of values, (p, m), for all places, (k, m)."""
        return sparse_product(self.outer, sparse_product(self.inner, values))


def cell_mean_weights(vertices: Floats, cell: float) -> csr_matrix:
    """Returns the weights of the means of vertices [m], (p, 3), in the cells of that side [m] that have any, (c, p)."""
    from scipy.sparse import csr_matrix

    cells = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    _, of, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    of = of.ravel()
    return csr_matrix(
        (1.0 / count[of], (of, np.arange(len(vertices), dtype=np.int64))), shape=(len(count), len(vertices))
    )


def vertex_per_cell(vertices: Floats, cell: float) -> Indices:
    """Returns one of the vertices [m], (n, 3), in each cell of that side [m], rising."""
    cells = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    return np.sort(np.unique(cells, axis=0, return_index=True)[1]).astype(np.int32)


def transform_rows(vectors: Floats, F: Floats) -> Floats:
    """Returns F v for every row v; not by BLAS, whose last bit may hang on its number of threads."""
    return np.einsum("ij,kj->ki", F, vectors)


def inverse_3x3(F: Floats) -> Floats:
    """Returns F⁻¹, (3, 3), by cofactors: for one small matrix LAPACK takes ten times as long."""
    (a, b, c), (d, e, f), (g, h, i) = F.tolist()
    adjugate = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    determinant = a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0]
    return np.array(adjugate) / determinant


def clamp_singular_values(F: Floats) -> Floats:
    """Returns F with its singular values kept above a tenth, so that it can be undone."""
    (a, b, c), (d, e, f), (g, h, i) = F.tolist()
    determinant = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    square = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
    # the smallest singular value is the determinant over the two others, whose product is no more than half of ‖F‖²
    if 2.0 * abs(determinant) > 0.1 * square:
        return F
    left, sizes, right = np.linalg.svd(F)
    return F if sizes[-1] > 0.1 else left @ np.diag(np.maximum(sizes, 0.1)) @ right
