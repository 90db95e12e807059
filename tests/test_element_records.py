# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear, polar and QR bodies: against slow twins, with plastic strain, stress and damping."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.corotational_bars import FRESH, LINEAR, POLAR, crumpled, dense, every_method, part
from harness.formulations import formulation
from reference.corotational import Tet, forces_and_stiffness
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.elements.record_layout import DAMPING_MU, FORCE, V_MU
from sinew.solver.mechanics.elements.strain_energy import stored_energy
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Material, Settings


def inverted(model, x):
    corners = x[model.tets]
    return np.count_nonzero(np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0)


@every_method
@pytest.mark.parametrize("strained", (False, True), ids=["", "initial strain"])
def test_forces_and_blocks_are_those_of_the_papers_matrices(method, strained):
    model = make_model([part(method, strained=strained)])
    x = crumpled(model, 0.6)
    assert inverted(model, x) > 3
    asked = formulation(model, method)
    force, K, energy = forces_and_stiffness(model, method, x)
    assert np.abs(asked.forces(x) - force).max() < 1e-11 * np.abs(force).max()
    assert np.abs(dense(model, asked.stiffness(x)) - K).max() < 1e-11 * np.abs(K).max()
    if asked.energy(x) is not None:
        assert asked.energy(x) == pytest.approx(energy, rel=1e-11)
    by_method = replace(model, methods=(method,))
    stored = stored_energy(by_method, x, compute_element_records(by_method, x))
    assert stored[0] == pytest.approx(energy, rel=1e-11)


@every_method
def test_stress_is_that_of_the_method(method):
    """R σ Rᵀ with the rotation of the method, and the largest of its eigenvalues."""
    model = make_model([part(method, strained=True)])
    x = crumpled(model, 0.1)
    stress, largest = elastic_stress(model, x)
    for t, nodes in enumerate(model.tets):
        tet = Tet(method, model.X[nodes], x[nodes], 1.0, model.mu[t], model.lam[t], model.initial_strain[t])
        e = tet.strain
        sigma = tet.R @ (2 * model.mu[t] * e + model.lam[t] * np.trace(e) * np.eye(3)) @ tet.R.T
        assert stress[t] == pytest.approx(sigma[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]], rel=1e-10, abs=1e-7)
        assert largest[t] == pytest.approx(np.linalg.eigvalsh(sigma)[-1], rel=1e-10, abs=1e-6)
    some = np.array([3, 11], np.int32)
    assert np.array_equal(elastic_stress(model, x, some)[0], stress[some])


@every_method
def test_each_body_has_its_own_method_beside_others(method):
    """What is alone in a model and what is between others writes the same bits."""
    alone = make_model([part(method)])
    others = make_model([part(POLAR, "a", (1, 2, 1), -2.0), part(method), part(FRESH, "c", (1, 1, 2), 4.0)])
    x = crumpled(alone)
    many = others.X.copy()
    many[others.bodies[1].nodes] = x
    written = np.r_[: V_MU + 1, FORCE : DAMPING_MU + 1]
    own, all_records = compute_element_records(alone, x), compute_element_records(others, many)
    assert np.array_equal(all_records[others.bodies[1].tets][:, written], own[:, written])


@every_method
def test_damping_takes_nothing_from_a_rigid_motion_but_of_linear_bodies(method):
    model = make_model([part(method)])
    x = crumpled(model, 0.05)
    records, p = compute_element_records(model, x), model.pattern
    values, force = np.empty((p.block_count, 9)), np.empty((p.node_count, 3))
    assemble(0.0, 1.0, np.zeros(model.node_count), p, records, values, force)
    C = dense(model, values)
    spin = np.cross([1.0, -2.0, 0.5], x).ravel()
    slow = np.abs(C @ spin).max() / (np.abs(C).max() * np.abs(spin).max())
    assert (slow > 1e-3) if method is LINEAR else (slow < 1e-13)
    assert np.linalg.eigvalsh(C).min() > -1e-10 * np.abs(C).max()
    along = np.tile([1.0, 2.0, 3.0], model.node_count)
    assert np.abs(C @ along).max() < 1e-12 * np.abs(C).max()


@every_method
def test_what_has_flowed_as_far_as_it_is_strained_feels_no_force(method):
    """MG04: a tet whose total strain is its plastic strain. Additive, and in the shape of what flows by itself."""
    model = make_model([part(method)])
    x = model.X @ np.array([[1.06, 0.03, 0.0], [0.0, 0.97, 0.02], [0.0, 0.0, 1.01]]).T
    typical = np.abs(formulation(model, method).forces(x)).max()
    strains = np.empty((model.tet_count, 6))
    Dm_inverse = np.empty_like(model.Dm_inverse)
    for t, nodes in enumerate(model.tets):
        F = (x[nodes[1:]] - x[nodes[0]]).T @ model.Dm_inverse[t]
        e = Tet(method, model.X[nodes], x[nodes], 1.0, 1.0, 1.0).strain
        strains[t] = e[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]]
        Dm_inverse[t] = model.Dm_inverse[t] @ np.linalg.inv(F)
    for flowed in (replace(model, initial_strain=strains), replace(model, Dm_inverse=Dm_inverse)):
        assert np.abs(formulation(flowed, method).forces(x)).max() < 1e-11 * typical


@pytest.mark.parametrize("dt", (4.0e-4, 1.0e-2))
def test_tets_let_go_in_any_shape_do_not_run_away_by_qr(dt):
    """NPF05, section 4.1. No energy belongs to these forces, but with the present gradients in the strain, too, what
    moves stays within 17 times what is stored at first; with sym(RᵀF) − I it came to 10¹⁰ times."""
    random = np.random.default_rng(5)
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.9, 0.0], [0.5, 0.3, 0.8]])
    nodes = np.concatenate([corners + [3.0 * k, 0.0, 0.0] for k in range(24)])
    tets = np.arange(len(nodes), dtype=np.int32).reshape(-1, 4)
    material = Material(1.0e5, 0.33, 1000.0, 0.0, 0.0)
    model = make_model([Part("tets", nodes, tets, np.ones(len(tets)), material, method=FRESH)])
    state = State(0.8 * random.normal(size=nodes.shape), np.zeros_like(nodes))
    stored = stored_energy(model, state.x, compute_element_records(model, state.x))
    motion = []
    for _ in range(round(0.4 / dt)):
        step(model, state, ExternalForces(), dt, Settings(tolerance=1e-10))
        motion.append(np.bincount(model.pattern.island_of_row, 0.5 * model.mass * (state.v**2).sum(axis=1)))
    assert (np.max(motion, axis=0) < 30.0 * stored).all()
