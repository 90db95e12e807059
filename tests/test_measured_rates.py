# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of block Jacobi and multigrid goes on: the one that arrives, by the rates that were measured."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.linalg.block_system import StoppingCriteria
from sinew.solver.linalg.convergence_rate import MULTIGRID_WINDOW
from sinew.solver.linalg.multigrid.preconditioner_rates import (
    CYCLE_COST,
    CYCLES_BEFORE_DOUBT,
    DOUBTFUL_CYCLE_RATE,
    MeasuredRates,
)

STOPPING = StoppingCriteria(1.0e-4, 400)


def test_block_jacobi_does_not_go_on_where_it_would_not_arrive():
    rates = MeasuredRates()
    assert rates.jacobi_rate_check(STOPPING, 25.0).min_rate == np.inf  # multigrid takes over as soon as it may
    rates.note_multigrid(0.066, is_slow=True)
    check = rates.jacobi_rate_check(STOPPING, 25.0)
    assert check.min_rate * STOPPING.max_iterations >= np.log(1.0 / STOPPING.tolerance)
    rates.note_multigrid(0.9, is_slow=True)
    assert rates.jacobi_rate_check(STOPPING, 25.0).min_rate == pytest.approx(0.5 * 0.9 / CYCLE_COST)


def test_multigrid_is_doubted_later_where_block_jacobi_was_not_measured():
    rates = MeasuredRates()
    check = rates.multigrid_rate_check()
    assert (check.min_rate, check.record[4]) == (DOUBTFUL_CYCLE_RATE, CYCLES_BEFORE_DOUBT)
    rates.jacobi = 0.02
    check = rates.multigrid_rate_check()
    assert (check.min_rate, check.record[4]) == (CYCLE_COST * 0.02, MULTIGRID_WINDOW)
