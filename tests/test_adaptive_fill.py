# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets of several sizes: where they are small, that nothing gapes between them, and that they cover a surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fixtures.closed_surfaces import sphere
from sinew.solver.mesh.embedding import closest_tets
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.t_junctions import TJunctions, no_t_junctions
from sinew.solver.mesh.tet_mesh import TetMesh
from sinew.solver.mesh.tet_quality import signed_volumes
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.fine_regions import FineRegions
from sinew.solver.scene.meshing import Meshing

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]), np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]], np.int32)  # fmt: skip


def filled(
    surface: tuple[Floats, Indices], divisions: int, coarsest: int = 4, fine: FineRegions | None = None
) -> TetMesh:
    meshing = Meshing("adaptive", divisions=divisions, coarsest_size=coarsest, fine=fine)
    return tetrahedralize(make_surface(*surface, "surface"), meshing, "surface")


def sizes(mesh: TetMesh) -> Floats:
    """Returns the long edge of each tet over the smallest one, (m,)."""
    found = np.cbrt(12.0 * signed_volumes(mesh.nodes, mesh.tets))
    return found / mesh.report.tet_size


def interpolated(junctions: TJunctions, values: Floats) -> Floats:
    """Returns values, (n, k), with those at T-junctions as their parents have them."""
    out = values.copy()
    for node, first, end in zip(junctions.nodes, junctions.start[:-1], junctions.start[1:], strict=True):
        out[node] = junctions.weights[first:end] @ values[junctions.parents[first:end]]
    return out


def largest_gap(mesh: TetMesh, moved: Floats | None = None) -> tuple[float, int]:
    """Returns how far tets come apart, and how many corners lie in sides of others, where nodes have moved.

    Args:
        mesh: The tets.
        moved: Positions of the nodes then, (n, 3); None: anywhere within a cube of 1.
    """
    nodes, tets = mesh.nodes, mesh.tets
    if moved is None:
        moved = interpolated(mesh.junctions, np.random.default_rng(3).uniform(-0.5, 0.5, nodes.shape))
    x = nodes[tets]
    middles = x.mean(axis=1)
    lists = cKDTree(nodes).query_ball_point(middles, 1.0001 * np.linalg.norm(x - middles[:, None], axis=2).max(axis=1))
    tet = np.repeat(np.arange(len(tets)), [len(near) for near in lists])
    node = np.concatenate(lists).astype(np.int64)
    inverse = np.linalg.inv(np.swapaxes(x[:, 1:] - x[:, :1], 1, 2))
    rest = np.einsum("kij,kj->ki", inverse[tet], nodes[node] - x[tet, 0])
    weights = np.concatenate([1.0 - rest.sum(axis=1, keepdims=True), rest], axis=1)
    inside = (weights > -1e-9).all(axis=1)
    tet, node, weights = tet[inside], node[inside], weights[inside]
    gaps = np.abs(np.einsum("ka,kai->ki", weights, moved[tets[tet]]) - moved[node])
    return float(gaps.max()), len(node) - 4 * len(tets)


@pytest.mark.parametrize(("divisions", "coarsest"), [(16, 2), (24, 4), (32, 8)])
def test_no_gap_opens_where_sizes_change(divisions: int, coarsest: int) -> None:
    mesh = filled(CUBE, divisions, coarsest, FineRegions(places=np.array([[0.31, 0.33, 0.36]]), reach=0.05))
    found = np.unique(np.round(sizes(mesh), 6))
    assert found[0] == 1.0 and found[-1] == coarsest
    gap, count = largest_gap(mesh)
    assert gap < 1e-12 and count > 100
    # also where a tet touches one that is eight times as small
    weights = mesh.junctions.weights
    assert weights.min() == (0.5 if coarsest == 2 else 0.25 if coarsest == 4 else 0.125)
    assert not np.isin(mesh.junctions.parents, mesh.junctions.nodes).any()


def test_without_their_junctions_there_are_gaps() -> None:
    mesh = filled(CUBE, 16, 2)
    gap, _ = largest_gap(replace(mesh, junctions=no_t_junctions()))
    assert gap > 0.1


def test_small_ones_are_at_edges_and_large_ones_deep_inside() -> None:
    mesh = filled(CUBE, 32, 4)
    middles, size = mesh.nodes[mesh.tets].mean(axis=1), np.round(sizes(mesh), 6)
    depth = np.minimum(middles, 1.0 - middles)
    to_edge = np.sort(np.abs(depth), axis=1)[:, 1]  # to the nearest of the twelve edges, at least
    a = mesh.report.tet_size
    assert (size[to_edge < 0.5 * a] == 1.0).all()
    assert (size[depth.min(axis=1) > 8.0 * a] == 4.0).all()
    flat = (np.abs(depth.min(axis=1)) < 0.3 * a) & (to_edge > 6.0 * a)
    assert flat.any() and (size[flat] == 2.0).all()


@pytest.mark.slow
def test_an_unpainted_part_has_larger_ones_than_a_painted_part() -> None:
    vertices, triangles = sphere(32)
    paint = (vertices[:, 2] > 0.6).astype(float)
    mesh = filled((vertices, triangles), 32, 4, FineRegions(paint))
    middles, size = mesh.nodes[mesh.tets].mean(axis=1), np.round(sizes(mesh), 6)
    radius = np.linalg.norm(middles, axis=1)
    surface = np.abs(radius - 1.0) < 0.01
    top, bottom = middles[:, 2] > 0.75, middles[:, 2] < 0.4
    assert (size[surface & top] == 1.0).all() and (size[surface & bottom] == 2.0).all()
    assert largest_gap(filled((vertices, triangles), 12, 4, FineRegions(paint)))[0] < 1e-12


def test_tets_near_places_are_small() -> None:
    place = np.array([[0.5, 0.5, 0.5]])
    mesh = filled(CUBE, 24, 4, FineRegions(places=place, reach=0.1))
    away = np.linalg.norm(mesh.nodes[mesh.tets].mean(axis=1) - place, axis=1)
    size = np.round(sizes(mesh), 6)
    assert (size[away < 0.1] == 1.0).all() and size.max() == 4.0
    assert size[away < 0.1].size > 50


def test_they_cover_the_surface_with_its_volume_and_are_fewer() -> None:
    surface = sphere(24)
    mesh, even = filled(surface, 24), tetrahedralize(make_surface(*surface, "s"), Meshing("robust", divisions=24), "s")
    assert mesh.report.volume_ratio == pytest.approx(1.0, abs=0.01)
    assert len(mesh.tets) < 0.3 * len(even.tets)
    assert mesh.report.min_dihedral == pytest.approx(60.0) and mesh.report.max_dihedral == pytest.approx(90.0)
    random = np.random.default_rng(1)
    corners = surface[0][surface[1]]
    points = np.einsum("ta,tai->ti", random.dirichlet(np.ones(3), len(corners)), corners)
    assert closest_tets(mesh.nodes, mesh.tets, points).distance.max() < 1e-9
    assert (signed_volumes(mesh.nodes, mesh.tets) > 0.0).all()
    assert (np.unique(mesh.tets) == np.arange(len(mesh.nodes))).all()


def test_open_and_thin_surfaces_are_covered() -> None:
    grid = np.array([[x, y, 0.0] for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)])
    quads = [(9 * i + j, 9 * i + j + 1, 9 * i + j + 10, 9 * i + j + 9) for i in range(8) for j in range(8)]
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))], np.int32)
    mesh = filled((grid, faces), 16)
    assert closest_tets(mesh.nodes, mesh.tets, grid).distance.max() < 1e-9
    assert largest_gap(mesh)[0] < 1e-12


def test_the_same_surface_gets_the_same_tets() -> None:
    first, second = filled(sphere(16), 16), filled(sphere(16), 16)
    for one, other in ((first, second), (first.junctions, second.junctions)):
        for name in ("nodes", "tets", "fill") if isinstance(one, TetMesh) else ("nodes", "start", "parents", "weights"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_small_tets_are_those_of_the_finer_lattice() -> None:
    """Refined everywhere, they are as many as uniform ones, and as they are."""
    surface = sphere(12)
    places = np.random.default_rng(2).uniform(-1.2, 1.2, (4000, 3))
    mesh = filled(surface, 12, 2, FineRegions(places=places, reach=1.0))
    assert not len(mesh.junctions) and (np.round(sizes(mesh), 6) == 1.0).all()
    even = tetrahedralize(make_surface(*surface, "s"), Meshing("robust", divisions=12), "s")
    assert len(mesh.tets) == pytest.approx(len(even.tets), rel=0.05)  # their lattices lie half a cell apart at most
