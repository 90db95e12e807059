# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast block Jacobi and multigrid lower the residuals of a frame, per cost: the faster goes on.

A rate is by how much ln(‖r‖ / ‖b‖) falls (`linalg/convergence_rate.py`); costs count in iterations of block Jacobi,
never in seconds. Multigrid is slow where its coarse levels resist motions that the mesh bears easily: in tets that
resist changes of volume 75 times as much as of shape a cycle brings as much as two iterations of block Jacobi, at the
price of five.
"""

from __future__ import annotations

import numpy as np

from ..block_system import StoppingCriteria
from ..convergence_rate import RateCheck

CYCLE_COST = 5  # of a cycle and what belongs to it, in iterations of block Jacobi
# Fall per cycle from which on multigrid is beyond doubt where block Jacobi had no time to be measured.
# Healthy cycles have 0.4 to 1.2, and those of nearly incompressible bodies without masses, ν = 0.49, 0.2
DOUBTFUL_CYCLE_RATE = 0.1
# Cycles before that is asked: beams of 100 MPa lose little in the first ten of some steps, and arrive in thirty
CYCLES_BEFORE_DOUBT = 20
# Cycles that cost less than the iterations which block Jacobi loses when it begins anew
MAX_CYCLES_LEFT = 5
# Of the rate of a slow multigrid: at less block Jacobi makes room for it again in the same frame. They
# vary from step to step, and each change costs iterations
RETURN_SHARE = 0.5
# Times the iterations that block Jacobi would take with its rate: since it begins anew, it takes more
ITERATIONS_RESERVE = 2.0


class MeasuredRates:
    """What was measured in a frame, or in one solve; whoever begins a frame forgets it.

    Attributes:
        jacobi: Fall per iteration of block Jacobi, where multigrid took over from it; None: not measured.
        multigrid: The same of multigrid, where it was so slow that block Jacobi comes first in the next solve; None: it
            was not.
    """

    def __init__(self) -> None:
        """Begins with nothing."""
        self.jacobi: float | None = None
        self.multigrid: float | None = None

    def forget(self) -> None:
        """Forgets what was measured."""
        self.jacobi = self.multigrid = None

    def jacobi_rate_check(self, stopping: StoppingCriteria, max_left: float) -> RateCheck:
        """Returns when block Jacobi makes room for multigrid: not where that was slower, or where so few are left.

        A slow multigrid arrives; block Jacobi at a rate at which it would not, in the iterations allowed, is slower.
        """
        if self.multigrid is None:
            return RateCheck.of_block_jacobi(np.inf, max_left)
        arrives = -ITERATIONS_RESERVE * np.log(stopping.tolerance) / max(stopping.max_iterations, 1)
        return RateCheck.of_block_jacobi(max(RETURN_SHARE * self.multigrid, arrives), max_left)

    def multigrid_rate_check(self) -> RateCheck:
        """Returns when multigrid hands back: where block Jacobi was faster."""
        if self.jacobi is None:
            return RateCheck.of_multigrid(DOUBTFUL_CYCLE_RATE, MAX_CYCLES_LEFT, CYCLES_BEFORE_DOUBT)
        return RateCheck.of_multigrid(CYCLE_COST * self.jacobi, MAX_CYCLES_LEFT)

    def is_in_reach(self, residual: float, tolerance: float, iterations: int) -> bool:
        """Whether block Jacobi would get from a residual to the tolerance in so many iterations."""
        return self.jacobi is None or ITERATIONS_RESERVE * np.log(residual / tolerance) < iterations * self.jacobi

    def note_multigrid(self, rate: float, is_slow: bool) -> None:
        """Takes note of what multigrid did, by its rate per cycle, and whether block Jacobi was faster."""
        self.multigrid = rate / CYCLE_COST if is_slow or rate < DOUBTFUL_CYCLE_RATE else None
