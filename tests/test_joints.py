# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints hold what they say they hold, at any time step, and take nothing from the momenta of what they join."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fixtures.joints import (
    Z_ALONG_Y,
    G,
    double_pendulum,
    hanging_rod,
    joint_frame,
    joint_gaps,
    jointed_run,
    loaded_chain,
    rod_angles,
    rod_end,
)
from fixtures.rigid_bodies import centres, energy, momenta, rigid_box
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.constraints.joints.geometric_stiffness import (
    above_explicit,
    add_geometric_stiffness,
    jointed_cores,
)
from sinew.solver.constraints.joints.joint_force import Joints
from sinew.solver.constraints.joints.joint_frame_kernels import write_row_values
from sinew.solver.constraints.joints.joint_frames import coordinate_directions, coordinates
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.joint import GENERIC_JOINT, JOINT_KINDS, MOTOR_JOINT, UNLIMITED, Joint
from sinew.solver.scene.joint_validation import check_joints
from sinew.solver.scene.scene import Body, Scene
from sinew.solver.scene.track_shapes import track_shapes
from sinew.solver.simulation import step_verdict

WEIGHTLESS = (0.0, 0.0, 0.0)


def free_pair(kind: str, **settings: object) -> tuple[tuple, tuple]:
    """Returns two boxes that tumble, and the joint between them."""
    one = rigid_box((0.3, 0.5, 0.2), key="one", initial_velocity=(1.0, 0.0, 0.5), initial_spin=(1.0, 2.0, 3.0))
    two = rigid_box((0.4, 0.2, 0.3), (0.4, 0.1, 0.0), rotation((1, 2, 3), 0.5), "two", initial_spin=(-2.0, 1.0, 4.0))
    return (one, two), (Joint("one", "two", kind, joint_frame((0.2, 0.05, 0.0)), **settings),)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_momentum_and_angular_momentum_of_two_bodies_stay(tmp_path: Path, kind: str) -> None:
    motor = {"motor_speed": (0.0, 5.0), "motor_force": (0.0, 10.0)} if kind == MOTOR_JOINT else {}
    run = jointed_run(tmp_path, *free_pair(kind, **motor), gravity=WEIGHTLESS, fps=48.0)
    before = momenta(run)
    run.advance(10)
    for had, has in zip(before, momenta(run), strict=True):
        assert np.abs(has - had).max() < 1e-9 * np.abs(had).max()
    assert not any(report.unsettled for report in run.reports)


def test_a_point_stays_together_while_both_tumble(tmp_path: Path) -> None:
    bodies, joints = free_pair("point")
    run = jointed_run(tmp_path, bodies, joints, gravity=WEIGHTLESS)
    rows = next(force for force in run.built.forces if force.kind == "joints").rows
    had = None
    for _ in range(12):
        run.advance()
        ends = [end.frames(run.state.x, run.built.model.tets, np.eye(4)[None])[0] for end in (rows.first, rows.second)]
        assert np.abs(ends[0] - ends[1]).max() < 1e-6
        had = had or energy(run, 0.0)
    assert energy(run, 0.0) == pytest.approx(had, rel=0.02)  # after the first step, which makes their speeds agree


@pytest.mark.slow
def test_a_double_pendulum_follows_its_equation_at_second_order(tmp_path: Path) -> None:
    """Velocities of a step are those of its middle: from rest, all happens half a step early, and else at order two."""
    angles, errors = (1.0, 0.3), []
    for rate in (48, 96):
        (tmp_path / str(rate)).mkdir()
        end = rod_end(angles[0])
        rods = hanging_rod(angles[0], key="upper"), hanging_rod(angles[1], end, "lower")
        joints = (
            Joint("", "upper", "hinge", joint_frame((0.0, 0.0, 0.0), Z_ALONG_Y), "a"),
            Joint("upper", "lower", "hinge", joint_frame(end, Z_ALONG_Y), "b"),
        )
        run = jointed_run(tmp_path / str(rate), rods, joints, fps=float(rate))
        run.advance(rate)
        exact = double_pendulum(angles, [1.0 + 0.5 / rate])[0]
        errors.append(float(np.abs(rod_angles(run) - exact).max()))
    assert errors[0] < 0.005
    assert errors[1] < 0.3 * errors[0]


def test_a_slider_falls_along_its_slope_alone(tmp_path: Path) -> None:
    slope = rotation((0, 1, 0), np.radians(30.0))
    slider = Joint("", "box", "slider", joint_frame((0, 0, 0), slope))
    run = jointed_run(tmp_path, [rigid_box((0.2, 0.3, 0.4))], [slider])
    run.advance(24)
    way = slope.T @ centres(run)[0]
    assert way[0] == pytest.approx(0.5 * G * np.sin(np.radians(30.0)) * 25.0 / 24.0, rel=1e-6)  # of implicit Euler
    np.testing.assert_allclose(way[1:], 0.0, atol=1e-7)


def test_a_hinge_stops_at_its_limit(tmp_path: Path) -> None:
    low, high = np.full(6, -UNLIMITED), np.full(6, UNLIMITED)
    low[5], high[5] = -0.5, 0.3
    hinge = Joint("", "rod", "hinge", joint_frame((0, 0, 0), Z_ALONG_Y), lower=low, upper=high)
    run = jointed_run(tmp_path, [hanging_rod(1.5)], [hinge])
    run.advance(48)
    assert float(rod_angles(run)[0]) == pytest.approx(1.5 - 0.3, abs=1e-5)  # gravity turns it about the axis


def test_a_motor_reaches_its_speed_with_its_torque(tmp_path: Path) -> None:
    hinge = Joint("", "box", "hinge", joint_frame((0, 0, 0), rotation((0, 1, 0), 0.5 * np.pi)), "hinge")
    motor = Joint("", "box", MOTOR_JOINT, key="motor", motor_speed=(0.0, 2.0), motor_force=(0.0, 1.0))
    box = rigid_box((0.2, 0.4, 0.4))
    inertia = 1000.0 * 0.2 * 0.16 * (0.16 + 0.16) / 12.0
    run = jointed_run(tmp_path, [box], [hinge, motor], gravity=WEIGHTLESS)
    run.advance(12)
    spin = momenta(run)[1] / inertia
    np.testing.assert_allclose(spin, [0.5 / inertia, 0.0, 0.0], atol=1e-6)  # 1 N m for half a second
    run.advance(48)
    np.testing.assert_allclose(momenta(run)[1] / inertia, [2.0, 0.0, 0.0], atol=1e-5)


@pytest.mark.parametrize(("strength", "holds"), [(100.0, True), (70.0, False)])
def test_a_joint_breaks_at_its_force(tmp_path: Path, strength: float, holds: bool) -> None:
    box = rigid_box((0.2, 0.2, 0.2))  # 8 kg: 78.5 N
    run = jointed_run(tmp_path, [box], [Joint("", "box", "fixed", breaking_force=strength)])
    run.advance(12)
    fell = -float(centres(run)[0, 2])
    assert fell < 1e-6 if holds else fell > 0.5


def test_keys_let_go_and_a_frame_that_moves_takes_its_body_along(tmp_path: Path) -> None:
    times = np.arange(25, dtype=float) / 24.0
    moved = np.stack([pose(rotation((0, 0, 1), 2.0 * t), (t, 0.0, 0.0)) for t in times])
    box = rigid_box((0.2, 0.2, 0.2), (0.5, 0.0, 0.0))
    on = np.array([1.0, 0.0])
    run = jointed_run(
        tmp_path, [box], [Joint("", "box")], joint__joint__matrix=(times, moved),
        joint__joint__enabled=(np.array([0.0, 0.5]), on, "step"),
    )  # fmt: skip
    run.advance(11)
    place = moved[11] @ [0.5, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(centres(run)[0], place[:3], atol=1e-5)
    run.advance(10)
    assert centres(run)[0, 2] < -0.5


def test_bodies_with_a_joint_pass_through_each_other_unless_they_collide(tmp_path: Path) -> None:
    one, two = rigid_box((1.0, 0.2, 0.2), key="one"), rigid_box((1.0, 0.2, 0.2), (0.9, 0.0, 0.0), key="two")
    hinge = Joint("one", "two", "hinge", joint_frame((0.45, 0.0, 0.0), Z_ALONG_Y))
    run = jointed_run(tmp_path, [one, two], [hinge], gravity=WEIGHTLESS)
    run.advance(2)
    assert all(report.contacts == 0 for report in run.reports)


def test_bodies_on_joints_of_their_own_swing_like_one_though_they_could_touch(tmp_path: Path) -> None:
    rods = [hanging_rod(1.5, (0.0, 2.0 * n, 0.0), f"rod{n}") for n in range(2)]
    joints = [
        Joint("", rod.key, "hinge", joint_frame((0.0, 2.0 * n, 0.0), Z_ALONG_Y), rod.key) for n, rod in enumerate(rods)
    ]
    (tmp_path / "one").mkdir()
    run, alone = jointed_run(tmp_path, rods, joints), jointed_run(tmp_path / "one", rods[:1], joints[:1])
    for each in (run, alone):
        each.advance(8)
    assert run.reports[-1].contacts == 0 and not any(report.unsettled for report in run.reports)
    np.testing.assert_allclose(rod_angles(run), float(rod_angles(alone)[0]), atol=1e-6)


def test_joints_are_stored_and_count_in_the_digest(tmp_path: Path) -> None:
    bodies, joints = free_pair(GENERIC_JOINT, lower=np.array([-1.0, *[-UNLIMITED] * 5]))
    scene = Scene(bodies, joints=joints)
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert loaded.digest() == scene.digest() != Scene(bodies).digest()
    np.testing.assert_array_equal(loaded.joints[0].lower, joints[0].lower)
    assert {"joint.joint.matrix", "joint.joint.enabled"} <= set(track_shapes(scene))


BOX, OTHER = rigid_box(key="box"), rigid_box(at=(2.0, 0.0, 0.0), key="other")
WRONG = {
    "itself": ((Joint("box", "box", name="J"),), 'The joint "J" has "Box" at both ends'),
    "no body": ((Joint("", "", name="J"),), 'The joint "J" has no body'),
    "missing": ((Joint("box", "him", name="J"),), 'An end of the joint "J" is "him"'),
    "twice": (
        (Joint("box", "other", key="a", name="A"), Joint("other", "box", key="b", name="B")),
        '"Other" is fixed to "Box" twice, by the joints "B" and "A"',
    ),
    "soft": ((Joint("box", "block", name="J"),), 'The joint "J" holds "Block", which is soft all over'),
    "scaled": ((Joint("", "box", frame=2.0 * np.eye(4), name="J"),), 'The place of the joint "J" is no frame'),
    "spring": (
        (Joint("", "box", GENERIC_JOINT, spring_damping=np.full(6, -2.0), name="J"),),
        'A spring of the joint "J" has a stiffness or damping of -2',
    ),
    "limits": (
        (Joint("", "box", lower=np.ones(6), upper=np.zeros(6), name="J"),),
        'The joint "J" has a lower limit of 1 above its upper limit of 0',
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_joined_is_named(case: str) -> None:
    joints, sentence = WRONG[case]
    with pytest.raises(BadInput) as caught:
        check_joints(Scene((BOX, OTHER, block()), joints=joints))
    assert sentence in caught.value.sentence
    assert caught.value.next_step


def test_a_pendulum_takes_at_most_four_solves_a_step(tmp_path: Path) -> None:
    """From 7 a step where loads took up the turns that a solve sees as straight lines."""
    run = jointed_run(tmp_path, [hanging_rod(1.0)], [Joint("", "rod", "hinge", joint_frame((0, 0, 0), Z_ALONG_Y))])
    run.advance(24)
    solves = [report.solves for report in run.reports]
    assert 2 <= max(solves) <= 4 and not any(report.unsettled for report in run.reports)


@pytest.mark.slow
def test_light_links_hold_a_heavy_soft_load(tmp_path: Path) -> None:
    """Ten links of 0.9 kg together under 27 kg; 20 solves were too few, and 5 to 7 are what they take."""
    run = jointed_run(tmp_path, *loaded_chain(), substeps=2)
    run.advance(18)
    assert max(report.solves for report in run.reports) <= 2 * 10
    assert not any(report.unsettled for report in run.reports)
    assert float(joint_gaps(run).max()) < 1e-6


def test_a_motor_alone_keeps_momentum_where_its_angles_are_singular(tmp_path: Path) -> None:
    boxes = [
        rigid_box(
            (0.3, 0.5, 0.2), (x, 0.0, 0.0), None, f"{x}", initial_velocity=(0.5, 0.0, x), initial_spin=(0.1, x, 0.0)
        )
        for x in (-2.0, 2.5)
    ]
    motor = Joint("-2.0", "2.5", MOTOR_JOINT, motor_speed=(0.0, 5.0), motor_force=(0.0, 0.5))
    run = jointed_run(tmp_path, boxes, [motor], gravity=WEIGHTLESS, fps=48.0)
    before, middle = momenta(run), []
    for _ in range(24):
        run.advance()
        middle.append(abs(float(relative_angles(run)[1])))
    assert max(middle) > 1.4  # of 1.57, where the two other angles are one
    for had, has in zip(before, momenta(run), strict=True):
        assert np.abs(has - had).max() < 1e-9 * np.abs(had).max()


def relative_angles(run: Run) -> Floats:
    """Returns the three angles of the first joint [rad], (3,)."""
    rows = next(force for force in run.built.forces if isinstance(force, Joints)).rows
    ends = [end.frames(run.state.x, run.built.model.tets, np.eye(4)[None]) for end in (rows.first, rows.second)]
    return coordinates(*ends)[0][0, 3:]


def test_directions_of_coordinates_are_their_derivatives() -> None:
    rng = np.random.default_rng(1)
    first, second = [(rng.normal(size=(1, 3)), rotation(rng.normal(size=3), 0.7)[None]) for _ in range(2)]
    (q, start), h = coordinates(first, second), 1e-6
    directions, values = coordinate_directions(first[1], q), np.empty((2, 1, 8))
    for axis in np.eye(3):
        ends = [coordinates(first, (second[0], rotation(axis, sign * h) @ second[1])) for sign in (1.0, -1.0)]
        rates = (ends[0][0] - ends[1][0])[0] / (2.0 * h)
        np.testing.assert_allclose(rates[3:], directions[0, 3:] @ axis, atol=1e-8)
        for end, out in zip(ends, values, strict=True):
            write_row_values(*end, q, start, out)
        assert (values[0] - values[1])[0, 7] / (2.0 * h) == pytest.approx(first[1][0, :, 0] @ axis, abs=1e-8)


def stiffness_of_pull(force: Sequence[float] | Floats, arm: Floats) -> Floats:
    """Returns K [N m] of a force [N] on a body at an arm [m], (3,) each, (3, 3)."""
    K, of_end = np.zeros((1, 3, 3)), np.array([[-1], [0]], np.int32)
    add_geometric_stiffness(of_end, np.asarray(force)[None], np.stack([arm, arm])[:, None], K)
    return K[0]


def test_geometric_stiffness_is_the_derivative_of_the_torque_of_a_pull() -> None:
    """Of a pull along its arm, and of any pull in turns across the arm, as far as the torque is across it, too."""
    rng, h = np.random.default_rng(2), 1e-6
    arm = rng.normal(size=3)
    unit = arm / np.linalg.norm(arm)
    for force in (3.0 * unit, rng.normal(size=3)):
        K = stiffness_of_pull(force, arm)
        np.testing.assert_allclose(K, K.T, atol=1e-14)
        np.testing.assert_allclose(K @ unit, 0.0, atol=1e-14)
        across = np.eye(3) - np.outer(unit, unit)
        change = [np.cross(rotation(axis, h) @ arm - rotation(axis, -h) @ arm, force) / (2.0 * h) for axis in np.eye(3)]
        np.testing.assert_allclose(across @ np.stack(change, axis=1) @ across, -K, atol=1e-8)


def test_what_inertia_bears_is_left_out_of_the_geometric_stiffness() -> None:
    inertia, dt = np.diag([1.0, 2.0, 4.0])[None], 0.1
    K = np.diag([-5.0, 2.0 * 0.2, 4.0 * 3.25]) / dt**2
    left = above_explicit(K[None], inertia, dt)[0]
    np.testing.assert_allclose(left, np.diag([0.0, 0.0, 4.0 * 3.0]) / dt**2, atol=1e-9)


def test_points_of_a_core_turn_against_geometric_stiffness_and_do_not_push(tmp_path: Path) -> None:
    run = jointed_run(tmp_path, [rigid_box((0.1, 0.03, 0.02))], [Joint("", "box", "point", joint_frame((0.05, 0, 0)))])
    rows = next(force for force in run.built.forces if isinstance(force, Joints)).rows
    model, x, dt = run.built.model, run.state.x, 1.0
    cores = jointed_cores(model, (rows.first, rows.second), np.array([[0.05, 0.0, 0.0]]), x, dt)
    points = cores.forces(np.array([[70.0, 20.0, -10.0]]))
    K = above_explicit(stiffness_of_pull([70.0, 20.0, -10.0], cores.arms[1, 0])[None], cores.inertia, dt)[0]
    omega, speed = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    at = points.positions(x, model.tets)
    force = points.force_after(speed + np.cross(omega, at), np.zeros_like(at))
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.cross(at, force).sum(axis=0), -K @ omega, atol=1e-9)


@pytest.mark.parametrize("row", [2, 5])
@pytest.mark.parametrize("is_free", [False, True])
def test_springs_swing_as_implicit_euler_says(tmp_path: Path, row: int, is_free: bool) -> None:
    """A box on a spring and a damper along z, or about it, beside the world or beside one like it."""
    stiffness, damping = np.zeros(6), np.zeros(6)
    sides = (0.2, 0.3, 0.4)
    mass = 1000.0 * 0.2 * 0.3 * 0.4
    inertia = mass if row == 2 else mass * (0.04 + 0.09) / 12.0
    if is_free:
        inertia *= 0.5  # of how the two move against each other
    stiffness[row], damping[row] = 150.0 * inertia, 0.7 * inertia
    rates = ((0.0, 0.0, 0.8), (0.0, 0.0, 0.0)) if row == 2 else ((0.0, 0.0, 0.0), (0.0, 0.0, 0.8))
    bodies = [rigid_box(sides, key="box", initial_velocity=rates[0], initial_spin=rates[1])]
    if is_free:
        bodies.append(rigid_box(sides, (0.0, 0.0, 1.0), key="other"))
    joint = Joint("other" if is_free else "", "box", GENERIC_JOINT, spring_stiffness=stiffness, spring_damping=damping)
    run = jointed_run(tmp_path, bodies, [joint], gravity=WEIGHTLESS)
    rows, dt = next(force for force in run.built.forces if isinstance(force, Joints)).rows, 1.0 / 24.0
    q, rate = 0.0, 0.8
    for _ in range(12):
        run.advance()
        rate = (rate - dt * 150.0 * q) / (1.0 + dt * 0.7 + dt**2 * 150.0)
        q += dt * rate
        ends = [end.frames(run.state.x, run.built.model.tets, np.eye(4)[None]) for end in (rows.first, rows.second)]
        assert coordinates(*ends)[0][0, row] == pytest.approx(q, abs=1e-6)
    assert max(report.solves for report in run.reports) <= 3


def test_a_spring_that_pulls_too_hard_breaks_its_joint(tmp_path: Path) -> None:
    box, stiffness = rigid_box((0.2, 0.2, 0.2)), np.zeros(6)  # 8 kg: 78.5 N
    stiffness[:3] = 1000.0
    run = jointed_run(
        tmp_path, [box], [Joint("", "box", GENERIC_JOINT, spring_stiffness=stiffness, breaking_force=70.0)]
    )
    run.advance(24)
    assert float(centres(run)[0, 2]) < -2.0


def spun_chain() -> tuple[list[Body], list[Joint]]:
    """Returns six links of 0.1 m, of which the last one spins so fast that it turns far in a step."""
    links = [rigid_box((0.1, 0.03, 0.03), (0.05 + 0.1 * i, 0.0, 0.0), key=f"link{i}") for i in range(5)]
    links.append(rigid_box((0.1, 0.03, 0.03), (0.55, 0.0, 0.0), key="link5", initial_spin=(120.0, 120.0, -120.0)))
    places = [joint_frame((0.1 + 0.1 * i, 0.0, 0.0)) for i in range(5)]
    return links, [
        Joint(f"link{i}", f"link{i + 1}", "point", place, f"j{i}", f"J{i}") for i, place in enumerate(places)
    ]


def test_joints_that_do_not_settle_halve_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for halvings in (0, step_verdict.MAX_JOINT_HALVINGS):
        monkeypatch.setattr(step_verdict, "MAX_JOINT_HALVINGS", halvings)
        (tmp_path / str(halvings)).mkdir()
        run = jointed_run(tmp_path / str(halvings), *spun_chain(), gravity=WEIGHTLESS)
        gaps = []
        for _ in range(4):
            run.advance()
            gaps.append(float(joint_gaps(run).max()))
        found[halvings] = sum(report.unsettled for report in run.reports), max(gaps)
    assert found[0][0] > 2 and found[0][1] > 1e-3
    assert found[3][0] <= 1 and found[3][1] < 1e-6
