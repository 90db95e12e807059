# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores and rigid bodies that turn about an axis under Exact contact: the axis holds, and nothing intersects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.rigid_bodies import rigid_box
from fixtures.rigid_core_scenes import FIRM, core_of, stretch
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.integrators.exact_contact.core_axes import CoreAxes
from sinew.solver.mechanics.rigid_core import AxisMotion
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.rigid_core import Core, Hinge
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=60)
WEIGHTLESS = replace(EXACT, gravity=(0.0, 0.0, 0.0))
FLOOR = Collider("floor", "Floor", friction=0.5)
CORNERS = 100.0 * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
PLATE = {"floor": (CORNERS, np.array([[0, 1, 2], [0, 2, 3]], np.int32))}
PIN = Hinge((-0.2, 0.0, 0.5), (0.0, 1.0, 0.0))  # about which a cube falls like a flap


def flap(at=(-0.2, -0.2, 0.3), hinge: Hinge = PIN, key: str = "flap", **settings) -> Body:
    """Returns a cube of 0.4 m with a skin of 0.1 m around a core that turns about an axis."""
    settings.setdefault("material", FIRM)
    return block((4, 4, 4), (0.4,) * 3, at, key=key, core=Core(0.05, hinge=hinge), **settings)


def distances_from(axis: AxisMotion, x) -> np.ndarray:
    """Returns how far along an axis and how far from it points are [m], (k, 2)."""
    local = (x - axis.now[:3, 3]) @ axis.now[:3, :3]
    return np.stack([local[:, 2], np.hypot(local[:, 0], local[:, 1])], axis=1)


def off_axis(run: Run, axis: AxisMotion, number: int = 0) -> float:
    """Returns by how much the nodes of a core are off the circles about its axis on which they go [m]."""
    core, X = core_of(run, number), run.built.model.X
    now, rest = distances_from(axis, run.state.x[core.nodes]), distances_from(core.hinge, X[core.nodes])
    return float(np.abs(now - rest).max())


@pytest.mark.slow
@pytest.mark.long
def test_a_flap_falls_onto_a_body_and_a_floor(tmp_path) -> None:
    other = block((3, 3, 3), (0.3,) * 3, (0.1, -0.1, 0.01), key="other", material=FIRM)
    bodies = (flap((-0.2, -0.2, 0.5), replace(PIN, point=(-0.2, 0.0, 0.55))), other)
    run = Run(tmp_path / "exact", Scene(bodies, (FLOOR,), EXACT))
    assert advance_and_count(run, 20, PLATE) == 0
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert max(report.contacts for report in run.reports) > 10
    assert off_axis(run, core_of(run).hinge) < 1e-12 and stretch(run) < 1e-12
    fast = Run(tmp_path / "fast", Scene(bodies, (FLOOR,), replace(EXACT, contact="fast")))
    fast.advance(20)
    assert np.abs(run.render["flap"].mean(axis=0) - fast.render["flap"].mean(axis=0)).max() < 0.02


@pytest.mark.slow
def test_a_flap_that_hangs_still_is_where_fast_contact_has_it(tmp_path) -> None:
    damped = replace(FIRM, mass_damping=8.0)
    ends, gap = [], 0.0
    for contact in ("exact", "fast"):
        run = Run(tmp_path / contact, Scene((flap(material=damped),), (), replace(EXACT, contact=contact)))
        run.advance(60)
        if run.built.exact_contact is not None:
            gap = run.built.exact_contact.options.barrier.gap
        ends.append(run.render["flap"])
        assert np.abs(run.state.v).max() < 1e-3
    assert 0.0 < np.abs(ends[0] - ends[1]).max() < 0.05 * gap


@pytest.mark.slow
def test_a_rigid_body_on_an_axis_keeps_its_angular_momentum(tmp_path) -> None:
    body = rigid_box((0.4, 0.1, 0.1), (0.0, 0.0, 0.5))
    body = replace(body, core=Core(hinge=Hinge((0.05, 0.0, 0.5), (0.0, 1.0, 2.0))))
    run = Run(tmp_path, Scene((body,), (FLOOR,), WEIGHTLESS))
    axis, model = core_of(run).hinge, run.built.model
    n, arms = axis.now[:3, 2], model.X - axis.now[:3, 3]
    run.state.v[:] = np.cross(6.0 * n, arms)

    def momentum() -> float:
        return float(n @ (model.mass @ np.cross(run.state.x - axis.now[:3, 3], run.state.v)))

    before = momentum()
    run.advance(10)
    assert abs(momentum() - before) < 1e-9 * before
    assert off_axis(run, axis) < 1e-12
    angle = 6.0 * 10 / 25.0
    turned = arms @ rotation(n, angle).T + axis.now[:3, 3]
    assert np.abs(run.state.x - turned).max() < 1e-9


@pytest.mark.slow
def test_a_rigid_gate_is_pushed_open_by_a_ball(tmp_path) -> None:
    gate = replace(rigid_box((0.6, 0.04, 0.4), (0.3, 0.0, 0.5), key="gate"), core=Core(hinge=Hinge((0.0, 0.0, 0.0))))
    ball = block((2, 2, 2), (0.2,) * 3, (0.35, -0.35, 0.4), key="ball", material=FIRM)
    run = Run(tmp_path, Scene((gate, ball), (FLOOR,), WEIGHTLESS))
    run.state.v[run.built.model.bodies[1].nodes, 1] = 3.0
    assert advance_and_count(run, 10, PLATE) == 0
    assert not any(report.unsettled for report in run.reports) and max(report.contacts for report in run.reports) > 0
    assert off_axis(run, core_of(run).hinge) < 1e-12
    assert run.render["gate"][:, 1].max() > 0.05


def pushed_by_axis(folder) -> Run:
    """Returns a cube whose axis presses it onto a floor, while it turns the axis itself, beside another cube."""
    at, times = np.array([0.0, 0.0, 0.5]), np.linspace(0.0, 0.6, 31)
    level = rotation((1.0, 0.0, 0.0), 0.5 * np.pi)  # z along −y
    frames = [pose(rotation((0.0, 0.0, 1.0), 1.2 * t) @ level, at + [0.3 * t, 0.0, -min(0.6 * t, 0.34)]) for t in times]
    bodies = (
        flap(hinge=Hinge(tuple(at), (0.0, -1.0, 0.0))),
        block((2, 2, 2), (0.2,) * 3, (0.25, 0.0, 0.01), key="other", material=FIRM),
    )
    return Run(folder, Scene(bodies, (FLOOR,), EXACT), body__flap__hinge=(times, np.array(frames)))


@pytest.mark.slow
def test_an_axis_that_moves_takes_its_core_along_and_presses_it_onto_a_floor(tmp_path) -> None:
    run = pushed_by_axis(tmp_path / "exact")
    assert advance_and_count(run, 14, PLATE) == 0
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert max(report.contacts for report in run.reports) > 20
    axis = axis_at(run, 14 / 25.0)
    assert off_axis(run, axis) < 1e-12 and stretch(run) < 1e-12


def axis_at(run: Run, time: float) -> AxisMotion:
    frame = run.tracks.sample("body.flap.hinge", time)
    return AxisMotion(frame, frame, frame)


@pytest.mark.slow
def test_an_axis_that_moves_into_a_floor_is_let_in_and_arrives(tmp_path) -> None:
    body = replace(rigid_box((0.3, 0.3, 0.3), (0.0, 0.0, 0.4), key="flap"), core=Core(hinge=Hinge((0.0, 0.0, 0.4))))
    times = np.linspace(0.0, 0.4, 11)
    frames = np.array([pose(move=(0.0, 0.0, 0.4 - t)) for t in times])
    run = Run(tmp_path, Scene((body,), (FLOOR,), EXACT), body__flap__hinge=(times, frames))
    run.advance(10)
    assert sum(report.let_in for report in run.reports) > 0
    assert off_axis(run, axis_at(run, 0.4)) < 1e-12 and run.render["flap"][:, 2].min() < -0.1


@pytest.mark.slow
def test_axes_give_the_same_bytes_after_resume_and_with_two_threads(tmp_path) -> None:
    run = pushed_by_axis(tmp_path)
    with using_threads(1):
        run.advance(7)
        arrays = run.state.to_arrays()
        run.advance(3)
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(3):
            again.advance()
    assert run.reports[-1].contacts > 0
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()


def test_cores_go_where_their_axes_do_in_every_share_of_the_way(tmp_path) -> None:
    run = Run(tmp_path, Scene((flap(),), (FLOOR,), EXACT))
    core, model, x = core_of(run), run.built.model, run.state.x
    rest = core.hinge.rest
    now = pose(rotation((1.0, 2.0, 0.5), 0.7) @ rest[:3, :3], rest[:3, 3] + [0.3, -0.1, 0.2])
    moving = replace(core, hinge=AxisMotion(rest, rest, now, 0.01))
    axes = CoreAxes.of_model(replace(model, cores=(moving,)))
    halfway = axes.carried(x, 0.0, 0.4)
    whole = axes.carried(halfway, 0.4, 1.0)
    expected = (x - rest[:3, 3]) @ rest[:3, :3] @ now[:3, :3].T + now[:3, 3]
    np.testing.assert_allclose(whole[core.nodes], expected[core.nodes], atol=1e-14)
    other = np.setdiff1d(np.arange(model.node_count, dtype=np.int32), core.nodes)
    np.testing.assert_array_equal(whole[other], x[other])
    between = axes.model_between(0.4, 0.4).cores[0].hinge
    assert between.is_still and abs(np.linalg.det(between.now[:3, :3]) - 1.0) < 1e-14
    # a direction that turns the core about an axis that stays turns it by that angle
    d = np.cross(0.3 * between.now[:3, 2], halfway - between.now[:3, 3])
    turned = halfway + axes.turned(halfway, d, 0.4, 0.4)
    about = rotation(between.now[:3, 2], 0.3)
    expected = (halfway - between.now[:3, 3]) @ about.T + between.now[:3, 3]
    np.testing.assert_allclose(turned[core.nodes], expected[core.nodes], atol=1e-14)
    np.testing.assert_allclose((turned - halfway)[other], d[other])
    # what an axis does itself is no turn: the derivative of the way at its beginning
    h = 1e-6
    begun = axes.turned(x, axes.carried(x, 0.0, h) - x, 0.0, h)
    np.testing.assert_allclose(begun, axes.carried(x, 0.0, h) - x, atol=1e-11)
