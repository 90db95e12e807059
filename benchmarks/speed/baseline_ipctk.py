# SPDX-License-Identifier: GPL-3.0-or-later
"""Incremental potential contact with the IPC Toolkit as a peer: its authors' collisions, barriers, friction and CCD.

The toolkit is no simulator. Around it is algorithm 1 of Li et al. (2020): Newton's method on the semidefinite Hessian,
factored by CHOLMOD on OpenBLAS, and a line search that no time of impact lets go too far. Elasticity, inertia and
damping are those of Sinew's own potential, by Sinew's kernels, so that only contact and the solve are compared.

Its barrier is of squared distances, so that its pressure has another shape; its stiffness is chosen so that both press
alike at half of the gap. Its friction is smoothed by the speed, and has the forces of the start of the step, as there
by default.

Source: Li et al. (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from sinew.solver.contact.exact.barriers import barrier
from sinew.solver.contact.exact.contact_potential import ContactBarrier
from sinew.solver.integrators.exact_contact.bound_surfaces import BoundSurfaces
from sinew.solver.integrators.exact_contact.incremental_potential import IncrementalPotential
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Floats, Indices

SLOWEST_SLIDING = 1.0e-3  # [m/s]: below it friction is smoothed; the default of Li et al.
REACH_MARGIN = 1.01  # of the gap
MAX_HALVINGS = 40
ALIKE_SHARE = 0.5  # of the gap at which both barriers press alike


@dataclass
class IpcReport:
    """How a step went.

    Attributes:
        iterations: Newton iterations.
        converged: Whether the last motion was within the tolerance.
    """

    iterations: int
    converged: bool


class IpcSimulator:
    """Steps of bodies of tets by the IPC Toolkit."""

    def __init__(
        self, surfaces: BoundSurfaces, node_count: int, how: ContactBarrier, tolerance: float, max_iterations: int = 200
    ) -> None:
        """Begins with surfaces that stay as they are.

        Args:
            surfaces: What must not intersect; each two of them rub alike.
            node_count: n.
            how: Gap and stiffness of Sinew's barrier.
            tolerance: Motion of an iteration from which on a step has converged [m].
            max_iterations: Of Newton's method.
        """
        import ipctk

        mesh, self._surfaces = surfaces.mesh, surfaces
        self._mesh = ipctk.CollisionMesh(np.asfortranarray(mesh.rest), mesh.edges, mesh.triangles)
        self._mesh.vertex_areas, self._mesh.edge_areas = _areas(surfaces)
        self._mesh.can_collide = ipctk.make_vertex_patches_filter(_patches(surfaces))
        self._gap, self._tolerance, self._max_iterations = how.gap, tolerance, max_iterations
        law = ipctk.NormalizedClampedLogBarrier()
        unit = ipctk.BarrierPotential(law, how.gap, 1.0, True).force_magnitude((ALIKE_SHARE * how.gap) ** 2, 0.0)
        self.stiffness = how.stiffness * -barrier(how.kind, ALIKE_SHARE)[1] / unit
        self._barrier = ipctk.BarrierPotential(law, how.gap, self.stiffness, True)
        self._friction, self._coefficient = ipctk.FrictionPotential(SLOWEST_SLIDING), float(surfaces.friction.max())
        self._lift = _lift(surfaces, node_count)
        self._factor = CholmodFactor()

    def step(self, state: State, potential: IncrementalPotential, collider: Floats) -> IpcReport:
        """Moves a state on by a step.

        Args:
            state: Where the step begins; changed.
            potential: Of the step, without contacts.
            collider: Vertices of colliders, which stand still [m], (v, 3).
        """
        import ipctk

        x, dt2, converged, iterations = potential.x0.copy(), potential.dt**2, False, 0
        start = y = self._vertices(x, collider)
        pushing = self._pushing()
        pushing.build(self._mesh, y, self._gap)
        rubbing = ipctk.TangentialCollisions()
        rubbing.build(self._mesh, y, pushing, self._barrier, self._coefficient)
        value = self._value(potential, x, start, y, pushing, rubbing)
        while not converged and iterations < self._max_iterations:
            gradient, blocks = potential.derivatives(x)
            pattern, clamp = potential.model.pattern, ipctk.PSDProjectionMethod.CLAMP
            arrays = blocks.reshape(-1, 3, 3), pattern.column.astype(np.int32), pattern.row_start.astype(np.int32)
            v = (y - start) / potential.dt
            slope = self._barrier.gradient(pushing, self._mesh, y) + self._friction.gradient(rubbing, self._mesh, v)
            hessian = self._barrier.hessian(pushing, self._mesh, y, clamp)
            hessian = hessian + self._friction.hessian(rubbing, self._mesh, v, clamp) / potential.dt
            total = scipy.sparse.bsr_matrix(arrays).tocsc() + dt2 * (self._lift.T @ hessian @ self._lift)
            d = self._factor.solve(total, -(gradient.ravel() + dt2 * (self._lift.T @ slope))).reshape(-1, 3)
            y_end, candidates = self._vertices(x + d, collider), ipctk.Candidates()
            candidates.build(self._mesh, y, y_end, 0.5 * REACH_MARGIN * self._gap)
            step = candidates.compute_collision_free_stepsize(self._mesh, y, y_end, 0.0, ipctk.AdditiveCCD())
            for _ in range(MAX_HALVINGS):
                tried = self._vertices(x + step * d, collider)
                pushing = self._pushing()
                pushing.build(candidates, self._mesh, tried, self._gap)
                after = self._value(potential, x + step * d, start, tried, pushing, rubbing)
                if after <= value:
                    break
                step *= 0.5
            x, y, value = x + step * d, tried, after
            iterations, converged = iterations + 1, bool(np.abs(d).max() <= self._tolerance)
        state.x, state.v = x, potential.velocities(x)
        state.time += potential.dt
        return IpcReport(iterations, converged)

    def least_distance(self, x: Floats, collider: Floats) -> float:
        """Returns the distance of the closest features that may touch [m], infinite beyond the gap."""
        y, close = self._vertices(x, collider), self._pushing()
        close.build(self._mesh, y, self._gap)
        return float(np.sqrt(close.compute_minimum_distance(self._mesh, y))) if len(close) else np.inf

    def _vertices(self, x: Floats, collider: Floats) -> Floats:
        return np.asfortranarray(self._surfaces.positions(x, collider))

    def _pushing(self) -> Any:
        """Returns a set of collisions that has areas, as Sinew's pairs."""
        import ipctk

        made = ipctk.NormalCollisions()
        made.use_area_weighting = True
        return made

    def _value(
        self, potential: IncrementalPotential, x: Floats, start: Floats, y: Floats, pushing: Any, rubbing: Any
    ) -> float:
        """Returns the whole potential [J s²]."""
        contact = self._barrier(pushing, self._mesh, y)
        contact += potential.dt * self._friction(rubbing, self._mesh, (y - start) / potential.dt)
        return float(potential.value(x) + potential.dt**2 * contact)


class CholmodFactor:
    """CHOLMOD's factors of matrices, whose analysis is kept while the pattern stays."""

    def __init__(self) -> None:
        self._pattern: tuple[Indices, Indices] | None = None
        self._symbolic: Any = None

    def solve(self, A: scipy.sparse.csc_matrix, b: Floats) -> Floats:
        """Returns A⁻¹ b of a symmetric positive definite A."""
        from cvxopt import cholmod, matrix, spmatrix

        cholmod.options["supernodal"] = 2
        lower = scipy.sparse.tril(A, format="csc")
        lower.sort_indices()
        column = np.repeat(np.arange(A.shape[1], dtype=np.int64), np.diff(lower.indptr))
        made = spmatrix(matrix(lower.data), matrix(lower.indices.astype(np.int64)), matrix(column), A.shape)
        known = self._pattern
        if known is None or not (np.array_equal(known[0], lower.indptr) and np.array_equal(known[1], lower.indices)):
            self._pattern, self._symbolic = (lower.indptr, lower.indices), cholmod.symbolic(made)
        cholmod.numeric(made, self._symbolic)
        x = matrix(b)
        cholmod.solve(self._symbolic, x)
        return np.array(x).ravel()


def _patches(surfaces: BoundSurfaces) -> Indices:
    """Returns a number for each vertex, the same for those that are not kept apart: of a body, or of all colliders."""
    owner = surfaces.mesh.owner[surfaces.mesh.surface]
    return np.where(surfaces.tet < 0, len(surfaces.mesh.owner), owner).astype(np.int32)


def _areas(surfaces: BoundSurfaces) -> tuple[Floats, Floats]:
    """Returns the areas of vertices, (v,), and edges, (e,), as Sinew has them, but none for edges of colliders [m²]."""
    mesh = surfaces.mesh
    own = np.where(surfaces.tet < 0, 0.0, mesh.point_area)
    return mesh.point_area, own[mesh.edges].min(axis=1)


def _lift(surfaces: BoundSurfaces, node_count: int) -> scipy.sparse.csr_matrix:
    """Returns how vertices follow nodes, J of y = J x + those of colliders, (3 v, 3 n)."""
    vertex, corner = np.nonzero((surfaces.nodes >= 0) & (surfaces.weights != 0.0))
    shape = len(surfaces.nodes), node_count
    places = vertex, surfaces.nodes[vertex, corner]
    weights = scipy.sparse.csr_matrix((surfaces.weights[vertex, corner], places), shape)
    return scipy.sparse.kron(weights, np.eye(3), format="csr")
