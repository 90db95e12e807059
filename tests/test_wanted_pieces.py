# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies break into about as many pieces as an artist asks for, where a hit breaks them at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.brittle_bodies import ball_on, brittle, pane_tets
from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab
from sinew.solver.brittle.break_body import Breakage
from sinew.solver.brittle.cracked_mesh import whole_mesh
from sinew.solver.brittle.rigid_mass import RigidMotion, rigid_mass_of_tets
from sinew.solver.brittle.wanted_pieces import break_into
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.simulation import Simulation

MOTION = RigidMotion(np.array([0.3, -0.2, 1.0]), np.array([2.0, -1.0, 3.0]))


def hit_pane(speed: float, wanted: int) -> Breakage:
    """Returns what comes of a pane of 6 cm, hit in its middle by a ball of 0.1 kg."""
    body = brittle(*pane_tets(6, 0.06, 0.008))
    return break_into(
        body, [ball_on(body, (0.0, 0.0, 0.004), (0.0, 0.0, -1.0), speed)], MOTION, whole_mesh(body), wanted
    )


@pytest.mark.slow
def test_a_hit_breaks_a_pane_into_about_as_many_pieces_as_are_wanted() -> None:
    counts = {wanted: len(hit_pane(7.0, wanted).pieces) for wanted in (0, 3, 8)}
    assert counts[0] > 10, "without a wish, so many"
    assert abs(counts[3] - 3) <= 1 and abs(counts[8] - 8) <= 2, counts


@pytest.mark.slow
def test_the_same_wish_gives_the_same_cracks_and_keeps_momentum() -> None:
    first, second = hit_pane(6.0, 4), hit_pane(6.0, 4)
    assert np.array_equal(first.cracked.is_parted, second.cracked.is_parted)
    body = first.cracked.body
    whole = rigid_mass_of_tets(body.nodes, body.tets, body.tet_mass)
    before, _ = whole.momenta(MOTION, np.zeros(3))
    after = sum(piece.mass.momenta(piece.motion, np.zeros(3))[0] for piece in first.pieces)
    assert np.abs(after - before - first.impulses.sum(axis=0)).max() < 1e-12


def test_a_hit_that_a_pane_bears_leaves_it_whole_however_many_are_wanted() -> None:
    assert len(hit_pane(0.1, 20).pieces) == 1


def slab_pieces(height: float, wanted: int) -> int:
    scene = dropped_slab(height, frames=6, fracture=SCRATCHED_GLASS)
    (body,) = scene.bodies
    assert body.fracture is not None
    body = replace(body, fracture=replace(body.fracture, wanted_pieces=wanted))
    simulation = Simulation(Scene((body,), scene.colliders, scene.settings))
    for _ in simulation.run():
        pass
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0].cracked.piece_count


@pytest.mark.slow
def test_a_slab_that_falls_breaks_into_about_as_many_pieces_as_are_wanted_in_all() -> None:
    """Pieces that hit the ground later break on only until there are as many as wanted."""
    assert slab_pieces(0.005, 5) == 1
    assert 4 <= slab_pieces(1.0, 5) <= 7 < slab_pieces(1.0, 0)
