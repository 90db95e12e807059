# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of QR bodies made tet by tet, and rows of linear bodies that are kept."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.corotational_bars import LINEAR, POLAR, crumpled, dense, part
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.pair_forces import PairForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.system.step_matrix import assemble_system, compute_element_records
from sinew.solver.mechanics.model import make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Settings


def forced(method, pins=True):
    """A model, and what holds one end of it and pulls at a tet."""
    model = make_model([part(method)])
    spring = PointForces(
        np.array([5], np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 40.0, np.zeros((1, 3, 3))
    )
    held = model.X[:, 2] == 0.0 if pins else None
    return model, ExternalForces(np.array([9.81, 0.0, 0.0]), held, model.X if pins else None, points=spring)


MATRIX_FREE = {
    "fresh": FormulationSettings("qr", is_matrix_free=True),
    "stale": FormulationSettings("qr", is_stale=True, is_matrix_free=True),
}
free_of_matrices = pytest.mark.parametrize("method", MATRIX_FREE.values(), ids=MATRIX_FREE)


def assembled_at(model, x, dt):
    """Returns the system of a step at node positions x, in arrays of its own."""
    return assemble_system(model, compute_element_records(model, x), dt, StepWorkspace(model.pattern))


@free_of_matrices
def test_products_made_tet_by_tet_are_those_of_the_matrix(method):
    """The product, its diagonal, and how it bends, damping included; nothing of it is in the matrix."""
    dt, model = 0.01, make_model([part(method)])
    x = crumpled(model)
    whole = make_model([part(replace(method, is_matrix_free=False))])
    system, assembled = (assembled_at(of, x, dt) for of in (model, whole))
    A, element_terms = dense(model, assembled.values), system.element_terms
    assert assembled.element_terms is None and element_terms is not None
    assert np.array_equal(system.force, assembled.force)
    v = np.random.default_rng(5).normal(size=x.shape)
    mass = dense(model, system.values)
    assert np.count_nonzero(mass) == 3 * model.node_count
    product = (mass @ v.ravel()).reshape(-1, 3)
    element_terms.add_product_to(v, product)
    assert np.abs(product.ravel() - A @ v.ravel()).max() < 1e-13 * np.abs(A @ v.ravel()).max()
    blocks = element_terms.diagonal(model.node_count) + system.values[model.pattern.diagonal]
    wanted = assembled.values[whole.pattern.diagonal]
    assert np.abs(blocks - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert element_terms.quadratic_form(model.pattern, v)[0] == pytest.approx(
        v.ravel() @ (A - mass) @ v.ravel(), rel=1e-12
    )


@free_of_matrices
@pytest.mark.parametrize("pins", (True, False), ids=["held", "free"])
def test_steps_without_a_matrix_end_where_those_with_one_do(method, pins):
    ends = []
    for asked in (method, replace(method, is_matrix_free=False)):
        model, outside = forced(asked, pins)
        state = State(model.X.copy(), np.cross([3.0, 1.0, 2.0], model.X))
        for _ in range(15):
            report = step(model, state, outside, 0.01, Settings(tolerance=1e-9, max_iterations=2000))
            assert report.converged
        ends.append((state, report.iterations))
    (one, few), (other, many) = ends
    assert np.abs(one.x - other.x).max() < 1e-9 and abs(few - many) <= 0.2 * many


def test_bodies_that_push_each_other_have_a_matrix_all_the_same():
    """Beside a body with a matrix, before and after the two touch: the same ends as with matrices alone."""
    weights = np.full((1, 4), 0.25)
    push = PairForces(
        np.array([2], np.int32), weights, np.array([70], np.int32), weights, np.ones((1, 3)), np.eye(3)[None]
    )
    ends = []
    for is_free in (True, False):
        model = make_model([part(FormulationSettings("qr", is_matrix_free=is_free)), part(POLAR, "other", at=1.0)])
        state = State(model.X.copy(), np.cross([3.0, 1.0, 2.0], model.X))
        for acting in (ExternalForces(), ExternalForces(pairs=push), ExternalForces()):
            for _ in range(3):
                assert step(model, state, acting, 0.01, Settings(tolerance=1e-9, max_iterations=2000)).converged
        ends.append(state.x)
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_a_body_that_melts_has_a_matrix_and_nothing_besides():
    """The same ends as with a matrix from the start: what was left out of that of the step before is forgotten."""
    ends = []
    for is_free in (True, False):
        model, outside = forced(FormulationSettings("qr", is_matrix_free=is_free))
        molten = replace(model, mu=0.1 * model.mu, pressure_modulus=model.lam.copy())
        state = State(model.X.copy(), np.zeros_like(model.X))
        for now in (model, molten, molten):
            assert step(now, state, outside, 0.01, Settings(tolerance=1e-9, max_iterations=2000)).converged
        ends.append(state.x)
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_the_matrix_of_linear_bodies_never_changes():
    """The blocks of a step are the same bits wherever the body is, damping included."""
    model = make_model([part(LINEAR)])
    seen = [
        assembled_at(model, crumpled(model, amount) if amount else model.X, 0.01).values for amount in (0.0, 0.1, 0.5)
    ]
    assert np.array_equal(seen[0], seen[1]) and np.array_equal(seen[0], seen[2])
    polar = make_model([part(POLAR)])
    values = assembled_at(polar, crumpled(polar, 0.1), 0.01).values
    assert np.abs(values - seen[0]).max() > 0.01 * np.abs(seen[0]).max()


def test_rows_of_linear_bodies_are_reused_until_anything_in_them_changes():
    """They have the bits of a new assembly: in every step, after another Δt, and with other moduli."""
    model = make_model([part(LINEAR), part(POLAR, "other", at=3.0)])
    workspace, x = StepWorkspace(model.pattern), crumpled(model, 0.1)
    rows = slice(0, int(model.pattern.row_start[model.bodies[0].nodes.stop]))
    heavier, copied = replace(model, mass=2.0 * model.mass), replace(model, mass=model.mass.copy())
    stiffer = replace(model, mu=3.0 * model.mu)
    steps = [
        (model, 0.01, False),
        (model, 0.01, True),
        (model, 0.02, False),
        (copied, 0.02, True),
        (heavier, 0.02, False),
        (stiffer, 0.02, False),
        (stiffer, 0.02, True),
        (model, 0.02, False),
    ]
    for changed, dt, is_reused in steps:
        x = x + 0.01
        before = workspace.cached_rows.get(0)
        system = assemble_system(changed, compute_element_records(changed, x), dt, workspace)
        assert (workspace.cached_rows[0] is before) == is_reused and 1 not in workspace.cached_rows
        fresh = assembled_at(changed, x, dt)
        assert np.array_equal(system.values, fresh.values) and np.array_equal(system.force, fresh.force)
        assert np.array_equal(workspace.cached_rows[0].values, fresh.values[rows])
