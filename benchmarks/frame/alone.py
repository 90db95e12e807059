# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps by conjugate gradients with block Jacobi, where a number of iterations is what they are compared by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sinew.solver.integrators import system


@contextmanager
def block_jacobi_alone() -> Iterator[None]:
    """Lets no multigrid take over the systems of steps meanwhile."""
    before, system.stands_by = system.stands_by, lambda *_: None
    try:
        yield
    finally:
        system.stands_by = before
