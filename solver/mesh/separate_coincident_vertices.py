# SPDX-License-Identifier: GPL-3.0-or-later
"""Lips that touch: vertices of their own at one place, on surfaces of tets that have nothing to do with each other.

A place says nothing of which lip a vertex belongs to; the side that its faces turn their backs to does. So it is looked
up a little way in there. Where vertices at one place are of the same or of neighbouring tets they are one, as along the
seams of most imported meshes, and stay where they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runtime.arrays import Floats, Indices
from .embedding import closest_tets
from .geometry.triangle_surface import Surface
from .geometry.welding import weld

SEPARATION_SHARE = 1.0e-5  # how far such vertices are moved in, in sizes of tets; a contact tells 1e-3 apart


def separate_coincident_vertices(surface: Surface, nodes: Floats, tets: Indices, size: float) -> Surface:
    """Returns a surface with the vertices of lips that touch a little inside their own lip; most surfaces have none.

    Args:
        surface: In the place of the tets [m].
        nodes, tets: The body at rest [m], (n, 3) and (m, 4).
        size: Of the tets [m].
    """
    used, first = np.unique(surface.triangles, return_index=True)
    place = weld(surface).ravel()[first]
    if int(place.max(initial=-1)) + 1 == len(used):
        return surface
    shared = np.bincount(place)[place] > 1
    which, place = used[shared], place[shared]
    vertices = surface.vertices.copy()
    vertices[which] -= SEPARATION_SHARE * size * _vertex_normals(surface)[which]
    own = np.sort(tets[closest_tets(nodes, tets, vertices[which]).tet], axis=1)
    is_lip = np.zeros(len(which), bool)
    order = np.argsort(place, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
        if (own[group] != own[group[0]]).any():
            is_lip[group] = _has_unconnected_tets(own[group])
    if not is_lip.any():
        return surface
    vertices[which[~is_lip]] = surface.vertices[which[~is_lip]]
    return replace(surface, vertices=vertices)


def _has_unconnected_tets(tets: Indices) -> np.ndarray:
    """Returns which tets, (k, 4), have no node in common with one of the others, (k,)."""
    alike = (tets[:, None, :, None] == tets[None, :, None, :]).any(axis=(2, 3))
    return ~alike.all(axis=1)


def _vertex_normals(surface: Surface) -> Floats:
    """Returns where the faces of each vertex look on average, of length one, (n, 3); 0 for those of no face."""
    a, b, c = np.moveaxis(surface.corners, 1, 0)
    normals, out = np.repeat(np.cross(b - a, c - a), 3, axis=0), np.zeros_like(surface.vertices)
    for axis in range(3):
        out[:, axis] = np.bincount(surface.triangles.ravel(), normals[:, axis], minlength=len(out))
    return out / np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]
