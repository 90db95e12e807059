# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body bears for as short as an impact takes: its equivalent duration, and the strength that follows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

from sinew.solver.brittle.hertz_impact import HertzImpact
from sinew.solver.brittle.impact_energy import ImpactEnergy
from sinew.solver.brittle.static_fatigue import (
    EXPONENT,
    TEST_DURATION,
    impact_strength_gain,
    may_break,
    rigid_strength_gain,
    strength_gain,
)


def duration_by_steps(energy: ImpactEnergy, power: float, exponent: float) -> float:
    """Returns ∫ (s / s_peak)ⁿ dt of an impact, followed in time: v falls as energy is stored."""
    E, U, B = energy.in_contacts, energy.in_piece, energy.budget
    peak = energy.peak_share

    def rate(_: float, y: np.ndarray) -> list[float]:
        s = max(y[0], 1e-12)
        moves = np.sqrt(max(1.0 - energy.stored(s) / B, 0.0))
        return [power * moves / (5.0 / 3.0 * E * s ** (-1.0 / 3.0) + 2.0 * U), (s / peak) ** exponent]

    def at_peak(_: float, y: np.ndarray) -> float:
        return float(y[0] - (1.0 - 1e-7) * peak)

    at_peak.terminal = True  # type: ignore[attr-defined]
    made = scipy.integrate.solve_ivp(rate, (0.0, 1.0), [1e-9, 0.0], events=at_peak, rtol=1e-9, atol=1e-15)
    return 2.0 * float(made.y[1, -1])


@pytest.mark.parametrize(("in_contacts", "in_piece"), [(2.0, 1e-9), (2.0, 0.5), (2.0, 3.0), (2.0, 200.0)])
def test_the_equivalent_duration_is_that_of_the_motion(in_contacts: float, in_piece: float) -> None:
    energy = ImpactEnergy(2.0, in_contacts, in_piece)
    for exponent in (1.0, 16.0, 20.0):
        wanted = duration_by_steps(energy, 5.0e4, exponent)
        # the power law is that near the peak, which is what a large n takes
        bound = 0.05 if exponent == 1.0 else 5e-3
        assert energy.equivalent_duration(5.0e4, exponent) == pytest.approx(wanted, rel=bound)


def test_a_spring_takes_the_time_of_its_half_wave() -> None:
    energy = ImpactEnergy(0.5, 1e-12, 0.5)  # ½ m v² with k = m = v = 1 is all in the piece at s = 1
    assert energy.equivalent_duration(1.0, 2.0) == pytest.approx(np.pi / 2.0, rel=1e-3)  # ∫ sin² over half a wave


def test_glass_bears_more_for_a_short_time_and_never_less() -> None:
    assert strength_gain(TEST_DURATION) == 1.0 == strength_gain(1e6)
    assert strength_gain(1e-4) == pytest.approx((TEST_DURATION / 1e-4) ** (1.0 / EXPONENT))
    assert 1.5 < strength_gain(1e-3) < strength_gain(1e-4) < 2.0


def test_what_a_rigid_piece_bears_a_soft_one_does_too() -> None:
    """A softer piece is loaded for longer, so that it bears less for its time, but its load falls by more."""
    hits = [HertzImpact(2.0e9, 0.3, 1.5), HertzImpact(5.0e8, 0.1, 2.5)]
    total = sum(hit.energy for hit in hits)
    rigid = rigid_strength_gain(hits)
    assert 1.5 < rigid < 2.0
    over = []
    for in_piece in total * np.geomspace(1e-6, 1e6, 40):
        energy = ImpactEnergy(total, total, float(in_piece))
        over.append(energy.peak_share / impact_strength_gain(hits, energy))
    assert over[0] == pytest.approx(1.0 / rigid, rel=1e-5)
    assert (np.diff(over) < 0.0).all()


def test_hits_that_could_break_a_piece_are_never_left_out() -> None:
    """Softer contacts, other speeds and masses: what breaks is told so by the largest force and the least speed."""
    rng = np.random.default_rng(6)
    stiffest, told, broken = 3.0e9, 0, 0
    for _ in range(500):
        speeds, masses = rng.uniform(0.2, 6.0, 3), rng.uniform(0.01, 0.5, 3)
        softer = stiffest * rng.uniform(0.2, 1.0, 3)
        hits = [HertzImpact(*each) for each in zip(softer, masses, speeds, strict=True)]
        largest = [HertzImpact(stiffest, *each) for each in zip(masses, speeds, strict=True)]
        force, energy = sum(hit.peak_force for hit in largest), sum(hit.energy for hit in largest)
        safe = force * rng.uniform(0.1, 1.1)
        breaks = sum(hit.peak_force for hit in hits) > rigid_strength_gain(hits) * safe
        may = may_break(force, energy, speeds.min(), safe)
        assert may or not breaks
        told, broken = told + may, broken + breaks
    assert 50 < broken < told < 400
