# SPDX-License-Identifier: GPL-3.0-or-later
"""A constant wind: its force, its derivative, its work, and how fast it lets things fall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.aerodynamic_pressure import corner_forces
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.constraints.wind import WindForce, make_wind
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.constant_wind import Wind
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.build import build

BREEZE = Wind((4.0, -2.0, 1.0), 1.2, 0.9)
FLOW = 0.7  # −∂u/∂v


def wind_on(built, scene) -> WindForce:
    surfaces = [make_surface(body.vertices, body.triangles, body.name) for body in scene.bodies]
    return make_wind(scene, built.model, surfaces, [body.binding for body in built.bodies])


def total(force: WindForce, built, v):
    """Returns the force on all bodies at rest positions with a common velocity [m/s], (3,), in newtons."""
    state = built.initial.copy()
    state.v[:] = v
    points = force.point_forces(ForceStep(built.model, state, NoTracks(), 0.0, 0.01))
    acting = points.force_after(np.zeros((len(points), 3)), points.positions(state.v, built.model.tets))
    return acting.sum(axis=0)


def test_the_damping_is_the_derivative_of_the_force_by_the_velocity():
    rng = np.random.default_rng(5)
    corners, v = rng.normal(size=(40, 3, 3)), rng.normal(size=(40, 3, 3))
    slowing, factor = np.broadcast_to(FLOW * np.eye(3), (40, 3, 3, 3)), BREEZE.air_density * BREEZE.drag

    def pressed(velocity):
        return corner_forces(corners, BREEZE.velocity - FLOW * velocity, slowing, factor)

    force, damping = pressed(v)
    assert (force != 0.0).any(axis=2).mean() > 0.3 and (force == 0.0).all(axis=2).mean() > 0.3  # windward and lee
    step = 1.0e-6
    for axis in range(3):
        nudge = np.zeros(3)
        nudge[axis] = step
        slope = (pressed(v + nudge)[0] - pressed(v - nudge)[0]) / (2 * step)
        assert slope == pytest.approx(-damping[..., axis], abs=1e-7)
    assert damping == pytest.approx(np.swapaxes(damping, 2, 3))
    assert np.linalg.eigvalsh(damping).min() > -1e-12


def test_a_plate_across_the_wind_and_a_ball():
    """A plate feels ½ ρ C A u², a ball half of that on its cross-section, and both nothing in air that moves along."""
    wind, u = Wind((0.0, 3.0, 0.0), 1.3, 0.8), np.array([0.0, 3.0, 0.0])
    plate = block((4, 1, 4), (1.0, 0.05, 1.0), key="plate")
    scene = Scene((plate,), wind=wind)
    built = build(scene, NoTracks(), lambda *stage: None)
    force = wind_on(built, scene)
    assert total(force, built, np.zeros(3)) == pytest.approx([0.0, 0.5 * 1.3 * 0.8 * 9.0, 0.0], abs=1e-12)
    assert total(force, built, u) == pytest.approx(np.zeros(3), abs=1e-12)
    assert total(force, built, -u) == pytest.approx([0.0, 0.5 * 1.3 * 0.8 * 36.0, 0.0], abs=1e-12)
    vertices, triangles = sphere(24)
    ball = Body(vertices, triangles[:, ::-1].astype(np.int32), meshing=Meshing("robust", divisions=6), key="ball")
    scene = Scene((ball,), wind=wind)
    built = build(scene, NoTracks(), lambda *stage: None)
    push = total(wind_on(built, scene), built, np.zeros(3))
    radius = np.linalg.norm(vertices, axis=1).max()
    assert push[1] == pytest.approx(0.5 * 0.5 * 1.3 * 0.8 * 9.0 * np.pi * radius**2, rel=0.02)
    assert np.abs(push[[0, 2]]).max() < 1e-3 * push[1]


def falling_plate(folder, wind, frames, tilt=0.0, substeps=2):
    """Returns a light plate of 1 m² and 5 cm that falls, after some frames at 50 per second."""
    material = Material(youngs_modulus=1.0e5, poisson_ratio=0.3, density=8.0)
    body = block((4, 4, 1), (1.0, 1.0, 0.05), turn=rotation([1, 0, 0], tilt), key="plate", material=material)
    settings = Settings(fps=50.0, substeps=substeps, frame_end=1 + frames, tolerance=1e-8)
    run = Run(folder, Scene((body,), settings=settings, wind=wind))
    run.advance(frames)
    return run


def mean_velocity(run):
    return run.built.model.mass @ run.state.v / run.built.model.mass.sum()


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [1, 4])
def test_a_plate_falls_with_its_terminal_velocity(tmp_path, substeps):
    """m g = ½ ρ C A v²; with air that rises it falls as much slower."""
    wind = Wind((0.0, 0.0, 0.0), 1.2, 1.1)
    run = falling_plate(tmp_path / "still", wind, 100, substeps=substeps)
    weight = run.built.model.mass.sum() * 9.81
    terminal = np.sqrt(weight / (0.5 * 1.2 * 1.1))
    assert mean_velocity(run) == pytest.approx([0.0, 0.0, -terminal], rel=1e-3, abs=1e-3)
    rising = falling_plate(tmp_path / "rising", replace(wind, velocity=(0.0, 0.0, 1.5)), 100, substeps=substeps)
    assert mean_velocity(rising)[2] == pytest.approx(1.5 - terminal, rel=1e-3)


def test_the_velocity_on_the_way_follows_its_formula(tmp_path):
    """v = v∞ tanh(g t / v∞), nearer with shorter steps."""
    errors = []
    for substeps in (2, 8):
        run = falling_plate(tmp_path / str(substeps), Wind((0.0, 0.0, 0.0), 1.2, 1.1), 10, substeps=substeps)
        terminal = np.sqrt(run.built.model.mass.sum() * 9.81 / (0.5 * 1.2 * 1.1))
        errors.append(abs(-mean_velocity(run)[2] - terminal * np.tanh(9.81 * 0.2 / terminal)))
    assert errors[1] < 0.4 * errors[0] < 0.02


def test_still_air_takes_energy_and_a_strong_wind_stays_stable(tmp_path):
    run = falling_plate(tmp_path / "storm", Wind((60.0, 20.0, 0.0)), 20, tilt=0.7)
    assert all(report.converged for report in run.reports)
    assert np.isfinite(run.state.x).all() and np.linalg.norm(mean_velocity(run)) < 70.0
    assert mean_velocity(run)[0] > -1e-9 and mean_velocity(run)[1] > 5.0


def pushed_blocks(folder):
    """Returns two blocks of a tonne each that a wind has pushed over ice for 0.6 s."""
    first = block((2, 2, 2), (1.0, 1.0, 1.0), at=(0.0, 0.0, 0.001), key="first")
    second = block((2, 2, 2), (1.0, 1.0, 1.0), at=(1.01, 0.0, 0.001), key="second")
    settings = Settings(fps=50.0, substeps=2, frame_end=31, tolerance=1e-6)
    wind = Wind((60.0, 0.0, 0.0), 1.2, 1.0)
    run = Run(folder, Scene((first, second), (Collider("ice", "Ice", friction=0.0),), settings, wind=wind))
    run.advance(30)
    return run


def test_the_energy_correction_counts_the_work_of_the_wind(tmp_path, monkeypatch):
    """Bodies that touch get their energy from the wind, not from nothing; without that they would not be pushed."""
    wanted = 0.5 * 1.2 * 60.0**2 / 1000.0 * 0.6
    assert mean_velocity(pushed_blocks(tmp_path / "counted"))[0] == pytest.approx(wanted, rel=0.05)
    monkeypatch.setattr(PointForces, "work", lambda points, *motion: np.zeros(len(points)))
    assert mean_velocity(pushed_blocks(tmp_path / "not"))[0] < 0.5 * wanted


def test_without_wind_the_digest_is_that_of_earlier_scenes():
    body = block()
    scene = Scene((body,))
    assert scene.digest() == replace(scene, wind=None).digest() != replace(scene, wind=Wind()).digest()


def test_a_scene_with_wind_is_saved_and_checked(tmp_path):
    scene = Scene((block(),), wind=BREEZE)
    scene.save(tmp_path)
    assert Scene.load(tmp_path).wind == BREEZE
    with pytest.raises(BadInput, match="Air Density"):
        build(replace(scene, wind=replace(BREEZE, air_density=-1.0)), NoTracks(), lambda *stage: None)


def test_flesh_in_poses_feels_no_wind():
    scene = Scene((block(key="one"), block(key="two", at=(3.0, 0.0, 0.0))), wind=BREEZE)
    built = build(scene, NoTracks(), lambda *stage: None)
    force = wind_on(built, scene)
    assert not force.affects_quasistatic
    second = force.restricted_to([1])
    both, own = (
        each.point_forces(ForceStep(built.model, built.initial, NoTracks(), 0.0, 0.01)) for each in (force, second)
    )
    assert force.restricted_to([]) is None
    assert own.force.sum(axis=0) == pytest.approx(0.5 * both.force.sum(axis=0))
    assert (built.model.tets[own.tet] >= built.model.bodies[1].nodes.start).all()
