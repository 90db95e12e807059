# SPDX-License-Identifier: GPL-3.0-or-later
"""Robust tets: they cover every point of the surface and its inside, and weigh what it weighs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from fixtures.closed_surfaces import cube, sphere, torus
from sinew.solver.mesh.embedding import closest_tets
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.geometry.triangle_tet import triangle_meets_tet
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.mesh.geometry.winding_propagation import propagate_winding_numbers
from sinew.solver.mesh.tet_quality import signed_volumes
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.bcc_lattice import lattice_around, tet_families
from sinew.solver.mesh.tetrahedralize.surface_lattice_overlap import touched_tets
from sinew.solver.mesh.tetrahedralize.volume_fraction import (
    SHEET_FILLED_FRACTION,
    THIN_SAMPLES_PER_TET,
    low_discrepancy_barycentric,
)
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Meshing


def plate(thickness: float) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = cube(1)
    return vertices * [1.0, 0.7, thickness], triangles


def sheet() -> tuple[np.ndarray, np.ndarray]:
    vertices = np.array([[0, 0, 0], [1, 0, 0.2], [1, 1, 0.5], [0, 1, 0.3]], float)
    return vertices, np.array([[0, 1, 2], [0, 2, 3]])


def soup(count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    corners = np.random.default_rng(1).uniform(0, 1, (count, 1, 3)) + np.random.default_rng(2).normal(
        size=(count, 3, 3)
    ) * [0.1, 0.02, 0.3]
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


SHAPES = {
    "sphere": sphere(12),
    "torus": torus(24, 12),
    "cube on the lattice": cube(1),
    "plate thinner than a tet": plate(0.01),
    "sheet": sheet(),
    "soup": soup(),
    "one needle": (np.array([[0, 0, 0], [1, 2, 3], [1.0, 2.0, 3.001]]), np.array([[0, 1, 2]])),
}


def points_on(surface: Surface, count: int) -> np.ndarray:
    """Returns points of the faces: random ones, and their corners."""
    corners = surface.corners
    rng = np.random.default_rng(3)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    face = rng.choice(len(corners), count, p=areas / areas.sum())
    return np.concatenate(
        [np.einsum("kj,kji->ki", rng.dirichlet([1.0, 1.0, 1.0], count), corners[face]), corners.reshape(-1, 3)]
    )


def largest_gap(mesh, points: np.ndarray) -> float:
    """Returns how far points are outside all tets, where their smallest barycentric coordinate is below -1e-9."""
    return float(closest_tets(mesh.nodes, mesh.tets, points).distance.max())


@pytest.mark.parametrize("divisions", [3, 10, 17])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_point_of_every_face_lies_in_a_tet(shape, divisions):
    surface = Surface(*SHAPES[shape])
    mesh = tetrahedralize(surface, Meshing("robust", divisions=divisions), shape)
    assert largest_gap(mesh, points_on(surface, 4000)) == 0.0
    assert 59.999 < mesh.report.min_dihedral and mesh.report.max_dihedral < 90.001
    assert signed_volumes(mesh.nodes, mesh.tets).min() > 0.0
    assert mesh.fill.min() >= 0.25 / THIN_SAMPLES_PER_TET and mesh.fill.max() <= 1.0


@pytest.mark.parametrize("shape", ["sphere", "torus", "cube on the lattice"])
def test_the_inside_lies_in_tets(shape):
    surface = Surface(*SHAPES[shape])
    mesh = tetrahedralize(surface, Meshing("robust", divisions=9), shape)
    lower, upper = surface.bounds
    points = np.random.default_rng(4).uniform(lower, upper, (4000, 3))
    inside = points[winding_numbers(build_bvh(surface.vertices, surface.triangles), points) > 0.5]
    assert len(inside) > 100
    assert largest_gap(mesh, inside) == 0.0


@pytest.mark.parametrize("size", [1.0e-3, 1.0e4])
def test_size_and_place_change_nothing_but_units(size):
    vertices, triangles = torus(24, 12)
    one = tetrahedralize(Surface(vertices, triangles), Meshing("robust", divisions=10), "one")
    shift = np.array([50.0, -20.0, 10.0]) * size
    other = tetrahedralize(Surface(vertices * size + shift, triangles), Meshing("robust", divisions=10), "other")
    assert abs(len(other.tets) - len(one.tets)) <= 0.01 * len(one.tets)  # touching or not, by a rounding
    assert other.report.volume == pytest.approx(one.report.volume * size**3, rel=0.01)
    assert largest_gap(other, vertices * size + shift) <= 1e-12 * size * 50


@pytest.mark.parametrize(("shape", "divisions"), [("sphere", 12), ("torus", 16), ("cube on the lattice", 8)])
def test_the_filled_volume_is_that_of_the_surface(shape, divisions):
    mesh = tetrahedralize(Surface(*SHAPES[shape]), Meshing("robust", divisions=divisions), shape)
    assert mesh.report.volume_ratio == pytest.approx(1.0, abs=0.015)


@pytest.mark.parametrize("thickness", [0.002, 0.01, 0.02, 0.05, 0.2])
def test_a_thin_plate_weighs_about_what_it_should(thickness):
    """Tets are 0.1 long, and the plate lies along a plane of the lattice."""
    mesh = tetrahedralize(Surface(*plate(thickness)), Meshing("robust", divisions=10), "plate")
    assert mesh.report.volume_ratio == pytest.approx(1.0, abs=0.1 if thickness > 0.005 else 0.15)


def test_a_sheet_weighs_like_a_shell_of_an_eighth_of_a_tet():
    surface = Surface(*sheet())
    mesh = tetrahedralize(surface, Meshing("robust", divisions=20), "sheet")
    assert (mesh.fill == SHEET_FILLED_FRACTION).mean() > 0.98
    assert mesh.report.volume == pytest.approx(surface.area * mesh.report.tet_size / 8, rel=0.2)  # its rim adds to it


def test_a_closed_shell_beside_a_sheet_is_whole():
    vertices, triangles = sphere(8)
    more, faces = sheet()
    surface = Surface(np.concatenate([vertices, more + 3.0]), np.concatenate([triangles, faces + len(vertices)]))
    mesh = tetrahedralize(surface, Meshing("robust", divisions=20), "both")
    assert (mesh.fill == 1.0).any() and (mesh.fill == SHEET_FILLED_FRACTION).any()


def meet(triangle: np.ndarray, tet: np.ndarray) -> bool:
    """Whether a point of the triangle (3, 3) is one of the tet (4, 3), by linear programming."""
    rows = np.concatenate([triangle.T, -tet.T], axis=1)
    sums = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1]]
    found = scipy.optimize.linprog(np.zeros(7), A_eq=[*rows, *sums], b_eq=[0, 0, 0, 1, 1])
    return found.status == 0


@pytest.mark.slow
def test_meeting_of_triangle_and_tet_equals_the_slow_twin():
    rng = np.random.default_rng(5)
    met = 0
    for _ in range(300):
        triangle, tet = rng.normal(size=(3, 3)), rng.normal(size=(4, 3)) + rng.normal(size=3) * 0.8
        expected = meet(triangle, tet)
        met += expected
        assert triangle_meets_tet(triangle.ravel(), tet.ravel(), 0.0) == expected
    assert 60 < met < 240


def test_touching_counts_as_meeting():
    tet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]).ravel()
    for shift in (1.0e-7, -1.0e-7):
        above = np.array([[0.2, 0.2, 1], [1, 0.2, 1], [0.2, 1, 1.0]]) - [0.2, 0.2, -shift]  # at the top corner
        assert triangle_meets_tet(above.ravel(), tet, 1e-9) == (shift < 0)
        assert triangle_meets_tet(above.ravel(), tet, 1e-6)
    needle = np.array([[-1, 0.2, 0.2], [2, 0.2, 0.2], [2, 0.2, 0.2]])  # without area
    assert triangle_meets_tet(needle.ravel(), tet, 0.0)
    assert not triangle_meets_tet((needle + [0, 1, 0]).ravel(), tet, 0.0)


def test_touched_tets_equal_all_against_all():
    lattice = lattice_around(np.zeros(3), np.array([1.0, 0.8, 0.6]), 0.3)
    corners = np.random.default_rng(6).uniform([0, 0, 0], [1.0, 0.8, 0.6], (3, 3, 3))
    touched = touched_tets(lattice, corners.reshape(-1, 9), np.array([False, False, True]))
    positions = lattice.positions(lattice.coordinates())
    for axis, i, family in tet_families(lattice):
        for place in np.ndindex(family[0].shape):
            tet = positions[[corner[place] for corner in family]]
            meets = [triangle_meets_tet(c.ravel() / 0.3, tet.ravel() / 0.3, 1e-9) for c in corners]
            assert touched[axis, i][place] == (2 if meets[2] else int(any(meets)))
    assert (touched == 1).sum() > 20 and (touched == 2).sum() > 20


def test_spread_points_fill_a_tet_evenly():
    weights = low_discrepancy_barycentric(np.arange(4096))
    assert weights.min() >= 0.0
    assert np.abs(weights.sum(axis=1) - 1.0).max() <= 1e-12
    assert np.abs(weights.mean(axis=0) - 0.25).max() <= 0.006
    for corner in range(4):
        for cut in (0.1, 0.3, 0.5, 0.8):  # the corner beyond a cut at this weight holds the cube of its size
            assert (weights[:, corner] > cut).mean() == pytest.approx((1.0 - cut) ** 3, abs=0.01)


def test_winding_followed_along_a_segment_is_the_winding_number():
    vertices, triangles = torus(24, 12)
    inner, faces = sphere(8)
    bvh = build_bvh(
        np.concatenate([vertices, inner * 0.4 + [0.7, 0, 0]]), np.concatenate([triangles, faces + len(vertices)])
    )
    start, end = np.random.default_rng(7).uniform(-1.2, 1.2, (2, 600, 3))
    followed = propagate_winding_numbers(bvh, start, winding_numbers(bvh, start), end)
    expected = winding_numbers(bvh, end)
    assert set(np.round(expected)) == {0.0, 1.0, 2.0}
    assert np.abs(followed - expected).max() <= 0.05


def test_what_does_not_fit_into_memory_is_refused_with_the_numbers():
    surface = Surface(*sphere(8))
    with pytest.raises(BadInput) as refused:
        tetrahedralize(surface, Meshing("robust", divisions=100, memory_limit=10**9), "Ball")
    assert refused.value.kind == "too-many-tets"
    assert '"Ball"' in refused.value.text and "1 GB" in refused.value.text
    fitting = float(refused.value.details["fitting_size"])
    assert len(tetrahedralize(surface, Meshing("robust", tet_size=4 * fitting, memory_limit=10**9), "Ball").tets) > 100


@pytest.mark.parametrize("divisions", [8, pytest.param(20, marks=pytest.mark.slow)])
def test_files_of_all_kinds_are_covered(shared, divisions):
    folder = shared / "testdata"
    for path in ("wild/suzanne.ply", "wild/soup.stl", "wild/Offset1.obj", "surface/spot_control_quads.obj"):
        surface = read_surface(folder / path)
        mesh = tetrahedralize(surface, Meshing("robust", divisions=divisions), path)
        assert largest_gap(mesh, points_on(surface, 20000)) <= 1e-12 * mesh.report.tet_size
