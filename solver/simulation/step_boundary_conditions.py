# SPDX-License-Identifier: GPL-3.0-or-later
"""What all forces do in a step: the nodes that are held, where to, and the forces on points inside tets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..constraints.attachments.attachment_potential import AttachmentPotential
from ..constraints.force import Force, ForceStep, in_order_of_precedence
from ..constraints.joints.joint_step import JointStep
from ..constraints.point_forces import PointForces
from ..mechanics.model import Model
from ..mechanics.stretch_limit.limit_potential import LimitPotential
from ..runtime.arrays import Bools, Floats
from .flesh_equilibrium_interpolation import PoseInterpolation
from .simulated_scene import SimulatedScene
from .step_interval import StepPart


@dataclass(frozen=True, eq=False)
class BoundaryConditions:
    """Boundary conditions of a step.

    Attributes:
        is_fixed: Which nodes are held, (n,); None: none.
        fixed_target: Where these are at the end of the step [m], (n, 3).
        point_forces: Of all forces, gravity and contacts excepted.
        potentials: Forces of tets that are not linear in the motion.
        surface_potentials: The same of what links surfaces.
        joints: The joints; None: there are none.
    """

    is_fixed: Bools | None
    fixed_target: Floats
    point_forces: PointForces
    potentials: tuple[LimitPotential, ...] = ()
    surface_potentials: tuple[AttachmentPotential, ...] = ()
    joints: JointStep | None = None


def forces_on(forces: Sequence[Force], bodies: Sequence[int]) -> list[Force]:
    """Returns what forces do to the bodies of these numbers."""
    return [own for force in forces if (own := force.restricted_to(bodies)) is not None]


def acting_forces(simulation: SimulatedScene) -> Sequence[Force]:
    """Returns the forces on the bodies that take steps."""
    built, resting = simulation.built, simulation.built.resting_bodies
    if not resting:
        return built.forces
    return forces_on(built.forces, [number for number in range(len(built.bodies)) if number not in resting])


def apply_forces(forces: Sequence[Force], step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> PointForces:
    """Marks the nodes that forces hold, (n,), writes where to [m], (n, 3), and returns what else they do."""
    acting = [PointForces()]
    for force in in_order_of_precedence(forces):
        force.prescribe(step, is_fixed, fixed_target)
        acting.append(force.point_forces(step))
    return PointForces.concatenate(*acting)


def potentials_of(forces: Sequence[Force], step: ForceStep) -> tuple[LimitPotential, ...]:
    """Returns the potentials of forces."""
    return tuple(found for force in forces if (found := force.potential(step)) is not None)


def surface_potentials_of(forces: Sequence[Force], step: ForceStep) -> tuple[AttachmentPotential, ...]:
    """Returns the potentials of what links surfaces."""
    return tuple(found for force in forces if (found := force.surface_potential(step)) is not None)


def boundary_conditions(
    simulation: SimulatedScene, model: Model, part: StepPart, pose_path: PoseInterpolation | None
) -> BoundaryConditions:
    """Returns what holds and pulls in a part of a step; flesh in a pose goes along `pose_path`."""
    built, state = simulation.built, simulation.state
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    step = ForceStep(model, state, simulation.tracks, part.begin, part.end, part.speed)
    acting = [(acting_forces(simulation), step)]
    if built.posed_bodies:
        others = [number for number in range(len(built.bodies)) if number not in built.posed_bodies]
        acting = [(forces_on(built.forces, others), step), _posed_forces(simulation, model, part.end)]
    points = PointForces.concatenate(*(apply_forces(*each, is_fixed, target) for each in acting))
    if built.flesh and built.flesh.quasistatic:
        nodes = built.flesh.quasistatic.part.nodes
        is_fixed[nodes] = True
        target[nodes] = pose_path.positions_at(part.end) if pose_path else state.x[nodes]
    return BoundaryConditions(
        is_fixed if is_fixed.any() else None,
        target,
        points,
        tuple(found for each in acting for found in potentials_of(*each)),
        tuple(found for each in acting for found in surface_potentials_of(*each)),
        next((found for force in acting[0][0] if (found := force.joint_step(step)) is not None), None),
    )


def posed_conditions(simulation: SimulatedScene, model: Model, time: float) -> BoundaryConditions:
    """Returns what holds and pulls bodies at a time [s] that follow a pose and take steps."""
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    acting = _posed_forces(simulation, model, time)
    points = apply_forces(*acting, is_fixed, target)
    return BoundaryConditions(is_fixed, target, points, potentials_of(*acting), surface_potentials_of(*acting))


def _posed_forces(simulation: SimulatedScene, model: Model, time: float) -> tuple[list[Force], ForceStep]:
    """Returns what acts on bodies that follow a pose and take steps, and the step that it is asked for."""
    built = simulation.built
    forces = forces_on([force for force in built.forces if force.affects_quasistatic], built.posed_bodies)
    return forces, ForceStep(model, simulation.state, simulation.tracks, time, time, is_static=True)


def begin_forces(simulation: SimulatedScene, model: Model, part: StepPart) -> None:
    """Lets forces write into the state at the start of a step what has changed from outside."""
    step = ForceStep(model, simulation.state, simulation.tracks, part.begin, part.end, part.speed)
    for force in acting_forces(simulation):
        force.begin_step(step)


def end_forces(simulation: SimulatedScene, model: Model, part: StepPart) -> None:
    """Lets forces write into the state at the end of a part of a step what they have to know in the next."""
    step = ForceStep(model, simulation.state, simulation.tracks, part.begin, part.end, part.speed)
    for force in acting_forces(simulation):
        force.end_step(step)
