# SPDX-License-Identifier: GPL-3.0-or-later
"""Warped stiffness with a rotation per vertex: MDMJC02, against slow twins and against what the paper claims."""

import numpy as np
import pytest

from fixtures.scenes import rotation
from fixtures.tet_meshes import bar
from fixtures.vertex_warp_cases import ALL, FRAMES, GHOST, NETWORK, TIGHT, WARP, E, bar_model, bent
from harness.formulations import formulation
from reference import vertex_warp as twins
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.vertex_warp.rest_stiffness import rest_stiffness
from sinew.solver.mechanics.vertex_warp.spring_network import add_springs
from sinew.solver.mechanics.vertex_warp.vertex_rotations import chosen_edges
from sinew.solver.scene.formulation import EDGES, SPRINGS, FormulationSettings


def twin_of(method, model):
    """Returns K, (3n, 3n), and the rotations as a function of x, by the slow twins."""
    if method.network == SPRINGS:
        K = twins.spring_stiffness(model.X, model.tets, np.full(model.tet_count, E))
    else:
        K = twins.linear_stiffness(model.X, model.tets, model.mu, model.lam)
    if method.rotation_field != EDGES:
        return K, lambda x: twins.least_squares_rotations(model.X, model.tets, x)
    chosen = rest_stiffness(model, [(model.bodies[0], method)]).selected_edges
    return K, lambda x: twins.edge_rotations(model.X, x, model.pattern.column[chosen])


@ALL
def test_forces_and_stiffness_are_those_of_the_twin(method):
    model = bar_model(method)
    asked, x = formulation(model, method), bent(model.X)
    K, rotations_at = twin_of(method, model)
    f, rotations = asked.forces(x), rotations_at(x)
    expected = twins.warped_forces(K, model.X, rotations, x)
    assert np.abs(f).max() > 1e3
    assert np.abs(f - expected).max() < 1e-10 * np.abs(expected).max()
    matrix, of_twin = twins.whole(model.pattern, asked.stiffness(x)), twins.warped_stiffness(K, rotations)
    assert np.abs(matrix - of_twin).max() < 1e-10 * np.abs(of_twin).max()
    assert np.abs(matrix - matrix.T).max() > 1e-3 * np.abs(matrix).max()
    assert asked.energy(x) is None


@ALL
def test_stiffness_is_the_derivative_of_the_force_with_rotations_held(method):
    model = bar_model(method)
    K, rotations_at = twin_of(method, model)
    x = bent(model.X)
    rotations, d = rotations_at(x), np.random.default_rng(2).normal(size=x.shape)
    h = 1e-4
    ends = [twins.warped_forces(K, model.X, rotations, x + s * h * d) for s in (1.0, -1.0)]
    change = (ends[0] - ends[1]) / (2.0 * h)
    matrix = twins.whole(model.pattern, formulation(model, method).stiffness(x))
    assert np.abs(change.ravel() + matrix @ d.ravel()).max() < 1e-6 * np.abs(change).max()


@ALL
def test_a_rigid_motion_makes_no_force(method):
    model = bar_model(method)
    for axis, angle in (((0.0, 0.0, 1.0), 0.5), ((1.0, -1.0, 2.0), 3.0)):
        x = model.X @ rotation(axis, angle).T + [10.0, 20.0, -5.0]
        assert np.abs(formulation(model, method).forces(x)).max() < 1e-8 * E


def test_a_neighbourhood_turned_inside_out_has_a_proper_rotation():
    model = bar_model()
    x = model.X * [1.0, 1.0, -1.0]
    for R in twins.least_squares_rotations(model.X, model.tets, x):
        assert np.linalg.det(R) == pytest.approx(1.0)
    K, rotations_at = twin_of(WARP, model)
    f = formulation(model, WARP).forces(x)
    # mirrored neighbourhoods have equal singular values here and there, where any of several rotations will do
    assert np.isfinite(f).all() and np.abs(f).max() > 1e3
    x = model.X * [1.0, 1.3, -0.4]
    expected = twins.warped_forces(K, model.X, rotations_at(x), x)
    assert np.abs(formulation(model, WARP).forces(x) - expected).max() < 1e-8 * np.abs(expected).max()


def test_flat_frames_fall_back_to_least_squares():
    model = bar_model(FRAMES)
    x = model.X.copy()
    x[:] = x[0]  # all in one point: no direction at all
    assert np.isfinite(formulation(model, FRAMES).forces(x)).all()
    x = model.X * [1.0, 0.0, 0.0]  # a line
    assert np.isfinite(formulation(model, FRAMES).forces(x)).all()


@pytest.mark.parametrize("first", [0, 1], ids=["last", "first"])
def test_a_node_without_tets_has_no_edges(first):
    nodes, tets = bar((1, 1, 1), (1.0, 1.0, 1.0))
    pattern = block_pattern(tets + first, len(nodes) + 1)
    edges = nodes[tets][:, 1:] - nodes[tets][:, :1]
    chosen = chosen_edges(pattern, np.swapaxes(edges, 1, 2))
    lone = 0 if first else len(nodes)
    assert (chosen[lone] == pattern.diagonal[lone]).all()
    own = chosen_edges(block_pattern(tets, len(nodes)), np.swapaxes(edges, 1, 2))
    others = np.delete(chosen, lone, axis=0)
    assert (pattern.column[others] == block_pattern(tets, len(nodes)).column[own] + first).all()


def test_the_ghost_force():
    """MDMJC02, section 3: forces need not sum up to nothing, as they do with a rotation per tet."""
    model = bar_model()
    x = bent(model.X)
    f = formulation(model, WARP).forces(x)
    assert np.linalg.norm(f.sum(axis=0)) > 1e-3 * np.abs(f).max()
    assert np.linalg.norm(np.cross(x - x.mean(axis=0), f).sum(axis=0)) > 1e-3 * np.abs(f).max()
    polar = FormulationSettings("polar")
    of_tets = formulation(model, polar).forces(x)
    assert np.linalg.norm(of_tets.sum(axis=0)) < 1e-11 * np.abs(of_tets).max()


def flung(method, steps=50, damping=0.0, dt=0.01):
    """Returns momentum and angular momentum about the origin at the begin and at the end of a free flight of a bar."""
    model = bar_model(method, damping=damping)
    x = bent(model.X)
    v = np.cross([0.0, 2.0, 1.0], x - x.mean(axis=0)) + [1.0, 0.0, 0.0]
    state, found = State(x, v), []
    for number in range(steps + 1):
        found.append(np.concatenate([model.mass @ state.v, model.mass @ np.cross(state.x, state.v)]))
        if number < steps:
            assert step(model, state, ExternalForces(), dt, TIGHT).converged
    return found[0], found[-1], model.mass.sum()


@ALL
@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_momentum_is_kept_to_round_off(method, damping):
    begin, end, _ = flung(method, damping=damping)
    assert np.abs(end - begin).max() < 1e-10 * np.abs(begin).max()


def test_without_the_correction_the_ghost_force_moves_and_turns_a_free_body():
    begin, end, mass = flung(GHOST)
    assert np.linalg.norm(end[:3] - begin[:3]) > 0.01 * mass  # a centimetre a second and more, out of nothing
    assert np.linalg.norm(end[3:] - begin[3:]) > 1e-3 * np.linalg.norm(begin[3:])


def test_free_fall_is_that_of_implicit_euler():
    model, g, dt, steps = bar_model(), np.array([0.0, 0.0, -9.81]), 0.01, 30
    state = State(bent(model.X), np.zeros_like(model.X))
    before = model.mass @ state.x / model.mass.sum()
    for _ in range(steps):
        step(model, state, ExternalForces(g), dt, TIGHT)
    t = steps * dt
    fallen = model.mass @ state.x / model.mass.sum() - before
    assert fallen == pytest.approx(0.5 * g * t * (t + dt), abs=1e-12)


def sag(method, youngs=1.0e7):
    """Returns how far the end of a bar sinks that is held at its other end, and comes to rest."""
    model = bar_model(method, cells=(8, 2, 2), lengths=(4.0, 1.0, 1.0), damping=0.05, youngs=youngs)
    held, state = model.X[:, 0] < 1e-9, State(model.X.copy(), np.zeros_like(model.X))
    for _ in range(60):
        step(model, state, ExternalForces(np.array([0.0, 0.0, -9.81]), held, model.X), 0.2, TIGHT)
    assert np.abs(state.v).max() < 1e-4
    return (model.X - state.x)[model.X[:, 0] > 3.999, 2].mean()


def test_a_bent_bar_goes_to_the_limit_of_small_strain():
    """Warped tets sag as polar ones, the more so the stiffer they are."""
    apart = [sag(WARP, youngs) / sag(FormulationSettings("polar"), youngs) - 1.0 for youngs in (1.0e7, 1.0e8)]
    assert abs(apart[0]) < 0.03 and abs(apart[1]) < 0.2 * abs(apart[0])


def test_frames_and_springs_sag_as_much_as_they_should():
    assert sag(FRAMES, 1.0e8) == pytest.approx(sag(WARP, 1.0e8), rel=0.03)
    # springs have E, and a ratio of ¼ for 0.3, on tets that do not lie alike in all directions
    assert sag(NETWORK, 1.0e8) == pytest.approx(sag(WARP, 1.0e8), rel=0.3)


@pytest.mark.slow
def test_springs_spread_evenly_have_the_modulus_asked_for():
    """Averaged over all turns of a tet, its springs store what isotropic material with a ratio of ¼ does."""
    rng = np.random.default_rng(3)
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.3, 0.2, 1.1]])
    tets = np.array([[0, 1, 2, 3]], np.int32)
    pattern = block_pattern(tets, 4)
    strain = np.array([[0.03, 0.01, 0.0], [0.01, -0.02, 0.015], [0.0, 0.015, 0.01]])
    volume = np.linalg.det((X[1:] - X[0]).T) / 6.0
    stored = []
    for _ in range(4000):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        x = X @ (Q * np.sign(np.linalg.det(Q))).T
        K, push = np.zeros((pattern.block_count, 9)), np.zeros((4, 3))
        Dm = (x[1:] - x[0]).T[None]
        add_springs(pattern, slice(0, 1), tets, Dm, np.zeros((0, 6)), np.array([E]) * np.array([volume]), K, push)
        u = x @ strain
        stored.append(0.5 * u.ravel() @ twins.whole(pattern, K) @ u.ravel())
    mu = lam = 0.4 * E
    expected = volume * (mu * np.sum(strain**2) + 0.5 * lam * np.trace(strain) ** 2)
    assert np.mean(stored) == pytest.approx(expected, rel=0.02)
