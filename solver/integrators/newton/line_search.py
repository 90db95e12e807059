# SPDX-License-Identifier: GPL-3.0-or-later
"""Line search of a Newton iteration: a step length for every body, so that its incremental potential falls.

With the velocities v at the end of a step, x = x0 + Δt v, bodies seek the minimum of

    Φ(v) = ½ (v − v0)ᵀ M (v − v0) + Ψ(x) + (what is quadratic in v: damping, springs, contacts, loads),

whose gradient is −r, with r the residual of the step's equation. r − Δt f, without the forces of flesh, is linear in
v. So its values at the two ends of a step δ give the quadratic part of Φ along all of δ, and only Ψ is evaluated in
between. Every body has a step length of its own, as if it were alone. Bodies that touch each other have one potential,
and one step length (`line_search_groups.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...mechanics.armijo_backtracking import falls_enough, shorter_step
from ...runtime.arrays import Floats

ENERGY_ROUND_OFF = 1.0e-10  # of the terms of Φ: a smaller rise is round-off
MIN_STEP_LENGTH = 1.0e-8


def step_lengths(
    slope: Floats,
    before: Floats,
    after: Floats,
    energy: Floats,
    at_end: Floats,
    energies: Callable[[Floats], Floats],
    noise: Floats | float = 0.0,
) -> Floats:
    """Returns the step length of k bodies along δ, 1 where that is good enough; 0 where none is.

    Args:
        slope: δ·r at the begin, (k,) [J].
        before, after: δ·(r − Δt f) at the begin and at the end of δ [J], (k,).
        energy, at_end: Ψ there [J], (k,).
        energies: Returns Ψ [J], (k,), for step lengths, (k,).
        noise: Round-off in Ψ [J], (k,).
    """
    s, found = np.ones(len(slope)), at_end
    while True:
        linear = s * before + 0.5 * s * s * (after - before)
        change = found - energy - linear
        no_rise = noise + ENERGY_ROUND_OFF * (np.abs(energy) + np.abs(linear))
        bad = ~falls_enough(0.0, change, s, slope, no_rise) & (s > 0.0)
        if not bad.any():
            return s
        shorter = shorter_step(s, slope, change + s * slope)
        s = np.where(bad, np.where(shorter >= MIN_STEP_LENGTH, shorter, 0.0), s)
        found = energies(s)
