# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that push surfaces apart which are closer than a gap.

Each is a function β of s = distance / gap without unit: 0 for s ≥ 1, convex, falling. An area A has the energy
A κ gap β(s) with a stiffness κ [Pa], so it is pressed apart by the pressure −κ β'(s), whatever the gap.

- Logarithmic: −(1 − s)² ln s, without limit at s = 0.
- Cubic: ⅔ (1 − s)³. It is finite, so κ has to grow where bodies are pressed.
- Two-stage: ½ (1 − s)² down to s = ½, then ⅛ − ¼ ln 2s, with two continuous derivatives: a spring, then a logarithm.

Source: Li et al. (2020); Ando (2024); Chen et al. (2025).
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

LOGARITHMIC, CUBIC, TWO_STAGE = range(3)


@kernel()
def barrier(kind, s):
    """Returns β(s), β'(s) and β''(s) of a kind of barrier at s > 0."""
    if s >= 1.0:
        return 0.0, 0.0, 0.0
    rest = 1.0 - s
    if kind == CUBIC:
        return 2.0 / 3.0 * rest * rest * rest, -2.0 * rest * rest, 4.0 * rest
    if kind == TWO_STAGE:
        if s >= 0.5:
            return 0.5 * rest * rest, -rest, 1.0
        return 0.125 - 0.25 * math.log(2.0 * s), -0.25 / s, 0.25 / (s * s)
    log = math.log(s)
    ratio = rest / s
    return -rest * rest * log, 2.0 * rest * log - rest * ratio, -2.0 * log + 4.0 * ratio + ratio * ratio
