# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds and pulls bodies in a step from outside: bones, pins, and flesh that goes where its pose says."""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats
from .integrators.outside import Points
from .late_dataclass import dataclass
from .model import Model
from .pose_ahead import PoseAhead
from .simulation import Simulation


@dataclass(frozen=True, eq=False)
class Boundary:
    """Boundary conditions of a step.

    Attributes:
        held: Which nodes are held, (n,); None: none.
        target: Where they are at the end of the step [m], (n, 3).
        springs: What pulls.
        pinned: Where pins are at the end of the step [m], by their key.
    """

    held: Bools | None
    target: Floats
    springs: Points
    pinned: dict[str, Floats]

    def remember(self, simulation: Simulation, model: Model, dt: float) -> None:
        """Keeps in the state what pins have to know in the next step, after one of `dt` [s]."""
        resting = simulation.built.flesh.resting_bodies if simulation.built.flesh else ()
        for pins in simulation.built.pins:
            if pins.body not in resting:
                pins.remember(simulation.state, model, self.pinned.get(pins.key), dt)


def boundary(simulation: Simulation, model: Model, begin: float, end: float, ahead: PoseAhead | None) -> Boundary:
    """Returns what holds and pulls in a step from one time to another [s]; flesh in a pose goes where `ahead` says."""
    tracks, built, state = simulation.tracks, simulation.built, simulation.state
    resting = built.flesh.resting_bodies if built.flesh else ()
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    springs, pinned = [Points()], {}
    if built.bones:  # before pins, which win where both hold a node
        bones = built.bones.besides(resting)
        bones.hold(tracks, end, is_fixed, target)
        springs.append(bones.pull(state, model, tracks, end))
    for pins in built.pins:
        stiffness = pins.stiffness(tracks, end) if pins.body not in resting else 0.0
        if stiffness > 0.0:
            pinned[pins.key] = pins.targets(tracks, end)
            pins.hold(pinned[pins.key], is_fixed, target)
            springs.append(pins.pull(state, model, pinned[pins.key], stiffness, end - begin))
    springs += [pull.act(state, model, tracks, begin, end) for pull in built.pulls]
    if built.flesh and built.flesh.quasistatic:
        nodes = built.flesh.quasistatic.part.nodes
        is_fixed[nodes] = True
        target[nodes] = ahead.at(end) if ahead else state.x[nodes]
    return Boundary(is_fixed if is_fixed.any() else None, target, Points.together(*springs), pinned)
