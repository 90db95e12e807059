# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies at rest that nothing couples have step lengths of their own, and their energies add up."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.flesh_contact_scenes import box, flesh
from sinew.solver.mechanics.hyperelastic.body_energies import body_energies, extended_bodies
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import energy, hyperelastic, tet_arrays
from sinew.solver.quasistatic.contact_stiffness_blocks import NodeCouplings
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.line_search_groups import StepGroups, SteppedPositions
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.quasistatic.sums_by_body import SumsByBody


@pytest.fixture(scope="module")
def three():
    """Three boxes of flesh side by side."""
    return flesh([box((3.0 * i, 0.0, 0.0)) for i in range(3)], 0.5, self_contact=False)


def test_energies_of_bodies_are_those_of_each_alone(three):
    model = three.model
    x = model.X * [1.1, 0.9, 1.0] + 0.01 * np.random.default_rng(0).normal(size=model.X.shape)
    for average in (False, True):
        law, work = hyperelastic(model, "neo-hookean", average=average), tet_arrays(model.pattern)
        whole = energy(model, law, x, work)
        assert whole.energy == pytest.approx(float(work.energy.sum()) if law.left is None else whole.energies.sum())
        assert np.array_equal(whole.energies, body_energies(model, law, work)) and (whole.energies > 0.0).all()
        for number, body in enumerate(model.bodies):
            alone = x.copy()
            for other in model.bodies:
                if other is not body:
                    alone[other.nodes] = model.X[other.nodes]
            assert energy(model, law, alone, work).energies[number] == pytest.approx(whole.energies[number], rel=1e-12)


def test_the_body_with_an_inverted_tet_is_the_extended_one(three):
    model = three.model
    law, work, x = (
        hyperelastic(model, "neo-hookean", "constant", average=True),
        tet_arrays(model.pattern),
        model.X.copy(),
    )
    x[model.bodies[1].nodes] *= [1.0, 1.0, -1.0]
    found = energy(model, law, x, work)
    assert found.is_extended.tolist() == [False, True, False] == extended_bodies(model, law, work).tolist()
    assert found.extended_count > 0


def test_couplings_join_bodies_to_groups(three):
    model, sums = three.model, SumsByBody(three.model)
    first = [body.nodes.start for body in model.bodies]
    ties = NodeCouplings(
        np.array([0, 2]), np.array([first[0], first[2]], np.int32), np.array([1.0, -1.0]), np.array([[1.0, 0.0, 0.0]])
    )
    alone, joined = StepGroups(model, sums, []), StepGroups(model, sums, [ties])
    assert alone.count == 3 and joined.count == 2 and joined.group[0] == joined.group[2] != joined.group[1]
    values = np.array([1.0, 2.0, 4.0])
    assert np.array_equal(alone.sums(values), values)
    assert joined.sums(values)[joined.group].tolist() == [5.0, 2.0, 5.0]
    lengths = joined.to_nodes(np.where(np.arange(2) == joined.group[1], 0.5, 1.0))
    assert (lengths[model.bodies[1].nodes] == 0.5).all() and (lengths[model.bodies[2].nodes] == 1.0).all()


def test_positions_of_a_step_are_the_same_array_for_the_same_lengths(three):
    model, rng = three.model, np.random.default_rng(5)
    x, d = rng.normal(size=(2, model.node_count, 3))
    stepped = SteppedPositions(x, d, StepGroups(model, SumsByBody(model), []))
    assert stepped.at(np.zeros(3)) is x
    found = stepped.at(np.array([1.0, 0.5, 0.0]))
    assert stepped.at(np.array([1.0, 0.5, 0.0])) is found
    for body, length in zip(model.bodies, (1.0, 0.5, 0.0), strict=True):
        assert np.array_equal(found[body.nodes], x[body.nodes] + length * d[body.nodes])


def test_sums_by_body_are_those_of_slices(three):
    model, sums, rng = three.model, SumsByBody(three.model), np.random.default_rng(1)
    a, b = rng.normal(size=(2, model.node_count, 3))
    wanted = [np.sum(a[body.nodes] * b[body.nodes]) for body in model.bodies]
    assert sums.products(a, b) == pytest.approx(wanted, rel=1e-12)
    tets, values = rng.integers(0, model.tet_count, 50), rng.normal(size=(50, 3))
    wanted = [values[(tets >= body.tets.start) & (tets < body.tets.stop)].sum() for body in model.bodies]
    assert sums.of_tets(values, tets) == pytest.approx(wanted, rel=1e-12)


def test_a_step_that_is_too_long_for_one_body_is_not_shortened_for_others(three):
    model, law = three.model, hyperelastic(three.model, "stable-neo-hookean", None)
    low = np.flatnonzero(model.X[:, 2] <= model.X[:, 2].min() + 1e-9).astype(np.int32)
    x = np.where(np.isin(np.arange(model.node_count), low)[:, None], model.X, model.X * [1.0, 1.0, 1.05])
    search = NewtonIterate(EquilibriumProblem(model, law, FixedNodes(low, model.X[low])))
    before = search.evaluate_tangent(law, x)
    d, last = search.direction(law, x, 1e-6), model.bodies[2].nodes
    d[last] *= 40.0
    moved, after, has_way = search.step(law, x, before, d, False)
    way = moved - x
    assert has_way and (after.energies < before.energies).all()
    for body in model.bodies[:2]:
        assert way[body.nodes] == pytest.approx(d[body.nodes], rel=1e-12)
    length = np.sum(way[last] * d[last]) / np.sum(d[last] ** 2)
    assert 0.0 < length < 0.1 and way[last] == pytest.approx(length * d[last], abs=1e-12)
