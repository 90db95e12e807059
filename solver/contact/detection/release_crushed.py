# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of colliders that are let go of in a body that is crushed, so that it can come out of what crushes it.

A body between plates that close altogether is turned inside out, and then one point of a plate would push it up and the
next one down, for ever. What the points of the body itself feel brings it out.

Nor does a body rest on a point from within a collider, though one hangs there that a plate has gone through, by what
looked up in it and looks down in the plate. A solid that pushes along n lies behind a plane across n. Then the sum of
the normals of its faces around the point, each times its angle there, is not against n, and at least one is not.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, indices
from ..surfaces.collision_surfaces import CollisionSurfaces, PointTriangleContacts

MAX_CROWDED_DEPTH = (
    0.03  # depth from which it is let go of where corners of the triangle feel its collider, in sizes of tets
)
EDGE_WEIGHT_TOLERANCE = 1.0e-6  # share of a corner in a point below which it lies on the edge across


def is_released(skins: CollisionSurfaces, met: PointTriangleContacts, x: Floats, at: Floats, is_told: Bools) -> Bools:
    """Returns which contacts are let go of, (k,).

    Args:
        skins, met: What has met.
        x: Nodes at the start of the step [m], (n, 3).
        at: Vertices of the skins then [m], (v, 3).
        is_told: Which vertices of the skins are those of colliders, (v,).
    """
    gone = is_told[met.point]
    which = np.flatnonzero(gone)
    if not len(which):
        return gone
    corners, skin = skins.triangles[met.triangle[which]], skins.skin_of[met.point[which]]
    depth = -(met.gap[which] + skins.thickness[met.skin[which]] + skins.thickness[skin])
    size = skins.size[corners[:, 0]]
    feels = np.zeros((skins.vertex_count, len(skins)), bool)
    feels[met.point[~gone], met.skin[~gone]] = True
    is_crowded = feels[corners, skin[:, None]].any(axis=1)
    a, b, c, d = np.moveaxis(x[skins.nodes[corners]], 2, 0)
    is_turned = (np.einsum("kci,kci->kc", np.cross(b - a, c - a), d - a) <= 0.0).any(axis=1)
    is_within = pushes_from_inside(skins, met.point[which], -met.normal[which], at)
    gone[which] = is_turned | is_within | (is_crowded & (depth > MAX_CROWDED_DEPTH * size))
    return gone


def pushes_from_inside(skins: CollisionSurfaces, point: Indices, direction: Floats, at: Floats) -> Bools:
    """Returns whether no face at a point of a collider looks where it pushes, so that it would push from within, (k,).

    Points of what has two sides, and those without faces, never do.

    Args:
        skins: All of them.
        point, direction: Points, and which way each pushes, (k,) and (k, 3).
        at: Vertices [m], (v, 3).
    """
    away = skins.is_one_sided[skins.skin_of[point]]
    number, face = faces_at_points(skins, point)
    a, b, c = np.moveaxis(at[skins.triangles[face]], 1, 0)
    along = np.einsum("ki,ki->k", np.cross(b - a, c - a), direction[number])
    away[number[along >= 0.0]] = False
    has_faces = np.zeros(len(point), bool)
    has_faces[number] = True
    return away & has_faces


def faces_at_points(skins: CollisionSurfaces, point: Indices) -> tuple[Indices, Indices]:
    """Returns the faces on which points of colliders lie: which of the points, rising, and the face, (f,) each."""
    rows, shares, trees = skins.source_rows[point], skins.source_weights[point], skins.trees
    one = np.take_along_axis(rows, shares.argmax(axis=1)[:, None], axis=1)[:, 0]  # a corner of all of them
    begin = trees.ring_start[one]
    count = np.where(one >= 0, trees.ring_start[one + 1] - begin, 0)
    number = np.repeat(np.arange(len(point), dtype=np.int64), count)
    slot = np.arange(len(number), dtype=np.int64) + np.repeat(begin - (np.cumsum(count, dtype=np.int64) - count), count)
    face = trees.ring[slot]
    is_corner = (rows[number, :, None] == skins.triangles[face][:, None, :]).any(axis=2)
    lies_on = (is_corner | (shares[number] < EDGE_WEIGHT_TOLERANCE)).all(axis=1)
    return indices(number[lies_on]), indices(face[lies_on])
