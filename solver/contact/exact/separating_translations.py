# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies have to be moved so that none intersects another or a collider, nor touches it.

Two that meet are moved apart along the direction, of some, that needs the shortest way for the triangles that
intersect and for the points that are inside: axes, the line between their middles, and the mean normal of what
intersects. Pairs are taken one after the other until none is left, so bodies that are packed push each other on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...mesh.geometry.triangle_intersections import intersecting_triangles
from ...runtime.arrays import Bools, Floats, Indices
from .contact_mesh import HALF_SPACE, ContactMesh, close_pairs
from .contact_potential import pair_stencils
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


def separating_translations(
    mesh: ContactMesh, start: Floats, mass: Floats, reach: float, clearance: float
) -> Floats | None:
    """Returns translations of bodies [m], (s, 3), after which none meets another; None if none were found.

    Of two bodies, the lighter one goes farther.

    Args:
        mesh: The surfaces.
        start: Vertices [m], (n, 3).
        mass: Of bodies [kg], (s,); colliders, which stay, have infinite ones. Further points count as their body.
        reach: Distance below which surfaces meet, although they do not intersect [m].
        clearance: Distance that is left between surfaces [m], larger.
    """
    y, moved = start.copy(), np.zeros((len(mass), 3))
    of_vertex = mesh.owner[mesh.surface]
    for _ in range(MAX_ROUNDS):
        pairs = _meeting_pairs(mesh, y, reach)
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


def deepest_intersection(mesh: ContactMesh, y: Floats, reach: float) -> DeepestIntersection | None:
    """Returns the deepest intersection of bodies with each other and with colliders, None where there is none.

    Those that are closer than `reach` intersect by nothing: whether triangles that touch do is a matter of round-off.

    Args:
        mesh: The surfaces.
        y: Vertices [m], (n, 3).
        reach: [m].
    """
    found = []
    for one, other, vertices in _meeting_pairs(mesh, y, reach):
        depth = float(np.linalg.norm(_way_out(mesh, y, one, other, vertices, 0.0)))
        own = [y[vertices[mesh.owner[mesh.surface[vertices]] == owner]] for owner in (one, other)]
        smaller = min(own, key=lambda places: float(np.ptp(places, axis=0).max()))
        found.append(DeepestIntersection(one, other, depth, smaller.mean(axis=0)))
    return max(found, key=lambda each: each.depth, default=None)


def _meeting_pairs(mesh: ContactMesh, y: Floats, reach: float) -> list[tuple[int, int, Indices]]:
    """Returns pairs of bodies and colliders that meet, with the vertices of the triangles that intersect.

    Where none do, the vertices are those of what is close.
    """
    crossing = mesh.triangles[intersecting_triangles(y, mesh.triangles)].reshape(-1, 6)
    surfaces = mesh.surface[crossing[:, [0, -1]]]
    crossing = crossing[mesh.may_touch[surfaces[:, 0], surfaces[:, 1]]]
    stencils = pair_stencils(replace(mesh, start=y), close_pairs(mesh, y, y, reach))
    close = np.concatenate([group.vertices[group.start_distance < reach] for group in stencils])
    meeting = {**_by_owners(mesh, close), **_by_owners(mesh, crossing)}
    return [(one, other, vertices) for (one, other), vertices in sorted(meeting.items())]


def _by_owners(mesh: ContactMesh, vertices: Indices) -> dict[tuple[int, int], Indices]:
    """Returns the vertices, each once, of features of two different bodies or colliders, (k, v), by these."""
    owners = np.sort(mesh.owner[mesh.surface[vertices[:, [0, -1]]]], axis=1)
    found = {}
    for one, other in np.unique(owners[owners[:, 0] != owners[:, 1]], axis=0).tolist():
        found[one, other] = np.unique(vertices[(owners == [one, other]).all(axis=1)])
    return found


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
        # a string has no normals
        means = [sign * _normals(mesh, y, of, vertices).sum(axis=0) for sign, of in ((1.0, other), (-1.0, one))]
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
    """Returns unit normals of the triangles of a body or collider all of whose corners are among some vertices.

    Where there are none, as at a corner that touches, of those with a corner among them.
    """
    triangles = mesh.triangles[mesh.owner[mesh.surface[mesh.triangles[:, 0]]] == owner]
    is_corner = np.isin(triangles, vertices)
    is_whole = is_corner.all(axis=1)
    corners = y[triangles[is_whole if is_whole.any() else is_corner.any(axis=1)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
