# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals that hide closed cracks in the shading, by averaging over both sides. Knows no Blender.

The shading normal at a vertex of the render mesh is the angle-weighted sum of the normals of its faces; inside a
triangle it is interpolated. A cut separates these faces and adds vertices. As long as a crack is closed, the sum has to
include both of its sides, and new vertices need an interpolated normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ..cache.final_mesh_file import StoredResult
from .attribute_transfer import MeshTopology

# barycentric weight above which a corner is at a vertex of the render mesh
MIN_VERTEX_WEIGHT = 1.0 - 2.0e-7
# relative to the size of the body; nearer vertices count as coincident
COINCIDENCE_TOLERANCE = 1.0e-9


@dataclass(frozen=True)
class ClosedCrackNormals:
    """The terms of the shading normal of each of c corners.

    Attributes:
        is_closed_crack: Corners at closed cracks: their normal is a mean over both sides, (c,) bool.
        opening_frame: The first frame at which a crack at the corner opens, (c,); a large number if none does.
        closed_group: Group of the corners whose faces are summed while cracks are closed, (c,).
        open_group: The same once the crack is open, (c,).
        sums: The three corners whose sums make up the normal of a corner at a closed crack, (c, 3).
        weights: Their weights, (c, 3).
    """

    is_closed_crack: npt.NDArray[np.bool_]
    opening_frame: Floats
    closed_group: Indices
    open_group: Indices
    sums: Indices
    weights: Floats


NEVER_OPENS = 1.0e9


def find_closed_crack_normals(result: StoredResult, topology: MeshTopology, normals: Floats) -> ClosedCrackNormals:
    """Returns the terms of the shading normals of a result.

    Args:
        result: The result.
        topology: Of the render mesh.
        normals: Shading normals of the corners of the render mesh, (l, 3), equal within a smooth fan.
    """
    count = len(result.corners)
    on_surface = result.corner_triangle >= 0
    loops = topology.triangle_loops[np.maximum(result.corner_triangle, 0)]
    strongest = np.argmax(result.corner_weights, axis=1)
    at_vertex = on_surface & (result.corner_weights[np.arange(count, dtype=np.int64), strongest] >= MIN_VERTEX_WEIGHT)
    own_loop = loops[np.arange(count, dtype=np.int64), strongest]

    fan_of_loop = _smooth_fans(topology, normals)
    fans = int(fan_of_loop.max(initial=-1)) + 1
    open_group = fans + result.corners
    closed_group = np.where(at_vertex, fan_of_loop[own_loop], open_group)

    place = _coincident_vertices(result.rest)
    opening_frame = _opening_frames(result, place)[place[result.corners]]
    vertices_in_fan = np.unique(np.stack([closed_group[at_vertex], result.corners[at_vertex]]), axis=1)[0]
    is_parted = np.bincount(vertices_in_fan, minlength=fans + len(result.rest)) > 1
    is_closed_crack = on_surface & (opening_frame < NEVER_OPENS) & (~at_vertex | is_parted[closed_group])

    some_corner = np.full(fans, -1, np.int64)
    some_corner[closed_group[at_vertex]] = np.flatnonzero(at_vertex)
    sums = some_corner[fan_of_loop[loops]]
    is_closed_crack &= (sums >= 0).all(axis=1)
    sums[~is_closed_crack] = 0
    # a corner at a vertex of the render mesh uses its own sum
    sums[at_vertex & is_closed_crack] = np.flatnonzero(at_vertex & is_closed_crack)[:, None]
    return ClosedCrackNormals(
        is_closed_crack,
        opening_frame,
        closed_group,
        open_group,
        sums,
        np.where(is_closed_crack[:, None], result.corner_weights, 0.0),
    )


def _smooth_fans(topology: MeshTopology, normals: Floats) -> Indices:
    """Returns the smooth fan of each corner of the render mesh: corners at one vertex with the same normal, (l,)."""
    bits = np.ascontiguousarray(normals, np.float32).view(np.int32).reshape(-1, 3)
    rows = np.column_stack([topology.loop_vertex, bits])
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def _coincident_vertices(rest: Floats) -> Indices:
    """Returns one number for all vertices at one position, (k,)."""
    step = max(float(np.ptp(rest, axis=0).max(initial=0.0)) * COINCIDENCE_TOLERANCE, np.finfo(float).tiny)
    return np.unique(np.round((rest - rest.min(axis=0)) / step), axis=0, return_inverse=True)[1].ravel()


def _opening_frames(result: StoredResult, place: Indices) -> Floats:
    """Returns the first frame at which a broken face opens, or the copies of a vertex part, at each position."""
    opening_frame = np.full(int(place.max(initial=-1)) + 1, NEVER_OPENS, np.float64)
    faces = result.face_of_corner
    broken = result.is_broken[faces]
    np.minimum.at(opening_frame, place[result.corners[broken]], result.opens[faces[broken]])
    if len(result.vertex_opens):
        np.minimum.at(opening_frame, place, result.vertex_opens)
    return opening_frame
