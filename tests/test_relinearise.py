# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps whose rotations follow: their forces are those of the end, and nothing is made out of spinning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.contact_scenes import NOTHING
from fixtures.energy_measures import elastic_energy, kinetic_energy
from fixtures.scenes import Run, block, rotation
from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import ContactCallbacks, StepOptions
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.element_torque import sum_torques
from sinew.solver.mechanics.elements.linearisation_error import copy_forces, sum_linearisation_errors
from sinew.solver.mechanics.elements.linearised_forces import add_linear_forces
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Material, Scene, Settings

HARD = Material(1.0e7, 0.3, 1000.0, stiffness_damping=0.01)


def crumpled(has_pressure: bool) -> tuple[Model, np.ndarray, np.ndarray]:
    """Returns a block, positions of its nodes that are not at rest, and velocities."""
    X, tets = bar((3, 2, 2), (1.5, 1.0, 1.0))
    model, random = make_model([Part("block", X, tets, np.ones(len(tets)), HARD)]), np.random.default_rng(4)
    if has_pressure:
        model = replace(model, pressure_modulus=np.where(random.random(len(tets)) < 0.5, 1.0e7, 0.0))
    return model, X + 0.05 * random.normal(size=X.shape), random.normal(size=X.shape)


def assembled(
    model: Model, records: np.ndarray, factors: tuple[float, float], v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the product of a matrix with v, and forces, (n, 3) each; factors are those of stiffness and damping."""
    pattern = model.pattern
    values, force = np.empty((pattern.block_count, 9)), np.empty((pattern.node_count, 3))
    assemble(*factors, np.zeros(len(v)), pattern, records, values, force)
    row = np.repeat(np.arange(len(v)), np.diff(pattern.row_start))
    product = np.zeros_like(v)
    np.add.at(product, row, np.einsum("bij,bj->bi", values.reshape(-1, 3, 3), v[pattern.column]))
    return product, force


@pytest.mark.parametrize("has_pressure", (False, True))
def test_the_linear_pull_is_that_of_the_matrix(has_pressure: bool) -> None:
    model, x, v = crumpled(has_pressure)
    records = compute_element_records(model, x)
    Kv, force = assembled(model, records, (1.0, 0.0), v)
    add_linear_forces(0.3, v, model.tets, records)
    assert np.abs(assembled(model, records, (1.0, 0.0), v)[1] - force - 0.3 * Kv).max() < 1e-13 * np.abs(Kv).max()


@pytest.mark.parametrize("has_pressure", (False, True))
def test_the_twist_is_that_of_forces_and_damping(has_pressure: bool) -> None:
    model, x, v = crumpled(has_pressure)
    start, twist = x - 0.01 * v, np.empty((1, 3))
    records = compute_element_records(model, x)
    Cv, force = assembled(model, records, (0.0, 1.0), v)
    sum_torques(start, v, model.pattern.island_of_row, model.tets, records, twist)
    wanted = np.cross(start, force - Cv).sum(axis=0)
    assert np.abs(twist[0] - wanted).max() < 1e-12 * np.abs(np.cross(start, force)).sum()


def test_changes_of_forces_are_energies() -> None:
    """A stress in all tets alike, taken to be nothing: what it stores within a factor of two."""
    model, _, _ = crumpled(False)
    for stretch in ([0.01, 0.0, 0.0], [0.01, -0.01, 0.0], [0.0, 0.0, -0.02]):
        x = model.X * (1.0 + np.array(stretch))
        records = compute_element_records(model, x)
        nothing, (wrong, stored) = np.zeros((len(records), 9)), np.empty((2, 1))
        sum_linearisation_errors(nothing, model.pattern.island_of_row, model.tets, records, wrong, stored)
        assert wrong[0] == stored[0] and 0.5 < stored[0] / elastic_energy(model, x) < 4.0
        copy_forces(records, nothing)
        sum_linearisation_errors(nothing, model.pattern.island_of_row, model.tets, records, wrong, stored)
        assert wrong[0] == 0.0


def test_a_body_that_is_struck_and_spins_gets_no_energy(tmp_path) -> None:
    """A stiff bar that is held by a weak spring at one end turns by 0.35 in a step."""
    X, tets = bar((6, 1, 1), (1.0, 0.2, 0.2))
    model = make_model([Part("bar", X, tets, np.ones(len(tets)), replace(HARD, stiffness_damping=0.0))])
    spin, dt = np.array([0.0, 0.0, 35.0]), 0.01
    spring = PointForces(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.zeros((1, 3)), np.eye(3)[None] * 1e3, np.zeros((1, 3, 3))
    )
    least = {}
    for turns in (False, True):
        state, solves = State(X.copy(), np.cross(spin, X - X.mean(axis=0))), []

        def respond(x, v, is_wrong, chords, solves=solves):
            """Returns the same once more, as contacts do."""
            solves.append(is_wrong)
            return (
                ExternalForces(points=spring) if is_wrong is not None and is_wrong.any() and len(solves) < 5 else None
            )

        before = 0.5 * float(model.mass @ (state.v**2).sum(axis=1))
        angular = np.cross(state.x, model.mass[:, None] * state.v).sum(axis=0)
        step(
            model,
            state,
            ExternalForces(points=spring),
            dt,
            Settings(tolerance=1e-8),
            contacts=ContactCallbacks(update=respond),
            options=StepOptions(relinearises=turns),
        )
        least[turns] = elastic_energy(model, state.x) / before
        after = np.cross(state.x, model.mass[:, None] * state.v).sum(axis=0)
        assert np.abs(after - angular).max() < 0.02 * angular[2]  # but for what the spring does
    assert least[False] > 0.5 and least[True] < 5e-3


def test_two_boxes_that_meet_askew_keep_energy_and_angular_momentum(tmp_path) -> None:
    bodies = tuple(
        block(
            (2, 2, 4), (0.2, 0.2, 0.6), at=(0.3 * side, 0.0, 0.2 * side), turn=rotation([1, 0, 0], 0.3 * side),
            key=f"box{side}", material=HARD, initial_velocity=(-4.0 * side, 0.0, 0.0),
        )
        for side in (-1, 1)
    )  # fmt: skip
    run = Run(tmp_path, Scene(bodies, (), Settings(gravity=NOTHING)))
    mass, energies = run.built.model.mass[:, None], []
    angular = np.cross(run.state.x, mass * run.state.v).sum(axis=0)
    for _ in range(12):
        energies.append(kinetic_energy(run) + elastic_energy(run.built.model, run.state.x))
        run.advance()
    assert run.state.v[run.built.model.bodies[0].nodes, 0].mean() < 3.0  # it was 4 m/s
    assert np.diff(energies).max() < 1e-3 * energies[0]
    after = np.cross(run.state.x, mass * run.state.v).sum(axis=0)
    assert np.abs(after - angular).max() < 0.01 * np.abs(mass * np.cross(run.state.x, run.state.v)).sum()
