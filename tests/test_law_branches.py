# SPDX-License-Identifier: GPL-3.0-or-later
"""Every hyperelastic law has a branch of its own, and what is no law gives no numbers instead of those of another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sinew.solver.mechanics.hyperelastic import energy_densities
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS, NO_EXTENSION, WEIGHTED_COROTATED


@pytest.fixture
def derivatives(monkeypatch):
    """Returns ψ and its derivatives of a law at some stretches, without compiling anything."""
    for name in ("taylor_cubic", "rotation_weight"):
        monkeypatch.setattr(energy_densities, name, getattr(energy_densities, name).__wrapped__)
    s, e, j, trace, squares = energy_densities.stretch_sums.__wrapped__(1.2, 1.05, 0.9)
    log = math.log1p(j)

    def evaluate(law):
        power = math.exp(-2.0 / 3.0 * log) if law == LAWS["mooney-rivlin"] else 1.0
        sums = s, e, j, trace, squares
        return energy_densities.energy_derivatives.__wrapped__(law, 2.0, 3.0, 0.25, NO_EXTENSION, sums, j, log, power)

    return evaluate


def test_every_law_has_its_own_branch(derivatives):
    values = {law: derivatives(law) for law in [*LAWS.values(), WEIGHTED_COROTATED]}
    assert np.isfinite(list(values.values())).all()
    assert len(set(values.values())) == len(values)


@pytest.mark.parametrize("law", [-1, max(*LAWS.values(), WEIGHTED_COROTATED) + 1])
def test_what_is_no_law_gives_no_numbers(derivatives, law):
    assert np.isnan(derivatives(law)).all()
