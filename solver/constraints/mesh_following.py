# SPDX-License-Identifier: GPL-3.0-or-later
"""Where nodes are that follow a mesh which deforms: a bone, or the animated mesh of a body itself.

They follow in three parts:

1. the affine motion of the whole mesh, x = F X + t, by least squares;
2. on top of it, every node near the surface follows the affine motion of the vertices around it, counted by their
   distance: over one and a half tets, or over as much as the node is away from the surface where that is more. So what
   lies beside a thin bone is turned along by it.
3. what lies deeper lies as smoothly as can be between those (`harmonic_extension.py`).

An affine motion of the vertices is thereby followed to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.harmonic_extension import HarmonicExtension, make_harmonic_extension
from ..mesh.moving_least_squares import (
    AffineLeastSquares,
    FactoredWeights,
    affine_fit_of_all,
    affine_fits_around,
    cell_mean_weights,
    clamp_singular_values,
    inverse_3x3,
    neighbour_weights,
    transform_rows,
)
from ..runtime.arrays import Bools, Floats, Indices, floats

NEIGHBOURHOOD_RADIUS = 1.5  # vertices around a node that count, in tet sizes
CELL_SIZE = 0.5  # side of the cells in which vertices count alike, in radii
MAX_NEIGHBOUR_CELLS = 64  # of these cells around a node, at most
# extent of the vertices around a node, in radii, below which they do not tell how it turns
MIN_NEIGHBOURHOOD_EXTENT = 0.05


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Nodes with vertices around them that lie about as far away.

    Attributes:
        rows: Among the nodes that follow, (k,).
        affine_fits: Of the vertices around the nodes.
        offset: From the middle of these vertices to the node at rest [m], (k, 3).
    """

    rows: Indices
    affine_fits: AffineLeastSquares
    offset: Floats


@dataclass(frozen=True, eq=False)
class DeformingMotion:
    """How nodes follow the vertices of a mesh that deforms.

    Attributes:
        groups: Nodes near the surface.
        harmonic_extension: The others; None: there are none.
        surface_vertices: Vertices of its faces, (n,).
        affine_fit: The motion of all of these.
        rest: All nodes at rest from the middle of the vertices [m], (k, 3).
    """

    groups: tuple[NodeGroup, ...]
    harmonic_extension: HarmonicExtension | None
    surface_vertices: Indices
    affine_fit: AffineLeastSquares
    rest: Floats

    def targets(self, vertices: Floats) -> Floats:
        """Returns where the nodes are [m], (k, 3), for all vertices now [m], (v, 3)."""
        vertices = vertices[self.surface_vertices]
        middle = vertices.mean(axis=0)
        wanted = vertices - middle
        F = clamp_singular_values(self.affine_fit.fit(wanted)[0][0])
        undone = transform_rows(wanted, inverse_3x3(F))
        d = np.zeros_like(self.rest)
        for group in self.groups:
            F_near, t_near = group.affine_fits.fit(undone)
            d[group.rows] = np.einsum("kij,kj->ki", F_near, group.offset) + t_near - self.rest[group.rows]
        if self.harmonic_extension is not None:
            self.harmonic_extension.extend(d)
        return transform_rows(self.rest + d, F) + middle


@dataclass(frozen=True)
class FollowedMesh:
    """A mesh that nodes follow, at rest.

    Attributes:
        vertices, triangles: [m], (v, 3), and (t, 3).
    """

    vertices: Floats
    triangles: Indices


def make_deforming_motion(
    mesh: FollowedMesh, rest: Floats, tets: Indices, is_surrounded: Bools, away: Floats, tet_size: float
) -> DeformingMotion | None:
    """Returns how nodes follow a mesh; None where its vertices lie on one line.

    Args:
        mesh: At rest.
        rest: The nodes at rest [m], (k, 3).
        tets: Tets all of whose nodes follow it, (t, 4).
        is_surrounded: Which nodes have no other tets, (k,).
        away: Distance of the nodes from the mesh [m], (k,).
        tet_size: Of the body [m].
    """
    used = np.unique(mesh.triangles).astype(np.int32)
    vertices = floats(floats(mesh.vertices, -1, 3)[used])
    middle = vertices.mean(axis=0)
    own, whole = rest - middle, affine_fit_of_all(vertices - middle)
    if not whole.extent.all():
        return None
    near = NEIGHBOURHOOD_RADIUS * tet_size
    is_inner = is_surrounded & (away > near)
    # by powers of two, so that few sets of vertices do
    level = np.maximum(np.ceil(np.log2(np.maximum(away, 1e-12 * near) / near)), 0.0).astype(np.int64)
    level[is_inner] = -1
    groups = []
    for one in np.unique(level[~is_inner]).tolist():
        rows = np.flatnonzero(level == one).astype(np.int32)
        groups += _node_groups(rows, own[rows], vertices - middle, np.maximum(away[rows], near), near * 2.0**one)
    return DeformingMotion(tuple(groups), make_harmonic_extension(rest, tets, is_inner), used, whole, own)


def _node_groups(rows: Indices, rest: Floats, vertices: Floats, wide: Floats, radius: float) -> list[NodeGroup]:
    """Returns the nodes with vertices around them; those that have too few are left to the motion of the whole."""
    means = cell_mean_weights(vertices, CELL_SIZE * radius)
    weights = neighbour_weights(rest, means @ vertices, MAX_NEIGHBOUR_CELLS, wide)
    motions = affine_fits_around(FactoredWeights(weights, means), vertices)
    found = np.flatnonzero(motions.extent > MIN_NEIGHBOURHOOD_EXTENT * radius)
    if len(found) < len(rows):
        rows, rest = rows[found], rest[found]
        motions = affine_fits_around(FactoredWeights(weights[found], means), vertices)
    return [NodeGroup(rows, motions, floats(rest - motions.centre))] if len(found) else []
