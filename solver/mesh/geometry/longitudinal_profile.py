# SPDX-License-Identifier: GPL-3.0-or-later
"""Elongated surfaces, as of muscles: how far each vertex is from one end to the other, and how thick the middle is.

Distances run along the edges of the surface, so that a bent or twisted shape has its ends where one sees them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ...runtime.arrays import Floats, Indices
from .connected_components import connected_components
from .face_edges import edge_ends, face_edges
from .triangle_surface import Surface
from .welding import weld

TIP_SHARE = 0.03  # of the length: vertices from which distances are measured
MIDDLE_SHARES = (0.1, 0.25, 0.5)  # of the length on each side of the middle, until there are vertices
MIN_SECTION_POINTS = 6
WIDTH_STATIONS = 21
THIN_WIDTH_SHARE = 0.4  # of the largest width: a thinner end is tendon
MAX_TENDON_SHARE = 0.1  # of the length: long tendons of few tets are rods that do not follow a bent joint


@dataclass(frozen=True)
class ElongatedSurface:
    """An elongated surface.

    Attributes:
        along: 0 at one end to 1 at the other, (n,); NaN for vertices that no edge connects with both.
        length: From end to end [m].
        vertices: [m], (n, 3).
    """

    along: Floats
    length: float
    vertices: Floats

    def thickness(self) -> float:
        """Returns the shorter extent of the cross section in the middle [m]."""
        for share in MIDDLE_SHARES:
            section = self.vertices[np.abs(self.along - 0.5) <= share]
            if len(section) >= MIN_SECTION_POINTS:
                break
        section = section - section.mean(axis=0)
        axis = self._axis()
        across = section - np.outer(section @ axis, axis)
        directions = np.linalg.svd(across, full_matrices=False)[2][:2]
        return float(np.ptp(across @ directions.T, axis=0).min())

    def thin_ends(self) -> tuple[float, float]:
        """Returns how long each end is that is much thinner than the widest part [m], the one at along 0 first."""
        widths = self._widths()
        is_wide = widths >= THIN_WIDTH_SHARE * widths.max()
        shares = np.argmax(is_wide), np.argmax(is_wide[::-1])
        first, last = (min(float(share) / (WIDTH_STATIONS - 1), MAX_TENDON_SHARE) * self.length for share in shares)
        return first, last

    def reversed(self) -> ElongatedSurface:
        """Returns the surface from its other end."""
        return ElongatedSurface(1.0 - self.along, self.length, self.vertices)

    def _axis(self) -> Floats:
        ends = (np.nanmean(self.vertices[part], axis=0) for part in (self.along <= 0.5, self.along > 0.5))
        first, last = ends
        return (last - first) / np.linalg.norm(last - first)

    def _widths(self) -> Floats:
        """Returns mean distances from the middle of the cross section at stations along the length [m]."""
        stations, found, widths = np.linspace(0.0, 1.0, WIDTH_STATIONS), [], []
        for station in stations:
            section = self.vertices[np.abs(self.along - station) <= 0.5 / (WIDTH_STATIONS - 1)]
            if len(section) > 2:
                found.append(station)
                widths.append(np.linalg.norm(section - section.mean(axis=0), axis=1).mean())
        return np.interp(stations, found, widths) if found else np.ones(WIDTH_STATIONS)


def elongated_surface(vertices: Floats, triangles: Indices) -> ElongatedSurface:
    """Returns a surface [m], (n, 3) and (t, 3), from end to end: between the two vertices that are farthest apart.

    Vertices at one place count as one. Of several pieces, the largest counts.
    """
    corners = weld(Surface(vertices, triangles))
    places = np.empty((int(corners.max(initial=-1)) + 1, 3))
    places[corners] = vertices[triangles]
    along_places, length = _from_end_to_end(places, corners)
    along = np.full(len(vertices), np.nan)
    along[triangles] = along_places[corners]
    return ElongatedSurface(along, length, vertices)


def _from_end_to_end(vertices: Floats, triangles: Indices) -> tuple[Floats, float]:
    """Returns how far along each vertex of a welded surface is, (n,), and its length [m]."""
    edges = edge_ends(triangles, face_edges(triangles))
    lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    lengths = np.maximum(lengths, 1e-12 * lengths.max(initial=0.0))  # to SciPy, 0 is no edge
    graph = coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(len(vertices),) * 2).tocsr()

    def distances(start: Indices) -> Floats:
        return np.asarray(dijkstra(graph, directed=False, indices=start, min_only=True))

    def farthest(from_start: Floats) -> int:
        return int(np.argmax(np.where(np.isfinite(from_start), from_start, -1.0)))

    piece = connected_components(edges[:, 0], edges[:, 1], len(vertices))
    used = np.flatnonzero(piece == np.bincount(piece).argmax())
    start = used[np.argmax(np.linalg.norm(vertices[used] - vertices[used].mean(axis=0), axis=1))]
    one = farthest(distances(np.array([start], np.int32)))
    from_one = distances(np.array([one], np.int32))
    other = farthest(from_one)
    from_other, length = distances(np.array([other], np.int32)), float(from_one[other])
    tips = [np.flatnonzero(found <= TIP_SHARE * length).astype(np.int32) for found in (from_one, from_other)]
    from_one, from_other = (distances(tip) for tip in tips)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(from_one), from_one / (from_one + from_other), np.nan), length
