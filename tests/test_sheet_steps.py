# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of sheets, alone and beside solids: the equation of a step, momentum, energy, a hanging strip, a cantilever."""

import dataclasses

import numpy as np
import pytest

from fixtures.sheets import (
    CLOTH,
    EXACT,
    GRAVITY,
    dense,
    energy_of,
    forces_of,
    grid,
    random_grid,
    right_grid,
    settled,
    sheet_model,
    tips_of_strip,
)
from fixtures.tet_meshes import bar
from reference.elastica import elastica
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import tet_arrays
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.sheets.sheet_part import sheet_part
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Material

NEO = dataclasses.replace(CLOTH, law="stable-neo-hookean")
LAWS = pytest.mark.parametrize("material", [CLOTH, NEO], ids=["stvk", "neo-hookean"])


def crumpled_state(model, seed=0):
    """Returns a sheet that is bent by some degrees and flies, turning."""
    rng = np.random.default_rng(seed)
    x = model.X + 0.01 * rng.normal(size=model.X.shape)
    return State(x, np.cross([2.0, -1.0, 3.0], x) + 0.3 * rng.normal(size=x.shape))


@LAWS
def test_the_end_of_a_step_solves_the_equation_of_the_step(material):
    model, dt = sheet_model(*grid((5, 4), (0.5, 0.4)), material, (0.5, 0.01)), 0.02
    state = crumpled_state(model)
    x0, v0 = state.x.copy(), state.v.copy()
    # residuals are relative to the impulses of stiff triangles, which cancel: 1e-9 of these is 3e-7 of the momentum
    report = step(model, state, ExternalForces(GRAVITY), dt, EXACT)
    assert report.converged and report.newton_iterations > 1 and report.inverted_tets == 0
    values = np.empty((model.pattern.block_count, 9))
    damping_matrix(model, x0, values, tet_arrays(model.pattern))
    m, v = model.mass[:, None], state.v
    acting = forces_of(model, state.x) + m * GRAVITY - 0.5 * m * v
    acting -= (dense(model, values) @ v.ravel()).reshape(-1, 3)
    assert np.abs(m * (v0 - v) + dt * acting).max() < 1e-6 * np.abs(m * v0).max()


@LAWS
def test_a_free_sheet_keeps_its_momentum_and_gains_no_energy(material):
    model = sheet_model(*grid((6, 5), (0.6, 0.5)), material)
    state, context = crumpled_state(model), SolverContext()
    m = model.mass[:, None]

    def energy():
        return energy_of(model, state.x) + 0.5 * float(np.sum(m * state.v**2))

    momentum, before, first = np.sum(m * state.v, axis=0), energy(), energy()
    for _ in range(40):
        assert step(model, state, ExternalForces(np.zeros(3)), 0.01, EXACT, context=context).converged
        assert energy() <= before * (1.0 + 1e-9)
        before = energy()
    size = np.sum(m * np.abs(state.v))
    assert np.abs(np.sum(m * state.v, axis=0) - momentum).max() < 1e-9 * size
    assert before < 0.9 * first


@LAWS
def test_a_step_changes_angular_momentum_by_what_implicit_euler_does(material):
    # of x⁺ = x + Δt v⁺ with forces without torque at x⁺: Σ m x⁺ × v⁺ = Σ m x⁺ × v = Σ m x × v + Δt Σ m v⁺ × v
    model, dt = sheet_model(*grid((6, 5), (0.6, 0.5)), material), 0.005
    state, m = crumpled_state(model), model.mass[:, None]
    for _ in range(5):
        x, v = state.x.copy(), state.v.copy()
        assert step(model, state, ExternalForces(np.zeros(3)), dt, EXACT).converged
        end = np.sum(m * np.cross(state.x, state.v), axis=0)
        expected = np.sum(m * np.cross(x, v) + dt * m * np.cross(state.v, v), axis=0)
        assert np.abs(end - expected).max() < 1e-8 * np.sum(m * np.linalg.norm(np.cross(x, v), axis=1)[:, None])


def test_a_hanging_strip_gets_longer_by_its_weight():
    soft = dataclasses.replace(CLOTH, youngs_modulus=1.0e5, poisson_ratio=0.0)
    nodes, triangles = grid((4, 40), (0.1, 1.0))
    nodes = nodes[:, [0, 2, 1]] * [1.0, 1.0, -1.0]  # hangs from z = 0
    x = settled(sheet_model(nodes, triangles, soft, (1.0, 0.0)), nodes[:, 2] == 0.0)
    end = nodes[:, 2] == -1.0
    # St. Venant and Kirchhoff's law: E s (s² − 1) / 2 is the weight below, over the section at rest
    z = np.linspace(0.0, 1.0, 401)
    load = soft.density * 9.81 * z / soft.youngs_modulus
    stretch = np.ones_like(z)
    for _ in range(20):
        stretch -= (0.5 * stretch * (stretch**2 - 1.0) - load) / (1.5 * stretch**2 - 0.5)
    length = float(np.mean(0.5 * (stretch[1:] + stretch[:-1])))
    assert length > 1.01 and -x[end, 2].mean() - 1.0 == pytest.approx(length - 1.0, rel=2e-3)


@pytest.mark.parametrize("mesh", [right_grid, random_grid])
def test_a_strip_bends_as_the_elastica(mesh):
    """tests/validate_sheets.py has finer ones, of other triangles."""
    stiff, length = dataclasses.replace(CLOTH, youngs_modulus=1.0e7), 0.1
    tip = tips_of_strip(mesh((24, 1), (2.0 * length, 0.01)), stiff)
    h = stiff.thickness
    expected = elastica(length, stiff.youngs_modulus * h**3 / 12.0, stiff.density * 9.81 * h)
    assert np.abs(tip - expected).max() < 0.01 * length


def test_a_sheet_and_a_solid_move_in_one_step_as_each_alone():
    box, tets = bar((2, 1, 1), (0.2, 0.1, 0.1))
    solid = Part("box", box, tets, np.ones(len(tets)), Material(1.0e4, 0.3, 1000.0, 0.0, 0.0))
    sheet = sheet_part("sheet", *grid((4, 3), (0.4, 0.3)), CLOTH)
    whole, alone = make_model([solid, sheet]), make_model([sheet])
    flying = crumpled_state(alone)
    x = np.concatenate([box, flying.x])
    together = State(x, np.concatenate([np.cross([0.0, 0.0, 5.0], box), flying.v]))
    for state, model in ((together, whole), (flying, alone)):
        for _ in range(5):
            assert step(model, state, ExternalForces(GRAVITY), 0.01, EXACT).converged
    assert np.abs(together.x[len(box) :] - flying.x).max() < 1e-7
    assert whole.pattern.island_count == 2
