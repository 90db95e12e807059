# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies: pendulum, top, stack, dominoes and slope against what mechanics says: `make validate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import ellipk

from fixtures.claim_table import reach
from fixtures.rigid_bodies import FLOOR, box_inertia, centres, distortion, energy, momenta, rigid_box, run_of
from fixtures.scenes import rotation
from reference.rigid_body import free_rotation, steady_precession
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.rigid_core import Core, Hinge, Pull

SECTION = "Rigid bodies"
WEIGHTLESS = (0.0, 0.0, 0.0)
TURNS = 10


def crossings(angles: Floats, fps: float) -> Floats:
    """Returns when angles [rad] at the ends of frames rise through zero [s]."""
    at = np.flatnonzero((angles[:-1] < 0.0) & (angles[1:] >= 0.0))
    return (at + angles[at] / (angles[at] - angles[at + 1])) / fps


def pendulum_error(folder: Path, fps: float) -> tuple[float, float]:
    """Returns the relative error of the period of a swing by 60 degrees, and the loss of its energy, over ten turns."""
    angle = np.radians(60.0)
    turn = rotation((0, 1, 0), angle)
    at = turn @ [0.0, 0.0, -0.5]
    hinge = Core(hinge=Hinge((0, 0, 0), (0, 1, 0)))
    run = run_of(folder, rigid_box((0.1, 0.1, 1.0), tuple(at), turn, core=hinge), fps=fps, substeps=1, frame_end=99999)
    period = 4.0 * np.sqrt((1.01 / 12.0 + 0.25) / (9.81 * 0.5)) * ellipk(np.sin(0.5 * angle) ** 2)
    mass = run.built.model.mass.sum()
    swings, energies = [float(np.arctan2(at[0], -at[2]))], []
    for _ in range(int(fps * (TURNS + 0.4) * period)):
        run.advance()
        now = centres(run)[0]
        swings.append(float(np.arctan2(now[0], -now[2])))
        energies.append(energy(run))
    times, turn_steps = crossings(np.array(swings), fps), int(fps * period)
    assert len(times) == TURNS + 1
    lost = np.mean(energies[:turn_steps]) - np.mean(energies[-turn_steps:])
    return float((times[-1] - times[0]) / TURNS / period - 1.0), float(lost / (mass * 9.81 * 0.25))


def test_a_pendulum(tmp_path: Path) -> None:
    rates = (24.0, 48.0, 96.0)
    found = []
    for rate in rates:
        (tmp_path / f"{rate:g}").mkdir()
        found.append(pendulum_error(tmp_path / f"{rate:g}", rate))
    (coarse, lost), (middle, _), (fine, _) = found
    reach(SECTION, "pendulum, 24 steps a second: period over ten turns", f"{coarse:.3%}", "0.5 %", abs(coarse) < 0.005)
    reach(SECTION, "pendulum, 24 steps a second: energy lost in ten turns", f"{lost:.3%}", "1 %", abs(lost) < 0.01)
    for one, other, name in ((coarse, middle, "24 to 48"), (middle, fine, "48 to 96")):
        order = float(np.log2(one / other))
        reach(SECTION, f"pendulum: order in time, {name} steps a second", f"{order:.2f}", "≥ 1.8", order >= 1.8)


def top_error(folder: Path, fps: float) -> tuple[float, float, float]:
    """Returns the errors of precession and tilt [rad] of a top over ten turns, and the loss of its energy."""
    size, lever, tilt, spin = (0.2, 0.2, 0.05), 0.1, np.radians(30.0), 60.0
    mass, inertia = 1000.0 * float(np.prod(size)), box_inertia(size)
    about_tip = (inertia[0, 0] + mass * lever**2, inertia[2, 2])
    rate = steady_precession(spin, tilt, lever, mass, about_tip)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    omega = rate * np.array([0.0, 0.0, 1.0]) + (spin - rate * np.cos(tilt)) * axis
    body = rigid_box(
        size, tuple(lever * axis), rotation((0, 1, 0), tilt), "top", core=Core(pull=Pull((0, 0, 0), 1.0e6, 0.0)),
        initial_spin=tuple(omega), initial_velocity=tuple(np.cross(omega, lever * axis)),
    )  # fmt: skip
    run = run_of(folder, body, fps=fps, substeps=1, frame_end=99999)
    had, steps = energy(run), int(TURNS * 2.0 * np.pi / abs(rate) * fps)
    turned, before, leans = 0.0, 0.0, 0.0
    for _ in range(steps):
        run.advance()
        x, y, z = centres(run)[0]
        now = float(np.arctan2(y, x))
        turned += (now - before + np.pi) % (2.0 * np.pi) - np.pi
        before = now
        leans = max(leans, abs(float(np.arctan2(np.hypot(x, y), z)) - tilt))
    return turned / (rate * steps / fps) - 1.0, leans, 1.0 - energy(run) / had


def test_a_spinning_top(tmp_path: Path) -> None:
    found = []
    for rate in (120.0, 240.0):
        (tmp_path / f"{rate:g}").mkdir()
        found.append(top_error(tmp_path / f"{rate:g}", rate))
    (precession, lean, lost), (_, finer, _) = found
    line = "top, 120 steps a second: "
    reach(SECTION, line + "precession over ten turns", f"{precession:.3%}", "0.5 %", abs(precession) < 0.005)
    reach(SECTION, line + "energy lost in ten turns", f"{lost:.3%}", "1 %", abs(lost) < 0.01)
    order = float(np.log2(lean / finer))
    reach(SECTION, "top: order of its nutation in time, which begins at once", f"{order:.2f}", "≥ 0.9", order >= 0.9)


def test_free_tumbling(tmp_path: Path) -> None:
    omega, size = (0.3, 8.0, 0.2), (0.5, 0.3, 0.1)
    exact, _ = free_rotation(box_inertia(size), np.array(omega), 2.0, 20000)
    wrong = []
    for rate in (60, 120):
        (tmp_path / str(rate)).mkdir()
        body = rigid_box(size, initial_spin=omega)
        run = run_of(tmp_path / str(rate), body, gravity=WEIGHTLESS, fps=float(rate), substeps=1, frame_end=999)
        before = momenta(run)[1]
        run.advance(2 * rate)
        wrong.append(float(np.abs(run.render["box"] - body.vertices @ exact.T).max()))
    drift = float(np.abs(momenta(run)[1] - before).max() / np.abs(before).max())
    order = float(np.log2(wrong[0] / wrong[1]))
    reach(SECTION, "tumbling about the middle axis: order in time", f"{order:.2f}", "≥ 1.8", order >= 1.8)
    reach(SECTION, "tumbling: change of angular momentum", f"{drift:.1e}", "1e-9", drift < 1e-9)
    reach(
        SECTION,
        "tumbling: change of distances in a body [m]",
        f"{distortion(run):.1e}",
        "1e-12",
        distortion(run) < 1e-12,
    )


def test_a_stack_of_ten(tmp_path: Path) -> None:
    boxes = [rigid_box((0.4, 0.4, 0.2), (0.0, 0.0, 0.1 + 0.2 * i), key=f"b{i}") for i in range(10)]
    run = run_of(tmp_path, *boxes, colliders=(FLOOR,), substeps=2, frame_end=999)
    run.advance(240)
    at = centres(run)
    off = float(np.abs(at - np.stack([np.zeros(10), np.zeros(10), 0.1 + 0.2 * np.arange(10)], axis=1)).max())
    reach(SECTION, "stack of ten after 10 s: largest way of a box of 0.4 m", f"{1e3 * off:.2f} mm", "5 mm", off < 0.005)


def test_dominoes(tmp_path: Path) -> None:
    """Eight stones, the first one tipped: each strikes the next one down, in order."""
    stones = [rigid_box((0.04, 0.2, 0.4), (0.2 * i, 0.0, 0.2), key=f"s{i}") for i in range(8)]
    tip = rotation((0, 1, 0), 0.15)
    first = rigid_box((0.04, 0.2, 0.4), key="s0")
    turned = first.vertices @ tip.T
    stones[0] = replace(first, vertices=turned - [0.0, 0.0, turned[:, 2].min()])
    run = run_of(tmp_path, *stones, colliders=(FLOOR,), substeps=4, frame_end=999)
    model, rest = run.built.model, [run.built.model.X[body.nodes] for body in run.built.model.bodies]
    fallen: list[int] = []
    for _ in range(72):
        run.advance()
        for number, body in enumerate(model.bodies):
            now = run.state.x[body.nodes]
            F = np.linalg.lstsq(rest[number][1:] - rest[number][0], now[1:] - now[0], rcond=None)[0].T
            if number not in fallen and F[2, 2] < np.cos(np.radians(30.0)):
                fallen.append(number)
    in_order = fallen == sorted(fallen)
    reach(
        SECTION, "dominoes of eight: how many fall, in order", f"{len(fallen)}, {in_order}", "8", fallen == [*range(8)]
    )


def sliding_way(folder: Path, degrees: float, friction: float) -> float:
    """Returns how far a box moves in 2 s on a slope some degrees steeper than its friction holds [m]."""
    angle = np.arctan(friction) + np.radians(degrees)
    gravity = (9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
    slope = Collider("slope", "Slope", "plane", friction=friction)
    run = run_of(
        folder, rigid_box((0.4, 0.4, 0.2), (0.0, 0.0, 0.1)), colliders=(slope,), substeps=2, gravity=gravity,
        frame_end=999,
    )  # fmt: skip
    run.advance(24)
    start = centres(run)[0, 0]
    run.advance(48)
    return float(centres(run)[0, 0] - start)


def test_a_slope_at_the_edge_of_friction(tmp_path: Path) -> None:
    for friction in (0.3, 0.5, 0.8):
        ways = []
        for degrees in (-0.3, 0.3):
            folder = tmp_path / f"{friction} {degrees}"
            folder.mkdir()
            ways.append(sliding_way(folder, degrees, friction))
        said = f"{1e3 * ways[0]:.2f}, {1e3 * ways[1]:.0f} mm"
        holds = abs(ways[0]) < 1e-3 and ways[1] > 0.02
        reach(SECTION, f"slope 0.3° below and above friction {friction:g}: way in 2 s", said, "< 1, > 20 mm", holds)


def test_a_blow_between_two_bodies(tmp_path: Path) -> None:
    """Momentum and angular momentum are exact: both sides of a contact act at one place."""
    lost = []
    for rate in (48, 192):
        (tmp_path / str(rate)).mkdir()
        hitting = rigid_box((0.3, 0.5, 0.2), key="a", initial_velocity=(2.0, 0.0, 0.0), initial_spin=(1.0, 2.0, 3.0))
        struck = rigid_box((0.3, 0.5, 0.3), (0.7, 0.1, 0.05), rotation((1, 2, 3), 0.5), key="b")
        run = run_of(
            tmp_path / str(rate), hitting, struck, fps=float(rate), substeps=2, gravity=WEIGHTLESS, frame_end=999
        )
        before, had = momenta(run), energy(run, 0.0)
        run.advance(rate)
        after = momenta(run)
        lost.append(float(np.abs(after[1] - before[1]).max() / np.abs(before[1]).max()))
        drift = float(np.abs(after[0] - before[0]).max() / np.abs(before[0]).max())
        line = f"blow, {2 * rate} steps a second: "
        reach(SECTION, line + "change of momentum", f"{drift:.1e}", "1e-9", drift < 1e-9)
        reach(SECTION, line + "change of angular momentum", f"{lost[-1]:.1e}", "1e-9", lost[-1] < 1e-9)
        gained = energy(run, 0.0) / had - 1.0
        reach(SECTION, line + "gain of energy", f"{gained:.1%}", "0", gained <= 1e-9)
