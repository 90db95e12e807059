# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid against block Jacobi on bent bars of jittered tets, solved to a relative residual of 1e-6.

How long either takes is `make bench ARGS=multigrid`.

python -m pytest -s tests/validate_multigrid.py
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from harness.bent_bar import bent_bar
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.multigrid.lattice_multigrid import LatticeMultigrid
from sinew.solver.linalg.pcg import solve
from sinew.solver.runtime.threads.thread_count import set_thread_count

SECTION = "Multigrid"
TOLERANCE = 1.0e-6


def residual(model, values, b, is_free, x):
    """Returns ‖b − A x‖ / ‖b‖ over the free nodes, by other code."""
    p = model.pattern
    rows = np.repeat(np.arange(model.node_count), np.diff(p.row_start.astype(int)))
    product = np.zeros_like(b)
    np.add.at(product, rows, np.einsum("bij,bj->bi", values.reshape(-1, 3, 3), x[p.column]))
    return np.linalg.norm((b - product)[is_free]) / np.linalg.norm(b[is_free])


@pytest.mark.parametrize(
    "across, nu, is_compared", [(17, 0.45, True), (17, 0.49, True), (27, 0.45, True), (27, 0.49, False)]
)
def test_multigrid_against_block_jacobi(across, nu, is_compared):
    model, values, b, is_free = bent_bar(across, nu)
    p, size = model.pattern, f"{model.tet_count // 1000}K tets, ν {nu:g}"
    x = np.zeros_like(b)
    solved = solve(
        BlockSystem(p, values, b, is_free),
        x,
        StoppingCriteria(TOLERANCE, 20000),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert solved.converged
    reach(SECTION, f"{size}: true relative residual", residual(model, values, b, is_free, x), 1.01e-6,
          residual(model, values, b, is_free, x) <= 1.01 * TOLERANCE)  # fmt: skip
    bound = 60 if nu == 0.49 else 30
    reach(SECTION, f"{size}: iterations", solved.iterations, f"{bound}", solved.iterations <= bound)
    if is_compared:
        other = np.zeros_like(b)
        assert solve(BlockSystem(p, values, b, is_free), other, StoppingCriteria(TOLERANCE, 20000)).converged
        off = float(np.abs(x - other).max() / np.abs(other).max())
        reach(SECTION, f"{size}: off from block Jacobi's solution", off, 1e-4, off <= 1e-4)


def test_one_thread_and_all_give_the_same_bits():
    model, values, b, is_free = bent_bar(17, 0.45)
    results = []
    for threads in (1, None):
        set_thread_count(threads)
        x = np.zeros_like(b)
        solve(
            BlockSystem(model.pattern, values, b, is_free),
            x,
            StoppingCriteria(TOLERANCE, 100),
            preconditioner=LatticeMultigrid(model.X),
        )
        results.append(x.tobytes())
    same = results[0] == results[1]
    reach(SECTION, "98K tets: one thread and all give the same bits", "same" if same else "not", "same", same)
