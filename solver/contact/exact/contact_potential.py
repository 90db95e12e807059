# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact energy of all close pairs, its gradient, and semidefinite Hessians pair by pair.

A pair at a distance d below the gap has the energy m A κ gap β(d / gap): A is its area, β a barrier (`barriers.py`),
and m fades parallel edges (`edge_edge_mollifier.py`; 1 for points and triangles). What was closer where the simulation
begins, as layers are, is pushed only if it comes closer than that: its gap is its distance there. Where surfaces have a
thickness, d is the distance beyond it (`pair_thickness.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...linalg.semidefinite_projection import project_semidefinite
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .barriers import barrier
from .closest_features import (
    ClosestPoints,
    closest_of_edges,
    closest_on_triangle_to_point,
    edges_parameter_count,
    triangle_parameter_count,
)
from .conservative_advancement import EDGE_EDGE, POINT_TRIANGLE
from .contact_mesh import ClosePairs, ContactMesh
from .distance_energy_hessian import fill_distance_energy_factors
from .edge_edge_mollifier import edge_cross_squared, fill_edge_cross_derivatives, mollifier, mollifier_threshold
from .squared_distance import fill_distance_gradient, fill_distance_hessian, separation, squared_distance

LEAST_GAP_SHARE = 0.05  # of the gap: least distance at the start that counts as a gap


class ContactBarrier(NamedTuple):
    """How surfaces are kept apart.

    Attributes:
        kind: See `barriers.py`.
        gap: Distance below which they are pushed [m].
        stiffness: κ [Pa].
    """

    kind: int
    gap: float
    stiffness: float


class PairStencils(NamedTuple):
    """Pairs of one kind.

    Attributes:
        kind: `POINT_TRIANGLE` or `EDGE_EDGE`.
        vertices: Of each pair, (k, 4).
        area: A [m²], (k,).
        threshold: ε of the mollifier [m⁴], (k,); 0 for points and triangles.
        start_distance: Where the simulation begins [m], (k,).
        thickness: Which each keeps [m], (k,).
    """

    kind: int
    vertices: Indices
    area: Floats
    threshold: Floats
    start_distance: Floats
    thickness: Floats

    def select(self, rows: Indices) -> PairStencils:
        """Returns some of the pairs."""
        kind, vertices, area, threshold, start_distance, thickness = self
        return PairStencils(kind, vertices[rows], area[rows], threshold[rows], start_distance[rows], thickness[rows])

    def gaps(self, how: ContactBarrier) -> Floats:
        """Returns the distances beyond their thickness below which pairs are pushed [m], (k,)."""
        return np.minimum(how.gap, np.maximum(self.start_distance - self.thickness, LEAST_GAP_SHARE * how.gap))


class PairDerivatives(NamedTuple):
    """What kernels write for pairs.

    Attributes:
        energy: [J], (k,).
        gradient: [N], (k, 12).
        hessian: Semidefinite [N/m], (k, 12, 12).
    """

    energy: Floats
    gradient: Floats
    hessian: Floats


def pair_stencils(mesh: ContactMesh, pairs: ClosePairs) -> tuple[PairStencils, PairStencils]:
    """Returns pairs of points and triangles, and of edges, with their areas and without thickness.

    An edge has a third of the triangles beside it, but no more than either end, which has less where a large face has
    further points; one without triangles, as of a string, has what its ends have. Two edges have the smaller area:
    large faces of a collider do not make a small body stiff.
    """
    edges = mesh.edge_numbers(pairs.edge_edge.reshape(-1, 2))
    area = mesh.edge_area[np.searchsorted(mesh.edge_numbers(mesh.edges), edges)].reshape(-1, 2).min(axis=1)
    thresholds = np.empty(len(pairs.edge_edge))
    fill_thresholds(mesh.rest, pairs.edge_edge, thresholds)
    started = np.empty(len(pairs.point_triangle)), np.empty(len(pairs.edge_edge))
    fill_distances(POINT_TRIANGLE, pairs.point_triangle, mesh.start, started[0])
    fill_distances(EDGE_EDGE, pairs.edge_edge, mesh.start, started[1])
    return (
        PairStencils(
            POINT_TRIANGLE,
            pairs.point_triangle,
            mesh.point_area[pairs.point_triangle[:, 0]],
            np.zeros(len(pairs.point_triangle)),
            started[0],
            np.zeros(len(pairs.point_triangle)),
        ),
        PairStencils(EDGE_EDGE, pairs.edge_edge, area, thresholds, started[1], np.zeros(len(pairs.edge_edge))),
    )


@kernel()
def fill_thresholds(rest, stencils, thresholds):
    """Writes ε of pairs of edges [m⁴], (k,), by vertices at rest [m], (n, 3), and those of each pair, (k, 4)."""
    x = np.empty((4, 3))
    for pair in range(len(stencils)):
        for i in range(4):
            x[i] = rest[stencils[pair, i]]
        thresholds[pair] = mollifier_threshold(x)


@kernel()
def fill_distances(kind, stencils, positions, distances):
    """Writes distances of pairs of a kind [m], (k,), by four vertices of each, (k, 4), at [m], (n, 3)."""
    x, closest = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    for pair in range(len(stencils)):
        for i in range(4):
            x[i] = positions[stencils[pair, i]]
        find_closest(kind, x, closest)
        distances[pair] = math.sqrt(squared_distance(x, closest))


@kernel(device_only=True)
def pair_gap(pairs, pair, how):
    """Returns the distance beyond its thickness below which a pair is pushed [m]."""
    return min(how.gap, max(pairs.start_distance[pair] - pairs.thickness[pair], LEAST_GAP_SHARE * how.gap))


@kernel(device_only=True)
def free_distance(pairs, pair, x, closest):
    """Returns the distance of a pair beyond its thickness [m], by its `ClosestPoints`."""
    return math.sqrt(squared_distance(x, closest)) - pairs.thickness[pair]


@kernel()
def contact_energy(pairs, positions, how):
    """Returns the energy of pairs [J]; infinite where a pair has no distance beyond its thickness.

    Args:
        pairs: `PairStencils`.
        positions: Of vertices [m], (n, 3).
        how: `ContactBarrier`.
    """
    x, closest, total = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4))), 0.0
    for pair in range(len(pairs.vertices)):
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        find_closest(pairs.kind, x, closest)
        distance, gap = free_distance(pairs, pair, x, closest), pair_gap(pairs, pair, how)
        if distance >= gap:
            continue
        if distance <= 0.0:
            return np.inf
        value, _, _ = barrier(how.kind, distance / gap)
        factor = 1.0
        if pairs.kind == EDGE_EDGE:
            factor, _, _ = mollifier(edge_cross_squared(x), pairs.threshold[pair])
        total += factor * pairs.area[pair] * how.stiffness * gap * value
    return total


@kernel()
def least_gap_share(pairs, positions, how):
    """Returns the least distance beyond the thickness of `PairStencils` over their gaps; infinite without pairs.

    Args:
        pairs: `PairStencils`.
        positions: Of vertices [m], (n, 3).
        how: `ContactBarrier`.
    """
    x, closest, least = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4))), np.inf
    for pair in range(len(pairs.vertices)):
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        find_closest(pairs.kind, x, closest)
        least = min(least, free_distance(pairs, pair, x, closest) / pair_gap(pairs, pair, how))
    return least


@kernel()
def fill_closing_motion(pairs, positions, motion, distance, closing):
    """Writes distances of `PairStencils` [m], and by how much a motion would close them at first [m], (k,) each.

    Args:
        pairs: `PairStencils`.
        positions, motion: Of vertices [m], (n, 3).
        distance, closing: Out.
    """
    x, closest = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    for pair in range(len(pairs.vertices)):
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        find_closest(pairs.kind, x, closest)
        distance[pair], closing[pair] = math.sqrt(squared_distance(x, closest)), 0.0
        if distance[pair] == 0.0:
            continue
        for i in range(4):
            for axis in range(3):
                along = separation(x, closest.weights, axis) / distance[pair]
                closing[pair] -= closest.weights[i] * motion[pairs.vertices[pair, i], axis] * along


@kernel()
def count_close(pairs, positions, gap):
    """Returns how many of `PairStencils` are closer than thickness and gap [m], for vertices at [m], (n, 3)."""
    x, closest, count = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4))), 0
    for pair in range(len(pairs.vertices)):
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        find_closest(pairs.kind, x, closest)
        count += free_distance(pairs, pair, x, closest) < gap
    return count


@kernel()
def fill_contact_derivatives(pairs, positions, how, out):
    """Writes energy, gradient and semidefinite Hessian of each pair; beyond the gap nothing but an energy of zero.

    Args:
        pairs: `PairStencils`, at distances above their thickness.
        positions: Of vertices [m], (n, 3).
        how: `ContactBarrier`.
        out: `PairDerivatives`.
    """
    x, closest = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    factors, room, vectors = np.empty((3, 12)), np.empty((12, 12)), np.empty((12, 12))
    for pair in range(len(pairs.vertices)):
        out.energy[pair] = 0.0
        gradient, hessian = out.gradient[pair], out.hessian[pair]
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        feature = find_closest(pairs.kind, x, closest)
        distance, gap = math.sqrt(squared_distance(x, closest)), pair_gap(pairs, pair, how)
        free = distance - pairs.thickness[pair]
        if free >= gap:
            continue
        gradient[:], hessian[:] = 0.0, 0.0
        if pairs.kind == POINT_TRIANGLE:
            parameters = triangle_parameter_count(feature)
        else:
            parameters = edges_parameter_count(feature)
        value, slope, curvature = barrier(how.kind, free / gap)
        scale = pairs.area[pair] * how.stiffness
        energy, slope, curvature = scale * gap * value, scale * slope, scale / gap * curvature
        out.energy[pair] = energy
        fill_distance_gradient(x, closest, gradient)
        cross = edge_cross_squared(x) if pairs.kind == EDGE_EDGE else np.inf
        if cross < pairs.threshold[pair]:
            fill_distance_hessian(x, closest, parameters, hessian)
            by_square = (slope / (2.0 * distance), (curvature - slope / distance) / (4.0 * distance * distance))
            fill_edge_cross_derivatives(x, factors[0], room)
            out.energy[pair] *= mollifier(cross, pairs.threshold[pair])[0]
            _mollify(energy, by_square, mollifier(cross, pairs.threshold[pair]), factors[0], room, gradient, hessian)
            project_semidefinite(hessian, vectors)
            continue
        for i in range(12):
            gradient[i] *= slope / (2.0 * distance)
        fill_distance_energy_factors(x, closest, parameters, -slope, curvature, factors)
        for factor in factors:
            for i in range(12):
                for j in range(12):
                    hessian[i, j] += factor[i] * factor[j]


@kernel(device_only=True)
def find_closest(kind, x, closest):
    """Writes the closest points of a pair and returns its features."""
    if kind == POINT_TRIANGLE:
        return closest_on_triangle_to_point(x, closest)
    return closest_of_edges(x, closest)


@kernel(device_only=True)
def _mollify(energy, by_square, factor, cross_gradient, cross_hessian, gradient, hessian):
    """Replaces the derivatives of D = d² by those of m(c) B(D).

    Args:
        energy: B [J].
        by_square: B' and B''.
        factor: m, m' and m''.
        cross_gradient, cross_hessian: Of c, (12,) and (12, 12).
        gradient, hessian: Of D, changed, (12,) and (12, 12).
    """
    m, m1, m2 = factor
    b1, b2 = by_square
    for i in range(12):
        for j in range(12):
            hessian[i, j] = (
                m * (b1 * hessian[i, j] + b2 * gradient[i] * gradient[j])
                + m1 * b1 * (cross_gradient[i] * gradient[j] + gradient[i] * cross_gradient[j])
                + energy * (m1 * cross_hessian[i, j] + m2 * cross_gradient[i] * cross_gradient[j])
            )
    for i in range(12):
        gradient[i] = m * b1 * gradient[i] + energy * m1 * cross_gradient[i]
