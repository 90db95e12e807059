# SPDX-License-Identifier: GPL-3.0-or-later
"""The harmonic coordinate of a muscle: t with Δt = 0, 0 on its origin, 1 on its insertion, no flux through its sides.

Nodes of an end that lie at a depth d behind its surface, as those of coarse tets do, have t = d / D and 1 − d / D
instead, with the distance D of both surfaces: t of a bar is then linear, wherever its tets end.

Source: Choi and Blemker 2013, whose fibres are the lines of such a flux.
"""

from __future__ import annotations

import numpy as np

from ....linalg.harmonic_extension import make_harmonic_extension
from ....runtime.arrays import Floats
from ....runtime.errors import SolveFailed
from .muscle_region import MuscleRegion

TOLERANCE = 1.0e-10  # of the linear solve: gradients far in a dead end are small
MAX_ITERATIONS = 20_000
MOST_SHARE = 0.4  # of D, of a depth: both ends stay apart


def harmonic_coordinate(region: MuscleRegion) -> Floats:
    """Returns t at the nodes of a muscle, (n,).

    Raises:
        BadInput: The attachments do not determine t; see `MuscleRegion.check_attachments`.
        SolveFailed: The linear solve does not converge.
    """
    region.check_attachments()
    values = np.zeros((len(region.nodes), 3))
    values[region.is_insertion, 0] = 1.0
    for is_end, depths, away in zip(
        (region.is_origin, region.is_insertion), region.end_depths, (1.0, -1.0), strict=True
    ):
        if len(depths):
            values[is_end, 0] += away * np.clip(depths[is_end] / _distance(region), -MOST_SHARE, MOST_SHARE)
    is_inner = ~(region.is_origin | region.is_insertion)
    system = make_harmonic_extension(region.nodes, region.tets, is_inner, TOLERANCE, MAX_ITERATIONS)
    if system is not None and not system.extend(values).converged:
        raise SolveFailed("fibres-unconverged", name=region.name)
    return np.ascontiguousarray(values[:, 0])


def _distance(region: MuscleRegion) -> float:
    """Returns how far the surfaces of both ends are from each other: between their nodes, less the depths there [m]."""
    ends = ((region.is_origin, region.end_depths[0]), (region.is_insertion, region.end_depths[1]))
    apart = np.linalg.norm(np.subtract(*(region.nodes[is_end].mean(axis=0) for is_end, _ in ends)))
    inside = sum(float(depths[is_end].mean()) for is_end, depths in ends if len(depths))
    return float(max(float(apart) + inside, float(np.finfo(float).tiny)))
