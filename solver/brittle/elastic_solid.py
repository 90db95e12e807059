# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear elastic solid of tets of ten nodes: forces, stress, and the stiffness of what is linear in every tet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.arrays import Bools, Floats, Indices, floats
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
        return _assembled(blocks, self.mesh.tets[:, :4], self.mesh.corner_count)

    def stiffness(self) -> scipy.sparse.csc_array:
        """Returns K [N/m], (3 n, 3 n): Σ V / 20 (Σᵢ Gᵢₐ Gᵢᵦᵀ + Sₐ Sᵦᵀ) in Hooke's law.

        Gᵢₐ is the gradient of the function of node a at corner i, and Sₐ = Σᵢ Gᵢₐ.
        """
        mesh, g = self.mesh, self.mesh.gradients
        G = np.zeros((len(mesh.tets), 4, 10, 3))
        for i in range(4):
            G[:, i, :4] = -g
            G[:, i, i] = 3.0 * g[:, i]
            for j in range(4):
                if j != i:
                    G[:, i, MIDDLES[i, j]] = 4.0 * g[:, j]
        S = G.sum(axis=1)
        products = np.einsum("tiar,tibs->tabrs", G, G) + np.einsum("tar,tbs->tabrs", S, S)
        products *= (self.weight / 20.0)[:, None, None, None, None]
        blocks = self.lam * products + self.mu * np.swapaxes(products, 3, 4)
        blocks += self.mu * np.einsum("tabrr->tab", products)[:, :, :, None, None] * np.eye(3)
        return _assembled(blocks, mesh.tets, len(mesh.nodes))

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

    def nodal_stress(self, corner_stress: Floats, is_counted: Bools | None = None) -> Floats:
        """Returns the means over the tets at each corner of the mesh, by volume [Pa], (c, 6).

        Args:
            corner_stress: [Pa], (m, 4, 6).
            is_counted: The tets, (m,), over which; at corners of others alone it is 0; None: all.
        """
        own = self.weight if is_counted is None else np.where(is_counted, self.weight, 0.0)
        weight = np.broadcast_to(own[:, None], corner_stress.shape[:2])
        total = self.mesh.sum_at_nodes(weight)[: self.mesh.corner_count]
        summed = self.mesh.sum_at_nodes(weight[:, :, None] * corner_stress)[: len(total)]
        return floats(summed / np.where(total > 0.0, total, 1.0)[:, None])


def _assembled(blocks: Floats, nodes: Indices, count: int) -> scipy.sparse.csc_array:
    """Returns the sum of blocks of tets, (m, k, k, 3, 3), at their nodes, (m, k), of `count` nodes."""
    size = 3 * nodes.shape[1]
    unknowns = (3 * nodes[:, :, None] + np.arange(3, dtype=np.int32)).reshape(-1, size)
    rows, columns = np.repeat(unknowns, size, axis=1), np.tile(unknowns, (1, size))
    values = blocks.transpose(0, 1, 3, 2, 4).ravel()
    return scipy.sparse.csc_array((values, (rows.ravel(), columns.ravel())), shape=(3 * count, 3 * count))
