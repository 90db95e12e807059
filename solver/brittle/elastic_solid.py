# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear elastic solid of tets of ten nodes: forces, stress, and the stiffness of what is linear in every tet.

Where its surface passes through tets, all integrals are those over the material in them, whose moments are exact for
quadratic displacements; and stress counts where there is material.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..runtime.arrays import Bools, Floats, Indices, floats
from .element_tables import ElementTables
from .quadratic_kernels import MIDDLES, add_elastic_forces, corner_stress_into
from .quadratic_mesh import QuadraticMesh


@dataclass(frozen=True, eq=False)
class ElasticSolid:
    """Tets of one material.

    Attributes:
        mesh: The tets.
        mu, lam: Lamé's moduli μ and λ [Pa].
        density: ρ [kg/m³].
        elements: Of the tets.
    """

    mesh: QuadraticMesh
    mu: float
    lam: float
    density: float
    elements: ElementTables

    @property
    def weight(self) -> Floats:
        """V times the filled share [m³], (m,)."""
        return self.elements.weight

    @property
    def second_moments(self) -> Floats:
        """∫ λᵢ λⱼ dV over the material in each tet [m³], (m, 4, 4)."""
        return self.elements.second_moments

    @property
    def has_thin_walls(self) -> bool:
        """Whether most of its tets have walls in them that are thinner than they are.

        What is linear in every tet tells little of how these bend.
        """
        return bool(self.elements.is_full.mean() < 0.5)

    def forces(self, u: Floats) -> Floats:
        """Returns K u [N] for displacements [m], (n, 3) each."""
        out = np.zeros_like(u)
        mesh = self.mesh
        add_elastic_forces(mesh.tets, mesh.gradients, self.second_moments, self.mu, self.lam, u, out)
        return out

    def diagonal_blocks(self) -> Floats:
        """Returns the 3×3 blocks of K on its diagonal [N/m], (n, 3, 3)."""
        M = self.mesh.sum_at_nodes(self.elements.gradient_products)
        traces = np.trace(M, axis1=1, axis2=2)
        return floats((self.lam + self.mu) * M + self.mu * traces[:, None, None] * np.eye(3))

    def corner_stiffness(self) -> scipy.sparse.csc_array:
        """Returns K of the displacements that are linear in every tet [N/m], (3 c, 3 c) for c corners."""
        g, weight = self.mesh.gradients, self.weight
        products = np.einsum("tir,tjs->tijrs", g, g) * weight[:, None, None, None, None]
        traces = np.einsum("tijrr->tij", products)
        blocks = self.lam * products + self.mu * np.swapaxes(products, 3, 4)
        blocks += self.mu * traces[:, :, :, None, None] * np.eye(3)
        return _assembled(blocks, self.mesh.tets[:, :4], self.mesh.corner_count)

    def stiffness(self) -> scipy.sparse.csc_array:
        """Returns K [N/m], (3 n, 3 n): Σ ∫ λᵢ λⱼ dV Gᵢₐ Gⱼᵦᵀ in Hooke's law.

        Gᵢₐ is the gradient of the function of node a at corner i.
        """
        mesh, g = self.mesh, self.mesh.gradients
        G = np.zeros((len(mesh.tets), 4, 10, 3))
        for i in range(4):
            G[:, i, :4] = -g
            G[:, i, i] = 3.0 * g[:, i]
            for j in range(4):
                if j != i:
                    G[:, i, MIDDLES[i, j]] = 4.0 * g[:, j]
        weighted = np.einsum("tij,tjbs->tibs", self.second_moments, G)
        products = np.einsum("tiar,tibs->tabrs", G, weighted)
        blocks = self.lam * products + self.mu * np.swapaxes(products, 3, 4)
        blocks += self.mu * np.einsum("tabrr->tab", products)[:, :, :, None, None] * np.eye(3)
        return _assembled(blocks, mesh.tets, len(mesh.nodes))

    def corner_stress(self, u: Floats) -> Floats:
        """Returns the stress that each tet has at its corners, xx, yy, zz, xy, yz, zx [Pa], (m, 4, 6).

        It is linear in the tet, and goes on beyond its material.
        """
        stress = np.empty((len(self.mesh.tets), 4, 6))
        corner_stress_into(self.mesh.tets, self.mesh.gradients, self.mu, self.lam, u, stress)
        return stress

    def tet_energy(self, corner_stress: Floats) -> Floats:
        """Returns what each tet has stored [J], (m,), for its `corner_stress`: ½ uᵀ K u is their sum."""
        weighted = np.einsum("tij,tjs->tis", self.second_moments, corner_stress)
        return floats(0.5 * self._stress_product(weighted, corner_stress).sum(axis=1))

    def _stress_product(self, one: Floats, other: Floats) -> Floats:
        """Returns σ : ε of two stresses, (…, 6) each, as (…)."""
        product = (one * other) @ np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
        traces = one[..., :3].sum(axis=-1) * other[..., :3].sum(axis=-1)
        return np.asarray((product - self.lam / (3.0 * self.lam + 2.0 * self.mu) * traces) / (2.0 * self.mu))

    def mean_stress(self, corner_stress: Floats) -> Floats:
        """Returns the mean over the material in each tet [Pa], (m, 6)."""
        return floats(np.einsum("ti,tis->ts", self.elements.centre, corner_stress))

    def material_stress(self, corner_stress: Floats) -> Floats:
        """Returns the stress of the material in each tet where it is nearest to the corners [Pa], (m, 4, 6)."""
        return floats(np.einsum("tpi,tis->tps", self.elements.nearest, corner_stress))

    def nodal_stress(self, corner_stress: Floats, is_counted: Bools | None = None) -> Floats:
        """Returns the means over the tets at each corner of the mesh, by material, where it is nearest [Pa], (c, 6).

        Args:
            corner_stress: [Pa], (m, 4, 6).
            is_counted: The tets, (m,), over which; at corners of others alone it is 0; None: all.
        """
        own = self.weight if is_counted is None else np.where(is_counted, self.weight, 0.0)
        weight = np.broadcast_to(own[:, None], corner_stress.shape[:2])
        total = self.mesh.sum_at_nodes(weight)[: self.mesh.corner_count]
        summed = self.mesh.sum_at_nodes(weight[:, :, None] * self.material_stress(corner_stress))[: len(total)]
        return floats(summed / np.where(total > 0.0, total, 1.0)[:, None])


def _assembled(blocks: Floats, nodes: Indices, count: int) -> scipy.sparse.csc_array:
    """Returns the sum of blocks of tets, (m, k, k, 3, 3), at their nodes, (m, k), of `count` nodes."""
    size = 3 * nodes.shape[1]
    unknowns = (3 * nodes[:, :, None] + np.arange(3, dtype=np.int32)).reshape(-1, size)
    rows, columns = np.repeat(unknowns, size, axis=1), np.tile(unknowns, (1, size))
    values = blocks.transpose(0, 1, 3, 2, 4).ravel()
    return scipy.sparse.csc_array((values, (rows.ravel(), columns.ravel())), shape=(3 * count, 3 * count))
