# SPDX-License-Identifier: GPL-3.0-or-later
"""The static stress of a body that nothing holds: against another code, a dense solve, and the theory of plates."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.brittle_bodies import GLASS_DENSITY, GLASS_MODULUS, GLASS_RATIO, disc_tets, glass_solid
from sinew.solver.brittle import static_equilibrium
from sinew.solver.brittle.element_tables import shape_moments
from sinew.solver.brittle.inertia_relief import PlacedForces, balanced_load, shape_functions
from sinew.solver.brittle.quadratic_kernels import MIDDLES, multiply_blocks_into, prolong_into, restrict_into
from sinew.solver.brittle.static_equilibrium import equilibrium_solver, rigid_motions
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tetrahedralize.material_moments import full_tets

PUSH = PlacedForces(
    np.array([7, 40], np.int32),
    np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]),
    np.array([[300.0, -200.0, 900.0], [50.0, 500.0, -100.0]]),
)


def distorted_box() -> tuple[np.ndarray, np.ndarray]:
    nodes, tets = box_tets((3, 2, 2), (0.12, 0.07, 0.05))
    return nodes + 0.004 * np.random.default_rng(5).standard_normal(nodes.shape), tets


def stiffness_matrix(solid) -> np.ndarray:
    """Returns K column by column."""
    count = solid.mesh.nodes.size
    columns = [solid.forces(row.reshape(-1, 3)).ravel() for row in np.eye(count)]
    return np.array(columns)


def test_stiffness_is_that_of_an_independent_code() -> None:
    fem = pytest.importorskip("felupe")
    nodes, tets = distorted_box()
    solid, body = glass_solid(nodes, tets)
    mesh = solid.mesh
    theirs = fem.Mesh(mesh.nodes, mesh.tets[:, [0, 1, 2, 3, 4, 7, 5, 6, 8, 9]], "tetra10")
    field = fem.FieldContainer([fem.Field(fem.RegionQuadraticTetra(theirs), dim=3)])
    law = fem.LinearElastic(E=GLASS_MODULUS, nu=GLASS_RATIO)
    K = fem.SolidBody(law, field).assemble.matrix().toarray()
    own = stiffness_matrix(solid)
    assert np.abs(own - K).max() < 1e-7 * np.abs(K).max()  # their points of quadrature have eight digits

    # their stress of the same load, solved densely with six displacements held to none and the motions taken out
    load = balanced_load(solid, body, PUSH)
    Z = rigid_motions(mesh.nodes)
    u = np.linalg.lstsq(
        np.block([[K / GLASS_MODULUS, Z], [Z.T, np.zeros((6, 6))]]),
        np.append(load, np.zeros(6)) / GLASS_MODULUS,
        rcond=None,
    )[0]
    u = u[: load.size].reshape(-1, 3)
    found = equilibrium_solver(solid).solve(load, 1e-10)
    assert found.relative_residual <= 1e-10
    stored = solid.tet_energy(solid.corner_stress(found.displacements)).sum()
    assert stored == pytest.approx(0.5 * np.einsum("ni,ni->", load, found.displacements), rel=1e-8)
    assert np.abs(found.displacements - u).max() < 1e-6 * np.abs(u).max()
    field[0].values[:] = u
    stress = law.gradient([field.extract()[0]])[0]  # at their four points of quadrature
    mine = solid.corner_stress(found.displacements)
    means = stress.mean(axis=2)[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]].T
    assert np.abs(mine.mean(axis=1) - means).max() < 1e-6 * np.abs(means).max()


def test_linear_displacements_are_as_stiff_as_their_quadratic_ones() -> None:
    solid, _ = glass_solid(*distorted_box())
    P = np.kron(solid.mesh.prolongation().toarray(), np.eye(3))
    K = stiffness_matrix(solid)
    galerkin = P.T @ K @ P
    assert np.abs(galerkin - solid.corner_stiffness().toarray()).max() < 1e-9 * np.abs(galerkin).max()
    blocks = np.array([K[3 * n : 3 * n + 3, 3 * n : 3 * n + 3] for n in range(len(solid.mesh.nodes))])
    assert np.abs(blocks - solid.diagonal_blocks()).max() < 1e-9 * np.abs(blocks).max()


def test_an_even_strain_has_its_stress_everywhere() -> None:
    solid, _ = glass_solid(*distorted_box())
    gradient = 1e-4 * np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 0.7], [0.2, 0.1, 3.0]])
    stress = solid.corner_stress(solid.mesh.nodes @ gradient.T)
    strain = 0.5 * (gradient + gradient.T)
    wanted = 2.0 * solid.mu * strain + solid.lam * np.trace(strain) * np.eye(3)
    assert stress == pytest.approx(np.broadcast_to(wanted[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]], stress.shape))
    assert solid.nodal_stress(stress)[5] == pytest.approx(stress[0, 0])


def test_forces_are_in_balance_with_inertia() -> None:
    solid, body = glass_solid(*distorted_box())
    load = balanced_load(solid, body, PUSH, np.array([40.0, -10.0, 25.0]))
    moment = np.cross(solid.mesh.nodes, load).sum(axis=0)
    assert np.abs(load.sum(axis=0)).max() < 1e-9 * np.abs(PUSH.force).max()
    assert np.abs(moment).max() < 1e-10 * np.abs(PUSH.force).max()


def test_inertia_is_spread_as_quadrature_spreads_it() -> None:
    random = np.random.default_rng(1)
    # random points of a tet, many of them: shape functions times barycentric coordinates
    weights = random.dirichlet(np.ones(4), 400_000)
    moments = shape_functions(weights).T @ weights / len(weights)
    assert np.abs(moments - shape_moments(full_tets(1))[0]).max() < 3e-4


def test_a_spinning_rod_is_pulled_by_its_own_inertia() -> None:
    length, spin = 0.4, 200.0
    nodes, tets = box_tets((16, 2, 2), (length, 0.02, 0.02))
    solid, body = glass_solid(nodes, tets)
    still = PlacedForces(np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros((0, 3)))
    load = balanced_load(solid, body, still, np.array([0.0, 0.0, spin]))
    stress = solid.corner_stress(equilibrium_solver(solid).solve(load, 1e-8).displacements).mean(axis=1)[:, 0]
    x = nodes[tets].mean(axis=1)[:, 0] - 0.5 * length
    wanted = 0.5 * GLASS_DENSITY * spin**2 * (0.25 * length**2 - x * x)
    inner = np.abs(x) < 0.45 * length
    means = [stress[inner & (np.abs(x - at) < 0.02)].mean() for at in (-0.1, 0.0, 0.1)]
    theirs = [wanted[inner & (np.abs(x - at) < 0.02)].mean() for at in (-0.1, 0.0, 0.1)]
    assert means == pytest.approx(theirs, rel=0.02)


def test_stress_at_corners_is_that_of_its_formula() -> None:
    solid, _ = glass_solid(*distorted_box())
    mesh, u = solid.mesh, np.random.default_rng(6).standard_normal(solid.mesh.nodes.shape)
    found = solid.corner_stress(u)
    for tet in range(0, len(mesh.tets), 7):
        own, g = u[mesh.tets[tet]], mesh.gradients[tet]
        mean = own[:4].T @ g
        for i in range(4):
            at = [i if j == i else int(MIDDLES[i, j]) for j in range(4)]
            H = 4.0 * own[at].T @ g - mean
            strain = 0.5 * (H + H.T)
            wanted = 2.0 * solid.mu * strain + solid.lam * np.trace(strain) * np.eye(3)
            assert found[tet, i] == pytest.approx(wanted[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]], rel=1e-9)


def test_kernels_take_fields_to_corners_and_back() -> None:
    solid, _ = glass_solid(*distorted_box())
    mesh, random = solid.mesh, np.random.default_rng(7)
    P = np.kron(mesh.prolongation().toarray(), np.eye(3))
    f, u = random.standard_normal(mesh.nodes.size), random.standard_normal(3 * mesh.corner_count)
    on_corners, everywhere = np.empty_like(u), np.empty_like(f)
    restrict_into(mesh.ends, f, on_corners)
    prolong_into(mesh.ends, u, everywhere)
    assert np.abs(on_corners - P.T @ f).max() < 1e-13 and np.abs(everywhere - P @ u).max() < 1e-13
    blocks, product = random.standard_normal((len(mesh.nodes), 3, 3)), np.empty_like(f)
    multiply_blocks_into(blocks, f, product)
    assert np.abs(product - np.einsum("nij,nj->ni", blocks, f.reshape(-1, 3)).ravel()).max() < 1e-13


def test_energy_is_right_to_second_order() -> None:
    """An early end of a solve leaves as much less than it should be as the residual would store."""
    solid, body = glass_solid(*distorted_box())
    solver, load = equilibrium_solver(solid), balanced_load(solid, body, PUSH)
    exact = solver.solve(load, 1e-12)
    other = 1e-7 * np.random.default_rng(9).standard_normal(load.shape)
    early = solver.solve(load, 5e-2, exact.displacements + other)
    assert early.iterations
    assert exact.energy == pytest.approx(0.5 * float(np.sum(load * exact.displacements)), rel=1e-9)
    plain = 0.5 * float(np.sum(load * early.displacements))
    assert 0.0 < exact.energy - early.energy < 0.2 * abs(exact.energy - plain)


def test_a_warm_start_and_a_cold_one_end_at_the_same_place() -> None:
    solid, body = glass_solid(*distorted_box())
    solver, load = equilibrium_solver(solid), balanced_load(solid, body, PUSH)
    cold = solver.solve(load, 1e-10)
    warm = solver.solve(load, 1e-10, cold.displacements)
    assert warm.iterations <= 1 < cold.iterations
    assert solver.solve(np.zeros_like(load), 1e-10).displacements == pytest.approx(np.zeros_like(load))


def bending_error(rings: int, layers: int) -> tuple[float, int]:
    """Returns how far the stress of a round plate hit in its middle is off that of plate theory, and the iterations."""
    radius, thickness, force = 0.15, 0.008, 500.0
    nodes, tets = disc_tets(rings, radius, thickness, layers)
    solid, body = glass_solid(nodes, tets)
    corner = int(np.argmin(np.linalg.norm(nodes - [0.0, 0.0, 0.5 * thickness], axis=1)))
    tet, which = (int(each[0]) for each in np.nonzero(tets == corner))
    hit = PlacedForces(np.array([tet], np.int32), np.eye(4)[[which]], np.array([[0.0, 0.0, -force]]))
    found = equilibrium_solver(solid).solve(balanced_load(solid, body, hit), 1e-8)
    stress = solid.nodal_stress(solid.corner_stress(found.displacements))
    r = np.hypot(nodes[:, 0], nodes[:, 1])
    at = (nodes[:, 2] < -0.49 * thickness) & (r > 0.3 * radius) & (r < 0.6 * radius)
    x, y = nodes[at, 0] / r[at], nodes[at, 1] / r[at]
    xx, yy, xy = stress[at][:, [0, 1, 3]].T
    radial, hoop = x * x * xx + y * y * yy + 2 * x * y * xy, y * y * xx + x * x * yy - 2 * x * y * xy
    # a free plate that its inertia holds is one on a rim that bears nothing: Timoshenko's two cases, one less the other
    nu, q, log = GLASS_RATIO, force / (np.pi * radius**2), np.log(radius / r[at])
    a2, r2 = radius**2, r[at] ** 2
    M_r = force / (4 * np.pi) * (1 + nu) * log - q / 16 * (3 + nu) * (a2 - r2)
    M_t = force / (4 * np.pi) * ((1 + nu) * log + 1 - nu) - q / 16 * (a2 * (3 + nu) - r2 * (1 + 3 * nu))
    scale = 6.0 / thickness**2
    size = np.abs(scale * M_t).max()
    off = np.concatenate([radial - scale * M_r, hoop - scale * M_t]) / size
    return float(np.sqrt(np.mean(off**2))), found.iterations


@pytest.mark.slow
def test_a_plate_of_two_layers_bends_as_plates_do() -> None:
    off, iterations = bending_error(10, 2)
    assert off < 0.05
    assert iterations < 200


def test_a_free_beam_hit_in_its_middle_has_the_moment_of_its_inertia() -> None:
    length, width, force = 0.4, 0.02, 800.0
    nodes, tets = box_tets((24, 2, 2), (length, width, width))
    solid, body = glass_solid(nodes, tets)
    corner = int(np.argmin(np.linalg.norm(nodes - [0.5 * length, 0.5 * width, width], axis=1)))
    tet, which = (int(each[0]) for each in np.nonzero(tets == corner))
    hit = PlacedForces(np.array([tet], np.int32), np.eye(4)[[which]], np.array([[0.0, 0.0, -force]]))
    found = equilibrium_solver(solid).solve(balanced_load(solid, body, hit), 1e-8)
    stress = solid.nodal_stress(solid.corner_stress(found.displacements))[:, 0]
    x = nodes[:, 0]
    for share in (0.125, 0.25, 0.375):
        at = (np.abs(x - share * length) < 1e-9) & (nodes[:, 2] < 1e-9)
        moment = 0.5 * force / length * (share * length) ** 2
        assert stress[at].mean() == pytest.approx(6.0 * moment / width**3, rel=0.05)


def test_the_matrix_of_a_solid_has_the_forces_that_kernels_find() -> None:
    solid, _ = glass_solid(*disc_tets(3, 0.15, 0.008))
    u = np.random.default_rng(2).normal(size=solid.mesh.nodes.shape)
    wanted = solid.forces(u)
    assert np.abs((solid.stiffness() @ u.ravel()).reshape(-1, 3) - wanted).max() < 1e-13 * np.abs(wanted).max()


def test_a_solve_that_does_not_get_there_soon_factors_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    solid, body = glass_solid(*disc_tets(3, 0.15, 0.008))
    hit = PlacedForces(np.array([0], np.int32), np.eye(4)[[0]], np.array([[0.0, 0.0, -500.0]]))
    load = balanced_load(solid, body, hit)
    wanted = equilibrium_solver(solid).solve(load, 1e-10)
    monkeypatch.setattr(static_equilibrium, "FACTOR_AFTER", 2)
    found = equilibrium_solver(solid).solve(load, 1e-10)
    assert found.iterations < 8 < wanted.iterations and found.relative_residual < 1e-10
    assert np.abs(found.displacements - wanted.displacements).max() < 1e-8 * np.abs(wanted.displacements).max()
