# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose, while other bodies take steps: on its way from one sample to the next.

It is brought to rest at a sample before the steps to there are taken, and its nodes go there in straight lines. If it
stood still and then jumped, what lies on it would be inside it, where no contact has seen it go in.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.arrays import Floats
from .simulated_scene import SimulatedScene


@dataclass(frozen=True, eq=False)
class PoseInterpolation:
    """Where flesh is going.

    Attributes:
        begin, end: Times of the samples before and after [s].
        start, x: Where its nodes are at these [m], (n, 3) each.
        v: Their velocities at the end [m/s], (n, 3).
    """

    begin: float
    end: float
    start: Floats
    x: Floats
    v: Floats

    def positions_at(self, time: float) -> Floats:
        """Returns where its nodes are at a time [s], (n, 3) in metres."""
        return self.start + (time - self.begin) / (self.end - self.begin) * (self.x - self.start)


def begin_interpolation(
    simulation: SimulatedScene, start: Floats, begin: float, end: float
) -> PoseInterpolation | None:
    """Takes flesh that has been brought to rest at `end` [s] back to where it was at `begin`, `start` [m], (N, 3).

    Returns where it is going, or None where there is no such flesh.
    """
    flesh, state = simulation.built.flesh, simulation.state
    if flesh is None or flesh.quasistatic is None:
        return None
    nodes = flesh.quasistatic.part.nodes
    path = PoseInterpolation(begin, end, start[nodes], state.x[nodes], state.v[nodes])
    state.x[nodes] = path.start
    return path


def finish_interpolation(simulation: SimulatedScene, path: PoseInterpolation | None) -> None:
    """Puts flesh where its path ends, to the last digit."""
    flesh, state = simulation.built.flesh, simulation.state
    if path is not None and flesh is not None and flesh.quasistatic is not None:
        nodes = flesh.quasistatic.part.nodes  # others may have broken meanwhile
        state.x[nodes], state.v[nodes] = path.x, path.v
