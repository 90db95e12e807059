# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core obeys its hinge, its spring and its pins, as the whole system does with constraints."""

import tracemalloc

import numpy as np
import pytest

from fixtures.rigid_core_scenes import FIRM, SOFT, WEIGHTLESS, core_of, cube, model_of, run_of, stretch
from fixtures.scenes import block, pose, rotation
from reference.rigid_core_step import dense_solution
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.constraints.rigid_core.core_dofs import core_dofs
from sinew.solver.constraints.rigid_core.rigid_body_momentum import core_body
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.state import State
from sinew.solver.scene.rigid_core import Core, Hinge, Pull
from sinew.solver.scene.scene import Material, Settings


@pytest.mark.slow
def test_hinge_leaves_one_angle_and_swings_like_a_pendulum(tmp_path):
    """A stiff cube on a hinge along its edge: T = 2π √(I / (m g d)) for small swings."""
    stiff = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.0)
    hinge = Hinge((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))  # the cube hangs from its upper edge
    start = rotation((0, 1, 0), 0.25 * np.pi + 0.05)
    body = block((4, 4, 4), turn=None, core=Core(0.2, hinge=hinge), material=stiff)
    run = run_of(tmp_path, body, fps=100.0, substeps=2)
    model, core = run.simulation.built.model, core_of(run)
    # hang with the centre 0.05 rad off the lowest point
    run.state.x[:] = (model.X - [0.0, 0.0, 1.0]) @ start.T + [0.0, 0.0, 1.0]
    radius = model.X - [0.0, 0.0, 1.0]
    arm = model.mass @ radius / model.mass.sum()
    inertia = model.mass @ (radius[:, 0] ** 2 + radius[:, 2] ** 2)
    period = 2.0 * np.pi * np.sqrt(inertia / (model.mass.sum() * 9.81 * np.hypot(arm[0], arm[2])))
    offsets, on_axis = [], run.state.x[core.nodes][:, 1].copy()
    for _ in range(int(100 * period * 2.2)):
        run.advance()
        now = model.mass @ run.state.x / model.mass.sum() - [0.0, 0.0, 1.0]
        offsets.append(np.arctan2(now[0], -now[2]))
    signs = np.sign(offsets)
    crossings = np.flatnonzero(signs[1:] != signs[:-1])
    assert 2.0 * np.diff(crossings).mean() / 100.0 == pytest.approx(period, rel=0.01)
    assert stretch(run) < 1e-13
    assert np.abs(run.state.x[core.nodes][:, 1] - on_axis).max() < 1e-13
    distance = np.hypot(*(run.state.x[core.nodes] - [0.0, 0.0, 1.0])[:, [0, 2]].T)
    assert np.allclose(distance, np.hypot(*radius[core.nodes][:, [0, 2]].T), atol=1e-13)


@pytest.mark.parametrize("length", [1e-200, 1e200])
def test_axes_may_have_any_length(length):
    hinge = Hinge((0.2, 0.0, 0.1), (0.0, 3.0 * length, 4.0 * length))
    _, core = model_of(cube(Core(0.3, hinge=hinge)))
    assert np.allclose(core.hinge.rest[:3, 2], [0.0, 0.6, 0.8], rtol=1e-15)


def test_core_follows_a_hinge_that_moves(tmp_path):
    times = np.linspace(0.0, 1.0, 49)
    frames = np.stack([pose(rotation((1, 0, 0), 0.8 * t), (0.5 * t, 0.2 * t, 0.3)) for t in times])
    hinge = Hinge((0.0, 0.0, 0.3), (0.0, 0.0, 1.0))
    run = run_of(
        tmp_path, cube(Core(0.3, hinge=hinge)), gravity=WEIGHTLESS, body__block__hinge=(times, frames), fps=48.0
    )
    run.advance(24)
    core, frame = core_of(run), pose(rotation((1, 0, 0), 0.4), (0.25, 0.1, 0.3))
    X = run.simulation.built.model.X[core.nodes] - [0.0, 0.0, 0.3]
    inner = (run.state.x[core.nodes] - frame[:3, 3]) @ frame[:3, :3]
    assert np.allclose(inner[:, 2], X[:, 2], atol=1e-12)  # no sliding along the axis, no tilting from it
    assert np.allclose(np.hypot(*inner[:, :2].T), np.hypot(*X[:, :2].T), atol=1e-12)
    assert stretch(run) < 1e-13


def test_pull_brings_its_point_to_the_animation(tmp_path):
    pull = Pull((0.5, 0.5, 0.5), stiffness=400.0, damping=40.0)
    run = run_of(
        tmp_path, cube(Core(0.3, pull=pull), material=FIRM), gravity=WEIGHTLESS,
        body__block__pull=([0.0, 1.0], np.array([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5]])),
    )  # fmt: skip
    run.advance(60)
    core = core_of(run)
    assert np.allclose(run.state.x[core.nodes].mean(axis=0), [2.5, 0.5, 0.5], atol=0.01)
    assert np.abs(run.state.v).max() < 0.05


@pytest.mark.slow
def test_pull_beside_the_body_is_a_lever(tmp_path):
    """The spring hangs the body up: in the end its centre is below the point where it is pulled."""
    pull = Pull((1.5, 0.5, 0.5), stiffness=2000.0, damping=5.0)
    stiff = Material(1.0e6, 0.3, 1000.0, mass_damping=2.0, stiffness_damping=0.02)
    run = run_of(tmp_path, cube(Core(0.3, pull=pull), material=stiff))
    run.advance(300)
    mass, x = run.simulation.built.model.mass, run.state.x
    centre = mass @ x / mass.sum()
    assert np.allclose(centre[:2], [1.5, 0.5], atol=0.02) and centre[2] == pytest.approx(0.5 - 1.0, abs=0.03)


def test_pins_on_a_core_take_it_along(tmp_path):
    """All vertices are core here: with thickness 0 the painted half is rigid up to the surface, and pinned there."""
    body = cube()
    low = body.vertices[:, 0] < 0.4
    pinned = np.flatnonzero(body.vertices[:, 0] < 0.1).astype(np.int32)
    core = Core(0.0, low.astype(float))
    times = np.linspace(0.0, 1.0, 25)
    wanted = np.stack([(body.vertices[pinned] - 0.5) @ rotation((1, 0, 0), t).T + [0.5 + t, 0.5, 0.5] for t in times])
    run = run_of(
        tmp_path, cube(core, pinned=pinned, pin_weights=np.ones(len(pinned))), gravity=WEIGHTLESS,
        body__block__targets=(times, wanted),
    )  # fmt: skip
    run.advance(24)
    core = core_of(run)
    X = run.simulation.built.model.X[core.nodes]
    assert np.allclose(run.state.x[core.nodes], (X - 0.5) @ rotation((1, 0, 0), 1.0).T + [1.5, 0.5, 0.5], atol=1e-6)
    assert stretch(run) < 1e-13


def test_resumed_steps_have_the_same_bytes(tmp_path):
    hinge = Hinge((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    body = cube(Core(0.3, hinge=hinge, pull=Pull((1.2, 0.5, 0.5))))
    track = {"body__block__pull": ([0.0, 0.5], np.array([[1.2, 0.5, 0.5], [0.5, 1.2, 0.5]]))}
    whole, half = run_of(tmp_path / "a", body, **track), run_of(tmp_path / "b", body, **track)
    whole.advance(8)
    half.advance(4)
    again = run_of(tmp_path / "c", body, **track)
    again.simulation.state = State.from_arrays(half.state.to_arrays())
    again.advance(4)
    assert again.state.x.tobytes() == whole.state.x.tobytes()
    assert again.state.v.tobytes() == whole.state.v.tobytes()


@pytest.mark.parametrize("held", [0, 1, 2, 5], ids=lambda count: f"{count} held")
@pytest.mark.parametrize("hinged", [False, True], ids=["free", "hinged"])
def test_smaller_system_has_the_solution_of_the_whole_one(held, hinged):
    """Against dense matrices and a null space: what minimises ½ vᵀA v − bᵀv among the motions that are left."""
    hinge = Hinge((0.2, 0.0, 0.1), (1.0, 2.0, 0.5)) if hinged else None
    body = block((5, 4, 4), (1.3, 1.0, 1.0), core=Core(0.2, hinge=hinge), material=SOFT)
    rng = np.random.default_rng(3)
    model, core = model_of(body)
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros_like(model.X)
    is_fixed[core.nodes[:held]] = True
    skin = np.setdiff1d(np.arange(model.node_count), core.nodes)
    is_fixed[skin[:3]] = True
    tets = rng.choice(model.tet_count, 5).astype(np.int32)
    springs = PointForces(tets, np.full((5, 4), 0.25), rng.normal(size=(5, 3)), np.tile(np.eye(3) * 50.0, (5, 1, 1)),
                     np.zeros((5, 3, 3)))  # fmt: skip
    state = State(model.X + 0.01 * rng.normal(size=model.X.shape), np.zeros_like(model.X))
    place = rotation((1, 1, 0), 0.0 if hinged else 0.3)
    state.x[core.nodes] = model.X[core.nodes] @ place.T
    # velocities that a core can have, about its axis where it has one
    drift = np.zeros(3) if hinged else np.array([0.1, 0.2, 0.3])
    speed = np.cross([0.1, 0.2, 0.05], state.x - [0.2, 0.0, 0.1]) + drift
    target[is_fixed] = (state.x + 0.01 * speed)[is_fixed]
    outside = ExternalForces(np.array([1.0, 2.0, -9.81]), is_fixed, target, points=springs)
    expected = dense_solution(model, state, outside, 0.01)
    found = state.copy()
    report = step(model, found, outside, 0.01, Settings(tolerance=1e-11, max_iterations=5000))
    assert report.converged
    assert np.allclose((found.x - state.x)[skin] / 0.01, expected[skin], atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("hinged", [False, True], ids=["free", "hinged"])
def test_a_core_held_at_many_nodes_needs_little_memory(hinged):
    """Six unknowns are left whatever is held: nothing grows with the square of the nodes, and what they say counts."""
    model, _ = model_of(block((12, 12, 12), core=Core(0.1, hinge=Hinge((0.5, 0.5, 0.0)) if hinged else None)))
    body = core_body(model, model.cores[0], model.X)
    omega = np.array([0.0, 0.0, 3.0])
    velocities = np.cross(omega, model.X[body.core.nodes] - [0.5, 0.5, 0.0])
    tracemalloc.start()
    way = core_dofs(body, body.lever_arms, velocities, np.zeros(6))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    count = len(body.core.nodes)
    assert count > 500 and peak < 2000 * count
    assert way.dof_count == 0 and np.abs(way.velocities(np.zeros((3, 3))) - velocities).max() < 1e-12
