# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts whose place hangs on up to three tets, taken apart into pairs of tets.

A place on a triangle that lies outside of all tets does not move with any one of them, but with its corners, each on a
tet of its own: r = u₀ − Σ βₗ uₗ, with u₀ the motion of the point and uₗ what leg l would make of the place, Σ βₗ = 1.
As the shares, 1 and the −βₗ, add up to nothing,

    ½ rᵀ K r = ½ Σ βₗ (u₀ − uₗ)ᵀ K (u₀ − uₗ) − ½ Σ βₗ βₘ (uₗ − uₘ)ᵀ K (uₗ − uₘ),   l < m,

so each contact is a sum of springs between two tets, some of which push apart; together they are positive. Own
derivation.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import PairForces, PointForces
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

MAX_TETS_PER_CONTACT = 4  # tets that a contact may hang on: that of its point, and one for each corner of the triangle
MAX_PAIRS_PER_CONTACT = 6  # pairs of tets that one contact is made of at most


def tet_pairs(which: Indices, ends: Indices, weights: Floats, points: PointForces) -> PairForces:
    """Returns the contacts `which` as pairs of tets.

    Args:
        which: Numbers of contacts, (c,).
        ends, weights: Of all contacts, see `Pushing`.
        points: What these push their points with, c of them.
    """
    room = MAX_PAIRS_PER_CONTACT * len(which)
    tets, both = np.empty((2, room), np.int32), np.empty((2, room, 4))
    force, stiffness = np.empty((room, 3)), np.empty((room, 3, 3))
    rows = fill_tet_pairs(
        which, ends, weights, points.force, points.stiffness, tets[0], both[0], tets[1], both[1], force, stiffness
    )
    return PairForces(tets[0, :rows], both[0, :rows], tets[1, :rows], both[1, :rows], force[:rows], stiffness[:rows])


@kernel()
def fill_tet_pairs(which, ends, weights, point_force, point_stiffness, tet, tet_weights, other, other_weights, force,
              stiffness):  # fmt: skip
    """Writes the pairs of tets of `tet_pairs`, and returns how many there are."""
    row, shares = 0, np.empty(MAX_TETS_PER_CONTACT)
    for c in range(len(which)):
        i = which[c]
        shares[0] = -1.0
        for leg in range(1, MAX_TETS_PER_CONTACT):
            shares[leg] = (
                weights[i, 4 * leg] + weights[i, 4 * leg + 1] + weights[i, 4 * leg + 2] + weights[i, 4 * leg + 3]
            )
        for one in range(MAX_TETS_PER_CONTACT):
            for two in range(one + 1, MAX_TETS_PER_CONTACT):
                if ends[i, one] < 0 or ends[i, two] < 0:
                    continue
                share = -shares[one] * shares[two]
                tet[row], other[row] = ends[i, one], ends[i, two]
                for a in range(4):
                    tet_weights[row, a] = weights[i, 4 * one + a] / abs(shares[one])
                    other_weights[row, a] = weights[i, 4 * two + a] / shares[two]
                for axis in range(3):
                    force[row, axis] = share * point_force[c, axis] if one == 0 else 0.0
                    for other_axis in range(3):
                        stiffness[row, axis, other_axis] = share * point_stiffness[c, axis, other_axis]
                row += 1
    return row
