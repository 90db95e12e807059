# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders ready for use: their shape in a space in which they only turn and move."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, floats, indices
from ..errors import BadInput
from ..geometry.bvh import Bvh, build_bvh
from ..geometry.enclosure import has_inside, signed_volume
from ..geometry.surface import make_surface
from ..scene import Collider
from ..tracks import TrackReader, turn_and_stretch

STILL = np.eye(4)
STRETCH_CHANGE = 1.0e-3  # relative change of scale or shear that is no rigid motion any more


@dataclass(frozen=True)
class BuiltCollider:
    """A collider in its rigid space: the world is reached by a rotation and a translation.

    Attributes:
        key, name: As in the scene.
        friction, thickness: μ and [m].
        stretch: The constant scale and shear that brought the shape into its rigid space, (3, 3).
        normal: Of a plane through the origin, (3,); not read for meshes.
        bvh: The triangles of a mesh, outward where it is closed; None for planes.
        is_closed: Whether a mesh has an inside.
    """

    key: str
    name: str
    friction: float
    thickness: float
    stretch: Floats
    normal: Floats
    bvh: Bvh | None
    is_closed: bool

    @property
    def is_sheet(self) -> bool:
        """Whether it is a mesh without an inside."""
        return self.bvh is not None and not self.is_closed

    def pose(self, tracks: TrackReader, time: float) -> Floats:
        """Returns rotation and translation [m] at a time [s] as rows R | t, (4, 3).

        Raises:
            BadInput: The collider changes its scale or shear.
        """
        matrix = _matrix(self.key, tracks, time)
        pose = _known_pose(np.ascontiguousarray(matrix).tobytes(), self.stretch.tobytes())
        if pose is None:
            raise BadInput("collider-changes-size", name=self.name, time=round(time, 3))
        return pose


def build_collider(collider: Collider, tracks: TrackReader) -> BuiltCollider:
    """Returns a collider of the scene ready for use.

    Raises:
        BadInput: It has no faces, coordinates that are no numbers, a scale of zero, or settings out of range.
    """
    for setting, value in (("Friction", collider.friction), ("Thickness", collider.thickness)):
        if not value >= 0.0 or not np.isfinite(value):
            raise BadInput("setting-out-of-range", setting=setting, name=collider.name, value=value, range="0 or more")
    matrix = _matrix(collider.key, tracks, 0.0)[:3, :3]
    if not np.isfinite(matrix).all() or np.linalg.cond(matrix) > 1e8:
        raise BadInput("collider-flat", name=collider.name)
    turn, stretch = turn_and_stretch(matrix)
    if collider.shape == "plane":
        normal = turn.T @ np.linalg.inv(matrix).T[:, 2]
        return _built(collider, stretch, normal / np.linalg.norm(normal), None, False)
    surface = make_surface(collider.vertices, collider.triangles, collider.name)
    vertices, triangles = floats(np.einsum("ij,kj->ki", stretch, surface.vertices)), surface.triangles
    is_closed = has_inside(vertices, triangles)
    if is_closed and signed_volume(vertices, triangles) < 0.0:
        triangles = indices(triangles[:, ::-1])
    return _built(collider, stretch, np.zeros(3), build_bvh(vertices, triangles), is_closed)


def _matrix(key: str, tracks: TrackReader, time: float) -> Floats:
    name = f"collider.{key}.matrix"
    return tracks.sample(name, time) if tracks.has(name) else STILL


@functools.lru_cache(maxsize=256)
def _known_pose(matrix: bytes, stretch: bytes) -> Floats | None:
    """Returns R | t of a matrix (4, 4), None where its stretch is another; most colliders stand still."""
    world, usual = np.frombuffer(matrix).reshape(4, 4), np.frombuffer(stretch).reshape(3, 3)
    turn, now = turn_and_stretch(world[:3, :3])
    if np.abs(now - usual).max() > STRETCH_CHANGE * np.abs(usual).max():
        return None
    return np.vstack([turn, world[:3, 3]])


def _built(collider: Collider, stretch: Floats, normal: Floats, bvh: Bvh | None, is_closed: bool) -> BuiltCollider:
    return BuiltCollider(
        collider.key, collider.name, collider.friction, collider.thickness, stretch, normal, bvh, is_closed
    )
