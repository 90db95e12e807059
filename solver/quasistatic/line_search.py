# SPDX-License-Identifier: GPL-3.0-or-later
"""Line search of Newton's method along a direction d, where a step of length 1 is d itself.

Where forces belong to an energy, a step has to lower it. The constant extension has none below its threshold. There,
and while a tangle is undone, the step is never shorter than 1, and longer where forces at x + d still push on: up to
where they would vanish along d if they changed evenly, and at most `MAX_EXTRAPOLATION`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..mechanics.armijo_backtracking import falls_enough, shorter_step
from ..runtime.arrays import Floats

MAX_EXTRAPOLATION = 4.0
ENERGY_ROUND_OFF = 1.0e-12  # of the energy: what is no rise
CANCELLATION_ROUND_OFF = 1.0e-15  # of V (2 μ + λ): what terms of energies that cancel at rest leave
MAX_BACKWARD_SLOPE_RATIO, MAX_FORWARD_SLOPE_RATIO = (
    0.5,
    0.7,
)  # forces at the end of a step, in those at its beginning, that change its length
MAX_EVALUATIONS = 5
MAX_STEP_LENGTH = 16.0
MIN_STEP_LENGTH = 1.0e-6


def secant_step_length(slope: float, beyond: float) -> float:
    """Returns the length of a step for the forces along d, f·d, at x and at x + d."""
    if not beyond < slope:  # they do not fall, or are no numbers
        return MAX_EXTRAPOLATION if beyond >= slope else 1.0
    return min(max(slope / (slope - beyond), 1.0), MAX_EXTRAPOLATION)


class SlopeBracket:
    """Finds the end of a step at which forces hardly push on, nor back.

    Contacts that are looked for anew at the end of a step may push back harder than those before it told, as where
    a point has slid from one side of a crease to the other; two such steps end where they began. And where a fold
    forms, forces push on as if no step had been made: the clamped tangent is much stiffer than the body.

    Attributes:
        length: Of the step now.
    """

    def __init__(self, slope: float, length: float) -> None:
        """`slope`: f·d at the beginning [J]."""
        self.slope, self.length = slope, length
        self.low, self.high = (0.0, slope), (np.inf, 0.0)
        self.looks = 0

    def narrow(self, beyond: float) -> bool:
        """Takes f·d at the end of the step [J] and sets a new length; returns whether it is another."""
        if self.looks == MAX_EVALUATIONS or not self.slope > 0.0:
            return False
        if beyond < -MAX_BACKWARD_SLOPE_RATIO * self.slope:
            self.high = (self.length, beyond)
        elif beyond > MAX_FORWARD_SLOPE_RATIO * self.slope and self.length < MAX_STEP_LENGTH:
            self.low = (self.length, beyond)
        else:
            return False
        (a, f), (b, g) = self.low, self.high
        self.length = 2.0 * self.length if b == np.inf else a + (b - a) * min(max(f / (f - g), 0.1), 0.9)
        self.looks += 1
        return True


def energy_round_off(energies: Floats, moduli: Floats) -> Floats:
    """Returns by how much energies may seem to rise by round-off [J], (k,), for Σ V (2 μ + λ) of the tets [J], (k,)."""
    return ENERGY_ROUND_OFF * np.abs(energies) + CANCELLATION_ROUND_OFF * moduli


def backtracking_step_lengths(
    energies: Floats, slopes: Floats, rounding: Floats, at: Callable[[Floats], Floats], found: Floats | None = None
) -> Floats:
    """Returns the lengths of steps of k groups of bodies that lower the energy of each enough, 0 where none is found.

    Args:
        energies: Ψ of each group at x [J], (k,).
        slopes: f·d = −dΨ of each [J], (k,).
        rounding: Of `energy_round_off` [J], (k,).
        at: Returns Ψ of each at x + length · d [J], (k,), for lengths, (k,); infinite where there is none.
        found: What it returns for lengths of 1, where that is known.
    """
    lengths = np.ones(len(slopes))
    found = at(lengths) if found is None else found
    while True:
        is_long = ~falls_enough(energies, found, lengths, slopes, rounding) & (lengths > 0.0)
        if not is_long.any():
            return lengths
        shorter = shorter_step(lengths, slopes, found - energies + lengths * slopes)
        lengths = np.where(is_long, np.where(shorter >= MIN_STEP_LENGTH, shorter, 0.0), lengths)
        found = at(lengths)
