# SPDX-License-Identifier: GPL-3.0-or-later
"""A binding of a body: its nodes that are in or near another body follow the tets of that one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import at_least, shape
from .serialisation.sequence_coercion import convert_sequences


@dataclass(frozen=True)
class BodyBinding:
    """A hard binding (`constraints/bindings/`): bound nodes do not move against the target, and both sides feel it.

    An attachment that is fixed without `Attachment.is_exact` has springs instead, which give way a little, and which a
    key lets go.

    Attributes:
        target: Key of another body.
        reach: Nodes are bound that are in tets of the target, or not farther than this from them at rest [m]. Of
            several bindings of a body, the first one in whose reach a node is has it.
        paint: At the render vertices of the body, (n,): of these nodes, those whose nearest place on its surface is
            painted above ½; (0,) for all.
        target_paint: The same at the vertices of the target, (m,), 0 at those after the last.
    """

    target: str
    reach: Annotated[float, at_least(0.0, "Reach", "m")] = 0.0
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    target_paint: Annotated[Floats, shape("m")] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
