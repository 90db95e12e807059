# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an artist wants cracks: surfaces and curves along which a body is weaker, as part of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.schema_constraints import RowsOf, points, shape_or_empty
from .serialisation.sequence_coercion import convert_sequences


@dataclass(frozen=True)
class CrackGuide:
    """One object that guides cracks, in world space in the rest pose [m].

    Attributes:
        vertices: (n, 3).
        triangles: Of its surfaces, (t, 3): the body is weaker across open ones, and between what closed ones enclose.
        edges: Of its curves, (e, 2): the body is weaker below them, down to the other side of its wall.
        name: For people.
    """

    vertices: Annotated[Floats, points("n", 3)]
    triangles: Annotated[Indices, shape_or_empty("t", 3), RowsOf("vertices")] = field(
        default_factory=lambda: np.zeros((0, 3), np.int32)
    )
    edges: Annotated[Indices, shape_or_empty("e", 2), RowsOf("vertices")] = field(
        default_factory=lambda: np.zeros((0, 2), np.int32)
    )
    name: str = "Guide"

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
