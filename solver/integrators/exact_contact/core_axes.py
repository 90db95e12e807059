# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores that turn about an axis in the iterates of a step: an axis may move, as colliders and held nodes do.

Where the axis is, is told, so all that an iteration finds of a core is by how much it turns, θ. The axis has gone a
share s of its way, its origin along a line and its direction by a rotation, and a core is at R(s, θ) X + t(s). So no
iterate strains a core or takes it off its axis, and a core whose axis waits turns all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...constraints.rigid_core.rigid_body_momentum import (
    axis_speed,
    core_body,
    hinge_angle,
    hinged_positions,
    rotation_vector,
)
from ...mechanics.finite_rotation_correction import rotation_matrices
from ...mechanics.model import Model
from ...mechanics.rigid_core import AxisMotion, RigidCore
from ...runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class CoreAxes:
    """The axes of a model in a step.

    Attributes:
        model: The bodies; the axes of its cores are those of the step.
        cores: Cores that turn about one.
    """

    model: Model
    cores: tuple[RigidCore, ...]

    @staticmethod
    def of_model(model: Model) -> CoreAxes:
        """Returns the axes of a model."""
        return CoreAxes(model, tuple(core for core in model.cores if core.hinge is not None))

    @property
    def is_still(self) -> bool:
        """Whether no axis moves in the step."""
        return all(core.hinge is None or core.hinge.is_still for core in self.cores)

    def model_between(self, begin: float, end: float) -> Model:
        """Returns the model whose axes go from one share of their way to another in a direction."""
        if self.is_still:
            return self.model
        return replace(self.model, cores=tuple(_core_between(core, begin, end) for core in self.model.cores))

    def carried(self, x: Floats, begin: float, end: float) -> Floats:
        """Returns nodes [m], (n, 3), whose axes have gone from one share of their way to another, and did not turn."""
        return self._turned(x, np.zeros(len(self.cores)), begin, end) if self.cores else x

    def turned(self, x: Floats, d: Floats, begin: float, end: float) -> Floats:
        """Returns a motion of nodes at x [m], (n, 3) each, in which cores turn about their axes by what d begins.

        Args:
            x: Where nodes are, with axes at a share `begin` of their way.
            d: A direction of theirs, with axes that go on to a share `end`.
            begin, end: The shares.
        """
        if not self.cores:
            return d
        angle = np.array([_turn(self.model, _core_between(core, begin, end), x, d) for core in self.cores])
        way, ended = d.copy(), self._turned(x, angle, begin, end)
        for core in self.cores:
            way[core.nodes] = ended[core.nodes] - x[core.nodes]
        return way

    def _turned(self, x: Floats, angle: Floats, begin: float, end: float) -> Floats:
        """Returns nodes [m], (n, 3), whose cores have turned by angles [rad], as their axes went on."""
        out = x.copy()
        for core, turn in zip(self.cores, angle.tolist(), strict=True):
            own, rest = _core_between(core, begin, end), self.model.X[core.nodes]
            now = hinge_angle(own, self.model.mass[core.nodes], rest, x[core.nodes])
            out[core.nodes] = hinged_positions(own, rest, now + turn)
        return out


def axis_between(axis: AxisMotion, begin: float, end: float) -> AxisMotion:
    """Returns how an axis goes from one share of its way in a step to another, in a time of 1."""
    return AxisMotion(axis.rest, _frame_at(axis, begin), _frame_at(axis, end))


def _core_between(core: RigidCore, begin: float, end: float) -> RigidCore:
    return core if core.hinge is None else replace(core, hinge=axis_between(core.hinge, begin, end))


def _frame_at(axis: AxisMotion, share: float) -> Floats:
    """Returns world ← the space of an axis that has gone a share of its way, (4, 4)."""
    if share in (0.0, 1.0):
        return axis.now if share else axis.before
    frame, before, now = np.eye(4), axis.before, axis.now
    way = rotation_vector(now[:3, :3] @ before[:3, :3].T)
    frame[:3, :3] = rotation_matrices(share * way[None])[0] @ before[:3, :3]
    frame[:3, 3] = (1.0 - share) * before[:3, 3] + share * now[:3, 3]
    return frame


def _turn(model: Model, core: RigidCore, x: Floats, d: Floats) -> float:
    """Returns by how much a motion of nodes, (n, 3), turns a core more than its axis does [rad]."""
    assert core.hinge is not None
    _, omega = core_body(model, core, x).motion(d[core.nodes])
    return float(core.hinge.before[:3, 2] @ (omega - axis_speed(core)[1]))
