# SPDX-License-Identifier: GPL-3.0-or-later
"""Barriers and the contact potential: derivatives by differences, semidefinite Hessians, the IPC Toolkit's barriers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import torus
from reference.closest_features import differences
from sinew.solver.contact.exact.barriers import CUBIC, LOGARITHMIC, TWO_STAGE, barrier
from sinew.solver.contact.exact.closest_features import (
    allocate_closest_points,
    closest_of_edges,
    closest_on_triangle_to_point,
    edges_parameter_count,
    triangle_parameter_count,
)
from sinew.solver.contact.exact.conservative_advancement import EDGE_EDGE, POINT_TRIANGLE
from sinew.solver.contact.exact.contact_mesh import close_pairs, make_contact_mesh
from sinew.solver.contact.exact.contact_potential import (
    LEAST_GAP_SHARE,
    ContactBarrier,
    PairDerivatives,
    PairStencils,
    contact_energy,
    fill_contact_derivatives,
    pair_stencils,
)
from sinew.solver.contact.exact.edge_edge_mollifier import edge_cross_squared
from sinew.solver.contact.exact.squared_distance import (
    fill_distance_gradient,
    fill_distance_hessian,
    squared_distance,
)
from sinew.solver.linalg.semidefinite_projection import project_semidefinite

BARRIERS = {"logarithmic": LOGARITHMIC, "cubic": CUBIC, "two-stage": TWO_STAGE}


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_are_smooth_and_convex_and_push(name) -> None:
    kind, step = BARRIERS[name], 1e-6
    for s in (0.01, 0.1, 0.3, 0.4999, 0.5001, 0.8, 0.999):
        _, slope, curvature = barrier(kind, s)
        above, below = barrier(kind, s + step), barrier(kind, s - step)
        assert (above[0] - below[0]) / (2.0 * step) == pytest.approx(slope, rel=1e-5, abs=1e-9)
        assert (above[1] - below[1]) / (2.0 * step) == pytest.approx(curvature, rel=1e-5, abs=1e-7)
        assert slope < 0.0 < curvature
    assert barrier(kind, 1.0) == (0.0, 0.0, 0.0) == barrier(kind, 2.0)
    assert np.abs(barrier(kind, 1.0 - 1e-9)[:2]).max() < 1e-8


def test_barriers_are_those_of_the_ipc_toolkit() -> None:
    ipctk = pytest.importorskip("ipctk")
    gap = 0.1
    theirs = {LOGARITHMIC: ipctk.ClampedLogBarrier(), CUBIC: ipctk.CubicBarrier(), TWO_STAGE: ipctk.TwoStageBarrier()}
    for kind, reference in theirs.items():
        ratios = [barrier(kind, d / gap)[1] / reference.first_derivative(d, gap) for d in np.linspace(0.01, 0.09, 9)]
        assert np.ptp(ratios) < 1e-9 * abs(ratios[0]) and ratios[0] > 0.0  # the same but for a factor


def test_negative_eigenvalues_are_dropped() -> None:
    rng, room = np.random.default_rng(1), np.empty((12, 12))
    for rank in (1, 3, 12):
        for _ in range(10):
            half = rng.normal(size=(12, rank)) * 10.0 ** rng.uniform(-3, 3, rank)
            matrix = (half * rng.choice([1.0, -1.0], rank)) @ half.T
            values, vectors = np.linalg.eigh(matrix)
            wanted = (vectors * np.maximum(values, 0.0)) @ vectors.T
            project_semidefinite(matrix, room)
            assert np.abs(matrix - wanted).max() < 1e-12 * np.abs(values).max()


def full_hessian(kind, x, how):
    """Returns the Hessian of the energy of a pair without a mollifier, (12, 12), and its gradient, (12,)."""
    closest, gradient, hessian = allocate_closest_points(), np.empty(12), np.empty((12, 12))
    if kind == POINT_TRIANGLE:
        parameters = triangle_parameter_count(closest_on_triangle_to_point(x, closest))
    else:
        parameters = edges_parameter_count(closest_of_edges(x, closest))
    fill_distance_gradient(x, closest, gradient)
    fill_distance_hessian(x, closest, parameters, hessian)
    d = np.sqrt(squared_distance(x, closest))
    _, slope, curvature = barrier(how.kind, d / how.gap)
    slope, curvature = how.stiffness * slope, how.stiffness / how.gap * curvature
    outer = np.outer(gradient, gradient)
    return slope / (2 * d) * hessian + (curvature - slope / d) / (4 * d * d) * outer, slope / (2 * d) * gradient


def derivatives(kind, x, how, threshold=0.0, start=np.inf, thickness=0.0):
    vertices, started, thick = np.arange(4, dtype=np.int32)[None], np.full(1, start), np.full(1, thickness)
    pairs = PairStencils(kind, vertices, np.ones(1), np.array([threshold]), started, thick)
    out = PairDerivatives(np.empty(1), np.empty((1, 12)), np.empty((1, 12, 12)))
    fill_contact_derivatives(pairs, x, how, out)
    assert out.energy[0] == pytest.approx(contact_energy(pairs, x, how))
    return out.energy[0], out.gradient[0].copy(), out.hessian[0].copy()


@pytest.mark.parametrize("kind", [POINT_TRIANGLE, EDGE_EDGE])
@pytest.mark.parametrize("name", BARRIERS)
def test_derivatives_of_a_pair(kind, name) -> None:
    rng, how, excess = np.random.default_rng(4), ContactBarrier(BARRIERS[name], 2.0, 30.0), []
    for _ in range(60):
        x = rng.uniform(-0.5, 0.5, (4, 3))
        _, gradient, hessian = derivatives(kind, x, how)
        numeric = differences(lambda y: derivatives(kind, y, how)[0], x, 1e-6)
        assert np.abs(numeric - gradient).max() < 1e-6 * np.abs(gradient).max()
        full, again = full_hessian(kind, x, how)
        assert np.abs(gradient - again).max() < 1e-12 * np.abs(gradient).max()
        scale = np.abs(np.linalg.eigvalsh(full)).max()
        assert np.linalg.eigvalsh(hessian).min() > -1e-9 * scale
        assert np.linalg.eigvalsh(hessian - full).min() > -1e-9 * scale
        values, vectors = np.linalg.eigh(full)
        nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
        excess.append(np.linalg.norm(hessian - nearest) / np.linalg.norm(full))
        moves = [np.tile(axis, 4) for axis in np.eye(3)]
        assert max(np.abs(hessian @ move).max() for move in moves) < 1e-9 * scale  # nothing resists moving all
    assert np.median(excess) < 0.1, excess  # not the nearest semidefinite matrix, but close to it


@pytest.mark.parametrize("name", BARRIERS)
def test_derivatives_of_nearly_parallel_edges(name) -> None:
    rng, how, mollified = np.random.default_rng(5), ContactBarrier(BARRIERS[name], 2.0, 30.0), 0
    for _ in range(40):
        x = rng.uniform(-1.0, 1.0, (4, 3))
        x[3] = x[2] + 0.7 * (x[1] - x[0]) + 0.05 * rng.normal(size=3)
        threshold = 1e-2 * ((x[1] - x[0]) ** 2).sum() * ((x[3] - x[2]) ** 2).sum()
        mollified += edge_cross_squared(x) < threshold
        energy, gradient, hessian = derivatives(EDGE_EDGE, x, how, threshold)
        numeric = differences(lambda y, e=threshold: derivatives(EDGE_EDGE, y, how, e)[0], x, 1e-6)
        scale = np.abs(gradient).max()
        assert np.abs(numeric - gradient).max() < 1e-5 * max(scale, energy)
        assert np.linalg.eigvalsh(hessian).min() > -1e-9 * np.abs(hessian).max()
        feature = closest_of_edges(x, allocate_closest_points())
        around = {closest_of_edges(x + 1e-3 * move, allocate_closest_points()) for move in rng.normal(size=(20, 4, 3))}
        if around != {feature} or edge_cross_squared(x) > 0.9 * threshold:
            continue
        full = differences(lambda y, e=threshold: derivatives(EDGE_EDGE, y, how, e)[1], x, 1e-6)
        values, vectors = np.linalg.eigh(0.5 * (full + full.T))
        nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
        assert np.abs(hessian - nearest).max() < 1e-4 * np.abs(values).max()
    assert mollified > 10


@pytest.mark.parametrize("kind", [POINT_TRIANGLE, EDGE_EDGE])
def test_layers_count_from_their_distance_at_the_start(kind) -> None:
    rng, how = np.random.default_rng(6), ContactBarrier(LOGARITHMIC, 2.0, 30.0)
    for _ in range(20):
        x = rng.uniform(-0.5, 0.5, (4, 3))
        closest = allocate_closest_points()
        (closest_on_triangle_to_point if kind == POINT_TRIANGLE else closest_of_edges)(x, closest)
        d = np.sqrt(squared_distance(x, closest))
        if d > LEAST_GAP_SHARE * how.gap:
            assert derivatives(kind, x, how, start=d * (1.0 - 1e-9))[0] == 0.0 < derivatives(kind, x, how)[0]
        nearer = ContactBarrier(how.kind, 1.2 * d, how.stiffness)
        if nearer.gap < LEAST_GAP_SHARE * how.gap:  # what touches has a gap, too
            assert derivatives(kind, x, how, start=0.0)[0] > 0.0
            continue
        for one, other in zip(derivatives(kind, x, how, start=1.2 * d), derivatives(kind, x, nearer), strict=True):
            np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("kind", [POINT_TRIANGLE, EDGE_EDGE])
def test_surfaces_with_a_thickness_count_from_it(kind) -> None:
    rng, how = np.random.default_rng(7), ContactBarrier(LOGARITHMIC, 0.4, 30.0)
    for _ in range(40):
        x = rng.uniform(-0.5, 0.5, (4, 3))
        closest = allocate_closest_points()
        (closest_on_triangle_to_point if kind == POINT_TRIANGLE else closest_of_edges)(x, closest)
        d = np.sqrt(squared_distance(x, closest))
        beyond, threshold = min(0.5 * d, 0.3), 0.0 if kind == POINT_TRIANGLE else 1.0  # all edges are mollified
        thickness = d - beyond
        energy, gradient, hessian = derivatives(kind, x, how, threshold, thickness=thickness)
        numeric = differences(lambda y: derivatives(kind, y, how, threshold, thickness=thickness)[0], x, 1e-7)  # noqa: B023
        np.testing.assert_allclose(numeric, gradient, atol=1e-5 * np.abs(gradient).max())
        assert np.linalg.eigvalsh(hessian).min() > -1e-9 * np.abs(hessian).max()
        if threshold == 0.0:
            assert energy == pytest.approx(how.stiffness * how.gap * barrier(how.kind, beyond / how.gap)[0])
        assert derivatives(kind, x, how, threshold, thickness=d - 0.5)[0] == 0.0  # farther beyond it than the gap


def test_areas_and_energy_of_two_surfaces() -> None:
    vertices, triangles = torus(16, 10)
    x = np.concatenate([vertices, vertices + [0.0, 0.0, 0.62]])
    mesh = make_contact_mesh(
        x,
        np.concatenate([triangles, triangles + len(vertices)]).astype(np.int32),
        np.repeat([0, 1], len(vertices)).astype(np.int32),
        np.array([[False, True], [True, False]]),
    )
    mesh = replace(mesh, start=np.where(np.arange(len(x))[:, None] < len(vertices), 0.0, 9.0) + x)
    how = ContactBarrier(LOGARITHMIC, 0.1, 1e4)
    groups = pair_stencils(mesh, close_pairs(mesh, x, x, how.gap))
    corners = x[mesh.triangles]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    for group in groups:
        assert len(group.area) > 10
        for row in (0, -1):
            sides = [group.vertices[row, :1]] if group.kind == POINT_TRIANGLE else np.split(group.vertices[row], 2)
            around = [areas[[set(side) <= set(t) for t in mesh.triangles.tolist()]].sum() / 3.0 for side in sides]
            assert group.area[row] == pytest.approx(min(around))
        assert contact_energy(group, x, how) > 0.0
        assert contact_energy(group, x + np.where(np.arange(len(x))[:, None] < len(vertices), 0, 0.5), how) == 0.0
        touching = x.copy()
        touching[group.vertices[0]] = 0.0
        assert contact_energy(group, touching, how) == np.inf
