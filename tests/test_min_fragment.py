# SPDX-License-Identifier: GPL-3.0-or-later
"""No piece of what breaks is smaller than half a cell of the lattice that it is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fixtures.scenes import Run, block, rotation
from fixtures.tet_meshes import bar
from sinew.solver.mesh.node_splitting.face_adjacency import face_adjacency
from sinew.solver.mesh.node_splitting.minimum_fragment import (
    MAX_COUNTED_TETS,
    MIN_FRAGMENT_CELLS,
    leaves_small_fragment,
    min_fragment_volume,
)
from sinew.solver.scene.scene import Collider, Fracture, Material, Meshing, Scene, Settings

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_crumbs_are_pieces_with_too_little_in_them(share: float) -> None:
    _, tets = bar((6, 6, 6), (1.0, 1.0, 1.0))
    across = face_adjacency(tets, np.ones(len(tets), bool)).tet
    random = np.random.default_rng(4)
    parted = np.zeros(across.shape, bool)
    for tet, face in np.argwhere(across >= 0):
        other = across[tet, face]
        if other > tet and random.random() < share:
            parted[tet, face] = parted[other, across[other].tolist().index(tet)] = True
    material = random.random(len(tets))
    tet, face = np.nonzero((across >= 0) & ~parted)
    graph = coo_matrix((np.ones(len(tet)), (tet, across[tet, face])), shape=(len(tets),) * 2)
    piece = connected_components(graph, directed=False)[1]
    held = np.bincount(piece, material)[piece]
    for least in (0.3, 2.0, 6.0):
        for some in random.choice(len(tets), (60, 2)).astype(np.int32):
            assert leaves_small_fragment(some, across, parted, material, least) == (held[some] < least).any()


def test_many_tets_are_no_crumb_however_little_is_in_them() -> None:
    _, tets = bar((10, 6, 6), (1.0, 1.0, 1.0))
    across = face_adjacency(tets, np.ones(len(tets), bool)).tet
    assert len(tets) > MAX_COUNTED_TETS
    assert not leaves_small_fragment(np.zeros(1, np.int32), across, across < 0, np.zeros(len(tets)), 1.0)


def test_a_piece_has_at_least_part_of_a_cell_and_no_more_than_a_share_of_few_tets() -> None:
    assert min_fragment_volume(np.full(5000, 0.1), np.full(5000, 0.1**3 / 12.0)) == pytest.approx(
        MIN_FRAGMENT_CELLS * 0.1**3
    )
    assert min_fragment_volume(np.full(60, 0.1), np.full(60, 0.1**3 / 12.0)) < 0.02 * 60 * 0.1**3 / 12.0 * 1.001


@pytest.mark.long
def test_what_shatters_on_the_ground_leaves_no_crumbs(tmp_path: Path) -> None:
    body = block(
        (4, 4, 4),
        (1.0, 1.0, 1.0),
        turn=rotation((0.6, 0.8, 0.0), 0.5),
        material=Material(youngs_modulus=1.0e7, poisson_ratio=0.2, density=1000.0, stiffness_damping=0.001),
        fracture=Fracture(1.5e4, 1.5e4, most_splits=400),
        initial_velocity=(0.0, 0.0, -8.0),
    )
    lifted = [0.0, 0.0, 0.05 - body.vertices[:, 2].min()]
    body = replace(body, vertices=body.vertices + lifted, meshing=Meshing(tet_size=0.16), tet_nodes=None, tets=None)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=10)))
    run.advance(4)
    built = run.built
    assert built.fracture is not None
    piece = np.searchsorted(built.model.pattern.island_start, built.model.tets[:, 0], side="right") - 1
    held = np.bincount(piece, built.fracture.material)
    assert len(held) > 20
    least = built.fracture.bodies[0].min_fragment_volume
    assert (held >= least * (1.0 - 1e-12)).all()
    assert held.min() < 2.0 * least, "and pieces get nearly as small"
