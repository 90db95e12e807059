# SPDX-License-Identifier: GPL-3.0-or-later
"""Narrow phase of points and triangles: which points cross which triangles in a step, or come closer than they may."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .broad_phase import Int64s, triangle_disjoint
from .closest_point_walk import (
    MIN_ALIGNED_COSINE,
    MIN_DIRECTION_DISTANCE,
    copy3,
    height_above_plane,
    squared_triangle_distance,
    triangle_frame,
)
from .time_of_impact import BORDER_TOLERANCE, FRONT_TOLERANCE, NO_IMPACT, time_of_impact

NO_CONTACT = -1


class SurfacePaths(NamedTuple):
    """Vertices of all surfaces in a step.

    Attributes:
        start, end: At both ends of the step [m], (v, 3).
        normals: Of vertices at the start, of any length, (v, 3), or (0, 3); tell the side of points on a sheet.
    """

    start: Floats
    end: Floats
    normals: Floats


class ExistingContacts(NamedTuple):
    """Contacts that a search knows already, k of them.

    Attributes:
        key: point · s + surface, rising, (k,).
        triangle, normal: Where they are, and n at the end of the step, (k,) and (k, 3).
        is_active: Whether the end of the step is behind the plane, (k,).
    """

    key: Int64s
    triangle: Indices
    normal: Floats
    is_active: Bools


class Crossings(NamedTuple):
    """Contacts that a search finds, r of them; see `TrackedContacts`.

    Attributes:
        existing: The existing contact that gets this place, −1 for a new one, (r,).
    """

    point: Indices
    surface: Indices
    existing: Indices
    triangle: Indices
    place: Floats
    local: Floats
    side: np.ndarray

    @staticmethod
    def allocate(count: int) -> Crossings:
        """Returns arrays for at most `count` contacts."""
        point, surface, existing, triangle = np.empty((4, count), np.int32)
        place, local = np.empty((2, count, 3))
        return Crossings(point, surface, existing, triangle, place, local, np.empty(count, np.int8))


class CrossingScratch(NamedTuple):
    """Work space of a search.

    Attributes:
        corners, weights, frame: Of one triangle, (1, 9), (3,) and (3, 3).
        place, local: Of the best triangle up to now; see `TrackedContacts`, (3,) each.
    """

    corners: Floats
    weights: Floats
    frame: Floats
    place: Floats
    local: Floats


@kernel()
def contact_planes(contacts, start, end, triangles, normal, gap, end_gap):
    """Writes the planes of k contacts for one end of the step.

    Args:
        contacts: `TrackedArrays`.
        start, end: Vertices at both ends of the step [m], (v, 3).
        triangles: See `CollisionSurfaces`.
        normal, gap: Out, see `PointTriangleContacts`, (k, 3) and (k,).
        end_gap: Out, the gap at the end of the step [m], (k,).
    """
    point, triangle, place, local = contacts.point, contacts.triangle, contacts.place, contacts.local
    thickness = contacts.thickness
    frame = np.empty((3, 3))
    for c in range(len(point)):
        t, p = np.int64(triangle[c]), point[c]
        triangle_frame(end, triangles, t, frame)
        gap[c], end_gap[c] = -thickness[c], -thickness[c]
        for axis in range(3):
            n = local[c, 0] * frame[0, axis] + local[c, 1] * frame[1, axis] + local[c, 2] * frame[2, axis]
            before, after = start[p, axis], end[p, axis]
            for i in range(3):
                before -= place[c, i] * start[triangles[t, i], axis]
                after -= place[c, i] * end[triangles[t, i], axis]
            normal[c, axis] = n
            gap[c] += n * before
            end_gap[c] += n * after


@kernel()
def find_crossings(pair_point, pair_triangle, paths, surfaces, existing, out):
    """Writes the first place where each point enters each surface; returns how many there are.

    There is one row per point and surface at most, and per existing contact.

    Args:
        pair_point, pair_triangle: Candidate pairs, by rising point, (c,) each.
        paths: `SurfacePaths`.
        surfaces: `SurfaceArrays`.
        existing: `ExistingContacts`.
        out: `Crossings`.
    """
    surface_of, surface_of_triangle, triangles = surfaces.surface_of, surfaces.surface_of_triangle, surfaces.triangles
    size, thickness, is_one_sided, rest = surfaces.size, surfaces.thickness, surfaces.is_one_sided, surfaces.rest
    surface_count, keys = len(is_one_sided), existing.key
    scratch = CrossingScratch(np.empty((1, 9)), np.empty(3), np.empty((3, 3)), np.empty(3), np.empty(3))
    count, begin = np.int64(0), 0
    while begin < len(pair_point):
        p, surface = pair_point[begin], surface_of_triangle[pair_triangle[begin]]
        stop = begin
        while stop < len(pair_point) and pair_point[stop] == p and surface_of_triangle[pair_triangle[stop]] == surface:
            stop += 1
        key = np.int64(p) * surface_count + surface
        first = lower_bound(keys, key)
        last = first
        while last < len(keys) and keys[last] == key:
            last += 1
        candidates, own, has_front = pair_triangle[begin:stop], (first, last), is_one_sided[surface]
        t, contact, side = find_first_impact(
            p, candidates, paths, triangles, size[p], has_front, existing, own, scratch
        )
        max_distance = thickness[surface] + thickness[surface_of[p]]
        if t < 0 and max_distance > 0.0:
            is_own = surface_of[p] == surface
            t, contact, side = find_nearest_within(
                p, candidates, max_distance, paths, triangles, size[p], has_front, is_own, rest, existing, own, scratch
            )
        if t >= 0:
            out.point[count], out.surface[count], out.existing[count] = p, surface, contact
            out.triangle[count], out.side[count] = t, side
            for i in range(3):
                out.place[count, i], out.local[count, i] = scratch.place[i], scratch.local[i]
            count += 1
        begin = stop
    return count


@kernel(inline=True, device_only=True)
def find_first_impact(p, candidates, paths, triangles, size, has_front, existing, own, scratch):
    """Returns the candidate triangle that point p crosses first, −1 for none, its existing contact, and the side.

    Writes place and normal into the scratch.

    Args:
        p, candidates: The point, and triangles of one surface, (c,).
        paths, triangles: See `find_crossings`.
        size: Edge length of the tets at the point [m].
        has_front: Whether the surface is one-sided.
        existing, own: `ExistingContacts`; those of p with the surface are from own[0] to before own[1].
        scratch: `CrossingScratch`.
    """
    start, end, vertex_normals = paths
    corners, weights, frame, place, local = scratch
    _, contact_triangle, contact_normal, is_active = existing
    earliest, margin = NO_IMPACT, BORDER_TOLERANCE * size
    result, result_contact, result_side = np.int64(-1), NO_CONTACT, 1
    x0, x1 = min(start[p, 0], end[p, 0]) - margin, max(start[p, 0], end[p, 0]) + margin
    y0, y1 = min(start[p, 1], end[p, 1]) - margin, max(start[p, 1], end[p, 1]) + margin
    z0, z1 = min(start[p, 2], end[p, 2]) - margin, max(start[p, 2], end[p, 2]) + margin
    for c in range(len(candidates)):
        t = np.int64(candidates[c])
        if triangle_disjoint(start, end, triangles, t, x0, x1, y0, y1, z0, z1):
            continue
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        side = 1
        if not has_front:
            side = start_side(start, vertex_normals, p, t, triangles, FRONT_TOLERANCE * size)
        time = time_of_impact(start, end, p, i, j, k, side, size, corners, weights)
        if not time < earliest:
            continue
        triangle_frame(end, triangles, t, frame)
        contact = find_covering_contact(t, side, frame, triangles, own[0], own[1], contact_triangle, contact_normal)
        if contact >= 0 and is_active[contact]:
            continue
        # a point with a contact on the other side of a sheet comes back from a little too far
        if not has_front and (
            find_covering_contact(t, -side, frame, triangles, own[0], own[1], contact_triangle, contact_normal) >= 0
        ):
            continue
        earliest, result, result_contact, result_side = time, t, contact, side
        copy3(weights, place)
        local[0], local[1], local[2] = 0.0, 0.0, side
    return result, result_contact, result_side


@kernel(inline=True, device_only=True)
def find_nearest_within(
    p, candidates, max_distance, paths, triangles, size, has_front, is_own, rest, existing, own, scratch
):
    """Returns the candidate nearest to point p at the end within `max_distance` [m], as `find_first_impact` does.

    On its own surface, `is_own`, a point has to be closer than at `rest`.
    """
    start, end, vertex_normals = paths
    corners, weights, frame, place, local = scratch
    _, contact_triangle, contact_normal, is_active = existing
    best, result, result_contact, result_side = max_distance, np.int64(-1), NO_CONTACT, 1
    for c in range(len(candidates)):
        t = np.int64(candidates[c])
        distance = math.sqrt(squared_triangle_distance(p, t, end, triangles, corners, weights))
        if not distance < best or (is_own and distance >= rest_distance(rest, p, t, triangles, weights)):
            continue
        side = 1
        if not has_front:
            side = start_side(start, vertex_normals, p, t, triangles, FRONT_TOLERANCE * size)
        is_flat = triangle_frame(end, triangles, t, frame)
        if is_flat or not side * height_above_plane(p, t, end, triangles, frame) > 0.0:
            continue
        contact = find_covering_contact(t, side, frame, triangles, own[0], own[1], contact_triangle, contact_normal)
        if contact >= 0 and is_active[contact]:
            continue
        best, result, result_contact, result_side = distance, t, contact, side
        copy3(weights, place)
        min_distance = MIN_DIRECTION_DISTANCE * size
        write_contact_direction(p, t, end, triangles, weights, frame, side, distance, min_distance, local)
    return result, result_contact, result_side


@kernel(device_only=True)
def lower_bound(keys, key):
    """Returns the index of the first of `keys`, rising, that is not below `key`."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(device_only=True)
def start_side(positions, normals, p, t, triangles, tolerance):
    """Returns the side of a sheet on which a point is, 1 or −1; on the sheet, the normal of the point decides.

    `normals` are those of vertices, see `SurfacePaths`.
    """
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ex, ey, ez = positions[j, 0] - positions[i, 0], positions[j, 1] - positions[i, 1], positions[j, 2] - positions[i, 2]
    fx, fy, fz = positions[k, 0] - positions[i, 0], positions[k, 1] - positions[i, 1], positions[k, 2] - positions[i, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    height = (
        nx * (positions[p, 0] - positions[i, 0])
        + ny * (positions[p, 1] - positions[i, 1])
        + nz * (positions[p, 2] - positions[i, 2])
    )
    if len(normals) > 0 and abs(height) <= tolerance * math.sqrt(nx * nx + ny * ny + nz * nz):
        return -1 if nx * normals[p, 0] + ny * normals[p, 1] + nz * normals[p, 2] > 0.0 else 1
    return 1 if height >= 0.0 else -1


@kernel()
def find_covering_contacts(which, key, triangle, end, triangles, existing, out):
    """Writes the existing contacts that cover the front faces of triangles, −1 for none, (k,).

    Args:
        which: Which rows of `key`, `triangle` and `out` to write, (r,).
        key: As `ExistingContacts` has it, (k,).
        triangle: (k,).
        end: Vertices [m], (v, 3).
        triangles: (t, 3).
        existing: `ExistingContacts`.
        out: (k,).
    """
    frame = np.empty((3, 3))
    for row in which:
        first = lower_bound(existing.key, key[row])
        last = first
        while last < len(existing.key) and existing.key[last] == key[row]:
            last += 1
        t = np.int64(triangle[row])
        triangle_frame(end, triangles, t, frame)
        out[row] = find_covering_contact(t, 1, frame, triangles, first, last, existing.triangle, existing.normal)


@kernel(device_only=True)
def find_covering_contact(t, side, frame, triangles, first, last, contact_triangle, contact_normal):
    """Returns the existing contact that covers triangle t: of an aligned triangle with a common corner; −1 for none."""
    for contact in range(first, last):
        cosine = 0.0
        for axis in range(3):
            cosine += side * frame[2, axis] * contact_normal[contact, axis]
        if cosine <= MIN_ALIGNED_COSINE:
            continue
        other = contact_triangle[contact]
        for i in range(3):
            for j in range(3):
                if triangles[t, i] == triangles[other, j]:
                    return contact
    return NO_CONTACT


@kernel(device_only=True)
def write_contact_direction(p, t, positions, triangles, weights, frame, side, length, min_length, local):
    """Writes the direction from the nearest place to a point, in the frame of the triangle."""
    for row in range(3):
        local[row] = 0.0
    if length <= min_length:
        local[2] = side
        return
    for axis in range(3):
        away = positions[p, axis]
        for i in range(3):
            away -= weights[i] * positions[triangles[t, i], axis]
        for row in range(3):
            local[row] += away / length * frame[row, axis]


@kernel(device_only=True)
def rest_distance(rest, p, t, triangles, weights):
    """Returns the distance of a point and a place at rest [m]."""
    squared = 0.0
    for axis in range(3):
        away = rest[p, axis]
        for i in range(3):
            away -= weights[i] * rest[triangles[t, i], axis]
        squared += away * away
    return math.sqrt(squared)
