# SPDX-License-Identifier: GPL-3.0-or-later
"""An attachment: what a body is fixed to, slides along, or is tied to by springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import OneOf, greater_than, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.surface_attachment_settings import (
    ATTACHMENT_BREAKING_FORCE,
    ATTACHMENT_DAMPING,
    ATTACHMENT_KIND,
    ATTACHMENT_REACH,
    ATTACHMENT_SPRING_CONSTANT,
    ATTACHMENT_STIFFNESS,
    ATTACHMENT_STRENGTH,
)

# how a body is attached (`Attachment.kind`)
ATTACHMENT_KINDS = ATTACHMENT_KIND.words
SLIDING, SPRING, FIXED = ATTACHMENT_KINDS
# as targets: all bone meshes that may hold the body and are no targets of its other attachments; all lines that may
ALL_BONES, ARMATURE_BONES = "/bones", "/armature"
NOTHING = "/nothing"  # a target of what links no surface, and only has its number
FRAME = "/frame"  # a target of edges alone: a place that moves, such as an empty, which carries their ends
WRAP_SUFFIX = "/wrap"  # after the key of fat: the Wrap inside of it alone


@dataclass(frozen=True)
class Attachment:
    """An attachment of a body to another surface (`constraints/attachments/`), or to what a bone holds of it.

    Both sides feel it where both are simulated, and do not also collide unless `collides`. Points of the surface are
    linked to the target as they are at rest: what overlaps or gaps there keeps its distance.

    Of flesh and bones, "fixed", and "spring" with a stiffness, say in place of the bone's own settings how the bone
    holds the flesh (`constraints/bones/`). Any attachment to a bone takes the place of these. The line of an armature's
    bone has no surface, and holds material alone.

    Tracks, with the number in `Body.attachments`: "body.KEY.attachment.NUMBER.strength" (), instead of `strength`;
    "body.KEY.attachment.NUMBER.matrix" (4, 4) of a `FRAME`: world [m] ← its space.

    Attributes:
        target: Key of another body, of a collider that is a mesh, or of a bone; the key of fat with `WRAP_SUFFIX`; or
            `ALL_BONES` or `ARMATURE_BONES`, which keep their own distance; of edges also `FRAME`.
        kind: "sliding": surfaces keep their distance and slide freely, as fascia lets them. "spring": points stay at
            their places. "fixed": they do not move against the target.
        reach: r [m]. Points are attached that are less than this from the target at rest, those on springs or that
            slide and are farther than half of it more weakly. Drawn out by more than half of it such a link weakens,
            and it is gone at r. Of bones, all material this near and all in a closed mesh is held; of a line, 0 is
            the distance of the bone itself.
        strength: Factor on the stiffness per area, 30 E / L with E of the softer side and L = 3 V / A of the body; a
            thousand times that where fixed; or on the stiffness of springs of bones. A bone fixes where it is above 0.
        paint: Factors on it at the render vertices, (n,), or (0,) for 1 everywhere; bones fix what is nearest to where
            it is above ½.
        stiffness: Of springs between flesh and a bone, per mass [1/s²]; None: springs hold the surface alone.
        more_targets: Further targets, as `target`; of all, those that are in reach count.
        target_paint: Factors on it at the vertices of the target, of a Wrap its own ones, (m,), 0 at those after the
            last, or (0,) for 1 everywhere; a bone holds what is nearest to where it is above ½, in place of its own
            mask.
        may_miss: Whether a bone that holds nothing of the body is no error.
        surface_only: Whether a bone that holds material does so at the surface of the body alone.
        is_exact: Whether what is fixed to another body is bound to it without springs, as by a `BodyBinding`: nodes in
            its tets or within the reach follow it where `paint` and `target_paint` are above ½, unless the strength is
            0. It has no track.
        spring_constant: k of all springs of the row to each target together at a strength of 1 [N/m], in shares by area
            and paint; None: by the softer material, as `strength` says.
        damping: b of the same springs to another body [N s/m]: against how points move where they are in the tets of
            the target, so that a common motion is not damped, and neither is flesh that follows a pose.
        breaking_force: Sum of the sizes of the forces of its springs above which a row lets go for good [N]; None:
            never.
        collides: Whether the body also collides with its targets.
        edges: Ends of edges at rest [m], world, (e, 2, 3), or (0, 2, 3): each is a spring or, fixed, a strut between
            the nearest places of the body and of a target, less than the reach from its ends, whose distance it keeps.
            A row of edges holds nothing else, and lets the body collide.
    """

    target: str
    kind: Annotated[str, OneOf(ATTACHMENT_KINDS)] = SLIDING
    reach: Annotated[float, ATTACHMENT_REACH.limits] = ATTACHMENT_REACH.default
    strength: Annotated[float, ATTACHMENT_STRENGTH.limits] = ATTACHMENT_STRENGTH.default
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    stiffness: Annotated[float, ATTACHMENT_STIFFNESS.limits] | None = None
    more_targets: tuple[str, ...] = ()
    target_paint: Annotated[Floats, shape("m")] = field(default_factory=lambda: np.zeros(0))
    may_miss: bool = False
    surface_only: bool = False
    is_exact: bool = False
    spring_constant: Annotated[float, ATTACHMENT_SPRING_CONSTANT.limits] | None = None
    damping: Annotated[float, ATTACHMENT_DAMPING.limits] = ATTACHMENT_DAMPING.default
    breaking_force: Annotated[float, ATTACHMENT_BREAKING_FORCE.limits] | None = None
    collides: bool = False
    edges: Annotated[Floats, shape("e", 2, 3)] = field(default_factory=lambda: np.zeros((0, 2, 3)))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def targets(self) -> tuple[str, ...]:
        """All targets."""
        return (self.target, *self.more_targets)

    @property
    def has_edges(self) -> bool:
        """Whether it ties ends of edges, and no surfaces."""
        return len(self.edges) > 0

    @property
    def holds_material(self) -> bool:
        """Whether a bone that is the target holds all material of flesh in reach, and not just its surface."""
        if self.has_edges:
            return False
        return self.kind == FIXED or (self.kind == SPRING and self.stiffness is not None)

    @property
    def binds_nodes(self) -> bool:
        """Whether it binds nodes of the body to the targets, and links no surface."""
        return self.is_exact and self.kind == FIXED


@dataclass(frozen=True)
class AttachedSurface:
    """The attachments that a collider has to bodies: those of a baked body to bodies that follow it.

    Where all are baked together, both sides feel them; here the bodies alone do, at the same points.

    Track: "collider.KEY.attachment.NUMBER.strength" (), instead of `strength`, with the number in `attachments`.

    Attributes:
        attachments: Painted at the vertices of the collider. Their targets are bodies or Wraps, and `NOTHING` for each
            that is not simulated or does not feel it; with one of these, all others may be out of reach.
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


def body_of_wrap(target: str) -> str:
    """Returns the key of the fat whose Wrap a target is, or the target itself where it is no Wrap."""
    return target.removesuffix(WRAP_SUFFIX)


def drop_unused_fields(attachments: Sequence[Attachment], trees: Sequence[Any], arrays: dict[str, np.ndarray]) -> None:
    """Takes out of the trees of attachments what bakes of before did not have, where it says nothing."""
    for attachment, stored in zip(attachments, trees, strict=True):
        if not attachment.more_targets:
            del stored["more_targets"]
        if not attachment.may_miss:
            del stored["may_miss"]
        if not attachment.surface_only:
            del stored["surface_only"]
        for name in ("is_exact", "spring_constant", "damping", "breaking_force", "collides"):
            if not getattr(attachment, name):
                del stored[name]
        for name in ("target_paint", "edges"):
            if not len(getattr(attachment, name)):
                del arrays[stored.pop(name)["array"]]


def padded(paint: Floats, count: int, first: int = 0) -> Floats:
    """Returns paint at vertices from the first one of a target on, (k,), with zeros at all others, (count,)."""
    return np.pad(paint, (first, count - first - len(paint)))
