# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction of Exact contact: its potential, what sticks stays, and what slides does so by Coulomb's law."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.exact_contact_scenes import ExactRun, plate
from fixtures.tet_meshes import bar
from reference.closest_features import differences
from sinew.solver.contact.exact.barriers import LOGARITHMIC
from sinew.solver.contact.exact.conservative_advancement import EDGE_EDGE, POINT_TRIANGLE
from sinew.solver.contact.exact.contact_potential import (
    ContactBarrier,
    PairDerivatives,
    PairStencils,
    fill_contact_derivatives,
)
from sinew.solver.contact.exact.friction import (
    FrictionPairs,
    RememberedShear,
    fill_friction_derivatives,
    friction_energy,
    friction_pairs,
    remember_shear,
)

COEFFICIENT = 0.5
CONE = float(np.degrees(np.arctan(COEFFICIENT)))


def rubbing_pair(rng, limit):
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    shear = rng.normal(size=3)
    shear -= (shear @ normal) * normal
    weights = np.array([[1.0, -0.2, -0.5, -0.3]])
    vertices = np.arange(4, dtype=np.int32)[None]
    return FrictionPairs(vertices, weights, normal[None], np.array([limit]), np.array([3.0]), shear[None])


@pytest.mark.parametrize("limit", [1e6, 0.1])
def test_derivatives_of_friction_that_sticks_and_slides(limit) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        pairs, motion = rubbing_pair(rng, limit), rng.normal(size=(4, 3))
        gradient, hessian = np.empty((1, 12)), np.empty((1, 12, 12))

        def slope(u, pairs=pairs):
            part, other = np.empty((1, 12)), np.empty((1, 12, 12))
            fill_friction_derivatives(pairs, u, False, part, other)
            return part[0]

        fill_friction_derivatives(pairs, motion, False, gradient, hessian)
        numeric = differences(lambda u, pairs=pairs: friction_energy(pairs, u), motion, 1e-6)
        assert np.abs(numeric - gradient[0]).max() < 1e-7 * max(1.0, np.abs(gradient).max())
        assert np.abs(differences(slope, motion, 1e-6) - hessian[0]).max() < 1e-6 * np.abs(hessian).max()
        assert np.linalg.eigvalsh(hessian[0]).min() > -1e-12
        if limit < 1.0:
            assert np.linalg.norm(gradient[0, :3]) == pytest.approx(limit)  # all of the cone


def test_the_secant_hessian_bounds_friction_from_above() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        pairs, motion = rubbing_pair(rng, 0.1), rng.normal(size=(4, 3))
        gradient, hessian = np.empty((1, 12)), np.empty((1, 12, 12))
        fill_friction_derivatives(pairs, motion, True, gradient, hessian)
        d = 3.0 * rng.normal(size=12)
        bound = friction_energy(pairs, motion) + gradient[0] @ d + 0.5 * d @ hessian[0] @ d
        assert friction_energy(pairs, motion + d.reshape(4, 3)) <= bound + 1e-12


def test_normal_forces_are_those_of_the_contact_potential() -> None:
    rng, how = np.random.default_rng(2), ContactBarrier(LOGARITHMIC, 2.0, 30.0)
    surface, coefficients = np.array([0, 0, 0, 1], np.int32), np.array([[0.1, 0.4], [0.4, 0.2]])
    for kind in (POINT_TRIANGLE, EDGE_EDGE):
        for _ in range(10):
            x = rng.uniform(-0.5, 0.5, (4, 3))
            vertices, thickness = np.arange(4, dtype=np.int32)[None], np.array([0.01])
            pairs = PairStencils(kind, vertices, np.array([0.7]), np.zeros(1), np.full(1, np.inf), thickness)
            out = PairDerivatives(np.empty(1), np.empty((1, 12)), np.empty((1, 12, 12)))
            fill_contact_derivatives(pairs, x, how, out)
            found = friction_pairs((pairs,), x, how, coefficients, surface, RememberedShear())
            force = found.limit[0] / 0.4
            pushed = -force * found.weights[0][:, None] * found.normal[0]
            np.testing.assert_allclose(pushed.ravel(), out.gradient[0], atol=1e-9 * force)


def test_pairs_remember_their_shear_and_new_ones_have_none() -> None:
    rng = np.random.default_rng(3)
    pairs = rubbing_pair(rng, 0.3)
    vertices = np.array([[4, 1, 2, 3], [0, 7, 2, 3], [0, 1, 9, 3]], np.int32)
    many = FrictionPairs(vertices, *(np.repeat(np.asarray(each), 3, axis=0) for each in pairs[1:]))
    remembered = remember_shear(many, rng.normal(size=(10, 3)))
    asked = np.array([[0, 7, 2, 3], [0, 7, 3, 2], [4, 1, 2, 3]], np.int32)
    shear = remembered.of(asked)
    assert not shear[1].any() and shear[0].any() and shear[2].any()
    assert np.linalg.norm(shear, axis=1).max() <= 0.3 / 3.0 * (1.0 + 1e-12)
    assert np.abs(shear @ pairs.normal[0]).max() < 1e-12
    assert not RememberedShear().of(asked).any()


def slope_run(degrees, cells=2):
    """Returns a block just above a plate in gravity that is turned instead of the plate."""
    angle = np.radians(degrees)
    gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    nodes, tets = bar((cells,) * 3, (0.2,) * 3)
    return ExactRun([(nodes - [0.1, 0.1, -8e-4], tets)], [plate()], friction=COEFFICIENT, gravity=gravity)


def mean_x(run):
    return float(run.state.x[:, 0].mean())


@pytest.mark.parametrize("degrees", [CONE - 0.2, CONE + 0.2])
def test_the_angle_of_a_slope_is_told_apart_within_a_fifth_of_a_degree(degrees, reach) -> None:
    run, dt, x = slope_run(degrees), 0.02, []
    for _ in range(100):
        assert run.step(dt).converged
        x.append(mean_x(run))
    speeds = np.diff(x) / dt
    if degrees < CONE:  # it comes to rest, but for what is left of the landing
        assert abs(speeds[-1]) < 1e-4 < speeds.max()
    else:
        assert speeds[-1] > speeds[-20] > 0.0
        acceleration = (speeds[-1] - speeds[-41]) / (40 * dt)
        wanted = 9.81 * (np.sin(np.radians(degrees)) - COEFFICIENT * np.cos(np.radians(degrees)))
        per_degree = np.radians(9.81 * (np.cos(np.radians(CONE)) + COEFFICIENT * np.sin(np.radians(CONE))))
        off = abs(acceleration - wanted) / per_degree
        reach("Contact", "exact: angle of the slope on which a block slides", f"{off:.3f}°", "0.2°", off <= 0.2)
    assert run.intersections == 0


@pytest.mark.slow
def test_at_half_of_the_cone_nothing_creeps_for_ten_seconds(reach) -> None:
    run = slope_run(np.degrees(np.arctan(COEFFICIENT / 2)), cells=1)
    for _ in range(100):  # two seconds to settle
        run.step(0.02)
    before = run.state.x.copy()
    for _ in range(500):
        run.step(0.02)
    crept = np.abs(run.state.x - before).max()
    reach("Contact", "exact: creep in 10 s at half of the cone", f"{crept:.1e} m", "1e-6 m", crept <= 1e-6)
    assert run.intersections == 0
