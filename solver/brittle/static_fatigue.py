# SPDX-License-Identifier: GPL-3.0-or-later
"""Static fatigue: what glass, ceramics and stone bear before they crack, for as short as an impact takes.

Flaws in them grow slowly under a load that breaks nothing at once, at a speed that goes by the n-th power of stress. So
a load breaks a body when ∫ σⁿ dt has come to what its strength σ₀ in a test of duration t₀ gives, and a load that lasts
t at its peak may be

    σ = σ₀ (t₀ / t)^(1/n).

n is 16 to 20 for soda-lime glass, and 20 to 60 for ceramics and rocks; in a test of seconds they bear σ₀, in a tenth of
a millisecond glass bears 1.7 times as much. Toughness stays as it is: cracks that run do not wait for flaws to grow.

Source: Charles (1958); Wiederhorn and Bolz (1970); Atkinson (1984) for rocks; CEN (2019) for t₀ of glass.
"""

from __future__ import annotations

EXPONENT = 20.0
TEST_DURATION = 5.0  # t₀ [s]


def strength_gain(duration: float) -> float:
    """Returns σ / σ₀, at least 1, for a load that lasts so long at its peak [s], above 0."""
    return max(TEST_DURATION / duration, 1.0) ** (1.0 / EXPONENT)
