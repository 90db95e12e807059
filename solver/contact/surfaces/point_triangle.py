# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points go through which triangles in a step, or come nearer than they may, among pairs that were gathered."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import kernel
from .broad_phase import triangle_disjoint
from .closest_point_walk import (
    MIN_ALIGNED_COSINE,
    MIN_DIRECTION_DISTANCE,
    height_above_plane,
    squared_triangle_distance,
    triangle_frame,
)
from .time_of_impact import BORDER_TOLERANCE, FRONT_TOLERANCE, NO_IMPACT, time_of_impact

NO_CONTACT = -1


@kernel()
def contact_planes(
    point, triangle, place, local, thickness, start, end, triangles, normal, gap, ahead
):  # fmt: skip
    """Writes the planes of k contacts for one end of the step.

    Args:
        point, triangle, place, local: See `Held`.
        thickness: Distance that is kept [m], (k,).
        start, end: Vertices at both ends of the step [m], (v, 3).
        triangles: See `Skins`.
        normal, gap: Out, see `Met`, (k, 3) and (k,).
        ahead: Out, the gap at the end of the step [m], (k,).
    """
    frame = np.empty((3, 3))
    for c in range(len(point)):
        t, p = np.int64(triangle[c]), point[c]
        triangle_frame(end, triangles, t, frame)
        gap[c], ahead[c] = -thickness[c], -thickness[c]
        for axis in range(3):
            n = local[c, 0] * frame[0, axis] + local[c, 1] * frame[1, axis] + local[c, 2] * frame[2, axis]
            before, after = start[p, axis], end[p, axis]
            for i in range(3):
                before -= place[c, i] * start[triangles[t, i], axis]
                after -= place[c, i] * end[triangles[t, i], axis]
            normal[c, axis] = n
            gap[c] += n * before
            ahead[c] += n * after


@kernel()
def find_crossings(
    pair_point, pair_triangle, start, end, rest, size, triangles, skin_of, skin_of_triangle, is_one_sided, thickness,
    facing, held_key, held_triangle, held_normal, held_pushes,
    point_out, skin_out, held_out, triangle_out, place_out, local_out, side_out,
):  # fmt: skip
    """Writes the first place where each point goes into each skin; returns how many there are.

    Args:
        pair_point, pair_triangle: Pairs that are looked at, by rising point, (c,) each.
        start, end, rest: Vertices at both ends of the step and at rest [m], (v, 3).
        size, triangles, is_one_sided, thickness: See `Skins`.
        skin_of, skin_of_triangle: The skin of each vertex and triangle, (v,), (t,).
        facing: Which way vertices look, of any length, (v, 3), or (0, 3): tells the side of what lies on a sheet.
        held_key: point · s + skin of contacts that there are, rising, (k,).
        held_triangle, held_normal, held_pushes: Where they are, n at the end of the step, and whether the end is
            behind the plane, (k,), (k, 3), (k,).
        point_out, skin_out: Out, what met, (r,) each: one row per point and skin at most, and per contact held.
        held_out: Out, the contact held whose place is another now, −1 where it is a new one.
        triangle_out, place_out, local_out, side_out: Out, see `Held`.
    """
    corners, weights, frame = np.empty((1, 9)), np.empty(3), np.empty((3, 3))
    skins = len(is_one_sided)
    count, begin = np.int64(0), 0
    while begin < len(pair_point):
        p, skin = pair_point[begin], skin_of_triangle[pair_triangle[begin]]
        stop = begin
        while stop < len(pair_point) and pair_point[stop] == p and skin_of_triangle[pair_triangle[stop]] == skin:
            stop += 1
        key = np.int64(p) * skins + skin
        first_held = lower_bound(held_key, key)
        last_held = first_held
        while last_held < len(held_key) and held_key[last_held] == key:
            last_held += 1
        best, found, more = NO_IMPACT, False, BORDER_TOLERANCE * size[p]
        x0, x1 = min(start[p, 0], end[p, 0]) - more, max(start[p, 0], end[p, 0]) + more
        y0, y1 = min(start[p, 1], end[p, 1]) - more, max(start[p, 1], end[p, 1]) + more
        z0, z1 = min(start[p, 2], end[p, 2]) - more, max(start[p, 2], end[p, 2]) + more
        for c in range(begin, stop):
            t = np.int64(pair_triangle[c])
            if triangle_disjoint(start, end, triangles, t, x0, x1, y0, y1, z0, z1):
                continue
            i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            side = 1
            if not is_one_sided[skin]:
                side = start_side(start, facing, p, t, triangles, FRONT_TOLERANCE * size[p])
            when = time_of_impact(start, end, p, i, j, k, side, size[p], corners, weights)
            if not when < best:
                continue
            triangle_frame(end, triangles, t, frame)
            held = find_covering_contact(t, side, frame, triangles, first_held, last_held, held_triangle, held_normal)
            if held >= 0 and held_pushes[held]:
                continue
            if not is_one_sided[skin] and (
                find_covering_contact(t, -side, frame, triangles, first_held, last_held, held_triangle, held_normal)
                >= 0
            ):  # kept on the other side, it comes back from a little too far
                continue
            best, found = when, True
            write_crossing(
                count, p, skin, held, t, weights, side, point_out, skin_out, held_out, triangle_out, place_out, side_out
            )
            local_out[count, 0], local_out[count, 1], local_out[count, 2] = 0.0, 0.0, side
        keeps = thickness[skin] + thickness[skin_of[p]]
        if not found and keeps > 0.0:
            best = keeps
            for c in range(begin, stop):
                t = np.int64(pair_triangle[c])
                near = math.sqrt(squared_triangle_distance(p, t, end, triangles, corners, weights))
                if not near < best or (skin_of[p] == skin and near >= rest_distance(rest, p, t, triangles, weights)):
                    continue
                side = (
                    1 if is_one_sided[skin] else start_side(start, facing, p, t, triangles, FRONT_TOLERANCE * size[p])
                )
                flat = triangle_frame(end, triangles, t, frame)
                if flat or not side * height_above_plane(p, t, end, triangles, frame) > 0.0:
                    continue
                held = find_covering_contact(
                    t, side, frame, triangles, first_held, last_held, held_triangle, held_normal
                )
                if held >= 0 and held_pushes[held]:
                    continue
                best, found = near, True
                write_crossing(
                    count, p, skin, held, t, weights, side, point_out, skin_out, held_out, triangle_out, place_out,
                    side_out,
                )  # fmt: skip
                write_contact_direction(
                    p, t, end, triangles, weights, frame, side, near, MIN_DIRECTION_DISTANCE * size[p], local_out[count]
                )
        if found:
            count += 1
        begin = stop
    return count


@kernel(device_only=True)
def lower_bound(keys, key):
    """Returns the place of the first of `keys`, rising, that is not below `key`."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inline=True, device_only=True)
def write_crossing(
    count, p, skin, held, t, weights, side, point_out, skin_out, held_out, triangle_out, place_out, side_out
):  # fmt: skip
    """Writes one row; see `find_crossings`."""
    point_out[count], skin_out[count], held_out[count] = p, skin, held
    triangle_out[count], side_out[count] = t, side
    for i in range(3):
        place_out[count, i] = weights[i]


@kernel(device_only=True)
def start_side(positions, facing, p, t, triangles, level):
    """Returns on which side of a sheet a point is, 1 or −1; one that lies on it touches with the side it looks to."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ex, ey, ez = positions[j, 0] - positions[i, 0], positions[j, 1] - positions[i, 1], positions[j, 2] - positions[i, 2]
    fx, fy, fz = positions[k, 0] - positions[i, 0], positions[k, 1] - positions[i, 1], positions[k, 2] - positions[i, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    height = (
        nx * (positions[p, 0] - positions[i, 0])
        + ny * (positions[p, 1] - positions[i, 1])
        + nz * (positions[p, 2] - positions[i, 2])
    )
    if len(facing) > 0 and abs(height) <= level * math.sqrt(nx * nx + ny * ny + nz * nz):
        return -1 if nx * facing[p, 0] + ny * facing[p, 1] + nz * facing[p, 2] > 0.0 else 1
    return 1 if height >= 0.0 else -1


@kernel()
def find_covering_contact(t, side, frame, triangles, first, last, held_triangle, held_normal):
    """Returns the contact held that a triangle is a part of, −1 for none: its own or a neighbour's that looks alike."""
    for held in range(first, last):
        cosine = 0.0
        for axis in range(3):
            cosine += side * frame[2, axis] * held_normal[held, axis]
        if cosine <= MIN_ALIGNED_COSINE:
            continue
        other = held_triangle[held]
        for i in range(3):
            for j in range(3):
                if triangles[t, i] == triangles[other, j]:
                    return held
    return NO_CONTACT


@kernel(device_only=True)
def write_contact_direction(p, t, positions, triangles, weights, frame, side, length, small, local):
    """Writes the direction from the nearest place to a point, in the frame of the triangle."""
    for row in range(3):
        local[row] = 0.0
    if length <= small:
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
    """Returns how far a point and a place are from each other at rest [m]."""
    squared = 0.0
    for axis in range(3):
        away = rest[p, axis]
        for i in range(3):
            away -= weights[i] * rest[triangles[t, i], axis]
        squared += away * away
    return math.sqrt(squared)
