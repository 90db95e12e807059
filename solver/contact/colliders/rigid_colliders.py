# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid colliders, built from the scene: their shape in a space in which they only rotate and translate."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import make_surface, signed_volume
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.contact import SIDES_AUTO, SIDES_BOTH, SIDES_FRONT, Collider
from ...scene.matrix_interpolation import polar_decomposition
from ...scene.scene import Settings
from ...scene.tracks import TrackReader
from .collider_narrow_phase import FRONT_ONLY, SHEET, SOLID
from .deforming_collider import DeformingCollider, frame_at
from .teleports import TeleportCriterion, teleports, values_at_step_ends

IDENTITY_MATRIX = np.eye(4)
POSED_KEY_SUFFIX = ".now"  # of the key of a rigid collider that stands for one that deforms, at one moment
DEFAULT_SETTINGS = Settings()
MAX_STRETCH_CHANGE = 1.0e-3  # relative change of scale or shear above which a motion is not rigid


@dataclass(frozen=True)
class BuiltCollider:
    """A collider in its rigid space, which a rotation and a translation map to the world.

    Attributes:
        key, name: As in the scene.
        friction, thickness: μ and [m].
        stretch: Constant scale and shear from the space of the object to the rigid space, (3, 3).
        normal: Of a plane through the origin, (3,); unused for meshes.
        bvh: The triangles of a mesh, outward where it is solid; None for planes.
        kind: SHEET, SOLID or FRONT_ONLY for a mesh; unused for planes.
        center, half_size: Of the box around a mesh, in its own space [m], (3,) each.
        size: Diameter of that box in the world, for planes of the largest body [m].
        settings: Of the scene.
        ignored_tets: For every body that passes through it: first tet in the model, and one past the last.
        extra_thickness: For every body with a thickness of its own: the same, and its thickness [m].
    """

    key: str
    name: str
    friction: float
    thickness: float
    stretch: Floats
    normal: Floats
    bvh: Bvh | None
    kind: int
    center: Floats
    half_size: Floats
    size: float
    settings: Settings
    ignored_tets: tuple[tuple[int, int], ...] = ()
    extra_thickness: tuple[tuple[int, int, float], ...] = ()

    def collides_with(self, tet: Indices) -> Bools:
        """Returns whether it collides with points in tets of the model, (k,), (k,)."""
        collides = np.ones(len(tet), bool)
        for first, end in self.ignored_tets:
            collides &= (tet < first) | (tet >= end)
        return collides

    def extra_thickness_of(self, tet: Indices) -> Floats:
        """Returns the distance beyond `thickness` that points in tets of the model, (k,), keep [m], (k,)."""
        extra = np.zeros(len(tet))
        for first, end, thickness in self.extra_thickness:
            extra[(tet >= first) & (tet < end)] = thickness
        return extra

    @property
    def max_thickness(self) -> float:
        """The largest distance that any point keeps [m]."""
        return self.thickness + max((thickness for *_, thickness in self.extra_thickness), default=0.0)

    @property
    def is_closed(self) -> bool:
        """Whether it is a mesh with an inside, which it keeps bodies out of."""
        return self.bvh is not None and self.kind == SOLID

    @property
    def is_sheet(self) -> bool:
        """Whether it is a mesh without such an inside."""
        return self.bvh is not None and self.kind != SOLID

    def pose(self, tracks: TrackReader, time: float) -> Floats:
        """Returns rotation and translation [m] at a time [s] as rows R | t, (4, 3).

        Raises:
            BadInput: The collider changes its scale or shear.
        """
        return self.rigid_pose(_matrix(self.key, tracks, time), time)

    def rigid_pose(self, matrix: Floats, time: float) -> Floats:
        """Returns R | t, (4, 3), of a matrix (4, 4) of its track at a time [s]; raises what `pose` raises."""
        pose = _cached_pose(np.ascontiguousarray(matrix).tobytes(), self.stretch.tobytes())
        if pose is None:
            kind = "collider-changes-size" if np.isfinite(matrix).all() else "collider-not-finite"
            raise BadInput(kind, name=self.name, frame=frame_at(self.settings, time))
        return pose

    def matrices_at_step_ends(self, tracks: TrackReader, begin: float, end: float) -> tuple[Floats, Floats]:
        """Returns its matrices (4, 4) at both ends of a step [s]; one array twice if it rests or teleports."""
        name = pose_track_name(self.key)
        if not tracks.has(name):
            return IDENTITY_MATRIX, IDENTITY_MATRIX
        return values_at_step_ends(tracks, name, begin, end, self._teleport_criterion)

    def teleports(self, tracks: TrackReader, begin: float, end: float) -> bool:
        """Returns whether it teleports during a step [s]."""
        name = pose_track_name(self.key)
        return tracks.has(name) and teleports(tracks, name, begin, end, self._teleport_criterion)

    @property
    def _teleport_criterion(self) -> TeleportCriterion:
        return TeleportCriterion(1.0 / self.settings.fps, self.size, self.displacement)

    def displacement(self, a: Floats, b: Floats) -> float:
        """Returns how far it moves from one matrix of its track to another [m].

        For a mesh, the mean displacement of the corners of its box; for a plane, its displacement along the normal, and
        by its tilt at the distance of a body's size.
        """
        if self.bvh is None:
            one, other = (m[:3, 2] / max(float(np.linalg.norm(m[:3, 2])), 1e-300) for m in (a, b))
            return math.hypot((b[:3, 3] - a[:3, 3]) @ other, self.size * float(np.linalg.norm(other - one)))
        turn = b[:3, :3] - a[:3, :3]
        return math.hypot(*(b[:3, 3] - a[:3, 3] + turn @ self.center), *(turn * self.half_size).ravel())


def build_collider(
    collider: Collider, tracks: TrackReader, settings: Settings = DEFAULT_SETTINGS, largest: float = np.inf
) -> BuiltCollider:
    """Returns a rigid collider of the scene ready for use.

    Args:
        collider, tracks, settings: As in the scene.
        largest: Diameter of the largest body [m].

    Raises:
        BadInput: It has no faces, coordinates that are not finite, or a scale of zero.
    """
    matrix = _matrix(collider.key, tracks, settings.start_time)[:3, :3]
    if not np.isfinite(matrix).all() or np.linalg.cond(matrix) > 1e8:
        raise BadInput("collider-flat", name=collider.name)
    turn, stretch = polar_decomposition(matrix)
    if collider.shape == "plane":
        normal = turn.T @ np.linalg.inv(matrix).T[:, 2]
        return replace(_make_collider(collider, stretch, normal / np.linalg.norm(normal), settings), size=largest)
    surface = make_surface(collider.vertices, collider.triangles, collider.name)
    vertices, triangles = floats(np.einsum("ij,kj->ki", stretch, surface.vertices)), surface.triangles
    if np.linalg.det(stretch) < 0.0:  # mirrored: reversed triangles keep their front
        triangles = indices(triangles[:, ::-1])
    kind, is_closed = _open_mesh_kind(collider.sides), has_inside(vertices, triangles)
    if is_closed and collider.sides != SIDES_BOTH:
        is_outward = signed_volume(vertices, triangles) >= 0.0
        if collider.sides == SIDES_AUTO and not is_outward:
            triangles, is_outward = indices(triangles[:, ::-1]), True
        kind = SOLID if is_outward else kind  # a mesh that faces inwards keeps bodies inside
    return _make_collider(
        collider, stretch, np.zeros(3), settings, build_bvh(vertices, triangles), kind, surface.bounds
    )


def posed_collider(deforming: DeformingCollider, vertices: Floats) -> BuiltCollider:
    """Returns a rigid collider with the present shape of one that deforms, vertices at [m], (n, 3)."""
    kind = SOLID if deforming.is_solid else FRONT_ONLY if deforming.is_one_sided else SHEET
    return BuiltCollider(
        key=deforming.key + POSED_KEY_SUFFIX,  # of which there is no track
        name=deforming.name,
        friction=deforming.friction,
        thickness=deforming.thickness,
        stretch=np.eye(3),
        normal=np.zeros(3),
        bvh=build_bvh(vertices, deforming.triangles),
        kind=kind,
        center=vertices.mean(axis=0),
        half_size=0.5 * np.ptp(vertices, axis=0),
        size=deforming.size,
        settings=deforming.settings,
    )


def _open_mesh_kind(sides: str) -> int:
    return FRONT_ONLY if sides == SIDES_FRONT else SHEET


def _matrix(key: str, tracks: TrackReader, time: float) -> Floats:
    name = pose_track_name(key)
    return tracks.sample(name, time) if tracks.has(name) else IDENTITY_MATRIX


def pose_track_name(key: str) -> str:
    """Returns the name of the track of a rigid collider's matrices."""
    return f"collider.{key}.matrix"


@functools.lru_cache(maxsize=256)
def _cached_pose(matrix: bytes, stretch: bytes) -> Floats | None:
    """Returns R | t of a matrix (4, 4), None if its stretch differs; cached, since most colliders rest."""
    world, usual = np.frombuffer(matrix).reshape(4, 4), np.frombuffer(stretch).reshape(3, 3)
    if not np.isfinite(world).all():
        return None
    turn, now = polar_decomposition(world[:3, :3])
    if np.abs(now - usual).max() > MAX_STRETCH_CHANGE * np.abs(usual).max():
        return None
    return np.vstack([turn, world[:3, 3]])


def _make_collider(
    collider: Collider,
    stretch: Floats,
    normal: Floats,
    settings: Settings,
    bvh: Bvh | None = None,
    kind: int = SOLID,
    bounds: tuple[Floats, Floats] | None = None,
) -> BuiltCollider:
    low, high = bounds if bounds is not None else (np.zeros(3), np.zeros(3))
    size = np.inf if bvh is None else float(np.linalg.norm(np.ptp(bvh.boxes[0].reshape(2, 3), axis=0)))
    return BuiltCollider(
        key=collider.key,
        name=collider.name,
        friction=collider.friction,
        thickness=collider.thickness,
        stretch=stretch,
        normal=normal,
        bvh=bvh,
        kind=kind,
        center=0.5 * (low + high),
        half_size=0.5 * (high - low),
        size=size,
        settings=settings,
    )
