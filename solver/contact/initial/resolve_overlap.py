# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that begin in each other: they are let out gently, or told of where there is no way out.

Where the surface of one is inside another, ∫ n dA over that part is how fast the volume that they share grows as the
first one moves, so the way out is against it. Each point inside is kept by the triangle through which it would leave
on that way; where bodies are hardly in each other, by the nearest one.
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
from ..detection.persistent_contacts import PersistentContacts
from ..detection.remap_contacts import resolving_contacts
from ..surfaces.collision_surfaces import CollisionSurfaces, Int64s

MAX_NEAREST_EXIT_DEPTH = 0.25  # depth up to which each point takes its own nearest way out, in sizes of tets
MIN_DEPTH = 1.0e-3  # depth from which a point is let out, in sizes of tets
MIN_AREA_ALIGNMENT = 0.1  # share of a surface inside another that has to look one way, so that there is a way out
MAX_DIRECTIONS = 64  # directions that are tried
MAX_OVERLAP_SHARE = 0.6  # share of the tets of a body that may be in another
MIN_EXIT_COSINE = 0.3  # cosine between the way out and the triangle through which a point leaves
MAX_PAIRS_PER_CHUNK = 2_000_000  # pairs of points and triangles


def initial_overlaps(
    skins: CollisionSurfaces, names: Sequence[str], at: Floats, middles: dict[int, Floats], first: int
) -> PersistentContacts:
    """Returns the contacts that let bodies out of each other.

    Args:
        skins: All of them.
        names: Of the bodies, (b,).
        at: Vertices at the first frame [m], (v, 3).
        middles: Of the tets of every body then [m], by number, (m, 3) each.
        first: By how much ids are larger than those of skins.

    Raises:
        BadInput: "bodies-overlap": one is in another so deep that there is no way out.
    """
    found: list[tuple[Int64s, Indices, Floats]] = []
    for one, other in _overlapping_pairs(skins, at):
        inner = [penetrating_vertices(skins, at, *pair) for pair in ((one, other), (other, one))]
        if not any(len(points) for points, _ in inner):
            continue
        _check_overlap_share(skins, at, one, other, middles, names)
        way = exit_direction(skins, at, one, other, inner)
        for sign, pair, (points, _) in zip((1.0, -1.0), ((one, other), (other, one)), inner, strict=True):
            if len(points) and skins.may_touch[pair]:
                found.append(exit_triangles(skins, at, points, pair[1], None if way is None else sign * way))
    return overlap_contacts(found, first)


def overlap_contacts(found: Sequence[tuple[Int64s, Indices, Floats]], first: int) -> PersistentContacts:
    """Returns the contacts of what `exit_triangles` has found, with ids larger by `first` than those of skins."""
    if not found:
        return PersistentContacts.empty()
    id, triangle, depth = (np.concatenate(of) for of in zip(*found, strict=True))
    order = np.argsort(id, kind="stable")
    return resolving_contacts(id[order] + first, triangle[order], depth[order])


def _overlapping_pairs(skins: CollisionSurfaces, at: Floats) -> Iterator[tuple[int, int]]:
    """Yields bodies that may meet, have an inside, and whose boxes overlap."""
    bodies = np.flatnonzero(skins.body >= 0).tolist()
    boxes = [(at[skins.vertices_of(b)].min(axis=0), at[skins.vertices_of(b)].max(axis=0)) for b in bodies]
    closed: dict[int, bool] = {}
    for one in bodies:
        for other in bodies[one + 1 :]:
            if not (skins.may_touch[one, other] or skins.may_touch[other, one]):
                continue
            if (boxes[one][0] >= boxes[other][1]).any() or (boxes[other][0] >= boxes[one][1]).any():
                continue
            for skin in (one, other):
                if skin not in closed:
                    closed[skin] = has_inside(at[skins.vertices_of(skin)], _local_triangles(skins, skin))
            if closed[one] and closed[other]:
                yield one, other


def _local_triangles(skins: CollisionSurfaces, skin: int) -> Indices:
    return skins.triangles[skins.triangles_of(skin)] - np.int32(skins.vertex_start[skin])


def penetrating_vertices(skins: CollisionSurfaces, at: Floats, one: int, other: int) -> tuple[np.ndarray, Floats]:
    """Returns the vertices of one skin that are inside another, and how deep [m], (k,) each."""
    own = skins.vertices_of(one)
    bvh = build_bvh(at[skins.vertices_of(other)], _local_triangles(skins, other))
    low, high = bvh.boxes[0, :3], bvh.boxes[0, 3:]
    points = own.start + np.flatnonzero(((at[own] > low) & (at[own] < high)).all(axis=1))
    points = points[winding_numbers(bvh, at[points]) > 0.5] if len(points) else points
    depth = closest_points(bvh, at[points]).distance if len(points) else np.zeros(0)
    is_deep = depth > MIN_DEPTH * skins.size[points]
    return points[is_deep], depth[is_deep]


def _check_overlap_share(
    skins: CollisionSurfaces, at: Floats, one: int, other: int, middles: dict[int, Floats], names: Sequence[str]
) -> None:
    """Raises BadInput where one of two bodies is in the other with more than half of its tets."""
    for skin, around in ((one, other), (other, one)):
        bvh = build_bvh(at[skins.vertices_of(around)], _local_triangles(skins, around))
        if float((winding_numbers(bvh, middles[skin]) > 0.5).mean()) > MAX_OVERLAP_SHARE:
            raise BadInput("bodies-overlap", name=names[int(skins.body[one])], other=names[int(skins.body[other])])


def exit_direction(
    skins: CollisionSurfaces, at: Floats, one: int, other: int, inner: list[tuple[np.ndarray, Floats]]
) -> Floats | None:
    """Returns the direction in which the first of two skins leaves the other, (3,); None: each point has its own.

    `inner` has the points of the first in the other, and of the other in the first, and how deep they are:
    `penetrating_vertices`.

    Of the normals of what is inside, and their sum, those count that look about the way of the sum: the one along which
    the way is shortest.
    """
    deepest = max(float(depth.max(initial=0.0)) for _, depth in inner)
    if deepest <= MAX_NEAREST_EXIT_DEPTH * min(float(skins.size[skins.vertex_start[skin]]) for skin in (one, other)):
        return None
    found = []
    for sign, skin, (points, _) in zip((-1.0, 1.0), (one, other), inner, strict=True):
        corners = skins.triangles[skins.triangles_of(skin)]
        share = np.isin(corners, points).mean(axis=1)
        edges = at[corners[:, 1:]] - at[corners[:, :1]]
        found.append(0.5 * sign * share[:, None] * np.cross(edges[:, 0], edges[:, 1]))
    areas = np.concatenate(found)
    size, whole = np.linalg.norm(areas, axis=1), areas.sum(axis=0)
    length = float(np.linalg.norm(whole))
    if not length > MIN_AREA_ALIGNMENT * size.sum():
        return None
    normals = np.unique(np.round(areas[size > 0.0] / size[size > 0.0, None], 2), axis=0)
    normals = normals[:: max(1, len(normals) // MAX_DIRECTIONS)]
    ways = np.concatenate([whole[None] / length, normals / np.linalg.norm(normals, axis=1)[:, None]])
    ways = ways[ways @ ways[0] > 0.5]
    shared = (at[skins.vertices_of(other)] @ ways.T).max(axis=0) - (at[skins.vertices_of(one)] @ ways.T).min(axis=0)
    return floats(ways[shared.argmin()])


def exit_triangles(
    skins: CollisionSurfaces, at: Floats, points: np.ndarray, other: int, way: Floats | None
) -> tuple[Int64s, Indices, Floats]:
    """Returns ids as `Met` has them, triangles and depths [m] of points inside another skin that leave on a way, None:
    the nearest one of each."""
    first = int(skins.triangle_start[other])
    if way is None:
        found = closest_points(build_bvh(at[skins.vertices_of(other)], _local_triangles(skins, other)), at[points])
        triangle, depth = found.triangle, found.distance
    else:
        triangle, depth = _cast_to_exit(at[points], at[skins.triangles[skins.triangles_of(other)]], way)
        leaves = triangle >= 0
        points, triangle, depth = points[leaves], triangle[leaves], depth[leaves]
    id = np.int64(other) * skins.vertex_count + points.astype(np.int64)
    return id, (triangle + first).astype(np.int32), depth


def _cast_to_exit(points: Floats, corners: Floats, way: Floats) -> tuple[np.ndarray, Floats]:
    """Returns through which triangle points leave along a direction first, −1 for none, and how deep they are below
    its plane [m], (k,) each.

    Args:
        points: [m], (k, 3).
        corners: [m], (t, 3, 3).
        way: Of length one, (3,).
    """
    triangle, depth = np.full(len(points), -1, np.int64), np.zeros(len(points))
    b, c = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(b, c)
    leans = normal @ way / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
    out = np.flatnonzero(leans > MIN_EXIT_COSINE)
    if not len(out):
        return triangle, depth
    b, c, corner, steep = b[out], c[out], corners[out, 0], (normal @ way)[out]
    for part in np.array_split(
        np.arange(len(points), dtype=np.int64), max(1, len(points) * len(out) // MAX_PAIRS_PER_CHUNK)
    ):
        away = corner[None] - points[part][:, None]
        time = np.einsum("ptx,tx->pt", away, normal[out]) / steep
        # weights of where the line goes through: q = corner + u b + v c
        u = np.einsum("ptx,tx->pt", np.cross(away, way), c) / steep
        v = np.einsum("ptx,tx->pt", np.cross(away, way), -b) / steep
        goes = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9) & (time > 0.0)
        time = np.where(goes, time, np.inf)
        best = time.argmin(axis=1)
        far = time[np.arange(len(part), dtype=np.int64), best]
        leaves = np.isfinite(far)
        triangle[part[leaves]] = out[best[leaves]]
        depth[part[leaves]] = far[leaves] * leans[out[best[leaves]]]
    return triangle, depth
