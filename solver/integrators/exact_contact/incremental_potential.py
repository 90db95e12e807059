# SPDX-License-Identifier: GPL-3.0-or-later
"""The function whose minimum is the end of a step of implicit Euler, without contacts.

    ½ (x − x0)ᵀ B (x − x0) − (x − x0)ᵀ (M (Δt v0 + Δt² g) + Δt² f) + Δt² E(x),    B = M (1 + Δt α) + Δt C + Δt² K_p

with the damping C at the start of the step, forces f and stiffness K_p of springs at points, and the energy E of
corotated tets and of those beyond their stretch limit. Its Hessian is taken as B + Δt² R K Rᵀ, which is positive
definite: how rotations change is left out. Beside it is the whole Hessian of stretch limits, whose energy is convex.

Source: Li et al. (2020); Müller and Gross (2004) for forces and stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...constraints.point_forces import PointForces
from ...linalg.tet_stiffness_assembly import add_tet_terms
from ...mechanics.elements.edge_assembly import assemble
from ...mechanics.elements.strain_energy import stored_energy
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.stretch_limit.limit_potential import LimitPotential
from ...runtime.arrays import Floats, floats
from ..solver_context import StepWorkspace
from ..system.block_ops import block_matrix_product
from ..system.external_blocks import add_point_blocks
from ..system.step_matrix import compute_element_records, diagonal_mass


class IncrementalPotential:
    """The potential of one step of bodies whose tets are corotated.

    Attributes:
        model: The bodies.
        x0: Nodes at the start [m], (n, 3).
        dt: Δt [s].
    """

    def __init__(
        self,
        model: Model,
        state: State,
        gravity: Floats,
        dt: float,
        workspace: StepWorkspace,
        points: PointForces | None = None,
        limits: Sequence[LimitPotential] = (),
    ) -> None:
        """Begins a step.

        Args:
            model, state: The bodies, and where they begin.
            gravity: g [m/s²], (3,).
            dt: Δt [s].
            workspace: Of the model; `values` and `force` are written.
            points: Springs at points; None: there are none.
            limits: Stretch limits of tets.
        """
        self.model, self.x0, self.dt, self.workspace = model, floats(state.x).copy(), dt, workspace
        self._limits = tuple(limits)
        self._no_mass = np.zeros(model.node_count)
        self._constant = np.empty((model.pattern.block_count, 9))
        self._force = np.empty((model.node_count, 3))
        records = self._records(self.x0)
        assemble(0.0, dt, diagonal_mass(model, dt), model.pattern, records, self._constant, self._force)
        fall = dt * dt * model.gravity_scale[:, None] * gravity
        impulse = np.zeros((model.node_count, 3))
        if points is not None and len(points):
            add_point_blocks(model, points, dt, self._constant, impulse)
        self._pull = model.mass[:, None] * (dt * floats(state.v) + fall) + dt * impulse

    def value(self, x: Floats) -> float:
        """Returns the potential [J s²] at nodes [m], (n, 3)."""
        d = x - self.x0
        inertia = 0.5 * float((d * block_matrix_product(self.model.pattern, self._constant, d)).sum())
        elastic = float(stored_energy(self.model, x, self._records(x)).sum())
        elastic += sum(float(limit.forces_at(x)[0].sum()) for limit in self._limits)
        return inertia - float((d * self._pull).sum()) + self.dt**2 * elastic

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns gradient [N s²], (n, 3), and blocks of the Hessian [N s²/m], (b, 9), at nodes [m], (n, 3).

        The blocks are those of the workspace.
        """
        pattern, values, force = self.model.pattern, self.workspace.values, self.workspace.force
        assemble(self.dt**2, 0.0, self._no_mass, pattern, self._records(x), values, force)
        values += self._constant
        inertia = block_matrix_product(pattern, self._constant, x - self.x0)
        gradient = inertia - self._pull - self.dt**2 * force
        for limit in self._limits:
            found, impulse = limit.forces_at(x)[1], np.zeros_like(gradient)
            if len(found):
                tets, corner_block = self.model.tets, pattern.corner_block
                add_tet_terms(self.dt, found.tet, found.stiffness, found.force, tets, corner_block, values, impulse)
                gradient -= self.dt * impulse
        return gradient, values

    def _records(self, x: Floats) -> Floats:
        return compute_element_records(self.model, x, None, self.workspace.element_records(self.model))
