# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds and pulls bodies in a step from outside: bones, pins, and flesh that goes where its pose says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints.external_forces import PointForces
from ..mechanics.model import Model
from ..runtime.arrays import Bools, Floats
from .pose_interpolation import PoseInterpolation
from .simulated_scene import SimulatedScene


@dataclass(frozen=True, eq=False)
class BoundaryConditions:
    """Boundary conditions of a step.

    Attributes:
        held: Which nodes are held, (n,); None: none.
        target: Where they are at the end of the step [m], (n, 3).
        springs: What pulls.
        pinned: Where pins are at the end of the step [m], by their key.
    """

    is_fixed: Bools | None
    fixed_target: Floats
    springs: PointForces
    pin_targets: dict[str, Floats]

    def remember(self, simulation: SimulatedScene, model: Model, dt: float) -> None:
        """Keeps in the state what pins have to know in the next step, after one of `dt` [s]."""
        resting = simulation.built.flesh.resting_bodies if simulation.built.flesh else ()
        for pins in simulation.built.pins:
            if pins.body not in resting:
                pins.remember(simulation.state, model, self.pin_targets.get(pins.key), dt)


def boundary_conditions(
    simulation: SimulatedScene, model: Model, begin: float, end: float, ahead: PoseInterpolation | None
) -> BoundaryConditions:
    """Returns what holds and pulls in a step from one time to another [s]; flesh in a pose goes where `ahead` says."""
    tracks, built, state = simulation.tracks, simulation.built, simulation.state
    resting = built.flesh.resting_bodies if built.flesh else ()
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    springs, pinned = [PointForces()], {}
    if built.bones:  # before pins, which win where both hold a node
        bones = built.bones.excluding(resting)
        bones.prescribe(tracks, end, is_fixed, target)
        springs.append(bones.spring_forces(state, model, tracks, end))
    for pins in built.pins:
        stiffness = pins.stiffness(tracks, end) if pins.body not in resting else 0.0
        if stiffness > 0.0:
            pinned[pins.key] = pins.targets(tracks, end)
            pins.prescribe(pinned[pins.key], is_fixed, target)
            springs.append(pins.spring_forces(state, model, pinned[pins.key], stiffness, end - begin))
    springs += [pull.spring_forces(state, model, tracks, begin, end) for pull in built.core_drivers]
    if built.flesh and built.flesh.quasistatic:
        nodes = built.flesh.quasistatic.part.nodes
        is_fixed[nodes] = True
        target[nodes] = ahead.positions_at(end) if ahead else state.x[nodes]
    return BoundaryConditions(is_fixed if is_fixed.any() else None, target, PointForces.concatenate(*springs), pinned)
