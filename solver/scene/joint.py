# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint: how one body may move against another one, or against the world or something animated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import OneOf, Shape, at_least, finite_number, greater_than, shape, shape_or_empty
from .serialisation.sequence_coercion import convert_sequences

FIXED_JOINT, POINT_JOINT, HINGE_JOINT, SLIDER_JOINT, GENERIC_JOINT = "fixed", "point", "hinge", "slider", "generic"
MOTOR_JOINT = "motor"
JOINT_KINDS = (FIXED_JOINT, POINT_JOINT, HINGE_JOINT, SLIDER_JOINT, GENERIC_JOINT, MOTOR_JOINT)
# rows of limits: translation along x, y and z of the frame, then the angles about these
AXIS_COUNT = 6
UNLIMITED = 1.0e20  # a limit from which on there is none
SLIDER_ROW, HINGE_ROW = 0, 5  # a slider moves along x, a hinge turns about z, as in Blender
MOTOR_ROWS = (0, 3)  # a motor drives along x and about x

_LIMITS: Shape = shape(AXIS_COUNT)


@dataclass(frozen=True)
class Joint:
    """A joint between two ends, each a body that is rigid or has a Rigid Core, or "": the world.

    The frame is fixed to both ends in the rest pose; of the world it moves with the track "joint.KEY.matrix". With
    d the origin of the second end's frame in the first one's, and R_x(α) R_y(β) R_z(γ) the turn of the second frame
    in the first one, the six coordinates are d_x, d_y, d_z [m], α, β, γ [rad]: zero in the rest pose, but for
    `second_turn`.

    Tracks: "joint.KEY.matrix" (4, 4): world [m] ← the frame of the end "", instead of `frame`, without scale.
        "joint.KEY.enabled" (): instead of `is_enabled`, on from ½ on.

    Attributes:
        first, second: Keys of bodies; one may be "".
        kind: Of `JOINT_KINDS`: "fixed" locks all six, "point" the first three; "hinge" leaves γ free, within its
            limits, "slider" d_x; of "generic" the limits decide alone; "motor" locks nothing.
        frame: World [m] ← frame in the rest pose, (4, 4), without scale.
        lower, upper: Limits of the coordinates, (6,); equal ones lock, ∓`UNLIMITED` leave free.
        motor_speed: Wanted rates of d_x [m/s] and of α [rad/s], of "motor".
        motor_force: Largest force [N] and torque [N m] to reach them; 0: none.
        spring_stiffness: Of springs that draw the coordinates of "generic" to zero [N/m, N m/rad], (6,).
        spring_damping: Of these [N s/m, N m s/rad], (6,).
        breaking_force: Force [N] above which the joint is gone for good; None: never.
        is_enabled: Whether it acts.
        collides: Whether the two ends also collide.
        second_turn: R of the second end's frame in the first one's in the rest pose, (3, 3), whose angles the
            coordinates begin with; (0, 3): they begin at zero.
    """

    first: str
    second: str
    kind: Annotated[str, OneOf(JOINT_KINDS)] = FIXED_JOINT
    frame: Annotated[Floats, shape(4, 4)] = field(default_factory=lambda: np.eye(4))
    key: str = "joint"
    name: str = "Joint"
    lower: Annotated[Floats, _LIMITS] = field(default_factory=lambda: np.full(AXIS_COUNT, -UNLIMITED, float))
    upper: Annotated[Floats, _LIMITS] = field(default_factory=lambda: np.full(AXIS_COUNT, UNLIMITED, float))
    motor_speed: tuple[Annotated[float, finite_number()], Annotated[float, finite_number()]] = (0.0, 0.0)
    motor_force: tuple[Annotated[float, at_least(0.0)], Annotated[float, at_least(0.0)]] = (0.0, 0.0)
    spring_stiffness: Annotated[Floats, _LIMITS] = field(default_factory=lambda: np.zeros(AXIS_COUNT))
    spring_damping: Annotated[Floats, _LIMITS] = field(default_factory=lambda: np.zeros(AXIS_COUNT))
    breaking_force: Annotated[float, greater_than(0.0, "Breaking Force", "N")] | None = None
    is_enabled: bool = True
    collides: bool = False
    second_turn: Annotated[Floats, shape_or_empty(3, 3)] = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def ends(self) -> tuple[str, str]:
        """Keys of both ends."""
        return self.first, self.second

    def second_frame(self, frame: Floats) -> Floats:
        """Returns the frame of the second end in the rest pose, (4, 4), where that of the first one is `frame`."""
        if not len(self.second_turn):
            return frame
        turned = frame.copy()
        turned[:3, :3] = frame[:3, :3] @ self.second_turn
        return turned

    def springs(self) -> tuple[Floats, Floats]:
        """Returns stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad] of the coordinates, (6,) each."""
        acts = self.kind == GENERIC_JOINT
        return acts * self.spring_stiffness, acts * self.spring_damping

    def limits(self) -> tuple[Floats, Floats]:
        """Returns the least and the largest values of the coordinates by kind and limits, (6,) each."""
        if self.kind == MOTOR_JOINT:
            return np.full(AXIS_COUNT, -np.inf, float), np.full(AXIS_COUNT, np.inf, float)
        low = np.where(self.lower <= -UNLIMITED, -np.inf, self.lower)
        high = np.where(self.upper >= UNLIMITED, np.inf, self.upper)
        is_locked = np.zeros(AXIS_COUNT, bool)
        if self.kind == POINT_JOINT:
            is_locked[:3] = True
            low[3:], high[3:] = -np.inf, np.inf
        elif self.kind != GENERIC_JOINT:
            is_locked[:] = True
            if self.kind != FIXED_JOINT:
                is_locked[HINGE_ROW if self.kind == HINGE_JOINT else SLIDER_ROW] = False
        low[is_locked] = high[is_locked] = 0.0
        return low, high
