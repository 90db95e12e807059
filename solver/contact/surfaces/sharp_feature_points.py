# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples points on sharp edges, borders, tips and thin rods of a rigid mesh, which could pass between points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.face_edges import edge_sides, face_edges
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import weld
from ...runtime.arrays import Bools, Floats, Indices, floats, indices

MAX_POINTS = 20_000
MAX_TIP_COSINE = 0.7  # cosine between the normals of a vertex and one of its faces below which it is a tip
MAX_SPIKE_COSINE = 0.5  # the same for a spike
MIN_CURVATURE_ANGLE = np.radians(60.0)  # bend of a surface over the size of a tet from which an edge is sharp
# The same beside sheets: a triangle of edges h on a ball of radius r, itself of triangles as large, is up to
# h²/6r + h²/8r inside of it, more than the distance that others keep from sheets where r < 5 h.
MIN_SHEET_CURVATURE_ANGLE = np.radians(10.0)
CELL_SIZE = 0.5  # side of the cubes in which one vertex stands for all, in spacings
SHEET_CELL_SIZE = 0.125  # the same beside sheets


@dataclass(frozen=True)
class _Edges:
    """Edges of a mesh: ends, (e, 2), whether they are sharp, (e,), and lengths [m]."""

    ends: Indices
    is_sharp: Bools
    length: Floats


def sharp_points(
    vertices: Floats,
    triangles: Indices,
    spacing: float,
    min_angle: float,
    min_curvature: float = MIN_CURVATURE_ANGLE,
    cell: float = CELL_SIZE,
) -> tuple[Indices, Floats]:
    """Returns points along sharp edges: vertices between which they lie, (k, 3), and weights there, (k, 3).

    Args:
        vertices: [m], (n, 3), outward where the mesh is closed.
        triangles: (t, 3).
        spacing: Of the points [m]; larger if there were more than `MAX_POINTS`.
        min_angle: Angle between two faces from which their edge is sharp [rad]; above a right angle, only spikes count
            as tips, and round rods and ridges thinner than `spacing` do not count.
        min_curvature: Bend of a surface over `spacing` from which an edge is sharp [rad].
        cell: Side of the cubes in which one vertex stands for all, in spacings.
    """
    normals, areas = _normals(vertices, triangles)
    welded = weld(Surface(vertices, triangles))
    flat = welded.ravel()
    first = np.full(int(flat.max(initial=-1)) + 1, len(vertices), np.int64)
    np.minimum.at(first, flat, triangles.ravel())
    edges = _edges(vertices[first], welded, normals, areas, spacing, (min_angle, min_curvature))
    tips = _tips(vertices[first], welded, normals, MAX_TIP_COSINE if min_angle < 0.5 * np.pi else MAX_SPIKE_COSINE)
    ends = edges.ends[edges.is_sharp]
    length = edges.length[edges.is_sharp]
    while (np.ceil(length / spacing) - 1).sum() > MAX_POINTS:
        spacing *= 1.5
    parts = np.maximum(np.ceil(length / spacing).astype(np.int64), 1)
    edge = np.repeat(np.arange(len(parts), dtype=np.int64), parts - 1)
    number = (
        np.arange(len(edge), dtype=np.int64)
        - np.repeat(np.cumsum(parts - 1, dtype=np.int64) - (parts - 1), parts - 1)
        + 1
    )
    along = number / parts[edge]
    corner = _one_per_cell(vertices[first], np.union1d(np.unique(ends), tips), cell * spacing)
    corners = np.concatenate([np.repeat(corner[:, None], 3, axis=1), ends[edge][:, [0, 1, 1]]])
    shares = np.zeros((len(corners), 3))
    shares[: len(corner), 0] = 1.0
    shares[len(corner) :, 0], shares[len(corner) :, 1] = 1.0 - along, along
    return indices(first[corners], -1, 3), floats(shares, -1, 3)


def _edges(
    vertices: Floats, welded: Indices, normals: Floats, areas: Floats, spacing: float, least: tuple[float, float]
) -> _Edges:
    min_angle, min_curvature = least
    found = face_edges(welded)
    one, other = edge_sides(found)
    ends = np.stack([welded.ravel()[one], np.roll(welded, -1, axis=1).ravel()[one]], axis=1)
    length = np.linalg.norm(vertices[ends[:, 1]] - vertices[ends[:, 0]], axis=1)
    cosine = np.einsum("ei,ei->e", normals[one // 3], normals[other // 3])
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    opposite = np.roll(welded, -2, axis=1).ravel()[other]
    below = np.einsum("ei,ei->e", vertices[opposite] - vertices[ends[:, 0]], normals[one // 3])
    # width over which the surface bends at the edge, from the center of one face to that of the other
    across = (areas[one // 3] + areas[other // 3]) / np.maximum(length, 1e-300)
    is_round = (angle * spacing > min_curvature * across) & (min_angle < 0.5 * np.pi)
    is_convex = (below < 0.0) & ((angle > min_angle) | is_round)
    return _Edges(indices(ends, -1, 2), np.where(found.faces_at == 2, is_convex, True), length)


def _tips(vertices: Floats, welded: Indices, normals: Floats, below: float) -> Indices:
    """Returns the vertices whose faces have diverging normals, (k,): the tip of a cone has no sharp edge."""
    mean, middle = np.zeros((2, len(vertices), 3))
    centre = vertices[welded].mean(axis=1)
    angles = _angles(vertices[welded])
    for axis in range(3):
        mean[:, axis] = np.bincount(welded.ravel(), (angles * normals[:, axis, None]).ravel(), minlength=len(vertices))
        middle[:, axis] = np.bincount(welded.ravel(), np.repeat(centre[:, axis], 3), minlength=len(vertices))
    count = np.maximum(np.bincount(welded.ravel(), minlength=len(vertices)), 1)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
    cosine = np.einsum("tci,ti->tc", mean[welded], normals)
    least = np.ones(len(vertices))
    np.minimum.at(least, welded.ravel(), cosine.ravel())
    is_convex = np.einsum("ni,ni->n", middle / count[:, None] - vertices, mean) < 0.0
    return np.flatnonzero((least < below) & is_convex)


def _angles(corners: Floats) -> Floats:
    """Returns the angles of triangles at their corners [rad], (t, 3)."""
    one = np.roll(corners, -1, axis=1) - corners
    other = np.roll(corners, -2, axis=1) - corners
    length = np.linalg.norm(one, axis=2) * np.linalg.norm(other, axis=2)
    return np.arccos(np.clip(np.einsum("tci,tci->tc", one, other) / np.maximum(length, 1e-300), -1.0, 1.0))


def _one_per_cell(vertices: Floats, which: Indices, size: float) -> Indices:
    """Returns of some vertices the first in every cube of `size` [m], rising."""
    if not len(which):
        return which
    cell = np.floor((vertices[which] - vertices[which].min(axis=0)) / size).astype(np.int64)
    _, first = np.unique(cell, axis=0, return_index=True)
    return which[np.sort(first)]


def _normals(vertices: Floats, triangles: Indices) -> tuple[Floats, Floats]:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    double = np.linalg.norm(across, axis=1)
    return across / np.maximum(double, 1e-300)[:, None], 0.5 * double
