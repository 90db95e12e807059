# SPDX-License-Identifier: GPL-3.0-or-later
"""From places on a surface to nodes: what a contact between two pieces of flesh moves, and which way."""

from __future__ import annotations

import numpy as np

from ...contact.detection.contact_points import ContactPoints
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ..contact_coupling import NodeCouplings
from .contact_candidates import SurfacePenetrations
from .flesh_surface import FleshSurface

MAX_NODES_PER_CONTACT = 16  # nodes of a contact: of the point's tet, and of the tets of the three corners of a triangle


def couple_contacts(model: Model, skin: FleshSurface, points: ContactPoints, met: SurfacePenetrations) -> NodeCouplings:
    """Returns the ties of some contacts, for k = 1 N/m; the point's own nodes have positive coefficients."""
    count = len(met.point)
    nodes, coefficients = np.empty((count, MAX_NODES_PER_CONTACT), np.int32), np.empty((count, MAX_NODES_PER_CONTACT))
    counts = np.empty(count, np.int64)
    fill_couplings(
        model.tets, points.tet, points.weights, skin.tet, skin.weights, skin.triangles, met.point, met.triangle,
        met.weights, nodes, coefficients, counts,
    )  # fmt: skip
    is_used = np.arange(MAX_NODES_PER_CONTACT, dtype=np.int64) < counts[:, None]
    start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return NodeCouplings(start, nodes[is_used], coefficients[is_used], met.normal)


def lateral_directions(skin: FleshSurface, vertices: Floats, met: SurfacePenetrations) -> tuple[np.ndarray, Floats]:
    """Returns directions in which the place that a point is pushed to stays where it is while the point moves.

    ½ φ² of the distance to an edge has a second derivative along a second direction, at right angles to the edge, and
    to a corner along all three; to a face along none but the normal. Unlike other terms of φ ∂²φ these are definite.

    Returns:
        The contact of each direction, rising, (e,), and the direction, (e, 3).
    """
    corner = vertices[skin.triangles[met.triangle]]
    is_zero = met.weights == 0.0
    at_edge, at_corner = np.flatnonzero(is_zero.sum(axis=1) == 1), np.flatnonzero(is_zero.sum(axis=1) == 2)
    off = np.argmax(is_zero[at_edge], axis=1)
    rows = np.arange(len(at_edge), dtype=np.int64)
    side = corner[at_edge][rows, (off + 2) % 3] - corner[at_edge][rows, (off + 1) % 3]
    across = _normalized(np.cross(side, met.normal[at_edge]))
    n = met.normal[at_corner]
    first = _normalized(np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)]))
    which = np.concatenate([at_edge, at_corner, at_corner])
    order = np.argsort(which, kind="stable")
    return which[order], np.concatenate([across, first, np.cross(n, first)])[order]


def _normalized(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.sqrt(np.sum(vectors**2, axis=1, keepdims=True)), 1e-300)


@kernel()
def fill_couplings(
    tets, tet, weights, vertex_tet, vertex_weights, triangles, point, triangle, at, nodes, coefficients, counts
):  # fmt: skip
    """Writes the nodes of each contact, each once, and their coefficients; see `couple_contacts`."""
    for c in range(len(point)):
        count = 0
        for a in range(4):
            count = add_coefficient(tets[tet[point[c]], a], weights[point[c], a], nodes[c], coefficients[c], count)
        for k in range(3):
            vertex = triangles[triangle[c], k]
            for a in range(4):
                share = -at[c, k] * vertex_weights[vertex, a]
                if share != 0.0:
                    count = add_coefficient(tets[vertex_tet[vertex], a], share, nodes[c], coefficients[c], count)
        counts[c] = count


@kernel(device_only=True)
def add_coefficient(node, share, nodes, coefficients, count):
    """Adds a share to a node's coefficient; returns how many nodes there are then."""
    for i in range(count):
        if nodes[i] == node:
            coefficients[i] += share
            return count
    nodes[count], coefficients[count] = node, share
    return count + 1


@kernel()
def add_coupling_forces(start, nodes, coefficients, normal, size, force):
    """Adds c_i s n to the forces on the nodes of each tie, for forces of size s [N] along n."""
    for tied in range(len(size)):
        for e in range(start[tied], start[tied + 1]):
            for axis in range(3):
                force[nodes[e], axis] += coefficients[e] * size[tied] * normal[tied, axis]


def coupling_distances(ties: NodeCouplings, x: Floats) -> Floats:
    """Returns −Σ c_i n · x_i [m] of every tie, (c,): how far its point would have to go along n, its
    `scaled_normals`.
    """
    if not len(ties):
        return np.zeros(0)
    along = np.sum(x[ties.nodes] * np.repeat(ties.scaled_normals, np.diff(ties.start), axis=0), axis=1)
    return -np.add.reduceat(ties.coefficients * along, ties.start[:-1])


def has_free_node(ties: NodeCouplings, is_free: Bools) -> np.ndarray:
    """Returns which ties have a node that is free, (c,)."""
    if not len(ties):
        return np.zeros(0, np.bool_)
    return np.logical_or.reduceat(is_free[ties.nodes], ties.start[:-1])
