# SPDX-License-Identifier: GPL-3.0-or-later
"""The factor that cracks change a little: against the matrix itself, and against a factor made from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.brittle_bodies import brittle
from sinew.solver.brittle import multifrontal_factor
from sinew.solver.brittle.brittle_body import BrittleBody
from sinew.solver.brittle.cracked_mesh import CrackedMesh, whole_mesh
from sinew.solver.brittle.elastic_solid import ElasticSolid
from sinew.solver.brittle.multifrontal_factor import CornerFactor, Fronts, PieceNodes, corner_factor
from sinew.solver.brittle.nested_dissection import LEAF_TETS, tet_tree
from sinew.solver.brittle.quadratic_mesh import quadratic_mesh
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Bools, Floats, Indices

SHIFT = 1.0e-10
# a solve with eight digits of the factor leaves that of what moves the body as a whole, over the shift, and is one of
# a preconditioner
CLOSE = 1.0e-3


@pytest.fixture(scope="module")
def body() -> BrittleBody:
    return brittle(*box_tets((10, 5, 3), (0.4, 0.2, 0.12)))


def cut(body: BrittleBody, x: float, y: float) -> CrackedMesh:
    """Returns it with a crack across x, as far as y [m]."""
    middles, across = body.nodes[body.tets].mean(axis=1), body.neighbours.tet
    other = np.maximum(across, 0)
    is_right, is_near = middles[:, 0] > x, middles[:, 1] < y
    parted = (across >= 0) & (is_right[other] != is_right[:, None]) & is_near[:, None] & is_near[other]
    return CrackedMesh(body, parted)


def factored(
    cracked: CrackedMesh, tets: Indices, known: Fronts | None = None, held: tuple[int, ...] = ()
) -> tuple[CornerFactor, Floats, Bools]:
    """Returns the factor of a piece, its matrix, (3 c, 3 c), and its held corners, (c,), where some tets are held."""
    body = cracked.body
    used, local = np.unique(cracked.tets[tets], return_inverse=True)
    mesh = quadratic_mesh(cracked.nodes[used], local.reshape(-1, 4).astype(np.int32))
    mu, lam = body.material.lame_moduli
    solid = ElasticSolid(mesh, mu, lam, body.material.density, body.elements.of_tets(tets))
    is_held = np.zeros(mesh.corner_count, bool)
    is_held[mesh.tets[list(held), :4]] = True
    nodes = PieceNodes(body.tet_tree, tets, cracked.copies.corner[used])
    made = corner_factor(solid, is_held, nodes, SHIFT, known)
    assert made is not None
    return made, solid.corner_stiffness().toarray(), is_held


def all_tets(body: BrittleBody) -> Indices:
    return np.arange(len(body.tets), dtype=np.int32)


def assert_solves(made: CornerFactor, K: Floats, is_held: Bools) -> None:
    """It solves for forces that a random displacement of the free corners makes, but for rigid motions."""
    free = np.repeat(~is_held, 3)
    u = np.where(free, np.random.default_rng(2).standard_normal(len(K)), 0.0)
    f = np.where(free, K @ u, 0.0)
    left = np.where(free, K @ made(f), 0.0) - f
    assert np.abs(left).max() < CLOSE * np.abs(f).max()


@pytest.mark.parametrize("held", [(), (0,), (17, 400)])
def test_it_solves_for_a_piece(body: BrittleBody, held: tuple[int, ...]) -> None:
    assert_solves(*factored(cut(body, 0.2, 0.12), all_tets(body), held=held))


def test_a_crack_changes_few_fronts_and_they_are_those_made_from_nothing(body: BrittleBody) -> None:
    before, _, _ = factored(cut(body, 0.2, 0.12), all_tets(body))
    longer = cut(body, 0.2, 0.16)
    made, K, is_held = factored(longer, all_tets(body), before.fronts)
    anew, _, _ = factored(longer, all_tets(body))
    kept = sum(made.fronts.of_part[part] is front for part, front in before.fronts.of_part.items())
    assert 0.3 * len(made.fronts.of_part) < kept < len(made.fronts.of_part)
    assert made.fronts.of_part.keys() == anew.fronts.of_part.keys()
    assert (made.values == anew.values).all() and (made.nodes == anew.nodes).all()
    assert_solves(made, K, is_held)


def test_what_comes_off_leaves_the_fronts_of_the_rest(body: BrittleBody) -> None:
    before, _, _ = factored(cut(body, 0.3, 0.16), all_tets(body))
    apart = cut(body, 0.3, 1.0)
    assert apart.piece_count == 2
    for piece in range(2):
        tets = np.flatnonzero(apart.piece == piece).astype(np.int32)
        made, K, is_held = factored(apart, tets, before.fronts)
        anew, _, _ = factored(apart, tets)
        assert (made.values == anew.values).all() and (made.nodes == anew.nodes).all()
        assert any(front is before.fronts.of_part.get(part) for part, front in made.fronts.of_part.items())
        assert_solves(made, K, is_held)


def test_the_same_piece_makes_no_front(body: BrittleBody, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = whole_mesh(body)
    before, _, _ = factored(whole, all_tets(body))
    monkeypatch.setattr(multifrontal_factor, "_eliminated", None)
    made, _, _ = factored(whole, all_tets(body), before.fronts)
    assert (made.values == before.values).all()


def test_tets_without_stiffness_have_no_factor(body: BrittleBody) -> None:
    whole = whole_mesh(body)
    mesh = quadratic_mesh(whole.nodes, whole.tets)
    nodes = PieceNodes(body.tet_tree, all_tets(body), whole.copies.corner)
    solid = ElasticSolid(mesh, 0.0, 0.0, 1.0, body.elements)
    assert corner_factor(solid, np.zeros(mesh.corner_count, bool), nodes, SHIFT) is None


def test_parts_are_halves_that_share_few_nodes(body: BrittleBody) -> None:
    tree = tet_tree(body.nodes, body.tets)
    sizes = np.unique(tree.leaf, return_counts=True)[1]
    assert len(np.unique(tree.leaf)) * LEAF_TETS >= len(body.tets) and sizes.max() < 2 * sizes.mean()
    generation = int(tree.leaf.min()).bit_length()
    assert (tree.leaf >> (generation - 1) == 1).all()
    is_one = tree.leaf >> (generation - 2) == 2
    shared = np.intersect1d(body.tets[is_one], body.tets[~is_one])
    assert 0 < len(shared) <= 3 * 6 * 4  # a plane of nodes across the long axis has 24
    parts = tree.smallest_parts(body.tets, all_tets(body), len(body.nodes))
    assert np.array_equal(np.flatnonzero(parts == 1), shared)
