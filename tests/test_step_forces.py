# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces, stiffness and damping of tets, against their energy, their symmetries and slow twins."""

import dataclasses

import numpy as np
import pytest

from fixtures.corotational_bars import forces_in
from fixtures.tet_meshes import bar
from reference.linear_elasticity import corotated_strain, energy_density, stress
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.elements import corotational_element
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.linear_element import compute_linear_records
from sinew.solver.mechanics.elements.record_layout import (
    BULK_DAMPING,
    BULK_STIFFNESS,
    DAMPING_MU,
    FORCE,
    V_MU,
    element_arrays,
)
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import Material

RANDOM = np.random.default_rng(5)
MATERIAL = Material(youngs_modulus=3.0e4, poisson_ratio=0.4, density=900.0, stiffness_damping=0.02)


def model_of(cells=(1, 2, 1), initial_strain=None, material=MATERIAL, nodes=None):
    X, tets = bar(cells, (0.5, 1.2, 0.4))
    X = X if nodes is None else nodes
    fill = np.linspace(0.3, 1.0, len(tets))
    return make_model([Part("bar", X, tets, fill, material, initial_strain=initial_strain)])


def records_at(model, x, write=corotational_element.compute_corotational_records):
    out = np.full((model.tet_count, corotational_element.MAX_RECORD_LENGTH), np.nan)
    write(x, element_arrays(model)._replace(lam=model.lam), out)
    return out


def tet_forces(model, x):
    """Forces on the corners of each tet, (m, 4, 3)."""
    return forces_in(records_at(model, x))


def assembled(model, x, stiff, damp, mass):
    p = model.pattern
    values, force = np.full((p.block_count, 9), np.nan), np.full((model.node_count, 3), np.nan)
    assemble(stiff, damp, mass, p, records_at(model, x), values, force)
    dense = np.zeros((model.node_count, 3, model.node_count, 3))
    rows = np.repeat(np.arange(model.node_count), np.diff(p.row_start))
    dense[rows, :, p.column, :] = values.reshape(-1, 3, 3)
    return dense.reshape(3 * model.node_count, -1), force


def gradients(model):
    """Gradients of the four shape functions, (m, 4, 3)."""
    g = model.Dm_inverse
    return np.concatenate([-g.sum(axis=1, keepdims=True), g], axis=1)


def slow_rotations(F):
    U, _, Vt = np.linalg.svd(F)
    U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]
    return U @ Vt


def deformation(model, x):
    return np.einsum("mai,maj->mij", x[model.tets], gradients(model))


def crumpled(model, amount):
    """Positions stretched, sheared, turned and pushed about; large amounts invert tets."""
    size = model.volume.max() ** (1 / 3)
    turn = slow_rotations(RANDOM.normal(size=(1, 3, 3)))[0] @ np.diag([1.5, 0.8, 1.1])
    return model.X @ turn.T + amount * size * RANDOM.normal(size=model.X.shape)


def energy(model, x):
    F = deformation(model, x)
    strain = corotated_strain(F, slow_rotations(F))
    return np.sum(model.volume * energy_density(strain, model.mu, model.lam))


@pytest.mark.parametrize("amount", [0.0, 0.1, 0.5])
def test_force_is_minus_the_gradient_of_the_energy(amount):
    model = model_of()
    x = crumpled(model, amount)
    _, force = assembled(model, x, 0.0, 0.0, np.zeros(model.node_count))
    step, numeric = 1e-6, np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        sides = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            sides.append(energy(model, moved))
        numeric[index] = -(sides[0] - sides[1]) / (2 * step)
    assert np.abs(force - numeric).max() < 1e-6 * np.abs(force).max()


def test_forces_equal_the_slow_twin_inverted_tets_included():
    model = model_of((2, 2, 2))
    x = crumpled(model, 1.0)
    F = deformation(model, x)
    assert (np.linalg.det(F) < 0).sum() > 5
    R = slow_rotations(F)
    P = R @ stress(corotated_strain(F, R), model.mu, model.lam)
    expected = -model.volume[:, None, None] * np.einsum("mij,maj->mai", P, gradients(model))
    forces = tet_forces(model, x)
    assert np.abs(forces - expected).max() < 1e-10 * np.abs(expected).max()
    _, on_nodes = assembled(model, x, 0.0, 0.0, np.zeros(model.node_count))
    gathered = np.zeros_like(x)
    np.add.at(gathered, model.tets, expected)
    assert np.abs(on_nodes - gathered).max() < 1e-10 * np.abs(gathered).max()


def test_forces_of_every_tet_sum_to_zero_and_so_does_their_torque():
    model = model_of((2, 2, 2))
    x = crumpled(model, 1.0)
    forces = tet_forces(model, x)
    size = np.abs(forces).sum(axis=(1, 2))
    assert (np.abs(forces.sum(axis=1)).max(axis=1) < 1e-13 * size).all()
    torque = np.cross(x[model.tets] - x[model.tets].mean(axis=1, keepdims=True), forces).sum(axis=1)
    arm = np.abs(x[model.tets] - x[model.tets].mean(axis=1, keepdims=True)).max(axis=(1, 2))
    assert (np.abs(torque).max(axis=1) < 1e-12 * size * arm).all()


def test_mass_force_and_stiffness_scale_with_the_filled_share():
    X, tets = bar((2, 2, 1), (0.5, 1.2, 0.4))
    share = RANDOM.uniform(0.1, 1.0, len(tets))
    full, partly = (make_model([Part("bar", X, tets, f, MATERIAL)]) for f in (np.ones(len(tets)), share))
    corners = X[tets]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    for model, f in ((full, np.ones(len(tets))), (partly, share)):
        wanted = np.zeros(len(X))
        np.add.at(wanted, tets.ravel(), np.repeat(0.25 * MATERIAL.density * f * volume, 4))
        assert np.abs(model.mass - wanted).max() < 1e-12 * wanted.max()
    x = crumpled(full, 0.2)
    forces = tet_forces(full, x)
    assert np.abs(tet_forces(partly, x) - share[:, None, None] * forces).max() < 1e-12 * np.abs(forces).max()
    # one tet at a time: its block of the matrix
    for tet in (0, len(tets) - 1):
        one, less = (make_model([Part("one", X[tets[tet]], np.arange(4)[None], [f], MATERIAL)]) for f in (1.0, 0.25))
        K, _ = assembled(one, x[tets[tet]], 1.0, 1.0, np.zeros(4))
        quarter, _ = assembled(less, x[tets[tet]], 1.0, 1.0, np.zeros(4))
        assert np.abs(quarter - 0.25 * K).max() < 1e-12 * np.abs(K).max()


def test_rigid_motion_makes_no_force():
    model = model_of((2, 2, 2))
    x = model.X @ slow_rotations(RANDOM.normal(size=(1, 3, 3)))[0].T + [3.0, -2.0, 1.0]
    _, force = assembled(model, x, 0.0, 0.0, np.zeros(model.node_count))
    _, typical = assembled(model, 1.1 * model.X, 0.0, 0.0, np.zeros(model.node_count))
    assert np.abs(force).max() < 1e-10 * np.abs(typical).max()


def test_linear_tets_do_feel_a_rotation():
    model = model_of()
    turned = model.X @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).T
    force = slice(FORCE, FORCE + 9)
    corotated, linear = records_at(model, turned)[:, force], records_at(model, turned, compute_linear_records)[:, force]
    assert np.abs(corotated).max() < 1e-10 * np.abs(linear).max()


def strain_displacement(g):
    """B of one tet, strain (xx, yy, zz, 2xy, 2yz, 2zx) ← displacements, (6, 12)."""
    B = np.zeros((6, 12))
    for a, (x, y, z) in enumerate(g):
        B[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
    return B


def elasticity(E, nu):
    """E matrix of the isotropic solid in terms of Young's modulus and Poisson's ratio, (6, 6)."""
    D = np.zeros((6, 6))
    D[:3, :3] = nu
    np.fill_diagonal(D, [1 - nu] * 3 + [0.5 - nu] * 3)
    return D * E / ((1 + nu) * (1 - 2 * nu))


def slow_stiffness(model, R):
    """Σ R_e K_e R_eᵀ with K_e = V Bᵀ E B, as MG04 writes it, (3n, 3n)."""
    K = np.zeros((3 * model.node_count, 3 * model.node_count))
    D = elasticity(MATERIAL.youngs_modulus, MATERIAL.poisson_ratio)
    for tet, g in enumerate(gradients(model)):
        B = strain_displacement(g)
        turn = np.kron(np.eye(4), R[tet])
        place = (3 * model.tets[tet][:, None] + np.arange(3)).ravel()
        K[np.ix_(place, place)] += model.volume[tet] * turn @ B.T @ D @ B @ turn.T
    return K


def test_stiffness_is_the_rotated_element_matrix():
    model = model_of((2, 1, 2))
    x = crumpled(model, 0.8)
    mass = RANDOM.uniform(1, 2, model.node_count)
    matrix, _ = assembled(model, x, 0.7, 0.0, mass)
    expected = 0.7 * slow_stiffness(model, slow_rotations(deformation(model, x))) + np.diag(np.repeat(mass, 3))
    assert np.abs(matrix - expected).max() < 1e-12 * np.abs(expected).max()


def test_force_is_affine_in_positions_while_the_rotation_is_held():
    model = model_of()
    x = crumpled(model, 0.2)
    K = slow_stiffness(model, slow_rotations(deformation(model, x)))
    _, force = assembled(model, x, 0.0, 0.0, np.zeros(model.node_count))
    turned_rest = np.einsum("mij,maj->mai", slow_rotations(deformation(model, x)), model.X[model.tets])
    D = elasticity(MATERIAL.youngs_modulus, MATERIAL.poisson_ratio)
    f0 = np.zeros((model.node_count, 3))
    for tet, g in enumerate(gradients(model)):
        B, turn = strain_displacement(g), np.kron(np.eye(4), slow_rotations(deformation(model, x))[tet])
        K_e = model.volume[tet] * turn @ B.T @ D @ B @ turn.T
        np.add.at(f0, model.tets[tet], (K_e @ turned_rest[tet].ravel()).reshape(4, 3))
    assert np.abs(force - (f0.ravel() - K @ x.ravel()).reshape(-1, 3)).max() < 1e-9 * np.abs(force).max()


def slow_damping_force(model, x, v):
    """−Σ V F S g_a with S = β (2μ Ė + λ tr Ė I) / max(1, ‖F‖²/3)² and Ė = sym(FᵀḞ), (n, 3)."""
    F, rate = deformation(model, x), deformation(model, v)
    E_rate = 0.5 * (np.swapaxes(F, 1, 2) @ rate + np.swapaxes(rate, 1, 2) @ F)
    beta = model.stiffness_damping / np.maximum(1.0, np.sum(F * F, axis=(1, 2)) / 3.0) ** 2
    S = beta[:, None, None] * stress(E_rate, model.mu, model.lam)
    forces = -model.volume[:, None, None] * np.einsum("mij,maj->mai", F @ S, gradients(model))
    total = np.zeros_like(x)
    np.add.at(total, model.tets, forces)
    return total


def test_damping_matrix_is_that_of_greens_strain_rate():
    model = model_of((2, 1, 2))
    x, v = crumpled(model, 0.8), RANDOM.normal(size=(model.node_count, 3))
    C, _ = assembled(model, x, 0.0, 1.0, np.zeros(model.node_count))
    expected = slow_damping_force(model, x, v)
    assert np.abs(-(C @ v.ravel()).reshape(-1, 3) - expected).max() < 1e-10 * np.abs(expected).max()
    assert np.abs(C - C.T).max() < 1e-12 * np.abs(C).max()
    assert np.linalg.eigvalsh(C).min() > -1e-12 * np.abs(C).max()


def test_damping_makes_no_net_force_and_no_torque():
    model = model_of((2, 1, 2))
    x, v = crumpled(model, 0.8), RANDOM.normal(size=(model.node_count, 3))
    C, _ = assembled(model, x, 0.0, 1.0, np.zeros(model.node_count))
    force = -(C @ v.ravel()).reshape(-1, 3)
    size = np.abs(force).sum()
    assert size > 1.0
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * size
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * size * np.abs(x).max()


def test_damping_does_not_feel_rigid_motion_of_a_deformed_body():
    model = model_of((2, 1, 2))
    x = crumpled(model, 0.8)
    v = np.cross([1.0, -2.0, 0.5], x) + [3.0, 2.0, 1.0]
    C, _ = assembled(model, x, 0.0, 1.0, np.zeros(model.node_count))
    assert np.abs(C @ v.ravel()).max() < 1e-12 * np.abs(C).max() * np.abs(v).max()


def test_a_tet_at_its_initial_strain_feels_no_force():
    six = np.array([0.05, -0.02, 0.03, 0.01, -0.015, 0.02])
    strain = np.array([[six[0], six[3], six[5]], [six[3], six[1], six[4]], [six[5], six[4], six[2]]])
    tets = model_of().tet_count
    model = model_of(initial_strain=np.tile(six, (tets, 1)))
    x = model.X @ (np.eye(3) + strain)
    at_rest = np.abs(tet_forces(model, model.X)).max()
    assert at_rest > 1.0
    assert np.abs(tet_forces(model, x)).max() < 1e-11 * at_rest
    expected = 2 * model.mu[0] * strain + model.lam[0] * np.trace(strain) * np.eye(3)
    forces = model.volume[:, None, None] * np.einsum("ij,maj->mai", expected, gradients(model))
    assert np.abs(tet_forces(model, model.X) - forces).max() < 1e-11 * at_rest


def test_moduli():
    mu, lam = lame_moduli(2.0e5, 0.3)
    assert mu == pytest.approx(2.0e5 / 2.6)
    # a bar pulled with free sides narrows by ν and answers with E
    strain = np.diag([0.01, -0.003, -0.003])
    assert np.allclose(stress(strain, mu, lam), np.diag([2000.0, 0.0, 0.0]), atol=1e-9)


def test_rows_of_some_bodies_are_written_and_no_others():
    meshes = [bar((1, 1, n), (0.5, 0.5, 0.5 * n)) for n in (1, 2, 3)]
    model = make_model([Part(f"b{len(X)}", X, tets, np.ones(len(tets)), MATERIAL) for X, tets in meshes])
    p, x, mass = model.pattern, crumpled(model, 0.1), np.linspace(1.0, 2.0, model.node_count)
    whole, whole_force = np.full((p.block_count, 9), np.nan), np.full((model.node_count, 3), np.nan)
    assemble(2.0, 3.0, mass, p, records_at(model, x), whole, whole_force)
    for nodes in (body.nodes for body in model.bodies):
        values, force = np.full((p.block_count, 9), np.nan), np.full((model.node_count, 3), np.nan)
        assemble(2.0, 3.0, mass, p, records_at(model, x), values, force, nodes)
        rows = slice(p.row_start[nodes.start], p.row_start[nodes.stop])
        assert (values[rows] == whole[rows]).all() and (force[nodes] == whole_force[nodes]).all()
        assert np.isnan(values).sum() == 9 * (p.block_count - (rows.stop - rows.start)) > 0
        assert np.isnan(force).sum() == 3 * (model.node_count - (nodes.stop - nodes.start)) > 0


def test_blocks_of_no_tet_are_zero():
    model = model_of()
    p, n = model.pattern, model.node_count
    rows, columns = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    old_rows = np.repeat(np.arange(n), np.diff(p.row_start.astype(int)))
    place = old_rows * n + p.column.astype(int)  # every node with every node
    full = dataclasses.replace(
        p,
        row_start=(n * np.arange(n + 1)).astype(np.uint32),
        column=columns.astype(np.uint32),
        diagonal=((n + 1) * np.arange(n)).astype(np.uint32),
        corner_block=place[p.corner_block].astype(np.uint32),
    )
    values, force = np.full((n * n, 9), np.nan), np.empty((n, 3))
    expected, _ = assembled(model, model.X, 1.0, 0.5, np.ones(n))
    assemble(1.0, 0.5, np.ones(n), full, records_at(model, model.X), values, force)
    found = np.zeros((n, 3, n, 3))
    found[rows, :, columns, :] = values.reshape(-1, 3, 3)
    assert (found.reshape(3 * n, -1) == expected).all() and len(rows) > len(old_rows)


def test_the_number_of_threads_changes_no_bit():
    model = model_of((9, 9, 9))
    x, found = crumpled(model, 0.1), []
    assert model.tet_count > corotational_element.TETS_PER_CHUNK
    before = thread_count()
    for count in (1, 2):
        set_thread_count(count)
        p = model.pattern
        values, force = np.empty((p.block_count, 9)), np.empty((model.node_count, 3))
        assemble(1.0, 0.1, model.mass, p, records_at(model, x), values, force)
        found.append(values.tobytes() + force.tobytes())
    set_thread_count(before)
    assert found[0] == found[1]


def test_what_becomes_of_a_tet_does_not_depend_on_those_worked_on_at_the_same_time():
    model = model_of((2, 2, 3))
    x = crumpled(model, 0.4)
    whole, alone = records_at(model, x), np.empty((model.tet_count, corotational_element.MAX_RECORD_LENGTH))
    for tet in range(model.tet_count):
        one = slice(tet, tet + 1)
        corotational_element.compute_corotational_records(x, element_arrays(model).select(one), alone[one])
    written = np.r_[: V_MU + 1, FORCE : DAMPING_MU + 1, BULK_STIFFNESS : BULK_DAMPING + 1]
    assert (whole[:, written] == alone[:, written]).all()
