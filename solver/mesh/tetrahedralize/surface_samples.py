# SPDX-License-Identifier: GPL-3.0-or-later
"""Points spread over faces, and the tets that they lie in or closest to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ..embedding import closest_tets
from ..geometry.triangle_surface import Surface
from ..tet_mesh import FilledTets

SAMPLE_SPACING = 0.25  # of the tet size
MAX_STEPS_PER_SIDE = 250  # along one side of a face


@dataclass(frozen=True)
class SurfaceSamples:
    """Points of faces, at least one of each.

    Attributes:
        points: Positions [m], (k, 3).
        face: The face of each, ascending, (k,).
        tet: The tet that each lies in or closest to, (k,).
        distance: How far that tet is [m], zero inside, (k,).
    """

    points: Floats
    face: npt.NDArray[np.int64]
    tet: Indices
    distance: Floats


def sample_surface(surface: Surface, filling: FilledTets, tet_size: float) -> SurfaceSamples:
    """Returns points of all faces, no farther apart than `SAMPLE_SPACING` tet sizes, and their tets."""
    points, face = sample_triangles(surface.corners, SAMPLE_SPACING * tet_size)
    found = closest_tets(filling.nodes, filling.tets, points)
    return SurfaceSamples(points, face, found.tet, found.distance)


def sample_triangles(corners: Floats, spacing: float) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Returns points of triangles, (k, 3), and the triangle of each, (k,): rows that shrink towards one corner.

    Args:
        corners: The triangles [m], (t, 3, 3).
        spacing: How far apart points may be [m].
    """
    sides = np.roll(corners, -1, axis=1) - corners
    lengths = np.linalg.norm(sides, axis=2)
    longest = lengths.argmax(axis=1)
    every = np.arange(len(corners), dtype=np.int64)
    base = lengths[every, longest]
    double_area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    height = double_area / np.where(base > 0.0, base, 1.0)
    columns, rows = (
        np.clip(np.ceil(length / spacing), 1, MAX_STEPS_PER_SIDE).astype(np.int64) for length in (base, height)
    )
    counts = columns * rows
    face = np.repeat(every, counts)
    step = np.arange(len(face), dtype=np.int64) - np.repeat(np.cumsum(counts, dtype=np.int64) - counts, counts)
    along = (step % columns[face] + 0.5) / columns[face]
    up = (step // columns[face] + 0.5) / rows[face]
    first = longest[face]
    a, b, c = (corners[face, (first + i) % 3] for i in range(3))
    along, up = along[:, None], up[:, None]
    return (1.0 - up) * ((1.0 - along) * a + along * b) + up * c, face
