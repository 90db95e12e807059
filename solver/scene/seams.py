# SPDX-License-Identifier: GPL-3.0-or-later
"""The seams of a sheet: pairs of its vertices that are sewn together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Indices
from .serialisation.schema_constraints import shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.seam_settings import SEAM_BREAKING_FORCE, SEAM_MAX_FORCE


@dataclass(frozen=True)
class Seams:
    """Springs without a length between vertices of a sheet (`constraints/seams.py`).

    Tracks: "body.KEY.use_seams" () and "body.KEY.seam_max_force" (), instead of `is_on` and `max_force`.

    Attributes:
        edges: Two vertices of each, both with triangles, (m, 2).
        is_on: Whether they pull.
        max_force: With which each pulls at most [N]; 0: with any force.
        breaking_force: Above which each tears for good [N]; 0: never.
    """

    edges: Annotated[Indices, shape("m", 2)] = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    is_on: bool = True
    max_force: Annotated[float, SEAM_MAX_FORCE.limits] = SEAM_MAX_FORCE.default
    breaking_force: Annotated[float, SEAM_BREAKING_FORCE.limits] = SEAM_BREAKING_FORCE.default

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
