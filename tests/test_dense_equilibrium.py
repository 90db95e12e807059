# SPDX-License-Identifier: GPL-3.0-or-later
"""The dense solve of small pieces against the sparse one: free, held, cracked and filled in part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.brittle_bodies import ball_on, brittle, glass_solid
from sinew.solver.brittle import piece_stress as piece_stress_room
from sinew.solver.brittle.cracked_mesh import CrackedMesh
from sinew.solver.brittle.dense_equilibrium import MAX_NODES, dense_equilibrium_solver
from sinew.solver.brittle.dense_kernels import add_stiffness
from sinew.solver.brittle.elastic_solid import ElasticSolid
from sinew.solver.brittle.element_tables import element_tables
from sinew.solver.brittle.hit import forces_on_piece
from sinew.solver.brittle.piece_stress import PieceStress, piece_stress
from sinew.solver.brittle.quadratic_kernels import MIDDLES
from sinew.solver.brittle.static_equilibrium import equilibrium_solver
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tetrahedralize.material_moments import full_tets
from sinew.solver.runtime.arrays import Bools, Floats

SAME = 1e-9


def partly_filled_solid() -> ElasticSolid:
    nodes, tets = box_tets((3, 2, 1), (0.12, 0.07, 0.03))
    rng = np.random.default_rng(3)
    solid, _ = glass_solid(nodes + 0.003 * rng.standard_normal(nodes.shape), tets)
    return refilled(solid, rng.uniform(0.1, 1.0, len(tets)))


def refilled(solid: ElasticSolid, fill: Floats) -> ElasticSolid:
    mesh = solid.mesh
    return replace(solid, elements=element_tables(mesh.nodes, mesh.tets, fill, full_tets(len(fill))))


def random_load(solid: ElasticSolid) -> Floats:
    return 1e3 * np.random.default_rng(8).standard_normal(solid.mesh.nodes.shape)


def held_nodes(solid: ElasticSolid, tets: tuple[int, ...]) -> Bools:
    is_held = np.zeros(len(solid.mesh.nodes), bool)
    is_held[solid.mesh.tets[list(tets)]] = True
    return is_held


def test_the_matrix_is_the_sparse_one() -> None:
    solid = partly_filled_solid()
    mesh = solid.mesh
    K = np.zeros((mesh.nodes.size, mesh.nodes.size), order="F")
    add_stiffness(mesh.tets, mesh.gradients, solid.second_moments, solid.mu, solid.lam, MIDDLES, K)
    wanted = solid.stiffness().toarray()
    assert np.abs(np.tril(K) - np.tril(wanted)).max() < 1e-13 * np.abs(wanted).max()


@pytest.mark.parametrize("held", [(), (0,), (3, 17)])
def test_displacements_are_those_of_the_sparse_solve(held: tuple[int, ...]) -> None:
    solid = partly_filled_solid()
    is_held, load = held_nodes(solid, held), random_load(solid)
    dense = dense_equilibrium_solver(solid, is_held)
    assert dense is not None
    found, sparse = dense.solve(load), equilibrium_solver(solid, is_held).solve(load, 1e-13)
    assert found.relative_residual < 1e-12 and sparse.relative_residual <= 1e-13
    size = np.abs(sparse.displacements).max()
    assert np.abs(found.displacements - sparse.displacements).max() < SAME * size
    stress, wanted = solid.corner_stress(found.displacements), solid.corner_stress(sparse.displacements)
    assert np.abs(stress - wanted).max() < SAME * np.abs(wanted).max()
    assert not found.displacements[is_held].any()


def test_no_load_and_no_free_node_move_nothing() -> None:
    solid = partly_filled_solid()
    for is_held in (held_nodes(solid, ()), np.ones(len(solid.mesh.nodes), bool)):
        dense = dense_equilibrium_solver(solid, is_held)
        assert dense is not None
        assert not dense.solve(np.zeros_like(solid.mesh.nodes)).displacements.any()
    assert not dense.solve(random_load(solid)).displacements.any()


def test_tets_without_stiffness_have_no_factor() -> None:
    solid = partly_filled_solid()
    empty = refilled(solid, np.zeros(len(solid.weight)))
    assert dense_equilibrium_solver(empty, held_nodes(empty, (0,))) is None


def test_a_cracked_piece_has_the_stress_of_the_sparse_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    body = brittle(*box_tets((3, 2, 1), (0.12, 0.08, 0.04)))
    is_parted = np.zeros((len(body.tets), 4), bool)
    across = body.neighbours.tet
    side = body.nodes[body.tets].mean(axis=1)[:, 0] > np.median(body.nodes[:, 0])
    is_near = body.nodes[body.tets].mean(axis=1)[:, 1] < np.median(body.nodes[:, 1])
    other = np.maximum(across, 0)
    is_parted |= (across >= 0) & (side[other] != side[:, None]) & is_near[:, None] & is_near[other]
    cracked = CrackedMesh(body, is_parted)
    assert is_parted.any() and cracked.piece_count == 1 and cracked.is_tip.any()
    tets = np.arange(len(body.tets), dtype=np.int32)
    hit = ball_on(body, (0.0, 0.0, 0.02), (0.0, 0.0, -1.0), 2.0)
    forces = forces_on_piece(cracked, tets, [hit])

    def solved() -> PieceStress:
        return piece_stress(cracked, tets, forces, 1e-13)

    dense = solved()
    assert len(dense.solid.mesh.nodes) <= MAX_NODES and dense.relative_residual < 1e-12
    monkeypatch.setattr(piece_stress_room, "MAX_NODES", 0)
    sparse = solved()
    assert dense.relative_residual != sparse.relative_residual, "both were solved in the same way"
    assert dense.energy == pytest.approx(sparse.energy, rel=SAME)
    assert np.abs(dense.corner_stress - sparse.corner_stress).max() < SAME * np.abs(sparse.corner_stress).max()
    assert dense.overload == pytest.approx(sparse.overload, rel=SAME, abs=SAME * sparse.overload.max())
