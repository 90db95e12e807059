# SPDX-License-Identifier: GPL-3.0-or-later
"""The hyperelastic laws as the tet pass gives them, against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from reference.hyperelastic_laws import (
    KINDS,
    LAM,
    MU,
    clamp,
    differences,
    energy_density,
    found,
    gradients,
    rotations,
    size,
)
from sinew.solver.mechanics.hyperelastic.diagonal_frame_stress import diagonal_frame_stress
from sinew.solver.mechanics.hyperelastic.law_numbers import DEFAULT_PARAMETERS, EXTENSION_STRETCH, EXTENSIONS, LAWS
from sinew.solver.mechanics.hyperelastic.signed_svd import signed_svd

SMOOTH = ("linear", "smooth")
BOUNDLESS = ("stable-neo-hookean", "corotated", "stvk", "hybrid")  # laws with an energy for every F


def cases() -> list[tuple[str, str | None, str]]:
    """Returns all laws, extensions and kinds of F where the stress is differentiable."""
    conservative = [(law, ext, kind) for law in LAWS for ext in SMOOTH for kind in KINDS]
    plain = [(law, None, kind) for law in LAWS for kind in (KINDS if law in BOUNDLESS else KINDS[:2])]
    return conservative + plain


@pytest.mark.parametrize("law", LAWS)
def test_energy_is_the_textbooks(law):
    kinds = KINDS if law in BOUNDLESS else KINDS[:2]
    for F in (gradients(kind, 40) for kind in kinds):
        expected = np.array([energy_density(law, f) for f in F])
        assert found(law, None, F).psi == pytest.approx(expected, rel=1e-10, abs=1e-9 * MU)


@pytest.mark.parametrize(("law", "extension", "kind"), cases())
def test_stress_and_differential_are_derivatives(law, extension, kind):
    F = gradients(kind, 60, seed=1)
    here = found(law, extension, F)
    P = differences(lambda G: found(law, extension, G).psi, F)
    T = differences(lambda G: found(law, extension, G).P, F)
    scale = np.maximum(size(P), MU)  # stress itself vanishes at rest
    assert np.all(size(here.P - P) < 1e-6 * scale)
    assert np.all(size(here.T - T) < 1e-6 * size(T))
    assert np.abs(here.T - here.T.transpose(0, 3, 4, 1, 2)).max() < 1e-12 * np.abs(here.T).max()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_constant_extension_is_stress_and_differential_at_raised_stretches(law, kind):
    """S07, section 3.9: P = U P(F̂′) Vᵀ and δP = U (∂P/∂F at F̂′ : Uᵀ δF V) Vᵀ with F̂′ = max(F̂, t)."""
    F = gradients(kind, 40, seed=2)
    here = found(law, "constant", F)
    parts = np.array([signed_svd(*f.ravel()) for f in F])
    U, sigma, V = parts[:, :9].reshape(-1, 3, 3), parts[:, 9:12], parts[:, 12:].reshape(-1, 3, 3)
    raised = np.maximum(sigma, EXTENSION_STRETCH)[:, :, None] * np.eye(3)

    P = U @ differences(lambda G: np.array([energy_density(law, g) for g in G]), raised) @ np.swapaxes(V, 1, 2)
    T = np.einsum(
        "nij,nkl,njlpq,nrp,nsq->nikrs", U, V, differences(lambda G: found(law, None, G).P, raised), U, V, optimize=True
    )
    assert np.all(size(here.P - P) < 1e-6 * np.maximum(size(P), MU))
    assert np.all(size(here.T - T) < 1e-6 * size(T))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_all_is_finite_and_semidefinite_wherever_it_can_be(law, extension):
    rng = np.random.default_rng(5)
    jumps = [np.diag([1, 0.5, -0.5]), np.diag([1.0, 0, 0]), np.zeros((3, 3)), -np.eye(3), np.diag([2, 1e-5, -1e-5])]
    jumps += [1e4 * rng.normal(size=(3, 3)), 1e-9 * rng.normal(size=(3, 3)), np.ones((3, 3)), -1e-200 * np.eye(3)]
    Q, R = rotations(len(jumps), rng), rotations(len(jumps), rng)
    F = np.concatenate([jumps, Q @ np.array(jumps) @ R, *(gradients(kind, 50, 6) for kind in KINDS)])
    here = found(law, extension, F, clamped=True)
    assert np.isfinite(here.P).all() and np.isfinite(here.T).all() and not np.isnan(here.psi).any()
    lowest = np.linalg.eigvalsh(here.T.reshape(-1, 9, 9))[:, 0]
    assert np.all(lowest >= -1e-9 * size(here.T))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", ["constant", "smooth"])
def test_clamping_takes_negative_eigenvalues_and_nothing_else(law, extension):
    definite = 0
    for kind in KINDS:
        F = gradients(kind, 60, seed=7)
        true, here = found(law, extension, F), found(law, extension, F, clamped=True)
        assert np.all(size(here.T - clamp(true.T)) < 1e-9 * size(true.T))
        assert np.array_equal(here.P, true.P) and np.array_equal(here.psi, true.psi)
        is_definite = np.linalg.eigvalsh(true.T.reshape(-1, 9, 9))[:, 0] > 1e-12 * size(true.T)
        assert np.array_equal(here.T[is_definite], true.T[is_definite])
        definite += np.count_nonzero(is_definite)
    assert definite > 10


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", ["constant", "linear"])
def test_rotations_turn_what_is_found_and_change_nothing_else(law, extension):
    rng = np.random.default_rng(8)
    F = np.concatenate([gradients(kind, 40, seed=9) for kind in KINDS])
    Q, R = rotations(len(F), rng), rotations(len(F), rng)
    here, there = found(law, extension, F, True), found(law, extension, Q @ F @ R, True)
    assert there.psi == pytest.approx(here.psi, rel=1e-9, abs=1e-9 * MU)
    P = Q @ here.P @ R
    T = np.einsum("nij,nlk,njlpq,nrp,nqs->nikrs", Q, R, here.T, Q, R, optimize=True)
    assert np.all(size(there.P - P) < 1e-9 * np.maximum(size(P), MU))
    assert np.all(size(there.T - T) < 1e-9 * np.maximum(size(T), MU))  # of pressed stvk nothing may be left


@pytest.mark.parametrize("law", LAWS)
def test_small_strains_are_hookes(law):
    here, one = found(law, "constant", np.eye(3)[None]), np.eye(3)
    hooke = LAM * np.einsum("ij,kl->ijkl", one, one)
    hooke += MU * (np.einsum("ik,jl->ijkl", one, one) + np.einsum("il,jk->ijkl", one, one))
    assert abs(here.psi[0]) < 1e-12 * MU and np.abs(here.P).max() < 1e-12 * MU
    assert np.abs(here.T[0] - hooke).max() < 1e-12 * LAM


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_lanes_say_what_one_tet_says(law, extension):
    """Groups of 32 tets, the last one not full, against the functions for single ones."""
    kinds = KINDS if law in BOUNDLESS or extension else KINDS[:2]
    F = np.concatenate([gradients(kind, 19, seed=10) for kind in kinds])
    here = found(law, extension, F)
    for psi, P, T, f in zip(here.psi, here.P, here.T, F, strict=True):
        parts = np.array(signed_svd(*f.ravel()))
        U, V = parts[:9].reshape(3, 3), parts[12:].reshape(3, 3)
        alone = diagonal_frame_stress(
            LAWS[law],
            MU,
            LAM,
            DEFAULT_PARAMETERS[LAWS["mooney-rivlin"]],
            EXTENSIONS[extension],
            EXTENSION_STRETCH,
            *parts[9:12],
        )
        A11, A22, A33, A12, A23, A31, s12, s23, s31, t12, t23, t31 = alone[4:]
        turned = np.einsum("ji,jkpq,kl,pr,qs->ilrs", U, T, V, U, V, optimize=True)
        scale = 1e-11 * np.abs(turned).max()
        assert psi == pytest.approx(alone[0], rel=1e-12, abs=1e-12 * MU)
        assert np.abs(U.T @ P @ V - np.diag(alone[1:4])).max() < 1e-11 * max(np.abs(P).max(), MU)
        for (i, j), A in zip(
            [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)], (A11, A22, A33, A12, A23, A31), strict=True
        ):
            assert abs(turned[i, i, j, j] - A) < scale
        for (i, j), s, t in (((0, 1), s12, t12), ((1, 2), s23, t23), ((2, 0), s31, t31)):
            assert abs(turned[i, j, i, j] + turned[i, j, j, i] - s) < 2 * scale
            assert abs(turned[i, j, i, j] - turned[i, j, j, i] - t) < 2 * scale


def test_signed_decomposition_of_anything():
    rng = np.random.default_rng(11)
    wide = rotations(300, rng) * 10.0 ** rng.uniform(-12, 3, (300, 1, 3)) @ rotations(300, rng)
    lines = rng.normal(size=(50, 3, 1)) * rng.normal(size=(50, 1, 3))
    whole = rng.integers(-2, 3, (300, 3, 3)).astype(float)
    near = np.eye(3) + 10.0 ** rng.uniform(-17, -1, (100, 1, 1)) * rng.normal(size=(100, 3, 3))
    edges = [np.zeros((3, 3)), np.eye(3), -np.eye(3), 1e-200 * np.eye(3), np.diag([0.0, 0, 5]), np.ones((3, 3))]
    for F in np.concatenate([wide, -wide, lines, whole, near, rng.normal(size=(300, 3, 3)), edges]):
        parts = np.array(signed_svd(*F.ravel()))
        U, sigma, V = parts[:9].reshape(3, 3), parts[9:12], parts[12:].reshape(3, 3)
        norm = np.linalg.norm(F)
        assert np.abs(U * sigma @ V.T - F).max() <= 4e-15 * norm + 1e-150  # squares of less are no numbers
        for turn in (U, V):
            assert np.abs(turn.T @ turn - np.eye(3)).max() < 4e-15 and np.linalg.det(turn) > 0.0
        slack = 4e-15 * norm + 1e-150
        assert sigma[0] >= sigma[1] - slack and sigma[1] >= abs(sigma[2]) - slack
        if abs(np.linalg.det(F)) > 1e-12 * norm**3:
            assert np.sign(sigma[2]) == np.sign(np.linalg.det(F))
