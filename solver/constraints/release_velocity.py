# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity of an animated body at the end of its samples: that of its centre, its spin, and of its deformation.

With positions y₀ … y_k at times h apart, the centre moves with (c_{i+1} − c_i) / h in the middle of each interval, and
the angular velocity follows from the rotation that fits y_{i+1} − c_{i+1} to y_i − c_i best. Both are extrapolated from
the middle of the last interval to its end by half of their last change, or of the one before where that is less and
points the same way. So steady accelerations are exact, and where a motion starts or stops between keys nothing is
extrapolated. The velocity of the deformation is that of the last interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mesh.rigid_alignment import kabsch_rotation
from ..runtime.arrays import Floats, floats
from .rigid_core.rigid_body_momentum import rotation_vector

SAMPLE_COUNT = 4  # positions that the velocity follows from: three intervals have two changes


@dataclass(frozen=True, eq=False)
class BodyVelocity:
    """The velocity of a body.

    Attributes:
        linear: Of its centre [m/s], (3,).
        spin: ω [rad/s], (3,).
        deformation: What points do besides [m/s], (n, 3).
    """

    linear: Floats
    spin: Floats
    deformation: Floats

    def with_rigid_motion(self, linear: Sequence[float], spin: Sequence[float]) -> BodyVelocity:
        """Returns the velocity with another one of its centre or another spin, where these are not zero."""
        return replace(
            self,
            linear=floats(linear, 3) if any(linear) else self.linear,
            spin=floats(spin, 3) if any(spin) else self.spin,
        )

    def of_points(self, mass: Floats, x: Floats) -> Floats:
        """Returns the velocities of points of masses [kg], (n,), at x [m], (n, 3), in m/s, (n, 3)."""
        return self.linear + np.cross(self.spin, x - mass @ x / mass.sum()) + self.deformation


def animation_velocity(mass: Floats, samples: Sequence[Floats], interval: float) -> BodyVelocity:
    """Returns the velocity at the last sample; none for a single one.

    Args:
        mass: Of the points [kg], (n,).
        samples: Positions [m], (n, 3) each, the last `SAMPLE_COUNT` or fewer.
        interval: h between them, in the time in which the velocity counts [s].
    """
    if len(samples) < 2 or not interval > 0.0:
        return BodyVelocity(np.zeros(3), np.zeros(3), np.zeros_like(samples[-1]))
    centres = [mass @ y / mass.sum() for y in samples]
    arms = [y - centre for y, centre in zip(samples, centres, strict=True)]
    rotations = [kabsch_rotation((mass[:, None] * b).T @ a) for a, b in zip(arms[:-1], arms[1:], strict=True)]
    deformation = (arms[-1] - arms[-2] @ rotations[-1].T) / interval
    linear = _at_end([b - a for a, b in zip(centres[:-1], centres[1:], strict=True)])
    spin = _at_end([rotation_vector(R) for R in rotations])
    return BodyVelocity(linear / interval, spin / interval, floats(deformation))


def _at_end(middles: list[Floats]) -> Floats:
    """Returns what rates in the middles of intervals, (3,) each, come to at the end of the last interval."""
    if len(middles) < 3:
        return middles[-1]
    last, before = middles[-1] - middles[-2], middles[-2] - middles[-3]
    if last @ before <= 0.0:
        return middles[-1]
    return middles[-1] + 0.5 * min(last, before, key=np.linalg.norm)
