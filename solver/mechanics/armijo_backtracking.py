# SPDX-License-Identifier: GPL-3.0-or-later
"""Backtracking of line searches: the Armijo condition, and the shorter step where it does not hold.

A step of length s along a direction in which a potential Φ falls by g per length is accepted where Φ(s) − Φ(0) is at
most −`ARMIJO_FACTOR` · s g and what round-off may add. Source: Nocedal and Wright 2006, sections 3.1 and 3.5.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from ..runtime.arrays import Bools, Floats

ARMIJO_FACTOR = 1.0e-4  # share of the slope by which a potential has to fall
MIN_STEP_RATIO, MAX_STEP_RATIO = 0.1, 0.5  # length of the shorter step over that of the one before


@overload
def falls_enough(before: float, after: float, length: float, slope: float, rounding: float) -> bool: ...
@overload
def falls_enough(before: float | Floats, after: Floats, length: Floats, slope: Floats, rounding: Floats) -> Bools: ...
def falls_enough(
    before: float | Floats,
    after: float | Floats,
    length: float | Floats,
    slope: float | Floats,
    rounding: float | Floats,
) -> bool | Bools:
    """Returns whether a step meets the Armijo condition, Φ(s) ≤ Φ(0) − `ARMIJO_FACTOR` · s g + rounding.

    Args:
        before, after: Φ(0) and Φ(s) [J]; no step meets it where Φ(s) is not a number.
        length: Of the step, s.
        slope: By which Φ falls per length at the start, g [J].
        rounding: By how much Φ may seem to rise by round-off [J].
    """
    return after <= before - ARMIJO_FACTOR * length * slope + rounding


@overload
def shorter_step(length: float, slope: float, rise: float) -> float: ...
@overload
def shorter_step(length: Floats, slope: Floats, rise: Floats) -> Floats: ...
def shorter_step(length: float | Floats, slope: float | Floats, rise: float | Floats) -> float | Floats:
    """Returns the step length at the lowest point of the parabola through what is known, within bounds.

    Args:
        length: Of the step that is too long, s.
        slope: By which Φ falls per length at the start, g [J].
        rise: Of Φ above its tangent, Φ(s) − Φ(0) + s g [J]; infinite or not a number where Φ has no value.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lowest = np.divide(0.5 * slope * length * length, rise)
    lowest = np.where((rise > 0.0) & (rise < np.inf), lowest, 0.0)
    return np.clip(lowest, MIN_STEP_RATIO * length, MAX_STEP_RATIO * length)
