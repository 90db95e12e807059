# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft bodies with a rigid core under Exact contact: cores keep their shape, and nothing intersects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.rigid_core_scenes import FIRM, core_of, momenta, spin, stretch
from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.rigid_core import Core, Pull
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.simulation.exact_contact.exact_cores import with_held_cores
from sinew.solver.simulation.simulation import Simulation
from sinew.solver.simulation.step_boundary_conditions import BoundaryConditions

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=60)
WEIGHTLESS = replace(EXACT, gravity=(0.0, 0.0, 0.0))
FLOOR = Collider("floor", "Floor", friction=0.5)
CORNERS = 100.0 * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
PLATE = {"floor": (CORNERS, np.array([[0, 1, 2], [0, 2, 3]], np.int32))}


def cored(at, key: str, turn=None, core: Core | None = None, **settings) -> Body:
    """Returns a cube of 0.4 m with a skin of 0.1 m around its core."""
    settings.setdefault("material", FIRM)
    return block((4, 4, 4), (0.4,) * 3, at, key=key, turn=turn, core=core or Core(0.05), **settings)


@pytest.mark.slow
def test_two_bodies_with_cores_fall_on_each_other_and_on_a_floor(tmp_path) -> None:
    lower = cored((-0.2, -0.2, 0.05), "lower")
    upper = cored((-0.2, -0.2, 0.55), "upper", rotation((1.0, 0.5, 0.0), 0.2))
    run = Run(tmp_path, Scene((lower, upper), (FLOOR,), EXACT))
    assert advance_and_count(run, 25, PLATE) == 0
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert max(report.contacts for report in run.reports) > 10
    assert max(stretch(run, number) for number in (0, 1)) < 1e-10
    fast = Run(tmp_path / "fast", Scene((lower, upper), (FLOOR,), replace(EXACT, contact="fast")))
    fast.advance(25)
    lowest = [min(body[:, 2].min() for body in each.render.values()) for each in (run, fast)]
    assert 0.0 < lowest[0] < 0.02 > abs(lowest[1])
    heights = [each.render["upper"][:, 2].mean() for each in (run, fast)]
    assert abs(heights[0] - heights[1]) < 0.03


@pytest.mark.slow
def test_a_free_body_with_a_core_falls_and_turns_as_by_fast_contact(tmp_path) -> None:
    body, turned = cored((0.0, 0.0, 2.0), "body"), []
    for contact in ("exact", "fast"):
        run = Run(tmp_path / contact, Scene((body,), (FLOOR,), replace(EXACT, contact=contact)))
        spin(run, np.array([0.0, 0.0, 1.0]))
        run.advance(10)
        turned.append(run.state.x.copy())
        assert stretch(run) < 1e-10
    assert np.abs(turned[0] - turned[1]).max() < 0.02


@pytest.mark.slow
def test_bodies_with_cores_keep_their_momentum_in_a_hit(tmp_path) -> None:
    left, right = cored((0.0, 0.0, 0.0), "left"), cored((0.41, 0.1, 0.05), "right")
    run = Run(tmp_path, Scene((left, right), (), WEIGHTLESS))
    run.state.v[run.built.model.bodies[0].nodes, 0] = 3.0
    before = momenta(run)[0]
    assert advance_and_count(run, 6) == 0
    assert max(report.contacts for report in run.reports) > 0
    assert np.abs(momenta(run)[0] - before).max() < 1e-9 * np.abs(before).max()
    assert max(stretch(run, number) for number in (0, 1)) < 1e-10
    assert run.state.v[run.built.model.bodies[1].nodes, 0].mean() > 0.5
    core = core_of(run, 0)  # and its velocities are those of a rigid body
    arms = run.state.x[core.nodes] - run.state.x[core.nodes].mean(axis=0)
    apart = run.state.v[core.nodes] - run.state.v[core.nodes].mean(axis=0)
    closing = np.einsum("abi,abi->ab", arms[:, None] - arms[None], apart[:, None] - apart[None])
    assert np.abs(closing).max() < 1e-10


@pytest.mark.slow
def test_a_spring_pulls_a_core_onto_a_floor(tmp_path) -> None:
    body = cored((0.0, 0.0, 0.1), "body", core=Core(0.05, pull=Pull((0.2, 0.2, 0.3))))
    way = np.array([[0.2, 0.2, 0.3], [0.2, 0.2, 0.1]])
    run = Run(tmp_path, Scene((body,), (FLOOR,), WEIGHTLESS), body__body__pull=(np.array([0.0, 0.4]), way))
    assert advance_and_count(run, 15, PLATE) == 0
    assert not any(report.unsettled for report in run.reports) and max(report.contacts for report in run.reports) > 0
    assert run.render["body"][:, 2].mean() < 0.27 and stretch(run) < 1e-10


@pytest.mark.slow
def test_resuming_and_threads_give_the_same_bytes(tmp_path) -> None:
    run = Run(tmp_path, Scene((cored((0.0, 0.0, 0.02), "body"),), (FLOOR,), EXACT))
    with using_threads(1):
        run.advance(4)
        arrays = run.state.to_arrays()
        run.advance(3)
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(3):
            again.advance()
    assert run.reports[-1].contacts > 0
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()


def pinned_core(at, low: float, high: float) -> Body:
    """Returns a cube of 0.4 m the nodes of which between two heights are its core, and pinned."""
    body = cored(at, "body")
    is_core = (body.vertices[:, 2] >= at[2] + low) & (body.vertices[:, 2] <= at[2] + high)
    pinned = np.flatnonzero(is_core).astype(np.int32)
    return replace(body, core=Core(0.0, is_core.astype(float)), pinned=pinned, pin_weights=np.ones(len(pinned)))


def pressed_on_floor(folder, contact: str) -> Run:
    """Returns what is left of a cube whose pinned core turns while it presses the rest onto the floor."""
    body = pinned_core((-0.2, -0.2, 0.01), 0.29, 0.41)
    times, held = np.linspace(0.0, 0.6, 13), body.vertices[body.pinned]
    middle = held.mean(axis=0)
    targets = [
        (held - middle) @ rotation((0.0, 0.0, 1.0), 1.5 * t).T + middle - [0.0, 0.0, min(0.2 * t, 0.06)] for t in times
    ]
    scene = Scene((body,), (FLOOR,), replace(EXACT, contact=contact))
    return Run(folder, scene, body__body__targets=(times, np.array(targets)))


@pytest.mark.slow
def test_a_pinned_core_goes_where_its_pins_do_and_presses_its_body_onto_a_floor(tmp_path) -> None:
    run = pressed_on_floor(tmp_path / "exact", "exact")
    assert advance_and_count(run, 12, PLATE) == 0
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert run.reports[-1].contacts > 4 and stretch(run) < 1e-10
    fast = pressed_on_floor(tmp_path / "fast", "fast")
    fast.advance(12)
    core = core_of(run).nodes
    assert np.abs(run.state.x[core] - fast.state.x[core]).max() < 1e-9  # pins say where it is
    assert np.abs(run.render["body"] - fast.render["body"]).max() < 0.01
    arms, apart = (each[core] - each[core].mean(axis=0) for each in (run.state.x, run.state.v))
    closing = np.einsum("abi,abi->ab", arms[:, None] - arms[None], apart[:, None] - apart[None])
    assert np.abs(closing).max() < 1e-10


@pytest.mark.slow
def test_a_pinned_core_gives_the_same_bytes_after_resume_and_with_two_threads(tmp_path) -> None:
    run = pressed_on_floor(tmp_path, "exact")
    with using_threads(1):
        run.advance(3)
        arrays = run.state.to_arrays()
        run.advance(3)
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(3):
            again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()


@pytest.mark.slow
def test_a_core_whose_pins_let_go_falls_and_keeps_its_shape(tmp_path) -> None:
    body = pinned_core((-0.2, -0.2, 0.1), 0.29, 0.41)
    tracks = {"body__body__pin_stiffness": (np.array([0.0, 0.2, 0.24]), np.array([1e3, 1e3, 0.0]))}
    run = Run(tmp_path, Scene((body,), (FLOOR,), EXACT), **tracks)
    top = run.state.x[core_of(run).nodes, 2].mean()
    run.advance(4)
    assert abs(run.state.x[core_of(run).nodes, 2].mean() - top) < 1e-9
    assert advance_and_count(run, 10, PLATE) == 0
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert run.state.x[core_of(run).nodes, 2].mean() < top - 0.05 and stretch(run) < 1e-10


def test_nodes_hold_all_of_a_core_unless_they_lie_on_a_line(tmp_path) -> None:
    run = Run(tmp_path, Scene((cored((0.0, 0.0, 0.1), "body"),), (FLOOR,), EXACT))
    model, core = run.built.model, core_of(run)
    turn = rotation((1.0, 2.0, 3.0), 0.4)
    target = model.X @ turn.T + [0.1, 0.0, 0.2]

    def conditions(held) -> BoundaryConditions:
        is_fixed = np.zeros(model.node_count, bool)
        is_fixed[held] = True
        return BoundaryConditions(is_fixed, np.where(is_fixed[:, None], target, 0.0), PointForces())

    own = model.X[core.nodes]
    line = core.nodes[np.abs(own[:, 1:] - own[0, 1:]).max(axis=1) < 1e-9]
    aside = core.nodes[np.argmax(np.linalg.norm(own[:, 1:] - own[0, 1:], axis=1))]
    assert len(line) > 1
    now, bounds = with_held_cores(run.built, model, conditions([*line, aside]))
    assert now.cores == () and bounds.is_fixed[core.nodes].all() and bounds.is_fixed.sum() == len(core.nodes)
    np.testing.assert_allclose(bounds.fixed_target[core.nodes], target[core.nodes], atol=1e-9)
    beside = conditions(np.setdiff1d(np.arange(4, dtype=np.int32), core.nodes))
    assert with_held_cores(run.built, model, beside) == (model, beside)
    with pytest.raises(BadInput) as refused:
        with_held_cores(run.built, model, conditions(line))
    assert refused.value.kind == "exact-contact-without" and "core" in refused.value.details["feature"]
