# SPDX-License-Identifier: GPL-3.0-or-later
"""The links of attachments in the incremental potential: their energy, and what they do as stencils of four points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...constraints.attachments.attachment_potential import AttachmentPotential
from ...constraints.linear_forces import LinearForces
from ...runtime.arrays import Floats, Indices, floats, indices


class LinkStencils(NamedTuple):
    """Pairs of points in tets, as stencils whose last two corners are nowhere, k of them.

    Attributes:
        tets: Of the corners, −1 for none, (k, 4).
        weights: Of their nodes, (k, 4, 4).
        gradient: [N], (k, 12).
        hessian: Semidefinite, all together [N/m], (k, 12, 12).
    """

    tets: Indices
    weights: Floats
    gradient: Floats
    hessian: Floats


def link_energy(potentials: Sequence[AttachmentPotential], x: Floats) -> float:
    """Returns the energy of all links [J] with nodes at x [m], (n, 3)."""
    return sum(found.energy for each in potentials for found in each.link_forces(x))


def links_at(potentials: Sequence[AttachmentPotential], x: Floats) -> LinearForces:
    """Returns what all links do as nodes go on from x [m], (n, 3)."""
    return LinearForces.concatenate(*(each.forces_at(x) for each in potentials), LinearForces())


def link_stencils(links: LinearForces) -> LinkStencils:
    """Returns the links between bodies; those to what is animated are points."""
    pairs, count = links.pairs, len(links.pairs)
    tets, weights = np.full((count, 4), -1, np.int32), np.zeros((count, 4, 4))
    tets[:, 0], tets[:, 1], weights[:, 0], weights[:, 1] = pairs.tet, pairs.other, pairs.weights, pairs.other_weights
    gradient, hessian = np.zeros((count, 12)), np.zeros((count, 12, 12))
    gradient[:, :3], gradient[:, 3:6] = -pairs.force, pairs.force
    for i, j, sign in ((0, 0, 1.0), (0, 3, -1.0), (3, 0, -1.0), (3, 3, 1.0)):
        hessian[:, i : i + 3, j : j + 3] = sign * pairs.stiffness
    return LinkStencils(indices(tets, -1, 4), weights, floats(gradient), hessian)
