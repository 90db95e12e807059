# SPDX-License-Identifier: GPL-3.0-or-later
"""What tears sheets, against slow twins: the stress of triangles, copies of nodes, the elements that are left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.sheets import CLOTH, energy_of, grid, sheet_model
from reference import sheets, torn_sheets
from sinew.solver.mechanics.model import make_model
from sinew.solver.mechanics.sheets.sheet_part import sheet_part
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.node_splitting.node_duplication import count_pieces, split_nodes
from sinew.solver.mesh.sheet_mesh import followed_corners, sheet_mesh, weights_in_hinges
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.jit import kernel
from sinew.solver.simulation.fracture.sheet_adjacency import SheetAdjacency, sheet_adjacency
from sinew.solver.simulation.fracture.sheet_stress import largest_stress, tear_normals

THICK = replace(CLOTH, thickness=0.2)
WOVEN = replace(THICK, across=0.3e6, shear_modulus=0.1e6)


@kernel()
def stress_of(x, nodes, inverse, moduli):
    """Returns the largest stress [Pa]."""
    return largest_stress(x, nodes, inverse, moduli)[0]


def tearable(X: Floats, triangles: Indices, material=CLOTH, axes: Floats | None = None):
    return make_model([sheet_part("sheet", X, triangles, material, axes=axes, may_tear=True)])


@pytest.mark.parametrize("material", [THICK, WOVEN], ids=["isotropic", "orthotropic"])
def test_the_stress_is_hookes_of_the_stretch(material) -> None:
    rng = np.random.default_rng(3)
    X, triangles = grid((3, 2), (1.0, 0.8))
    X[:, 2] = 0.3 * X[:, 0] ** 2
    axes = np.tile([1.0, 0.4, 0.1], (len(triangles), 1))
    model = tearable(X, triangles, material, axes)
    h = model.sheets.hinges
    for _ in range(5):
        x = X + 0.15 * rng.normal(size=X.shape)
        expected = [torn_sheets.largest_stress(X[t], x[t], a, material) for t, a in zip(triangles, axes, strict=True)]
        found = [stress_of(x, model.tets[k], h.rest_inverse[k], h.moduli[k]) for k in range(len(triangles))]
        np.testing.assert_allclose(found, [stress for stress, _ in expected], rtol=1e-10, atol=1e-6 * 1e6)
        normals = tear_normals(model, x, np.arange(len(triangles), dtype=np.int32))
        along = np.abs(np.einsum("ti,ti->t", normals, np.array([direction for _, direction in expected])))
        np.testing.assert_allclose(along, 1.0, atol=1e-9)


def test_a_triangle_at_one_place_has_no_stress() -> None:
    X, triangles = grid((1, 1), (1.0, 1.0))
    h = tearable(X, triangles).sheets.hinges
    assert stress_of(np.zeros_like(X), np.array([0, 1, 2, 2], np.int32), h.rest_inverse[0], h.moduli[0]) == -np.inf


def test_triangles_as_tets_change_neither_energy_nor_mass() -> None:
    rng = np.random.default_rng(0)
    X, triangles = grid((3, 2), (1.0, 0.8))
    x = X + 0.1 * rng.normal(size=X.shape)
    whole, model = sheet_model(X, triangles, THICK), tearable(X, triangles, THICK)
    assert energy_of(model, x) == pytest.approx(energy_of(whole, x), rel=1e-13)
    np.testing.assert_allclose(model.mass, whole.mass, rtol=1e-14)
    assert np.array_equal(model.sheets.nodes_of_triangles(model.tets), triangles)


def meshes() -> list[tuple[str, Indices]]:
    """Returns a grid, two that touch at a node, three triangles at an edge beside a grid, and a tube."""
    _, plain = grid((5, 4), (1.0, 1.0))
    count = int(plain.max()) + 1
    other = plain + count
    other[other == count] = count - 1  # its first node is the last of the other
    used, touching = np.unique(np.concatenate([plain, other]), return_inverse=True)
    fin = np.concatenate([plain, [[plain[0, 0], plain[0, 1], count]]])
    _, flat = grid((6, 4), (1.0, 1.0))
    tube = flat % (6 * 5)
    return [
        ("grid", plain), ("at a node", touching.reshape(-1, 3).astype(np.int32)),
        ("fin", fin.astype(np.int32)), ("tube", tube.astype(np.int32)),
    ]  # fmt: skip


def parted(adjacency: SheetAdjacency, seed: int) -> np.ndarray:
    """Returns some edges that have parted, (t, 4)."""
    rng = np.random.default_rng(seed)
    across = adjacency.edges.tet
    out = np.zeros(across.shape, bool)
    for triangle, edge in np.argwhere(across >= 0):
        other = across[triangle, edge]
        if triangle < other and rng.random() < 0.45:
            out[triangle, edge] = True
            out[other, np.flatnonzero(across[other] == triangle)[0]] = True
    return out


@pytest.mark.parametrize(("name", "triangles"), meshes(), ids=[name for name, _ in meshes()])
def test_copies_of_nodes_are_the_twins(name: str, triangles: Indices) -> None:
    adjacency = sheet_adjacency(triangles)
    whole = np.column_stack([triangles, triangles[:, 2]])
    for seed in range(6):
        is_parted = parted(adjacency, seed) if seed else np.zeros(adjacency.edges.tet.shape, bool)
        made = split_nodes(whole, adjacency.edges.tet, adjacency.edges.twin, is_parted, 0, adjacency.links)
        torn = {
            frozenset(int(triangles[t, (e + k) % 3]) for k in (1, 2)) for t, e in np.argwhere(is_parted)
        }  # fmt: skip
        expected = torn_sheets.node_copies(triangles, torn)
        pairs = np.unique(np.stack([made.tets[:, :3].ravel(), np.ravel(expected)]), axis=1)
        assert len(pairs.T) == len(np.unique(pairs[0])) == len(np.unique(pairs[1]))
        assert np.array_equal(made.tets[:, 2], made.tets[:, 3])
        assert np.array_equal(whole.ravel()[made.corner][made.tets], whole)
        pieces = count_pieces(adjacency.edges.tet, adjacency.edges.twin, is_parted, 0, adjacency.links)
        assert pieces == len(made.piece_start)
        tets = adjacency.with_hinges(made.tets)
        first = len(triangles)
        is_torn = tets[first:, 2] == tets[first:, 3]
        assert is_torn.any() == bool(seed) and np.array_equal(tets[:first], made.tets)
        for (a, b, c, d), flat in zip(tets[first:].tolist(), is_torn, strict=True):
            holds = [set(t[:3]) for t in made.tets.tolist()]
            assert {a, b, c} in holds and (flat or {a, b, d} in holds)


def test_a_torn_sheet_has_the_energy_of_its_pieces() -> None:
    rng = np.random.default_rng(1)
    X, triangles = grid((4, 3), (1.0, 0.8))
    model, adjacency = tearable(X, triangles, THICK), sheet_adjacency(triangles)
    is_parted = parted(adjacency, 4)
    whole = model.tets[: len(triangles)]
    made = split_nodes(whole, adjacency.edges.tet, adjacency.edges.twin, is_parted, 0, adjacency.links)
    tets, origin = adjacency.with_hinges(made.tets), whole.ravel()[made.corner]
    torn = make_model([sheet_part("sheet", X[origin], made.tets[:, :3], THICK)])
    now = replace(torn, tets=tets, sheets=model.sheets.torn(tets), pattern=model.pattern)
    x = X[origin] + 0.1 * rng.normal(size=(len(origin), 3))
    of_pieces = X[origin], x, made.tets[:, :3], THICK, X[triangles[:, 1]] - X[triangles[:, 0]]
    expected = sheets.membrane_energy(*of_pieces) + sheets.bending_energy(*of_pieces)
    bent = replace(model, X=X[origin], tets=tets, sheets=model.sheets.torn(tets))
    assert _energy(bent, x) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(now.sheets.node_masses(tets, len(origin)), torn.mass, rtol=1e-13)


def _energy(model, x: Floats) -> float:
    from sinew.solver.linalg.block_pattern import block_pattern

    return energy_of(replace(model, pattern=block_pattern(model.tets, len(x))), x)


def test_a_triangle_names_its_last_corner_once_in_weights() -> None:
    found = weights_in_hinges(np.array([[4, 7, 9, 9]], np.int32), np.array([[9, 4]], np.int32), np.array([[0.7, 0.3]]))
    np.testing.assert_array_equal(found, [[0.3, 0.0, 0.7, 0.0]])


def test_every_node_is_at_the_corner_that_its_vertex_follows() -> None:
    X, triangles = grid((4, 3), (1.0, 0.8))
    mesh = sheet_mesh(make_surface(X, triangles, "Sheet"), "Sheet", True)
    np.testing.assert_array_equal(mesh.tets.ravel()[followed_corners(mesh)], np.arange(len(X)))
