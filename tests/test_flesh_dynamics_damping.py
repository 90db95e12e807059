# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping of hyperelastic tets: against the corotated element's, S07's D.1 and its five scalars of D.2."""

import numpy as np
import pytest
import scipy.sparse

from fixtures.tet_meshes import bar, lattice_bar
from reference.bcc_damping import damping_of_five, five_scalars
from sinew.solver.mechanics.elements.corotational_element import compute_corotational_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.record_layout import MAX_RECORD_LENGTH, element_arrays
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces_and_tangent, hyperelastic, tet_arrays
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.scene.scene import Material

RUBBER = Material(youngs_modulus=1.0e5, poisson_ratio=0.35, density=1000.0, stiffness_damping=0.02)


def model_of(cells=(2, 2, 3), mesh=bar, lengths=(0.4, 0.4, 0.6)):
    nodes, tets = mesh(cells, lengths)
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), RUBBER)])


def damping(model, x):
    values = np.empty((model.pattern.block_count, 9))
    damping_matrix(model, x, values, tet_arrays(model.pattern))
    return values


def dense(model, values):
    p, n = model.pattern, model.node_count
    return scipy.sparse.bsr_matrix((values.reshape(-1, 3, 3), p.column, p.row_start), (3 * n, 3 * n)).toarray()


def tangled(model, seed=0, size=0.3):
    """Far from rest, some tets inverted."""
    random = np.random.default_rng(seed)
    return model.X + size * random.normal(size=model.X.shape)


def rotation(seed):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def damping_d1(model, x, v, in_frame=True):
    """S07 (D.1) tet by tet: the damping forces [N], (n, 3), of velocities v; carried by the tets' rotations, or not."""
    force = np.zeros_like(x)
    for tet, n in enumerate(model.tets):
        B = model.Dm_inverse[tet]
        F, rate = ((q[n[1:]] - q[n[0]]).T @ B for q in (x, v))
        u, _, vt = np.linalg.svd(F)
        R = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt if in_frame else np.eye(3)
        beta, alpha = (model.stiffness_damping[tet] * modulus[tet] for modulus in (model.mu, model.lam))
        local = R.T @ rate
        P = R @ (beta * (local + local.T) + alpha * np.trace(local) * np.eye(3))
        G = -model.volume[tet] * P @ B.T
        force[n[1:]] += G.T
        force[n[0]] -= G.sum(axis=1)
    return force


def test_matrix_is_that_of_the_corotated_element():
    model = model_of()
    x, p = tangled(model), model.pattern
    record = np.empty((model.tet_count, MAX_RECORD_LENGTH))
    values, force = np.empty((p.block_count, 9)), np.empty((model.node_count, 3))
    compute_corotational_records(x, element_arrays(model), record)
    assemble(0.0, 1.0, np.zeros(model.node_count), p, record, values, force)
    assert np.abs(damping(model, x) - values).max() < 1e-12 * np.abs(values).max()


@pytest.mark.parametrize("size", [0.05, 0.3])
def test_matrix_is_symmetric_and_semidefinite_in_any_tangle(size):
    model = model_of()
    D = dense(model, damping(model, tangled(model, size=size)))
    assert np.abs(D - D.T).max() < 1e-13 * np.abs(D).max()
    assert np.linalg.eigvalsh(D).min() > -1e-12 * np.abs(D).max()


def test_no_rigid_motion_is_damped_and_nothing_turns():
    """Of S07's form that is true in the rest shape alone; MDMJC02 measured what the torque does."""
    model, random = model_of(), np.random.default_rng(1)
    x = tangled(model)
    D = dense(model, damping(model, x))
    rigid = np.cross(random.normal(size=3), x) + random.normal(size=3)
    size = np.abs(D).max() * np.abs(rigid).max()
    assert np.abs(D @ rigid.ravel()).max() < 1e-12 * size
    v = random.normal(size=x.shape)
    f = -(D @ v.ravel()).reshape(-1, 3)
    assert np.abs(f.sum(axis=0)).max() < 1e-11 * np.abs(f).max()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-11 * np.abs(f).max()
    stretched = model.X * [1.0, 1.0, 1.5]
    assert np.abs(damping_d1(model, stretched, np.cross([1.0, 0.0, 0.0], stretched))).max() > 1.0


@pytest.mark.parametrize("law", LAWS)
def test_near_rest_it_is_rayleigh_damping_of_every_law(law):
    """β times the tangent, turned with the body."""
    model = model_of()
    R = rotation(3)
    x, p = model.X @ R.T + [0.3, 0.1, -0.2], model.pattern
    K, force = np.empty((p.block_count, 9)), np.empty((model.node_count, 3))
    forces_and_tangent(model, hyperelastic(model, law, None), x, K, force, tet_arrays(p), False)
    assert np.abs(damping(model, x) - RUBBER.stiffness_damping * K).max() < 1e-9 * np.abs(K).max()


def test_near_rest_it_is_d1():
    model = model_of()
    v = np.random.default_rng(2).normal(size=model.X.shape)
    D = dense(model, damping(model, model.X))
    for in_frame in (True, False):
        slow = damping_d1(model, model.X, v, in_frame)
        assert np.abs(-(D @ v.ravel()).reshape(-1, 3) - slow).max() < 1e-12 * np.abs(slow).max()
    R = rotation(4)
    D = dense(model, damping(model, model.X @ R.T))
    slow = damping_d1(model, model.X @ R.T, v)
    assert np.abs(-(D @ v.ravel()).reshape(-1, 3) - slow).max() < 1e-12 * np.abs(slow).max()


def test_five_scalars_give_d1_on_body_centred_tets():
    model = model_of((3, 2, 2), lattice_bar, (0.3, 0.2, 0.2))
    five, is_bcc = five_scalars(model)
    assert 0.2 < is_bcc.mean() < 1.0  # not those at the faces of the box
    x = model.X + 0.02 * np.random.default_rng(5).normal(size=model.X.shape)
    v = np.random.default_rng(6).normal(size=x.shape)
    for tet in np.flatnonzero(is_bcc):
        n = model.tets[tet]
        alone = make_model([Part("tet", model.X[n], np.arange(4).reshape(1, 4), np.ones(1), RUBBER)])
        slow = damping_d1(alone, x[n], v[n])
        assert np.abs(damping_of_five(five[tet], x[n], v[n]) - slow).max() < 1e-10 * np.abs(slow).max()
