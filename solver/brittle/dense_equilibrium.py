# SPDX-License-Identifier: GPL-3.0-or-later
"""The displacements of a small piece under forces, by a dense factor: no iterations, and no making of sparse matrices.

K of a piece that nothing holds is singular by its rigid motions Z, orthonormal columns. Loads that its inertia balances
are normal to these, and K + k Z Zᵀ with any k > 0, here the mean of K's diagonal, has the same displacements for them,
normal to Z. Where pins hold nodes, these are left out. A piece of a dozen tets takes a tenth of the time that conjugate
gradients with sparse matrices take (`static_equilibrium.py`), nearly all of which is the making of those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg.lapack

from ..runtime.arrays import Bools, Floats, floats
from .dense_kernels import add_stiffness
from .elastic_solid import ElasticSolid
from .quadratic_kernels import MIDDLES, subtract_projections
from .static_equilibrium import Equilibrium, rigid_motions

MAX_NODES = 150  # of a piece that is solved so: beyond, the factor takes longer than conjugate gradients


@dataclass(frozen=True, eq=False)
class DenseEquilibriumSolver:
    """A small piece, ready for any load.

    Attributes:
        solid: It.
        rigid_motions: Three translations and three turns of all nodes, orthonormal, (3 n, 6); no columns where nodes
            are held.
        is_held: Nodes that do not move, (n,).
        factor: Cholesky's, in its lower half, of K + k Z Zᵀ of the f free unknowns, (f, f).
    """

    solid: ElasticSolid
    rigid_motions: Floats
    is_held: Bools
    factor: Floats

    def solve(self, load: Floats) -> Equilibrium:
        """Returns the displacements under a load [N], (n, 3), less what acts on held nodes or on the rigid motions.

        It takes no iterations.
        """
        free = np.repeat(~self.is_held, 3)
        f = np.where(free, load.ravel(), 0.0)
        self._take_out_rigid_motions(f)
        size, u = math.sqrt(f @ f), np.zeros(load.size)
        if not size > 0.0:
            return Equilibrium(np.zeros_like(load), 0, 0.0, 0.0)
        u[free] = scipy.linalg.lapack.dpotrs(self.factor, f[free], lower=1)[0]
        self._take_out_rigid_motions(u)
        left = np.where(free, f - self.solid.forces(u.reshape(-1, 3)).ravel(), 0.0)
        energy = 0.5 * float(u @ (f + left))
        return Equilibrium(floats(u.reshape(load.shape)), 0, math.sqrt(left @ left) / size, energy)

    def _take_out_rigid_motions(self, values: Floats) -> None:
        if self.rigid_motions.shape[1]:
            subtract_projections(self.rigid_motions, values)


def dense_equilibrium_solver(solid: ElasticSolid, is_held: Bools) -> DenseEquilibriumSolver | None:
    """Returns a piece, whose tets hang together by faces, ready for loads; None: its tets are too flat for a factor.

    Args:
        solid: The piece.
        is_held: Nodes that do not move, (n,): none, or at least those of one tet.
    """
    mesh, free = solid.mesh, np.flatnonzero(np.repeat(~is_held, 3))
    K = np.zeros((mesh.nodes.size, mesh.nodes.size), order="F")
    add_stiffness(mesh.tets, mesh.gradients, solid.second_moments, solid.mu, solid.lam, MIDDLES, K)
    Z = np.zeros((mesh.nodes.size, 0)) if is_held.any() else rigid_motions(mesh.nodes)
    if len(free) < len(K):
        K = np.asfortranarray(K[np.ix_(free, free)])
    elif Z.shape[1]:
        K += (np.trace(K) / len(K)) * (Z @ Z.T)
    factor, failed = scipy.linalg.lapack.dpotrf(K, lower=1, overwrite_a=1) if len(K) else (K, 0)
    return DenseEquilibriumSolver(solid, Z, is_held, factor) if failed == 0 else None
