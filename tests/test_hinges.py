# SPDX-License-Identifier: GPL-3.0-or-later
"""Lumps of tets that touch in an edge are held together, and none is left to spin."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.tet_mesh import FilledTets
from sinew.solver.mesh.tet_quality import dihedral_range, signed_volumes
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.nonmanifold_edges import close_nonmanifold_edges, face_connected_parts
from sinew.solver.mesh.tetrahedralize.tet_components import excess_component_count
from sinew.solver.scene.scene import Material, Meshing


def two_at_an_edge(opening: float) -> FilledTets:
    """Returns two tets on either side of an edge along z, each `opening` [degrees] wide about it."""
    half = np.radians(opening) / 2
    x, y = np.cos(half), np.sin(half)
    nodes = np.array([[0, 0, 0], [0, 0, 1], [x, y, 0.5], [x, -y, 0.5], [-x, y, 0.5], [-x, -y, 0.5]], float)
    tets = np.array([[0, 1, 3, 2], [0, 1, 4, 5]], np.int32)
    assert (signed_volumes(nodes, tets) > 0.0).all()
    return FilledTets(nodes, tets, np.ones(2))


@pytest.mark.parametrize("opening", [60.0, 90.0, 120.0])
def test_a_hinge_is_held_by_tets_in_its_gaps(opening: float) -> None:
    """Both gaps are filled, the new tets are well shaped, and the lumps are one."""
    filling = two_at_an_edge(opening)
    assert face_connected_parts(filling.tets).max() == 1
    held = close_nonmanifold_edges(filling)
    assert len(held.tets) == 4 and face_connected_parts(held.tets).max() == 0
    assert np.array_equal(held.tets[:2], filling.tets) and np.array_equal(held.nodes, filling.nodes)
    assert (signed_volumes(held.nodes, held.tets) > 0.0).all()
    least, most = dihedral_range(held.nodes, held.tets)
    assert least > 12.0 and most < 160.0


def test_gaps_too_wide_for_a_good_tet_stay_open() -> None:
    """A tet of 170 degrees would be nearly flat."""
    assert len(close_nonmanifold_edges(two_at_an_edge(10.0)).tets) == 2


@pytest.mark.parametrize(
    "name",
    [
        "anatomy/ground_r_clavicle.stl",
        "surface/human_man_smpl.obj",
        "surface/blub_fish_low.obj",
        "surface/fox_ascii.stl",
    ],
)
def test_thin_shapes_do_not_fold(shared, name: str) -> None:
    """Each of these had two to five lumps joined by edges and nodes alone."""
    mesh = tetrahedralize(read_surface(shared / "testdata" / name), Meshing(divisions=12), name)
    assert face_connected_parts(mesh.tets).max() == 0
    assert mesh.report.min_dihedral > 10.7 and mesh.report.max_dihedral < 164.8


def test_pieces_are_islands_of_their_own() -> None:
    """Two balls whose lattice points are numbered across both become two islands of the solver, with the same tets."""
    vertices, faces = sphere(12)
    both = Surface(
        np.concatenate([vertices, vertices + [0.0, 3.0, 0.5]]), np.concatenate([faces, faces + len(vertices)])
    )
    mesh = tetrahedralize(both, Meshing(divisions=16), "balls")
    assert (signed_volumes(mesh.nodes, mesh.tets) > 0.0).all()
    model = make_model([Part("balls", mesh.nodes, mesh.tets, mesh.fill, Material())])
    assert model.pattern.island_count == 2
    assert mesh.report.volume == pytest.approx(2 * 4 / 3 * np.pi, rel=0.05)
    assert excess_component_count(both, mesh.tets) == 0


def test_a_dumbbell_with_a_thin_neck_falls_apart_and_that_is_told() -> None:
    """Two balls joined by a fin without thickness: in one piece as a surface, in two as tets."""
    vertices, faces = sphere(12)
    corners = [vertices[:, 1].argmax(), vertices[:, 1].argmin() + len(vertices)]
    places = np.concatenate([vertices, vertices + [0.0, 3.0, 0.0]])
    bridge = [[corners[0], corners[1], c] for c in (corners[0] - 1, corners[0] + 1)]
    dumbbell = Surface(places, np.concatenate([faces, faces + len(vertices), np.array(bridge, np.int32)]))
    mesh = tetrahedralize(dumbbell, Meshing(divisions=16), "dumbbell")
    assert excess_component_count(dumbbell, mesh.tets) == 2
