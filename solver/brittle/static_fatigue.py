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

import math
from collections.abc import Sequence

from .hertz_impact import HertzImpact
from .impact_energy import ImpactEnergy

EXPONENT = 20.0
TEST_DURATION = 5.0  # t₀ [s]


def strength_gain(duration: float) -> float:
    """Returns σ / σ₀, at least 1, for a load that lasts so long at its peak [s], above 0."""
    return max(TEST_DURATION / duration, 1.0) ** (1.0 / EXPONENT)


def impact_strength_gain(impacts: Sequence[HertzImpact], energy: ImpactEnergy) -> float:
    """Returns how much more than its breaking stress a piece bears for as short as hits press on it."""
    motion = sum(0.5 * impact.mass * impact.speed**2 for impact in impacts)
    if not motion > 0.0 or not energy.budget > 0.0:
        return 1.0
    at_begin = math.sqrt(energy.budget / motion)  # they were as much faster when nothing was stored
    power = at_begin * sum(impact.peak_force * impact.speed for impact in impacts)
    return strength_gain(energy.equivalent_duration(power, EXPONENT))


def rigid_strength_gain(impacts: Sequence[HertzImpact]) -> float:
    """Returns the same of a piece that does not give way, where hits begin to press on it.

    One that gives way is pressed on for longer, and so bears less for its time; but its load, a share s of their peaks,
    falls by more than that: s over the gain grows with s. So where the peaks are below this gain times what breaks it
    slowly, it stays whole.
    """
    total = sum(impact.energy for impact in impacts)
    return impact_strength_gain(impacts, ImpactEnergy(total, total, 0.0))


def may_break(force: float, energy: float, least_speed: float, safe: float) -> bool:
    """Whether hits of which little is known could break a piece that bears a force slowly.

    With peaks F, speeds v and the energy B of all hits, a rigid piece bears more by ((t₀ Σ F v) / (4 B c))^(1/n), where
    Σ F v ≥ v_min Σ F. So Σ F breaks it only where (Σ F)^(1 − 1/n) is more than what follows from B and v_min, and if
    the largest Σ F that there may be does not, no smaller one does.

    Args:
        force: At least the sum of the peaks of all hits [N].
        energy: At least their energy of motion [J].
        least_speed: At most the speed of the slowest [m/s], above 0.
        safe: What the piece bears for as long as a test takes [N].
    """
    if not force > safe:
        return False
    duration = ImpactEnergy(energy, energy, 0.0).equivalent_duration(least_speed * force, EXPONENT)
    return force > strength_gain(duration) * safe
