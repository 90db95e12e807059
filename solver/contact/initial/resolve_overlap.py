# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolves overlaps: of bodies that begin inside each other, and of colliders that appear around points.

Where the surface of a body is inside another, ∫ n dA over that part is the rate at which their common volume grows as
the body moves, so the way out is against it. Each point inside gets a contact with the triangle through which it would
leave along this direction; if the bodies overlap little, with the nearest triangle.

A collider appears if it teleports or becomes active. A point inside a surface never crossed it, so without such
contacts it would move freely. All points of a whole body leave in one direction: the nearest triangles might lead them
to different sides of the collider. Rigid colliders need none of this: points inside them are found anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import BadInput
from ..detection.persistent_contacts import PersistentContacts, resolving_contacts
from ..surfaces.collision_surfaces import CollisionSurfaces, Int64s

MAX_NEAREST_EXIT_DEPTH = 0.25  # depth up to which each point leaves by its nearest triangle, in tet sizes
MIN_DEPTH = 1.0e-3  # depth from which an overlap is resolved, in tet sizes
MIN_AREA_ALIGNMENT = 0.1  # |∫ n dA| / ∫ dA over a surface inside another, from which there is a way out
MAX_DIRECTIONS = 64  # directions that are tried
MAX_OVERLAP_SHARE = 0.6  # share of the tets of a body that may be in another
MIN_EXIT_COSINE = 0.3  # cosine between the way out and the normal of the triangle through which a point leaves
MAX_PAIRS_PER_CHUNK = 2_000_000  # pairs of points and triangles


def initial_overlaps(
    surfaces: CollisionSurfaces, names: Sequence[str], at: Floats, centers: dict[int, Floats], id_offset: int
) -> PersistentContacts:
    """Returns the contacts that resolve overlaps of bodies.

    Args:
        surfaces: All of them.
        names: Of the bodies, (b,).
        at: Vertices at the first frame [m], (v, 3).
        centers: Of the tets of every body then [m], by number, (m, 3) each.
        id_offset: Offset of ids of contacts to those of the search.

    Raises:
        BadInput: "bodies-overlap": a body is so deep in another that there is no way out.
    """
    exits: list[tuple[Int64s, Indices, Floats]] = []
    for one, other in _overlapping_pairs(surfaces, at):
        inner = [penetrating_vertices(surfaces, at, *pair) for pair in ((one, other), (other, one))]
        if not any(len(points) for points, _ in inner):
            continue
        _check_overlap_share(surfaces, at, one, other, centers, names)
        direction = exit_direction(surfaces, at, one, other, inner)
        for sign, pair, (points, _) in zip((1.0, -1.0), ((one, other), (other, one)), inner, strict=True):
            if len(points) and surfaces.may_touch[pair]:
                own = None if direction is None else sign * direction
                exits.append(exit_triangles(surfaces, at, points, pair[1], own))
    return _overlap_contacts(exits, id_offset)


def contacts_inside_collider(
    surfaces: CollisionSurfaces, surface: int, at: Floats, is_whole: bool, id_offset: int
) -> PersistentContacts:
    """Returns the contacts that resolve the overlap of all bodies with a collider that appears.

    Args:
        surfaces: All of them.
        surface: That of the collider.
        at: Vertices at the start of the step [m], (v, 3).
        is_whole: Whether no body has broken: pieces may lie on all sides of the collider.
        id_offset: Offset of ids of contacts to those of the search.
    """
    exits = []
    for body in np.flatnonzero(surfaces.may_touch[:, surface] & (surfaces.body >= 0)).tolist():
        inner = penetrating_vertices(surfaces, at, body, surface)
        if len(inner[0]):
            direction = None
            if is_whole:
                of_collider = penetrating_vertices(surfaces, at, surface, body)
                direction = exit_direction(surfaces, at, body, surface, [inner, of_collider])
            exits.append(exit_triangles(surfaces, at, inner[0], surface, direction))
    return _overlap_contacts(exits, id_offset)


def _overlap_contacts(exits: Sequence[tuple[Int64s, Indices, Floats]], id_offset: int) -> PersistentContacts:
    """Returns the contacts with the triangles of `exit_triangles`."""
    if not exits:
        return PersistentContacts.empty()
    id, triangle, depth = (np.concatenate(of) for of in zip(*exits, strict=True))
    order = np.argsort(id, kind="stable")
    return resolving_contacts(id[order] + id_offset, triangle[order], depth[order])


def _overlapping_pairs(surfaces: CollisionSurfaces, at: Floats) -> Iterator[tuple[int, int]]:
    """Yields pairs of bodies that may touch, have an inside, and have boxes that overlap."""
    bodies = np.flatnonzero(surfaces.body >= 0).tolist()
    boxes = [(at[surfaces.vertices_of(b)].min(axis=0), at[surfaces.vertices_of(b)].max(axis=0)) for b in bodies]
    closed: dict[int, bool] = {}
    for one in bodies:
        for other in bodies[one + 1 :]:
            if not (surfaces.may_touch[one, other] or surfaces.may_touch[other, one]):
                continue
            if (boxes[one][0] >= boxes[other][1]).any() or (boxes[other][0] >= boxes[one][1]).any():
                continue
            for surface in (one, other):
                if surface not in closed:
                    closed[surface] = has_inside(at[surfaces.vertices_of(surface)], _local_triangles(surfaces, surface))
            if closed[one] and closed[other]:
                yield one, other


def _local_triangles(surfaces: CollisionSurfaces, surface: int) -> Indices:
    return surfaces.triangles[surfaces.triangles_of(surface)] - np.int32(surfaces.vertex_start[surface])


def penetrating_vertices(surfaces: CollisionSurfaces, at: Floats, one: int, other: int) -> tuple[np.ndarray, Floats]:
    """Returns the vertices of one surface that are inside another, and their depths [m], (k,) each."""
    own = surfaces.vertices_of(one)
    bvh = build_bvh(at[surfaces.vertices_of(other)], _local_triangles(surfaces, other))
    low, high = bvh.boxes[0, :3], bvh.boxes[0, 3:]
    points = own.start + np.flatnonzero(((at[own] > low) & (at[own] < high)).all(axis=1))
    points = points[winding_numbers(bvh, at[points]) > 0.5] if len(points) else points
    depth = closest_points(bvh, at[points]).distance if len(points) else np.zeros(0)
    is_deep = depth > MIN_DEPTH * surfaces.size[points]
    return points[is_deep], depth[is_deep]


def _check_overlap_share(
    surfaces: CollisionSurfaces, at: Floats, one: int, other: int, centers: dict[int, Floats], names: Sequence[str]
) -> None:
    """Raises BadInput if one of two bodies has more than `MAX_OVERLAP_SHARE` of its tets in the other."""
    for surface, around in ((one, other), (other, one)):
        bvh = build_bvh(at[surfaces.vertices_of(around)], _local_triangles(surfaces, around))
        if float((winding_numbers(bvh, centers[surface]) > 0.5).mean()) > MAX_OVERLAP_SHARE:
            raise BadInput(
                "bodies-overlap", name=names[int(surfaces.body[one])], other=names[int(surfaces.body[other])]
            )


def exit_direction(
    surfaces: CollisionSurfaces, at: Floats, one: int, other: int, inner: list[tuple[np.ndarray, Floats]]
) -> Floats | None:
    """Returns the direction in which the first of two surfaces leaves the other, (3,); None: each point has its own.

    `inner` has the points of the first inside the other, and of the other inside the first, with their depths. The
    candidates are the sum of the normals of the parts inside, and those normals that are aligned with it; the result is
    the one with the shortest path.
    """
    deepest = max(float(depth.max(initial=0.0)) for _, depth in inner)
    tet_size = min(float(surfaces.size[surfaces.vertex_start[surface]]) for surface in (one, other))
    if deepest <= MAX_NEAREST_EXIT_DEPTH * tet_size:
        return None
    parts = []
    for sign, surface, (points, _) in zip((-1.0, 1.0), (one, other), inner, strict=True):
        corners = surfaces.triangles[surfaces.triangles_of(surface)]
        share = np.isin(corners, points).mean(axis=1)
        edges = at[corners[:, 1:]] - at[corners[:, :1]]
        parts.append(0.5 * sign * share[:, None] * np.cross(edges[:, 0], edges[:, 1]))
    areas = np.concatenate(parts)
    size, whole = np.linalg.norm(areas, axis=1), areas.sum(axis=0)
    length = float(np.linalg.norm(whole))
    if not length > MIN_AREA_ALIGNMENT * size.sum():
        return None
    normals = np.unique(np.round(areas[size > 0.0] / size[size > 0.0, None], 2), axis=0)
    normals = normals[:: max(1, len(normals) // MAX_DIRECTIONS)]
    directions = np.concatenate([whole[None] / length, normals / np.linalg.norm(normals, axis=1)[:, None]])
    directions = directions[directions @ directions[0] > 0.5]
    far = (at[surfaces.vertices_of(other)] @ directions.T).max(axis=0)
    overlap = far - (at[surfaces.vertices_of(one)] @ directions.T).min(axis=0)
    return floats(directions[overlap.argmin()])


def exit_triangles(
    surfaces: CollisionSurfaces, at: Floats, points: np.ndarray, other: int, direction: Floats | None
) -> tuple[Int64s, Indices, Floats]:
    """Returns ids of `PointTriangleContacts`, triangles and depths [m] of points inside another surface.

    The points leave through these triangles along a direction; None: each through its nearest triangle.
    """
    first = int(surfaces.triangle_start[other])
    if direction is None:
        nearest = closest_points(
            build_bvh(at[surfaces.vertices_of(other)], _local_triangles(surfaces, other)), at[points]
        )
        triangle, depth = nearest.triangle, nearest.distance
    else:
        triangle, depth = _cast_to_exit(at[points], at[surfaces.triangles[surfaces.triangles_of(other)]], direction)
        leaves = triangle >= 0
        points, triangle, depth = points[leaves], triangle[leaves], depth[leaves]
    id = np.int64(other) * surfaces.vertex_count + points.astype(np.int64)
    return id, (triangle + first).astype(np.int32), depth


def _cast_to_exit(points: Floats, corners: Floats, direction: Floats) -> tuple[np.ndarray, Floats]:
    """Returns the first triangle through which points leave along a direction, −1 for none, and depths [m], (k,) each.

    Depths are those below the planes of the triangles.

    Args:
        points: [m], (k, 3).
        corners: [m], (t, 3, 3).
        direction: Unit vector, (3,).
    """
    triangle, depth = np.full(len(points), -1, np.int64), np.zeros(len(points))
    b, c = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(b, c)
    cosine = normal @ direction / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
    out = np.flatnonzero(cosine > MIN_EXIT_COSINE)
    if not len(out):
        return triangle, depth
    b, c, corner, steep = b[out], c[out], corners[out, 0], (normal @ direction)[out]
    for part in np.array_split(
        np.arange(len(points), dtype=np.int64), max(1, len(points) * len(out) // MAX_PAIRS_PER_CHUNK)
    ):
        away = corner[None] - points[part][:, None]
        time = np.einsum("ptx,tx->pt", away, normal[out]) / steep
        # the line crosses the plane at q = corner + u b + v c
        u = np.einsum("ptx,tx->pt", np.cross(away, direction), c) / steep
        v = np.einsum("ptx,tx->pt", np.cross(away, direction), -b) / steep
        crosses = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9) & (time > 0.0)
        time = np.where(crosses, time, np.inf)
        best = time.argmin(axis=1)
        far = time[np.arange(len(part), dtype=np.int64), best]
        leaves = np.isfinite(far)
        triangle[part[leaves]] = out[best[leaves]]
        depth[part[leaves]] = far[leaves] * cosine[out[best[leaves]]]
    return triangle, depth
