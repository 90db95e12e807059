# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear, polar and QR bodies: against slow twins, with plastic strain, stress, held rotations, and in steps."""

from dataclasses import replace

import numpy as np
import pytest

from formulation_twins_records import Tet, forces_and_stiffness, rotation
from meshes import bar
from sinew.solver.elements.assembly import assemble
from sinew.solver.elements.frames import find_frames
from sinew.solver.elements.higham import orthogonal_factor_of
from sinew.solver.elements.qr import qr_rotation_of
from sinew.solver.elements.rotation import rotation_of
from sinew.solver.elements.stored_energy import stored_energy
from sinew.solver.elements.stress import elastic_stress
from sinew.solver.formulations import formulation
from sinew.solver.integrators.constant_rows import recall
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.linearised import join, warp
from sinew.solver.integrators.matrix_free import left_out
from sinew.solver.integrators.outside import Outside, Pairs, Points
from sinew.solver.integrators.workspace import workspace
from sinew.solver.method import HIGHAM, Method
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material, Settings
from sinew.solver.state import State

LINEAR, POLAR, BY_HIGHAM = Method("linear"), Method("polar"), Method("polar", rotation=HIGHAM)
FRESH, STALE = Method("qr"), Method("qr", is_stale=True)
ALL = {"linear": LINEAR, "polar": POLAR, "Higham": BY_HIGHAM, "QR": FRESH, "QR, stale": STALE}
every_method = pytest.mark.parametrize("method", ALL.values(), ids=ALL)
MATERIAL = Material(3.0e4, 0.4, 900.0, stiffness_damping=0.02)


def part(method=POLAR, key="bar", cells=(2, 2, 3), at=0.0, strained=False, material=MATERIAL):
    nodes, tets = bar(cells, (0.5, 0.6, 1.0))
    fill = np.linspace(0.3, 1.0, len(tets))
    initial = 0.05 * np.random.default_rng(7).normal(size=(len(tets), 6)) if strained else None
    return Part(key, nodes + [at, 0.0, 0.0], tets, fill, material, initial_strain=initial, method=method)


def crumpled(model, amount=0.3, seed=3):
    """Positions turned, stretched and pushed about; many tets are inverted where the amount is large."""
    random = np.random.default_rng(seed)
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    size = model.volume.max() ** (1 / 3)
    turn = Q * np.sign(np.linalg.det(Q)) @ np.diag([1.3, 0.8, 1.1])
    return model.X @ turn.T + amount * size * random.normal(size=model.X.shape)


def dense(model, values):
    """The blocks of a matrix as one, (3n, 3n)."""
    p, n = model.pattern, model.node_count
    found = np.zeros((n, 3, n, 3))
    found[np.repeat(np.arange(n), np.diff(p.row_start)), :, p.column, :] = values.reshape(-1, 3, 3)
    return found.reshape(3 * n, 3 * n)


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
    warp(replace(model, methods=(method,)), x)
    stored = stored_energy(replace(model, methods=(method,)), x, workspace(model.pattern).warped)
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
    warp(alone, x)
    warp(others, many)
    own = workspace(alone.pattern).warped[:, :62]
    assert np.array_equal(workspace(others.pattern).warped[others.bodies[1].tets, :45], own[:, :45])


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
            assert np.abs(R - np.array(rotation_of(*F.ravel())).reshape(3, 3)).max() < 1e-9 * s[0] / (s[1] + s[2])


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
            step(model, state, Outside(), 0.01, Settings())
        F = (state.x[1:] - state.x[0]).T
        assert np.linalg.det(F) == pytest.approx(sign, rel=0.02), method
        assert np.abs(F.T @ F - np.eye(3)).max() < 0.03


def test_the_rotation_by_edges_keeps_edge_and_plane():
    """The first edge stays along itself, the triangle abc in its plane, and the frame right-handed."""
    random = np.random.default_rng(4)
    for _ in range(200):
        D0, D = 2.0 * np.eye(3) + 0.4 * random.normal(size=(3, 3)), random.normal(size=(3, 3))
        G = np.linalg.inv(D0)
        R = np.array(qr_rotation_of(*(D @ G).ravel(), *G[1], *G[2])).reshape(3, 3)
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
        find_frames(method, x, model.tets, model.Dm_inverse, frames)
        assert np.abs(frames @ np.swapaxes(frames, 1, 2) - np.eye(3)).max() < 1e-9
        assert (np.linalg.det(frames) > 0).all()


@every_method
def test_damping_takes_nothing_from_a_rigid_motion_but_of_linear_bodies(method):
    model = make_model([part(method)])
    x = crumpled(model, 0.05)
    warp(model, x)
    work, p = workspace(model.pattern), model.pattern
    assemble(0.0, 1.0, np.zeros(model.node_count), p, work.warped, work.values, work.force)
    C = dense(model, work.values)
    spin = np.cross([1.0, -2.0, 0.5], x).ravel()
    slow = np.abs(C @ spin).max() / (np.abs(C).max() * np.abs(spin).max())
    assert (slow > 1e-3) if method is LINEAR else (slow < 1e-13)
    assert np.linalg.eigvalsh(C).min() > -1e-10 * np.abs(C).max()
    along = np.tile([1.0, 2.0, 3.0], model.node_count)
    assert np.abs(C @ along).max() < 1e-12 * np.abs(C).max()


def test_the_matrix_of_linear_bodies_never_changes():
    """The blocks of a step are the same bits wherever the body is, damping included."""
    model = make_model([part(LINEAR)])
    seen = []
    for amount in (0.0, 0.1, 0.5):
        warp(model, crumpled(model, amount) if amount else model.X)
        join(model, 0.01)
        seen.append(workspace(model.pattern).values.copy())
    assert np.array_equal(seen[0], seen[1]) and np.array_equal(seen[0], seen[2])
    polar = make_model([part(POLAR)])
    warp(polar, crumpled(polar, 0.1))
    join(polar, 0.01)
    assert np.abs(workspace(polar.pattern).values - seen[0]).max() > 0.01 * np.abs(seen[0]).max()


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
    warp(model, state.x)
    stored = stored_energy(model, state.x, workspace(model.pattern).warped)
    motion = []
    for _ in range(round(0.4 / dt)):
        step(model, state, Outside(), dt, Settings(tolerance=1e-10))
        motion.append(np.bincount(model.pattern.island_of_row, 0.5 * model.mass * (state.v**2).sum(axis=1)))
    assert (np.max(motion, axis=0) < 30.0 * stored).all()


def run(model, steps=12, state=None, dt=0.01):
    state = state or State(model.X.copy(), np.zeros_like(model.X))
    held = model.X[:, 2] == 0.0
    for _ in range(steps):
        step(model, state, Outside(np.array([9.81, 0.0, 0.0]), held, model.X), dt, Settings())
    return state


def test_held_rotations_are_those_of_the_step_that_found_them():
    method = Method("polar", rotations_every=3)
    model = make_model([part(method), part(POLAR, "other", at=3.0)])
    state, seen = State(model.X.copy(), np.zeros_like(model.X)), []
    for _ in range(7):
        before = state.x.copy()
        run(model, 1, state)
        seen.append((before, state.fields["tet.rotation"].copy()))
    own = model.bodies[0].tets
    for found in (0, 3, 6):
        wanted = np.empty((model.tet_count, 3, 3))
        find_frames(POLAR, seen[found][0], model.tets, model.Dm_inverse, wanted)
        for later in range(found, min(found + 3, 7)):
            assert np.array_equal(seen[later][1][own], wanted[own])
    assert not np.array_equal(seen[2][1], seen[3][1])
    assert not seen[0][1][model.bodies[1].tets].any()


def test_the_forces_of_held_rotations_are_those_of_the_twin():
    model = make_model([part(Method("polar", rotations_every=5))])
    held, x = np.empty((model.tet_count, 3, 3)), crumpled(model, 0.1)
    find_frames(POLAR, crumpled(model, 0.1, seed=8), model.tets, model.Dm_inverse, held)
    warp(model, x, held)
    join(model, 1.0)
    force, K, _ = forces_and_stiffness(model, POLAR, x, held)
    assert np.abs(workspace(model.pattern).force - force).max() < 1e-11 * np.abs(force).max()


def test_rotations_of_every_step_are_those_of_the_default():
    default, explicit = make_model([part()]), make_model([part(), part(LINEAR, "other", at=3.0)])
    one, other = run(default), run(explicit)
    assert default.methods == () and np.array_equal(one.x, other.x[explicit.bodies[0].nodes])


@pytest.mark.parametrize("method", [Method("polar", rotations_every=4), FRESH, STALE, LINEAR, BY_HIGHAM])
def test_what_is_taken_up_in_the_middle_goes_on_with_the_same_bits(method):
    model = make_model([part(method)])
    whole = run(model, 14)
    half = run(model, 6)
    again = run(model, 8, State.from_arrays(half.to_arrays()))
    assert np.array_equal(whole.x, again.x) and np.array_equal(whole.v, again.v)


def forced(method, pins=True):
    """A model, and what holds one end of it and pulls at a tet."""
    model = make_model([part(method)])
    spring = Points(
        np.array([5], np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 40.0, np.zeros((1, 3, 3))
    )
    held = model.X[:, 2] == 0.0 if pins else None
    return model, Outside(np.array([9.81, 0.0, 0.0]), held, model.X if pins else None, points=spring)


MATRIX_FREE = {"fresh": Method("qr", is_matrix_free=True), "stale": Method("qr", is_stale=True, is_matrix_free=True)}
free_of_matrices = pytest.mark.parametrize("method", MATRIX_FREE.values(), ids=MATRIX_FREE)


@free_of_matrices
def test_products_made_tet_by_tet_are_those_of_the_matrix(method):
    """The product, its diagonal, and how it bends, damping included; nothing of it is in the matrix."""
    dt, model = 0.01, make_model([part(method)])
    x = crumpled(model)
    whole = make_model([part(replace(method, is_matrix_free=False))])
    for of in (model, whole):
        warp(of, x)
        join(of, dt)
    A, besides = dense(model, workspace(whole.pattern).values), left_out(model)
    assert left_out(whole) is None and besides is not None
    assert np.array_equal(workspace(model.pattern).force, workspace(whole.pattern).force)
    v = np.random.default_rng(5).normal(size=x.shape)
    mass = dense(model, workspace(model.pattern).values)
    assert np.count_nonzero(mass) == 3 * model.node_count
    product = (mass @ v.ravel()).reshape(-1, 3)
    besides.add_to(v, product)
    assert np.abs(product.ravel() - A @ v.ravel()).max() < 1e-13 * np.abs(A @ v.ravel()).max()
    blocks = besides.diagonal(model.node_count) + workspace(model.pattern).values[model.pattern.diagonal]
    wanted = workspace(whole.pattern).values[whole.pattern.diagonal]
    assert np.abs(blocks - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert besides.bend(model.pattern, v)[0] == pytest.approx(v.ravel() @ (A - mass) @ v.ravel(), rel=1e-12)


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
    push = Pairs(np.array([2], np.int32), weights, np.array([70], np.int32), weights, np.ones((1, 3)), np.eye(3)[None])
    ends = []
    for is_free in (True, False):
        model = make_model([part(Method("qr", is_matrix_free=is_free)), part(POLAR, "other", at=1.0)])
        state = State(model.X.copy(), np.cross([3.0, 1.0, 2.0], model.X))
        for acting in (Outside(), Outside(pairs=push), Outside()):
            for _ in range(3):
                assert step(model, state, acting, 0.01, Settings(tolerance=1e-9, max_iterations=2000)).converged
        ends.append(state.x)
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_rows_of_linear_bodies_are_kept_until_anything_in_them_changes():
    """The same bits as assembled anew: in every step, after another Δt, and with other moduli."""
    kept = make_model([part(LINEAR), part(POLAR, "other", at=3.0)])
    x = crumpled(kept, 0.1)
    for dt, scale in ((0.01, 1.0), (0.01, 1.0), (0.02, 1.0), (0.02, 1.0), (0.02, 3.0), (0.02, 1.0)):
        model = kept if scale == 1.0 else replace(kept, mu=scale * kept.mu)
        fresh = make_model([part(LINEAR), part(POLAR, "other", at=3.0)])
        fresh = fresh if scale == 1.0 else replace(fresh, mu=scale * fresh.mu)
        x = x + 0.01
        for of in (model, fresh):
            warp(of, x)
            join(of, dt)
        one, other = workspace(model.pattern), workspace(fresh.pattern)
        assert np.array_equal(one.values, other.values) and np.array_equal(one.force, other.force)
    assert recall(kept, 0, 0.02) and not recall(kept, 0, 0.03) and not recall(kept, 1, 0.02)
