# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies that touch store is what they say, and what they gain out of nothing is taken from their motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.contact_scenes import NOTHING
from fixtures.corotational_bars import forces_in
from fixtures.energy_measures import elastic_energy, energy
from fixtures.scenes import JELLY, Run, block, pose, rotation
from fixtures.shells import unit_sphere
from fixtures.tet_meshes import bar
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.strain_energy import stored_energy
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.simulation import step_verdict
from sinew.solver.simulation.contact_energy_removal import EnergyGain, remove_relative_energy


def crumpled() -> tuple[Model, np.ndarray]:
    """Returns two blocks apart from each other, and positions of their nodes that are not at rest."""
    X, tets = bar((3, 2, 2), (1.5, 1.0, 1.0))
    parts = [Part(f"b{i}", X + [3.0 * i, 0.0, 0.0], tets, np.ones(len(tets)), JELLY) for i in range(2)]
    model = make_model(parts)
    return model, model.X + 0.05 * np.random.default_rng(4).normal(size=model.X.shape)


def stored(model: Model, x: np.ndarray) -> np.ndarray:
    """Returns what every island stores at x."""
    return stored_energy(model, x, compute_element_records(model, x))


def test_strain_that_bodies_begin_with_is_taken_off() -> None:
    """A body that is stretched by what it began with stores nothing, turned or not."""
    model, _ = crumpled()
    strain = np.array([0.1, -0.05, 0.02, 0.03, 0.0, -0.04])
    e = np.array([[1.1, 0.03, -0.04], [0.03, 0.95, 0.0], [-0.04, 0.0, 1.02]])
    begun = replace(model, initial_strain=np.tile(strain, (model.tet_count, 1)))
    x = model.X @ e @ rotation([1.0, 2.0, 3.0], 0.7).T
    assert stored(begun, x).max() < 1e-20 * stored(model, x).min()
    assert stored(begun, model.X)[0] > 0.0


def test_stored_energy_is_that_of_numpy() -> None:
    model, x = crumpled()
    found = stored(model, x)
    assert len(found) == 2 and found.sum() == pytest.approx(elastic_energy(model, x), rel=1e-12)
    assert stored(model, model.X).max() < 1e-20 * found.sum()


@pytest.mark.parametrize("has_strain", (False, True))
@pytest.mark.parametrize("has_pressure", (False, True))
def test_forces_are_what_stored_energy_falls_by(has_strain: bool, has_pressure: bool) -> None:
    """Where tets are rotated by their rotation proper: forces there are the derivative of this very energy."""
    model, x = crumpled()
    random = np.random.default_rng(1)
    if has_strain:
        even = 0.05 * random.normal(size=(model.tet_count, 1))  # what is uneven turns with the rotation
        model = replace(model, initial_strain=even * [1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    if has_pressure:
        kappa = np.where(random.random(model.tet_count) < 0.5, 1.0e5, 0.0)
        model = replace(model, pressure_modulus=kappa)
        x = x * [1.0, 1.0, 0.3]  # some are flat or inside out
    force = np.zeros_like(x)
    np.add.at(force, model.tets, forces_in(compute_element_records(model, x)))
    for _ in range(3):
        way = random.normal(size=x.shape)
        h = 1.0e-6
        slope = (stored(model, x + h * way).sum() - stored(model, x - h * way).sum()) / (2.0 * h)
        assert slope == pytest.approx(-float((force * way).sum()), rel=2e-5)


@pytest.mark.parametrize("is_held", (False, True))
def test_motion_within_a_group_is_slowed_by_what_is_too_much(is_held: bool) -> None:
    random = np.random.default_rng(7)
    mass, x, v = random.uniform(0.5, 2.0, 30), random.normal(size=(30, 3)), random.normal(size=(30, 3))
    group, surplus = np.repeat([0, 1, 2], 10), np.array([0.7, -3.0, 1.0e9])
    out = remove_relative_energy(mass, x, v, group, surplus, np.full((3, 3), 0.0 if is_held else np.nan))

    def motion(u: np.ndarray) -> float:
        return float(0.5 * mass[:10] @ (u[:10] ** 2).sum(axis=1))

    assert motion(v) - motion(out) == pytest.approx(0.7, rel=1e-8)
    assert np.array_equal(out[10:20], v[10:20])
    for own in (slice(10), slice(20, 30)):
        for sums in (lambda u: u, lambda u: np.cross(x, u)):
            before, after = (mass[own] @ sums(u)[own] for u in (v, out))
            assert is_held or np.abs(after - before).max() < 1e-7 * np.abs(before).max()
    if is_held:
        assert not out[20:].any()
    else:  # all that is left turns as one
        arm = x[20:] - mass[20:] @ x[20:] / mass[20:].sum()
        rest = out[20:] - mass[20:] @ out[20:] / mass[20:].sum()
        assert np.abs(np.einsum("ni,ni->n", arm, rest)).max() < 1e-9


def falling(count: int = 2) -> Scene:
    """Returns boxes above each other, the lower one just above the ground."""
    bodies = tuple(
        block((2, 2, 2), (0.2,) * 3, at=(0.03 * i, 0.02 * i, 0.05 + 0.25 * i), key=f"b{i}") for i in range(count)
    )
    corners = np.array([[x, y, z] for z in (-0.5, 0.0) for y in (-2.0, 2.0) for x in (-2.0, 2.0)])
    faces = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6],
                      [0, 6, 2], [1, 3, 7], [1, 7, 5]], np.int32)  # fmt: skip
    return Scene(bodies, (Collider("ground", "Ground", "mesh", corners, faces, friction=0.5),), Settings())


@pytest.mark.slow
def test_what_comes_out_of_nothing_is_taken(tmp_path, monkeypatch) -> None:
    """Boxes that touch each other are made faster in every step; nothing is left of that, and much without."""
    find = step_verdict.energy_gain_in_step

    def grown(name: str, takes: bool) -> float:
        def kick(contacts, model, gravity, before, state, stored, *acting) -> EnergyGain | None:
            if (contacts.groups() == 0).all() and contacts.was_active.any():
                state.v = 1.05 * state.v
            return find(contacts, model, gravity, before, state, stored, *acting) if takes else None

        monkeypatch.setattr(step_verdict, "energy_gain_in_step", kick)
        run = Run(tmp_path / name, falling())
        energies = [energy(run)] + [(run.advance(), energy(run))[1] for _ in range(30)]
        return float(np.diff(energies).max() / energies[0])

    free, taken = grown("free", False), grown("taken", True)
    assert free > 1e-3 and taken < 1e-9, (free, taken)


@pytest.mark.slow
def test_what_is_lifted_is_given_energy(tmp_path) -> None:
    """Boxes on a ground that goes up by a metre go with it as fast."""
    times = np.array([0.0, 0.5, 1.5])
    poses = np.array([pose(), pose(), pose(move=(0.0, 0.0, 1.0))])
    run = Run(tmp_path, falling(), collider__ground__matrix=(times, poses, "rigid"))
    run.advance(30)
    speeds = run.state.v[:, 2] @ run.built.model.mass / run.built.model.mass.sum()
    assert speeds == pytest.approx(1.0, abs=0.02)


def test_free_motion_of_what_touches_is_as_it_was(tmp_path, monkeypatch) -> None:
    """Two boxes that hit each other in the air: their centre flies on, and the energy does not grow."""
    bodies = tuple(
        block((2, 2, 2), (0.2,) * 3, at=(0.3 * side, 0.05 * side, 0.0), key=f"b{side}",
              initial_velocity=(-3.0 * side, 0.0, 2.0))
        for side in (-1, 1)
    )  # fmt: skip
    run = Run(tmp_path, Scene(bodies, (), Settings(gravity=NOTHING)))
    mass, energies = run.built.model.mass, [energy(run)]
    for _ in range(12):
        run.advance()
        energies.append(energy(run))
    damped = np.exp(-0.5 * JELLY.mass_damping)
    assert np.diff(energies).max() < 1e-6 * energies[0]
    assert (mass @ run.state.v / mass.sum())[2] == pytest.approx(2.0 * damped, rel=1e-6)


def test_round_off_of_what_is_weightless_and_at_rest_halves_no_step(tmp_path, monkeypatch) -> None:
    """It has no energy of which a gain could be a share: a head beside a ball took seven minutes for a frame."""
    monkeypatch.setattr(step_verdict, "ENERGY_CHECK_RESIDUAL", -1.0)  # all steps are weighed
    body = block((4, 4, 4), at=(0.3, 0.7, 0.1), turn=rotation((1, 2, 3), 0.7))
    height = body.vertices[:, 2]
    held = np.flatnonzero(height > np.quantile(height, 0.9)).astype(np.int32)
    body = replace(body, pinned=held, pin_weights=np.ones(len(held)))
    vertices, triangles = unit_sphere(3)
    below = body.vertices[np.argmin(height)] - [0.0, 0.0, 0.25]
    ball = Collider("ball", "Ball", "mesh", 0.2 * vertices + below, triangles)
    run = Run(tmp_path, Scene((body,), (ball,), Settings(frame_end=3, gravity=NOTHING)))
    run.advance()
    assert run.reports[-1].solves == run.scene.settings.substeps
