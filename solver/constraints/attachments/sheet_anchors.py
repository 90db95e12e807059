# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends of springs on sheets, whose hinges are flat and cannot carry a place beside themselves.

A spring of a body with tets ends on the sheet itself, and begins in a tet of the body where that is at rest. So it has
no length, and needs no arm.

Other springs, of a point at the height h over a triangle, are three legs each, whose feet are in the plane of the
triangle on a circle of the radius √2 h. They keep their lengths √3 h, so all forces are along the ways between the
places where they act, and have no torque. With unit vectors d along the legs, Σ d dᵀ = I: together they resist as the
spring would. On a strand, which has no plane, they are one leg.

Own derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mesh.geometry.triangle_frames import triangle_frames
from ...mesh.sheet_mesh import weights_in_hinges
from ...runtime.arrays import Floats, Indices, floats, indices
from .target_surface import TargetSurface

LEGS = 3  # of a point beside a sheet
MIN_HEIGHT = 1.0e-6  # over the length of a side of the triangle, below which a point is on the sheet
ANGLES = 2.0 * np.pi * np.arange(LEGS, dtype=np.float64) / LEGS  # of the feet around the point


@dataclass(frozen=True, eq=False)
class SheetLegs:
    """The legs of points beside a sheet at rest, 3 k of them, one point after the other.

    Attributes:
        tet, weights: Where they end: hinges of the model, (3 k,), and weights in these, (3 k, 4).
        length: [m], (3 k,).
        share: The stiffness of each over that of the spring, (3 k,).
    """

    tet: Indices
    weights: Floats
    length: Floats
    share: Floats


def legs_on_sheet(model: Model, target: TargetSurface, triangle: Indices, points: Floats) -> SheetLegs:
    """Returns the legs of points [m], (k, 3), on triangles of a sheet, (k,), at rest."""
    nodes = _triangle_nodes(model, target, triangle)
    weights, distance = np.empty((len(nodes), LEGS, 3)), np.empty(len(nodes))
    is_strand = nodes[:, 1] == nodes[:, 2]
    for own, feet in ((np.flatnonzero(~is_strand), _feet_on_triangles), (np.flatnonzero(is_strand), _feet_on_strands)):
        if len(own):
            weights[own], distance[own] = feet(model.X[nodes[own]], points[own])
    hinge, length = indices(np.repeat(target.hinge[triangle], LEGS)), np.repeat(distance, LEGS)
    every = indices(np.repeat(nodes, LEGS, axis=0), -1, 3)
    in_hinges = weights_in_hinges(model.tets[hinge], every, weights.reshape(-1, 3))
    on_one_foot = (length == 0.0) | np.repeat(is_strand, LEGS)
    return SheetLegs(hinge, in_hinges, length, np.where(on_one_foot, 1.0 / LEGS, 1.0))


def _feet_on_triangles(corners: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Returns the weights of feet in triangles [m], (k, 3, 3), of points [m], (k, 3), and the lengths of the legs."""
    frames = triangle_frames(corners)
    first, across, normal = frames[:, 0], frames[:, 1], frames[:, 2]
    height = np.abs(np.einsum("ki,ki->k", points - corners[:, 0], normal))
    height[height < MIN_HEIGHT * np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)] = 0.0
    around = np.cos(ANGLES)[:, None] * first[:, None] + np.sin(ANGLES)[:, None] * across[:, None]
    feet = points[:, None] + np.sqrt(2.0) * height[:, None, None] * around
    gradients = _gradients(corners, normal)[:, 1:]
    last = np.einsum("kci,kli->klc", gradients, feet - corners[:, :1])
    return np.concatenate([1.0 - last.sum(axis=2, keepdims=True), last], axis=2), np.sqrt(3.0) * height


def _feet_on_strands(corners: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Returns the same of strands, whose last two corners are one: all legs end at the nearest place of the strand.

    A strand has no plane: what it holds keeps its distance, and may turn around that place.
    """
    along = corners[:, 1] - corners[:, 0]
    t = np.einsum("ki,ki->k", points - corners[:, 0], along) / np.einsum("ki,ki->k", along, along)
    t = np.clip(t, 0.0, 1.0)
    distance = np.linalg.norm(points - corners[:, 0] - t[:, None] * along, axis=1)
    distance[distance < MIN_HEIGHT * np.linalg.norm(along, axis=1)] = 0.0
    weights = np.stack([1.0 - t, t, np.zeros_like(t)], axis=1)
    return np.repeat(weights[:, None], LEGS, axis=1), distance


def anchor_on_sheet(model: Model, target: TargetSurface, triangle: Indices, place: Floats) -> tuple[Indices, Floats]:
    """Returns hinges, (k,), and weights, (k, 4), of places of a sheet with weights in triangles, (k,) and (k, 3)."""
    hinge = indices(target.hinge[triangle])
    return hinge, weights_in_hinges(model.tets[hinge], _triangle_nodes(model, target, triangle), place)


def _triangle_nodes(model: Model, target: TargetSurface, triangle: Indices) -> Indices:
    """Returns the nodes of triangles of a sheet, (k, 3), each vertex of which is bound to its own."""
    vertices = target.surface.triangles[triangle]
    corner = np.argmax(target.weights[vertices], axis=2)
    return indices(model.tets[target.tet[vertices], corner], -1, 3)


def _gradients(corners: Floats, normal: Floats) -> Floats:
    """Returns the gradients of the barycentric weights of triangles [1/m], (k, 3, 3), with unit normals, (k, 3)."""
    across = np.cross(normal[:, None], np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1))
    double_area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return floats(across / double_area[:, None, None])
