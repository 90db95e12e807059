# SPDX-License-Identifier: GPL-3.0-or-later
"""Ties points to tets by barycentric weights, once, and moves them with the nodes ever after.

A binding is never found again by position: later several tets may lie in the same place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats, Indices, floats, indices
from ..runtime.jit import kernel
from ..runtime.threads.thread_pool import run_in_chunks
from .geometry.box_tree import build_box_tree
from .geometry.point_tet import barycentric_rows, find_tets

POINTS_PER_CHUNK = 8192  # points that one thread interpolates at a time: fewer cost more in waiting than they bring


@dataclass(frozen=True)
class Binding:
    """Points tied to tets: p = Σⱼ weightsⱼ x[tets[tet]]ⱼ.

    Attributes:
        tet: The tet of every point, (k,).
        weights: Its barycentric weights, which sum to one, (k, 4). Negative outside the tet.
    """

    tet: Indices
    weights: Floats


@dataclass(frozen=True)
class ClosestTets:
    """The tets that points lie in or closest to.

    Attributes:
        tet: The tet to bind every point to, (k,).
        distance: Distance from the closest tet [m], zero inside, (k,).
    """

    tet: Indices
    distance: Floats


def bind(nodes: Floats, tets: Indices, points: Floats, places: Floats | None = None) -> Binding:
    """Ties every point to the tet that it lies in, or to one of the closest, extrapolated.

    A point in several tets takes the one of lowest number. A point outside takes, of all tets that are not
    more than a quarter farther than the closest (nor farther than one of its edges), the one with the smallest
    weights: a sliver is not chosen when a better tet is beside it. The weights stay exact, since the point has
    to be in its place at rest; so they grow with the distance in tet sizes, but not with the flatness of a tet.

    Args:
        nodes: Node positions at rest [m], (n, 3).
        tets: Tets, (m, 4), m > 0.
        points: Points at rest, by which tets are found [m], (k, 3).
        places: Where the points are exactly [m], (k, 3); None: there.
    """
    points = floats(points, -1, 3)
    nodes, tets = floats(nodes, -1, 3), indices(tets, -1, 4)
    found = closest_tets(nodes, tets, points)
    return Binding(
        found.tet, barycentric_weights(nodes, tets, points if places is None else floats(places, -1, 3), found.tet)
    )


def closest_tets(nodes: Floats, tets: Indices, points: Floats) -> ClosestTets:
    """Returns the tet closest to every point, and how far it is.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets, (m, 4), m > 0.
        points: Points [m], (k, 3).
    """
    nodes, tets = floats(nodes, -1, 3), indices(tets, -1, 4)
    points = floats(points, -1, 3)
    if not len(tets):
        raise ValueError("points cannot be tied to a mesh without tets")
    if not np.isfinite(points).all():
        raise ValueError("points that are not numbers cannot be tied to tets")
    rows, steepness = barycentric_rows(nodes, tets)
    solid = np.flatnonzero(steepness[:, 0] > 0.0)
    if not len(solid):
        raise ValueError("points cannot be tied to tets without volume")
    corners = nodes[tets[solid].T]  # corner by corner: NumPy compares four rows faster than four numbers of a row
    tree = build_box_tree(corners.min(axis=0), corners.max(axis=0))
    order = solid[tree.order].astype(np.int32)
    tet, distance = np.empty(len(points), np.int32), np.empty(len(points))

    def work(part: slice) -> None:
        find_tets(nodes, tets, rows, steepness, tree.lower, tree.upper, order, points[part], tet[part], distance[part])

    run_in_chunks(len(points), work)
    return ClosestTets(tet, distance)


def interpolate(x: Floats, tets: Indices, binding: Binding, out: Floats) -> None:
    """Writes the values of the bound points, such as their positions [m], (k, 3), from those of the nodes (n, 3)."""

    def work(part: slice) -> None:
        interpolate_points(x, tets, binding.tet[part], binding.weights[part], out[part])

    run_in_chunks(len(out), work, POINTS_PER_CHUNK)


def barycentric_weights(nodes: Floats, tets: Indices, points: Floats, tet: Indices) -> Floats:
    """Returns barycentric weights, (k, 4), refined once so that the points come back to round-off."""
    corners = nodes[tets[tet]]
    edges = corners[:, 1:] - corners[:, :1]
    rows, _ = barycentric_rows(nodes, tets[tet])
    from_first = points - corners[:, 0]
    inner = np.einsum("kij,kj->ki", rows, from_first)
    inner += np.einsum("kij,kj->ki", rows, from_first - np.einsum("ki,kij->kj", inner, edges))
    return _with_first(inner)


def affine_weights(nodes: Floats, tets: Indices, points: Floats, tet: Indices) -> Floats:
    """Returns barycentric weights, (…, k, 4), with a round-off that is affine in the points: for forces side by side.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets, (m, 4).
        points: Points [m], (…, k, 3).
        tet: The tet of each, (k,).

    Forces on rigid bodies by refined weights change momenta about twice as much: with a slider between two bodies, in
    six positions, by 3e-10 to 1.2e-9 in 96 steps, in place of 1.6e-10 to 5e-10.
    """
    rows, _ = barycentric_rows(nodes, tets[tet])
    return _with_first(np.einsum("kij,...kj->...ki", rows, points - nodes[tets[tet, 0]]))


def _with_first(inner: Floats) -> Floats:
    """Returns four weights, (…, 4), from those of the last three nodes, (…, 3)."""
    return np.concatenate([1.0 - inner.sum(axis=-1, keepdims=True), inner], axis=-1)


@kernel(no_refcount=True)
def interpolate_points(x, tets, tet, weights, out):
    """Writes Σⱼ weightsⱼ x[tets[tet]]ⱼ.

    Args:
        x: Node values, (n, 3).
        tets: Tets, (m, 4).
        tet: The tet of every point, (k,).
        weights: Barycentric weights, (k, 4).
        out: Out, point values, (k, 3).
    """
    for i in range(tet.shape[0]):
        interpolate_point(i, x, tets, tet, weights, out[i])


@kernel(device_only=True)
def interpolate_point(i, x, tets, tet, weights, out):
    """Writes the value of point i, (3,); see `interpolate_points`."""
    a, b, c, d = tets[tet[i]]
    for axis in range(3):
        out[axis] = (
            weights[i, 0] * x[a, axis]
            + weights[i, 1] * x[b, axis]
            + weights[i, 2] * x[c, axis]
            + weights[i, 3] * x[d, axis]
        )
