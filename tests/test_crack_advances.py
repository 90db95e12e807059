# SPDX-License-Identifier: GPL-3.0-or-later
"""A crack runs through many tets within a step where the stress carries it, and no farther."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.fracture_specimens import STIFF, breakable, irregular
from fixtures.scenes import Run
from fixtures.tet_meshes import bar
from sinew.solver.integrators.system.relinearised_step import elastic_energies
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.state_fields import DAMAGE_FIELD
from sinew.solver.scene.scene import Fracture, Scene, Settings
from sinew.solver.simulation.fracture_topology import apply_topology
from sinew.solver.simulation.simulation import Simulation

ACROSS = 16  # cells of the plate from side to side
STRENGTH, TOUGHNESS = 3.0e4, 1.2e3  # [Pa] and [Pa √m]: where it is cracked, a crack goes on under a fifth of the load


def pulled_plate(folder: Path, crack_advances: int, substeps: int = 1) -> Run:
    """Returns a plate that is weak at the middle of one side, and stretched by 6 % within a second."""
    nodes, tets = bar((5, ACROSS, 1), (0.5, 0.1 * ACROSS, 0.1))
    body = breakable(irregular(nodes, tets, 0.01), tets, Fracture(STRENGTH), material=STIFF)
    x, y = body.vertices[:, 0], body.vertices[:, 1]
    ends = np.flatnonzero((x < 1e-9) | (x > 0.5 - 1e-9)).astype(np.int32)
    weak = np.where((y < 0.05) & (np.abs(x - 0.25) < 0.1), 0.5, 1.0)
    fracture = Fracture(STRENGTH, TOUGHNESS, 0.02, strength_paint=weak, crack_advances=crack_advances)
    body = dataclasses.replace(body, pinned=ends, pin_weights=np.ones(len(ends)), fracture=fracture)
    start = body.vertices[ends]
    end = start + np.where(start[:, :1] > 0.25, [0.03, 0.0, 0.0], 0.0)
    settings = Settings(fps=50.0, substeps=substeps, frame_end=200, gravity=(0.0, 0.0, 0.0))
    return Run(folder, Scene((body,), (), settings), body__bar__targets=([0.0, 1.0], np.array([start, end])))


def frames_until(run: Run, name: str, more_than: float) -> int:
    """Moves on until a number of the plate's report is larger, and returns the frame."""
    while not run.reports or run.reports[-1].bodies["bar"][name] <= more_than:
        assert run.frame < 100
        run.advance()
    return run.frame


@pytest.mark.slow
def test_a_crack_crosses_a_plate_within_a_step_where_the_stress_carries_it(tmp_path):
    slow, fast = pulled_plate(tmp_path / "slow", 1), pulled_plate(tmp_path / "fast", 2 * ACROSS)
    begins = frames_until(slow, "splits", 0.0)
    assert begins == frames_until(fast, "splits", 0.0)
    assert fast.reports[-1].bodies["bar"]["pieces"] == 2
    assert frames_until(slow, "pieces", 1.0) >= begins + 3
    # the first crack takes the load off all others: it crosses the plate along the shortest way
    splits = [run.reports[-1].bodies["bar"]["splits"] for run in (slow, fast)]
    assert splits[1] == 2 * (ACROSS + 1) < splits[0]


def test_how_fast_a_plate_cracks_does_not_depend_on_substeps(tmp_path):
    apart = [frames_until(pulled_plate(tmp_path / str(n), 2 * ACROSS, n), "pieces", 1.0) for n in (1, 2, 4)]
    assert len(set(apart)) == 1


def test_cracks_advance_no_more_often_in_a_step_than_they_may(tmp_path):
    run, splits = pulled_plate(tmp_path, 3), [0.0]
    frames_until(run, "splits", 0.0)
    while run.reports[-1].bodies["bar"]["pieces"] == 1:
        splits.append(run.reports[-1].bodies["bar"]["splits"])
        run.advance()
    # two nodes of the plate's thickness, one in front of the other, in each of three passes, or one beside them
    assert 2 < len(splits) and np.diff(splits).max() <= 3 * 4


def test_a_crack_stops_where_the_stress_does_not_carry_it(tmp_path):
    run = pulled_plate(tmp_path, 2 * ACROSS)
    fracture = run.scene.bodies[0].fracture
    tough = dataclasses.replace(fracture, toughness=20.0 * TOUGHNESS)
    body = dataclasses.replace(run.scene.bodies[0], fracture=tough)
    run.simulation = Simulation(dataclasses.replace(run.scene, bodies=(body,)), run.tracks)
    frames_until(run, "splits", 0.0)
    assert run.reports[-1].bodies["bar"]["pieces"] == 1
    assert run.state.fields[DAMAGE_FIELD].max() == 1.0  # what was overloaded is remembered through passes taken back


def test_a_resumed_run_has_the_same_bytes(tmp_path):
    run, again = (pulled_plate(tmp_path / name, 3) for name in "ab")
    frames_until(run, "splits", 0.0)
    stored = State.from_arrays({name: array.copy() for name, array in run.state.to_arrays().items()})
    again.simulation = Simulation(again.scene, again.tracks, apply_topology(again.built, stored), stored)
    for _ in range(4):
        assert np.array_equal(run.advance(), again.advance())
    for name, array in run.state.to_arrays().items():
        assert np.array_equal(array, again.state.to_arrays()[name]), name


def test_a_stretched_plate_that_cracks_in_free_space_keeps_its_momentum_and_gains_no_energy(tmp_path):
    pulled = pulled_plate(tmp_path, 2 * ACROSS, substeps=8).scene
    body = dataclasses.replace(pulled.bodies[0], pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0))
    simulation = Simulation(dataclasses.replace(pulled, bodies=(body,)))
    simulation.start()
    state = simulation.state
    state.x[:, 0] *= 1.1
    built = simulation.built
    energy = elastic_energies(built.model, state.x, simulation.solver_context.workspace(built.model)).sum()
    for _ in range(3):
        simulation.step()
        model = simulation.built.model
        momentum = (model.mass[:, None] * state.v).sum(axis=0)
        assert np.abs(momentum).max() < 1e-9 * model.mass.sum() * np.abs(state.v).max()
        left = elastic_energies(model, state.x, simulation.solver_context.workspace(model)).sum()
        now = left + 0.5 * (model.mass[:, None] * state.v**2).sum()
        assert now < energy
        energy = now
    assert simulation.built.model.node_count > len(built.model.X) + 4
