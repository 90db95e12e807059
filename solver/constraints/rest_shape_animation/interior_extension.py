# SPDX-License-Identifier: GPL-3.0-or-later
"""From where the surface of a body is to where its nodes are: as the surface says, and smooth inside.

Node displacements d are those of the affine motion that fits the surface best, and on top of it the minimum of

    ½ Σ_v β (a_v / h) |(W d)_v − u_v|² + ½ Σ_tets V |∇d|²

with what is left of the surface displacements u_v, the area a_v around a vertex, the tet size h, and the barycentric
weights W of the vertices. So an affine motion is followed to round-off, and others to about one per cent of what
varies from tet to tet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linalg.block_pattern import BlockPattern, block_pattern, island_starts
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.mesh_laplacian import laplacian, scatter_to_blocks
from ...linalg.pcg import SolveResult, solve
from ...mesh.embedding import Binding, interpolate_points
from ...mesh.moving_least_squares import AffineLeastSquares, affine_fit_of_all
from ...runtime.arrays import Floats, Indices, floats

SURFACE_WEIGHT = 100.0  # β
LINEAR_TOLERANCE = 1.0e-7  # of the linear solve, relative to
MIN_DISPLACEMENT_SHARE = 1.0e-3  # a displacement of this share of the body's size at least
MAX_ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class InteriorExtension:
    """The linear system of one body, ready for any surface.

    Attributes:
        X: Its nodes at rest as built [m], (n, 3).
        tets: Their tets, (m, 4).
        binding: Of its render vertices in these tets.
        vertices: The render vertices at rest as built [m], (v, 3).
        affine_fit: The affine motion of all vertices, around their middle.
        centroid: That middle [m], (3,).
        surface_weight: β a_v / h at the vertices [m], (v,).
        pattern, values: The matrix, of blocks a I, (b, 9).
        least: What the right-hand side counts for at least, per island, (k,).
    """

    X: Floats
    tets: Indices
    binding: Binding
    vertices: Floats
    affine_fit: AffineLeastSquares
    centroid: Floats
    surface_weight: Floats
    pattern: BlockPattern
    values: Floats
    least: Floats

    def follow(self, vertices: Floats, nodes_before: Floats, vertices_before: Floats) -> Floats:
        """Returns nodes at rest [m], (n, 3), for render vertices at rest [m], (v, 3).

        Args:
            vertices: Render vertices.
            nodes_before, vertices_before: Nodes that were found for other ones; the search begins with what these
                are off the affine motion.
        """
        moved, F = self._affine_motion(vertices)
        d = floats(nodes_before - self._affine_motion(vertices_before)[0])
        # the tets may not hold the vertices where they are: what counts is how these move
        off = self.vertices - self._surface_positions(self.X)
        left = vertices - self._surface_positions(moved) - np.einsum("ij,vj->vi", F, off)
        self._solve(left, d)
        return moved + d

    def _surface_positions(self, nodes: Floats) -> Floats:
        """Returns where the tets hold the render vertices [m], (v, 3)."""
        out = np.empty_like(self.vertices)
        interpolate_points(floats(nodes), self.tets, self.binding.tet, self.binding.weights, out)
        return out

    def _affine_motion(self, vertices: Floats) -> tuple[Floats, Floats]:
        """Returns the nodes after the affine motion that fits the vertices best [m], (n, 3), and its F, (3, 3)."""
        middle = vertices.mean(axis=0)
        F = self.affine_fit.fit(vertices - middle)[0][0]
        return np.einsum("ij,nj->ni", F, self.X - self.centroid) + middle, F

    def _solve(self, left: Floats, d: Floats) -> SolveResult:
        b = _scatter_forces(self.tets, self.binding, floats(self.surface_weight[:, None] * left), len(self.X))
        is_free = np.ones(len(self.X), np.bool_)
        return solve(
            BlockSystem(self.pattern, self.values, b, is_free),
            d,
            StoppingCriteria(LINEAR_TOLERANCE, MAX_ITERATIONS, self.least),
        )


def make_interior_extension(
    X: Floats, tets: Indices, binding: Binding, vertices: Floats, area: Floats, h: float
) -> InteriorExtension:
    """Returns the system of a body.

    Args:
        X, tets: Its nodes at rest [m] and tets, (n, 3) and (m, 4).
        binding: Of its render vertices.
        vertices: These at rest [m], (v, 3).
        area: Share of each of them in the surface [m²], (v,).
        h: Tet size [m].
    """
    pattern = block_pattern(tets, len(X), island_starts(tets, len(X), [0]))
    closeness = SURFACE_WEIGHT * np.maximum(area, 1e-6 * area.max()) / h
    close = np.einsum("v,va,vb->vab", closeness, binding.weights, binding.weights)
    values = laplacian(X, tets, pattern) + scatter_to_blocks(close, pattern, binding.tet)[:, None] * np.eye(3).ravel()
    middle = vertices.mean(axis=0)
    size = float(np.ptp(vertices, axis=0).max())
    all_alike = _scatter_forces(
        tets, binding, floats(closeness[:, None] * (MIN_DISPLACEMENT_SHARE * size * np.ones((1, 3)))), len(X)
    )
    squares = np.add.reduceat(np.einsum("ni,ni->n", all_alike, all_alike), pattern.island_start[:-1].astype(np.int64))
    return InteriorExtension(
        X,
        tets,
        binding,
        vertices,
        affine_fit_of_all(vertices - middle),
        middle,
        closeness,
        pattern,
        values,
        np.sqrt(squares),
    )


def _scatter_forces(tets: Indices, binding: Binding, forces: Floats, node_count: int) -> Floats:
    """Returns Wᵀ f for what acts on the vertices, (v, 3), at the nodes, (n, 3)."""
    at_corners = (binding.weights[:, :, None] * forces[:, None, :]).reshape(-1, 3)
    nodes = tets[binding.tet].ravel()
    return floats(np.stack([np.bincount(nodes, at_corners[:, i], minlength=node_count) for i in range(3)], axis=1))
