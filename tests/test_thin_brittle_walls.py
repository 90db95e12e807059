# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls of brittle bodies that are thinner than a tet bend as walls do, and not as the tets that they pass through."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.brittle_bodies import (
    GLASS,
    GLASS_DENSITY,
    GLASS_RATIO,
    ball_on,
    covered,
    disc_surface,
    surface_of_tets,
)
from sinew.solver.brittle.brittle_body import BrittleBody, brittle_body
from sinew.solver.brittle.cracked_mesh import whole_mesh
from sinew.solver.brittle.elastic_solid import ElasticSolid
from sinew.solver.brittle.element_tables import element_tables
from sinew.solver.brittle.hit import forces_on_piece
from sinew.solver.brittle.inertia_relief import PlacedForces
from sinew.solver.brittle.piece_stress import PieceStress, piece_mass, piece_stress
from sinew.solver.brittle.quadratic_mesh import quadratic_mesh
from sinew.solver.brittle.rigid_mass import rigid_mass_of_tets
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tetrahedralize.material_moments import FULL_SHARE, FULL_THIRD, full_tets, material_moments
from sinew.solver.runtime.arrays import Floats, Indices

RADIUS, THICKNESS, FORCE = 0.15, 0.008, 500.0
SLAB = surface_of_tets(*box_tets((1, 1, 1), (4.0, 4.0, 0.3)))


def cut_tets() -> tuple[Floats, Indices]:
    """Returns two tets that share a face, well within a slab's outline and higher than it is."""
    nodes = np.array([[1.0, 1.0, 0.1], [2.0, 1.1, 0.25], [1.4, 2.0, 0.15], [1.4, 1.4, 0.9], [1.5, 1.3, -0.5]])
    return nodes, np.array([[0, 1, 2, 3], [0, 2, 1, 4]], np.int32)


def test_moments_are_those_of_random_points_of_the_material() -> None:
    nodes, tets = cut_tets()
    found = material_moments(nodes, tets, np.full(2, 0.5), SLAB)
    weights = np.random.default_rng(2).dirichlet(np.ones(4), 400_000)
    for tet in range(2):
        z = weights @ nodes[tets[tet]][:, 2]
        inside = weights[(z > 0.0) & (z < 0.3)]
        third = np.einsum("sa,sb,sc->abc", inside, inside, inside, optimize=True) / len(inside)
        wanted = (1.0 - FULL_SHARE) * third + FULL_SHARE * FULL_THIRD
        assert np.abs(found.third[tet] - wanted).max() < 0.01
        assert found.second[tet] == pytest.approx(found.third[tet].sum(axis=2))
        assert found.first[tet].sum() == pytest.approx(1.0)
        # the material nearest to a corner outside is on the surface
        reached = found.nearest[tet] @ nodes[tets[tet]]
        is_outside = np.abs(nodes[tets[tet]][:, 2] - 0.15) > 0.15
        off = np.abs(np.abs(reached[is_outside, 2] - 0.15) - 0.15)
        assert off.max() < 0.01


def test_full_tets_have_the_moments_of_tets() -> None:
    weights = np.random.default_rng(3).dirichlet(np.ones(4), 400_000)
    full = full_tets(1)
    assert np.abs(np.einsum("sa,sb->ab", weights, weights) / len(weights) - full.second[0]).max() < 5e-4
    assert full.second[0] == pytest.approx((1.0 + np.eye(4)) / 20.0)
    assert full.first[0] == pytest.approx(np.full(4, 0.25))
    # what is full is not sampled
    nodes, tets = box_tets((1, 1, 1), (1.0, 1.0, 0.2))
    made = material_moments(nodes, tets, np.ones(len(tets)), SLAB)
    assert (made.third == full.third).all() and (made.nearest == np.eye(4)).all()


def test_forces_and_diagonal_of_cut_tets_are_those_of_their_matrix() -> None:
    nodes, tets = cut_tets()
    mesh = quadratic_mesh(nodes, tets)
    moments = material_moments(nodes, tets, np.full(2, 0.5), SLAB)
    solid = ElasticSolid(mesh, 3.0e10, 2.0e10, 2500.0, element_tables(nodes, tets, np.array([0.3, 0.5]), moments))
    K = solid.stiffness().toarray()
    u = np.random.default_rng(4).normal(size=mesh.nodes.shape)
    assert np.abs((K @ u.ravel()).reshape(-1, 3) - solid.forces(u)).max() < 1e-12 * np.abs(K).max()
    blocks = np.array([K[3 * n : 3 * n + 3, 3 * n : 3 * n + 3] for n in range(len(mesh.nodes))])
    assert np.abs(blocks - solid.diagonal_blocks()).max() < 1e-12 * np.abs(K).max()
    energy = solid.tet_energy(solid.corner_stress(u)).sum()
    assert energy == pytest.approx(0.5 * u.ravel() @ K @ u.ravel(), rel=1e-9)


def test_a_covered_box_has_the_inertia_of_the_box() -> None:
    size = np.array([0.2, 0.12, 0.012])
    surface = surface_of_tets(*box_tets((1, 1, 1), tuple(size)))
    mesh, moments = covered(surface, 0.05)
    body = brittle_body(mesh, GLASS, moments=moments)
    mass = piece_mass(whole_mesh(body), np.arange(len(mesh.tets), dtype=np.int32))
    own = GLASS_DENSITY * size.prod()
    assert mass.mass == pytest.approx(own, rel=0.05)  # tets with next to nothing in them have a least share
    assert mass.centre == pytest.approx(0.5 * size, abs=1e-3)
    square = size**2
    wanted = mass.mass / 12.0 * (square.sum() - square)
    assert np.diag(mass.inertia) == pytest.approx(wanted, rel=0.05)
    without = rigid_mass_of_tets(mesh.nodes, mesh.tets, body.tet_mass)
    assert np.abs(np.diag(without.inertia) / wanted - 1.0).max() > 0.05


def bent_plate(tet_size: float, has_moments: bool = True) -> tuple[BrittleBody, PieceStress]:
    """Returns a round plate of glass in tets of a size that its middle is pressed on, and its stress."""
    mesh, moments = covered(disc_surface(20, RADIUS, THICKNESS), tet_size)
    body = brittle_body(mesh, GLASS, moments=moments if has_moments else None)
    hit = ball_on(body, (0.0, 0.0, 0.5 * THICKNESS), (0.0, 0.0, -1.0), 1.0)
    tets = np.arange(len(mesh.tets), dtype=np.int32)
    forces = forces_on_piece(whole_mesh(body), tets, [hit])
    forces = PlacedForces(forces.tet, forces.weights, forces.force * FORCE / hit.impact.peak_force)
    return body, piece_stress(whole_mesh(body), tets, forces, 1e-6)


def share_of_plate_theory(tet_size: float, has_moments: bool = True) -> float:
    """Returns the largest principal stress of tets over that of plate theory at the lower face, the median of many."""
    body, found = bent_plate(tet_size, has_moments)
    corners = body.nodes[body.tets]
    centre = np.einsum("tc,tci->ti", body.moments.first, corners)
    r = np.hypot(centre[:, 0], centre[:, 1])
    at = (r > 0.3 * RADIUS) & (r < 0.6 * RADIUS) & body.is_stress_checked
    largest = found.nodal[0][:, 2][found.solid.mesh.tets[at, :4]].max(axis=1)
    # hoop stress of a plate on a rim that bears nothing (`test_static_impact_stress.py`)
    nu, log, load = GLASS_RATIO, np.log(RADIUS / r[at]), FORCE / (np.pi * RADIUS**2)
    moment = FORCE / (4 * np.pi) * ((1 + nu) * log + 1 - nu)
    moment -= load / 16 * (RADIUS**2 * (3 + nu) - r[at] ** 2 * (1 + 3 * nu))
    return float(np.median(largest / (6.0 * moment / THICKNESS**2)))


@pytest.mark.slow
def test_plates_thinner_than_tets_bend_as_plates_do() -> None:
    shares = {tet_size: share_of_plate_theory(tet_size) for tet_size in (0.03, 0.02)}
    assert shares[0.02] == pytest.approx(1.0, abs=0.1), shares
    assert shares[0.03] == pytest.approx(1.0, abs=0.15), shares
    # tets that are as stiff everywhere as they are full, for which the stress of their corners counted as it is
    assert share_of_plate_theory(0.02, has_moments=False) < 0.6
