# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients beside a factor of tied nodes: the solution, and iterations that do not grow with the springs."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.block_systems import dense, islands, spread
from fixtures.tet_meshes import bar
from sinew.solver.linalg.block_pattern import BlockPattern
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.pattern_union import widen_pattern
from sinew.solver.linalg.pcg import solve
from sinew.solver.linalg.schwarz_preconditioner import SchwarzPreconditioner
from sinew.solver.runtime.arrays import Bools, Floats, floats


def tied_bars(stiffness: float) -> tuple[BlockPattern, Floats, Bools]:
    """Returns the matrix of two bars of which a fifth of the nodes are tied to those of the other by springs [N/m]."""
    _, tets = bar((6, 2, 2), (3.0, 1.0, 1.0))
    bars = islands(2, tets)
    count = bars.node_count // 2
    first = np.arange(0, count, 5)
    second = first + count
    wide = widen_pattern(bars, np.concatenate([first, second]), np.concatenate([second, first]))
    values = np.zeros((wide.pattern.block_count, 9))
    wide.scatter(spread(bars), values)
    values[wide.added_blocks] -= stiffness * np.eye(3).ravel()
    values[wide.pattern.diagonal[np.concatenate([first, second])]] += stiffness * np.eye(3).ravel()
    is_tied = np.zeros(2 * count, bool)
    is_tied[first] = is_tied[second] = True
    return wide.pattern, values, is_tied


@pytest.mark.parametrize("stiffness", [1.0e3, 1.0e8])
def test_the_solution_is_that_of_numpy_in_as_few_iterations_whatever_the_springs(stiffness: float) -> None:
    pattern, values, is_tied = tied_bars(stiffness)
    rng = np.random.default_rng(0)
    is_free = np.ones(pattern.node_count, bool)
    is_free[rng.choice(pattern.node_count, 6, replace=False)] = False
    b, x = rng.normal(size=(2, pattern.node_count, 3))
    A, free = dense(pattern, values), np.repeat(is_free, 3)
    wanted = x.ravel().copy()
    rest = b.ravel()[free] - A[np.ix_(free, ~free)] @ wanted[~free]
    wanted[free] = np.linalg.solve(A[np.ix_(free, free)], rest)
    system = BlockSystem(pattern, values, b, is_free)
    found = solve(system, x, StoppingCriteria(1e-10, 2000), preconditioner=SchwarzPreconditioner(is_tied))
    assert found.converged and found.iterations < 150
    assert x.ravel() == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())


def test_what_cannot_be_factorised_is_left_to_block_jacobi() -> None:
    pattern, values, is_tied = tied_bars(10.0)
    b = floats(np.random.default_rng(0).normal(size=(pattern.node_count, 3)))
    is_free = ~is_tied
    x = np.zeros_like(b)
    found = solve(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-8, 4000),
                  preconditioner=SchwarzPreconditioner(is_tied))  # fmt: skip
    assert found.converged and not x[is_tied].any()
