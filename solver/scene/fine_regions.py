# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tets of a body with the fill Adaptive have to be small, besides where its surface bends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.schema_constraints import RowsOf, points, shape, shape_or_empty
from .serialisation.sequence_coercion import convert_sequences
from .settings.tet_settings import FINE_DISTANCE


@dataclass(frozen=True)
class FineRegions:
    """Parts of a body whose tets have the size that is asked for, and not one that is larger.

    Attributes:
        paint: At the vertices of the body: tets that a face with a vertex above ½ touches are small, (n,), or (0,).
        places, triangles: Points, as of bones or cutters, and faces between them, near which tets are small [m], in the
            rest pose, (k, 3) and (t, 3).
        reach: How near [m].
        edges: Pairs of vertices of the body between which tets are small, as where its pins end, (e, 2).
    """

    paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))
    places: Annotated[Floats, points("k", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Annotated[Indices, shape("t", 3), RowsOf("places")] = field(
        default_factory=lambda: np.zeros((0, 3), np.int32)
    )
    reach: Annotated[float, FINE_DISTANCE.limits] = 0.0
    edges: Annotated[Indices, shape("e", 2)] = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
