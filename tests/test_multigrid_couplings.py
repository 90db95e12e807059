# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid for bodies that contacts couple: the solution, and iterations where bodies slide along each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.multigrid_problems import dense, jittered, made, stiffness
from fixtures.tet_meshes import bar
from sinew.solver.linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from sinew.solver.linalg.multigrid import hierarchy
from sinew.solver.linalg.multigrid.lattice_coarsening import MAX_DENSE_NODES_OF_JOINED_PARTS
from sinew.solver.linalg.multigrid.lattice_multigrid import LatticeMultigrid
from sinew.solver.quasistatic.contact_stiffness_blocks import CoupledPattern, NodeCouplings

CELLS, YOUNGS_MODULUS = (3, 3, 14), 1000.0
STOPPING = StoppingCriteria(1.0e-8, 400)


def nearest(X, nodes, others):
    """Returns the four of `others` that are nearest to each of `nodes` across x, (k, 4)."""
    apart = X[nodes, None, 1:] - X[None, others, 1:]
    return others[np.argsort((apart**2).sum(axis=2), axis=1, kind="stable")[:, :4]]


@pytest.fixture(scope="module")
def pressed():
    """Two long bars, each held at one end, of which one is pressed to the other by stiff springs along x alone."""
    X, tets = jittered(bar, CELLS)
    model = made([(X, tets), (X + [CELLS[0], 0.0, 0.0], tets)])
    right = np.flatnonzero(X[:, 0] > CELLS[0] - 1e-9)
    left = len(X) + np.flatnonzero(X[:, 0] < 1e-9)
    # a point between four nodes of one touches a place between the four nearest of the other
    nodes = np.concatenate([nearest(model.X, right, right), nearest(model.X, right, left)], axis=1).astype(np.int32)
    count = len(nodes)
    ties = NodeCouplings(
        np.arange(0, 8 * count + 1, 8, dtype=np.int64),
        nodes.ravel(),
        np.tile([0.25, 0.25, 0.25, 0.25, -0.25, -0.25, -0.25, -0.25], count),
        np.tile([np.sqrt(30.0 * YOUNGS_MODULUS), 0.0, 0.0], (count, 1)),
    )
    is_free = model.X[:, 2] > 0.5
    pattern, values = CoupledPattern(model.pattern, PcgWorkspace()).extend(stiffness(model), ties)
    b = np.random.default_rng(3).normal(size=model.X.shape)
    return model, BlockSystem(pattern, values, b, is_free)


def solved(model, system, mesh):
    lattices = LatticeMultigrid(model.X, mesh=mesh, has_couplings=True)
    x = np.zeros_like(system.b)
    found = lattices.solve(system, x, STOPPING, None, PcgWorkspace(), None)
    return x, found, next(iter(lattices.workspace.arrays.items()))


def test_it_solves_in_few_iterations_with_lattices_for_each_body(pressed):
    model, system = pressed
    x, found, (made_of, _) = solved(model, system, mesh=model.pattern)
    free = np.repeat(system.is_free, 3)
    A = dense(system.pattern.row_start, system.pattern.column, system.values)[np.ix_(free, free)]
    wanted = np.linalg.solve(A, system.b.ravel()[free])
    assert found.residual <= STOPPING.tolerance
    assert x.ravel()[free] == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())
    assert found.iterations < 90  # 71, when this was written; block Jacobi alone takes 437
    assert len(made_of.part_start) == 2, "both bodies are solved for at once on the coarsest level"
    assert made_of.part_start[-1] <= MAX_DENSE_NODES_OF_JOINED_PARTS


def test_blocks_of_couplings_lie_side_by_side_where_none_is_a_zero_of_earlier_contacts(pressed):
    model, system = pressed
    pattern, blocks = system.pattern, np.diff(system.pattern.row_start.astype(int))
    made_of = [
        hierarchy.build_hierarchy(pattern, model.X, model.pattern, True, keeps_zero_blocks)
        for keeps_zero_blocks in (False, True)
    ]
    quads = [np.diff(each.quad_start[: len(blocks) + 1].astype(int)) for each in made_of]
    np.testing.assert_array_equal(quads[0], -(-(blocks + 1) // 4))
    meshed = np.diff(model.pattern.row_start.astype(int))
    np.testing.assert_array_equal(quads[1], -(-(meshed + 1) // 4) + blocks - meshed)
    x, wanted = np.zeros_like(system.b), solved(model, system, mesh=model.pattern)[1]
    lattices = LatticeMultigrid(model.X, mesh=model.pattern, has_couplings=True, keeps_zero_blocks=False)
    fresh = replace(system, pattern=replace(pattern))  # levels are kept with the pattern
    found = lattices.solve(fresh, x, STOPPING, None, PcgWorkspace(), None)
    assert found.residual <= STOPPING.tolerance and abs(found.iterations - wanted.iterations) <= 3


def test_one_lattice_for_both_takes_longer_since_it_does_not_slide(pressed, monkeypatch):
    model, system = pressed
    each = solved(model, system, mesh=model.pattern)[1].iterations
    monkeypatch.setattr(hierarchy, "MAX_JOINED_PARTS", 1)  # as if these two were too many
    x, found, (made_of, _) = solved(model, replace(system, pattern=replace(system.pattern)), mesh=model.pattern)
    assert found.residual <= STOPPING.tolerance and found.iterations > 1.5 * each
    assert len(made_of.part_start) == 2


def test_the_smoother_is_for_couplings_of_more_nodes_than_a_tet_has(pressed):
    model, system = pressed
    _, _, (_, work) = solved(model, system, mesh=model.pattern)
    free = np.repeat(system.is_free, 3)
    A = dense(system.pattern.row_start, system.pattern.column, system.values)[np.ix_(free, free)]
    half = np.zeros_like(A)
    for i in range(0, len(A), 3):
        half[i : i + 3, i : i + 3] = np.linalg.inv(np.linalg.cholesky(A[i : i + 3, i : i + 3]))
    largest = np.linalg.eigvalsh(half @ A @ half.T)[-1]
    assert largest > 4.0, "what no mesh of tets has"
    assert work.largest[0] > 0.92 * largest
