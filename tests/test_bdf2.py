# SPDX-License-Identifier: GPL-3.0-or-later
"""BDF2: the formula as textbooks write it, its order for every method, and what begins it anew."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_dynamics import matrix
from fixtures.scenes import JELLY, Run, block
from fixtures.tet_meshes import bar
from harness.formulations import formulation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.bdf2 import PREVIOUS_DT, PREVIOUS_X
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.red_refinement import interpolate_from_coarse, red_refinement
from sinew.solver.scene.formulation import BDF2, EULER, FormulationSettings
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

METHODS = [FormulationSettings(name, scheme=BDF2) for name in ("linear", "polar", "qr", "green", "hybrid")]
NAMES = [method.name for method in METHODS]
EXACT = Settings(tolerance=1.0e-10, max_iterations=5000)
MATERIAL = Material(1.0e5, 0.33, 1000.0, 0.3, 0.01)
GRAVITY = np.array([0.0, 0.0, -9.81])
NODES, TETS = bar((4, 2, 2), (2.0, 1.0, 1.0))


def model_of(*methods, material=MATERIAL):
    parts = [
        Part(f"b{k}", NODES + [5.0 * k, 0.0, 0.0], TETS, np.ones(len(TETS)), material, method=method)
        for k, method in enumerate(methods)
    ]
    return make_model(parts)


def springs(model):
    """Points that are pulled sideways, with damping of their own."""
    count = 3
    return PointForces(
        np.arange(count, dtype=np.int32), np.full((count, 4), 0.25), np.tile([20.0, -10.0, 5.0], (count, 1)),
        np.tile(np.diag([3e4, 2e4, 1e4]), (count, 1, 1)), np.tile(np.diag([100.0, 200.0, 300.0]), (count, 1, 1)),
    )  # fmt: skip


def on_nodes(model, points, force):
    out = np.zeros_like(model.X)
    for k, tet in enumerate(points.tet):
        np.add.at(out, model.tets[tet], points.weights[k][:, None] * force[k])
    return out


def damping_of(model, x):
    """Returns D [N s/m] of tets that leave records."""
    p = model.pattern
    values, force = np.empty((p.block_count, 9)), np.empty((p.node_count, 3))
    assemble(0.0, 1.0, np.zeros(p.node_count), p, compute_element_records(model, x), values, force)
    return matrix(model, values)


def test_a_step_is_the_formula_of_textbooks():
    """M (3 v⁺ − 4 v + v⁻) / (2 Δt) = f(x⁺, v⁺) and v⁺ = (3 x⁺ − 4 x + x⁻) / (2 Δt), with all that acts put together."""
    model, dt = model_of(METHODS[0]), 0.01
    held = model.X[:, 0] < 1e-9
    state, points = State(model.X.copy(), 0.3 * np.cross([0.0, 1.0, 0.5], model.X)), springs(model)
    states = [state.copy()]
    for k in range(3):
        target = model.X + [0.0, 0.02 * (k + 1), 0.0]
        here = points.positions(state.x, model.tets)
        pulled = replace_force(points, points.force - np.einsum("kij,kj->ki", points.stiffness, here))
        assert step(model, state, ExternalForces(GRAVITY, held, target, None, pulled), dt, EXACT).converged
        states.append(state.copy())
    before, now, end = states[-3:]
    m, asked = model.mass[:, None], formulation(model, METHODS[0])
    there = points.positions(end.x, model.tets)
    acting = (
        asked.forces(end.x) + m * GRAVITY - 0.3 * m * end.v - (damping_of(model, end.x) @ end.v.ravel()).reshape(-1, 3)
    )
    acting += on_nodes(model, points, points.force - np.einsum("kij,kj->ki", points.stiffness, there))
    speed = points.positions(end.v, model.tets)
    acting -= on_nodes(model, points, np.einsum("kij,kj->ki", points.damping, speed))
    left = m * (3.0 * end.v - 4.0 * now.v + before.v) / (2.0 * dt) - acting
    assert np.abs(left[~held]).max() < 1e-7 * np.abs(acting).max()
    assert np.abs(end.v - (3.0 * end.x - 4.0 * now.x + before.x) / (2.0 * dt)).max() < 1e-11
    assert np.array_equal(end.x[held], target[held])


def replace_force(points, force):
    return PointForces(points.tet, points.weights, force, points.stiffness, points.damping)


def ends(model, dt, seconds, held):
    """Returns where a bar is that swings from one end, or flies spinning under stress, after so many seconds."""
    is_held = model.X[:, 0] < 1e-9 if held else None
    v = np.cross([0.0, 4.0, 2.0], model.X)
    if held:
        v = -np.square(model.X[:, :1]) * [0.0, 0.0, 1.0]
    state = State(model.X.copy(), v)
    for _ in range(round(seconds / dt)):
        assert step(model, state, ExternalForces(GRAVITY, is_held, model.X), dt, EXACT).converged
    return np.concatenate([state.x, 0.1 * state.v])


# bodies of the linear method cannot spin
CASES = [(method, True) for method in METHODS] + [(method, False) for method in METHODS[1:]]
CASE_NAMES = [f"{method.name} {'swinging' if held else 'spinning'}" for method, held in CASES]


def errors_of(make, method, held):
    """Returns the errors of 20 and 40 steps of a model that `make` makes of a method, and of 20 by implicit Euler."""
    seconds = 0.08
    reference = ends(make(method), seconds / 320, seconds, held)
    runs = ((method, 20), (method, 40), (replace(method, scheme=EULER), 20))
    return [np.linalg.norm(ends(make(asked), seconds / count, seconds, held) - reference) for asked, count in runs]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "held"), CASES, ids=CASE_NAMES)
def test_is_of_second_order(method, held):
    error, halved, plain = errors_of(model_of, method, held)
    assert 3.3 < error / halved < 4.7 and error < 0.25 * plain


@pytest.mark.slow
def test_hierarchical_bodies_are_of_second_order():
    coarse, tets = bar((2, 1, 1), (2.0, 1.0, 1.0))
    fine, levels = red_refinement(tets, len(coarse), 1)
    nodes = interpolate_from_coarse(levels, coarse)

    def refined_model(method):
        part = Part("b", nodes, fine, np.ones(len(fine)), MATERIAL, method=method, levels=levels)
        return make_model([part])

    error, halved, plain = errors_of(refined_model, FormulationSettings("hierarchical", scheme=BDF2), False)
    assert 3.3 < error / halved < 4.7 and error < 0.25 * plain


def test_falls_exactly_but_for_its_first_step():
    """BDF2 is exact for parabolas; the first step, by implicit Euler, leaves ½ g Δt² and hence a little of it."""
    model, dt, count = model_of(METHODS[1], material=Material(1.0e5, 0.33, 1000.0, 0.0, 0.01)), 0.02, 20
    state = State(model.X.copy(), np.zeros_like(model.X))
    for _ in range(count):
        step(model, state, ExternalForces(GRAVITY), dt, EXACT)
    assert np.abs(state.v - count * dt * GRAVITY).max() < 1e-9
    fell = state.x - model.X - 0.5 * GRAVITY * (count * dt) ** 2
    assert np.abs(fell - 0.75 * GRAVITY * dt * dt).max() < 1e-6


def test_keeps_momentum():
    model = model_of(METHODS[1], material=Material(1.0e5, 0.33, 1000.0, 0.0, 0.01))
    state = State(1.1 * model.X, np.cross([1.0, 2.0, 3.0], model.X) + [1.0, 0.0, 2.0])
    before = model.mass @ state.v
    for _ in range(20):
        step(model, state, ExternalForces(), 0.01, EXACT)
    assert np.abs(model.mass @ state.v - before).max() < 1e-9 * np.abs(before).max()


def test_bodies_of_all_methods_and_both_schemes_share_a_step():
    """Each moves as if it were alone, springs and held nodes included."""
    methods = [
        *METHODS,
        FormulationSettings(),
        FormulationSettings("green"),
        FormulationSettings("green", one_step=True, scheme=BDF2),
    ]

    def end(*chosen):
        model = model_of(*(methods[k] for k in chosen))
        held = np.concatenate([NODES[:, 0] < 1e-9 for _ in chosen])
        state = State(model.X.copy(), np.concatenate([0.5 * NODES * [0.0, 0.0, 1.0] for _ in chosen]))
        for _ in range(6):
            assert step(model, state, ExternalForces(GRAVITY, held, model.X), 0.01, EXACT).converged
        return state.x - model.X

    together, count = end(*range(len(methods))), len(NODES)
    for k in range(len(methods)):
        assert np.abs(together[k * count : (k + 1) * count] - end(k)).max() < 1e-7


def test_lengths_that_change_begin_anew():
    """A step by implicit Euler ends at x + Δt v⁺, one by BDF2 does not."""
    model, ways = model_of(METHODS[1], FormulationSettings()), []
    for length in (0.005, 0.01):
        state = State(model.X.copy(), np.zeros_like(model.X))
        for dt in (0.01, 0.01, length):
            x = state.x.copy()
            step(model, state, ExternalForces(GRAVITY), dt, EXACT)
        ways.append(np.abs(state.x - x - length * state.v)[[0, -1]].max(axis=1))
        assert state.fields[PREVIOUS_DT].tolist() == [length, 0.0]
    assert max(ways[0]) < 1e-14 and ways[1][1] < 1e-14 and ways[1][0] > 1e-4


def scene_of(method, **more):
    body = block((2, 2, 2), at=(0.0, 0.0, 0.3), method=method, material=replace(JELLY, youngs_modulus=3e5), **more)
    return Scene((body,), (Collider("floor", "Floor", "plane"),), Settings(substeps=8))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[1:], ids=NAMES[1:])
def test_what_falls_onto_the_ground_rises_no_higher_and_comes_to_rest(tmp_path, method):
    run, heights, past = Run(tmp_path, scene_of(method)), [], []
    for _ in range(40):
        run.advance()
        assert run.reports[-1].converged
        heights.append(float(run.built.model.mass @ run.state.x[:, 2] / run.built.model.mass.sum()))
        past.append(float(run.state.fields[PREVIOUS_DT][0]))
    assert max(heights) < 0.8 and min(heights) > 0.3
    landed = int(np.argmin(heights))
    assert max(heights[landed:]) < heights[landed] + 0.25
    assert past[0] > 0.0 and past[-1] == 0.0  # it flies by BDF2 and lies by implicit Euler
    assert np.abs(run.state.v).max() < 0.05


def test_a_resumed_step_gives_the_same_bytes(tmp_path):
    first = Run(tmp_path / "a", scene_of(METHODS[3], initial_velocity=(1.0, 0.0, 0.0)))
    first.advance(3)
    kept = first.state.copy()
    assert PREVIOUS_X in kept.fields
    first.advance(2)
    second = Run(tmp_path / "b", scene_of(METHODS[3], initial_velocity=(1.0, 0.0, 0.0)))
    second.simulation = Simulation(second.scene, second.tracks, second.built, kept)
    second.advance(2)
    assert np.array_equal(first.state.x, second.state.x) and np.array_equal(first.state.v, second.state.v)


@pytest.mark.slow
@pytest.mark.parametrize("names", [("polar", "polar"), ("green", "polar")], ids=["polar", "green and polar"])
def test_spinning_bodies_that_hit_each_other_keep_their_momenta(tmp_path, names):
    """They fly by BDF2, meet by implicit Euler, and fly on; among bodies that may touch, turns are not made twice."""
    material = replace(JELLY, stiffness_damping=0.0)
    bodies = [
        block(
            (2, 2, 2),
            at=at,
            key=f"b{k}",
            method=FormulationSettings(name, scheme=BDF2),
            material=material,
            initial_velocity=v,
        )
        for k, (name, at, v) in enumerate(zip(names, [(0, 0, 0), (4, 0.3, 0.2)], [(2, 0, 0), (-2, 0, 0)], strict=True))
    ]
    run = Run(tmp_path, Scene(tuple(bodies), (), Settings(substeps=8, gravity=(0.0, 0.0, 0.0))))
    state, m = run.state, run.built.model.mass[:, None]
    for body in run.built.bodies:
        x = state.x[body.range.nodes]
        state.v[body.range.nodes] += np.cross([3.0, 0.0, 5.0], x - x.mean(axis=0))

    def told():
        v = run.state.v
        return 0.5 * np.sum(m * v * v), (m * v).sum(axis=0), (m * np.cross(run.state.x, v)).sum(axis=0)

    energy, linear, angular = told()
    past, touched = [], 0
    for _ in range(26):
        run.advance()
        past.append(run.state.fields[PREVIOUS_DT].copy())
        touched += run.reports[-1].contacts > 0
        now = told()
        assert run.reports[-1].converged and now[0] < 1.001 * energy
        assert np.abs(now[1] - linear).max() < 1e-8 * np.abs(m).sum()
    assert touched and (past[2] > 0.0).all() and any((row == 0.0).all() for row in past) and (past[-1] > 0.0).all()
    assert np.abs(told()[2] - angular).max() < 0.02 * np.abs(angular).max()


def test_bodies_that_ask_for_implicit_euler_remember_nothing():
    model = model_of(FormulationSettings(), FormulationSettings("green"))
    state = State(model.X.copy(), np.zeros_like(model.X))
    step(model, state, ExternalForces(GRAVITY), 0.01, EXACT)
    assert PREVIOUS_DT not in state.fields and PREVIOUS_X not in state.fields
