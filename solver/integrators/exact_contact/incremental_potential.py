# SPDX-License-Identifier: GPL-3.0-or-later
"""The function whose minimum is the end of a step of implicit Euler, without contacts.

    ½ (x − x0)ᵀ B (x − x0) − (x − x0)ᵀ (M (x̂ − x0 + Δt² g) + Δt² f) + Δt² E(x),    B = M (1 + Δt α) + Δt C + Δt² K_p

with the free motion x̂ − x0, which is Δt v0 but for rigid bodies (`free_motion.py`), the damping C at the start of the
step, forces f and stiffness K_p of springs at points, and the energy E of corotated tets, of those beyond their stretch
limit, of triangles and hinges of sheets, of rigid bodies, flesh, attachments and joints. Its Hessian is taken as
B + Δt² (R K Rᵀ + the semidefinite part of how forces turn), which is positive definite. Beside it are the whole Hessian
of stretch limits, whose energy is convex, and those of flesh, hinges, rigid bodies and links, each made semidefinite.

Flesh that follows a pose is at rest at the end of every step: it has neither mass nor damping in B and no motion x̂, but
its weight.

Source: Li et al. (2020); Müller and Gross (2004) for forces and stiffness.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...constraints.attachments.attachment_potential import AttachmentPotential
from ...constraints.linear_forces import LinearForces
from ...constraints.point_forces import PointForces
from ...constraints.rigid_core import rigid_velocities
from ...linalg.stencil_stiffness_assembly import add_stencil_gradients
from ...linalg.tet_stiffness_assembly import add_tet_terms
from ...mechanics.elements.added_volume_penalty import add_pressure
from ...mechanics.elements.edge_assembly import assemble
from ...mechanics.elements.element_records import write_records
from ...mechanics.elements.record_layout import ROTATED_GRADIENTS
from ...mechanics.elements.rotation_stiffness import add_rotation_stiffness
from ...mechanics.elements.strain_energy import stored_energy
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.stretch_limit.limit_potential import LimitPotential
from ...runtime.arrays import Bools, Floats, floats
from ..dynamic_flesh_forces import FleshGroup
from ..solver_context import StepWorkspace
from ..system.block_ops import block_matrix_product
from ..system.external_blocks import add_point_blocks
from ..system.step_matrix import compute_element_records, diagonal_mass
from .energy_groups import EnergyGroups
from .free_motion import FreeMotion
from .joint_potential import JointPotential, joined_stencils
from .jointed_spin import returned_spin
from .link_stencils import link_energy, link_stencils, links_at


class OtherBodies(NamedTuple):
    """Bodies that are not corotated or do not go straight on.

    Attributes:
        groups: The former.
        free: The motion of all bodies if nothing pulls; None: all go straight on.
        is_posed: Which nodes are of flesh that follows a pose, (n,); None: none.
    """

    groups: tuple[FleshGroup, ...] = ()
    free: FreeMotion | None = None
    is_posed: Bools | None = None


class AppliedForces(NamedTuple):
    """What acts on bodies beside elasticity, contact and friction.

    Attributes:
        gravity: g [m/s²], (3,).
        points: Springs at points; None: there are none.
        limits: Stretch limits of tets.
        attachments: What links surfaces.
        joints: Of rigid bodies; None: there are none.
    """

    gravity: Floats
    points: PointForces | None = None
    limits: tuple[LimitPotential, ...] = ()
    attachments: tuple[AttachmentPotential, ...] = ()
    joints: JointPotential | None = None


UNIT_GRADIENTS = np.array([-1.0, -1.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
NO_OTHERS = OtherBodies()


class IncrementalPotential:
    """The potential of one step of bodies whose tets are corotated, and of others with an energy of their own.

    Attributes:
        model: The bodies.
        x0: Nodes at the start [m], (n, 3).
        dt: Δt [s].
        has_posed_bodies: Whether some bodies follow a pose.
        pattern: Of the last Hessian.
        link_stencils: What links between bodies, and joints, do at the last nodes that derivatives were asked for at.
        free: The motion if nothing pulls; None: all go straight on.
        fall: What gravity adds to it [m], (n, 3).
        free_fall: Both together [m], (n, 3).
    """

    def __init__(
        self,
        model: Model,
        state: State,
        dt: float,
        workspace: StepWorkspace,
        forces: AppliedForces,
        others: OtherBodies = NO_OTHERS,
    ) -> None:
        """Begins a step.

        Args:
            model, state: The bodies, and where they begin.
            dt: Δt [s].
            workspace: Of the model; `values` and `force` are written.
            forces: What acts on them.
            others: Which are not corotated or do not go straight on.
        """
        self.model, self.x0, self.dt, self.workspace = model, floats(state.x).copy(), dt, workspace
        self._with_core_tets = replace(model, cores=()) if model.cores else model  # whose records are those of others
        self._limits, self._joints, self.pattern = forces.limits, forces.joints, model.pattern
        self._groups = EnergyGroups(others.groups, model, workspace)
        self._no_mass = np.zeros(model.node_count)
        self._constant = np.empty((model.pattern.block_count, 9))
        self._force = np.empty((model.node_count, 3))
        self._valued_at: Floats | None = None
        self._value, self._recorded_at = 0.0, np.zeros((0, 3))
        self._element_records = np.empty_like(workspace.element_records(model))
        records = self._records(self.x0)
        is_posed = np.zeros(model.node_count, bool) if others.is_posed is None else others.is_posed
        self.has_posed_bodies = bool(is_posed.any())
        inertia = np.where(is_posed, 0.0, diagonal_mass(model, dt))
        assemble(0.0, dt, inertia, model.pattern, records, self._constant, self._force)
        self._groups.add_damping(self.x0, dt, self._constant)
        fall = dt * dt * model.gravity_scale[:, None] * forces.gravity
        impulse = np.zeros((model.node_count, 3))
        if forces.points is not None and len(forces.points):
            add_point_blocks(model, forces.points, dt, self._constant, impulse)
        self.free, self.fall = others.free, fall
        self._attachments, self.link_stencils = forces.attachments, link_stencils(LinearForces())
        way = dt * floats(state.v) if others.free is None else others.free.way
        self.free_fall = np.where(is_posed[:, None], fall, way + fall)
        self._pull = model.mass[:, None] * self.free_fall + dt * impulse

    @property
    def has_rigid_bodies(self) -> bool:
        """Whether some bodies turn, or some rigid cores."""
        return self.free is not None and (len(self.free.bodies) > 0 or self.has_cores)

    @property
    def has_cores(self) -> bool:
        """Whether soft bodies have rigid cores, which no iterate may strain."""
        return len(self.model.cores) > 0

    def velocities(self, x: Floats) -> Floats:
        """Returns the velocities at the end of the step [m/s], (n, 3), if nodes are at x [m], (n, 3), there."""
        v = (x - self.x0) / self.dt
        v = v if self.free is None else v + self.free.velocity_change
        if self._joints is not None and self.free is not None and len(self.free.bodies):
            v = v + self._returned_spin(self._joints, self.free, x)
        return rigid_velocities(self.model, x, v) if self.has_cores else v

    def _returned_spin(self, joints: JointPotential, free: FreeMotion, x: Floats) -> Floats:
        """Returns what jointed bodies get back of their angular momentum, as velocities [m/s], (n, 3)."""
        links, force = joints.stencils(x), np.zeros_like(x)
        self._groups.add_forces(x, force)
        add_stencil_gradients(-1.0, links.tets, links.weights, links.gradient, self.model.tets, force)
        return returned_spin(free, joints.step, x, force, self.model.mass, self.dt)

    def value(self, x: Floats) -> float:
        """Returns the potential [J s²] at nodes [m], (n, 3).

        What bodies have by themselves is kept: where a line search ended, the next one begins.
        """
        if self._valued_at is None or not np.array_equal(x, self._valued_at):
            self._value, self._valued_at = self._value_of_bodies(x), x.copy()
        linked = link_energy(self._attachments, x)
        if self._joints is not None:  # which may settle in between
            linked += self._joints.energy(x)
        return self._value + self.dt**2 * linked

    def _value_of_bodies(self, x: Floats) -> float:
        """Returns the part without what links bodies [J s²]."""
        d = x - self.x0
        inertia = 0.5 * float((d * block_matrix_product(self.model.pattern, self._constant, d)).sum())
        elastic = float(stored_energy(self.model, x, self._records(x)).sum())
        elastic += sum(float(limit.forces_at(x)[0].sum()) for limit in self._limits)
        elastic += self._groups.energy(x)
        return inertia - float((d * self._pull).sum()) + self.dt**2 * elastic

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns gradient [N s²], (n, 3), and blocks of the Hessian [N s²/m], (b', 9), at nodes [m], (n, 3).

        The blocks are in `pattern` and, where this is the model's, those of the workspace. Links between bodies and
        joints are not in them, but in `link_stencils`.
        """
        pattern, values, force = self.model.pattern, self.workspace.values, self.workspace.force
        records, dt2 = self._records(x), self.dt**2
        assemble(dt2, 0.0, self._no_mass, pattern, records, values, force)
        add_rotation_stiffness(dt2, floats(x), self.model.tets, records, pattern.corner_block, values)
        values += self._constant
        inertia = block_matrix_product(pattern, self._constant, x - self.x0)
        gradient = inertia - self._pull - self.dt**2 * force
        for limit in self._limits:
            found, impulse = limit.forces_at(x)[1], np.zeros_like(gradient)
            if len(found):
                tets, corner_block = self.model.tets, pattern.corner_block
                add_tet_terms(self.dt, found.tet, found.stiffness, found.force, tets, corner_block, values, impulse)
                gradient -= self.dt * impulse
        self._groups.add_derivatives(x, self.dt, gradient, values)
        links, impulse = links_at(self._attachments, x), np.zeros_like(gradient)
        if len(links.points):
            add_point_blocks(self.model, links.points, self.dt, values, impulse)
            gradient -= self.dt * impulse
        self.link_stencils = link_stencils(links)
        if self._joints is not None:
            self.link_stencils = joined_stencils(self.link_stencils, self._joints.stencils(x))
        self.pattern, values = self._groups.widened(self.dt, values)
        return gradient, values

    def settle_joints(self, x: Floats) -> bool:
        """Lets joints take what they push with at nodes [m], (n, 3), as loads; returns whether that changes little."""
        return self._joints is None or self._joints.settle(x)

    def _records(self, x: Floats) -> Floats:
        """Returns the records of tets, of those that are not corotated as of a tet that nothing strains.

        They are made once for the same nodes.
        """
        model, records = self.model, self._element_records
        if np.array_equal(x, self._recorded_at):
            return records
        self._recorded_at = x.copy()
        if not len(self._groups):
            return compute_element_records(self._with_core_tets, x, None, records)
        own = self._groups.tets
        records[own] = 0.0
        records[own, ROTATED_GRADIENTS : ROTATED_GRADIENTS + 12] = UNIT_GRADIENTS  # of no flat tet
        for number in set(range(len(model.bodies))).difference(self._groups.bodies):
            write_records(model, number, x, records)
            if len(model.pressure_modulus):
                add_pressure(model, x, model.bodies[number].tets, records)
        return records
