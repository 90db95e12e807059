# SPDX-License-Identifier: GPL-3.0-or-later
"""Many tets are passed in an order of their own: what comes out is the same, and it is told in theirs."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.mechanics.hyperelastic import edge_assembly, morton_ordering
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces_and_tangent, hyperelastic, tet_arrays
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.scene.scene import Material


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(edge_assembly, "MIN_TETS_FOR_PARTS", 100)
    monkeypatch.setattr(morton_ordering, "MIN_TETS_FOR_PARTS", 100)
    monkeypatch.setattr(edge_assembly, "TETS_PER_PART", 64)


def two_bars(nu=0.3):
    """Returns two bars of 20 × 4 × 4 cells beside each other, their tets in no order."""
    rng, parts = np.random.default_rng(3), []
    for key in ("a", "b"):
        X, tets = bar((20, 4, 4), (5.0, 1.0, 1.0))
        tets = tets[rng.permutation(len(tets))]
        parts.append(Part(key, X + 9.0 * len(parts), tets, np.ones(len(tets)), Material(1.0e5, nu)))
    return make_model(parts)


def looked(model, law, x):
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    work = tet_arrays(model.pattern)
    return forces_and_tangent(model, law, x, values, force, work), values, force, work


def moved(model):
    return model.X + np.random.default_rng(5).normal(0.0, 0.03, model.X.shape)


def test_every_edge_is_summed_once_by_a_part_or_after_all():
    model = two_bars()
    edges = edge_assembly.edge_partition(model.pattern)
    assert np.array_equal(np.sort(np.concatenate([edges.upper, edges.lower, model.pattern.diagonal])),
                          np.arange(model.pattern.block_count))  # fmt: skip
    assert np.array_equal(np.sort(edges.shares >> 4), np.repeat(np.arange(model.tet_count), 6))
    of_edge = np.repeat(np.arange(len(edges.upper)), np.diff(edges.start.astype(int)))
    for part, (begin, end) in enumerate(edges.parts):
        own = (of_edge >= edges.own[part]) & (of_edge < edges.own[part + 1])
        assert ((edges.shares[own] >> 4 >= begin) & (edges.shares[own] >> 4 < end)).all()


def test_sums_in_parts_are_the_same_to_the_bit(monkeypatch):
    model = morton_ordering.ordered_model(two_bars()).model
    law, x = hyperelastic(model), moved(model)
    assert 0 < edge_assembly.edge_partition(model.pattern).own[-1]
    _, values, force, _ = looked(model, law, x)
    monkeypatch.setattr(edge_assembly, "MIN_TETS_FOR_PARTS", 10**9)
    model = replace(model, pattern=replace(model.pattern))  # of which nothing is derived yet
    assert edge_assembly.edge_partition(model.pattern).own[-1] == 0
    _, other, other_force, _ = looked(model, law, x)
    assert values.tobytes() == other.tobytes() and force.tobytes() == other_force.tobytes()


def test_neighbours_come_after_each_other_and_bodies_stay_apart():
    model = two_bars()
    found = morton_ordering.ordered_model(model)
    assert found is morton_ordering.ordered_model(model)
    assert np.array_equal(np.sort(found.order), np.arange(model.tet_count))
    assert np.array_equal(found.model.tets, model.tets[found.order])
    for body in model.bodies:
        assert np.array_equal(np.sort(found.order[body.tets]), np.arange(body.tets.start, body.tets.stop))
        middle = model.X[model.tets].mean(axis=1)
        before, after = (np.linalg.norm(np.diff(m[body.tets], axis=0), axis=1).mean() for m in
                         (middle, middle[found.order]))  # fmt: skip
        assert after < 0.25 * before


@pytest.mark.parametrize("nu", [0.3, 0.49])
def test_a_search_finds_what_the_model_as_it_is_gives(nu):
    model = two_bars(nu)
    law, x = hyperelastic(model, average=True), moved(model)
    answer, values, force, work = looked(model, law, x)
    fixed = FixedNodes(np.zeros(1, np.int32), model.X[:1])
    search = NewtonIterate(EquilibriumProblem(model, law, fixed))
    found = search.evaluate_tangent(law, x)
    assert found.energy == pytest.approx(answer.energy, rel=1e-12)
    assert (found.inverted, found.extended_count) == (answer.inverted, answer.extended_count)
    assert search.force == pytest.approx(force, rel=1e-9, abs=1e-9 * np.abs(force).max())
    assert search.values == pytest.approx(values, rel=1e-9, abs=1e-9 * np.abs(values).max())
    assert search.smallest() == pytest.approx(work.smallest, rel=1e-12, abs=1e-12)
