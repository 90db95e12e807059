# SPDX-License-Identifier: GPL-3.0-or-later
"""The places at which a joint's forces act: where they are, how they move and what they feel (kernels).

There are seven: the second frame's origin, then for each angle the two places beside it at ± h e.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

PLACE_COUNT = 7


class PlaceArrays(NamedTuple):
    """The places of k joints in a step.

    Attributes:
        tet: The tets of both ends, −1 where the end is no body, (2, k).
        weights: Where the places are in these, (2, 7, k, 4).
        directions: n of the coordinates, (k, 6, 3).
        turn_size: |n| of the angles, (k, 3).
        couple: d = n̂ × e of each angle, (k, 3, 3).
        size: h [m], (k,).
    """

    tet: Indices
    weights: Floats
    directions: Floats
    turn_size: Floats
    couple: Floats
    size: Floats


@kernel()
def write_couples(directions, beside, turn_size, couple):
    """Writes e across the axis of every angle, (k, 3, 3), |n|, (k, 3), and d = n̂ × e, (k, 3, 3).

    Args:
        directions: n of the coordinates, (k, 6, 3).
        beside, turn_size, couple: Out.
    """
    for joint in range(len(directions)):
        for row in range(3):
            n, e, d = directions[joint, 3 + row], beside[joint, row], couple[joint, row]
            size = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
            turn_size[joint, row] = size
            least = 0
            for i in range(1, 3):
                if abs(n[i]) < abs(n[least]):
                    least = i
            j, k = (least + 1) % 3, (least + 2) % 3
            across = math.sqrt(n[j] * n[j] + n[k] * n[k])  # n × that axis
            e[least], e[j], e[k] = 0.0, n[k] / across, -n[j] / across
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                d[i] = (n[j] * e[k] - n[k] * e[j]) / size


@kernel()
def write_place_weights(tet, x, tets, rows, origins, beside, size, weights):
    """Writes the weights by which the places go with the tets of one end, (7, k, 4), affine in them to round-off.

    Args:
        tet: Tets of the end, (k,).
        x: Where nodes are [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        rows: λ₁₂₃ = rows · (p − x₀) (`barycentric_rows`), (k, 3, 3).
        origins: Of the second frames [m], (k, 3).
        beside: e of each angle, (k, 3, 3).
        size: h [m], (k,).
        weights: Out.
    """
    arm = np.empty(3)
    for place in range(PLACE_COUNT):
        row, sign = (place - 1) // 2, 1.0 - 2.0 * ((place - 1) % 2)
        for joint in range(len(tet)):
            if tet[joint] < 0:
                weights[place, joint] = 0.0
                continue
            corner = tets[tet[joint], 0]
            for i in range(3):
                arm[i] = origins[joint, i]
                if place > 0:
                    arm[i] += sign * size[joint] * beside[joint, row, i]
                arm[i] -= x[corner, i]
            total = 0.0
            for a in range(3):
                share = rows[joint, a, 0] * arm[0] + rows[joint, a, 1] * arm[1] + rows[joint, a, 2] * arm[2]
                weights[place, joint, 1 + a] = share
                total += share
            weights[place, joint, 0] = 1.0 - total


@kernel()
def write_relative_motions(places, displacement, tets, along):
    """Writes n · u of the coordinates, (k, 6), for displacements of all nodes along straight lines [m], (n, 3).

    Args:
        places: `PlaceArrays`.
        displacement: u.
        tets: Nodes of the tets, (m, 4).
        along: Out.
    """
    moved = np.empty((PLACE_COUNT, 3))
    for joint in range(len(along)):
        moved[:] = 0.0
        for end in range(2):
            tet = places.tet[end, joint]
            if tet < 0:
                continue
            for place in range(PLACE_COUNT):
                for i in range(3):
                    own = 0.0
                    for corner in range(4):
                        own += places.weights[end, place, joint, corner] * displacement[tets[tet, corner], i]
                    moved[place, i] += own if end == 1 else -own
        for row in range(3):
            n, d = places.directions[joint, row], places.couple[joint, row]
            forth, back = moved[1 + 2 * row], moved[2 + 2 * row]
            along[joint, row], turned = 0.0, 0.0
            for i in range(3):
                along[joint, row] += n[i] * moved[0, i]
                turned += d[i] * (forth[i] - back[i])
            along[joint, 3 + row] = turned * places.turn_size[joint, row] / (2.0 * places.size[joint])


@kernel()
def write_place_forces(places, phi, stiffness, force, matrix, acts):
    """Writes φ and k of coordinates as forces [N], (7, k, 3), and matrices [N/m], (7, k, 3, 3), on the second ends.

    Args:
        places: `PlaceArrays`.
        phi, stiffness: φ and k, (k, 6) each.
        force, matrix: Out.
        acts: Out, where any of the two is not zero, (7, k).
    """
    for joint in range(len(phi)):
        first, K = force[0, joint], matrix[0, joint]
        first[:], K[:] = 0.0, 0.0
        for row in range(3):
            n = places.directions[joint, row]
            for i in range(3):
                first[i] -= phi[joint, row] * n[i]
                for j in range(3):
                    K[i, j] += stiffness[joint, row] * n[i] * n[j]
        for row in range(3):
            d, lever = places.couple[joint, row], places.turn_size[joint, row] / (2.0 * places.size[joint])
            forth, back = 1 + 2 * row, 2 + 2 * row
            pull, k = phi[joint, 3 + row] * lever, 2.0 * stiffness[joint, 3 + row] * lever * lever
            for i in range(3):
                force[forth, joint, i], force[back, joint, i] = -pull * d[i], pull * d[i]
                for j in range(3):
                    each = k * d[i] * d[j]
                    matrix[forth, joint, i, j] = matrix[back, joint, i, j] = each
                    K[i, j] -= 2.0 * each
        for place in range(PLACE_COUNT):
            acts[place, joint] = False
            for i in range(3):
                acts[place, joint] |= force[place, joint, i] != 0.0
                for j in range(3):
                    acts[place, joint] |= matrix[place, joint, i, j] != 0.0
