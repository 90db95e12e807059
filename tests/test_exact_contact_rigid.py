# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies with Exact contact: no triangles intersect after any step, momenta stay, shapes stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.hybrid_scenes import cloth
from fixtures.rigid_bodies import FLOOR, centres, distortion, energy, momenta, rigid_box, run_of
from fixtures.scenes import Run, block, rotation
from sinew.solver.integrators.exact_contact.energy_bodies import energy_bodies, without_rigid_bodies
from sinew.solver.integrators.exact_contact.free_motion import free_motion
from sinew.solver.integrators.exact_contact.incremental_potential import (
    AppliedForces,
    IncrementalPotential,
    OtherBodies,
)
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.state import State
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Material
from sinew.solver.simulation.simulation import Simulation

EXACT = {"contact": "exact", "fps": 25.0, "substeps": 4, "frame_end": 100}
SPACE = EXACT | {"gravity": (0.0, 0.0, 0.0)}
RUBS = Collision(0.5)


def two_boxes(folder) -> Run:
    one = rigid_box((0.1, 0.2, 0.3), key="one", initial_velocity=(3.0, 0.0, 0.0), collision=RUBS)
    turn = np.asarray(rotation((1.0, 1.0, 0.0), 0.4))
    other = rigid_box((0.2, 0.1, 0.1), (0.4, 0.05, 0.06), turn, "other", initial_spin=(1.0, 2.0, 0.0), collision=RUBS)
    return run_of(folder, one, other, **SPACE)


@pytest.mark.slow
def test_the_potential_of_a_rigid_body_has_the_gradient_that_it_says(tmp_path) -> None:
    model = two_boxes(tmp_path).built.model
    rng, free, workspace = np.random.default_rng(0), without_rigid_bodies(model), SolverContext().workspace(model)
    state = State(model.X @ np.asarray(rotation((1.0, 2.0, 3.0), 0.7)).T, rng.normal(size=model.X.shape), 0.0, {})
    motion = free_motion(model, state, None, 0.01)
    group = energy_bodies(model, 0.01)
    others = OtherBodies(group, motion)
    potential = IncrementalPotential(free, state, 0.01, workspace, AppliedForces(np.zeros(3)), others)
    assert np.abs(potential.derivatives(state.x + motion.way)[0]).max() < 1e-9  # nothing else pulls
    x = state.x + motion.way + 1e-3 * rng.normal(size=state.x.shape)
    gradient = potential.derivatives(x)[0].copy()
    for _ in range(4):
        d = rng.normal(size=x.shape)
        slope = (potential.value(x + 1e-6 * d) - potential.value(x - 1e-6 * d)) / 2e-6
        assert slope == pytest.approx((gradient * d).sum(), rel=1e-5)


def test_a_motion_is_turned_as_a_rotation(tmp_path) -> None:
    model = two_boxes(tmp_path).built.model
    state = State(model.X.copy(), np.zeros_like(model.X), 0.0, {})
    motion, own = free_motion(model, state, None, 0.01), model.bodies[0].nodes
    arms = model.X[own] - model.X[own].mean(axis=0)
    spin, shift, d = np.array([0.2, -0.5, 0.4]), np.array([1.0, 2.0, 3.0]), np.zeros_like(model.X)
    d[own] = np.cross(spin, arms) + shift
    wanted = arms @ np.asarray(rotation(spin, np.linalg.norm(spin))).T - arms + shift
    np.testing.assert_allclose(motion.turned(model.X, d)[own], wanted, atol=1e-12)
    strain = 1e-6 * np.random.default_rng(1).normal(size=d.shape)  # a small motion is what it is
    np.testing.assert_allclose(motion.turned(model.X, strain), strain, atol=1e-10)


def test_what_spins_freely_keeps_its_momenta(tmp_path) -> None:
    spins = {"initial_spin": (10.0, 1.0, 0.1), "initial_velocity": (1.0, 0.0, 0.0)}
    run = run_of(tmp_path, rigid_box((0.1, 0.2, 0.3), **spins), **SPACE)
    before, start = momenta(run), energy(run, 0.0)
    run.advance(20)
    for was, now in zip(before, momenta(run), strict=True):
        np.testing.assert_allclose(now, was, atol=1e-12 * np.linalg.norm(was))
    assert energy(run, 0.0) == pytest.approx(start, rel=1e-4) and distortion(run) < 1e-12


def test_boxes_that_hit_each_other_keep_momentum_and_lose_energy(tmp_path) -> None:
    run, found, energies = two_boxes(tmp_path), 0, []
    before = momenta(run)[0]
    for _ in range(8):
        found += advance_and_count(run, 1)
        energies.append(energy(run, 0.0))
    assert found == 0 and max(report.contacts for report in run.reports) > 0
    np.testing.assert_allclose(momenta(run)[0], before, atol=1e-9 * np.linalg.norm(before))
    assert np.diff(energies).max() < 1e-6 * energies[0] and energies[-1] < 0.9 * energies[0]
    assert centres(run)[1, 0] > 0.5 and distortion(run) < 1e-6


def test_a_stack_of_boxes_stands(tmp_path) -> None:
    stack = [
        rigid_box((0.1,) * 3, (0.004 * k, 0.0, 0.051 + 0.102 * k), key=f"box{k}", collision=RUBS) for k in range(5)
    ]
    run = run_of(tmp_path, *stack, colliders=(FLOOR,), **EXACT)
    assert advance_and_count(run, 20) == 0
    assert all(report.unsettled == 0 for report in run.reports) and distortion(run) < 1e-6
    place = centres(run)
    run.advance(10)
    assert np.abs(centres(run) - place).max() < 1e-5
    np.testing.assert_allclose(place[:, 2], 0.05 + 0.1 * np.arange(5), atol=2.5e-3)  # gaps of 0.4 mm


@pytest.mark.slow
def test_boxes_fall_into_a_heap(tmp_path) -> None:
    rng, boxes = np.random.default_rng(0), []
    for k in range(8):
        turn = np.asarray(rotation(rng.normal(size=3), rng.uniform(0.0, 3.0)))
        at = (0.08 * rng.normal(), 0.08 * rng.normal(), 0.1 + 0.18 * k)
        boxes.append(rigid_box((0.1,) * 3, at, turn, f"box{k}", collision=RUBS))
    run = run_of(tmp_path, *boxes, colliders=(FLOOR,), **EXACT)
    assert advance_and_count(run, 30) == 0
    assert sum(report.unsettled for report in run.reports) == 0 and distortion(run) < 1e-5
    assert run.render["box0"][:, 2].min() > 0.0 and np.abs(run.state.v).max() < 1.0


def test_a_rigid_box_presses_jelly_and_is_thrown_by_it(tmp_path) -> None:
    jelly = block((3, 3, 2), (0.2, 0.2, 0.1), at=(-0.1, -0.1, 0.0), key="jelly", collision=RUBS)
    heavy = {"material": Material(density=3000.0), "initial_velocity": (0.5, 0.0, -3.0), "collision": RUBS}
    box = rigid_box((0.08, 0.08, 0.05), (0.0, 0.0, 0.15), np.asarray(rotation((1.0, 0.3, 0.0), 0.3)), **heavy)
    run = run_of(tmp_path, jelly, box, **SPACE)
    before, mass = momenta(run)[0], float(run.built.model.mass[run.built.model.bodies[0].nodes].sum())
    assert advance_and_count(run, 6) == 0
    np.testing.assert_allclose(momenta(run)[0], before, atol=1e-9 * np.linalg.norm(before))
    own = run.built.model.bodies[0].nodes
    moved = run.built.model.mass[own] @ run.state.v[own] / mass
    assert moved[2] < -0.3 and moved[0] > 0.02  # pushed, and dragged along by friction


def test_nothing_passes_a_sheet_however_fast(tmp_path) -> None:
    sheet = cloth((0.3, 0.3), (6, 6), np.array([-0.15, -0.15, 0.0]), "sheet", collision=RUBS)
    held = np.flatnonzero(np.abs(sheet.vertices[:, :2]).max(axis=1) > 0.1499).astype(np.int32)
    sheet = replace(sheet, pinned=held, pin_weights=np.ones(len(held)))
    turn = np.asarray(rotation((1.0, 1.0, 0.3), 0.9))  # a corner first
    light = {"material": Material(density=20.0), "initial_velocity": (0.0, 0.0, -30.0), "collision": RUBS}
    run = run_of(tmp_path, sheet, rigid_box((0.05,) * 3, (0.0, 0.0, 0.1), turn, **light), **SPACE)
    assert advance_and_count(run, 3) == 0
    assert centres(run)[1, 2] > run.render["sheet"][:, 2].min()


def test_a_collider_takes_a_rigid_body_along_and_a_restart_gives_the_same_bytes(tmp_path) -> None:
    wall = Collider("wall", "Wall", "mesh", *_wall())
    matrices = np.stack([np.eye(4), np.eye(4)])
    matrices[1, 0, 3] = 2.0
    box = rigid_box((0.1,) * 3, (0.1, 0.0, 0.0), np.asarray(rotation((0.0, 0.0, 1.0), 0.2)), collision=RUBS)
    tracks = {"collider__wall__matrix": (np.array([0.0, 0.4]), matrices, "rigid")}
    run = run_of(tmp_path, box, colliders=(wall,), **SPACE, **tracks)
    run.advance(4)
    state = State.from_arrays({name: values.copy() for name, values in run.state.to_arrays().items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    run.advance(3)
    for _ in range(3):
        again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()
    at = 2.0 * run.state.time / 0.4
    assert centres(run)[0, 0] > at and run.render["box"][:, 0].min() > at


def _wall():
    """Returns a square across x, vertices and triangles."""
    corners = np.array([[0.0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]])
    return corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32)
