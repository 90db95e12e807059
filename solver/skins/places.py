# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the vertices of skins are."""

from __future__ import annotations

from ..arrays import Floats
from ..jit import kernel
from ..model import Model
from .deforming import followed
from .skin import Skins


def places(skins: Skins, model: Model, x: Floats) -> Floats:
    """Returns where vertices are [m], (v, 3), when nodes are at x, (n, 3); rows of colliders are where they rest.

    `fill_collider` writes those.
    """
    out = skins.rest.copy()
    place_vertices(x, skins.nodes, skins.weights, out)
    return out


def fill_collider(skins: Skins, skin: int, vertices: Floats, out: Floats) -> None:
    """Writes the rows of a collider's skin into `out` [m], (v, 3), by where the collider's vertices are [m], (n, 3)."""
    own = skins.vertices_of(skin)
    out[own] = followed(vertices, skins.corners[own], skins.shares[own])


@kernel()
def place_vertices(x, nodes, weights, out):
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
