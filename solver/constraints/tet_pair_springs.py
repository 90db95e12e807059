# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs between a point of one tet and a place on a triangle, as springs between pairs of tets.

If the place lies outside all tets, it moves with the corners of the triangle, each on a tet of its own:
r = u₀ − Σ βₗ uₗ, with u₀ the motion of the point, uₗ the motion that tet l gives the place, and Σ βₗ = 1. The
coefficients, 1 and the −βₗ, sum to zero, so

    ½ rᵀ K r = ½ Σ βₗ (u₀ − uₗ)ᵀ K (u₀ − uₗ) − ½ Σ βₗ βₘ (uₗ − uₘ)ᵀ K (uₗ − uₘ),   l < m,

and each contact is a sum of springs between two tets. Some of these springs push apart; their sum is positive
semi-definite. Own derivation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from .pair_forces import PairForces
from .point_forces import PointForces

MAX_TETS_PER_CONTACT = 4  # the tet of the point, and one tet for each corner of the triangle
MAX_PAIRS_PER_CONTACT = 6  # pairs of these tets


class PairTets(NamedTuple):
    """The tets that k contacts move.

    Attributes:
        tet: Tet of the point, and up to three tets of the place on the other side, −1 for none, (k, 4).
        weights: Barycentric weights in these tets, (k, 16); those of the place sum to one over its tets.
    """

    tet: Indices
    weights: Floats


def tet_pairs(which: Indices, attachment: PairTets, points: PointForces) -> PairForces:
    """Returns the contacts `which` as springs between pairs of tets.

    Args:
        which: Numbers of contacts, (c,).
        attachment: Of all contacts.
        points: Forces and stiffnesses of these contacts on their points, c of them.
    """
    room = MAX_PAIRS_PER_CONTACT * len(which)
    tets, both = np.empty((2, room), np.int32), np.empty((2, room, 4))
    force, stiffness = np.empty((room, 3)), np.empty((room, 3, 3))
    out = TetPairArrays(tets[0], both[0], tets[1], both[1], force, stiffness)
    rows = fill_tet_pairs(which, attachment, points.force, points.stiffness, out)
    return PairForces(tets[0, :rows], both[0, :rows], tets[1, :rows], both[1, :rows], force[:rows], stiffness[:rows])


class TetPairArrays(NamedTuple):
    """The arrays of `PairForces` that `fill_tet_pairs` writes."""

    tet: Indices
    weights: Floats
    other: Indices
    other_weights: Floats
    force: Floats
    stiffness: Floats


@kernel()
def fill_tet_pairs(which, attachment, point_force, point_stiffness, pairs):
    """Writes the pairs of tets of `tet_pairs`, a `TetPairArrays`, and returns how many there are."""
    end_tet, weights = attachment.tet, attachment.weights
    row, shares = 0, np.empty(MAX_TETS_PER_CONTACT)
    for c in range(len(which)):
        i = which[c]
        shares[0] = -1.0
        for end in range(1, MAX_TETS_PER_CONTACT):
            shares[end] = (
                weights[i, 4 * end] + weights[i, 4 * end + 1] + weights[i, 4 * end + 2] + weights[i, 4 * end + 3]
            )
        for one in range(MAX_TETS_PER_CONTACT):
            for two in range(one + 1, MAX_TETS_PER_CONTACT):
                if end_tet[i, one] < 0 or end_tet[i, two] < 0:
                    continue
                share = -shares[one] * shares[two]
                pairs.tet[row], pairs.other[row] = end_tet[i, one], end_tet[i, two]
                for a in range(4):
                    pairs.weights[row, a] = weights[i, 4 * one + a] / abs(shares[one])
                    pairs.other_weights[row, a] = weights[i, 4 * two + a] / shares[two]
                for axis in range(3):
                    pairs.force[row, axis] = share * point_force[c, axis] if one == 0 else 0.0
                    for other_axis in range(3):
                        pairs.stiffness[row, axis, other_axis] = share * point_stiffness[c, axis, other_axis]
                row += 1
    return row
