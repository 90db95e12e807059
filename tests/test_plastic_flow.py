# SPDX-License-Identifier: GPL-3.0-or-later
"""The laws of plastic flow, tet by tet: against slow twins, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.plastic_tets import FREE, LAM, MU, Tets, some_gradients
from fixtures.scenes import rotation
from reference import plastic_flow as twin
from sinew.solver.mechanics.plasticity.multiplicative_flow import MAX_PLASTIC_STRAIN
from sinew.solver.mechanics.plasticity.plastic_rest_shape import largest_shear, shear_norms
from sinew.solver.mechanics.plasticity.symmetric_matrix import eigenvalues, log_shear, log_shear_bound, matrix_function


@pytest.mark.parametrize("size", [1e-6, 0.01, 0.1, 0.4])
@pytest.mark.parametrize("hardening", [0.0, 0.7])
@pytest.mark.parametrize("maximum", [FREE, 0.15])
def test_flow_is_that_of_the_slow_twin(size, hardening, maximum):
    tets = Tets(some_gradients(40, size), yield_strain=0.3 * size, rate=7.0, maximum=maximum, hardening=hardening)
    inverse, flowed = tets.Fp_inverse.copy(), tets.flowed.copy()
    for step in range(3):
        tets.F = some_gradients(40, size, seed=step)
        for k, F in enumerate(tets.F):
            inverse[k], flowed[k] = twin.flow_one(
                F, inverse[k], MU, LAM, 0.02, 0.3 * size, 7.0, maximum, hardening, flowed[k]
            )
        tets.flow(0.02)
        np.testing.assert_allclose(tets.Fp_inverse, inverse, atol=1e-10)
        np.testing.assert_allclose(tets.flowed, flowed, atol=1e-9)
    assert tets.flowed.max() > 0.1 * size


@pytest.mark.parametrize("dt", [0.1, 0.02, 0.003])
def test_strain_relaxes_as_the_exponential_whatever_the_step(dt):
    tets = Tets(some_gradients(10, 0.1), rate=3.0)
    start = tets.norms
    for number in range(1, 21):
        tets.flow(dt)
        np.testing.assert_allclose(tets.norms, start * np.exp(-3.0 * dt * number), rtol=1e-8)


@pytest.mark.parametrize("dt", [1.0, 0.01])
def test_flow_ends_at_the_yield_strain(dt):
    tets = Tets(some_gradients(10, 0.1), yield_strain=0.05, rate=20.0)
    assert (tets.norms > 0.05).any()
    wanted = np.minimum(tets.norms, 0.05)
    for _ in range(int(2.0 / dt)):
        tets.flow(dt)
    np.testing.assert_allclose(tets.norms, wanted, rtol=1e-9)


def test_below_yield_nothing_changes():
    tets = Tets(some_gradients(20, 0.02), yield_strain=0.2)
    before = tets.Fp_inverse.tobytes(), tets.flowed.tobytes()
    for _ in range(1000):
        tets.flow(0.01)
    assert (tets.Fp_inverse.tobytes(), tets.flowed.tobytes()) == before


def test_no_flow_without_a_rate():
    tets = Tets(some_gradients(5, 0.2), rate=0.0)
    tets.flow(0.01)
    assert (tets.Fp_inverse == np.eye(3)).all()


def test_volume_is_kept_over_thousands_of_steps():
    tets = Tets(some_gradients(10, 0.3), rate=50.0)
    for step in range(4000):
        tets.F = np.roll(tets.F, 1, axis=0) if step % 10 == 0 else tets.F
        tets.flow(0.01)
    assert tets.flowed.min() > 10.0
    np.testing.assert_allclose(np.linalg.det(tets.Fp_inverse), 1.0, atol=1e-13)


def test_a_change_of_size_does_not_flow():
    tets = Tets([0.6 * np.eye(3), 1.7 * rotation([1, 1, 0], 2.0)])
    tets.flow(1.0)
    np.testing.assert_allclose(tets.Fp_inverse, np.tile(np.eye(3), (2, 1, 1)), atol=1e-12)


@pytest.mark.parametrize("maximum", [0.0, 0.02, 0.3])
def test_the_maximum_is_kept(maximum):
    tets = Tets(some_gradients(30, 0.3), rate=5.0, maximum=maximum)
    for step in range(200):
        if step % 40 == 0:
            tets.F = some_gradients(30, 0.3, seed=step)
        tets.flow(0.02)
        assert max(map(twin.norm_of_shape, tets.Fp_inverse)) <= maximum * (1.0 + 1e-9) + 1e-14
    if maximum > 0.0:
        assert max(map(twin.norm_of_shape, tets.Fp_inverse)) > 0.99 * maximum


def test_at_the_maximum_strain_still_turns():
    """Pulled along x to its maximum, then along z: the shape follows, as far as it may."""
    tets = Tets(np.diag([1.3, 1.0 / np.sqrt(1.3), 1.0 / np.sqrt(1.3)]), maximum=0.1)
    for _ in range(200):
        tets.flow(0.02)
    np.testing.assert_allclose(twin.norm_of_shape(tets.Fp_inverse[0]), 0.1)
    tets.F = tets.F[:, ::-1, ::-1]
    for _ in range(200):
        tets.flow(0.02)
    np.testing.assert_allclose(twin.norm_of_shape(tets.Fp_inverse[0]), 0.1)
    assert tets.Fp_inverse[0, 2, 2] < 0.95 < 1.0 < tets.Fp_inverse[0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("maximum", [FREE, 0.1])
@pytest.mark.parametrize("size", [0.05, 0.3, 0.6])
def test_flow_never_adds_elastic_energy(size, maximum):
    """That of the shear never, and all of it not where the pressure is not far above the shear modulus."""
    tets = Tets(some_gradients(100, size), rate=30.0, maximum=maximum)
    for step in range(40):
        if step % 10 == 0:
            tets.F = some_gradients(100, size, seed=step)
        before, norms = tets.energies, tets.norms
        smallest = np.array([twin.stretches(F)[1].min() for F in tets.Fe])
        tets.flow(0.01)
        pressure = -LAM * np.array([np.sum(twin.stretches(F)[1] - 1.0) for F in tets.Fe])
        is_safe = pressure <= 2.0 * MU * (2.0 * smallest - 1.0)
        assert (tets.norms <= norms * (1.0 + 1e-12)).all()
        assert (tets.energies <= before * (1.0 + 1e-12))[is_safe].all()
        assert is_safe.sum() > 25
    assert tets.flowed.max() > 0.0


def test_hardening_ends_flow_where_the_grown_yield_strain_is():
    tets = Tets(some_gradients(10, 0.2), yield_strain=0.01, rate=100.0, hardening=0.5)
    start = tets.norms
    for _ in range(50):
        tets.flow(0.05)
    np.testing.assert_allclose(tets.norms, 0.01 + 0.5 * tets.flowed, rtol=1e-9)
    np.testing.assert_allclose(start - tets.norms, tets.flowed, rtol=1e-9)
    again = tets.Fp_inverse.copy()
    tets.flow(0.05)
    np.testing.assert_allclose(tets.Fp_inverse, again, atol=1e-12)


def test_what_is_flat_turned_inside_out_or_no_number_does_not_flow():
    inside_out = np.diag([1.2, 1.0, -0.5])
    flat = np.diag([1.0, 1.0, 0.0])
    tets = Tets([inside_out, flat, np.diag([1e3, 1e-3, 1e-3]), np.full((3, 3), np.nan), np.diag([1.1, 1.0, 1.0])])
    tets.flow(0.01)
    assert (tets.Fp_inverse[:4] == np.eye(3)).all() and (tets.Fp_inverse[4] != np.eye(3)).any()
    tets.flow_additive(0.01)
    assert np.isfinite(tets.plastic_strain[[0, 1, 2, 4]]).all() and (tets.plastic_strain[3] == 0.0).all()


def test_one_step_does_not_flow_more_than_a_stretch_of_e():
    tets = Tets(np.diag([20.0, 0.3, 0.3]), rate=1e6)
    start = tets.norms[0]
    tets.flow(1.0)
    np.testing.assert_allclose(tets.norms, start - 1.0)


def test_turning_the_body_does_not_change_the_flow():
    F, R = some_gradients(10, 0.2), rotation([1.0, -2.0, 0.5], 1.3)
    one, other = Tets(F), Tets(R @ F)
    one.flow(0.03)
    other.flow(0.03)
    np.testing.assert_allclose(other.Fp_inverse, one.Fp_inverse, atol=1e-12)


@pytest.mark.parametrize("maximum", [FREE, 0.2])
@pytest.mark.parametrize("rate", [5.0, 1e4])
def test_the_additive_law_is_that_of_the_slow_twin(maximum, rate):
    tets = Tets(some_gradients(30, 0.2), yield_strain=0.1, rate=rate, maximum=maximum)
    plastic = np.zeros((30, 3, 3))
    for step in range(3):
        tets.F = some_gradients(30, 0.2, seed=step)
        plastic = [twin.flow_one_additive(F, p, 0.02, 0.1, rate, maximum) for F, p in zip(tets.F, plastic, strict=True)]
        tets.flow_additive(0.02)
        np.testing.assert_allclose(tets.plastic_strain, [twin.six(p) for p in plastic], atol=1e-7)


def test_the_additive_law_sees_the_strain_that_is_there_from_the_start():
    F = np.diag([1.1, 1.0, 1.0])
    tets = Tets(F, yield_strain=0.02)
    tets.flow_additive(0.1, np.array([[0.1, 0.0, 0.0, 0.0, 0.0, 0.0]]))
    assert (tets.plastic_strain == 0.0).all()
    tets.flow_additive(1.0, np.array([[0.05, 0.0, 0.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(tets.plastic_strain[0], [0.05, 0, 0, 0, 0, 0], atol=1e-12)


def test_the_additive_law_flows_no_faster_than_all_at_once():
    """MG04: c_creep in [0, 1/Δt]."""
    tets = Tets(np.diag([1.1, 0.95, 1.0]), rate=1000.0)
    tets.flow_additive(0.1)
    np.testing.assert_allclose(tets.plastic_strain[0], [0.1, -0.05, 0, 0, 0, 0], atol=1e-12)


def symmetric(values, turn):
    M = turn @ np.diag(values) @ turn.T
    return twin.six(M), M


@pytest.mark.parametrize(
    "values",
    [
        (1.0, 1.0, 1.0),
        (2.0, 1.0, 1.0),
        (1.0, 1.0, 0.3),
        (1.0 + 1e-9, 1.0, 1.0 - 1e-9),
        (1.0 + 1e-13, 1.0, 1.0),
        (5.0, 4.999999, 0.1),
        (100.0, 0.1, 0.1),
        (1e4, 1.0, 1e-4),
    ],
)
def test_functions_of_matrices(values):
    turn = rotation([1.0, 2.0, -1.0], 0.7)
    C, M = symmetric(values, turn)
    C = tuple(C)
    u, v, w = eigenvalues(C, np.linalg.det(M))
    np.testing.assert_allclose([u, v, w], sorted(values, reverse=True), rtol=1e-5)
    p = -0.4
    found = matrix_function(C, u, v, w, u**p, v**p, w**p, p * v ** (p - 1.0))
    wanted = symmetric(np.array(values) ** p, turn)[1].ravel()
    np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())
    *shear, norm = log_shear(u, v, w)
    logs = 0.5 * np.log(sorted(values, reverse=True))
    np.testing.assert_allclose(shear, logs - logs.mean(), atol=1e-5)
    assert abs(norm - np.linalg.norm(logs - logs.mean())) < 1e-8
    assert norm <= log_shear_bound(C) * (1.0 + 1e-9) + 1e-14


def test_the_bound_of_the_shear_holds_and_is_close_where_it_is_small():
    for F in some_gradients(200, 0.3):
        C = F.T @ F
        norm = np.linalg.norm(twin.shear(F))
        assert norm <= log_shear_bound(tuple(twin.six(C)))
    C = np.diag([1.02, 1.0, 0.99])
    assert log_shear_bound(tuple(twin.six(C))) < 1.03 * np.linalg.norm(twin.shear(np.sqrt(C)))


def test_norms_of_shapes():
    tets = Tets(some_gradients(30, 0.3))
    for _ in range(10):
        tets.flow(0.01)
    tets.flowed[3] = 0.0
    norm = np.zeros(30)
    shear_norms(tets.Fp_inverse, tets.flowed, norm)
    wanted = np.array([twin.norm_of_shape(inverse) for inverse in tets.Fp_inverse])
    wanted[3] = 0.0
    np.testing.assert_allclose(norm, wanted, atol=1e-9)
    assert (wanted <= tets.flowed * (1.0 + 1e-9)).all()  # what the kernel relies on
    np.testing.assert_allclose(largest_shear(tets.Fp_inverse, tets.flowed), wanted.max())


def test_what_has_flowed_beyond_a_maximum_does_not_spring_back():
    """As where the maximum is lowered by keys, or what was molten is solid again."""
    tets = Tets(some_gradients(10, 0.3))
    for _ in range(30):
        tets.flow(0.02)
    norms = np.array([twin.norm_of_shape(inverse) for inverse in tets.Fp_inverse])
    tets.limits[2][:] = 0.01
    tets.F = some_gradients(10, 0.3, seed=5)
    moved = tets.Fp_inverse.copy()
    for _ in range(30):
        tets.flow(0.02)
    later = np.array([twin.norm_of_shape(inverse) for inverse in tets.Fp_inverse])
    assert (later <= norms * (1.0 + 1e-12)).all() and np.abs(tets.Fp_inverse - moved).max() > 0.01


def test_no_shape_goes_beyond_what_tets_bear():
    tets = Tets([np.diag([np.exp(k), np.exp(-0.5 * k), np.exp(-0.5 * k)]) for k in (5.0, 6.0)], rate=1e3)
    for _ in range(20):
        tets.flow(1.0)
    np.testing.assert_allclose(
        [twin.norm_of_shape(inverse) for inverse in tets.Fp_inverse], [np.sqrt(37.5), MAX_PLASTIC_STRAIN]
    )
