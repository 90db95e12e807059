# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs of features that are close, or rub, add to the Newton system of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...contact.exact.contact_potential import ContactBarrier, PairDerivatives, PairStencils, fill_contact_derivatives
from ...contact.exact.friction import FrictionPairs, fill_friction_derivatives
from ...runtime.arrays import Floats, Indices


class PairTerms(NamedTuple):
    """Derivatives of the energies of pairs by their vertices.

    Attributes:
        vertices: Four of each, (k, 4).
        gradient: As it is expected once colliders have gone what is left of their way [N], (k, 12).
        hessian: Semidefinite [N/m], (k, 12, 12).
    """

    vertices: Indices
    gradient: Floats
    hessian: Floats


def contact_terms(group: PairStencils, y: Floats, left: Floats, how: ContactBarrier) -> PairTerms:
    """Returns what the pairs within their gap add.

    Args:
        group: Pairs.
        y: Vertices [m], (v, 3).
        left: What is left of the way of colliders [m], (v, 3).
        how: The barrier.
    """
    count = len(group.vertices)
    out = PairDerivatives(np.empty(count), np.empty((count, 12)), np.empty((count, 12, 12)))
    fill_contact_derivatives(group, y, how, out)
    near = np.flatnonzero(out.energy > 0.0)
    return _expected(group.vertices[near], out.gradient[near], out.hessian[near], left)


def friction_terms(pairs: FrictionPairs, motion: Floats, was_cut: bool, left: Floats) -> PairTerms:
    """Returns what pairs that rub add.

    Args:
        pairs: They.
        motion: Of vertices in the step [m], (v, 3).
        was_cut: Whether the last direction was followed in part only; see `fill_friction_derivatives`.
        left: What is left of the way of colliders [m], (v, 3).
    """
    gradient, hessian = np.empty((len(pairs.vertices), 12)), np.empty((len(pairs.vertices), 12, 12))
    fill_friction_derivatives(pairs, motion, was_cut, gradient, hessian)
    return _expected(pairs.vertices, gradient, hessian, left)


def _expected(vertices: Indices, gradient: Floats, hessian: Floats, left: Floats) -> PairTerms:
    expected = gradient + np.einsum("kij,kj->ki", hessian, left[vertices].reshape(-1, 12))
    return PairTerms(vertices, expected, hessian)
