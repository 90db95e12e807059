# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that deform: surfaces whose vertices follow a track."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_surface import make_surface, signed_volume
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.contact import SIDES_BOTH, SIDES_FRONT, Collider
from ...scene.scene import Settings
from ...scene.tracks import TrackReader
from .teleports import TeleportCriterion, teleports, values_at_step_ends

ACTIVE_THRESHOLD = 0.5  # value of the track of activity above which a collider is active


@dataclass(frozen=True, eq=False)
class DeformingCollider:
    """A collider that changes its shape, ready for use.

    Attributes:
        key, name: As in the scene.
        friction, thickness: μ and [m].
        vertices: At the start of the simulation [m], world, (n, 3).
        triangles: Outward where the mesh is closed and has no front of its own, (t, 3).
        is_one_sided: Whether it collides only with what comes from the front of its triangles.
        is_solid: Whether it has an inside, which it keeps bodies out of.
        size: Diameter of the box around all vertices [m].
        settings: Of the scene.
        overlap_vertices: Where it was modeled [m], world, (n, 3), if flesh stays as deep in it as there; else (0, 3).
    """

    key: str
    name: str
    friction: float
    thickness: float
    vertices: Floats
    triangles: Indices
    is_one_sided: bool
    is_solid: bool
    size: float
    settings: Settings
    overlap_vertices: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    def vertices_at(self, tracks: TrackReader, time: float) -> Floats:
        """Returns the positions of its vertices at a time [s]: [m], (n, 3).

        Raises:
            BadInput: A coordinate is not a number.
        """
        return self._checked_finite(tracks.sample(_vertex_track_name(self.key), time), time)

    def vertices_at_ends(self, tracks: TrackReader, begin: float, end: float) -> tuple[Floats, Floats]:
        """Returns the positions of its vertices at both ends of a step [m], (n, 3) each, the same if it teleports.

        Raises:
            BadInput: A coordinate is not a number.
        """
        first, last = values_at_step_ends(tracks, _vertex_track_name(self.key), begin, end, self._teleport_criterion)
        return self._checked_finite(first, begin), self._checked_finite(last, end)

    def origin(self, tracks: TrackReader, time: float) -> Floats:
        """Returns the reference point of torques on it at a time [m], (3,): its origin, or else its mean vertex."""
        name = f"collider.{self.key}.matrix"
        return tracks.sample(name, time)[:3, 3] if tracks.has(name) else self.vertices_at(tracks, time).mean(axis=0)

    def is_active(self, tracks: TrackReader, begin: float, end: float) -> bool:
        """Returns whether bodies collide with it during a step."""
        return is_active(self.key, tracks, begin, end)

    def appears(self, tracks: TrackReader, begin: float, end: float) -> bool:
        """Returns whether it was elsewhere, or inactive, in the step before a step."""
        if not self.is_active(tracks, begin, end):
            return False
        if begin <= self.settings.start_time or not self.is_active(tracks, begin - (end - begin), begin):
            return True
        return self.teleports(tracks, begin, end)

    def teleports(self, tracks: TrackReader, begin: float, end: float) -> bool:
        """Returns whether it teleports during a step."""
        return teleports(tracks, _vertex_track_name(self.key), begin, end, self._teleport_criterion)

    @property
    def _teleport_criterion(self) -> TeleportCriterion:
        return TeleportCriterion(1.0 / self.settings.fps, self.size, _mean_displacement)

    def _checked_finite(self, vertices: Floats, time: float) -> Floats:
        if not np.isfinite(vertices).all():
            raise BadInput("collider-not-finite", name=self.name, frame=frame_at(self.settings, time))
        return vertices


def has_vertex_track(key: str, tracks: TrackReader) -> bool:
    """Whether a collider has a track of vertices."""
    return tracks.has(_vertex_track_name(key))


def build_deforming(collider: Collider, tracks: TrackReader, settings: Settings) -> DeformingCollider:
    """Returns a deforming collider of the scene ready for use.

    Raises:
        BadInput: It has no faces, is a plane, or its track belongs to another mesh.
    """
    if collider.shape != "mesh":
        raise BadInput("collider-plane-deforms", name=collider.name)
    vertices = tracks.sample(_vertex_track_name(collider.key), settings.start_time)
    if vertices.shape != collider.vertices.shape:
        raise BadInput("collider-of-another-mesh", name=collider.name)
    if not np.isfinite(vertices).all():
        raise BadInput("collider-not-finite", name=collider.name, frame=frame_at(settings, settings.start_time))
    surface = make_surface(vertices, collider.triangles, collider.name)
    triangles, is_closed = surface.triangles, has_inside(vertices, surface.triangles)
    is_outward = signed_volume(vertices, triangles) >= 0.0
    if is_closed and collider.sides != SIDES_FRONT and not is_outward:
        triangles, is_outward = indices(triangles[:, ::-1]), True
    return DeformingCollider(
        key=collider.key,
        name=collider.name,
        friction=collider.friction,
        thickness=collider.thickness,
        vertices=surface.vertices,
        triangles=triangles,
        is_one_sided=collider.sides == SIDES_FRONT or (is_closed and collider.sides != SIDES_BOTH),
        is_solid=is_closed and is_outward and collider.sides != SIDES_BOTH,
        size=float(np.linalg.norm(np.ptp(vertices, axis=0))),
        settings=settings,
        overlap_vertices=floats(collider.rest_vertices[: len(vertices) if collider.keeps_overlap else 0]),
    )


def is_active(key: str, tracks: TrackReader, begin: float, end: float) -> bool:
    """Whether bodies feel a collider from one time to another [s]: it is on at the samples before and after."""
    name = f"collider.{key}.active"
    if not tracks.has(name):
        return True
    times, values, at = tracks.samples_around(name, begin, end)
    after = min(int(np.searchsorted(times, end - 1e-9)), len(times) - 1)
    return bool((values[at : max(after, at) + 1] > ACTIVE_THRESHOLD).all())


def frame_at(settings: Settings, time: float) -> int:
    """Returns the frame at a time [s], or the next one where it lies between two."""
    return math.ceil(settings.frame_start + time * settings.fps - 1e-6)


def interpolate_corners(vertices: Floats, corners: Indices, weights: Floats) -> Floats:
    """Returns points on faces and edges of a moving mesh [m], (k, 3).

    Args:
        vertices: Of the mesh, now [m], (n, 3).
        corners: The vertices that each point lies between, (k, 3).
        weights: Its barycentric weights there, (k, 3).
    """
    at = vertices[corners[:, 0]]
    between = np.flatnonzero(weights[:, 0] < 1.0)  # most points are vertices
    if len(between):
        at[between] = np.einsum("kc,kci->ki", weights[between], vertices[corners[between]])
    return at


def _vertex_track_name(key: str) -> str:
    return f"collider.{key}.vertices"


def _mean_displacement(a: Floats, b: Floats) -> float:
    """Returns how far vertices move on average [m]."""
    return float(np.sqrt(((b - a) ** 2).sum(axis=1).mean()))
