# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the nodes that follow a bone are at a time.

A bone that moves rigidly takes its nodes along by its matrix. Of one that deforms, nodes follow in three parts:

1. the affine motion of the whole bone, x = F X + t, by least squares;
2. on top of it, every node near the surface follows the affine motion of the vertices around it, counted by their
   distance: over one and a half tets, or over as much as the node is away from the surface where that is more. So what
   lies beside a thin bone is turned along by it.
3. what lies deeper in the bone lies as smoothly as can be between those (`harmonic_extension.py`).

An affine motion of the vertices is thereby followed to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.moving_least_squares import (
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
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.errors import BadInput, SolveFailed
from ...scene.flesh import Bone
from ...scene.tracks import TrackReader
from .bone_distance import BoneShape
from .harmonic_extension import HarmonicExtension, make_harmonic_extension

NEIGHBOURHOOD_RADIUS = 1.5  # vertices around a node that count, in tet sizes
CELL_SIZE = 0.5  # side of the cells in which vertices count alike, in radii
MAX_NEIGHBOUR_CELLS = 64  # of these cells around a node, at most
# extent of the vertices around a node, in radii, below which they do not tell how it turns
MIN_NEIGHBOURHOOD_EXTENT = 0.05
MIN_VOLUME_RATIO = 1.0e-9  # share of a bone's size at rest down to which it is no plane


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Nodes with vertices around them that lie about as far away.

    Attributes:
        rows: Among the nodes of the bone, (k,).
        affine_fits: Of the vertices around the nodes.
        offset: From the middle of these vertices to the node at rest [m], (k, 3).
    """

    rows: Indices
    affine_fits: AffineLeastSquares
    offset: Floats


@dataclass(frozen=True, eq=False)
class DeformingMotion:
    """How the nodes of a bone that deforms follow its vertices.

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


@dataclass(frozen=True, eq=False)
class BoneMotion:
    """How the nodes of a bone move.

    Attributes:
        bone: As in the scene.
        rest: Its nodes at rest [m], (k, 3).
        deforming: How they follow its vertices; None where it moves rigidly.
    """

    bone: Bone
    rest: Floats
    deforming: DeformingMotion | None

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the nodes are at a time [s] in metres, (k, 3).

        Raises:
            SolveFailed: The animation gives no numbers, has other vertices, or turns the bone inside out.
        """
        if self.deforming is not None:
            return self.deforming.targets(self._sample(tracks, f"bone.{self.bone.key}.vertices", time))
        name = f"bone.{self.bone.key}.matrix"
        if not tracks.has(name):
            return self.rest.copy()
        matrix = self._sample(tracks, name, time)
        sizes = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.linalg.det(matrix[:3, :3]) > MIN_VOLUME_RATIO * sizes.max() ** 3:
            raise SolveFailed("bone-mirrored", name=self.bone.name, time=round(time, 3))
        return transform_rows(self.rest, matrix[:3, :3]) + matrix[:3, 3]

    def _sample(self, tracks: TrackReader, name: str, time: float) -> Floats:
        values = tracks.sample(name, time)
        if not np.isfinite(values).all():
            raise SolveFailed("bone-not-finite", name=self.bone.name, time=round(time, 3))
        if name.endswith(".vertices") and values.shape != np.shape(self.bone.vertices):
            numbers = {"count": len(values), "wanted": len(self.bone.vertices)}
            raise SolveFailed("bone-vertices", name=self.bone.name, **numbers)
        return values


def make_motion(
    shape: BoneShape, rest: Floats, tets: Indices, is_surrounded: Bools, tracks: TrackReader, tet_size: float
) -> BoneMotion:
    """Returns how nodes follow a bone.

    Args:
        shape: The bone.
        rest: The nodes at rest [m], (k, 3).
        tets: Tets all of whose nodes it holds, (t, 4).
        is_surrounded: Which nodes have no other tets, (k,).
        tracks: They say whether the bone deforms.
        tet_size: Of the flesh [m].

    Raises:
        BadInput: The vertices of a bone that deforms lie on one line.
    """
    if not tracks.has(f"bone.{shape.bone.key}.vertices"):
        return BoneMotion(shape.bone, rest, None)
    used = np.unique(shape.triangles).astype(np.int32)
    vertices = floats(floats(shape.bone.vertices, -1, 3)[used])
    middle = vertices.mean(axis=0)
    own, whole = rest - middle, affine_fit_of_all(vertices - middle)
    if not whole.extent.all():
        raise BadInput("bone-on-a-line", name=shape.bone.name)
    away, near = shape.distance_to(rest), NEIGHBOURHOOD_RADIUS * tet_size
    is_inner = is_surrounded & (away > near)
    # by powers of two, so that few sets of vertices do
    level = np.maximum(np.ceil(np.log2(np.maximum(away, 1e-12 * near) / near)), 0.0).astype(np.int64)
    level[is_inner] = -1
    groups = []
    for one in np.unique(level[~is_inner]).tolist():
        rows = np.flatnonzero(level == one).astype(np.int32)
        groups += _node_groups(rows, own[rows], vertices - middle, np.maximum(away[rows], near), near * 2.0**one)
    return BoneMotion(
        shape.bone,
        rest,
        DeformingMotion(tuple(groups), make_harmonic_extension(rest, tets, is_inner), used, whole, own),
    )


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
