# SPDX-License-Identifier: GPL-3.0-or-later
"""An attachment: what the surface of a body slides along, or is tied to by springs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import OneOf, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.surface_attachment_settings import ATTACHMENT_KIND, ATTACHMENT_REACH, ATTACHMENT_STRENGTH

# how a surface is attached (`Attachment.kind`)
ATTACHMENT_KINDS = ATTACHMENT_KIND.words
SLIDING, SPRING = ATTACHMENT_KINDS


@dataclass(frozen=True)
class Attachment:
    """An attachment of a body to another surface (`constraints/attachments/`). The two do not also collide.

    Both sides feel it where both are simulated. Points of the surface are linked to the target as they are at rest:
    what overlaps or gaps there keeps its distance.

    Track: "body.KEY.attachment.NUMBER.strength" (), instead of `strength`, with the number in `Body.attachments`.

    Attributes:
        target: Key of another body, of a collider that is a mesh, or of a bone that is a mesh.
        kind: "sliding": surfaces keep their distance and slide freely, as fascia lets them. "spring": points stay at
            their places.
        reach: r [m]. Points are attached that are less than this from the target at rest, those farther than half of
            it more weakly. Drawn out by more than half of it a link weakens, and it is gone at r.
        strength: Factor on the stiffness per area, 30 E / L with E of the softer side and L = 3 V / A of the body.
        paint: Factors on it at the render vertices, (n,), or (0,) for 1 everywhere.
    """

    target: str
    kind: Annotated[str, OneOf(ATTACHMENT_KINDS)] = SLIDING
    reach: Annotated[float, ATTACHMENT_REACH.limits] = ATTACHMENT_REACH.default
    strength: Annotated[float, ATTACHMENT_STRENGTH.limits] = ATTACHMENT_STRENGTH.default
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
