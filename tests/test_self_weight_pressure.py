# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is too soft to stand sags into a pancake of its own volume; what stands has no pressure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run
from fixtures.self_weight_scenes import cube_of, fall, press_and_lift, press_by_plate, soft_cube
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.self_weight_volume_penalty import (
    MAX_UPRIGHT_STRAIN,
    has_self_weight_pressure,
    with_pressure_modulus,
)
from sinew.solver.runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from sinew.solver.runtime.errors import overriding_next_steps
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.material_presets import MATERIAL_PRESETS
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Heat, Plasticity, Scene, Settings
from sinew.solver.scene.self_weight_check import self_weight_warnings
from sinew.solver.simulation.current_model import current_model

GRAVITY = np.array([0.0, 0.0, -9.81])
KEPT = 0.03  # of the volume, which may be lost at a Poisson's ratio of 0.45


def with_pressure(body: Body) -> Model:
    """Returns the model of a body alone."""
    part = Part(body.key, body.tet_nodes, body.tets, np.ones(len(body.tets)), body.material, body.simulated_scale)
    return with_pressure_modulus({0: body}, make_model([part]), GRAVITY)


@pytest.mark.parametrize("strain", [0.35, 10.0, 100.0])
def test_it_keeps_its_volume_however_soft_it_is(strain, tmp_path):
    found = fall(tmp_path, soft_cube(strain), 48)
    assert abs(found.last - 1.0) < KEPT and found.least > 0.92
    assert found.inverted_at_last == 0 and found.inverted <= 3
    assert found.energy < 1.0, "no energy out of nothing"


def test_it_sags_into_a_pancake(tmp_path):
    assert fall(tmp_path, soft_cube(10.0), 24).height < 0.2


@pytest.mark.parametrize("key", ["JELLY", "FAT", "FLESH", "WAX"])
@pytest.mark.parametrize("length", [1.0, 2.0])
def test_presets_keep_theirs_at_the_size_of_the_default_cube(key, length, tmp_path):
    preset = MATERIAL_PRESETS[key]
    plasticity = preset.plasticity if "plasticity" in preset.features else None
    found = fall(tmp_path, cube_of(preset.material, length, 3, plasticity=plasticity), 36)
    assert abs(found.last - 1.0) < KEPT and found.inverted_at_last == 0


@pytest.mark.parametrize("strain", [1.0, 10.0])
def test_pressed_to_a_third_and_lifted_it_comes_out_again(strain, tmp_path):
    found = press_and_lift(tmp_path, soft_cube(strain, at=(0.0, 0.0, 0.02)), 60, 0.7, 1.0 + strain)
    assert found.least > 0.6, "it was pressed so that it lost some"
    assert abs(found.last - 1.0) < KEPT and found.inverted_at_last == 0 and found.height > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("strain", [1.0, 10.0])
def test_a_plate_presses_it_to_a_tenth_and_it_comes_out_again(strain, tmp_path):
    found = press_by_plate(tmp_path, soft_cube(strain, at=(0.0, 0.0, 0.001)), 96, 0.1)
    assert found.least < 0.85, "it was pressed so that it lost some"
    assert abs(found.last - 1.0) < KEPT and found.inverted_at_last == 0


def test_what_is_lost_depends_on_the_volume_preservation(tmp_path):
    lost = [1.0 - fall(tmp_path / str(nu), soft_cube(2.0, nu, 3), 16).least for nu in (0.3, 0.45, 0.49)]
    assert lost[0] > 3.0 * lost[1] > 6.0 * lost[2] > 0.0


def test_what_stands_has_no_pressure_and_at_the_bound_nothing_jumps():
    below, above = (with_pressure(soft_cube(MAX_UPRIGHT_STRAIN * by)) for by in (0.999, 1.001))
    assert len(below.pressure_modulus) == 0
    bulk = below.lam + 2.0 / 3.0 * below.mu
    assert above.pressure_modulus == pytest.approx(bulk, rel=3e-3)
    assert above.lam + 2.0 / 3.0 * above.mu == pytest.approx(above.pressure_modulus, rel=1e-12)


def test_the_modulus_is_that_of_the_softest_that_stands():
    model, stands = with_pressure(soft_cube(5.0, 0.4)), with_pressure(soft_cube(MAX_UPRIGHT_STRAIN, 0.4))
    assert model.pressure_modulus == pytest.approx(stands.lam + 2.0 / 3.0 * stands.mu)
    assert model.mu == pytest.approx(stands.mu * MAX_UPRIGHT_STRAIN / 5.0), "the shear modulus stays"


def test_a_simulated_size_counts_as_the_size():
    likeness = with_pressure(replace(soft_cube(0.5, length=0.1), simulated_scale=10.0))
    large = with_pressure(soft_cube(5.0))
    # a likeness has E / s² and g / s
    assert likeness.pressure_modulus * 10.0**2 == pytest.approx(large.pressure_modulus)
    assert not has_self_weight_pressure(replace(soft_cube(5.0), simulated_scale=0.02), GRAVITY)


@pytest.mark.parametrize(
    "borne",
    [
        {"flesh": Flesh(DYNAMIC)},
        {"core": Core(0.1)},
        {"gravity_in_shape": True},
        {"plasticity": Plasticity("additive")},
        {"method": FormulationSettings("qr")},
        {"method": FormulationSettings("linear")},
        {"method": FormulationSettings("polar", rotation="higham")},
    ],
    ids=lambda borne: next(iter(borne)),
)
def test_what_is_borne_otherwise_stays_as_it_is(borne):
    body = soft_cube(10.0)
    assert has_self_weight_pressure(body, GRAVITY) and not has_self_weight_pressure(replace(body, **borne), GRAVITY)


def test_who_collapses_is_warned_of_whatever_its_method(tmp_path):
    free = {"flesh": Flesh(DYNAMIC)}, {"method": FormulationSettings("qr")}, {}
    for number, asked in enumerate(free):
        body = soft_cube(4.0, cells=2, **asked)
        run = Run(tmp_path / str(number), Scene((body,), (), Settings()))
        assert [warning.kind for warning in run.built.bodies[0].warnings] == ["collapses"]
    assert self_weight_warnings(soft_cube(4.0), GRAVITY, True) == [], "something bears it"
    assert self_weight_warnings(soft_cube(0.39), GRAVITY, False) == []


def test_the_warning_names_what_lets_the_body_stand():
    (told,) = self_weight_warnings(soft_cube(4.0, length=2.0), GRAVITY, False)
    assert "Simulated Size to 0.05." in told.next_step and "4 times" in told.measured
    assert self_weight_warnings(replace(soft_cube(4.0), simulated_scale=0.025), GRAVITY, False) == []
    stiff = soft_cube(0.1, length=2.0).material.youngs_modulus
    assert f"{stiff / 1000.0:g} kPa" not in told.next_step, "rounded to two digits"
    assert f"{round(stiff, -4) / 1000.0:.0f} kPa" in told.next_step
    with overriding_next_steps(MESH_COMMAND_NEXT_STEPS):
        (told,) = self_weight_warnings(soft_cube(4.0, length=2.0), GRAVITY, False)
    assert told.next_step == f"Choose --youngs-modulus {round(stiff, -4):.6g}, or --simulated-scale 0.025."


def test_without_weight_there_is_no_pressure():
    assert not has_self_weight_pressure(soft_cube(10.0), np.zeros(3))


def test_of_two_bodies_the_soft_one_has_it_alone(tmp_path):
    soft, firm = soft_cube(5.0, cells=2, key="soft"), soft_cube(0.1, cells=2, at=(3.0, 0.0, 0.0), key="firm")
    run = Run(tmp_path, Scene((soft, firm), (), Settings()))
    of_soft, of_firm = (run.built.model.pressure_modulus[body.tets] for body in run.built.model.bodies)
    assert (of_soft > 0.0).all() and (of_firm == 0.0).all()


def test_heat_leaves_the_pressure_and_melting_raises_it(tmp_path):
    models = []
    for temperature in (20.0, 100.0):
        body = soft_cube(0.5, cells=2, heat=Heat(temperature=temperature, melting_point=60.0))
        run = Run(tmp_path / str(temperature), Scene((body,), (), Settings(air_temperature=temperature)))
        models.append(current_model(run.built, run.state))
        assert len(run.built.model.pressure_modulus)
    assert (models[0].pressure_modulus == run.built.model.pressure_modulus).all()
    assert (models[1].pressure_modulus >= models[0].pressure_modulus).all()
