# SPDX-License-Identifier: GPL-3.0-or-later
"""The displacements of a body that nothing holds under forces in balance, without its rigid motions.

K u = f is solved on the complement of the rigid motions by conjugate gradients. Two spaces make its preconditioner: the
3×3 blocks on the diagonal, and the displacements that are linear in every tet, whose matrix is factored. It has an
eighth of the unknowns: in a plate of 9,000 tets the factor takes 0.1 s, and that of K 3.3 s. It is made anew when the
body has cracked, and so knows the crack. Where that does not get there soon, K is factored after all.

Source: Xu (1992), for the sum over spaces; Li (2005), for the factor.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from ..runtime.arrays import Floats, floats
from .elastic_solid import ElasticSolid
from .quadratic_kernels import inverse_blocks_into, subtract_projections

# of its diagonal, by which the factored matrix is stiffer: so much that rigid motions have a factor, so little that
# nothing else notices
SHIFT = 1.0e-10
# after which K itself is factored: flat tets of thin walls take up to 1100 iterations, which is longer than the factor
# of a shell of 1000 tets takes; a solid of 2000 takes 40
FACTOR_AFTER = 60
MAX_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A body under a load.

    Attributes:
        displacements: u [m], (n, 3); the mean and the turn of all nodes are zero.
        iterations: Of conjugate gradients.
        relative_residual: |f − K u| / |f|.
    """

    displacements: Floats
    iterations: int
    relative_residual: float


@dataclass(frozen=True, eq=False)
class EquilibriumSolver:
    """A body in one piece, ready for any load.

    Attributes:
        solid: It.
        rigid_motions: Three translations and three turns of all nodes, orthonormal, (3 n, 6).
        jacobi: The inverse blocks on the diagonal of K [m/N], (n, 3, 3).
        prolongation: From corners to all nodes, (3 n, 3 c).
        factor: Solves for displacements that are linear in every tet.
    """

    solid: ElasticSolid
    rigid_motions: Floats
    jacobi: Floats
    prolongation: scipy.sparse.csr_array
    factor: Callable[[Floats], Floats]

    def solve(self, load: Floats, tolerance: float, guess: Floats | None = None) -> Equilibrium:
        """Returns the displacements under a load.

        Args:
            load: f [N], (n, 3); what is left of its sum and moment is taken out.
            tolerance: Relative residual at which the solve ends.
            guess: u to begin with [m], (n, 3); None: zero.
        """
        f = self._without_rigid_motions(load.ravel())
        size = math.sqrt(f @ f)
        if not size > 0.0:
            return Equilibrium(np.zeros_like(load), 0, 0.0)
        u = np.zeros_like(f) if guess is None else self._without_rigid_motions(guess.ravel())
        u, left, iterations = self._conjugate_gradients(f, u, self._preconditioned, tolerance * size, FACTOR_AFTER)
        if left > tolerance * size:
            whole = factored(self.solid.stiffness())
            exact = functools.partial(self._by_factor, whole)
            u, left, more = self._conjugate_gradients(f, u, exact, tolerance * size, MAX_ITERATIONS - FACTOR_AFTER)
            iterations += more
        return Equilibrium(self._without_rigid_motions(u).reshape(load.shape), iterations, left / size)

    def _conjugate_gradients(
        self, f: Floats, u: Floats, precondition: Callable[[Floats], Floats], wanted: float, most: int
    ) -> tuple[Floats, float, int]:
        """Returns u where |f − K u| is as small as wanted, that, and the iterations that it took, at most `most`."""
        r = f - self._product(u)
        p: Floats = np.zeros_like(f)
        before, iterations = 1.0, 0
        while (left := math.sqrt(r @ r)) > wanted and iterations < most:
            z = precondition(r)
            now = float(r @ z)
            p = z + (now / before if iterations else 0.0) * p
            q = self._product(p)
            step = now / (p @ q)
            u = u + step * p
            r = r - step * q
            before, iterations = now, iterations + 1
        return u, left, iterations

    def _by_factor(self, factor: Callable[[Floats], Floats], r: Floats) -> Floats:
        return self._without_rigid_motions(factor(r))

    def _product(self, u: Floats) -> Floats:
        return self.solid.forces(u.reshape(-1, 3)).ravel()

    def _preconditioned(self, r: Floats) -> Floats:
        local = np.einsum("nij,nj->ni", self.jacobi, r.reshape(-1, 3)).ravel()
        linear = self.prolongation @ self.factor(self.prolongation.T @ r)
        return self._without_rigid_motions(local + linear)

    def _without_rigid_motions(self, values: Floats) -> Floats:
        out = values.copy()
        subtract_projections(self.rigid_motions, out)
        return out


def equilibrium_solver(solid: ElasticSolid) -> EquilibriumSolver:
    """Returns a body, whose tets hang together by faces, ready for loads."""
    return EquilibriumSolver(
        solid=solid,
        rigid_motions=rigid_motions(solid.mesh.nodes),
        jacobi=_inverse_blocks(solid.diagonal_blocks()),
        prolongation=scipy.sparse.csr_array(scipy.sparse.kron(solid.mesh.prolongation(), np.eye(3))),
        factor=factored(solid.corner_stiffness()),
    )


def factored(K: scipy.sparse.csc_array) -> Callable[[Floats], Floats]:
    """Returns what solves K u = f of a body that nothing holds, but for its rigid motions."""
    shifted = scipy.sparse.csc_matrix(K + SHIFT * scipy.sparse.diags_array(K.diagonal()))
    made = scipy.sparse.linalg.splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    solve: Callable[[Floats], Floats] = made.solve
    return solve


def rigid_motions(nodes: Floats) -> Floats:
    """Returns three translations and three turns of nodes [m], (n, 3), as orthonormal columns, (3 n, 6)."""
    arms = nodes - nodes.mean(axis=0)
    modes = np.zeros((len(nodes), 3, 6))
    modes[:, :, :3] = np.eye(3)
    for axis in range(3):
        modes[:, :, 3 + axis] = np.cross(np.eye(3)[axis], arms)
    return floats(np.linalg.qr(modes.reshape(-1, 6))[0])


def _inverse_blocks(blocks: Floats) -> Floats:
    out = np.empty_like(blocks)
    inverse_blocks_into(blocks, out)
    return out
