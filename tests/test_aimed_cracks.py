# SPDX-License-Identifier: GPL-3.0-or-later
"""Cracks of brittle bodies go where an artist aims them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fixtures.brittle_scenes import SLAB, TURN, dropped_slab
from sinew.solver.mesh.shapes import box
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.brittle.body_in_pieces import BodyInPieces
from sinew.solver.simulation.simulation import Simulation

BAND = 0.02  # half the width of what is painted weak: a row of vertices, and squares on both sides [m]


def painted_slab(height: float, **paints: Callable[[Floats], Floats]) -> Scene:
    """Returns a slab of glass that falls from a height [m], painted by functions of its vertices at rest."""
    scene = dropped_slab(height, frames=3)
    (body,) = scene.bodies
    rest, triangles = box(SLAB, 10)
    vertices = rest @ TURN.T
    vertices[:, 2] += body.vertices[:, 2].min() - vertices[:, 2].min()
    fracture = replace(body.fracture, **{name: values(rest) for name, values in paints.items()})
    return replace(scene, bodies=(replace(body, vertices=vertices, triangles=triangles, fracture=fracture),))


def broken(scene: Scene) -> BodyInPieces:
    simulation = Simulation(scene)
    for _ in simulation.run():
        pass
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0]


def in_slab(scene: Scene, places: Floats) -> Floats:
    """Returns places of the slab [m], (k, 3), along its own sides from its middle."""
    return (places - scene.bodies[0].vertices.mean(axis=0)) @ TURN


@pytest.mark.slow
def test_a_hit_that_glass_bears_cracks_it_where_weakness_is_painted_and_nowhere_else() -> None:
    """5 cm: the slab stays whole, and with a band of a tenth of the strength it cracks within a tet of the band."""
    assert not broken(painted_slab(0.05)).cracked.is_parted.any()
    scene = painted_slab(0.05, strength_paint=lambda at: np.where(np.abs(at[:, 0]) < 0.5 * BAND, 0.1, 1.0))
    body = broken(scene)
    faces = body.body.nodes[body.cracked.crack_faces].mean(axis=1)
    assert len(faces) > 20
    assert np.abs(in_slab(scene, faces)[:, 0]).max() < BAND + body.report.tet_size


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_what_is_painted_unbreakable_stays_in_one_piece(side: float) -> None:
    body = broken(painted_slab(1.0, unbreakable=lambda at: np.where(side * at[:, 0] > 0.0, 1.0, 0.0)))
    kept = np.flatnonzero(~body.body.is_breakable)
    assert len(kept) > 100 and len(np.unique(body.piece_of_tet[kept])) == 1
    assert body.cracked.piece_count > 3
    plain = broken(painted_slab(1.0))
    assert len(np.unique(plain.piece_of_tet[kept])) > 1, "unpainted, it does not"
