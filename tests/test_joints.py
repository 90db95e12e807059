# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints hold what they say they hold, at any time step, and take nothing from the momenta of what they join."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.joints import Z_ALONG_Y, G, double_pendulum, hanging_rod, joint_frame, jointed_run, rod_angles, rod_end
from fixtures.rigid_bodies import centres, energy, momenta, rigid_box
from fixtures.scenes import block, pose, rotation
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.joint import GENERIC_JOINT, JOINT_KINDS, MOTOR_JOINT, UNLIMITED, Joint
from sinew.solver.scene.joint_validation import check_joints
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.track_shapes import track_shapes

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
