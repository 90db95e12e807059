# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of joints at their ends, the coordinates between them, and their rates (kernels)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

MIN_COSINE = 1.0e-6  # of the middle angle, of which the two others are one from 90 degrees on
SMALLEST = float(np.finfo(np.float64).tiny)


class EndArrays(NamedTuple):
    """The arrays of `JointEnd` that kernels take."""

    tet: Indices
    weights: Floats
    inverse_edges: Floats
    axes: Floats


@kernel()
def write_frames(x, tets, end, animated, origins, axes):
    """Writes origins [m], (k, 3), and axes, columns, (k, 3, 3), of the frames at one end of k joints.

    Args:
        x: Where nodes are [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        end: `EndArrays`.
        animated: World [m] ← frame where the end is no body, (k, 4, 4).
        origins, axes: Out.
    """
    for joint in range(len(origins)):
        tet = end.tet[joint]
        for i in range(3):
            if tet < 0:
                origins[joint, i] = animated[joint, i, 3]
                for j in range(3):
                    axes[joint, i, j] = animated[joint, i, j]
                continue
            first, origin = x[tets[tet, 0], i], 0.0
            for corner in range(4):
                origin += end.weights[joint, corner] * x[tets[tet, corner], i]
            origins[joint, i] = origin
            for j in range(3):
                axes[joint, i, j] = 0.0
            for a in range(3):
                deformed = 0.0
                for corner in range(3):
                    deformed += (x[tets[tet, corner + 1], i] - first) * end.inverse_edges[joint, corner, a]
                for j in range(3):
                    axes[joint, i, j] += deformed * end.axes[joint, a, j]


@kernel()
def write_coordinates(first_origin, first_axes, second_origin, second_axes, q, turns):
    """Writes the coordinates of second frames in first ones (`Joint`), (k, 6), and how they are turned, (k, 3, 3).

    Args:
        first_origin, second_origin: Origins of the frames [m], (k, 3) each.
        first_axes, second_axes: Their axes, columns, (k, 3, 3) each.
        q, turns: Out.
    """
    for joint in range(len(q)):
        R = turns[joint]
        for i in range(3):
            away = 0.0
            for m in range(3):
                away += first_axes[joint, m, i] * (second_origin[joint, m] - first_origin[joint, m])
            q[joint, i] = away
            for j in range(3):
                R[i, j] = 0.0
                for m in range(3):
                    R[i, j] += first_axes[joint, m, i] * second_axes[joint, m, j]
        q[joint, 3] = math.atan2(-R[1, 2], R[2, 2])
        q[joint, 4] = math.asin(min(max(R[0, 2], -1.0), 1.0))
        q[joint, 5] = math.atan2(-R[0, 1], R[0, 0])


@kernel()
def write_directions(first_axes, q, directions):
    """Writes n with dq/dt = n · v for translations and n · ω for angles, in the world, (k, 6, 3).

    v is that of the second frame's origin, seen from the body of the first frame; ω is the relative one. The angles
    turn about x, R_x y and R_x R_y z; n are the rows of the inverse of these axes.

    Args:
        first_axes: Axes of the first frames, columns, (k, 3, 3).
        q: Coordinates, (k, 6).
        directions: Out.
    """
    for joint in range(len(q)):
        sine_a, cosine_a = math.sin(q[joint, 3]), math.cos(q[joint, 3])
        sine_b, cosine_b = math.sin(q[joint, 4]), math.cos(q[joint, 4])
        if abs(cosine_b) < MIN_COSINE:
            cosine_b = MIN_COSINE
        tangent_b = sine_b / cosine_b
        for i in range(3):
            X, Y, Z = first_axes[joint, i, 0], first_axes[joint, i, 1], first_axes[joint, i, 2]
            across = cosine_a * Z - sine_a * Y
            directions[joint, 0, i], directions[joint, 1, i], directions[joint, 2, i] = X, Y, Z
            directions[joint, 3, i] = X - tangent_b * across
            directions[joint, 4, i] = cosine_a * Y + sine_a * Z
            directions[joint, 5, i] = across / cosine_b


@kernel()
def write_row_values(q, turns, start, start_turns, values):
    """Writes the coordinates, and how far those with motors, along x and about it, have come, (k, 8).

    Args:
        q, turns: Coordinates, (k, 6), and how second frames are turned in first ones, (k, 3, 3).
        start, start_turns: The same where the step starts; turns since then are by less than π.
        values: Out.
    """
    R = np.empty((3, 3))
    for joint in range(len(q)):
        for i in range(3):
            for j in range(3):
                R[i, j] = 0.0
                for m in range(3):
                    R[i, j] += turns[joint, i, m] * start_turns[joint, j, m]
        a, b, c = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
        sine, cosine = math.sqrt(a * a + b * b + c * c), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
        for row in range(6):
            values[joint, row] = q[joint, row]
        values[joint, 6] = q[joint, 0] - start[joint, 0]
        values[joint, 7] = a * (math.atan2(sine, cosine) / max(sine, SMALLEST))
