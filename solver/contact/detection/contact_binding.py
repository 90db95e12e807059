# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets a contact moves: the tet of its point, and one or more tets of the place on the other side."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...constraints.tet_pair_springs import MAX_TETS_PER_CONTACT, PairTets
from ...mesh.geometry.triangle_frames import MIN_VECTOR_LENGTH
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

MAX_EXTRAPOLATION = 0.25  # barycentric weight below zero from which a tet no longer predicts the motion of a place
MIN_CORNER_WEIGHT = 1.0e-9  # barycentric weight from which a corner of the triangle counts


class AttachedContacts(NamedTuple):
    """What the attachment of k contacts determines; see `ContactState` for what it has besides."""

    attachment: PairTets
    size: Floats
    k: Floats
    mu: Floats
    compliance: Floats
    yield_force: Floats

    @staticmethod
    def allocate(count: int) -> AttachedContacts:
        """Returns arrays for `count` contacts without any tet, weights zero, to be filled."""
        tet = np.full((count, MAX_TETS_PER_CONTACT), -1, np.int32)
        size, k, mu = np.empty((3, count))
        weights = np.zeros((count, 4 * MAX_TETS_PER_CONTACT))
        return AttachedContacts(PairTets(tet, weights), size, k, mu, np.zeros(count), np.full(count, np.inf))

    @staticmethod
    def concatenate(first: AttachedContacts, second: AttachedContacts) -> AttachedContacts:
        """Returns the contacts of both, in order."""
        tet = np.concatenate([first.attachment.tet, second.attachment.tet])
        weights = np.concatenate([first.attachment.weights, second.attachment.weights])
        return AttachedContacts(PairTets(tet, weights), *map(np.concatenate, zip(first[1:], second[1:], strict=True)))


class ContactTriangles(NamedTuple):
    """Where k points touch surfaces: see `PointTriangleContacts`.

    Attributes:
        point: The vertices, (k,).
        other_surface: Surfaces of the triangles, (k,).
        triangle, place: Triangles and barycentric weights in them, (k,) and (k, 3).
    """

    point: npt.NDArray[np.int64]
    other_surface: npt.NDArray[np.int64]
    triangle: Indices
    place: Floats


class TetNodes(NamedTuple):
    """The tets of a model, (m, 4), and its nodes at rest and at the start of the step [m], (n, 3) each."""

    tets: Indices
    rest: Floats
    start: Floats


class PrescribedVertices(NamedTuple):
    """Vertices of colliders at both ends of the step [m], (v, 3) each; rows of bodies are not read."""

    start: Floats
    end: Floats


@kernel()
def attach_contacts(
    contacts, surfaces, binding, materials, nodes, prescribed, min_inertial_factor, spreads, attached, carried
):
    """Attaches contacts of surfaces to tets, and writes their sizes, stiffnesses and coefficients of friction.

    The stiffnesses of both sides act in series, so the softer one dominates; the lighter side sets the least stiffness.
    Prescribed vertices are infinitely stiff and heavy.

    Args:
        contacts: `ContactTriangles`.
        surfaces, binding: `SurfaceArrays` and `SurfaceBinding`.
        materials: `ContactMaterialArrays` of `surface_materials.py`.
        nodes: `TetNodes`.
        prescribed: `PrescribedVertices`.
        min_inertial_factor: Least stiffness of a contact per mass [1/s²].
        spreads: Whether places outside of all tets move with the tets of the triangle's corners.
        attached: Out, `AttachedContacts`.
        carried: Out, see `ContactSet`, (k, 3).
    """
    points, triangle, place = contacts.point, contacts.triangle, contacts.place
    tets, X, x = nodes.tets, nodes.rest, nodes.start
    (tet, tet_weights), triangles, rest = binding, surfaces.triangles, surfaces.rest
    support_tet, friction = materials.support_tet, materials.friction
    stiffness, mass, tet_size = materials.stiffness, materials.mass, materials.tet_size
    (end_tet, weights), size, k, mu, compliance, yield_force = attached
    surface_of, other_surface, (start, end) = surfaces.surface_of, contacts.other_surface, prescribed
    q, q_weights, scratch = np.empty(3), np.empty(4), np.empty(4)
    for c in range(len(points)):
        point, t = points[c], triangle[c]
        corner = triangles[t, largest_of_three(place[c])]
        is_prescribed, on_collider = tet[point] < 0, tet[corner] < 0
        interpolate_triangle(rest, triangles[t], place[c], q)
        support = tet[corner]
        if not on_collider and not surfaces.is_one_sided[surface_of[corner]]:
            support = support_tet[t]
            write_hinge_weights(place[c], triangles[t], tet, tet_weights, tets, support, q_weights)
        elif not on_collider and len(support_tet) > 0:
            support = find_support_tet(q, t, X, tets, tet, support_tet, triangles, scratch, q_weights)
        elif not on_collider:
            barycentric_weights(q, X, tets[support], q_weights)
        end_tet[c], weights[c] = -1, 0.0
        end_tet[c, 0] = support if is_prescribed else tet[point]
        for a in range(4):
            weights[c, a] = q_weights[a] if is_prescribed else tet_weights[point, a]
        if not is_prescribed and not on_collider:
            if spreads and min(min(q_weights[0], q_weights[1]), min(q_weights[2], q_weights[3])) < -MAX_EXTRAPOLATION:
                attach_to_corners(c, place, triangles[t], tet, tet_weights, end_tet, weights)
            else:
                end_tet[c, 1] = support
                for a in range(4):
                    weights[c, 4 + a] = q_weights[a]
        write_relative_position(c, end_tet, weights, tets, x, carried)
        if is_prescribed:
            for i in range(3):
                carried[c, i] += end[point, i] - start[point, i]
        elif on_collider:
            for i in range(3):
                for a in range(3):
                    v = triangles[t, a]
                    carried[c, i] += place[c, a] * (end[v, i] - start[v, i])
        size[c] = min(tet_size[point], tet_size[corner])
        # 1/∞ is 0: a prescribed side adds nothing
        in_series = 1.0 / (1.0 / stiffness[point] + 1.0 / stiffness[corner])
        k[c] = max(in_series, min_inertial_factor * min(mass[point], mass[corner]))
        bind_softly(c, point, triangles[t], place[c], materials, compliance, yield_force)
        if compliance[c] > 0.0:
            k[c] = 1.0 / (1.0 / k[c] + compliance[c])
        own, other = friction[surface_of[point]], friction[other_surface[c]]
        mu[c] = own if is_prescribed else other if on_collider else math.sqrt(own * other)


@kernel(device_only=True)
def bind_softly(c, point, corners, place, materials, compliance, yield_force):
    """Writes the compliance of the springs of surface detail at both sides of contact c, and the force it yields at.

    The place moves by Σ β² f / b as corners with the weights β and the springs b move by β f / b.
    """
    binding, length = materials.binding_stiffness, materials.yield_length
    compliance[c], yield_force[c] = 0.0, np.inf
    if binding[point] < np.inf:
        compliance[c], yield_force[c] = 1.0 / binding[point], binding[point] * length[point]
    for a in range(3):
        corner, share = corners[a], place[a]
        if binding[corner] < np.inf and share > MIN_CORNER_WEIGHT:
            compliance[c] += share * share / binding[corner]
            yield_force[c] = min(yield_force[c], binding[corner] * length[corner] / share)


@kernel(device_only=True)
def largest_of_three(values):
    """Returns the index of the largest of three numbers, the first of equal ones."""
    largest = 0
    for a in range(1, 3):
        if values[a] > values[largest]:
            largest = a
    return largest


@kernel(device_only=True)
def interpolate_triangle(positions, corners, weights, out):
    """Writes the point of a triangle with these barycentric weights [m], (3,)."""
    for i in range(3):
        out[i] = 0.0
        for a in range(3):
            out[i] += weights[a] * positions[corners[a], i]


@kernel()
def fill_relative_positions(end_tet, weights, tets, x, out):
    """Writes the positions of the points of contacts less those of their places on the other side [m], (k, 3)."""
    for c in range(len(end_tet)):
        write_relative_position(c, end_tet, weights, tets, x, out)


@kernel(device_only=True)
def write_relative_position(c, end_tet, weights, tets, x, out):
    """Writes the position of the point of contact c less that of its place on the other side [m], row c of (k, 3)."""
    for i in range(3):
        at = 0.0
        for a in range(4):
            at += weights[c, a] * x[tets[end_tet[c, 0], a], i]
        for end in range(1, MAX_TETS_PER_CONTACT):
            if end_tet[c, end] < 0:
                break
            for a in range(4):
                at -= weights[c, 4 * end + a] * x[tets[end_tet[c, end], a], i]
        out[c, i] = at


@kernel(device_only=True)
def attach_to_corners(c, place, corners, tet, tet_weights, end_tet, weights):
    """Attaches the place of contact c to the corners of its triangle, (3,), each on its own tet."""
    for a in range(3):
        share, corner = place[c, a], corners[a]
        if share <= MIN_CORNER_WEIGHT:
            continue
        end = 1
        while end_tet[c, end] >= 0 and end_tet[c, end] != tet[corner]:
            end += 1
        end_tet[c, end] = tet[corner]
        for b in range(4):
            weights[c, 4 * end + b] += share * tet_weights[corner, b]


@kernel(device_only=True)
def write_hinge_weights(place, corners, tet, tet_weights, tets, hinge, weights):
    """Writes the weights, (4,), in a hinge of a place of a triangle of a sheet, whose corners are nodes of it."""
    for a in range(4):
        weights[a] = 0.0
    for c in range(3):
        vertex, largest = corners[c], 0
        for a in range(1, 4):
            if tet_weights[vertex, a] > tet_weights[vertex, largest]:
                largest = a
        node = tets[tet[vertex], largest]
        for a in range(4):
            if tets[hinge, a] == node:
                weights[a] = place[c]
                break


@kernel(device_only=True)
def find_support_tet(q, t, X, tets, tet, support_tet, triangles, scratch, weights):
    """Returns the tet that a place q of a triangle t moves with, and writes its weights in it, (4,).

    If one tet holds all three corners, it is that one. Otherwise it is the tet that q is least outside of, among those
    of the corners and of the triangle's middle: extrapolated motion is a guess, and from thin tets it would let
    surfaces into each other that seem to part.
    """
    i, j, k = tet[triangles[t, 0]], tet[triangles[t, 1]], tet[triangles[t, 2]]
    if i == j and j == k:
        barycentric_weights(q, X, tets[i], weights)
        return i
    result, best = i, -np.inf
    for a in range(4):
        candidate = support_tet[t] if a == 3 else tet[triangles[t, a]]
        barycentric_weights(q, X, tets[candidate], scratch)
        inside = min(min(scratch[0], scratch[1]), min(scratch[2], scratch[3]))
        if inside > best:
            result, best = candidate, inside
            for i in range(4):
                weights[i] = scratch[i]
    return result


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


@kernel()
def triangle_rotations(triangle, triangles, rest, now, out):
    """Writes the rotations of some triangles from rest to where they are now, none below 0, (k, 3, 3).

    Args:
        triangle: Which ones, (k,).
        triangles: Corners of all, (t, 3).
        rest, now: Vertices [m], (v, 3) each.
        out: See above.
    """
    frame, frame_now = np.empty((3, 3)), np.empty((3, 3))
    for c in range(len(triangle)):
        if triangle[c] < 0:
            for i in range(3):
                for j in range(3):
                    out[c, i, j] = 1.0 if i == j else 0.0
            continue
        write_frame(triangles[triangle[c]], rest, frame)
        write_frame(triangles[triangle[c]], now, frame_now)
        for i in range(3):
            for j in range(3):
                out[c, i, j] = frame_now[0, i] * frame[0, j] + frame_now[1, i] * frame[1, j]
                out[c, i, j] += frame_now[2, i] * frame[2, j]


@kernel(device_only=True)
def write_frame(corners, x, frame):
    """Writes the `triangle_frames` of a triangle, (3, 3), with vertices at x [m], (v, 3)."""
    o, p, q = corners[0], corners[1], corners[2]
    for row in range(2):
        length = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            if row == 0:
                frame[0, i] = x[p, i] - x[o, i]
                length += frame[0, i] * frame[0, i]
            else:
                frame[2, i] = (x[p, j] - x[o, j]) * (x[q, k] - x[o, k]) - (x[p, k] - x[o, k]) * (x[q, j] - x[o, j])
                length += frame[2, i] * frame[2, i]
        length = max(math.sqrt(length), MIN_VECTOR_LENGTH)
        for i in range(3):
            frame[2 * row, i] /= length
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        frame[1, i] = frame[2, j] * frame[0, k] - frame[2, k] * frame[0, j]
