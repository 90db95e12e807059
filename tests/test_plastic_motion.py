# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that take a new shape for good: what they remember, what they push back with, and what is painted on them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.plastic_bodies import (
    CLAY,
    FLOWS,
    NOTHING,
    PULL,
    a_model,
    clay_block,
    flowed,
    forces,
    relaxation,
    rest_shape,
)
from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.plasticity import plastic_norm, with_plastic_strain
from sinew.solver.mechanics.prestress import with_prestress
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Collider, Fracture, Heat, Plasticity, Scene, Settings

BOTH = pytest.mark.parametrize("law", ["multiplicative", "additive"])


@BOTH
def test_a_body_is_free_of_force_in_exactly_the_shape_that_it_has_stored(law):
    model = a_model()
    state = flowed(model, PULL, dataclasses.replace(FLOWS, law=law))
    Fp = rest_shape(model, state)
    assert np.linalg.norm(Fp - np.eye(3)) > 0.1
    present = with_plastic_strain(model, state)
    pulled, _ = forces(present, state.x)
    left, _ = forces(present, model.X @ Fp.T)
    made_as, _ = forces(present, model.X)
    assert np.abs(left).max() < 1e-12 * np.abs(made_as).max() and np.abs(pulled).max() > 1e-3


@BOTH
def test_a_plastic_body_let_go_comes_to_rest_in_exactly_that_shape(law):
    """Unloaded by the steps of the simulation, not by the formula."""
    model = a_model((2, 2, 2), dataclasses.replace(CLAY, mass_damping=20.0))
    state = flowed(model, PULL, dataclasses.replace(FLOWS, law=law), steps=5)
    Fp, present = rest_shape(model, state), with_plastic_strain(model, state)
    settings = dataclasses.replace(NOTHING, tolerance=1e-10)
    for _ in range(400):
        step(present, state, ExternalForces(), 0.02, settings)
    edges = (state.x[model.tets[:, 1:]] - state.x[model.tets[:, :1]]).transpose(0, 2, 1)
    F = edges @ model.Dm_inverse
    np.testing.assert_allclose(F.transpose(0, 2, 1) @ F, np.tile(Fp.T @ Fp, (len(F), 1, 1)), atol=1e-6)


@BOTH
@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0])
def test_a_plastic_body_turned_as_a_whole_makes_no_force(law, angle):
    model = a_model()
    state = flowed(model, PULL, dataclasses.replace(FLOWS, law=law))
    present, R = with_plastic_strain(model, state), rotation([1.0, -2.0, 0.7], angle)
    x = model.X @ rest_shape(model, state).T @ R.T + [0.3, 0.1, -4.0]
    turned, _ = forces(present, x)
    made_as, _ = forces(present, model.X)
    assert np.abs(turned).max() < 1e-9 * np.abs(made_as).max()
    stress, _ = elastic_stress(present, x)
    assert np.abs(stress).max() < 1e-6 * CLAY.youngs_modulus
    v = np.cross([1.0, 2.0, 3.0], x)
    spinning = State(x, v)
    step(present, spinning, ExternalForces(), 1e-4, NOTHING)  # damping neither
    turning, gained = (np.sum(np.cross(x, model.mass[:, None] * w), axis=0) for w in (v, spinning.v - v))
    assert np.linalg.norm(gained) < 1e-7 * np.linalg.norm(turning)


def test_the_additive_law_leaves_the_stiffness_as_it_was():
    model = a_model()
    x = model.X @ PULL.T
    _, before = forces(model, x)
    additive = flowed(model, PULL, dataclasses.replace(FLOWS, law="additive"))
    _, after = forces(with_plastic_strain(model, additive), x)
    assert (after == before).all()
    _, other = forces(with_plastic_strain(model, flowed(model, PULL)), x)
    assert np.abs(other - before).max() > 0.01 * np.abs(before).max()  # which is not claimed of the other law


def test_masses_and_volumes_stay():
    model = a_model()
    present = with_plastic_strain(model, flowed(model, PULL))
    np.testing.assert_allclose(1.0 / (6.0 * np.linalg.det(present.Dm_inverse)), model.volume, rtol=1e-12)
    assert present.mass is model.mass and present.pattern is model.pattern


@BOTH
def test_rest_shapes_of_gravity_in_shape_are_kept(law):
    """A body under stress at rest, with what it flowed on top of that."""
    model = a_model()
    strain = np.random.default_rng(2).normal(size=(model.tet_count, 6)) * [0.03, 0.03, 0.03, 0.01, 0.01, 0.01]
    strain[3] = [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # so much that an initial strain is left
    stressed = with_prestress(model, strain)
    assert len(stressed.initial_strain)
    state = flowed(stressed, PULL, dataclasses.replace(FLOWS, law=law), steps=1)
    present = with_plastic_strain(stressed, state)
    if law == "additive":
        added = present.initial_strain - stressed.initial_strain
        np.testing.assert_allclose(added, state.fields["tet.plastic_strain"], atol=1e-15)
        assert present.Dm_inverse is stressed.Dm_inverse
    else:
        np.testing.assert_allclose(present.Dm_inverse, stressed.Dm_inverse @ state.fields["tet.Fp_inverse"])
        assert present.initial_strain is stressed.initial_strain


@pytest.mark.parametrize("dt", [0.04, 0.02, 0.005])
def test_a_bar_held_at_a_constant_stretch_relaxes_as_the_exponential(dt):
    """Shear is ⅔ (1 + ν) of its strain, and only shear flows, so its tension falls at c ⅔ (1 + ν)."""
    for time, tension in relaxation(dt):
        assert abs(tension - np.exp(-5.0 * 2.0 / 3.0 * 1.33 * time)) < 0.01


@pytest.mark.slow
@BOTH
def test_below_yield_a_body_moves_as_one_that_is_not_plastic(law, tmp_path):
    """Bit by bit, over 1000 steps."""
    asked = Plasticity(law, yield_strain=0.5)
    settings = Settings(substeps=40, tolerance=1e-3)
    runs = []
    for name, plasticity in (("with", asked), ("without", None)):
        body = clay_block(plasticity, at=(0.0, 0.0, 0.05))
        runs.append(Run(tmp_path / name, Scene((body,), (Collider("ground", "Ground"),), settings)))
        runs[-1].advance(25)
    plastic, elastic = runs
    assert plastic.state.x.tobytes() == elastic.state.x.tobytes()
    assert plastic.state.v.tobytes() == elastic.state.v.tobytes()
    assert np.abs(elastic.state.x - elastic.built.model.X).max() > 0.04
    assert (plastic_norm(plastic.built.model, plastic.state) == 0.0).all()
    assert plastic.reports[-1].bodies == {"block": {"largest_plastic_strain": 0.0}}


def test_clay_dropped_stays_dented_and_jelly_does_not(tmp_path):
    ground, heights, widths = Collider("ground", "Ground"), {}, {}
    for name, asked in (("clay", Plasticity(yield_strain=0.02, flow=60.0)), ("jelly", None)):
        body = clay_block(asked, at=(0.0, 0.0, 0.02), initial_velocity=(0.0, 0.0, -3.0))
        run = Run(tmp_path / name, Scene((body,), (ground,)))
        run.advance(24)
        heights[name], widths[name] = np.ptp(run.state.x[:, 2]), np.ptp(run.state.x[:, 0])
        edges = run.state.x[run.built.model.tets[:, 1:]] - run.state.x[run.built.model.tets[:, :1]]
        volume = np.linalg.det(edges).sum() / 6.0
        assert volume == pytest.approx(0.027, rel=0.03)
    assert heights["clay"] < 0.9 * heights["jelly"] and widths["clay"] > 1.03 * widths["jelly"]


def test_what_is_molten_has_no_yield_strain_and_what_cools_keeps_its_new_shape(tmp_path):
    """Wax that bears itself while it is cold: above its melting point it flows, then stays as it is."""
    wax = Plasticity(yield_strain=0.5, flow=20.0, hardening=5.0)
    cold = Heat(temperature=20.0, melting_point=60.0, exchange=0.0, conductivity=0.0)
    ground, norms = (Collider("ground", "Ground"),), {}
    for name, heat in (("cold", cold), ("molten", dataclasses.replace(cold, temperature=70.0))):
        body = clay_block(wax, heat=heat)
        run = Run(tmp_path / name, Scene((body,), ground))
        run.advance(12)
        norms[name] = plastic_norm(run.built.model, run.state).max()
    assert norms["cold"] == 0.0 and norms["molten"] > 0.05
    shape = run.state.fields["tet.Fp_inverse"].copy()
    run.state.fields["node.temperature"][:] = 20.0
    run.advance(12)
    assert (run.state.fields["tet.Fp_inverse"] == shape).all()


def test_gravity_in_shape_holds_below_yield_and_creeps_above(tmp_path):
    """The stress that bears gravity from the start counts as any other."""
    moved, settings = {}, Settings(substeps=2)
    for name, strain in (("below", 0.5), ("above", 1e-4)):
        body = clay_block(Plasticity(yield_strain=strain, flow=5.0), gravity_in_shape=True)
        run = Run(tmp_path / name, Scene((body,), (Collider("ground", "Ground", friction=0.9),), settings))
        moved[name] = np.abs(run.advance(12) - body.vertices).max()
    assert moved["below"] < 1e-4 and moved["above"] > 0.01


def test_what_breaks_stays_plastic(tmp_path):
    """Rows per tet stay when nodes split: a bar torn apart flows before, while and after it breaks."""
    body = block((8, 2, 2), (0.8, 0.2, 0.2), material=CLAY)
    ends = np.flatnonzero((body.vertices[:, 0] < 1e-9) | (body.vertices[:, 0] > 0.8 - 1e-9)).astype(np.int32)
    times = np.linspace(0.0, 1.0, 25)
    targets = np.stack([body.vertices[ends]] * 25)
    targets[:, body.vertices[ends, 0] > 0.4, 0] += 1.6 * times[:, None] ** 2
    body = dataclasses.replace(
        body,
        pinned=ends,
        pin_weights=np.ones(len(ends)),
        plasticity=Plasticity(yield_strain=0.01, flow=5.0),
        fracture=Fracture(breaking_stress=1.2e4, scatter=0.0),
    )
    run = Run(tmp_path, Scene((body,), settings=NOTHING), body__block__targets=(times, targets, "linear"))
    pieces, norms = [], []
    for _ in range(24):
        run.advance()
        told = run.reports[-1].bodies["block"]
        pieces.append(told["pieces"])
        norms.append(told["largest_plastic_strain"])
    assert pieces[0] == 1 and pieces[-1] >= 2 and run.built.model.node_count > len(body.tet_nodes)
    assert norms[sum(count == 1 for count in pieces)] > 0.01 and np.isfinite(run.state.x).all()
    assert len(run.state.fields["tet.Fp_inverse"]) == run.built.model.tet_count == len(body.tets)
