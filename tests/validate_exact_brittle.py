# SPDX-License-Identifier: GPL-3.0-or-later
"""Glass shatters with Exact contact: no piece enters the floor, another piece, or what hits it; all steps converge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab, glass_box
from fixtures.intersection_tally import add_steps
from fixtures.rigid_bodies import rigid_box
from sinew.solver.contact.exact.excluded_features import ExcludedFeatures
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.simulation.simulation import Simulation

STEPS = 16


def count_intersections(simulation: Simulation) -> int:
    """Returns how many pairs of triangles intersect and vertices are in the floor, where nothing tells of it.

    Sides of a crack that are in each other when it opens are told as let in until they have parted. A piece does not
    touch itself: the faces of its tets, laid on its mesh, fold there.
    """
    surfaces, state = simulation.built.exact_contact, simulation.state
    assert surfaces is not None
    bound, motion = surfaces.motion(simulation.tracks, state.time, state.time, (None, state.x))
    y, mesh = bound.positions(state.x, motion.start), bound.mesh
    pairs = intersecting_triangles(y, mesh.triangles)
    first = mesh.triangles[:, 0][pairs]
    owner, piece = mesh.owner[mesh.surface[first]], bound.tet[first]  # each piece is one rigid tet
    is_one = piece[:, 0] == piece[:, 1]
    is_told = is_one | (owner[:, 0] == owner[:, 1]) & (len(ExcludedFeatures.from_state(state)) > 0)
    below = int((y[bound.tet >= 0, 2] < 0.0).sum()) if surfaces.all_colliders else 0
    return int((~is_told).sum()) + below


def shatter(reach, name: str, scene: Scene, least: int) -> None:
    simulation = Simulation(replace(scene, settings=replace(scene.settings, contact="exact")))
    simulation.start()
    found, unsettled, most = 0, 0, 0
    for _ in range(STEPS):
        report = simulation.step()
        found, unsettled = found + count_intersections(simulation), unsettled + (not report.settled)
        most = max(most, report.solves)
    add_steps(STEPS, found)
    assert simulation.built.pieces is not None
    pieces = simulation.built.pieces.bodies[0].cracked.piece_count
    reach("Contact", f"exact: {name}, {STEPS} steps: pieces", pieces, f"≥ {least}", pieces >= least)
    reach("Contact", f"exact: {name}: intersections that nothing tells", found, 0, found == 0)
    line = f"exact: {name}: steps that did not converge, of up to {most} iterations"
    reach("Contact", line, unsettled, 0, unsettled == 0)


@pytest.mark.parametrize("height", [2.0, 5.0])
def test_a_slab_of_glass_falls(height, reach) -> None:
    shatter(reach, f"glass from {height:g} m", dropped_slab(height), 6)


def test_a_rigid_box_hits_glass(reach) -> None:
    slab = glass_box((0.2, 0.2, 0.03), (0.0, 0.0, 0.0), np.eye(3), fracture=SCRATCHED_GLASS)
    box = rigid_box((0.06, 0.06, 0.06), (0.02, 0.01, 0.1), key="box", initial_velocity=(0.0, 0.0, -20.0))
    scene = Scene((slab, box), (), Settings(frame_end=8, gravity=(0.0, 0.0, 0.0)))
    shatter(reach, "glass hit at 20 m/s", scene, 2)
