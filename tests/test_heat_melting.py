# SPDX-License-Identifier: GPL-3.0-or-later
"""What heat makes of the material: softer, molten, as large as before, and stiff again in its new shape."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from fixtures.scenes import Run, block, rotation
from fixtures.tet_meshes import bar
from sinew.solver.mechanics.elastic_moduli import youngs_modulus
from sinew.solver.mechanics.elements.added_volume_penalty import MIN_FREE_VOLUME_RATIO, add_pressure
from sinew.solver.mechanics.elements.corotational_element import MAX_RECORD_LENGTH
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.heat import TEMPERATURE, ThermalFactors, plasticity_of, softened_moduli, thermal_factors
from sinew.solver.mechanics.heat.softened_moduli import LIQUID_BULK_FACTOR
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.plasticity import plastic_norm
from sinew.solver.scene.scene import Collider, Heat, HeatSource, Material, Plasticity, Scene, Settings
from sinew.solver.simulation.current_model import current_model
from test_heat_flow import STILL

CURVE = np.array([[20.0, 1.0, 1.0, 1.0], [50.0, 0.4, 0.5, 2.0], [60.0, 0.05, 0.1, 5.0]])
WAX = Heat(20.0, 0.25, 2000.0, 0.0, 60.0, CURVE)
STUFF = Material(5.0e4, 0.33, 1000.0, 0.0, 0.01)


def slow_curve(temperature, column):
    """Returns a factor of CURVE at a temperature, by the rows around it."""
    if temperature <= CURVE[0, 0]:
        return CURVE[0, column]
    for low, high in zip(CURVE[:-1], CURVE[1:], strict=True):
        if temperature <= high[0]:
            s = (temperature - low[0]) / (high[0] - low[0])
            return (1.0 - s) * low[column] + s * high[column]
    return CURVE[-1, column]


def test_factors_follow_the_curve_and_the_melting_point(tmp_path):
    body = block((3, 3, 3), heat=WAX, material=STUFF)
    other = block((2, 2, 2), at=(5.0, 0.0, 0.0), key="other")
    run = Run(tmp_path, Scene((other, body), (), STILL))
    model, T = run.built.model, run.state.fields[TEMPERATURE]
    T[:] = np.random.default_rng(0).uniform(0.0, 100.0, len(T))
    found = thermal_factors(run.built.heat, model, run.state)
    own = model.bodies[1].tets
    for tet in range(model.tet_count):
        t = T[model.tets[tet]].mean()
        heated = own.start <= tet < own.stop
        assert found.melted[tet] == (heated and t >= 60.0)
        expected = [slow_curve(t, column) for column in (1, 2, 3)] if heated else [1.0, 1.0, 1.0]
        expected[1] *= not found.melted[tet]
        got = [found.stiffness[tet], found.yield_strain[tet], found.flow[tet]]
        assert got == pytest.approx(expected, abs=1e-12)
    assert found.melted.any() and not found.melted[own].all()


def test_exactly_at_the_melting_point_it_has_melted(tmp_path):
    run = Run(tmp_path, Scene((block(heat=replace(WAX, temperature=60.0)),), (), STILL))
    found = thermal_factors(run.built.heat, run.built.model, run.state)
    assert found.melted.all() and (found.yield_strain == 0.0).all()


def twin_of_softened(mu, lam, by_heat, flowed):
    """Returns μ, λ and κ of one tet by the words of softened_moduli.py, Young's modulus found by bisection."""
    kappa, f = lam + 2.0 / 3.0 * mu, by_heat.stiffness
    E = youngs_modulus(mu, lam)
    if f < 1.0 and by_heat.min_bulk > 0.0:
        kappa = f * kappa + (1.0 - f) * min(kappa, LIQUID_BULK_FACTOR * by_heat.min_bulk)
    low, high = 0.0, 2.0 * mu
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if 9.0 * kappa * middle / (3.0 * kappa + middle) < f * E else (low, middle)
    soft_mu, grown = (low, 1.0) if f <= 1.0 else (mu, f)
    bulk = kappa * grown
    by_volume = 0.0
    if by_heat.is_heated and (by_heat.melted or f < 1.0 or flowed > 0.0):
        softness = 1.0 if by_heat.melted else max(1.0 - min(f, 1.0), min(flowed / 0.5, 1.0))
        by_volume = max(bulk, (1.0 - softness) * bulk + softness * by_heat.min_bulk)
    return soft_mu * grown, bulk - 2.0 / 3.0 * soft_mu * grown, by_volume


@pytest.mark.parametrize("nu", [0.0, 0.33, 0.49])
def test_softened_moduli_have_the_youngs_modulus_and_the_bulk_modulus_asked_for(nu):
    nodes, tets = bar((4, 2, 2), (0.8, 0.4, 0.4))
    model = make_model([Part("b", nodes, tets, np.ones(len(tets)), replace(STUFF, poisson_ratio=nu))])
    rng, m = np.random.default_rng(0), len(tets)
    by_heat = ThermalFactors(
        stiffness=rng.choice([1.0, 0.7, 0.05, 1e-6, 0.0, 1.8], m),
        yield_strain=np.ones(m),
        flow=np.ones(m),
        melted=rng.uniform(size=m) > 0.7,
        is_heated=rng.uniform(size=m) > 0.3,
        min_bulk=rng.choice([0.0, 1.0e3, 9.0e5], m),
    )
    flowed = rng.choice([0.0, 1e-9, 0.2, 3.0], m)
    found = np.array(softened_moduli(model, by_heat, flowed)).T
    for tet in range(m):
        one = ThermalFactors(*(getattr(by_heat, field.name)[tet] for field in fields(ThermalFactors)))
        expected = twin_of_softened(model.mu[tet], model.lam[tet], one, flowed[tet])
        assert found[tet] == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert (found[:, 2] > 0.0).any() and (found[:, 2] == 0.0).any()


def test_what_is_as_it_was_made_keeps_its_moduli_to_the_bit():
    nodes, tets = bar((2, 2, 2), (0.4, 0.4, 0.4))
    model = make_model([Part("b", nodes, tets, np.ones(len(tets)), STUFF)])
    one, none = np.ones(len(tets)), np.zeros(len(tets), bool)
    mu, lam, by_volume = softened_moduli(model, ThermalFactors(one, one, one, none, ~none, one), np.zeros(0))
    assert (mu == model.mu).all() and (lam == model.lam).all() and not len(by_volume)


def pressed(seed=0, fill=0.3):
    """Returns a model with a filled share and initial strain, and positions at which some tets are inside out."""
    nodes, tets = bar((4, 2, 2), (0.8, 0.4, 0.4))
    rng = np.random.default_rng(seed)
    strain = rng.normal(size=(len(tets), 6)) * 0.05
    part = Part("b", nodes, tets, np.full(len(tets), fill), STUFF, initial_strain=strain)
    return replace(make_model([part]), pressure_modulus=rng.uniform(1.0e4, 5.0e4, len(tets))), nodes + rng.normal(
        size=nodes.shape
    ) * 0.1


def energy(model, x):
    """Returns the energy of the pressure [J], tet by tet from determinants."""
    total = 0.0
    for tet, n in enumerate(model.tets):
        whole = np.linalg.det(model.X[n[1:]] - model.X[n[0]]) / 6.0
        J = np.linalg.det(x[n[1:]] - x[n[0]]) / 6.0 / whole
        kappa, J0 = model.pressure_modulus[tet], 1.0 + model.initial_strain[tet, :3].sum()
        total += (
            0.5 * kappa * model.volume[tet] * (J - J0) ** 2
            + 0.5 * kappa * whole * min(J - MIN_FREE_VOLUME_RATIO, 0.0) ** 2
        )
    return total


def with_pressure(model, x, dt):
    """Returns forces (n, 3) and the dense matrix that `add_pressure` adds."""
    pattern, n = model.pattern, model.node_count
    values, force = np.zeros((pattern.block_count, 9)), np.zeros((n, 3))
    records = np.zeros((model.tet_count, MAX_RECORD_LENGTH))
    add_pressure(model, x, slice(0, model.tet_count), records)
    assemble(dt * dt, dt, np.zeros(n), pattern, records, values, force)
    dense = np.zeros((n, 3, n, 3))
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(np.int64)))
    for block_number, (row, column) in enumerate(zip(rows, pattern.column, strict=True)):
        dense[row, :, column, :] = values[block_number].reshape(3, 3)
    return force, dense.reshape(3 * n, 3 * n)


def test_the_pressure_is_the_derivative_of_its_energy():
    model, x = pressed()
    J = np.linalg.det(x[model.tets][:, 1:] - x[model.tets][:, :1]) * np.linalg.det(model.Dm_inverse)
    assert (J < 0.0).any() and ((J > 0.0) & (J < MIN_FREE_VOLUME_RATIO)).any() and (J > MIN_FREE_VOLUME_RATIO).any()
    force, _ = with_pressure(model, x, 0.01)
    step = 1e-6
    for node in range(model.node_count):
        for axis in range(3):
            moved = np.zeros_like(x)
            moved[node, axis] = step
            slope = (energy(model, x + moved) - energy(model, x - moved)) / (2.0 * step)
            assert force[node, axis] == pytest.approx(-slope, rel=1e-6, abs=1e-5 * np.abs(force).max())


def test_the_stiffness_of_the_pressure_is_that_of_its_slow_twin():
    model, x = pressed(1)
    dt = 0.02
    _, dense = with_pressure(model, x, dt)
    expected = np.zeros_like(dense)
    for tet, n in enumerate(model.tets):
        whole = np.linalg.det(model.X[n[1:]] - model.X[n[0]]) / 6.0
        slope = np.zeros((model.node_count, 3))
        for corner in range(4):
            for axis in range(3):
                moved = x[n].copy()
                moved[corner, axis] += 1.0  # J is linear in one coordinate
                difference = np.linalg.det(moved[1:] - moved[0]) - np.linalg.det(x[n][1:] - x[n][0])
                slope[n[corner], axis] = difference / 6.0 / whole
        J = np.linalg.det(x[n[1:]] - x[n[0]]) / 6.0 / whole
        stiffness = model.pressure_modulus[tet] * (model.volume[tet] + (whole if J < MIN_FREE_VOLUME_RATIO else 0.0))
        expected += dt * (dt + 0.01) * stiffness * np.outer(slope.ravel(), slope.ravel())
    assert np.abs(dense - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.linalg.eigvalsh(dense).min() > -1e-12 * np.abs(dense).max()


def test_the_pressure_turns_and_moves_along():
    model, x = pressed(2)
    force, _ = with_pressure(model, x, 0.01)
    R = rotation([1.0, 2.0, -1.0], 1.3)
    turned, _ = with_pressure(model, x @ R.T + 3.0, 0.01)
    assert np.abs(turned - force @ R.T).max() < 1e-11 * np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(force).max()
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * np.abs(force).max()


def volume_and_inverted(run):
    """Returns the volume of the tets over that at rest, filled shares counted, and how many are inside out."""
    model, x = run.built.model, run.state.x
    J = np.linalg.det(x[model.tets][:, 1:] - x[model.tets][:, :1]) * np.linalg.det(model.Dm_inverse)
    return float(J @ model.volume / model.volume.sum()), int((J <= 0.0).sum())


def molten(plasticity, heat=WAX, **settings):
    """Returns a scene of a block on the ground that a hot place below it melts."""
    body = block((4, 4, 4), (0.4, 0.4, 0.4), at=(0.0, 0.0, 0.001), heat=heat, material=STUFF, plasticity=plasticity)
    source = HeatSource("plate", "Plate", 300.0, 1.0, 5.0e6)
    return Scene((body,), (Collider("ground", "Ground"),), Settings(fps=25.0, **settings), (source,))


@pytest.mark.slow
def test_a_melting_block_flows_and_keeps_its_volume(tmp_path):
    run = Run(tmp_path, molten(Plasticity(yield_strain=0.2, flow=100.0)))
    for _ in range(50):
        render = run.advance()
        volume, inverted = volume_and_inverted(run)
        assert abs(volume - 1.0) < 0.03 and inverted == 0
    assert render[:, 2].max() < 0.15


def test_without_melting_it_stands(tmp_path):
    cold = replace(molten(Plasticity(yield_strain=0.2, flow=100.0)), heat_sources=())
    run = Run(tmp_path, cold)
    render = run.advance(25)
    assert render[:, 2].max() > 0.35 and plastic_norm(run.built.model, run.state).max() == 0.0


@pytest.mark.slow
def test_a_body_that_is_not_plastic_flows_once_it_melts(tmp_path):
    scene = molten(None)
    assert plasticity_of(scene.bodies[0]).law == "multiplicative"
    assert plasticity_of(block()) is None
    run = Run(tmp_path, scene)
    render = run.advance(50)
    assert render[:, 2].max() < 0.25
    warm = Run(
        tmp_path / "warm", replace(scene, bodies=(replace(scene.bodies[0], heat=replace(WAX, melting_point=500.0)),))
    )
    warm.advance(50)
    assert plastic_norm(warm.built.model, warm.state).max() == 0.0


@pytest.mark.slow
def test_what_melted_and_cooled_keeps_its_shape_and_is_stiff_again(tmp_path):
    """Melted for a second, cooled by air of 0 °C, then turned weightless: it does not spring back."""
    heat = replace(WAX, conductivity=1.0e4, exchange=3.0e5)
    off = ([0.0, 1.0, 1.01, 9.0], [300.0, 300.0, 0.0, 0.0], "linear")
    none = ([0.0, 5.0, 5.01, 9.0], [(0.0, 0.0, -9.81)] * 2 + [(0.0, 0.0, 0.0)] * 2, "linear")
    scene = molten(Plasticity(yield_strain=0.2, flow=100.0), heat, air_temperature=0.0)
    run = Run(tmp_path, scene, heat__plate__temperature=off, gravity=none)
    run.advance(25)
    melted = run.render["block"][:, 2].max()
    assert thermal_factors(run.built.heat, run.built.model, run.state).melted.any()
    run.advance(100)
    found = thermal_factors(run.built.heat, run.built.model, run.state)
    assert not found.melted.any() and found.stiffness.min() > 0.95
    model = current_model(run.built, run.state)
    assert (model.mu > 0.9 * run.built.model.mu).all()
    cold = run.render["block"].copy()
    run.advance(50)
    assert cold[:, 2].max() < melted + 0.005 < 0.35
    # in its plane: a sheet of 5 cm and 2 m bends a little
    grown = np.ptp(run.render["block"][:, :2], axis=0) / np.ptp(cold[:, :2], axis=0)
    assert np.abs(grown - 1.0).max() < 0.05


def test_what_is_merely_warm_below_its_curve_moves_as_if_it_were_cold(tmp_path):
    """To the bit: temperature alone changes nothing."""
    plain = block((3, 3, 3), material=STUFF)
    renders = []
    for number, heat in enumerate((None, replace(WAX, temperature=15.0))):
        run = Run(tmp_path / str(number), Scene((replace(plain, heat=heat),), (), Settings()))
        renders.append(run.advance(5))
    assert (renders[0] == renders[1]).all()
