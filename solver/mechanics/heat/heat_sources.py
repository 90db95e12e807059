# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat sources: points and meshes that heat the material near them, where it is by now.

Material at a distance d < r from a source exchanges heat with it as a layer of the thickness r would through its
face: a volume V gets exchange · V / r · (1 − (d/r)²)² · (T_source − T) watts. The fall-off is 1 at the source and
ends smoothly at r, and how finely the material is cut into tets changes nothing. Inside a closed mesh d is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import make_surface
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Floats, floats
from ...runtime.errors import BadInput, SolveFailed
from ...scene.matrix_interpolation import polar_decomposition
from ...scene.scene import HeatSource
from ...scene.tracks import TrackReader
from .approximate_distance import approximate_distances
from .heat_exchange import write_falloff

STRETCH_TOLERANCE = 1.0e-6  # relative change of scale or shear up to which the tree made at the first frame is used
MAX_CONDITION_NUMBER = 1.0e8  # condition number of a matrix that no mesh can be brought back from


@dataclass(frozen=True)
class BuiltSource:
    """A heat source in its rigid space: the world is reached by a rotation and a translation.

    Attributes:
        source: As in the scene.
        matrix: From its own space, turned and stretched, at the first frame, (3, 3).
        rotation, stretch: Rotation of that, and scale and shear, (3, 3) each.
        bvh: Its triangles at that scale; None for a point.
        is_closed: Whether a mesh has an inside.
    """

    source: HeatSource
    matrix: Floats
    rotation: Floats
    stretch: Floats
    bvh: Bvh | None
    is_closed: bool

    def temperature(self, tracks: TrackReader, time: float) -> float:
        """Returns its temperature at a time [°C].

        Raises:
            SolveFailed: The animation gives no number.
        """
        return self._number("temperature", self.source.temperature, tracks, time)

    def exchange(self, tracks: TrackReader, time: float) -> float:
        """Returns its heat transfer coefficient at a time [W/(m² K)], ≥ 0; raises as `temperature`."""
        return max(self._number("exchange", self.source.exchange, tracks, time), 0.0)

    def _number(self, what: str, otherwise: float, tracks: TrackReader, time: float) -> float:
        name = f"heat.{self.source.key}.{what}"
        value = float(tracks.sample(name, time)) if tracks.has(name) else otherwise
        self._check_finite(value, time)
        return value

    def share(self, tracks: TrackReader, time: float, positions: Floats) -> Floats:
        """Returns the fall-off (1 − (d/r)²)² at positions [m], (n, 3), zero from the radius on, as (n,).

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        matrix = _matrix(self.source.key, tracks, time)
        self._check_finite(float(matrix.sum()), time)
        if self.bvh is None:
            share = np.empty(len(positions))
            write_falloff(matrix[:3, 3].copy(), self.source.radius, floats(positions), share)
            return share
        squares = np.square(self._distance(matrix, positions) / self.source.radius)
        return np.square(np.maximum(1.0 - squares, 0.0))

    def _distance(self, matrix: Floats, positions: Floats) -> Floats:
        turn, bvh = self.rotation, self.bvh
        if not np.array_equal(matrix[:3, :3], self.matrix):
            turn, stretch = polar_decomposition(matrix[:3, :3])
            if np.abs(stretch - self.stretch).max() > STRETCH_TOLERANCE * np.abs(self.stretch).max():
                bvh = build_bvh(_stretched(self.source, stretch), self.source.triangles)
        assert bvh is not None
        local = floats((positions - matrix[:3, 3]) @ turn)
        distance = approximate_distances(bvh, local, self.source.radius)
        if self.is_closed:
            box = bvh.boxes[0]
            near = np.flatnonzero(((local > box[:3]) & (local < box[3:])).all(axis=1))
            if len(near):
                distance[near[np.abs(winding_numbers(bvh, local[near])) > 0.5]] = 0.0
        return distance

    def _check_finite(self, value: float, time: float) -> None:
        if not math.isfinite(value):
            raise SolveFailed("heat-source-not-finite", name=self.source.name, time=round(time, 3))


def build_source(source: HeatSource, tracks: TrackReader) -> BuiltSource:
    """Returns a heat source of the scene ready for use.

    Raises:
        BadInput: A mesh has coordinates that are no numbers, or a scale of zero.
        SolveFailed: The animation gives no numbers at the first frame.
    """
    matrix = _matrix(source.key, tracks, 0.0)[:3, :3]
    if not np.isfinite(matrix).all():
        raise SolveFailed("heat-source-not-finite", name=source.name, time=0.0)
    if not len(source.triangles):
        return BuiltSource(source, np.eye(3), np.eye(3), np.eye(3), None, False)
    if np.linalg.cond(matrix) > MAX_CONDITION_NUMBER:
        raise BadInput("heat-source-flat", name=source.name)
    surface = make_surface(source.vertices, source.triangles, source.name)
    turn, stretch = polar_decomposition(matrix)
    vertices, triangles = _stretched(source, stretch), surface.triangles
    is_closed = has_inside(vertices, triangles)
    return BuiltSource(source, matrix.copy(), turn, stretch, build_bvh(vertices, triangles), is_closed)


def _stretched(source: HeatSource, stretch: Floats) -> Floats:
    return floats(np.einsum("ij,kj->ki", stretch, source.vertices))


def _matrix(key: str, tracks: TrackReader, time: float) -> Floats:
    name = f"heat.{key}.matrix"
    return tracks.sample(name, time) if tracks.has(name) else np.eye(4)
