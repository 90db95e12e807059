# SPDX-License-Identifier: GPL-3.0-or-later
"""Data derived from frozen objects are kept in them, and solves in several threads share nothing that is written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from fixtures.multigrid_problems import bar_problem
from sinew.solver.linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from sinew.solver.linalg.multigrid.lattice_multigrid import LatticeMultigrid
from sinew.solver.linalg.pcg import MIN_BLOCKS_PER_THREAD, solve
from sinew.solver.linalg.symmetric_spmv import upper_half
from sinew.solver.runtime.frozen_memo import derived, derived_from
from sinew.solver.runtime.threads.thread_count import using_threads


@dataclass(frozen=True, eq=False)
class Numbers:
    values: tuple[int, ...]


calls = []


@derived
def total(numbers: Numbers) -> int | None:
    """Returns the sum."""
    calls.append(numbers.values)
    return sum(numbers.values) or None


def test_a_pure_function_is_computed_once_per_object():
    calls.clear()
    first, same = Numbers((1, 2)), Numbers((1, 2))
    assert [total(first), total(first), total(same), total(replace(first, values=(4,)))] == [3, 3, 3, 4]
    assert calls == [(1, 2), (1, 2), (4,)] and total.__doc__ == "Returns the sum."
    nothing = Numbers(())
    assert total(nothing) is None and total(nothing) is None and calls.count(()) == 1


def test_a_result_is_kept_for_the_last_inputs():
    owner, made = Numbers((1,)), []
    a, b, moving = np.zeros(3), np.zeros(3), np.zeros(3)

    def result(array, key=None):
        def compute():
            made.append(key)
            return len(made)

        return derived_from(owner, "result", compute, inputs=(array,), values=(moving,), key=key)

    assert [result(a), result(a), result(b), result(b)] == [1, 1, 2, 2]  # other arrays, whatever is in them
    moving[0] = 1.0  # where it is
    assert [result(b), result(b)] == [3, 3]
    assert [result(b, 7), result(b, 7), result(b)] == [4, 4, 3]
    assert derived_from(Numbers((1,)), "result", lambda: -1) == -1


def test_solves_with_one_pattern_in_two_threads_give_the_bytes_of_one_after_the_other():
    """By block Jacobi with the upper half, and by multigrid, each with workspaces of its own."""
    model, values, is_free = bar_problem((6, 6, 40))
    assert model.pattern.block_count > MIN_BLOCKS_PER_THREAD and upper_half(model.pattern) is not None
    right = np.random.default_rng(4).normal(size=(4, *model.X.shape))

    def solved(task, workspace):
        number, by_multigrid = task
        x, lattices = np.zeros_like(model.X), LatticeMultigrid(model.X) if by_multigrid else None
        scaled = BlockSystem(model.pattern, (1.0 + number) * values, right[number], is_free)
        with using_threads(1):
            solve(scaled, x, StoppingCriteria(1e-6, 300), preconditioner=lattices, workspace=workspace)
        return x.tobytes()

    tasks = [(number, by_multigrid) for number in range(4) for by_multigrid in (False, True)]
    shared = PcgWorkspace()
    alone = [solved(task, shared) for task in tasks]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda task: solved(task, None), tasks))
    assert together == alone and len(set(alone)) == len(tasks)
