# SPDX-License-Identifier: GPL-3.0-or-later
"""From where a force field acts on points: its object's origin, axis or plane, or its mesh. In Blender units."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import SolveFailed
from ...scene.force_fields import HARMONIC, LINE, PLANE, POINTS, SURFACE, VORTEX, ForceField
from ...scene.tracks import TrackReader


@dataclass(frozen=True)
class Sources:
    """Sources of a field.

    Attributes:
        positions, normals: (m, 3) each.
        is_paired: Whether they are one for each of the points that were asked for, instead of all for all.
    """

    positions: Floats
    normals: Floats
    is_paired: bool


@dataclass(frozen=True)
class PlacedField:
    """A field where it is at a time.

    Attributes:
        force_field: As in the scene.
        centre, axis: Origin and z axis of its object, of the length 1, (3,) each.
        to_object: Object space ← world, (4, 4).
        vertices: Of its mesh, world, (k, 3).
    """

    force_field: ForceField
    centre: Floats
    axis: Floats
    to_object: Floats
    vertices: Floats
    _bvh: list[Bvh] = field(default_factory=list)

    def sources(self, x: Floats, v: Floats, numbers: Indices, look_ahead: float) -> Sources:
        """Returns what acts on points.

        Args:
            x, v: Of the points, (n, 3) each.
            numbers: Of the points in their bodies, (n,): of "points", a spring pulls each to a vertex of its own.
            look_ahead: Time by which points are moved on before the nearest point of a surface is looked for, as
                Blender does by a frame [s].
        """
        shape = self.force_field.shape
        if shape == POINTS:
            normals = vertex_normals(self.vertices, self.force_field.triangles, self.centre)
            if self.force_field.kind != HARMONIC or not len(self.vertices):
                return Sources(self.vertices, normals, False)
            own = numbers % len(self.vertices)
            return Sources(self.vertices[own], normals[own], True)
        if shape == SURFACE:
            return self._nearest_on_surface(x + look_ahead * v)
        if shape not in (LINE, PLANE):
            return Sources(self.centre[None].copy(), self.axis[None].copy(), False)
        along = ((x - self.centre) @ self.axis)[:, None] * self.axis
        is_line = shape == LINE or self.force_field.kind == VORTEX
        return Sources(self.centre + along if is_line else x - along, np.tile(self.axis, (len(x), 1)), True)

    def _nearest_on_surface(self, x: Floats) -> Sources:
        triangles = self.force_field.triangles
        if not self._bvh:
            self._bvh.append(build_bvh(self.vertices, triangles))
        found = closest_points(self._bvh[0], x)
        corners = self.vertices[triangles[found.triangle]]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return Sources(np.einsum("kc,kci->ki", found.weights, corners), unit_vectors(across), True)


class FieldPlacer:
    """Places a field at any time. Where its object stands still, it does so once."""

    def __init__(self, force_field: ForceField) -> None:
        self.force_field = force_field
        self._last: tuple[bytes, PlacedField] | None = None

    def at(self, tracks: TrackReader, time: float) -> PlacedField:
        """Returns the field at a time [s].

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        name, own = f"field.{self.force_field.key}", self.force_field
        matrix = tracks.sample(f"{name}.matrix", time) if tracks.has(f"{name}.matrix") else np.eye(4)
        moved = tracks.sample(f"{name}.vertices", time) if tracks.has(f"{name}.vertices") else None
        if not np.isfinite(matrix).all() or (moved is not None and not np.isfinite(moved).all()):
            raise SolveFailed("force-field-not-finite", name=own.name, time=round(time, 3))
        state = matrix.tobytes() + (b"" if moved is None else moved.tobytes())
        if self._last is None or self._last[0] != state:
            world = own.vertices @ matrix[:3, :3].T + matrix[:3, 3] if moved is None else moved
            self._last = (state, _placed(own, matrix, world))
        return self._last[1]


def _placed(own: ForceField, matrix: Floats, vertices: Floats) -> PlacedField:
    in_units = matrix.copy()
    in_units[:3, 3] /= own.unit
    to_object = np.linalg.pinv(in_units)
    axis = unit_vectors(matrix[:3, 2][None])[0]
    return PlacedField(own, in_units[:3, 3].copy(), axis, to_object, floats(vertices / own.unit))


def vertex_normals(vertices: Floats, triangles: Indices, centre: Floats) -> Floats:
    """Returns the normals at vertices: those of their triangles weighted by the angles there, (n, 3).

    A vertex without triangles has the direction from `centre`, (3,), as in Blender.
    """
    total = np.zeros_like(vertices)
    corners = vertices[triangles]
    normal = unit_vectors(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    for corner in range(3):
        to_next = unit_vectors(corners[:, (corner + 1) % 3] - corners[:, corner])
        to_last = unit_vectors(corners[:, (corner + 2) % 3] - corners[:, corner])
        angle = np.arccos(np.clip(np.einsum("ti,ti->t", to_next, to_last), -1.0, 1.0))
        np.add.at(total, triangles[:, corner], angle[:, None] * normal)
    is_loose = np.ones(len(vertices), bool)
    is_loose[triangles] = False
    total[is_loose] = vertices[is_loose] - centre
    return unit_vectors(total)


def unit_vectors(vectors: Floats) -> Floats:
    """Returns vectors of the length 1, (n, 3), zero for zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(length, np.finfo(float).tiny)
