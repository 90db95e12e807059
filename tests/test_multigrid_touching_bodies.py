# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid where bodies touch: each is solved as accurately as alone, and keeps its momentum."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fixtures.multigrid_problems import dense, jittered, made, stiffness
from fixtures.tet_meshes import bar
from fixtures.touching_bars import add_springs
from sinew.solver.integrators.system import multigrid_policy
from sinew.solver.integrators.system.multigrid_policy import (
    MAX_COUPLED_ISLANDS,
    MIN_NODES_IN_CONTACT,
    MIN_STIFFNESS_RATIO_IN_CONTACT,
    choose_multigrid,
)
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.coupled_islands import island_coupling
from sinew.solver.linalg.multigrid.lattice_multigrid import LatticeMultigrid
from sinew.solver.linalg.pair_stiffness_assembly import PairPattern
from sinew.solver.linalg.pcg import solve
from sinew.solver.linalg.rigid_modes import rigid_modes
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import AUTO_SOLVER, JACOBI, MULTIGRID, Settings

CELLS, YOUNGS_MODULUS, TOLERANCE = (4, 4, 14), 1000.0, 1.0e-6
LIGHT = 1.0e-3  # of the load on the middle bar, and of that on the last


@pytest.fixture(scope="module")
def touching():
    """Three bars that nothing holds, of which the first two touch; the second and third have a small load."""
    X, tets = jittered(bar, CELLS)
    model = made([(X + [shift, 0.0, 0.0], tets) for shift in (0.0, CELLS[0], 12.0)])
    middle = model.X[model.tets].mean(axis=1)
    count = len(tets)
    right = np.flatnonzero(middle[:count, 0] > CELLS[0] - 0.5)
    left = count + np.flatnonzero(middle[count : 2 * count, 0] < CELLS[0] + 0.5)
    apart = np.linalg.norm(middle[right, None, 1:] - middle[None, left, 1:], axis=2)
    pairs = right.astype(np.int32), left[apart.argmin(axis=1)].astype(np.int32)
    blocks = PairPattern(model.tets).pair_blocks(model.pattern, *pairs)
    values = np.empty((blocks.pattern.block_count, 9))
    blocks.widened.scatter(stiffness(model, 0.5), values)
    add_springs(blocks.pattern, values, model.tets, pairs, 30.0 * YOUNGS_MODULUS)
    load = np.random.default_rng(3).normal(size=model.X.shape)
    load[len(X) :] *= LIGHT
    return model, BlockSystem(blocks.pattern, values, load, np.ones(model.node_count, bool))


def solved(model, system):
    modes = rigid_modes(system.pattern, system.values, model.X, system.is_free)
    lattices = LatticeMultigrid(model.X, mesh=model.pattern, has_couplings=True, immediate_tolerance=1.0)
    x = np.zeros_like(system.b)
    return x, solve(system, x, StoppingCriteria(TOLERANCE, 400), modes=modes, preconditioner=lattices)


def residuals(system, x):
    """Returns ‖b − A x‖ / ‖b‖ of every island, by a dense matrix."""
    A = dense(system.pattern.row_start, system.pattern.column, system.values)
    left = (system.b.ravel() - A @ x.ravel()).reshape(-1, 3)
    first = system.pattern.island_start[:-1].astype(int)
    squares = [np.add.reduceat((each**2).sum(axis=1), first) for each in (left, system.b)]
    return np.sqrt(squares[0] / squares[1]), left


def test_a_lightly_loaded_body_is_solved_as_accurately_as_the_one_that_it_touches(touching):
    model, system = touching
    assert system.pattern.coupling is not None
    x, found = solved(model, system)
    each, _ = residuals(system, x)
    assert found.converged and found.used_multigrid and found.iterations < 120  # 92, when this was written
    assert (each < 2.0 * TOLERANCE).all()


def test_block_jacobi_alone_takes_longer(touching):
    model, system = touching
    modes = rigid_modes(system.pattern, system.values, model.X, system.is_free)
    x = np.zeros_like(system.b)
    alone = solve(system, x, StoppingCriteria(TOLERANCE, 2000), modes=modes)
    assert alone.converged and alone.iterations > 3 * solved(model, system)[1].iterations


def test_momentum_of_bodies_that_touch_is_exact(touching):
    model, system = touching
    x, _ = solved(model, system)
    _, left = residuals(system, x)
    two = slice(0, 2 * model.node_count // 3)
    scale = np.abs(system.b[two]).sum()
    assert np.abs(left[two].sum(axis=0)).max() < 1e-12 * scale
    assert np.abs(np.cross(model.X[two], left[two]).sum(axis=0)).max() < 1e-12 * scale * np.abs(model.X[two]).max()


def test_threads_change_no_bit(touching):
    model, system = touching
    before, found = thread_count(), []
    try:
        for threads in (1, 2):
            set_thread_count(threads)
            found.append(solved(model, replace(system, pattern=replace(system.pattern)))[0])
    finally:
        set_thread_count(before)
    np.testing.assert_array_equal(found[0], found[1])


def chosen(node_count, ratio, solver=AUTO_SOLVER, islands=2, is_whole_model=True):
    """Returns what is chosen for a made-up system of islands that touch, all nodes of which resist equally."""
    sizes = np.full(islands, node_count // islands)
    sizes[0] += node_count - sizes.sum()
    places = np.arange(islands - 1)
    pattern = SimpleNamespace(
        node_count=node_count,
        island_count=islands,
        largest_island=int(sizes.max()),
        coupling=island_coupling(places, places + 1, islands) if islands > 1 else None,
        on_diagonal=9 * np.arange(node_count) + np.array([[0], [4], [8]]),
    )
    X = np.zeros((node_count, 3))
    model = SimpleNamespace(
        pattern=object(), X=X, node_count=node_count, mass=np.ones(node_count), pressure_modulus=np.zeros(0)
    )
    system = SimpleNamespace(
        pattern=pattern,
        X=X if is_whole_model else X.copy(),
        values=np.tile(ratio * np.eye(3).ravel(), (node_count, 1)),
        is_free=np.ones(node_count, bool),
        has_cores=False,
        tolerance=1.0e-4,
    )
    return choose_multigrid(model, system, Settings(tolerance=1.0e-4, linear_solver=solver), None)


@pytest.mark.parametrize("islands", [1, 2, MAX_COUPLED_ISLANDS])
def test_large_stiff_bodies_in_contact_get_multigrid_from_the_start(islands):
    large, stiff = MIN_NODES_IN_CONTACT, 1.01 * MIN_STIFFNESS_RATIO_IN_CONTACT
    found = chosen(large, stiff, islands=islands)
    assert found is not None and found.has_couplings == (islands > 1)
    assert found.iteration_limit(SimpleNamespace(largest_island=large), np.ones(large, bool), 0.1) == (0, 0)
    assert chosen(large, 0.99 * MIN_STIFFNESS_RATIO_IN_CONTACT, islands=islands) is None
    assert chosen(large - 1, stiff, islands=islands) is None
    assert chosen(large, stiff, JACOBI, islands=islands) is None
    assert chosen(large, stiff, islands=islands, is_whole_model=False) is None


def test_small_or_soft_ones_get_it_where_it_is_asked_for_and_many_never_do():
    assert chosen(1000, 1.0, MULTIGRID) is not None
    assert chosen(MIN_NODES_IN_CONTACT, 1.0e9, islands=MAX_COUPLED_ISLANDS + 1) is None
    crumbs = multigrid_policy.MIN_ISLAND_NODES - 1
    assert chosen(2 * crumbs, 1.0e9) is None
