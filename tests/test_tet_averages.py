# SPDX-License-Identifier: GPL-3.0-or-later
"""Tendon, fascia and ends of a fine muscle are carried over to coarse tets by volume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sinew.solver.mesh import shapes
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.tet_averages import are_inside, sample_tets
from sinew.solver.mesh.tet_mesh import MeshReport, TetMesh
from sinew.solver.scene.fibres import Fibres, TendonMesh
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.muscle import Muscle
from sinew.solver.scene.scene import Body
from sinew.solver.simulation.features.muscles import Muscles
from test_muscle_scene import LONG, MATERIAL, WIDE, run_of

SIZE = np.array([LONG, WIDE, WIDE])
FINE = 0.005  # of the surface: ten quads across
VOLUME = LONG * WIDE * WIDE


def bar_surface():
    """Returns the surface of a bar with quads of the size `FINE`, as triangles, from (0, 0, 0) to `SIZE`."""
    cells = tuple(int(round(n)) for n in SIZE / FINE)
    tets = shapes.box_tets(cells, tuple(SIZE))
    body = shapes.body_of_tets(*tets)
    return body.vertices - body.vertices.min(axis=0), body.triangles


def muscle_of(tet_size: float, fibres: Fibres | None = None, **settings) -> Body:
    """Returns a bar with fibres along x in a lattice of coarse tets that does not follow its surface."""
    vertices, triangles = bar_surface()
    x = vertices[:, 0]
    origin, insertion = (x < 1e-6).astype(float), (x > LONG - 1e-6).astype(float)
    pinned = np.flatnonzero(origin).astype(np.int32)
    muscle = Muscle(origin=origin, insertion=insertion, fibres=fibres or Fibres(), **settings)
    return Body(
        key="muscle",
        name="Biceps",
        vertices=vertices,
        triangles=triangles,
        meshing=Meshing("robust", tet_size=tet_size),
        material=MATERIAL,
        flesh=Flesh("quasistatic"),
        pinned=pinned,
        pin_weights=np.ones(len(pinned)),
        muscle=muscle,
    )


def built(folder, body: Body):
    """Returns the arrays of the muscle and the volume of each tet that is inside the surface [m³], (m,)."""
    run = run_of(folder, body)
    mesh = run.built.bodies[0].mesh
    corners = mesh.nodes[mesh.tets]
    # many points of its own, so that the shares are not measured with their own quadrature
    weights = np.random.default_rng(5).dirichlet(np.ones(4), 400)
    points = np.einsum("qa,kai->kqi", weights, corners)
    inside = ((points > 0.0) & (points < SIZE)).all(axis=2).mean(axis=1)
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    feature = next(each for each in run.built.features if isinstance(each, Muscles))
    return feature.arrays, inside * volumes


COARSE, MEDIUM = WIDE / 1.5, WIDE / 4.0
SIZES = [COARSE, pytest.param(MEDIUM, marks=pytest.mark.slow)]


@pytest.mark.parametrize("tet_size", [*SIZES, WIDE / 2.0])
def test_tendon_by_length_has_its_volume(tmp_path, tet_size):
    arrays, volume = built(tmp_path, muscle_of(tet_size, origin_tendon=0.043, insertion_tendon=0.021))
    assert volume.sum() == pytest.approx(VOLUME, rel=0.02)
    assert (arrays.tendon * volume).sum() == pytest.approx(0.064 * WIDE * WIDE, rel=0.02)


@pytest.mark.parametrize("tet_size", SIZES)
def test_a_sheet_of_tendon_thinner_than_a_tet_has_its_volume(tmp_path, tet_size):
    vertices, triangles = shapes.box(size=(0.6 * LONG, 0.17 * WIDE, 0.8 * WIDE))
    middle = vertices - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)) + 0.5 * SIZE
    fibres = Fibres(tendon_mesh=TendonMesh(middle, triangles, "Sheet"))
    arrays, volume = built(tmp_path, muscle_of(tet_size, fibres))
    assert (arrays.tendon * volume).sum() == pytest.approx(0.6 * 0.17 * 0.8 * VOLUME, rel=0.05)
    assert 0 < ((arrays.tendon > 0.0) & (arrays.tendon < 1.0)).sum()


@pytest.mark.slow
@pytest.mark.parametrize("tet_size", SIZES)
def test_painted_tendon_has_the_volume_of_its_depth(tmp_path, tet_size):
    depth = 0.2 * WIDE
    fibres = Fibres(tendon_paint=np.ones(len(bar_surface()[0])), tendon_depth=depth)
    arrays, volume = built(tmp_path, muscle_of(tet_size, fibres))
    assert (arrays.tendon * volume).sum() == pytest.approx(VOLUME - np.prod(SIZE - 2.0 * depth), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("tet_size", SIZES)
def test_fascia_is_measured_from_the_surface_not_from_the_tets(tmp_path, tet_size):
    depth, stiffness = 0.25 * WIDE, 1.0e5
    body = muscle_of(tet_size, fascia_stiffness=stiffness, fascia_depth=depth)
    arrays, volume = built(tmp_path, body)
    # ∫ (1 − d / depth) over the layer, shell by shell
    edges = np.linspace(0.0, depth, 1001)
    within = np.prod(SIZE[:, None] - 2.0 * edges, axis=0)
    wanted = (-np.diff(within) * (1.0 - 0.5 * (edges[1:] + edges[:-1]) / depth)).sum()
    assert (arrays.fascia * volume).sum() / stiffness == pytest.approx(wanted, rel=0.05)


@pytest.mark.slow
def test_ends_begin_at_the_surface_of_the_muscle(tmp_path):
    """The tendon of a whole tet's length ends where it says, though both its end nodes and their tets reach further."""
    for shift in (0.0, 0.3, 0.6):
        length = COARSE * (1.2 + shift)
        arrays, volume = built(tmp_path / f"{shift}", muscle_of(COARSE, origin_tendon=length))
        assert (arrays.tendon * volume).sum() == pytest.approx(length * WIDE * WIDE, rel=0.03)


def test_averages_of_what_is_linear_are_those_at_centroids_and_what_is_inside_counts():
    rng = np.random.default_rng(3)
    vertices, triangles = shapes.sphere(1.0, 12)
    nodes, tets = shapes.box_tets((5, 5, 5), (2.4, 2.4, 2.4))
    nodes = nodes - nodes.mean(axis=0)
    mesh = TetMesh(nodes, tets, np.ones(len(tets)), MeshReport(0.48, 30.0, 120.0, 1.0, 1.0))
    surface = build_bvh(vertices, triangles)
    samples = sample_tets(mesh, surface)
    linear = nodes @ rng.normal(size=3) + 0.3
    everywhere = replace(samples, counts=np.ones_like(samples.counts))
    assert everywhere.average(everywhere.at_points(linear)) == pytest.approx(
        linear[tets].mean(axis=1), abs=0.005 * np.ptp(linear)
    )
    corners = nodes[tets]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    one_by_one, every_tet = are_inside(surface, samples.at_points(nodes)), np.arange(len(tets), dtype=np.int64)
    assert np.array_equal(samples.are_inside(surface, every_tet), one_by_one)
    flipped = build_bvh(vertices, triangles[:, ::-1])
    assert np.array_equal(samples.are_inside(flipped, every_tet), one_by_one)
    is_some = one_by_one.any(axis=1)
    inside = (samples.inside_share() * volumes)[is_some].sum()
    facets = vertices[triangles]
    enclosed = np.abs(np.einsum("ti,ti->t", facets[:, 0], np.cross(facets[:, 1], facets[:, 2])).sum()) / 6.0
    assert inside == pytest.approx(enclosed, rel=0.01)
    assert (np.linalg.norm(nodes[tets[samples.is_whole]], axis=2) < 1.0).all(axis=1).any()
