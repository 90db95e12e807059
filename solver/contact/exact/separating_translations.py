# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies have to be moved so that none intersects another or a collider.

Two that intersect are moved apart along the direction, of some, that needs the shortest way for the triangles that
intersect and for the points that are inside: axes, the line between their middles, and the mean normal of what
intersects. Pairs are taken one after the other until none is left, so bodies that are packed push each other on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...mesh.geometry.triangle_intersections import intersecting_triangles
from ...runtime.arrays import Bools, Floats, Indices
from .contact_mesh import HALF_SPACE, ContactMesh
from .tangled_features import tangled_features

MAX_ROUNDS = 60


class DeepestIntersection(NamedTuple):
    """Two bodies, or a body and a collider, that intersect.

    Attributes:
        one, other: Their surfaces.
        depth: How far one would have to be moved [m].
        place: Where, about [m], (3,).
    """

    one: int
    other: int
    depth: float
    place: Floats


def separating_translations(mesh: ContactMesh, start: Floats, mass: Floats, clearance: float) -> Floats | None:
    """Returns translations of bodies [m], (s, 3), after which none intersects another; None if none were found.

    Of two bodies, the lighter one goes farther.

    Args:
        mesh: The surfaces.
        start: Vertices [m], (n, 3).
        mass: Of bodies [kg], (s,); colliders, which stay, have infinite ones. Further points count as their body.
        clearance: Distance that is left between surfaces [m].
    """
    y, moved = start.copy(), np.zeros((len(mass), 3))
    of_vertex = mesh.owner[mesh.surface]
    for _ in range(MAX_ROUNDS):
        pairs = _intersecting_pairs(mesh, y)
        if not pairs:
            return moved
        for one, other, vertices in pairs:
            way = _way_out(mesh, y, one, other, vertices, clearance)
            if not np.isfinite(min(mass[one], mass[other])):
                return None
            share = 1.0 if np.isinf(mass[other]) else float(mass[other] / (mass[one] + mass[other]))
            share = 0.0 if np.isinf(mass[one]) else share
            for body, part in ((one, share), (other, share - 1.0)):
                moved[body] += part * way
                y[of_vertex == body] += part * way
    return None


def deepest_intersection(mesh: ContactMesh, y: Floats) -> DeepestIntersection | None:
    """Returns the deepest intersection of bodies with each other and with colliders, None where there is none.

    Args:
        mesh: The surfaces.
        y: Vertices [m], (n, 3).
    """
    found = []
    for one, other, vertices in _intersecting_pairs(mesh, y):
        depth = float(np.linalg.norm(_way_out(mesh, y, one, other, vertices, 0.0)))
        own = [y[vertices[mesh.owner[mesh.surface[vertices]] == owner]] for owner in (one, other)]
        smaller = min(own, key=lambda places: float(np.ptp(places, axis=0).max()))
        found.append(DeepestIntersection(one, other, depth, smaller.mean(axis=0)))
    return max(found, key=lambda each: each.depth, default=None)


def _intersecting_pairs(mesh: ContactMesh, y: Floats) -> list[tuple[int, int, Indices]]:
    """Returns pairs of bodies and colliders that intersect, with the vertices of the triangles that do."""
    found = intersecting_triangles(y, mesh.triangles)
    surfaces = mesh.surface[mesh.triangles[found][:, :, 0]]
    owners = mesh.owner[surfaces]
    is_wanted = mesh.may_touch[surfaces[:, 0], surfaces[:, 1]] & (owners[:, 0] != owners[:, 1])
    found, owners = found[is_wanted], np.sort(owners[is_wanted], axis=1)
    pairs = []
    for one, other in np.unique(owners, axis=0):
        rows = (owners == [one, other]).all(axis=1)
        pairs.append((int(one), int(other), np.unique(mesh.triangles[found[rows]])))
    return pairs


def _way_out(mesh: ContactMesh, y: Floats, one: int, other: int, vertices: Indices, clearance: float) -> Floats:
    """Returns the shortest way of the first of two along some directions [m], (3,)."""
    pair: Bools = np.zeros((len(mesh.may_touch),) * 2, bool)
    pair[one, other] = pair[other, one] = True
    points, _ = tangled_features(mesh, y, pair).excluded_points(mesh)
    involved = np.union1d(vertices, points)
    of_vertex = mesh.owner[mesh.surface]
    own, others = y[involved[of_vertex[involved] == one]], y[involved[of_vertex[involved] == other]]
    if mesh.side[other] == HALF_SPACE or mesh.side[one] == HALF_SPACE:
        plane = other if mesh.side[other] == HALF_SPACE else one
        directions = _normals(mesh, y, plane, vertices)[:1] * (1.0 if plane == other else -1.0)
    else:
        between = y[of_vertex == one].mean(axis=0) - y[of_vertex == other].mean(axis=0)
        means = [_normals(mesh, y, other, vertices).mean(axis=0), -_normals(mesh, y, one, vertices).mean(axis=0)]
        directions = np.concatenate([[between, *means], np.eye(3), -np.eye(3)])
        leads_out = (directions @ np.array(means).T >= 0.0).all(axis=1)
        directions = directions[leads_out] if leads_out.any() else directions
    length = np.linalg.norm(directions, axis=1)
    directions = directions[length > 0.0] / length[length > 0.0, None]
    need = (others @ directions.T).max(axis=0) - (own @ directions.T).min(axis=0)
    need = np.maximum(need, 0.0)
    best = int(np.argmin(need))
    return (need[best] + clearance) * directions[best]


def _normals(mesh: ContactMesh, y: Floats, owner: int, vertices: Indices) -> Floats:
    """Returns unit normals of the triangles of a body or collider all of whose corners are among some vertices."""
    triangles = mesh.triangles[mesh.owner[mesh.surface[mesh.triangles[:, 0]]] == owner]
    corners = y[triangles[np.isin(triangles, vertices).all(axis=1)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
