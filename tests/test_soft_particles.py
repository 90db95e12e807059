# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft-bound particles: their elimination against a dense solve, momentum, and steps at any stiffness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fixtures.bound_bodies import PLAIN
from fixtures.flesh_dynamics import FLESH, flesh_of, law_of, model_of
from fixtures.tet_meshes import bar
from reference.soft_bindings import BoundSystem, modified_newmark_step
from sinew.solver.constraints.bindings.soft_particles import (
    POSITION_FIELD,
    VELOCITY_FIELD,
    ParticleMotion,
    SoftParticles,
    SpringEvaluation,
    arm_weights,
    begin_particles,
    critical_damping,
    particle_masses,
    solve_of_particles,
    with_particles,
)
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces, tet_arrays
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Settings
from test_pair_forces_in_step import system_of

DT = 0.01
LONG_STEP = 0.04
EXACT = Settings(tolerance=1.0e-12, max_iterations=20000)
TIGHT = Settings(tolerance=1.0e-9, max_iterations=20000)
GRAVITY = np.array([0.0, 0.0, -9.81])


def bound_to(model: Model, count: int = 12, stiffness: float = 1.0e3, damping_ratio: float = 1.0, seed: int = 0):
    """Returns the model and particles at random points of its tets, with critical damping times a ratio."""
    random = np.random.default_rng(seed)
    tet = random.integers(0, model.tet_count, count).astype(np.int32)
    weights = random.dirichlet(np.ones(4), count)
    particles = SoftParticles(
        tet, weights, particle_masses(model, tet, weights), np.full(count, stiffness), np.zeros(count)
    )
    light = with_particles(model, particles, "box")
    return light, replace(particles, damping=damping_ratio * critical_damping(particles, light))


def box(method: FormulationSettings | None = None) -> Model:
    X, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    return make_model([Part("box", X, tets, np.ones(len(tets)), PLAIN, method=method or FormulationSettings())])


def shaken(model: Model, particles: SoftParticles, size: float = 0.01, drift: float = 0.05) -> State:
    random = np.random.default_rng(1)
    state = State(model.X + size * random.normal(size=model.X.shape), 50.0 * size * random.normal(size=model.X.shape))
    begin_particles(particles, model, state)
    state.fields[POSITION_FIELD] = state.fields[POSITION_FIELD] + drift * random.normal(size=(len(particles), 3))
    state.fields[VELOCITY_FIELD] = state.fields[VELOCITY_FIELD] + random.normal(size=(len(particles), 3))
    return state


def momentum(model: Model, particles: SoftParticles, state: State) -> Floats:
    return model.mass @ state.v + particles.mass @ state.fields[VELOCITY_FIELD]


def spin(model: Model, particles: SoftParticles, state: State) -> Floats:
    x_s, v_s = state.fields[POSITION_FIELD], state.fields[VELOCITY_FIELD]
    return model.mass @ np.cross(state.x, state.v) + particles.mass @ np.cross(x_s, v_s)


def drift_of(model: Model, particles: SoftParticles, state: State) -> Floats:
    return state.fields[POSITION_FIELD] - particles.targets(state.x, model.tets)


def nodal_map(model: Model, particles: SoftParticles, weights: Floats) -> Floats:
    """Returns the rows of weights over all nodes, (3 p, 3 n)."""
    W = np.zeros((len(particles), model.node_count))
    for k, tet in enumerate(particles.tet):
        W[k, model.tets[tet]] = weights[k]
    return np.kron(W, np.eye(3))


@pytest.mark.parametrize("stiffness", [1.0, 1.0e4, 1.0e12])
def test_a_step_is_that_of_a_dense_solve_with_particles_as_unknowns(stiffness: float) -> None:
    model, particles = bound_to(box(), stiffness=stiffness)
    state = shaken(model, particles, drift=0.05 / (1.0 + stiffness / 1.0e3))
    x_s, v_s = state.fields[POSITION_FIELD], state.fields[VELOCITY_FIELD]
    r = drift_of(model, particles, state)
    A, b = system_of(model, state, ExternalForces(GRAVITY))
    W = nodal_map(model, particles, arm_weights(particles, model, state.x, r))
    at_target = nodal_map(model, particles, particles.weights)
    c = np.repeat(DT**2 * particles.stiffness + DT * particles.damping, 3)
    pull = DT * np.repeat(particles.stiffness, 3) * r.ravel()
    m = np.repeat(particles.mass, 3)
    n = len(b)
    whole = np.block([[A + W.T @ (c[:, None] * W), -W.T * c], [-c[:, None] * W, np.diag(m + c)]])
    rest = m / (m + c) * pull  # of the spring, which acts at the target
    right = np.concatenate([b + W.T @ (pull - rest) + at_target.T @ rest, m * (v_s + DT * GRAVITY).ravel() - pull])
    expected = np.linalg.solve(whole, right)
    assert step(model, state, ExternalForces(GRAVITY, particles=particles), DT, EXACT).converged
    size = np.abs(expected).max()
    # a dense factor of springs that are 1e12 times as stiff as bodies leaves what round-off does to it
    close = 1e-9 if stiffness < 1e6 else 1e-4
    assert state.v.ravel() == pytest.approx(expected[:n], abs=close * size)
    assert state.fields[VELOCITY_FIELD].ravel() == pytest.approx(expected[n:], abs=close * size)
    assert state.fields[POSITION_FIELD] == pytest.approx(x_s + DT * state.fields[VELOCITY_FIELD], abs=1e-15)


@pytest.mark.parametrize("springs", SpringEvaluation)
@pytest.mark.parametrize("stiffness", [1.0, 1.0e6, 1.0e12])
def test_a_particle_and_its_tet_push_each_other_without_force_or_torque(
    stiffness: float, springs: SpringEvaluation
) -> None:
    model, particles = bound_to(box(), stiffness=stiffness)
    state = shaken(model, particles)
    motion = ParticleMotion(state.fields[POSITION_FIELD], state.fields[VELOCITY_FIELD])
    solve = solve_of_particles(particles, model, state.x, motion, np.zeros((12, 3)), DT, springs)
    points, v = solve.points(), np.random.default_rng(2).normal(size=state.v.shape)
    on_nodes = np.zeros_like(v)
    forces = points.force_after(np.zeros((len(points), 3)), points.positions(v, model.tets))
    np.add.at(on_nodes, model.tets[points.tet], DT * points.weights[:, :, None] * forces[:, None])
    on_particles = particles.mass[:, None] * (solve.velocities(v, model.tets) - motion.v)
    size = np.abs(on_particles).sum()
    assert size > 0.0
    assert np.abs(on_nodes.sum(axis=0) + on_particles.sum(axis=0)).max() < 1e-12 * size
    torque = np.cross(state.x, on_nodes).sum(axis=0) + np.cross(motion.x, on_particles).sum(axis=0)
    if springs is SpringEvaluation.MIDDLE:  # the change of the spring has one; the solve after it makes up for that
        against_target = solve.velocities(v, model.tets) - particles.targets(v, model.tets)
        change = -(DT**2) * particles.stiffness[:, None] * against_target
        torque -= np.cross(drift_of(model, particles, state), change).sum(axis=0)
        size += np.abs(change).sum()
    assert np.abs(torque).max() < 1e-12 * size


def test_a_rigid_motion_feels_neither_spring_nor_damping() -> None:
    model, particles = bound_to(box(), stiffness=1.0e8, damping_ratio=30.0)
    state = State(model.X.copy(), np.cross([0.7, -0.4, 1.1], model.X) + [1.0, 2.0, 3.0])
    begin_particles(particles, model, state)
    motion = ParticleMotion(state.fields[POSITION_FIELD], state.fields[VELOCITY_FIELD])
    solve = solve_of_particles(particles, model, state.x, motion, np.zeros((12, 3)), DT)
    assert solve.velocities(state.v, model.tets) == pytest.approx(motion.v, abs=1e-10)


SCHEMES = {
    "Polar": FormulationSettings(),
    "QR": FormulationSettings("qr"),
    "Green": FormulationSettings("green"),
    "flesh": FormulationSettings(),
    "Newmark": FormulationSettings(),
}


def options_of(model: Model, scheme: str) -> StepOptions:
    flesh = {"flesh": "euler", "Newmark": "newmark"}
    return StepOptions(flesh=flesh_of(model, flesh[scheme])) if scheme in flesh else StepOptions()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("stiffness", [1.0e2, 1.0e6, 1.0e10])
def test_momentum_stays(scheme: str, stiffness: float) -> None:
    model, particles = bound_to(box(SCHEMES[scheme]), stiffness=stiffness)
    state, options = shaken(model, particles, drift=0.0), options_of(model, scheme)
    before = momentum(model, particles, state)
    size = model.mass @ np.abs(state.v).max(axis=1)
    for _ in range(10):
        report = step(model, state, ExternalForces(particles=particles), 0.25 * DT, EXACT, options=options)
        assert report.converged
    assert np.abs(momentum(model, particles, state) - before).max() < 1e-9 * size


@pytest.mark.parametrize("stiffness", [1.0e2, 1.0e6, 1.0e10])
def test_angular_momentum_stays_where_the_elements_keep_it(stiffness: float) -> None:
    model, particles = bound_to(box(SCHEMES["QR"]), stiffness=stiffness)
    state = shaken(model, particles, drift=0.05 if stiffness < 1e3 else 0.0)
    before = spin(model, particles, state)
    size = float(model.mass @ np.linalg.norm(np.cross(state.x, state.v), axis=1))
    for _ in range(10):
        assert step(model, state, ExternalForces(particles=particles), 0.25 * DT, EXACT).converged
    assert np.abs(spin(model, particles, state) - before).max() < 1e-9 * size


def hung_particles(scheme: str, stiffness: float, steps: int) -> tuple[Floats, Floats]:
    """Returns how far particles hang under their targets, of what they weigh [s²], (p,), and their distances [m], (p,).

    The body is held below, its nodes are slowed, and steps of 40 ms are taken.
    """
    model, particles = bound_to(box(SCHEMES[scheme]), stiffness=stiffness)
    if stiffness < 1.0e3:  # or soft springs would draw particles through the box
        particles = replace(particles, mass=particles.mass * 1.0e-3)
        model = with_particles(box(SCHEMES[scheme]), particles, "box")
        particles = replace(particles, damping=critical_damping(particles, model))
    model = replace(model, mass_damping=np.full(model.node_count, 5.0))
    state, options = State(model.X.copy(), np.zeros_like(model.X)), options_of(model, scheme)
    begin_particles(particles, model, state)
    outside = ExternalForces(GRAVITY, particles=particles, is_fixed=model.X[:, 2] < 1e-9, fixed_target=model.X)
    for _ in range(steps):
        step(model, state, outside, LONG_STEP, TIGHT, options=options)
        assert np.isfinite(state.x).all()
    drift = drift_of(model, particles, state)
    return -drift[:, 2] * stiffness / particles.mass, np.abs(drift).max(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["Polar", "Newmark"])
def test_long_steps_are_stable_at_any_stiffness_and_the_distance_falls_as_it_rises(scheme: str) -> None:
    """All come to rest m g / k under their targets; tests/validate_bindings.py has every scheme from 1 to 1e12 N/m."""
    distances = []
    for stiffness in (1.0e4, 1.0e8):
        found, distance = hung_particles(scheme, stiffness, 120)
        assert found == pytest.approx(9.81, rel=1e-3)
        distances.append(distance.max())
    assert distances[1] == pytest.approx(1.0e-4 * distances[0], rel=1e-3)


def elastic_of(model: Model) -> Callable[[Floats], Floats]:
    """Returns the forces of Newmark's flesh at positions of its nodes."""
    law, tets = law_of(model), tet_arrays(model.pattern)

    def elastic(x: Floats) -> Floats:
        out = np.empty_like(x)
        forces(model, law, np.ascontiguousarray(x), out, tets)
        return out

    return elastic


def dense_system(model: Model, particles: SoftParticles, arms: bool, inherits: bool = False) -> BoundSystem:
    W = nodal_map(model, particles, particles.weights)[::3, ::3]

    def arms_at(x: Floats) -> Floats:
        nodes = np.ascontiguousarray(x[: model.node_count])
        drift = x[model.node_count :] - particles.targets(nodes, model.tets)
        return nodal_map(model, particles, arm_weights(particles, model, nodes, drift))[::3, ::3]

    return BoundSystem(
        np.concatenate([model.mass, particles.mass]), W, particles.stiffness, particles.damping, elastic_of(model),
        GRAVITY, inherits, arms_at if arms else None,
    )  # fmt: skip


@pytest.mark.parametrize("stiffness", [1.0, 1.0e4, 1.0e8])
def test_newmark_with_particles_is_the_dense_scheme_of_s07(stiffness: float) -> None:
    model, particles = bound_to(model_of(cells=(2, 1, 1), lengths=(0.4, 0.2, 0.2)), stiffness=stiffness)
    state = shaken(model, particles, size=0.002, drift=0.01 / (1.0 + stiffness / 1.0e3))
    x = np.concatenate([state.x, state.fields[POSITION_FIELD]])
    v = np.concatenate([state.v, state.fields[VELOCITY_FIELD]])
    system, dt = dense_system(model, particles, arms=True), 5.0e-4
    for _ in range(3):
        report = step(model, state, ExternalForces(GRAVITY, particles=particles), dt, EXACT,
                      options=StepOptions(flesh=flesh_of(model, "newmark")))  # fmt: skip
        assert report.substeps == 1
        x, v = modified_newmark_step(system, x, v, dt)
    assert np.concatenate([state.x, state.fields[POSITION_FIELD]]) == pytest.approx(x, abs=1e-10)
    size = np.abs(v).max()
    found = np.concatenate([state.v, state.fields[VELOCITY_FIELD]])
    assert found == pytest.approx(v, abs=(1e-9 if stiffness < 1e6 else 1e-6) * size)


def test_inherited_accelerations_follow_sooner_but_make_momentum() -> None:
    """S07's own coupling: particles as heavy as their targets, moved by the elastic forces of these."""
    model = model_of(cells=(2, 1, 1), lengths=(0.4, 0.2, 0.2))
    light, particles = bound_to(model, count=6, stiffness=10.0)
    heavy = replace(particles, mass=1.0 / np.einsum(
        "pa,pa->p", particles.weights**2, 1.0 / model.mass[model.tets[particles.tet]]))  # fmt: skip
    made, drifts = [], []
    for own, system in (
        (heavy, dense_system(model, heavy, arms=False, inherits=True)),
        (particles, dense_system(light, particles, arms=False)),
    ):
        system = replace(system, acceleration=np.zeros(3))
        x = np.concatenate([1.02 * model.X, 1.02 * own.targets(model.X, model.tets)])
        v = np.zeros_like(x)
        farthest = 0.0
        for _ in range(40):
            x, v = modified_newmark_step(system, x, v, 5.0e-4)
            apart = x[model.node_count :] - own.targets(x[: model.node_count], model.tets)
            farthest = max(farthest, float(np.abs(apart).max()))
        made.append(float(np.linalg.norm(system.mass @ v) / (system.mass @ np.linalg.norm(v, axis=1))))
        drifts.append(farthest)
    print(f"momentum made, of Σ m|v|: inherited {made[0]:.2%}, from parents {made[1]:.1e}; drifts {drifts}")
    assert made[0] > 0.01 and made[1] < 1e-10
    assert drifts[0] < 0.5 * drifts[1]


@pytest.mark.slow
def test_the_scheme_of_s07_is_of_second_order_with_stiff_bindings() -> None:
    """Errors of positions after a tenth of a second, against a quarter of the shortest step."""
    material = replace(FLESH, youngs_modulus=2.0e4)
    first = model_of(cells=(2, 2, 2), lengths=(0.4, 0.4, 0.4), material=material)
    model, particles = bound_to(first, stiffness=2.0e4, damping_ratio=0.2)
    options = StepOptions(flesh=flesh_of(model, "newmark"))

    def end(steps: int) -> tuple[Floats, int]:
        centre = model.X.mean(axis=0)
        state = State(centre + 1.02 * (model.X - centre), np.zeros_like(model.X))
        begin_particles(particles, model, state)
        state.fields[POSITION_FIELD] = state.fields[POSITION_FIELD] + 0.004
        most = 0
        for _ in range(steps):
            outside = ExternalForces(GRAVITY, particles=particles)
            report = step(model, state, outside, 0.1 / steps, EXACT, options=options)
            most = max(most, report.substeps)
        return np.concatenate([state.x, state.fields[POSITION_FIELD]]), most

    exact, _ = end(400)
    errors = []
    for steps in (50, 100):
        found, substeps = end(steps)
        assert substeps == 1
        errors.append(np.abs(found - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(2.0, abs=0.15)


def test_masses_are_taken_and_never_more_than_there_is() -> None:
    heavy = box()
    model, particles = bound_to(heavy, count=200)
    assert model.mass.sum() + particles.mass.sum() == pytest.approx(heavy.mass.sum(), rel=1e-13)
    assert (model.mass >= 0.5 * heavy.mass * (1.0 - 1e-12)).all()
    assert (particles.mass > 0.0).all()
    with pytest.raises(BadInput, match="without mass"):
        with_particles(heavy, replace(particles, mass=50.0 * particles.mass), "box")
