# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases contacts of points of colliders with crushed bodies, so that these can come out of what crushes them.

Plates that close completely turn a body between them inside out. Then one point of a plate would push it up and the
next one down, without end. The contacts of the body's own points bring it out.

Contacts whose push direction points into their collider are released, too; otherwise a plate that passed through a body
would support it from inside. A solid that pushes along n lies behind a plane perpendicular to n. So the angle-weighted
sum of the normals of its faces around the point is not against n, and at least one of these normals is not.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, indices
from ..surfaces.collision_surfaces import CollisionSurfaces, PointTriangleContacts

# depth in tet sizes above which a contact is released if corners of its triangle have contacts
MAX_CROWDED_DEPTH = 0.03
EDGE_WEIGHT_TOLERANCE = 1.0e-6  # barycentric weight of a corner below which a point lies on the opposite edge


def is_released(
    surfaces: CollisionSurfaces, contacts: PointTriangleContacts, x: Floats, positions: Floats, is_prescribed: Bools
) -> Bools:
    """Returns which contacts are released, (k,).

    Args:
        surfaces, contacts: The surfaces and their contacts.
        x: Nodes at the start of the step [m], (n, 3).
        positions: Vertices of the surfaces then [m], (v, 3).
        is_prescribed: Which vertices are those of colliders, (v,).
    """
    released = is_prescribed[contacts.point]
    which = np.flatnonzero(released)
    if not len(which):
        return released
    corners, surface = surfaces.triangles[contacts.triangle[which]], surfaces.surface_of[contacts.point[which]]
    depth = -(contacts.gap[which] + surfaces.thickness[contacts.surface[which]] + surfaces.thickness[surface])
    size = surfaces.size[corners[:, 0]]
    has_contact = np.zeros((surfaces.vertex_count, len(surfaces)), bool)
    has_contact[contacts.point[~released], contacts.surface[~released]] = True
    is_crowded = has_contact[corners, surface[:, None]].any(axis=1)
    a, b, c, d = np.moveaxis(x[surfaces.nodes[corners]], 2, 0)
    is_inverted = (np.einsum("kci,kci->kc", np.cross(b - a, c - a), d - a) <= 0.0).any(axis=1)
    is_inverted &= surfaces.is_one_sided[contacts.surface[which]]  # sheets cannot be turned inside out
    is_within = pushes_from_inside(surfaces, contacts.point[which], -contacts.normal[which], positions)
    released[which] = is_inverted | is_within | (is_crowded & (depth > MAX_CROWDED_DEPTH * size))
    return released


def pushes_from_inside(surfaces: CollisionSurfaces, point: Indices, direction: Floats, positions: Floats) -> Bools:
    """Returns whether all faces at a point of a collider face away from its push direction, (k,).

    Points of two-sided surfaces, and those without faces, never push from inside.

    Args:
        surfaces: All of them.
        point, direction: Points and their push directions, (k,) and (k, 3).
        positions: Vertices [m], (v, 3).
    """
    away = surfaces.is_one_sided[surfaces.surface_of[point]]
    number, face = faces_at_points(surfaces, point)
    a, b, c = np.moveaxis(positions[surfaces.triangles[face]], 1, 0)
    along = np.einsum("ki,ki->k", np.cross(b - a, c - a), direction[number])
    away[number[along >= 0.0]] = False
    has_faces = np.zeros(len(point), bool)
    has_faces[number] = True
    return away & has_faces


def faces_at_points(surfaces: CollisionSurfaces, point: Indices) -> tuple[Indices, Indices]:
    """Returns the faces on which points of colliders lie: the index of the point, rising, and the face, (f,) each."""
    rows, weights, rings = surfaces.source_rows[point], surfaces.source_weights[point], surfaces.trees.rings
    one = np.take_along_axis(rows, weights.argmax(axis=1)[:, None], axis=1)[:, 0]  # a corner of all these faces
    begin = rings.start[one]
    count = np.where(one >= 0, rings.start[one + 1] - begin, 0)
    number = np.repeat(np.arange(len(point), dtype=np.int64), count)
    slot = np.arange(len(number), dtype=np.int64) + np.repeat(begin - (np.cumsum(count, dtype=np.int64) - count), count)
    face = rings.triangle[slot]
    is_corner = (rows[number, :, None] == surfaces.triangles[face][:, None, :]).any(axis=2)
    lies_on = (is_corner | (weights[number] < EDGE_WEIGHT_TOLERANCE)).all(axis=1)
    return indices(number[lies_on]), indices(face[lies_on])
