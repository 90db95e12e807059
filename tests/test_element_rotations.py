# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of tets: by Higham's iteration, by edges, and held for some steps."""

import numpy as np
import pytest

from fixtures.corotational_bars import BY_HIGHAM, FRESH, LINEAR, POLAR, STALE, crumpled, dense, part
from harness.formulations import formulation
from reference.corotational import forces_and_stiffness, rotation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.system.step_matrix import assemble_system, compute_element_records
from sinew.solver.mechanics.elements.element_rotations import compute_rotations
from sinew.solver.mechanics.elements.higham_polar import orthogonal_factor_of
from sinew.solver.mechanics.elements.nearest_rotation import nearest_rotation
from sinew.solver.mechanics.elements.qr_rotation import qr_rotation_of
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material, Settings


@pytest.mark.parametrize("det", (1, -1), ids=["proper", "inverted"])
def test_highams_iteration_is_the_polar_decomposition(det):
    random = np.random.default_rng(1)
    for _ in range(300):
        U, V = (np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in range(2))
        F = U @ np.diag(10.0 ** random.uniform(-3, 3, 3)) @ V.T
        F *= det * np.sign(np.linalg.det(F))
        A, s, B = np.linalg.svd(F)
        R = np.array(orthogonal_factor_of(*F.ravel())).reshape(3, 3)
        # an angle of the factor is known to round-off over the sum of the two smallest stretches
        assert np.abs(R - A @ B).max() < 1e-14 + 1e-14 * s[0] / (s[1] + s[2])
        if det > 0:
            assert np.abs(R - np.array(nearest_rotation(*F.ravel())).reshape(3, 3)).max() < 1e-9 * s[0] / (s[1] + s[2])


@pytest.mark.parametrize("rank", (0, 1, 2))
def test_singular_matrices_have_a_proper_factor(rank):
    """QR comes first: RᵀF is symmetric, without negative eigenvalues, and R turns."""
    random = np.random.default_rng(2)
    cases = [random.normal(size=(3, rank)) @ random.normal(size=(rank, 3)) for _ in range(100)]
    cases += [np.diag(np.roll([1.0, 1.0, 1.0][:rank] + [0.0] * (3 - rank), k)) for k in range(3)]
    for F in cases:
        R = np.array(orthogonal_factor_of(*F.ravel())).reshape(3, 3)
        S = R.T @ F
        assert np.abs(R.T @ R - np.eye(3)).max() < 1e-13 and np.linalg.det(R) > 0
        assert np.abs(S - S.T).max() < 1e-13 and np.linalg.eigvalsh(S).min() > -1e-13


def test_an_inverted_tet_comes_back_by_polar_and_qr_and_as_a_mirror_image_by_higham():
    """One free tet is put inside out and let go: what it comes to rest as."""
    X, tets = np.vstack([np.zeros(3), np.eye(3)]), np.array([[0, 1, 2, 3]], np.int32)
    for method, sign in ((POLAR, 1.0), (FRESH, 1.0), (STALE, 1.0), (BY_HIGHAM, -1.0)):
        model = make_model([Part("tet", X, tets, np.ones(1), Material(1.0e4, 0.3, mass_damping=5.0), method=method)])
        x = X.copy()
        x[3, 2] = -0.4
        state = State(x, np.zeros_like(x))
        for _ in range(400):
            step(model, state, ExternalForces(), 0.01, Settings())
        F = (state.x[1:] - state.x[0]).T
        assert np.linalg.det(F) == pytest.approx(sign, rel=0.02), method
        assert np.abs(F.T @ F - np.eye(3)).max() < 0.03


def test_the_rotation_by_edges_keeps_edge_and_plane():
    """The first edge stays along itself, the triangle abc in its plane, and the frame right-handed."""
    random = np.random.default_rng(4)
    for _ in range(200):
        D0, D = 2.0 * np.eye(3) + 0.4 * random.normal(size=(3, 3)), random.normal(size=(3, 3))
        G = np.linalg.inv(D0)
        R = np.array(qr_rotation_of(tuple((D @ G).ravel()), tuple(G[1]), tuple(G[2]))).reshape(3, 3)
        assert np.abs(R - rotation(FRESH, D, D0)).max() < 1e-13 * np.linalg.cond(D)
        assert np.abs(np.cross(R @ D0[:, 0], D[:, 0])).max() < 1e-12 * np.linalg.norm(D[:, 0]) * np.linalg.norm(D0)
        normal = np.cross(D[:, 0], D[:, 1])
        assert abs(normal @ R @ D0[:, 1]) < 1e-12 * np.linalg.norm(normal) * np.linalg.norm(D0)
        assert np.linalg.det(R) == pytest.approx(1.0)


@pytest.mark.parametrize("method", (FRESH, STALE), ids=["fresh", "stale"])
def test_flat_tets_have_forces_that_are_numbers(method):
    """All in a plane, on a line, and in a point: no division by what is not there, and no force out of nothing."""
    model = make_model([part(method)])
    asked = formulation(model, method)
    frames = np.empty((model.tet_count, 3, 3))
    for flat in ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]):
        x = (model.X * flat) @ np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0].T
        force, K = asked.forces(x), dense(model, asked.stiffness(x))
        assert np.isfinite(force).all() and np.isfinite(K).all()
        assert np.abs(force.sum(axis=0)).max() < 1e-9 * max(np.abs(force).max(), 1.0)
        compute_rotations(method, x, model.tets, model.Dm_inverse, frames)
        assert np.abs(frames @ np.swapaxes(frames, 1, 2) - np.eye(3)).max() < 1e-9
        assert (np.linalg.det(frames) > 0).all()


def run(model, steps=12, state=None, dt=0.01):
    state = state or State(model.X.copy(), np.zeros_like(model.X))
    held = model.X[:, 2] == 0.0
    for _ in range(steps):
        step(model, state, ExternalForces(np.array([9.81, 0.0, 0.0]), held, model.X), dt, Settings())
    return state


def test_held_rotations_are_those_of_the_step_that_found_them():
    method = FormulationSettings("polar", rotations_every=3)
    model = make_model([part(method), part(POLAR, "other", at=3.0)])
    state, seen = State(model.X.copy(), np.zeros_like(model.X)), []
    for _ in range(7):
        before = state.x.copy()
        run(model, 1, state)
        seen.append((before, state.fields["tet.rotation"].copy()))
    own = model.bodies[0].tets
    for found in (0, 3, 6):
        wanted = np.empty((model.tet_count, 3, 3))
        compute_rotations(POLAR, seen[found][0], model.tets, model.Dm_inverse, wanted)
        for later in range(found, min(found + 3, 7)):
            assert np.array_equal(seen[later][1][own], wanted[own])
    assert not np.array_equal(seen[2][1], seen[3][1])
    assert not seen[0][1][model.bodies[1].tets].any()


def test_the_forces_of_held_rotations_are_those_of_the_twin():
    model = make_model([part(FormulationSettings("polar", rotations_every=5))])
    held, x = np.empty((model.tet_count, 3, 3)), crumpled(model, 0.1)
    compute_rotations(POLAR, crumpled(model, 0.1, seed=8), model.tets, model.Dm_inverse, held)
    system = assemble_system(model, compute_element_records(model, x, held), 1.0, StepWorkspace(model.pattern))
    force, K, _ = forces_and_stiffness(model, POLAR, x, held)
    assert np.abs(system.force - force).max() < 1e-11 * np.abs(force).max()


def test_rotations_of_every_step_are_those_of_the_default():
    default, explicit = make_model([part()]), make_model([part(), part(LINEAR, "other", at=3.0)])
    one, other = run(default), run(explicit)
    assert default.methods == () and np.array_equal(one.x, other.x[explicit.bodies[0].nodes])


@pytest.mark.parametrize("method", [FormulationSettings("polar", rotations_every=4), FRESH, STALE, LINEAR, BY_HIGHAM])
def test_what_is_taken_up_in_the_middle_goes_on_with_the_same_bits(method):
    model = make_model([part(method)])
    whole = run(model, 14)
    half = run(model, 6)
    again = run(model, 8, State.from_arrays(half.to_arrays()))
    assert np.array_equal(whole.x, again.x) and np.array_equal(whole.v, again.v)
