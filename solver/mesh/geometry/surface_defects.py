# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a surface is not the boundary of a volume: open, doubled, inside out, or crossing itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Indices
from .face_edges import edge_ends, face_edges
from .orient_outward import orient_outward
from .self_intersections import crossing_faces
from .triangle_bvh import build_bvh
from .triangle_surface import Surface
from .welding import number_rows, weld


@dataclass(frozen=True)
class SurfaceDefects:
    """Where a surface is not the boundary of a volume: vertices, ascending, (k,) each, but for `inward`.

    Attributes:
        open: At edges with an odd number of faces; vertices at one place count as one.
        doubled: At the place of another vertex, or of faces that lie there twice.
        crossing: Of faces that cross others.
        inward: Faces that look inwards, (t,).
    """

    open: Indices
    doubled: Indices
    crossing: Indices
    inward: Indices


def find_surface_defects(surface: Surface) -> SurfaceDefects:
    """Returns where a surface with at least one face is not the boundary of a volume."""
    welded, triangles = weld(surface), surface.triangles
    has_corners = (welded != np.roll(welded, 1, axis=1)).all(axis=1)  # faces without area have no sides
    crossing = crossing_faces(build_bvh(surface.vertices, triangles), welded)
    outward = orient_outward(surface)
    is_turned = (outward.surface.triangles != triangles[outward.face]).any(axis=1)
    return SurfaceDefects(
        open=_open_vertices(triangles[has_corners], welded[has_corners]),
        doubled=_doubled_vertices(triangles[has_corners], welded[has_corners]),
        crossing=_used(triangles[np.concatenate(crossing)]),
        inward=np.sort(outward.face[is_turned]).astype(np.int32),
    )


def _open_vertices(triangles: Indices, welded: Indices) -> Indices:
    edges = face_edges(welded)
    places = edge_ends(welded, edges)[edges.faces_at % 2 == 1]
    return _used(triangles[np.isin(welded, places)])


def _doubled_vertices(triangles: Indices, welded: Indices) -> Indices:
    vertices, first = np.unique(triangles, return_index=True)
    place = welded.ravel()[first]
    is_shared = np.bincount(place, minlength=1)[place] > 1
    face_place = number_rows(np.sort(welded, axis=1)) if len(welded) else np.zeros(0, np.int64)
    is_twice = np.bincount(face_place, minlength=1)[face_place] > 1
    return np.union1d(vertices[is_shared], triangles[is_twice]).astype(np.int32)


def _used(corners: Indices) -> Indices:
    return np.unique(corners).astype(np.int32)
