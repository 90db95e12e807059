# SPDX-License-Identifier: GPL-3.0-or-later
"""The centreline of an elongated surface, and the polygon with the fewest corners that is nearly as long as it.

The centreline runs through the centroids of the level sets of a coordinate t that is 0 at one end and 1 at the other.
Where t is linear on triangles, such a level set is a polygon, so that the size of the triangles has no weight.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices

_EDGES = ((0, 1), (1, 2), (2, 0))


def level_set_centroids(vertices: Floats, triangles: Indices, t: Floats, levels: Floats) -> Floats:
    """Returns the centroid of the curve on which t has each level [m], (k, 3); NaN where it has it nowhere.

    Args:
        vertices: [m], (n, 3).
        triangles: (m, 3).
        t: At the vertices, (n,); triangles with a NaN do not count.
        levels: (k,).
    """
    corners, values = vertices[triangles], t[triangles]
    known = np.isfinite(values).all(axis=1)
    corners, values = corners[known], values[known]
    found = np.full((len(levels), 3), np.nan, np.float64)
    for k, level in enumerate(levels):
        is_above = values > level
        cut = is_above.any(axis=1) & ~is_above.all(axis=1)
        if cut.any():
            starts, ends = _crossings(corners[cut], values[cut], is_above[cut], float(level))
            lengths = np.linalg.norm(ends - starts, axis=1)
            if lengths.sum() > 0.0:
                found[k] = lengths @ (0.5 * (starts + ends)) / lengths.sum()
    return found


def _crossings(corners: Floats, values: Floats, is_above: Indices, level: float) -> tuple[Floats, Floats]:
    """Returns where the level set enters and leaves triangles that it cuts, two of (c, 3)."""
    places, crosses = [], []
    for a, b in _EDGES:
        span = values[:, b] - values[:, a]
        share = (level - values[:, a]) / np.where(span == 0.0, 1.0, span)
        places.append(corners[:, a] + share[:, None] * (corners[:, b] - corners[:, a]))
        crosses.append(is_above[:, a] != is_above[:, b])
    crossed = np.stack(crosses, axis=1)  # two of three edges
    first, last = crossed.argmax(axis=1), 2 - crossed[:, ::-1].argmax(axis=1)
    rows, at = np.arange(len(corners), dtype=np.int64), np.stack(places, axis=1)
    return at[rows, first], at[rows, last]


def polyline_length(points: Floats) -> float:
    """Returns the length of a line through points [m], (n, 3)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def departure_from_chord(points: Floats) -> float:
    """Returns how far a line, (n, 3), gets from the straight segment between its ends [m]."""
    chord, from_start = points[-1] - points[0], points - points[0]
    share = np.clip(from_start @ chord / max(float(chord @ chord), 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(from_start - share[:, None] * chord, axis=1).max())


def fewest_corners(points: Floats, shortest: float, most: int) -> Indices:
    """Returns which points of a line are the corners of the longest polygon between its ends, rising, (c,).

    Of polygons with 0, 1, 2, ... corners at points of the line, the first one counts that is long enough.

    Args:
        points: Of the line [m], (n, 3).
        shortest: How long the polygon has to be [m].
        most: The number of corners at which it ends anyway.
    """
    spans = np.linalg.norm(points[:, None] - points[None], axis=2)
    count, last = len(points), len(points) - 1
    spans[np.tril_indices(count)] = -np.inf  # it goes forwards only
    lengths = spans[0]  # of the longest polygon with so many corners from the first point to each
    before: list[Indices] = []  # its corner before each, with one corner, two, ...
    while lengths[last] < shortest and len(before) < min(most, count - 2):
        reached = lengths[:, None] + spans
        before.append(reached.argmax(axis=0))
        lengths = reached.max(axis=0)
    corners, at = [], last
    for previous in reversed(before):
        at = int(previous[at])
        corners.append(at)
    return np.array(corners[::-1], np.int32)
