# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the nodes that follow a bone are at a time.

A bone that moves rigidly takes its nodes along by its matrix. Of one that deforms, every node follows the affine
motion of the bone's vertices around it, counted by their distance (`local_motions.py`): over one and a half tets for
nodes near the surface, over as much as they are away from it for others. So what lies deep in a bone moves with all
sides of it, what lies beside a thin one is turned along by it, and a bone that moves as a whole is followed exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from ..anatomy import Bone
from ..arrays import Floats, Indices, floats
from ..errors import BadInput, SolveFailed
from ..local_motions import Motions, motions_around, near_weights, one_per_cell
from ..tracks import TrackReader
from .reach import Shape

NEAR = 1.5  # vertices around a node that count, in tet sizes
NEIGHBOURS = 64  # of them at most
CELL = 0.5  # side of the cells in which one vertex stands for all, in radii
LOST = 0.05  # extent of the vertices around a node, in radii, below which all of the bone's count alike
SMALLEST = 1.0e-9  # share of a bone's size at rest down to which it is no plane


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes with vertices around them that lie about as far away.

    Attributes:
        rows: Among the nodes of the bone, (k,).
        sampled: The vertices that count, (p,).
        motions: Of these vertices around the nodes.
        offset: From the middle of those vertices to the node at rest [m], (k, 3).
    """

    rows: Indices
    sampled: Indices
    motions: Motions
    offset: Floats


@dataclass(frozen=True, eq=False)
class Motion:
    """How the nodes of a bone move.

    Attributes:
        bone: As in the scene.
        rest: Its nodes at rest [m], (k, 3).
        groups: Which of its vertices move them; none where it has moved rigidly so far.
    """

    bone: Bone
    rest: Floats
    groups: tuple[Group, ...]

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the nodes are at a time [s] in metres, (k, 3).

        Raises:
            SolveFailed: The animation gives no numbers, has other vertices, or turns the bone inside out.
        """
        if self.groups:
            return self._along(self._sample(tracks, f"bone.{self.bone.key}.vertices", time))
        name = f"bone.{self.bone.key}.matrix"
        if not tracks.has(name):
            return self.rest.copy()
        matrix = self._sample(tracks, name, time)
        sizes = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.linalg.det(matrix[:3, :3]) > SMALLEST * sizes.max() ** 3:
            raise SolveFailed("bone-mirrored", name=self.bone.name, time=round(time, 3))
        return np.einsum("ij,kj->ki", matrix[:3, :3], self.rest) + matrix[:3, 3]

    def _sample(self, tracks: TrackReader, name: str, time: float) -> Floats:
        values = tracks.sample(name, time)
        if not np.isfinite(values).all():
            raise SolveFailed("bone-not-finite", name=self.bone.name, time=round(time, 3))
        return values

    def _along(self, vertices: Floats) -> Floats:
        if vertices.shape != np.shape(self.bone.vertices):
            numbers = {"count": len(vertices), "wanted": len(self.bone.vertices)}
            raise SolveFailed("bone-vertices", name=self.bone.name, **numbers)
        middle = vertices.mean(axis=0)
        vertices = vertices - middle
        targets = np.empty_like(self.rest)
        for group in self.groups:
            F, t = group.motions.fit(vertices[group.sampled])
            targets[group.rows] = np.einsum("kij,kj->ki", F, group.offset) + t + middle
        return targets


def make_motion(shape: Shape, rest: Floats, tracks: TrackReader, tet_size: float) -> Motion:
    """Returns how nodes at rest [m], (k, 3), follow a bone in flesh of this tet size [m].

    Raises:
        BadInput: The vertices of a bone that deforms lie on one line.
    """
    if not tracks.has(f"bone.{shape.bone.key}.vertices"):
        return Motion(shape.bone, rest, ())
    vertices = floats(shape.bone.vertices, -1, 3)
    middle = vertices.mean(axis=0)
    away = shape.nearest(rest)[0]
    # by powers of two, so that few sets of vertices do
    level = np.maximum(np.ceil(np.log2(np.maximum(away, 1e-12 * tet_size) / (NEAR * tet_size))), 0.0).astype(int)
    wide = np.maximum(away, NEAR * tet_size)
    groups = []
    for one in np.unique(level).tolist():
        rows = np.flatnonzero(level == one).astype(np.int32)
        groups += _groups(rows, rest[rows] - middle, vertices - middle, wide[rows], NEAR * tet_size * 2.0**one)
    if not all(group.motions.extent.all() for group in groups):
        raise BadInput("bone-on-a-line", name=shape.bone.name)
    return Motion(shape.bone, rest, tuple(groups))


def _groups(rows: Indices, rest: Floats, vertices: Floats, wide: Floats, radius: float) -> list[Group]:
    """Returns the nodes with vertices around them, and those that have too few, which follow the bone as a whole."""
    sampled = one_per_cell(vertices, CELL * radius)
    weights = near_weights(rest, vertices[sampled], NEIGHBOURS, wide)
    motions = motions_around(weights, vertices[sampled])
    lost = motions.extent < LOST * radius
    if not lost.any():
        return [Group(rows, sampled, motions, floats(rest - motions.centre))]
    found = [_as_a_whole(rows[lost], rest[lost], vertices)]
    if not lost.all():
        motions = motions_around(weights[np.flatnonzero(~lost)], vertices[sampled])
        found.append(Group(rows[~lost], sampled, motions, floats(rest[~lost] - motions.centre)))
    return found


def _as_a_whole(rows: Indices, rest: Floats, vertices: Floats) -> Group:
    count = len(vertices)
    motions = motions_around(csr_matrix(np.full((1, count), 1.0 / count)), vertices)
    return Group(rows, np.arange(count, dtype=np.int32), motions, floats(rest - motions.centre))
