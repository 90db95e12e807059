# SPDX-License-Identifier: GPL-3.0-or-later
"""Closes the holes of an open surface: a fan of triangles from the middle of each loop of open edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from .face_edges import face_edges

# of the diagonal of the surface, within which vertices are at one place
WELD_TOLERANCE = 1.0e-9


class HoleCaps(NamedTuple):
    """What closes the holes of a surface.

    Attributes:
        middles: A vertex per hole, numbered on from those of the surface [m], (h, 3).
        triangles: (t, 3), turned as the faces around the hole are.
    """

    middles: Floats
    triangles: Indices


def hole_caps(vertices: Floats, triangles: Indices) -> HoleCaps:
    """Returns what closes the holes of vertices [m], (n, 3), and triangles, (t, 3); nothing where there is none."""
    loops = open_loops(_joined_at_borders(vertices, triangles))
    middles = np.array([vertices[loop].mean(axis=0) for loop in loops]).reshape(-1, 3)
    fans = []
    for number, loop in enumerate(loops):
        middle = np.full(len(loop), len(vertices) + number, np.int64)
        fans.append(np.stack([np.roll(loop, -1), loop, middle], axis=1))
    found = np.concatenate(fans) if fans else np.zeros((0, 3))
    return HoleCaps(middles, found.astype(np.int32))


def _joined_at_borders(vertices: Floats, triangles: Indices) -> Indices:
    """Returns triangles, (t, 3), whose open edges have one vertex for all that are at one place: seams are no holes."""
    border = np.unique(np.concatenate([np.zeros(0, np.int64), *open_loops(triangles)]))
    if not len(border):
        return triangles
    places = vertices[border]
    step = max(float(np.linalg.norm(np.ptp(vertices, axis=0))) * WELD_TOLERANCE, np.finfo(float).tiny)
    _, first, group = np.unique(
        np.round((places - places.min(axis=0)) / step), axis=0, return_index=True, return_inverse=True
    )
    joined = np.arange(len(vertices), dtype=np.int64)
    joined[border] = border[first[group.ravel()]]
    return joined[triangles].astype(np.int32)


def open_loops(triangles: Indices) -> list[npt.NDArray[np.int64]]:
    """Returns the loops of edges that have one face, of triangles (t, 3), each in the direction of its faces, (k,).

    Where loops touch at a vertex, they are parted there. What does not close is left out.
    """
    edges = face_edges(triangles)
    is_open = edges.faces_at[edges.edge] == 1
    start = triangles.ravel()[is_open].tolist()
    end = np.roll(triangles, -1, axis=1).ravel()[is_open].tolist()
    onward: dict[int, list[int]] = {}
    for one, other in zip(start, end, strict=True):
        onward.setdefault(one, []).append(other)
    loops = []
    for first in dict.fromkeys(start):
        while onward.get(first):
            path, place = [first], {first: 0}
            while onward.get(path[-1]):
                following = onward[path[-1]].pop()
                if following in place:
                    begin = place[following]
                    loops.append(np.array(path[begin:], np.int64))
                    for left in path[begin + 1 :]:
                        del place[left]
                    path = path[: begin + 1]
                else:
                    place[following] = len(path)
                    path.append(following)
    return [loop for loop in loops if len(loop) > 2]
