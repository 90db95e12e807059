# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: pendulums, momentum, a slope, limits, motors, breaking and a chain with a soft load: `make validate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ellipk

from fixtures.claim_table import reach
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
from fixtures.scenes import rotation
from sinew.solver.scene.joint import JOINT_KINDS, MOTOR_JOINT, Joint

SECTION = "Joints"
TURNS = 10
RATES = (24.0, 48.0, 96.0)


def swing(folder: Path, fps: float) -> tuple[float, float, float]:
    """Returns the errors of the period, energy lost and largest gap over its size, of a swing by 60 degrees."""
    folder.mkdir()
    angle = np.radians(60.0)
    hinge = Joint("", "rod", "hinge", joint_frame((0.0, 0.0, 0.0), Z_ALONG_Y))
    run = jointed_run(folder, [hanging_rod(angle)], [hinge], fps=fps)
    period = 4.0 * np.sqrt((1.01 / 12.0 + 0.25) / (G * 0.5)) * ellipk(np.sin(0.5 * angle) ** 2)
    swings, energies, gap = [angle], [], 0.0
    for _ in range(int(fps * (TURNS + 0.9) * period)):
        run.advance()
        swings.append(float(rod_angles(run)[0]))
        energies.append(energy(run))
        gap = max(gap, float(joint_gaps(run).max()))
    turns = np.array(swings)
    at = np.flatnonzero((turns[:-1] < 0.0) & (turns[1:] >= 0.0))
    times = (at + turns[at] / (turns[at] - turns[at + 1])) / fps
    assert len(times) == TURNS + 1
    turn_steps, mass = int(fps * period), run.built.model.mass.sum()
    lost = np.mean(energies[:turn_steps]) - np.mean(energies[-turn_steps:])
    return float((times[-1] - times[0]) / TURNS / period - 1.0), float(lost / (mass * G * 0.25)), gap


def test_a_compound_pendulum(tmp_path: Path) -> None:
    found = [swing(tmp_path / f"{rate:g}", rate) for rate in RATES]
    coarse = found[0]
    line = "pendulum by a hinge, 24 steps a second: "
    reach(SECTION, line + "period over ten turns", f"{coarse[0]:.3%}", "0.5 %", abs(coarse[0]) < 0.005)
    reach(SECTION, line + "energy lost in ten turns", f"{coarse[1]:.3%}", "1 %", abs(coarse[1]) < 0.01)
    reach(SECTION, line + "largest gap of the hinge over 1 m", f"{coarse[2]:.1e}", "1e-4", coarse[2] < 1e-4)
    for (one, _, _), (other, _, _), name in zip(found, found[1:], ("24 to 48", "48 to 96"), strict=False):
        order = float(np.log2(one / other))
        reach(SECTION, f"pendulum: order in time, {name} steps a second", f"{order:.2f}", "≥ 1.8", order >= 1.8)


def test_a_double_pendulum(tmp_path: Path) -> None:
    """Velocities of a step are those of its middle: what begins at rest moves half a step early."""
    angles, shifted, plain = (1.0, 0.3), [], []
    for rate in (48, 96):
        (tmp_path / str(rate)).mkdir()
        end = rod_end(angles[0])
        joints = (
            Joint("", "upper", "hinge", joint_frame((0.0, 0.0, 0.0), Z_ALONG_Y), "a"),
            Joint("upper", "lower", "hinge", joint_frame(end, Z_ALONG_Y), "b"),
        )
        rods = hanging_rod(angles[0], key="upper"), hanging_rod(angles[1], end, "lower")
        run = jointed_run(tmp_path / str(rate), rods, joints, fps=float(rate))
        run.advance(2 * rate)
        for out, early in ((shifted, 0.5 / rate), (plain, 0.0)):
            out.append(float(np.abs(rod_angles(run) - double_pendulum(angles, [2.0 + early])[0]).max()))
    line = "double pendulum against its equation after 2 s, 96 steps a second: "
    reach(SECTION, line + "angles", f"{plain[1]:.1e}", "0.1", plain[1] < 0.1)
    reach(SECTION, line + "half a step later", f"{shifted[1]:.1e}", "0.01", shifted[1] < 0.01)
    order = float(np.log2(shifted[0] / shifted[1]))
    reach(SECTION, "double pendulum, half a step later: order in time", f"{order:.2f}", "≥ 1.8", order >= 1.8)


def test_momentum_of_two_free_bodies(tmp_path: Path) -> None:
    for kind in JOINT_KINDS:
        (tmp_path / kind).mkdir()
        one = rigid_box((0.3, 0.5, 0.2), key="one", initial_velocity=(1.0, 0.0, 0.5), initial_spin=(1.0, 2.0, 3.0))
        two = rigid_box((0.4, 0.2, 0.3), (0.4, 0.1, 0.0), rotation((1, 2, 3), 0.5), "two", initial_spin=(-2, 1, 4))
        motor = {"motor_speed": (0.0, 5.0), "motor_force": (0.0, 10.0)} if kind == MOTOR_JOINT else {}
        joint = Joint("one", "two", kind, joint_frame((0.2, 0.05, 0.0)), **motor)
        run = jointed_run(tmp_path / kind, [one, two], [joint], gravity=(0.0, 0.0, 0.0), fps=48.0)
        before = momenta(run)
        run.advance(96)
        drift = [float(np.abs(b - a).max() / np.abs(a).max()) for a, b in zip(before, momenta(run), strict=True)]
        said = ", ".join(f"{each:.1e}" for each in drift)
        line = f"two free bodies, {kind}, 96 steps: change of momentum and angular momentum"
        reach(SECTION, line, said, "1e-9", max(drift) < 1e-9)


def test_a_slider_on_a_slope(tmp_path: Path) -> None:
    slope = rotation((0, 1, 0), np.radians(30.0))
    slider = Joint("", "box", "slider", joint_frame((0.0, 0.0, 0.0), slope))
    run = jointed_run(tmp_path, [rigid_box((0.2, 0.3, 0.4))], [slider])
    run.advance(48)
    way = slope.T @ centres(run)[0]
    off = way[0] / (0.5 * G * np.sin(np.radians(30.0)) * 4.0) - 1.0
    reach(SECTION, "slider on a slope, 24 steps a second: way in 2 s", f"{off:.2%}", "3 %", abs(off) < 0.03)
    beside = float(np.abs(way[1:]).max())
    reach(SECTION, "slider on a slope: way beside its axis [m]", f"{beside:.1e}", "1e-5", beside < 1e-5)


def test_a_chain_with_a_soft_load(tmp_path: Path) -> None:
    """S07, figure 6.13: rigid links and a soft load. Ten links of 0.1 m start level, with 27 kg of jelly."""
    run = jointed_run(tmp_path, *loaded_chain(), substeps=2)
    worst, unsettled, most = 0.0, 0, 0
    for _ in range(72):
        run.advance()
        worst, unsettled = max(worst, float(joint_gaps(run).max())), unsettled + run.reports[-1].unsettled
        most = max(most, run.reports[-1].solves)
    assert np.isfinite(run.state.x).all()
    reach(SECTION, "chain of ten links with a soft load, 3 s: largest gap [m]", f"{worst:.1e}", "1e-4", worst < 1e-4)
    reach(SECTION, "chain: steps that took all their solves, of 144", f"{unsettled}", "0", unsettled == 0)
    # set after 16 were seen, where there had been up to 113
    reach(SECTION, "chain: most solves in a frame of two steps", f"{most}", "20", most <= 20)
