# SPDX-License-Identifier: GPL-3.0-or-later
"""Loose dynamic flesh that is too soft to stand keeps its volume where it is asked to; all other flesh is as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_dynamics import model_of
from fixtures.scenes import Run
from fixtures.self_weight_scenes import fall, fall_and_float, press_by_plate, soft_cube
from sinew.solver.integrators.dynamic_flesh_forces import dynamic_flesh
from sinew.solver.mechanics.elements.added_volume_penalty import MIN_FREE_VOLUME_RATIO
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    energy,
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
)
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.self_weight_volume_penalty import MAX_UPRIGHT_STRAIN, flesh_has_pressure, pressure_of_flesh
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.scene.flesh import DYNAMIC, FLESH_LAWS, QUASISTATIC, Bone, Flesh
from sinew.solver.scene.scene import Scene, Settings
from test_fibre_seam import along_x
from test_flesh_dynamics_damping import dense

pytestmark = pytest.mark.slow

GRAVITY = np.array([0.0, 0.0, -9.81])
KEPT = 0.03  # of the volume, which may be lost at a Poisson's ratio of 0.45
KAPPA = 3.0e5
LOOSE = Flesh(DYNAMIC, keeps_volume=True)


def with_pressure(model, law="stable-neo-hookean", **changes):
    """Returns the law of a model of which every other tet has a pressure."""
    kappa = np.where(np.arange(model.tet_count) % 2, KAPPA, 0.0)
    return replace(hyperelastic(model, law, "smooth"), pressure_modulus=kappa, **changes)


def scattered(model, seed, size):
    return model.X + size * np.random.default_rng(seed).normal(size=model.X.shape)


def volume_ratios(model, x):
    return np.linalg.det(np.swapaxes(x[model.tets[:, 1:]] - x[model.tets[:, :1]], 1, 2) @ model.Dm_inverse)


def test_the_energy_is_that_of_the_volumes_and_no_other_tet_changes():
    model = model_of()
    model = replace(model, volume=0.6 * model.volume)  # as where the surface cuts through
    law, work, x = with_pressure(model), tet_arrays(model.pattern), scattered(model, 1, 0.1)
    J, whole = volume_ratios(model, x), 1.0 / (6.0 * np.linalg.det(model.Dm_inverse))
    assert (J < 0.0).any() and ((J > 0.0) & (J < MIN_FREE_VOLUME_RATIO)).any() and (J > MIN_FREE_VOLUME_RATIO).any()
    energy(model, replace(law, pressure_modulus=np.zeros(0)), x, work)
    alone = work.energy.copy()
    energy(model, law, x, work)
    flat = np.where(J < MIN_FREE_VOLUME_RATIO, whole * (J - MIN_FREE_VOLUME_RATIO) ** 2, 0.0)
    wanted = 0.5 * law.pressure_modulus * (model.volume * (J - 1.0) ** 2 + flat)
    assert work.energy - alone == pytest.approx(wanted, rel=1e-9, abs=1e-9 * wanted.max())
    assert (work.energy[::2] == alone[::2]).all()


@pytest.mark.parametrize("law", FLESH_LAWS)
def test_forces_and_tangent_are_derivatives_of_the_energy(law):
    model, rng = model_of(), np.random.default_rng(3)
    flesh, work, x = with_pressure(model, law), tet_arrays(model.pattern), scattered(model, 3, 0.03)
    assert np.abs(volume_ratios(model, x) - MIN_FREE_VOLUME_RATIO).min() > 1e-3, "there the tangent jumps"
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    forces_and_tangent(model, flesh, x, values, force, work, clamp=False)
    step, d = 1e-7, rng.normal(size=x.shape)
    before, after = np.empty_like(x), np.empty_like(x)
    high, low = (forces(model, flesh, x + way * step * d, f, work) for way, f in ((1.0, after), (-1.0, before)))
    assert (high.energy - low.energy) / (2.0 * step) == pytest.approx(-np.sum(force * d), rel=1e-5)
    change, product = (after - before).ravel() / (2.0 * step), dense(model, values) @ d.ravel()
    assert np.abs(product + change).max() < 1e-5 * np.abs(change).max()


def test_the_clamped_tangent_is_symmetric_and_semidefinite_also_in_a_heap():
    model = model_of()
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(model.X)
    answer = forces_and_tangent(
        model, with_pressure(model), scattered(model, 4, 0.4), values, force, tet_arrays(model.pattern)
    )
    matrix = dense(model, values)
    assert answer.inverted > 10 and np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.linalg.norm(matrix, 2)


def test_it_adds_to_a_term_with_directions_too():
    model = model_of()
    x, found = scattered(model, 5, 0.03), {}
    for term in (None, along_x(model, 1.0)):
        for kappa in (True, False):
            law = with_pressure(model, anisotropic_term=term)
            law = law if kappa else replace(law, pressure_modulus=np.zeros(0))
            values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
            forces_and_tangent(model, law, x, values, force, tet_arrays(model.pattern), clamp=False)
            found[term is None, kappa] = force, values
    for k in range(2):
        with_term, without = (found[none, True][k] - found[none, False][k] for none in (False, True))
        assert np.abs(with_term - without).max() < 1e-9 * np.abs(without).max() and np.abs(without).max() > 0.0


def test_changes_of_volume_are_damped_and_rigid_motions_are_not():
    model = model_of(material=replace(soft_cube(1.0).material, stiffness_damping=0.02))
    law, work, x = with_pressure(model), tet_arrays(model.pattern), scattered(model, 6, 0.03)
    values, plain = np.empty((2, model.pattern.block_count, 9))
    damping_matrix(model, x, values, work, None, law.pressure_modulus)
    damping_matrix(model, x, plain, work)
    D, own = dense(model, values), dense(model, values - plain)
    assert np.linalg.eigvalsh(D)[0] > -1e-9 * np.linalg.norm(D, 2)
    turning = np.cross([1.0, 2.0, -0.5], x).ravel()
    assert np.linalg.norm(own @ turning) < 1e-10 * np.linalg.norm(own) * np.linalg.norm(turning)
    v, step = np.random.default_rng(7).normal(size=x.shape), 1e-6
    rate = (volume_ratios(model, x + step * v) - volume_ratios(model, x - step * v)) / (2.0 * step)
    stiffness = law.pressure_modulus * model.volume
    J, whole = volume_ratios(model, x), law.pressure_modulus / (6.0 * np.linalg.det(model.Dm_inverse))
    wanted = np.sum(0.02 * (stiffness + np.where(J < MIN_FREE_VOLUME_RATIO, whole, 0.0)) * rate**2)
    assert v.ravel() @ own @ v.ravel() == pytest.approx(wanted, rel=1e-6)


def test_bodies_of_two_schemes_keep_their_own():
    model = model_of(bodies=2)
    part = make_submodel(model, [0, 1])
    kappa = np.where(np.arange(model.tet_count) < part.model.bodies[0].tets.stop, KAPPA, 0.0)
    law = replace(hyperelastic(model, "corotated", None), pressure_modulus=kappa)
    flesh = dynamic_flesh(model, part, law, ["euler", "newmark"])
    assert flesh.euler is not None and flesh.newmark is not None
    assert (flesh.euler.law.pressure_modulus == KAPPA).all() and (flesh.newmark.law.pressure_modulus == 0.0).all()


@pytest.mark.parametrize(("law", "scheme"), [*((law, "euler") for law in FLESH_LAWS), (FLESH_LAWS[0], "newmark")])
def test_loose_flesh_keeps_its_volume(law, scheme, tmp_path):
    for strain in (1.0, 10.0):
        body = soft_cube(strain, cells=3, flesh=replace(LOOSE, law=law, scheme=scheme))
        found = fall(tmp_path / str(strain), body, 60)
        assert abs(found.last - 1.0) < KEPT and found.least > 0.92
        assert found.inverted == 0 and found.energy < 1.0


def test_without_being_asked_its_weight_presses_it_flat_as_in_the_paper(tmp_path):
    body = soft_cube(10.0, cells=3, flesh=Flesh(DYNAMIC))
    found = fall(tmp_path, body, 60)
    assert found.last < 0.2 and found.inverted_at_last > 0.3 * found.tets


def test_pressed_by_a_plate_and_without_weight_it_comes_out_again(tmp_path):
    pressed = press_by_plate(tmp_path / "plate", soft_cube(1.0, at=(0.0, 0.0, 0.001), flesh=LOOSE), 96, 0.2)
    assert pressed.least < 0.9, "it was pressed so that it lost some"
    assert abs(pressed.last - 1.0) < KEPT and pressed.inverted_at_last == 0
    body = soft_cube(10.0, flesh=LOOSE)
    body = replace(body, material=replace(body.material, stiffness_damping=0.2))  # so that it does not swing for long
    lying, floating = fall_and_float(tmp_path / "float", body, (36, 72))
    assert abs(lying.last - 1.0) < KEPT and lying.height < 0.7
    assert abs(floating.last - 1.0) < KEPT and floating.inverted_at_last == 0 and floating.height > 0.9


def test_only_loose_dynamic_flesh_that_is_too_soft_and_is_asked_has_it():
    soft = soft_cube(10.0, cells=2, flesh=LOOSE)
    assert flesh_has_pressure(Scene((soft,)), soft, GRAVITY)
    one, box = np.zeros(1, np.int32), soft.vertices[:3]
    for other in (
        replace(soft, flesh=Flesh(DYNAMIC)),
        replace(soft, flesh=Flesh(QUASISTATIC, keeps_volume=True)),
        replace(soft, flesh=None),
        replace(soft, pinned=one, pin_weights=np.ones(1)),
        replace(soft, attached=one, attached_weights=np.ones(1)),
        soft_cube(0.999 * MAX_UPRIGHT_STRAIN, cells=2, flesh=LOOSE),
    ):
        assert not flesh_has_pressure(Scene((other,)), other, GRAVITY)
    assert not flesh_has_pressure(Scene((soft,)), soft, np.zeros(3))
    for bodies, is_loose in (((), False), ((soft.key,), False), (("other",), True)):
        bone = Bone("b", "b", box, np.zeros((0, 3), np.int32), bodies=bodies)
        assert flesh_has_pressure(Scene((soft,), bones=(bone,)), soft, GRAVITY) is is_loose


def test_the_modulus_is_the_same_as_that_of_other_bodies_and_begins_at_zero(tmp_path):
    for strain in (5.0, 1.001 * MAX_UPRIGHT_STRAIN):
        bodies = [soft_cube(strain, cells=2, flesh=flesh, key="b") for flesh in (LOOSE, None)]
        flesh, polar = (
            Run(tmp_path / f"{strain}{k}", Scene((body,), (), Settings())).built for k, body in enumerate(bodies)
        )
        law = flesh.flesh.dynamic.law
        own = law.lam + 2.0 / 3.0 * law.mu
        assert law.pressure_modulus + own == pytest.approx(polar.model.pressure_modulus, rel=1e-9)
        assert law.pressure_modulus == pytest.approx(own * (strain / MAX_UPRIGHT_STRAIN - 1.0), rel=1e-6)
        assert flesh.flesh.dynamics.euler.law.pressure_modulus is not None and not len(flesh.model.pressure_modulus)


def test_flesh_that_is_not_asked_has_no_array_of_it():
    body = soft_cube(10.0, cells=2, flesh=Flesh(DYNAMIC))
    assert len(pressure_of_flesh(Scene((body,)), model_of(), GRAVITY)) == 0


def test_digests_of_scenes_that_it_does_not_change_stay(tmp_path):
    """Those of bakes from before there was such a setting."""
    asked, not_asked = (
        Scene((soft_cube(10.0, cells=2, flesh=flesh),)) for flesh in (LOOSE, replace(LOOSE, keeps_volume=False))
    )
    assert asked.digest() != not_asked.digest()
    bone = Bone("b", "b", asked.bodies[0].vertices[:2], np.zeros((0, 3), np.int32))
    held, as_before = (replace(scene, bones=(bone,)) for scene in (asked, not_asked))
    assert held.digest() == as_before.digest()
    asked.save(tmp_path)
    assert Scene.load(tmp_path).digest() == asked.digest()
    text = (tmp_path / "scene.json").read_text(encoding="utf-8")
    (tmp_path / "scene.json").write_text(
        "\n".join(line for line in text.splitlines() if '"keeps_volume"' not in line), encoding="utf-8"
    )
    assert Scene.load(tmp_path).digest() == not_asked.digest(), "an earlier scene is as it was"
