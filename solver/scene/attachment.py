# SPDX-License-Identifier: GPL-3.0-or-later
"""An attachment: what a body is fixed to, slides along, or is tied to by springs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import OneOf, greater_than, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.surface_attachment_settings import (
    ATTACHMENT_KIND,
    ATTACHMENT_REACH,
    ATTACHMENT_STIFFNESS,
    ATTACHMENT_STRENGTH,
)

# how a body is attached (`Attachment.kind`)
ATTACHMENT_KINDS = ATTACHMENT_KIND.words
SLIDING, SPRING, FIXED = ATTACHMENT_KINDS
# as targets: all bone meshes that may hold the body and are no targets of its other attachments; all lines that may
ALL_BONES, ARMATURE_BONES = "/bones", "/armature"
NOTHING = "/nothing"  # a target of what links no surface, and only has its number


@dataclass(frozen=True)
class Attachment:
    """An attachment of a body to another surface (`constraints/attachments/`), or to what a bone holds of it.

    Both sides feel it where both are simulated, and do not also collide. Points of the surface are linked to the target
    as they are at rest: what overlaps or gaps there keeps its distance.

    Of flesh and bones, "fixed", and "spring" with a stiffness, say in place of the bone's own settings how the bone
    holds the flesh (`constraints/bones/`). Any attachment to a bone takes the place of these.

    Track: "body.KEY.attachment.NUMBER.strength" (), instead of `strength`, with the number in `Body.attachments`.

    Attributes:
        target: Key of another body, of a collider that is a mesh, or of a bone that is a mesh; or `ALL_BONES`
            or `ARMATURE_BONES`, which keep their own distance.
        kind: "sliding": surfaces keep their distance and slide freely, as fascia lets them. "spring": points stay at
            their places. "fixed": they do not move against the target.
        reach: r [m]. Points are attached that are less than this from the target at rest, those on springs or that
            slide and are farther than half of it more weakly. Drawn out by more than half of it such a link weakens,
            and it is gone at r. Of bones, all material this near and all in a closed mesh is held.
        strength: Factor on the stiffness per area, 30 E / L with E of the softer side and L = 3 V / A of the body; a
            thousand times that where fixed; or on the stiffness of springs of bones. A bone fixes where it is above 0.
        paint: Factors on it at the render vertices, (n,), or (0,) for 1 everywhere; bones hold what is nearest to where
            it is above ½.
        stiffness: Of springs between flesh and a bone, per mass [1/s²]; None: springs hold the surface alone.
    """

    target: str
    kind: Annotated[str, OneOf(ATTACHMENT_KINDS)] = SLIDING
    reach: Annotated[float, ATTACHMENT_REACH.limits] = ATTACHMENT_REACH.default
    strength: Annotated[float, ATTACHMENT_STRENGTH.limits] = ATTACHMENT_STRENGTH.default
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    stiffness: Annotated[float, ATTACHMENT_STIFFNESS.limits] | None = None

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def holds_material(self) -> bool:
        """Whether a bone that is the target holds all material of flesh in reach, and not just its surface."""
        return self.kind == FIXED or (self.kind == SPRING and self.stiffness is not None)


@dataclass(frozen=True)
class AttachedSurface:
    """The attachments that a collider has to bodies: those of a baked body to bodies that follow it.

    Where all are baked together, both sides feel them; here the bodies alone do, at the same points.

    Track: "collider.KEY.attachment.NUMBER.strength" (), instead of `strength`, with the number in `attachments`.

    Attributes:
        attachments: Painted at the vertices of the collider.
        youngs_modulus: E of the baked body at the vertices of the collider [Pa], (n,).
        thickness: L = 3 V / A of the baked body [m].
        spacing: Its tet size [m]: points of its surface are no farther apart.
    """

    attachments: tuple[Attachment, ...]
    youngs_modulus: Annotated[Floats, shape("n")]
    thickness: Annotated[float, greater_than(0.0, unit="m")]
    spacing: Annotated[float, greater_than(0.0, unit="m")]

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
