# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the place of a surface closest to a point that was in contact with it, and the normal of the contact there.

The walk begins at the triangle of the previous contact and goes downhill: to neighbours only while the closest place
lies on the border of the triangle and a neighbour is closer. So a point in a corner between floor and wall stays with
the floor while it is above it, and a point in a thin sheet stays on its side. From behind, the walk goes only to
neighbours with about the normal of the first triangle: a point below the rim of a box is pushed up, not sideways.

Beside an edge or a corner the normal of the contact is the direction from the place to the point. A point that is
behind keeps the normal of the triangle: in a crease, where it has two contacts, both. The angle-weighted pseudonormal
of the edge or corner tells whether a point is behind; beside the border of a sheet it never is.

Source: Bærentzen and Aanæs (2005), Signed distance computation using the angle weighted pseudonormal.
"""

from __future__ import annotations

import math

import numpy as np

from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...runtime.jit import kernel
from .broad_phase import shares_node_with_triangle

MIN_ALIGNED_COSINE = 0.5  # cosine between normals from which two triangles are aligned
MAX_WALK_STEPS = 64  # steps of a walk
MAX_SQUARED_DISTANCE_RATIO = 1.0 - 1.0e-9  # ratio of squared distances up to which a neighbour is closer
EDGE_WEIGHT_TOLERANCE = 1.0e-9  # barycentric weight up to which a place lies on the side of a triangle
MIN_DIRECTION_DISTANCE = 1.0e-6  # distance in tet sizes from which a place and a point have a direction


@kernel()
def find_closest_places(
    point, triangle, side, positions, surfaces, topology, surface, is_own, keeps_plane, place, local, distance
):
    """Finds the place closest to each of k points, and replaces the triangle by that of the place.

    Args:
        point: (k,).
        triangle: In and out, where the walk begins, (k,); −1: search the whole surface.
        side: 1 in front, −1 behind, (k,).
        positions: Of vertices [m], (v, 3).
        surfaces, topology: `SurfaceArrays` and `SurfaceTopology`.
        surface: Of the triangles, (k,).
        is_own: Whether it is the point's own surface, whose triangles beside the point are left out, (k,).
        keeps_plane: Whether a point behind an edge keeps the normal of the triangle; otherwise it gets the direction
            from the point to the edge.
        place: Out, barycentric weights of the place, (k, 3).
        local: Out, normal of the contact in the frame of the triangle, (k, 3).
        distance: Out, to the place [m], negative on the other side than `side`, infinite where there is none, (k,).
    """
    triangles, size, (nodes, first, rings) = surfaces.triangles, surfaces.size, topology
    corners, best, normal = np.empty((1, 9)), np.empty(3), np.empty(3)
    for c in range(len(point)):
        p, t = point[c], np.int64(triangle[c])
        if t < 0:
            t, squared = closest_of_all(
                p, first[surface[c]], first[surface[c] + 1], positions, triangles, nodes, is_own[c], corners, best
            )
        else:
            squared = squared_triangle_distance(p, t, positions, triangles, corners, best)
        distance[c] = np.inf
        if t < 0:
            continue
        t, squared = walk_downhill(p, t, squared, side[c], positions, triangles, nodes, rings, is_own[c], corners, best)
        if is_own[c] and shares_node_with_triangle(nodes, p, triangles, t):
            continue
        triangle[c] = t
        copy3(best, place[c])
        min_distance = MIN_DIRECTION_DISTANCE * size[p]
        distance[c] = find_direction(
            p,
            t,
            side[c],
            math.sqrt(squared),
            positions,
            min_distance,
            triangles,
            rings,
            best,
            keeps_plane,
            normal,
            local[c],
        )


@kernel(inline=True, device_only=True)
def walk_downhill(p, t, squared, side, positions, triangles, nodes, rings, is_own, corners, best):
    """Walks from triangle t to closer neighbours; returns the last triangle and d² [m²], and updates the place.

    `squared` and `best` are d² and the place of the first triangle; the point p is on its `side`.
    """
    weights, frame, other = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    is_behind = (
        not triangle_frame(positions, triangles, t, frame)
        and side * height_above_plane(p, t, positions, triangles, frame) < 0
    )
    for _ in range(MAX_WALK_STEPS):
        if min(best[0], best[1], best[2]) > EDGE_WEIGHT_TOLERANCE:
            break
        corner = 0
        for i in range(1, 3):
            if best[i] > best[corner]:
                corner = i
        vertex = triangles[t, corner]
        closer = t
        for slot in range(rings.start[vertex], rings.start[vertex + 1]):
            u = np.int64(rings.triangle[slot])
            if u == t or (is_own and shares_node_with_triangle(nodes, p, triangles, u)):
                continue
            d2 = squared_triangle_distance(p, u, positions, triangles, corners, weights)
            if d2 < MAX_SQUARED_DISTANCE_RATIO * squared:
                if is_behind and not is_aligned(positions, triangles, u, frame, other):
                    continue
                closer, squared = u, d2
                copy3(weights, best)
        if closer == t:
            break
        t = closer
    return t, squared


@kernel(device_only=True)
def closest_of_all(p, first, last, positions, triangles, nodes, is_own, corners, best):
    """Returns the triangle from `first` to before `last` closest to point p, −1 for none, and d² [m²]."""
    weights, closest, squared = np.empty(3), np.int64(-1), np.inf
    for t in range(first, last):
        if is_own and shares_node_with_triangle(nodes, p, triangles, t):
            continue
        d2 = squared_triangle_distance(p, t, positions, triangles, corners, weights)
        if d2 < squared:
            closest, squared = np.int64(t), d2
            copy3(weights, best)
    return closest, squared


@kernel(inline=True, device_only=True)
def copy3(three, out):
    """Writes three numbers."""
    for i in range(3):
        out[i] = three[i]


@kernel(device_only=True)
def squared_triangle_distance(p, t, positions, triangles, corners, weights):
    """Returns the squared distance of point p from a triangle [m²], and writes the weights of the closest place."""
    row = 0
    for corner in range(3):
        for axis in range(3):
            corners[0, row] = positions[triangles[t, corner], axis]
            row += 1
    d2, weights[0], weights[1], weights[2] = closest_on_triangle(
        corners, 0, positions[p, 0], positions[p, 1], positions[p, 2]
    )
    return d2


@kernel(device_only=True)
def height_above_plane(p, t, positions, triangles, frame):
    """Returns the height of a point over the plane of a triangle [m]."""
    height = 0.0
    for axis in range(3):
        height += frame[2, axis] * (positions[p, axis] - positions[triangles[t, 0], axis])
    return height


@kernel(device_only=True)
def is_aligned(positions, triangles, t, frame, other):
    """Returns whether the normal of a triangle is aligned with that of a frame; writes its own frame."""
    triangle_frame(positions, triangles, t, other)
    return frame[2, 0] * other[2, 0] + frame[2, 1] * other[2, 1] + frame[2, 2] * other[2, 2] > MIN_ALIGNED_COSINE


@kernel(device_only=True)
def find_direction(p, t, side, length, positions, min_distance, triangles, rings, weights, keeps_plane, normal, local):
    """Writes the normal of a contact in the frame of triangle t; returns the signed distance of the point [m].

    `length` is the distance from the place with these weights [m]; see `find_closest_places`.
    """
    zeros = np.int64(0)
    for i in range(3):
        if weights[i] <= EDGE_WEIGHT_TOLERANCE:
            zeros += 1
    frame = np.empty((3, 3))
    is_flat = triangle_frame(positions, triangles, t, frame)
    away = np.empty(3)
    for axis in range(3):
        away[axis] = positions[p, axis]
        for i in range(3):
            away[axis] -= weights[i] * positions[triangles[t, i], axis]
    if zeros == 0 or is_flat:
        copy3(frame[2], normal)
        is_border = False
    else:
        is_border = pseudo_normal(t, positions, triangles, rings, weights, zeros, normal)
    height = side * (away[0] * normal[0] + away[1] * normal[1] + away[2] * normal[2])
    is_behind = height < 0.0 and not is_border
    if is_behind and keeps_plane:
        local[0], local[1], local[2] = 0.0, 0.0, side
        return -length
    for i in range(3):
        local[i] = 0.0
        for axis in range(3):
            if zeros == 0 or is_flat or length <= min_distance:
                local[i] += side * normal[axis] * frame[i, axis]
            elif is_behind:
                local[i] -= away[axis] / length * frame[i, axis]
            else:
                local[i] += away[axis] / length * frame[i, axis]
    return -length if is_behind else length


@kernel()
def triangle_frame(positions, triangles, t, frame):
    """Writes two directions in a triangle and its normal as rows, (3, 3); returns whether it is degenerate."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    squared, across = 0.0, np.empty(3)
    for axis in range(3):
        frame[0, axis] = positions[j, axis] - positions[i, axis]
        across[axis] = positions[k, axis] - positions[i, axis]
        squared += frame[0, axis] * frame[0, axis]
    frame[2, 0] = frame[0, 1] * across[2] - frame[0, 2] * across[1]
    frame[2, 1] = frame[0, 2] * across[0] - frame[0, 0] * across[2]
    frame[2, 2] = frame[0, 0] * across[1] - frame[0, 1] * across[0]
    area = frame[2, 0] * frame[2, 0] + frame[2, 1] * frame[2, 1] + frame[2, 2] * frame[2, 2]
    if not (squared > 0.0 and area > 0.0):
        for row in range(3):
            for axis in range(3):
                frame[row, axis] = 1.0 if row == axis else 0.0
        return True
    one, other = 1.0 / math.sqrt(squared), 1.0 / math.sqrt(area)
    for axis in range(3):
        frame[0, axis] *= one
        frame[2, axis] *= other
    frame[1, 0] = frame[2, 1] * frame[0, 2] - frame[2, 2] * frame[0, 1]
    frame[1, 1] = frame[2, 2] * frame[0, 0] - frame[2, 0] * frame[0, 2]
    frame[1, 2] = frame[2, 0] * frame[0, 1] - frame[2, 1] * frame[0, 0]
    return False


@kernel(device_only=True)
def pseudo_normal(t, positions, triangles, rings, weights, zeros, normal):
    """Writes the pseudonormal of the edge or corner on which a place lies; returns whether that is on a border.

    Args:
        t, weights: The triangle and the place.
        zeros: Number of weights that are zero: 1 on an edge, 2 at a corner.
        normal: Out, (3,).
    """
    corner = 0
    for i in range(1, 3):
        if weights[i] > weights[corner]:
            corner = i
    a, b = np.int64(triangles[t, corner]), np.int64(-1)
    if zeros == 1:
        for i in range(3):
            if i != corner and weights[i] > EDGE_WEIGHT_TOLERANCE:
                b = np.int64(triangles[t, i])
    frame, turns, faces = np.empty((3, 3)), np.int64(0), 0
    for axis in range(3):
        normal[axis] = 0.0
    for slot in range(rings.start[a], rings.start[a + 1]):
        u = np.int64(rings.triangle[slot])
        own = 2
        if triangles[u, 0] == a:
            own = 0
        elif triangles[u, 1] == a:
            own = 1
        j, k = np.int64(triangles[u, (own + 1) % 3]), np.int64(triangles[u, (own + 2) % 3])
        if b >= 0 and j != b and k != b:
            continue
        faces += 1
        # around a vertex inside a surface, one face leaves every edge and another enters it
        turns += j - k
        if triangle_frame(positions, triangles, u, frame):
            continue
        share = 1.0 if b >= 0 else angle_at(positions, a, j, k)
        for axis in range(3):
            normal[axis] += share * frame[2, axis]
    length = math.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])
    if not length > 1.0e-12:
        triangle_frame(positions, triangles, t, frame)
        copy3(frame[2], normal)
    else:
        for axis in range(3):
            normal[axis] /= length
    return faces < 2 if b >= 0 else turns != 0


@kernel(device_only=True)
def angle_at(positions, a, j, k):
    """Returns the angle at vertex a between those to j and k [rad]."""
    dot, one, other = 0.0, 0.0, 0.0
    for axis in range(3):
        e, f = positions[j, axis] - positions[a, axis], positions[k, axis] - positions[a, axis]
        dot += e * f
        one += e * e
        other += f * f
    length = math.sqrt(one * other)
    return math.acos(min(max(dot / length, -1.0), 1.0)) if length > 0.0 else 0.0
