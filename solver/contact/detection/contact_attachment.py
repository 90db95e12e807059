# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts of skins are tied to: tets, weights, stiffness, and how their surfaces are turned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .multi_tet_contacts import MAX_TETS_PER_CONTACT

EPSILON = 1.0e-30
MAX_EXTRAPOLATION = 0.25  # weight below zero from which a place is outside of a tet: there its motion is a guess
MIN_CORNER_SHARE = 1.0e-9  # of a corner in a place


@dataclass(frozen=True)
class ContactAttachment:
    """What k contacts hang on; see `Pushing` for each.

    Attributes:
        ends, weights: (k, 4) and (k, 16).
        numbers: size, k and μ, (3, k).
    """

    ends: Indices
    weights: Floats
    parameters: Floats


@kernel()
def attach_contacts(
    points, triangle, place, skin, other_skin, friction, x, told_start, told_end, X, tets, tet, tet_weights, under,
    triangles, rest, stiffness, mass, tet_size, inertia, spreads, ends, weights, numbers, carried,
):  # fmt: skip
    """Writes what contacts of skins are tied to.

    Two stiffnesses act one after the other, so the soft one counts; the bound that inertia sets is that of the lighter
    side. What is told is stiff and heavy without bound.

    Args:
        points, triangle, place: The contacts: see `Met`, (k,), (k,), (k, 3).
        skin, other_skin: Of the point and of the triangle, (k,) each.
        friction: μ of every skin, (s,).
        x: Nodes at the start of the step [m], (n, 3).
        told_start, told_end: Vertices of colliders at both ends of it [m], (v, 3).
        X, tets: Nodes at rest [m], and the tets.
        tet, tet_weights, triangles, rest: Of the `Skins`.
        under: See `SkinSurfaces`.
        stiffness, mass, tet_size: Of the `SkinSurfaces`.
        inertia: Stiffness per mass that a contact has at least [1/s²].
        spreads: Whether places outside of all tets hang on those of the triangle's corners.
        ends, weights, numbers: Out, see `ContactAttachment`.
        carried: Out, see `Touching`, (k, 3).
    """
    q = np.empty(3)
    q_weights, tried = np.empty(4), np.empty(4)
    for c in range(len(points)):
        point, t = points[c], triangle[c]
        nearest = 0
        for a in range(1, 3):
            if place[c, a] > place[c, nearest]:
                nearest = a
        corner = triangles[t, nearest]
        is_told, is_carried = tet[point] < 0, tet[corner] < 0
        for i in range(3):
            q[i] = 0.0
            for a in range(3):
                q[i] += place[c, a] * rest[triangles[t, a], i]
        bears = tet[corner]
        if not is_carried and len(under) > 0:
            bears = find_support_tet(q, t, X, tets, tet, under, triangles, tried, q_weights)
        elif not is_carried:
            barycentric_weights(q, X, tets[bears], q_weights)
        ends[c], weights[c] = -1, 0.0
        ends[c, 0] = bears if is_told else tet[point]
        for a in range(4):
            weights[c, a] = q_weights[a] if is_told else tet_weights[point, a]
        if not is_told and not is_carried:
            if spreads and min(min(q_weights[0], q_weights[1]), min(q_weights[2], q_weights[3])) < -MAX_EXTRAPOLATION:
                attach_to_corners(c, place, triangles[t], tet, tet_weights, ends, weights)
            else:
                ends[c, 1] = bears
                for a in range(4):
                    weights[c, 4 + a] = q_weights[a]
        for i in range(3):
            at = 0.0
            for a in range(4):
                at += weights[c, a] * x[tets[ends[c, 0], a], i]
            for leg in range(1, MAX_TETS_PER_CONTACT):
                if ends[c, leg] < 0:
                    break
                for a in range(4):
                    at -= weights[c, 4 * leg + a] * x[tets[ends[c, leg], a], i]
            if is_told:
                at += told_end[point, i] - told_start[point, i]
            elif is_carried:
                for a in range(3):
                    v = triangles[t, a]
                    at += place[c, a] * (told_end[v, i] - told_start[v, i])
            carried[c, i] = at
        numbers[0, c] = min(tet_size[point], tet_size[corner])
        # 1/∞ is 0: what is told adds nothing
        soft = 1.0 / (1.0 / stiffness[point] + 1.0 / stiffness[corner])
        numbers[1, c] = max(soft, inertia * min(mass[point], mass[corner]))
        mine, other = friction[skin[c]], friction[other_skin[c]]
        numbers[2, c] = mine if is_told else other if is_carried else math.sqrt(mine * other)


@kernel(device_only=True)
def attach_to_corners(c, place, corners, tet, tet_weights, ends, weights):
    """Lets the place of a contact c go with the corners of its triangle, (3,), each on its own tet."""
    for a in range(3):
        share, corner = place[c, a], corners[a]
        if share <= MIN_CORNER_SHARE:
            continue
        leg = 1
        while ends[c, leg] >= 0 and ends[c, leg] != tet[corner]:
            leg += 1
        ends[c, leg] = tet[corner]
        for b in range(4):
            weights[c, 4 * leg + b] += share * tet_weights[corner, b]


@kernel(device_only=True)
def find_support_tet(q, t, X, tets, tet, under, triangles, tried, weights):
    """Returns the tet that a place q of a triangle t moves with, and writes its weights in it, (4,).

    Of the tets that bear the triangle's corners and its middle it is the one that q is least outside of, unless one
    bears all corners: outside, a motion is a guess, and of thin tets one that lets surfaces into each other
    that seem to part.
    """
    i, j, k = tet[triangles[t, 0]], tet[triangles[t, 1]], tet[triangles[t, 2]]
    if i == j and j == k:
        barycentric_weights(q, X, tets[i], weights)
        return i
    found, best = i, -np.inf
    for a in range(4):
        one = under[t] if a == 3 else tet[triangles[t, a]]
        barycentric_weights(q, X, tets[one], tried)
        inside = min(min(tried[0], tried[1]), min(tried[2], tried[3]))
        if inside > best:
            found, best = one, inside
            for i in range(4):
                weights[i] = tried[i]
    return found


@kernel(device_only=True)
def barycentric_weights(q, X, nodes, weights):
    """Writes the barycentric weights of a point q [m], (3,), in a tet with `nodes`, (4,), of X [m], outside it too."""
    o = X[nodes[3]]
    ax, ay, az = X[nodes[0], 0] - o[0], X[nodes[0], 1] - o[1], X[nodes[0], 2] - o[2]
    bx, by, bz = X[nodes[1], 0] - o[0], X[nodes[1], 1] - o[1], X[nodes[1], 2] - o[2]
    cx, cy, cz = X[nodes[2], 0] - o[0], X[nodes[2], 1] - o[1], X[nodes[2], 2] - o[2]
    x, y, z = q[0] - o[0], q[1] - o[1], q[2] - o[2]
    volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    weights[0] = (x * (by * cz - bz * cy) + y * (bz * cx - bx * cz) + z * (bx * cy - by * cx)) / volume
    weights[1] = (ax * (y * cz - z * cy) + ay * (z * cx - x * cz) + az * (x * cy - y * cx)) / volume
    weights[2] = (ax * (by * z - bz * y) + ay * (bz * x - bx * z) + az * (bx * y - by * x)) / volume
    weights[3] = 1.0 - weights[0] - weights[1] - weights[2]


def rotations_between(rest: Floats, now: Floats) -> Floats:
    """Returns the rotations of triangles, (k, 3, 3), from corners at rest to those now [m], (k, 3, 3) each."""
    return np.einsum("kai,kaj->kij", _triangle_frames(now), _triangle_frames(rest))


def _triangle_frames(corners: Floats) -> Floats:
    """Returns an edge, the direction across it and the normal of triangles as rows, (k, 3, 3)."""
    first = corners[:, 1] - corners[:, 0]
    normal = np.cross(first, corners[:, 2] - corners[:, 0])
    first = first / np.maximum(np.linalg.norm(first, axis=1), EPSILON)[:, None]
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1), EPSILON)[:, None]
    return np.stack([first, np.cross(normal, first), normal], axis=1)
