# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the nodes that follow a bone are at a time.

A bone that moves rigidly takes its nodes along by its matrix. Those of one that deforms follow its mesh
(`constraints/mesh_following.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.moving_least_squares import transform_rows
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.errors import BadInput, SolveFailed
from ...scene.flesh import Bone
from ...scene.tracks import TrackReader
from ..mesh_following import DeformingMotion, FollowedMesh, make_deforming_motion
from .bone_distance import BoneShape

MIN_VOLUME_RATIO = 1.0e-9  # share of a bone's size at rest down to which it is no plane


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
    mesh = FollowedMesh(shape.bone.vertices, shape.triangles)
    deforming = make_deforming_motion(mesh, rest, tets, is_surrounded, shape.distance_to(rest), tet_size)
    if deforming is None:
        raise BadInput("bone-on-a-line", name=shape.bone.name)
    return BoneMotion(shape.bone, rest, deforming)
