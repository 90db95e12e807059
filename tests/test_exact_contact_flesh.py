# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh with Exact contact: at rest where Fast has it, never in itself or others, with forces both ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.flesh_scenes import FLESH, bending, bent, limb
from fixtures.muscle_scenes import fusiform_muscle
from fixtures.posed_figures import posed_figure
from fixtures.rigid_bodies import momenta
from fixtures.scenes import Run, block
from sinew.solver.integrators.exact_contact.incremental_potential import (
    AppliedForces,
    IncrementalPotential,
    OtherBodies,
)
from sinew.solver.linalg.block_pattern import BlockPattern
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.flesh import DYNAMIC, FLESH_MOTIONS, QUASISTATIC, Flesh
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.simulation.exact_contact.exact_flesh import flesh_groups, posed_nodes
from sinew.solver.simulation.exact_contact.exact_surfaces import TOLERANCE_SHARE
from sinew.solver.simulation.simulation import Simulation

EXACT = Settings(contact="exact", frame_end=8, substeps=2, pose_tolerance=1.0e-6)
NO_GRAVITY = replace(EXACT, gravity=(0.0, 0.0, 0.0))
NEARLY_INCOMPRESSIBLE = replace(FLESH, poisson_ratio=0.49)
SWING = np.concatenate([np.linspace(0.0, 100.0, 11), np.linspace(87.5, 0.0, 8)])


def bending_limb(folder, settings, degrees=40.0, first=0.0, others=(), colliders=(), **more) -> Run:
    body = limb(**more)
    tracks = {"body__limb__targets": bending(body, settings, degrees, first)}
    return Run(folder, Scene((body, *others), colliders, settings), **tracks)


@pytest.mark.slow
@pytest.mark.parametrize("motion", FLESH_MOTIONS)
@pytest.mark.parametrize("poisson_ratio", [0.3, 0.49])
def test_flesh_that_touches_nothing_is_where_fast_contact_has_it(tmp_path, motion, poisson_ratio) -> None:
    ends = []
    for contact in ("exact", "fast"):
        settings = replace(EXACT, contact=contact)
        material = replace(FLESH, poisson_ratio=poisson_ratio)
        run = bending_limb(tmp_path / contact, settings, flesh=Flesh(motion), material=material)
        run.simulation.start()
        run.advance(4)
        assert all(report.converged and not report.unsettled for report in run.reports)
        ends.append(run)
    exact, fast = ends
    gap = exact.built.exact_contact.options.barrier.gap
    assert np.abs(exact.state.x - fast.state.x).max() < TOLERANCE_SHARE * gap
    assert np.ptp(exact.state.x[:, 2]) > 0.6  # it has bent


@pytest.mark.slow
def test_a_simulation_begins_with_flesh_at_rest_in_its_pose(tmp_path) -> None:
    exact, fast = (
        bending_limb(tmp_path / contact, replace(EXACT, contact=contact), 40.0, 30.0) for contact in ("exact", "fast")
    )
    reports = [run.simulation.start().report for run in (exact, fast)]
    assert reports[0].converged and not reports[0].unsettled and reports[0].solves > 1
    assert np.abs(exact.state.x - fast.state.x).max() < 1e-3  # and the rest pose is half a metre away
    held = exact.scene.bodies[0].pinned
    np.testing.assert_allclose(exact.simulation.positions()["limb"][held], bent(exact.scene.bodies[0], 30.0), atol=1e-9)
    assert exact.state.time == 0.0 and not exact.state.v.any()


def dense(pattern: BlockPattern, values: np.ndarray) -> np.ndarray:
    """Returns a matrix of blocks as one, (3 n, 3 n)."""
    n = pattern.node_count
    full = np.zeros((n, 3, n, 3))
    row = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(np.int64)))
    full[row, :, pattern.column] = values.reshape(-1, 3, 3)
    return full.reshape(3 * n, 3 * n)


@pytest.mark.slow
@pytest.mark.parametrize("material", [FLESH, NEARLY_INCOMPRESSIBLE])
def test_the_potential_of_flesh_has_the_derivatives_that_it_says(tmp_path, material) -> None:
    others = (limb("other", (0.0, 2.0, 0.0), cells=(3, 1, 1), flesh=Flesh(DYNAMIC), material=material),)
    run = bending_limb(tmp_path, EXACT, others=others, cells=(3, 1, 1), material=material)
    model, simulation, rng = run.built.model, run.simulation, np.random.default_rng(0)
    x0, v = model.X.copy(), rng.normal(size=model.X.shape)
    others = OtherBodies(flesh_groups(simulation), None, posed_nodes(simulation, model))
    workspace, forces = simulation.solver_context.workspace(model), AppliedForces(np.array([0.0, 0.0, -9.81]))
    potential = IncrementalPotential(model, State(x0, v, 0.0, {}), 0.02, workspace, forces, others)
    x = x0 + 1e-4 * rng.normal(size=x0.shape)
    gradient, values = potential.derivatives(x)
    gradient, matrix, step = gradient.copy(), dense(potential.pattern, values), 1e-6
    assert (len(potential.pattern.column) > len(model.pattern.column)) == (material is NEARLY_INCOMPRESSIBLE)
    for _ in range(4):
        d = rng.normal(size=x.shape)
        slope = (potential.value(x + step * d) - potential.value(x - step * d)) / (2.0 * step)
        assert slope == pytest.approx((gradient * d).sum(), rel=1e-5)
        change = (potential.derivatives(x + step * d)[0] - potential.derivatives(x - step * d)[0]) / (2.0 * step)
        error = np.linalg.norm(change.ravel() - matrix @ d.ravel())
        assert error < 0.02 * np.linalg.norm(change)  # at rest but for a strain of a thousandth nothing is clamped


@pytest.mark.slow
def test_only_bodies_that_take_steps_have_inertia_and_damping(tmp_path) -> None:
    others = (limb("other", (0.0, 2.0, 0.0), cells=(3, 1, 1), flesh=Flesh(DYNAMIC)),)
    run = bending_limb(tmp_path, EXACT, others=others, cells=(3, 1, 1))
    model, simulation = run.built.model, run.simulation
    own = model.bodies[0].nodes
    with_speed = []
    for speed in (0.0, 3.0):
        v = np.zeros_like(model.X)
        v[own] = speed
        groups = OtherBodies(flesh_groups(simulation), None, posed_nodes(simulation, model))
        workspace, forces = simulation.solver_context.workspace(model), AppliedForces(np.zeros(3))
        potential = IncrementalPotential(model, State(model.X, v, 0.0, {}), 0.02, workspace, forces, groups)
        with_speed.append(potential.value(model.X + 0.01))
    assert with_speed[0] == with_speed[1]
    moved = model.X.copy()
    moved[own] += 0.1  # all of it, along which nothing resists
    assert abs(potential.value(moved) - potential.value(model.X)) < 1e-12
    assert run.built.posed_bodies == (0,) and run.built.resting_bodies == ()


@pytest.mark.slow
def test_an_arm_passes_into_its_own_torso_and_out_again(tmp_path) -> None:
    run = posed_figure(tmp_path, SWING, replace(EXACT, frame_end=40))
    found = advance_and_count(run, 10)
    pressed = run.reports[-1]
    assert pressed.contacts > 20 and not found
    assert advance_and_count(run, 8) == 0
    assert all(report.converged and not report.unsettled and not report.let_in for report in run.reports)
    assert run.reports[-1].contacts == 0 and run.reports[-1].inverted_tets == 0
    gap = run.built.exact_contact.options.barrier.gap
    first = posed_figure(tmp_path / "first", SWING, EXACT)
    first.simulation.start()
    assert np.abs(run.state.x - first.state.x).max() < gap  # it is where it began: nothing has stayed behind


def test_an_arm_goes_through_its_torso_where_nothing_keeps_them_apart(tmp_path) -> None:
    """The scene of the test above is one that has to be kept apart."""
    run = posed_figure(tmp_path, np.array([0.0, 50.0, 100.0]), EXACT, flesh=Flesh(self_contact=False))
    assert advance_and_count(run, 2) > 0


@pytest.mark.slow
def test_flesh_in_a_pose_and_a_soft_body_push_each_other(tmp_path) -> None:
    calm = replace(FLESH, mass_damping=5.0)  # flesh in a pose damps nothing
    lying = block((3, 3, 2), (0.4, 0.4, 0.25), (0.8, 0.05, 0.505), key="lying", material=calm)
    settings = replace(EXACT, frame_end=50, substeps=4)
    loaded = bending_limb(tmp_path / "loaded", settings, 0.0, others=(lying,))
    alone = bending_limb(tmp_path / "alone", settings, 0.0)
    assert advance_and_count(loaded, 40) == 0
    alone.advance(2)
    own = loaded.built.model.bodies[0].nodes
    sunk = alone.state.x[:, 2] - loaded.state.x[own, 2]
    assert 0.005 < sunk.max() < 0.1  # by the weight of what lies on it
    assert np.abs(loaded.state.v[loaded.built.model.bodies[1].nodes]).max() < 0.05
    assert loaded.reports[-1].contacts > 0 and not any(report.unsettled for report in loaded.reports[1:])
    mass = loaded.built.model.mass[loaded.built.model.bodies[1].nodes].sum()
    pushes = np.abs(loaded.simulation.contact_loads().forces[:, 2]).sum()
    assert pushes == pytest.approx(9.81 * mass, rel=0.05)


@pytest.mark.slow
def test_loose_flesh_and_a_soft_body_keep_their_momentum(tmp_path) -> None:
    left = block((2, 2, 2), (0.2,) * 3, (0.0, 0.0, 0.0), key="left", flesh=Flesh(DYNAMIC), material=FLESH)
    right = block((2, 2, 2), (0.2,) * 3, (0.21, 0.05, 0.02), key="right", material=FLESH)
    run = Run(tmp_path, Scene((left, right), (), replace(NO_GRAVITY, substeps=4)))
    model = run.built.model
    run.state.v[model.bodies[0].nodes, 0] = 2.0
    before, angular = momenta(run)
    assert advance_and_count(run, 6) == 0
    after, angular_after = momenta(run)
    assert max(report.contacts for report in run.reports) > 0
    assert np.abs(after - before).max() < 1e-9 * np.abs(before).max()
    speeds = [run.state.v[body.nodes, 0].mean() for body in model.bodies]
    assert speeds[0] < 1.5 and speeds[1] > 0.5
    assert np.abs(angular_after - angular).max() < 0.1 * np.abs(before).max()  # implicit Euler loses some in impacts


@pytest.mark.slow
def test_a_collider_presses_into_flesh_in_a_pose(tmp_path) -> None:
    corners = np.array([[x, y, z] for x in (0.8, 1.2) for y in (-0.2, 0.7) for z in (0.6, 0.8)])
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6]]
    faces = np.array([*faces, [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 2, 3] = -0.35
    body, press = limb(), Collider("press", "Press", "mesh", corners, faces)
    run = Run(
        tmp_path,
        Scene((body,), (press,), replace(EXACT, frame_end=12)),
        body__limb__targets=bending(body, EXACT, 0.0),
        collider__press__matrix=(np.array([0.0, 8.0 / 24.0]), poses, "rigid"),
    )
    for frame in range(1, 9):
        moved = corners + [0.0, 0.0, -0.35 * frame / 8.0]
        run.advance()
        assert advance_and_count(run, 0, {"press": (moved, faces)}) == 0  # now
    assert run.render["limb"][:, 2].min() < -0.05 and not any(report.let_in for report in run.reports)
    assert run.reports[-1].colliders["press"][2] > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("motion", FLESH_MOTIONS)
def test_a_muscle_contracts_as_by_fast_contact(tmp_path, motion) -> None:
    ends = []
    for contact in ("exact", "fast"):
        body = fusiform_muscle(motion=motion, divisions=8, segments=12)
        settings = replace(EXACT, contact=contact, gravity=(0.0, 0.0, 0.0), substeps=4)
        times = np.array([0.0, 3.0 / 24.0])
        run = Run(
            tmp_path / contact,
            Scene((body,), (), settings),
            body__biceps__activation=(times, np.array([0.0, 0.6])),
        )
        run.simulation.start()
        run.advance(4)
        assert not any(report.unsettled for report in run.reports)
        ends.append(run)
    exact, fast = (run.state.x for run in ends)
    change = np.abs(fast - ends[1].built.model.X).max()
    assert change > 1e-3 and np.abs(exact - fast).max() < 0.02 * change


@pytest.mark.slow
def test_resuming_and_threads_give_the_same_bytes(tmp_path) -> None:
    run = posed_figure(tmp_path, SWING, EXACT)
    with using_threads(1):
        run.advance(7)
        arrays = run.state.to_arrays()
        run.advance(2)
    assert run.reports[-1].contacts > 0
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(2):
            again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes()
    assert run.state.v.tobytes() == again.state.v.tobytes()


def test_flesh_that_nothing_holds_in_a_pose_is_refused_by_name(tmp_path) -> None:
    body = block((2, 2, 2), key="limb", flesh=Flesh(QUASISTATIC))
    with pytest.raises(BadInput) as refused:
        Run(tmp_path, Scene((body,), (), EXACT)).simulation.start()
    assert refused.value.kind == "flesh-loose" and refused.value.details["name"] == "Limb"


@pytest.mark.slow
def test_flesh_follows_its_pose_while_time_stands_still(tmp_path) -> None:
    falling = block((1, 1, 1), (0.2,) * 3, (0.9, 0.1, 1.5), key="falling", material=FLESH)
    body = limb()
    run = Run(
        tmp_path,
        Scene((body, falling), (), EXACT),
        body__limb__targets=bending(body, EXACT, 30.0),
        speed=(np.zeros(1), np.zeros(1)),
    )
    before = run.state.x.copy()
    run.advance(3)
    moved = np.abs(run.state.x - before)
    assert moved[run.built.model.bodies[0].nodes].max() > 0.1
    assert not moved[run.built.model.bodies[1].nodes].any() and not run.reports[-1].unsettled
