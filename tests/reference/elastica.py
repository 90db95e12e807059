# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler's elastica under its own weight."""

from __future__ import annotations

import numpy as np
import scipy.integrate

from sinew.solver.runtime.arrays import Floats


def elastica(length: float, rigidity: float, load: float) -> Floats:
    """Returns where the tip of a cantilever is that its own weight bends down [m], (2,): E I θ″ = −w (l − s) cos θ.

    Args:
        length: l [m].
        rigidity: E I [N m²].
        load: w [N/m].
    """
    s = np.linspace(0.0, length, 200)
    found = scipy.integrate.solve_bvp(
        lambda s, y: np.stack([y[1], -load * (length - s) * np.cos(y[0]) / rigidity]),
        lambda begin, end: np.array([begin[0], end[1]]),
        s,
        np.zeros((2, len(s))),
        tol=1.0e-10,
        max_nodes=200_000,
    )
    assert found.status == 0
    fine = np.linspace(0.0, length, 20_001)
    angle = found.sol(fine)[0]
    return np.array([np.mean(np.cos(angle)), -np.mean(np.sin(angle))]) * length
