# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts that end inside a body: it stays one piece, and opens as far as its tets let it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.cut_runs import CutRun
from fixtures.energy_measures import elastic_energy
from fixtures.scenes import Run, block
from sinew.solver.scene.scene import Scene, Settings

LENGTHS = 4.5, 2.0, 1.0
AT = 2.26  # of the cut along the bar [m]


def stretched_bar(folder: Path, cells: int) -> CutRun:
    """Returns a bar at rest whose ends pins draw apart by a tenth, of `cells` cells a half metre."""
    body = block((9 * cells, 4 * cells, 2 * cells), LENGTHS)
    ends = np.flatnonzero(np.isin(body.vertices[:, 0], (0.0, LENGTHS[0]))).astype(np.int32)
    targets = (np.array([0.0]), (body.vertices[ends] * [1.1, 1.0, 1.0])[None])
    settings = Settings(gravity=(0.0, 0.0, 0.0), tolerance=1e-9)
    run = Run(folder, Scene((replace(body, pinned=ends),), settings=settings), body__block__targets=targets)
    bring_to_rest(one := CutRun(run))
    return one


def bring_to_rest(one: CutRun) -> None:
    for _ in range(20):
        one.simulation.step(0.5)  # steps so long bring it to rest


def cut_half_through(one: CutRun) -> None:
    one.cut([1.0, 0.0, 0.0], AT, reaches=lambda middle: middle[1] < 0.5 * LENGTHS[1])


def opening(one: CutRun) -> float:
    """Returns how far the lips are apart at the edge of the bar [m]."""
    built, x = one.simulation.built, one.simulation.state.x
    cut, mesh = built.cuts[0].tets, built.bodies[0].mesh
    place, found = np.array([AT, 0.0, 0.0, 1.0]), []
    for tet in cut.tets[np.bincount(cut.parent)[cut.parent] > 1]:
        weights = np.linalg.solve(np.vstack([mesh.nodes[tet].T, np.ones(4)]), place)
        if weights.min() > -1e-9:
            found.append(float(weights @ x[tet, 0]))
    assert len(found) > 1
    return max(found) - min(found)


def test_a_bar_that_is_cut_half_through_opens_and_stays_one_piece(tmp_path: Path):
    one = stretched_bar(tmp_path, 1)
    model, state = one.simulation.built.model, one.simulation.state
    stored, mass, nodes = elastic_energy(model, state.x), model.mass.sum(), model.node_count
    cut_half_through(one)
    now = one.simulation.built.model
    assert now.pattern.island_count == 1 and now.node_count > nodes
    assert now.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert elastic_energy(now, state.x) == pytest.approx(stored, rel=1e-12)
    assert opening(one) < 1e-12
    bring_to_rest(one)
    assert opening(one) > 0.3
    assert elastic_energy(now, state.x) < 0.9 * stored


@pytest.mark.slow
def test_it_opens_as_far_with_tets_of_half_the_size(tmp_path: Path):
    found = []
    for cells in (2, 4):
        one = stretched_bar(tmp_path / str(cells), cells)
        cut_half_through(one)
        bring_to_rest(one)
        found.append(opening(one))
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_a_later_cut_completes_it(tmp_path: Path):
    one = stretched_bar(tmp_path, 1)
    cut_half_through(one)
    bring_to_rest(one)
    model, x = one.simulation.built.model, one.simulation.state.x
    stored, mass = elastic_energy(model, x), model.mass.sum()
    one.cut([1.0, 0.0, 0.0], AT)
    now = one.simulation.built.model
    assert now.pattern.island_count == 2
    assert now.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert elastic_energy(now, one.simulation.state.x) == pytest.approx(stored, rel=1e-12)
    bring_to_rest(one)
    assert elastic_energy(now, one.simulation.state.x) < 1e-3 * stored
