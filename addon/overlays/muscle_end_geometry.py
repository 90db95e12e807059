# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of the ends and tendons on the surface of a muscle, before it has tets. Knows no Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solver.runtime.arrays import Bools, Floats, Indices

IN_GROUP = 0.5  # weights above it count
MAX_TABLE = 4_000_000  # distances at a time


@dataclass(frozen=True, eq=False)
class EndFaces:
    """What has a colour: triangles by vertices of the surface, (…, 3)."""

    origin: Indices
    insertion: Indices
    tendon: Indices


@dataclass(frozen=True, eq=False)
class EndWeights:
    """Weights of the vertices of a surface, 0 to 1, (n,): of both ends and of painted tendon."""

    origin: Floats
    insertion: Floats
    tendon: Floats


def end_faces(vertices: Floats, triangles: Indices, weights: EndWeights, lengths: tuple[float, float]) -> EndFaces:
    """Returns the faces of the ends, whose corners are all in a group, and those of tendon beside them.

    Args:
        vertices, triangles: Of the surface at rest [Blender units].
        weights: Of its vertices.
        lengths: How far tendon reaches from the origin and from the insertion; measured to the nearest vertex of the
            end, which is an estimate: a bake measures along the fibres.
    """
    is_origin, is_insertion = weights.origin > IN_GROUP, weights.insertion > IN_GROUP
    is_tendon = weights.tendon > IN_GROUP
    for is_end, reach in zip((is_origin, is_insertion), lengths, strict=True):
        is_tendon = is_tendon | _is_within(vertices, is_end, reach)
    origin, insertion = is_origin[triangles].all(axis=1), is_insertion[triangles].all(axis=1)
    tendon = is_tendon[triangles].all(axis=1) & ~origin & ~insertion
    return EndFaces(triangles[origin], triangles[insertion], triangles[tendon])


def _is_within(vertices: Floats, is_end: Bools, reach: float) -> Bools:
    """Returns which vertices are at most a length away from those of an end, (n,); none without a length."""
    end = vertices[is_end]
    if not reach > 0.0 or not len(end):
        return np.zeros(len(vertices), bool)
    rows = max(1, MAX_TABLE // len(end))
    found = [
        ((vertices[first : first + rows, None] - end) ** 2).sum(axis=2).min(axis=1) <= reach * reach
        for first in range(0, len(vertices), rows)
    ]
    return np.concatenate(found)
