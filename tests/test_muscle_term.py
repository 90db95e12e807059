# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle beside an isotropic law: curves, energy as textbooks write it, derivatives, forces affine in activations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from fixtures.muscle_blocks import random_muscle, random_muscle_of
from reference.hyperelastic_laws import KINDS, MU, clamp, differences, gradients, rotations, size
from reference.muscle_fibres import found_with, single_tets
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces, hyperelastic, tet_arrays
from sinew.solver.mechanics.muscle.force_length_curves import active_curve, passive_curve, tendon_curve
from sinew.solver.mechanics.muscle.muscle_term import MuscleTerm
from sinew.solver.scene.muscle import FULL_MODEL, SIMPLIFIED_MODEL
from sinew.solver.scene.muscle_presets import MUSCLE_PRESETS

COUNT = 80
TISSUES = {
    f"{key}, {model}": replace(preset.tissue, model=model)
    for key, preset in MUSCLE_PRESETS.items()
    for model in (SIMPLIFIED_MODEL, FULL_MODEL)
}
CURVES = {"active": active_curve, "passive": passive_curve, "tendon": tendon_curve}


def textbook(curve: str, at: float) -> float:
    """Returns the force over the peak force, of tendon over that at 1.03, as Blemker, Pinsky and Delp 2005 have it."""
    if curve == "active":
        if 0.6 <= at <= 1.4:
            return 1.0 - 4.0 * (1.0 - at) ** 2
        if 0.4 < at < 0.6:
            return 9.0 * (at - 0.4) ** 2
        return 9.0 * (at - 1.6) ** 2 if 1.4 < at < 1.6 else 0.0
    scale, exponent, straight = (
        (0.05, 6.6, 1.4)
        if curve == "passive"
        else (
            1.0 / (math.exp(46.4 * 0.03) - 1.0),
            46.4,
            1.03,
        )
    )
    if at <= 1.0:
        return 0.0
    if at <= straight:
        return scale * (math.exp(exponent * (at - 1.0)) - 1.0)
    return textbook(curve, straight) + scale * exponent * math.exp(exponent * (straight - 1.0)) * (at - straight)


@pytest.mark.parametrize("name", CURVES)
def test_curves_have_their_integral_and_slope(name: str):
    curve = CURVES[name]
    lengths = np.linspace(0.3, 1.9, 41) + 1e-3 if name != "tendon" else np.linspace(0.97, 1.07, 21) + 1e-4
    for at in lengths:
        work, force, slope = curve(at)
        kinks = [kink for kink in (0.4, 0.6, 1.0, 1.03, 1.4, 1.6) if kink < at]
        assert force == pytest.approx(textbook(name, at), rel=1e-12, abs=1e-15)
        assert work == pytest.approx(quad(lambda a: textbook(name, a), 0.0, at, points=kinks)[0], rel=1e-7, abs=1e-12)
        assert slope == pytest.approx((curve(at + 1e-6)[1] - curve(at - 1e-6)[1]) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("shear", [0.0, MU])
@pytest.mark.parametrize("kind", KINDS)
def test_stress_and_tangent_are_derivatives_of_the_energy(kind: str, shear: float):
    F, term = gradients(kind, COUNT, seed=1), random_muscle(COUNT, 2, shear, 2.0 * MU)
    here = found_with(term, "stvk", "linear", F)
    P = differences(lambda G: found_with(term, "stvk", "linear", G).psi, F, 1e-5)
    T = differences(lambda G: found_with(term, "stvk", "linear", G).P, F, 1e-5)
    assert np.max(size(here.P - P) / np.maximum(size(P), MU)) < 1e-6
    assert np.max(size(here.T - T) / size(T)) < 1e-6
    alone = found_with(None, "stvk", "linear", F)
    assert np.median(size(here.T - alone.T) / size(alone.T)) > 0.1  # so muscle is seen


def test_the_stress_alone_is_the_one_beside_the_tangent():
    term, rng, all_of_them = random_muscle(COUNT, 2, MU, 2.0 * MU), np.random.default_rng(6), slice(0, COUNT)
    stretches, V = rng.uniform(-0.5, 2.0, (COUNT, 3)), rotations(COUNT, rng)
    beside, _ = term.stress_and_tangent(all_of_them, stretches, V)
    np.testing.assert_array_equal(term.stress(all_of_them, stretches, V), beside)


@pytest.mark.parametrize("extension", ["linear", "constant"])
@pytest.mark.parametrize("name", TISSUES)
def test_the_clamped_tangent_is_semidefinite(name: str, extension: str):
    """Of the values of every preset in both models, from relaxed to fully active, beside the law of the preset."""
    tissue, changed = TISSUES[name], 0
    for number, kind in enumerate(KINDS):
        F, term = gradients(kind, COUNT, seed=30 + number), random_muscle_of(tissue, COUNT, 40 + number)
        true, here = (found_with(term, tissue.law, extension, F, clamped) for clamped in (False, True))
        before, after = (np.linalg.eigvalsh(each.T.reshape(-1, 9, 9)) for each in (true, here))
        assert np.all(after[:, 0] >= -1e-9 * after[:, -1])
        assert np.max(size(here.T - clamp(true.T)) / size(true.T)) < 1e-9 and np.array_equal(here.P, true.P)
        changed += np.count_nonzero(before[:, 0] < -1e-3 * before[:, -1])
    assert changed > COUNT


def test_the_energy_is_that_of_appendix_a():
    """Deformations that no extension touches: J and I4 are not small."""
    F = gradients("near rest", COUNT, seed=3) @ np.diag([1.3, 0.9, 0.85])
    term = random_muscle(COUNT, 4, MU, 0.5 * MU)
    energy = found_with(term, "stvk", None, F).psi - found_with(None, "stvk", None, F).psi
    for k, (f, direction) in enumerate(zip(F, term.arrays.direction, strict=True)):
        C, J, v = f.T @ f, np.linalg.det(f), direction
        I4, I5 = v @ C @ v, v @ C @ C @ v
        omega = (np.trace(C) * I4 - I5) / (2.0 * J * math.sqrt(I4))
        along, across = term.arrays.shear[k]
        psi = along * (I5 / I4**2 - 1.0) + across * math.acosh(omega) ** 2
        stretch = math.sqrt(I4) * (J ** (-1.0 / 3.0) if term.arrays.is_deviatoric[k] else 1.0)
        peak, optimal, tendon = term.arrays.peak_stress[k], term.arrays.optimal_stretch[k], term.arrays.tendon[k]
        drawn = term.arrays.tendon_stress[k]
        activation, kinks = term.activation[term.arrays.unit[k]], (0.4, 0.6, 1.0, 1.4)
        for scale, curve, end in (
            ((1.0 - tendon) * peak, "passive", stretch / optimal),
            ((1.0 - tendon) * peak * activation, "active", stretch / optimal),
            (tendon * drawn, "tendon", stretch),
        ):
            points = [kink for kink in kinks if kink < end]
            psi += scale * quad(lambda a, curve=curve: textbook(curve, a), 0.0, end, points=points)[0]
        excess = np.maximum(np.linalg.svd(f)[1] - 1.0, 0.0)
        psi += 0.5 * term.arrays.fascia[k] * np.sum(excess**2)
        assert energy[k] == pytest.approx(psi, rel=1e-6, abs=1e-6 * MU)


def test_rotations_of_space_and_of_the_material_turn_everything_along():
    rng = np.random.default_rng(5)
    for kind in KINDS:
        F, term = gradients(kind, COUNT, seed=6), random_muscle(COUNT, 7, MU, MU)
        Q, R = rotations(COUNT, rng), rotations(COUNT, rng)
        turned = np.einsum("nji,nj->ni", R, term.arrays.direction)
        there = replace(term, arrays=term.arrays._replace(direction=turned))
        one, other = found_with(term, "corotated", "linear", F), found_with(there, "corotated", "linear", Q @ F @ R)
        assert np.max(np.abs(other.psi - one.psi) / np.maximum(np.abs(one.psi), MU)) < 1e-9
        assert np.max(size(other.P - Q @ one.P @ R) / np.maximum(size(one.P), MU)) < 1e-9


def test_forces_are_affine_in_the_activations():
    """S07, section 4.1: f(x, a) = f0(x) + Σ a_i f_i(x)."""
    F, term, rng = gradients("random", COUNT, seed=8), random_muscle(COUNT, 9, MU, MU), np.random.default_rng(10)
    model = single_tets(COUNT)
    x = np.zeros((COUNT, 4, 3))
    x[:, 1:] = np.swapaxes(F, 1, 2)

    def pull(activation: np.ndarray) -> np.ndarray:
        force = np.empty((4 * COUNT, 3))
        law = replace(hyperelastic(model), anisotropic_term=term.with_activation(activation))
        forces(model, law, x.reshape(-1, 3), force, tet_arrays(model.pattern))
        return force

    passive, units = pull(np.zeros(3)), np.eye(3)
    alone = [pull(unit) - passive for unit in units]
    for _ in range(5):
        a = rng.uniform(0.0, 1.0, 3)
        affine = passive + sum(weight * part for weight, part in zip(a, alone, strict=True))
        assert np.abs(pull(a) - affine).max() < 1e-12 * np.abs(affine).max()
    assert all(np.abs(part).max() > 0.1 * MU for part in alone)


def test_muscle_of_some_tets_has_their_values():
    term = random_muscle(12, 11, MU, MU)
    rows = np.array([2, 3, 7], np.int32)
    some = term.of_tets(rows)
    assert isinstance(some, MuscleTerm) and np.array_equal(some.tets, [0, 1, 2])
    for whole, part in zip(term.arrays, some.arrays, strict=True):
        assert np.array_equal(whole[rows], part)
    assert replace(term, tets=rows).of_tets(np.array([0, 1], np.int32)) is None
