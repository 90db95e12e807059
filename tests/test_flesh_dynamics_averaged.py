# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearly incompressible flesh in motion: averages at nodes in steps of time, beside bodies that have none."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_dynamics import EXACT, GRAVITY, advance, at_rest, energy_of, flesh_of, model_of, momentum, spinning
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
)
from sinew.solver.mechanics.hyperelastic.nodal_averaging import nodal_share
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.model import Model
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.scene.scene import Material, Settings

RUBBER = Material(1.0e5, 0.49, 1000.0, 4.0, 0.02)
LAW = "stable-neo-hookean"


def sag(model: Model, average: bool):
    """Where two bars come to rest, one end of each held [m]: the first of them is flesh in the step."""
    held, g = model.X[:, 2] < 1e-9, 0.2 * GRAVITY[[2, 1, 0]]
    state, flesh = at_rest(model), flesh_of(model, bodies=[0], average=average)
    for _ in range(200):
        report = step(
            model, state, ExternalForces(g, held, model.X), 0.02, Settings(), options=StepOptions(flesh=flesh)
        )
    assert report.converged and np.abs(state.v).max() < 1e-3
    nodes = np.flatnonzero(held).astype(np.int32)
    law = hyperelastic(model, LAW, None, average=average)
    equilibrium = solve(
        EquilibriumProblem(model, law, FixedNodes(nodes, model.X[nodes]), load=model.mass[:, None] * g), model.X, 1e-8
    )
    own = model.bodies[0].nodes
    return (state.x - model.X)[own], (equilibrium.x - model.X)[own], (state.x - model.X)[model.bodies[1].nodes]


@pytest.mark.slow
def test_it_comes_to_rest_where_equilibria_of_averages_are_and_does_not_lock():
    model = model_of((2, 2, 8), (0.25, 0.25, 1.0), RUBBER, bodies=2)
    locked, own, _ = sag(model, False)
    assert np.abs(locked - own).max() < 1e-3 * np.abs(own).max()
    free, own, other = sag(model, True)
    assert np.abs(free - own).max() < 1e-3 * np.abs(own).max()
    assert np.abs(free).max() > 1.3 * np.abs(locked).max()
    assert np.abs(other).max() < 1.1 * np.abs(locked).max()  # corotated tets lock


@pytest.mark.parametrize("scheme", ["euler", "newmark"])
def test_momentum_stays_and_energy_does_not_grow(scheme):
    model = model_of(material=replace(RUBBER, mass_damping=0.0, stiffness_damping=0.005))
    state, flesh = spinning(model, 1.02), flesh_of(model, scheme, average=True)
    before, first = momentum(model, state), energy_of(model, state, average=True)
    for _ in range(20):
        advance(model, state, flesh, 0.005, 1)
        assert energy_of(model, state, average=True) < (1.0 + 1e-9) * first
    assert np.abs(momentum(model, state) - before).max() < 1e-12 * np.linalg.norm(model.mass[:, None] * state.v)


def test_a_step_solves_its_equation_with_averages():
    model, dt = model_of(material=replace(RUBBER, mass_damping=0.0, stiffness_damping=0.0)), 0.01
    state, flesh = spinning(model, 1.03), flesh_of(model, average=True)
    v0 = state.v.copy()
    report = step(model, state, ExternalForces(), dt, EXACT, options=StepOptions(flesh=flesh))
    force = np.empty_like(state.x)
    forces(model, hyperelastic(model, LAW, "smooth", average=True), state.x, force, tet_arrays(model.pattern))
    r = model.mass[:, None] * (v0 - state.v) + dt * force
    assert report.converged and np.linalg.norm(r) < 3e-9 * np.linalg.norm(model.mass[:, None] * v0)
    assert report.solves <= 8  # the tangent is that of averages, too


def test_damping_of_averaged_tets_does_without_their_incompressibility():
    model = model_of(material=RUBBER)
    work, shape = tet_arrays(model.pattern), (model.pattern.block_count, 9)
    D, K, force = np.empty(shape), np.empty(shape), np.empty_like(model.X)
    damping_matrix(model, model.X, D, work, nodal_share(model.mu, model.lam))
    soft = replace(model, lam=np.zeros_like(model.lam))
    forces_and_tangent(soft, hyperelastic(soft, "corotated", None), model.X, K, force, work, False)
    assert np.abs(D - RUBBER.stiffness_damping * K).max() < 1e-9 * np.abs(D).max()
