# SPDX-License-Identifier: GPL-3.0-or-later
"""The displacements of a body under forces, on supports or without its rigid motions where nothing holds it.

K u = f is solved by conjugate gradients, on the complement of the rigid motions or on the nodes that are not held. Its
preconditioner is a V-cycle of two levels: a step of Jacobi's method with the 3×3 blocks on the diagonal, the solution
among the displacements that are linear in every tet, and the same step again. The matrix of the second level has an
eighth of the unknowns and is factored: in a plate of 9,000 tets that takes 0.1 s, and the factor of K 3.3 s. It knows
the cracks: `multifrontal_factor.py` changes what they change of it. Where that does not get there soon, K is factored.

Adding both levels instead takes 17, 24 and 32 iterations down to 1e-2, 1e-3 and 1e-4 where the V-cycle takes 7, 11 and
15, of 4,600 tets 40 steps of cracks into a hit; its two further products take less time than the rest of an iteration.

Source: Xu (1992), for corrections in two spaces, one after the other; Li (2005), for the factor of K.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from ..runtime.arrays import Bools, Floats, floats
from .elastic_solid import ElasticSolid
from .quadratic_kernels import (
    inverse_blocks_into,
    multiply_blocks_into,
    prolong_into,
    restrict_into,
    subtract_projections,
)

# of its diagonal, by which the factored matrix is stiffer: so much that rigid motions have a factor, so little that
# nothing else notices
SHIFT = 1.0e-10
# after which K itself is factored: flat tets of thin walls take up to 1100 iterations, which is longer than the factor
# of a shell of 1000 tets takes; a solid of 2000 takes 40
FACTOR_AFTER = 40
SMOOTHING = 0.6  # of the full step of Jacobi's method: below 2 / λ, where λ of J K is 2.6 to 3.1 in meshes here
MAX_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A body under a load.

    Attributes:
        displacements: u [m], (n, 3); the mean and the turn of all nodes are zero, or those of held nodes.
        iterations: Of conjugate gradients.
        relative_residual: |f − K u| / |f|.
        energy: ½ uᵀ (f + r) [J], r = f − K u, at least 0: what the load stores, less by what r would store.
    """

    displacements: Floats
    iterations: int
    relative_residual: float
    energy: float


@dataclass(frozen=True, eq=False)
class EquilibriumSolver:
    """A body in one piece, ready for any load.

    Attributes:
        solid: It.
        rigid_motions: Three translations and three turns of all nodes, orthonormal, (3 n, 6); no columns where nodes
            are held.
        is_held: Nodes that do not move, (n,).
        jacobi: `SMOOTHING` times the inverse blocks on the diagonal of K [m/N], (n, 3, 3); zero where nodes are held.
        known_factor: Solves for displacements that are linear in every tet; None: it is made where it is needed.
    """

    solid: ElasticSolid
    rigid_motions: Floats
    is_held: Bools
    jacobi: Floats
    known_factor: Callable[[Floats], Floats] | None = None

    @functools.cached_property
    def factor(self) -> Callable[[Floats], Floats]:
        """Solves for displacements that are linear in every tet, (3 c,) of forces at corners."""
        if self.known_factor is not None:
            return self.known_factor
        return factored(self.solid.corner_stiffness(), self.is_held[: self.solid.mesh.corner_count])

    def solve(self, load: Floats, tolerance: float, guess: Floats | None = None) -> Equilibrium:
        """Returns the displacements under a load.

        Args:
            load: f [N], (n, 3); what is left of its sum and moment is taken out, or what acts on held nodes.
            tolerance: Relative residual at which the solve ends.
            guess: u to begin with [m], (n, 3); None: zero.
        """
        f = self._admissible(load.ravel())
        size = math.sqrt(f @ f)
        if not size > 0.0:
            return Equilibrium(np.zeros_like(load), 0, 0.0, 0.0)
        u = np.zeros_like(f) if guess is None else self._admissible(guess.ravel())
        before_factor = 0 if self.solid.has_thin_walls else FACTOR_AFTER
        u, r, iterations = self._conjugate_gradients(f, u, self._preconditioned, tolerance * size, before_factor)
        if math.sqrt(r @ r) > tolerance * size:
            whole = factored(self.solid.stiffness(), self.is_held)
            exact = functools.partial(self._by_factor, whole)
            u, r, more = self._conjugate_gradients(f, u, exact, tolerance * size, MAX_ITERATIONS - before_factor)
            iterations += more
        u = self._admissible(u)
        left = math.sqrt(r @ r) / size
        return Equilibrium(floats(u.reshape(load.shape)), iterations, left, max(0.5 * float(u @ (f + r)), 0.0))

    def _conjugate_gradients(
        self, f: Floats, u: Floats, precondition: Callable[[Floats], Floats], wanted: float, most: int
    ) -> tuple[Floats, Floats, int]:
        """Returns u where |f − K u| is as small as wanted, f − K u, and the iterations that it took, at most `most`.

        It ends before where the preconditioner is not positive definite.
        """
        r = f - self._product(u)
        p: Floats = np.zeros_like(f)
        before, iterations = 1.0, 0
        while math.sqrt(r @ r) > wanted and iterations < most:
            z = precondition(r)
            now = float(r @ z)
            if not now > 0.0:
                break
            p = z + (now / before if iterations else 0.0) * p
            q = self._product(p)
            step = now / (p @ q)
            u = u + step * p
            r = r - step * q
            before, iterations = now, iterations + 1
        return u, r, iterations

    def _by_factor(self, factor: Callable[[Floats], Floats], r: Floats) -> Floats:
        return self._admissible(factor(r))

    def _product(self, u: Floats) -> Floats:
        forces = self.solid.forces(u.reshape(-1, 3)).ravel()
        return self._admissible(forces) if self.is_held.any() else forces

    def _preconditioned(self, r: Floats) -> Floats:
        """Returns what a V-cycle makes of a residual."""
        x = self._smoothed(r)
        x += self._coarse(r - self._product(x))
        x += self._smoothed(r - self._product(x))
        return self._admissible(x)

    def _smoothed(self, r: Floats) -> Floats:
        out = np.empty_like(r)
        multiply_blocks_into(self.jacobi, r, out)
        return out

    def _coarse(self, r: Floats) -> Floats:
        mesh, out = self.solid.mesh, np.empty_like(r)
        on_corners = np.empty(3 * mesh.corner_count)
        restrict_into(mesh.ends, r, on_corners)
        prolong_into(mesh.ends, self.factor(on_corners), out)
        return out

    def _admissible(self, values: Floats) -> Floats:
        """Returns what is left of values at nodes, (3 n,), without rigid motions, or without held nodes."""
        out = values.copy()
        if self.is_held.any():
            out.reshape(-1, 3)[self.is_held] = 0.0
        else:
            subtract_projections(self.rigid_motions, out)
        return out


def equilibrium_solver(
    solid: ElasticSolid, is_held: Bools | None = None, factor: Callable[[Floats], Floats] | None = None
) -> EquilibriumSolver:
    """Returns a body, whose tets hang together by faces, ready for loads.

    Args:
        solid: The body.
        is_held: Nodes that do not move, (n,): none, or at least those of one tet; None: none.
        factor: Solves for displacements that are linear in every tet; None: it is made where it is needed.
    """
    nodes = solid.mesh.nodes
    held = np.zeros(len(nodes), bool) if is_held is None else is_held
    jacobi = SMOOTHING * _inverse_blocks(solid.diagonal_blocks())
    jacobi[held] = 0.0
    return EquilibriumSolver(
        solid=solid,
        rigid_motions=np.zeros((nodes.size, 0)) if held.any() else rigid_motions(nodes),
        is_held=held,
        jacobi=jacobi,
        known_factor=factor,
    )


def factored(K: scipy.sparse.csc_array, is_held: Bools) -> Callable[[Floats], Floats]:
    """Returns what solves K u = f of a body, but for its rigid motions where nothing holds it.

    Args:
        K: Of all n nodes, (3 n, 3 n).
        is_held: Nodes that do not move, (n,).
    """
    free = np.flatnonzero(np.repeat(~is_held, 3))
    if not len(free):
        return np.zeros_like
    if len(free) < K.shape[0]:
        solve_free = factored(K[free][:, free].tocsc(), np.zeros(len(free) // 3, bool))

        def solve_all(f: Floats) -> Floats:
            u = np.zeros_like(f)
            u[free] = solve_free(f[free])
            return u

        return solve_all
    shifted = scipy.sparse.csc_matrix(K + SHIFT * scipy.sparse.diags_array(K.diagonal()))
    made = scipy.sparse.linalg.splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    solve: Callable[[Floats], Floats] = made.solve
    return solve


def rigid_motions(nodes: Floats) -> Floats:
    """Returns three translations and three turns of nodes [m], (n, 3), as orthonormal columns, (3 n, 6)."""
    x, y, z = (nodes - nodes.mean(axis=0)).T
    modes = np.zeros((len(nodes), 3, 6))
    modes[:, [0, 1, 2], [0, 1, 2]] = 1.0 / math.sqrt(len(nodes))
    modes[:, 1, 3], modes[:, 2, 3] = -z, y
    modes[:, 0, 4], modes[:, 2, 4] = z, -x
    modes[:, 0, 5], modes[:, 1, 5] = -y, x
    out = modes.reshape(-1, 6)
    # about their middle, turns are normal to translations: only these are left to be made normal to each other
    out[:, 3:] = np.linalg.qr(out[:, 3:])[0]
    return out


def _inverse_blocks(blocks: Floats) -> Floats:
    out = np.empty_like(blocks)
    inverse_blocks_into(blocks, out)
    return out
