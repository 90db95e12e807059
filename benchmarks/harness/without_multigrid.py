# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps by conjugate gradients with block Jacobi, where a number of iterations is what they are compared by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sinew.solver.integrators.system import solve_system


@contextmanager
def without_multigrid() -> Iterator[None]:
    """Lets no multigrid take over the systems of steps meanwhile."""
    before, solve_system.choose_multigrid = solve_system.choose_multigrid, lambda *_: None
    try:
        yield
    finally:
        solve_system.choose_multigrid = before
