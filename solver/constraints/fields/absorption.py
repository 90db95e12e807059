# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a force field colliders keep from the points behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.segment_surface_crossings import segments_crossing
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...runtime.arrays import Bools, Floats, floats
from ...scene.contact import Collider
from ...scene.tracks import TrackReader

MIN_ACTIVE = 0.5  # of the track "collider.KEY.active"


@dataclass(frozen=True)
class Absorber:
    """A collider that absorbs fields.

    Attributes:
        collider: As in the scene.
        bvh: Of its triangles in its own space; None for a plane.
    """

    collider: Collider
    bvh: Bvh | None

    def is_hidden(self, tracks: TrackReader, time: float, points: Floats, sources: Floats) -> Bools:
        """Returns which of the ways from points to sources [m], (n, 3) each, pass through it at a time [s], (n,)."""
        name = f"collider.{self.collider.key}"
        if tracks.has(f"{name}.active") and tracks.sample(f"{name}.active", time) <= MIN_ACTIVE:
            return np.zeros(len(points), bool)
        if tracks.has(f"{name}.vertices"):
            bvh = build_bvh(tracks.sample(f"{name}.vertices", time), self.collider.triangles)
            return segments_crossing(bvh, points, sources)
        matrix = tracks.sample(f"{name}.matrix", time) if tracks.has(f"{name}.matrix") else np.eye(4)
        inverse = np.linalg.pinv(matrix)
        begin, end = (floats(x @ inverse[:3, :3].T + inverse[:3, 3]) for x in (points, sources))
        return (begin[:, 2] < 0.0) != (end[:, 2] < 0.0) if self.bvh is None else segments_crossing(self.bvh, begin, end)


def make_absorbers(colliders: Sequence[Collider]) -> tuple[Absorber, ...]:
    """Returns those colliders that absorb fields."""
    absorbing = (collider for collider in colliders if collider.absorption > 0.0)
    return tuple(Absorber(c, build_bvh(c.vertices, c.triangles) if c.shape == "mesh" else None) for c in absorbing)


def visibility(
    absorbers: Sequence[Absorber], tracks: TrackReader, time: float, points: Floats, sources: Floats
) -> Floats:
    """Returns Π (1 − absorption) of what is between points and sources [m], (n, 3) each, at a time [s], (n,)."""
    seen = np.ones(len(points))
    for absorber in absorbers:
        seen[absorber.is_hidden(tracks, time, points, sources)] *= 1.0 - absorber.collider.absorption
    return seen
