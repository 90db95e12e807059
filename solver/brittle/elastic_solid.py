# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear elastic solid of tets of ten nodes: forces, stress, and the stiffness of what is linear in every tet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.arrays import Floats, floats
from .quadratic_kernels import MIDDLES, add_elastic_forces
from .quadratic_mesh import QuadraticMesh


@dataclass(frozen=True, eq=False)
class ElasticSolid:
    """Tets of one material.

    Attributes:
        mesh: The tets.
        mu, lam: Lamé's moduli μ and λ [Pa].
        density: ρ [kg/m³].
        fill: Which share of each tet is material, (m,): of its stiffness and mass it has that.
    """

    mesh: QuadraticMesh
    mu: float
    lam: float
    density: float
    fill: Floats

    @property
    def weight(self) -> Floats:
        """V times the filled share [m³], (m,)."""
        return floats(self.fill * self.mesh.volume)

    def forces(self, u: Floats) -> Floats:
        """Returns K u [N] for displacements [m], (n, 3) each."""
        out = np.zeros_like(u)
        mesh = self.mesh
        add_elastic_forces(mesh.tets, mesh.gradients, self.weight, self.mu, self.lam, MIDDLES, u, out)
        return out

    def diagonal_blocks(self) -> Floats:
        """Returns the 3×3 blocks of K on its diagonal [N/m], (n, 3, 3)."""
        g = self.mesh.gradients
        products = np.einsum("tir,tjs->tijrs", g, g)
        i, j = EDGE_STARTS, EDGE_ENDS
        own = products[:, range(4), range(4)]
        # ∫ ∇N ∇Nᵀ dV / V of corners, and of the middles of edges, N = 4 λᵢ λⱼ
        middles = 1.6 * (own[:, i] + own[:, j]) + 0.8 * (products[:, i, j] + products[:, j, i])
        M = np.concatenate([0.6 * own, middles], axis=1) * self.weight[:, None, None, None]
        traces = np.einsum("tarr->ta", M)
        blocks = (self.lam + self.mu) * M + self.mu * traces[:, :, None, None] * np.eye(3)
        return self.mesh.sum_at_nodes(blocks)

    def corner_stiffness(self) -> scipy.sparse.csc_array:
        """Returns K of the displacements that are linear in every tet [N/m], (3 c, 3 c) for c corners."""
        g, weight = self.mesh.gradients, self.weight
        products = np.einsum("tir,tjs->tijrs", g, g) * weight[:, None, None, None, None]
        traces = np.einsum("tijrr->tij", products)
        blocks = self.lam * products + self.mu * np.swapaxes(products, 3, 4)
        blocks += self.mu * traces[:, :, :, None, None] * np.eye(3)
        unknowns = (3 * self.mesh.tets[:, :4, None] + np.arange(3, dtype=np.int32)).reshape(-1, 12)
        rows, columns = np.repeat(unknowns, 12, axis=1), np.tile(unknowns, (1, 12))
        values = blocks.transpose(0, 1, 3, 2, 4).ravel()
        count = 3 * self.mesh.corner_count
        return scipy.sparse.csc_array((values, (rows.ravel(), columns.ravel())), shape=(count, count))

    def corner_stress(self, u: Floats) -> Floats:
        """Returns the stress that each tet has at its corners, xx, yy, zz, xy, yz, zx [Pa], (m, 4, 6).

        It is linear in the tet, so that the mean of the four is that of the tet.
        """
        mesh = self.mesh
        own, g = u[mesh.tets], mesh.gradients
        mean = np.einsum("tjr,tjs->trs", own[:, :4], g)
        stress = np.empty((len(mesh.tets), 4, 6))
        for i in range(4):
            at = [i if j == i else int(MIDDLES[i, j]) for j in range(4)]
            H = 4.0 * np.einsum("tjr,tjs->trs", own[:, at], g) - mean
            strain = 0.5 * (H + np.swapaxes(H, 1, 2))
            pressure = self.lam * np.einsum("trr->t", strain)
            stress[:, i] = 2.0 * self.mu * strain[:, [0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]]
            stress[:, i, :3] += pressure[:, None]
        return stress

    def tet_energy(self, corner_stress: Floats) -> Floats:
        """Returns what each tet has stored [J], (m,), for its `corner_stress`: ½ uᵀ K u is their sum."""
        total = corner_stress.sum(axis=1)
        # ∫ λᵢ λⱼ dV = V (1 + δᵢⱼ) / 20
        density = self._stress_product(corner_stress).sum(axis=1) + self._stress_product(total)
        return floats(self.weight / 40.0 * density)

    def _stress_product(self, stress: Floats) -> Floats:
        """Returns σ : ε of stresses, (…, 6), as (…)."""
        squared = (stress * stress) @ np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
        trace = stress[..., :3].sum(axis=-1)
        return np.asarray((squared - self.lam / (3.0 * self.lam + 2.0 * self.mu) * trace**2) / (2.0 * self.mu))

    def nodal_stress(self, corner_stress: Floats) -> Floats:
        """Returns the means over the tets at each corner of the mesh, by volume [Pa], (c, 6), of `corner_stress`."""
        weight = np.broadcast_to(self.weight[:, None], corner_stress.shape[:2])
        total = self.mesh.sum_at_nodes(weight)[: self.mesh.corner_count]
        return floats(self.mesh.sum_at_nodes(weight[:, :, None] * corner_stress)[: len(total)] / total[:, None])
