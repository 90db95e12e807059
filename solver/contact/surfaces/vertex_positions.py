# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the vertices of skins are."""

from __future__ import annotations

from ...mechanics.model import Model
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..colliders.deforming_collider import interpolate_corners
from .collision_surfaces import CollisionSurfaces


def vertex_positions(skins: CollisionSurfaces, model: Model, x: Floats) -> Floats:
    """Returns where vertices are [m], (v, 3), when nodes are at x, (n, 3); rows of colliders are where they rest.

    `fill_collider_vertices` writes those.
    """
    out = skins.rest.copy()
    interpolate_vertices(x, skins.nodes, skins.weights, out)
    return out


def fill_collider_vertices(skins: CollisionSurfaces, skin: int, vertices: Floats, out: Floats) -> None:
    """Writes the rows of a collider's skin into `out` [m], (v, 3), by where the collider's vertices are [m], (n, 3)."""
    own = skins.vertices_of(skin)
    out[own] = interpolate_corners(vertices, skins.source_vertices[own], skins.source_weights[own])


@kernel()
def interpolate_vertices(x, nodes, weights, out):
    """Writes Σⱼ weightsⱼ x[nodesⱼ], (v, 3); what has no nodes keeps its place."""
    for i in range(len(nodes)):
        a, b, c, d = nodes[i]
        if a < 0:
            continue
        for axis in range(3):
            out[i, axis] = (
                weights[i, 0] * x[a, axis]
                + weights[i, 1] * x[b, axis]
                + weights[i, 2] * x[c, axis]
                + weights[i, 3] * x[d, axis]
            )
