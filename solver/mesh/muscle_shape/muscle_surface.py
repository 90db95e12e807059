# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of a muscle from what an artist has drawn: points from bone to bone, a profile, and obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats
from ..geometry.signed_distance_interface import SignedDistance
from .framed_curve import FramedCurve, framed_curve
from .obstacle_avoidance import move_curve_outside, shrink_outside
from .profile import MuscleProfile
from .swept_surface import STATIONS, Sections, SweptSurface, swept_surface


@dataclass(frozen=True, eq=False)
class DrawnMuscle:
    """A muscle as it is drawn.

    Attributes:
        points: From origin to insertion [m], (k, 3).
        facing: Direction of its thickness in the middle, as away from the bones, (3,).
        roll: Turns it about the curve from there [rad].
        profile: How wide and thick it is.
        heads: Number of origins.
        gap: Distance that it keeps from obstacles [m].
    """

    points: Floats
    facing: Floats
    profile: MuscleProfile
    roll: float = 0.0
    heads: int = 1
    gap: float = 0.0


@dataclass(frozen=True, eq=False)
class MuscleSurface:
    """The surface of a drawn muscle.

    Attributes:
        surface: Closed.
        length: Of its curve [m].
    """

    surface: SweptSurface
    length: float


def muscle_surface(drawn: DrawnMuscle, obstacles: Sequence[SignedDistance] = ()) -> MuscleSurface | None:
    """Returns the surface of a drawn muscle outside obstacles, or None where fewer than two points are apart."""
    curve = _curve(drawn, drawn.points)
    if curve is None:
        return None
    if obstacles:
        moved = move_curve_outside(_sections(drawn, curve), obstacles, drawn.gap)
        curve = _curve(drawn, moved)
        if curve is None:
            return None
    surface = swept_surface(_sections(drawn, curve).fitted_to_bends(), drawn.heads)
    if obstacles:
        surface = replace(surface, vertices=shrink_outside(surface, obstacles, drawn.gap))
    return MuscleSurface(surface, curve.length)


def _curve(drawn: DrawnMuscle, points: Floats) -> FramedCurve | None:
    curve = framed_curve(points, STATIONS, drawn.facing)
    return curve if curve is None or drawn.roll == 0.0 else curve.rolled(drawn.roll)


def _sections(drawn: DrawnMuscle, curve: FramedCurve) -> Sections:
    along = np.linspace(0.0, 1.0, len(curve.points))
    return Sections(curve, *drawn.profile.half_extents(along, curve.length))
