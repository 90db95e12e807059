# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated: a body follows its keys exactly, is let go with their velocity and spin, and is caught again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.rigid_fit import turned
from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.release_velocity import animation_velocity
from sinew.solver.scene.flesh import DYNAMIC, FLESH_TIME_SCHEMES, Flesh
from sinew.solver.scene.formulation import BDF2, FORMULATIONS, FormulationSettings
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Fracture, Material, Scene, Settings

FPS, G = 24.0, 9.81
SETTINGS = Settings(fps=FPS, substeps=8, frame_end=60, tolerance=1e-8)
WEIGHTLESS = replace(SETTINGS, gravity=(0.0, 0.0, 0.0))
RUBBER = Material(youngs_modulus=1.0e6, poisson_ratio=0.3, density=1000.0)
LET_GO, CAUGHT = 9, 29  # frames after the first: keys at the frames 10 and 30


def ball(**settings) -> Body:
    cells = (4, 4, 4) if "core" in settings else (2, 2, 2)
    return block(cells, at=(-0.5, -0.5, -0.5), material=RUBBER, animated=True, **settings)


def keyed(at: dict[int, float]):
    """Returns the track of Animated, of frames after the first."""
    return np.array(list(at)) / FPS, np.array(list(at.values())), "step"


def followed(body: Body, place, spin=(0.0, 0.0, 0.0), frames=50):
    """Returns the track of a body whose centre is at place(time) and that turns steadily."""
    times = np.arange(frames + 1) / FPS
    speed = float(np.linalg.norm(spin))
    turns = [rotation(spin, speed * time) if speed else np.eye(3) for time in times]
    return times, np.array([body.vertices @ R.T + place(time) for time, R in zip(times, turns, strict=True)])


def run_of(folder, body, settings, targets, **keys) -> Run:
    name = f"body__{body.key}__animated"
    tracks = {name: keyed(keys["keys"])} if keys else {}
    return Run(folder, Scene((body,), settings=settings), **{f"{name}__targets": targets}, **tracks)


def centre(run: Run):
    return run.built.model.mass @ run.state.x / run.built.model.mass.sum()


def test_a_thrown_ball_follows_its_keys_flies_its_parabola_and_is_caught(tmp_path):
    """The keys slow down by gravity as a thrown ball does; those after the let-go go elsewhere and are not read."""
    body, v0, a = ball(), np.array([4.0, 0.0, 9.0]), np.array([0.0, 0.0, -4.0])
    spin = np.array([0.0, 3.0, 1.0])
    times, shapes = followed(body, lambda t: v0 * t + 0.5 * a * t * t, spin)
    shapes[LET_GO + 1 : CAUGHT - 3] += [0.0, 7.0, 0.0]
    run = run_of(tmp_path, body, SETTINGS, (times, shapes), keys={0: 1.0, LET_GO: 0.0, CAUGHT: 1.0})
    for frame in range(1, LET_GO + 1):
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12)
    start, v = centre(run), v0 + a * times[LET_GO]
    for frame in range(LET_GO + 1, CAUGHT):
        moved, time = run.advance(), times[frame] - times[LET_GO]
        way = v * time + [0.0, 0.0, -0.5 * G * time**2]
        assert np.linalg.norm(centre(run) - start - way) < 0.01 * np.linalg.norm(v) * time
    R = turned(body.vertices, moved)
    expected = rotation(spin, np.linalg.norm(spin) * times[CAUGHT - 1])
    assert np.degrees(np.arccos(0.5 * (np.trace(R @ expected.T) - 1.0))) < 3.0  # of 200 degrees
    for frame in range(CAUGHT, CAUGHT + 4):
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12)
    assert all(report.converged for report in run.reports)


def kinds():
    yield from ({"method": FormulationSettings(name)} for name in FORMULATIONS)
    yield {"method": FormulationSettings(scheme=BDF2)}
    yield from ({"flesh": Flesh(DYNAMIC, scheme=scheme)} for scheme in FLESH_TIME_SCHEMES)
    yield {"core": Core(0.2)}
    yield {"fracture": Fracture(1.0e9)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: " ".join(map(str, kind.values()))[:60])
def test_every_kind_of_body_is_let_go_and_caught(tmp_path, kind):
    body = ball(**kind)
    times, shapes = followed(body, lambda t: np.array([3.0, 0.0, 0.0]) * t, frames=12)
    run = run_of(tmp_path, body, WEIGHTLESS, (times, shapes), keys={0: 1.0, 3: 0.0, 6: 1.0, 8: 0.0})
    for frame in range(1, 11):
        is_exact = frame <= 3 or 6 <= frame <= 8
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12 if is_exact else 2e-3)


def test_set_velocity_and_spin_apply_where_it_is_let_go(tmp_path):
    body = ball(initial_velocity=(0.0, 2.0, 0.0), initial_spin=(0.0, 0.0, 1.5))
    targets = followed(body, lambda t: np.array([3.0, 0.0, 0.0]) * t)
    run = run_of(tmp_path, body, WEIGHTLESS, targets, keys={0: 1.0, 4: 0.0})
    moved = run.advance(12)
    assert centre(run) == pytest.approx([3.0 * 4 / FPS, 2.0 * 8 / FPS, 0.0], abs=1e-6)
    assert turned(body.vertices, moved) == pytest.approx(rotation([0.0, 0.0, 1.0], 1.5 * 8 / FPS), abs=0.01)


def test_an_initial_spin_turns_a_free_body(tmp_path):
    body = replace(ball(), animated=False, initial_spin=(0.0, 0.0, 2.0))
    run = Run(tmp_path, Scene((body,), settings=WEIGHTLESS))
    assert turned(body.vertices, run.advance(6)) == pytest.approx(rotation([0.0, 0.0, 1.0], 0.5), abs=0.01)
    assert centre(run) == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.slow
def test_it_pushes_others(tmp_path):
    """A block that its keys carry pushes a free one before it, with the friction-free momentum of an impact."""
    pusher = ball(key="pusher")
    other = block((2, 2, 2), at=(0.6, -0.5, -0.5), material=RUBBER, key="other")
    times, shapes = followed(pusher, lambda t: np.array([1.5, 0.0, 0.0]) * t)
    run = Run(tmp_path, Scene((pusher, other), settings=WEIGHTLESS), body__pusher__animated__targets=(times, shapes))
    for frame in range(1, 13):
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12)
    own = run.built.model.bodies[1].nodes
    assert run.state.v[own].mean(axis=0)[0] > 1.4
    assert run.render["other"][:, 0].min() > run.render["pusher"][:, 0].max() - 0.02


def test_what_pins_hold_is_exact_too_while_animated(tmp_path):
    held = np.flatnonzero(ball().vertices[:, 0] < -0.4).astype(np.int32)
    body = ball(pinned=held)
    times, shapes = followed(body, lambda t: np.array([1.0, 0.0, 0.0]) * t, (0.0, 0.0, 1.0), frames=10)
    bent = shapes + 0.05 * np.sin(9.0 * body.vertices)  # beyond what tets can follow
    run = Run(
        tmp_path,
        Scene((body,), settings=WEIGHTLESS),
        body__block__animated__targets=(times, bent),
        body__block__targets=(times, bent[:, held]),
        body__block__animated=keyed({0: 1.0, 4: 0.0}),
    )
    assert run.advance(4) == pytest.approx(bent[4], abs=1e-12)
    assert run.advance(3)[held] == pytest.approx(bent[7][held], abs=1e-12)


def test_a_body_that_is_never_animated_has_the_same_bytes(tmp_path):
    body = replace(ball(), animated=False, initial_velocity=(1.0, 0.0, 2.0))
    targets = followed(body, lambda t: np.zeros(3))
    off = run_of(tmp_path / "off", body, SETTINGS, targets, keys={0: 0.0})
    plain = Run(tmp_path / "plain", Scene((body,), settings=SETTINGS))
    assert off.advance(4).tobytes() == plain.advance(4).tobytes()
    assert Scene((body,)).digest() == Scene((replace(body, animated=False, initial_spin=(0.0, 0.0, 0.0)),)).digest()
    assert len({Scene((one,)).digest() for one in (body, ball(), replace(body, initial_spin=(1.0, 0.0, 0.0)))}) == 3


def test_the_velocity_of_keys_is_exact_for_steady_accelerations_and_sees_no_start():
    rng = np.random.default_rng(3)
    mass, rest, h = rng.uniform(1.0, 2.0, 8), rng.normal(size=(8, 3)), 1.0 / FPS
    rest -= mass @ rest / mass.sum()
    v, a, spin = np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0, 6.0]), np.array([3.0, -6.0, 2.0])

    def shape(time):
        return rest @ rotation(spin, np.linalg.norm(spin) * time).T + v * time + 0.5 * a * time**2

    found = animation_velocity(mass, [shape(-3 * h), shape(-2 * h), shape(-h), shape(0.0)], h)
    assert found.linear == pytest.approx(v, abs=1e-9) and found.spin == pytest.approx(spin, abs=1e-9)
    assert found.deformation == pytest.approx(np.zeros((8, 3)), abs=1e-9)
    assert found.of_points(mass, rest) == pytest.approx(v + np.cross(spin, rest), abs=1e-9)
    moved = animation_velocity(mass, [rest, rest, rest, rest + [0.1, 0.0, 0.0]], h)
    assert moved.linear == pytest.approx([0.1 / h, 0.0, 0.0])
    assert animation_velocity(mass, [rest], h).of_points(mass, rest) == pytest.approx(np.zeros((8, 3)))
    grown = animation_velocity(mass, [rest, 1.1 * rest], h)
    assert grown.of_points(mass, rest) == pytest.approx(0.1 * rest / h)
