# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments as a force: they slide along other surfaces, or are tied to them by springs.

Each has a strength, which may have a track "body.KEY.attachment.NUMBER.strength". Both sides feel the force where both
are simulated. `surface_links.py` has the energy.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats, Indices
from ..force import Force, ForceStep
from .attachment_potential import NO_VERTICES, ActiveLinks, AttachmentPotential
from .attachment_strength import attachment_strength
from .surface_links import SurfaceLinks


@dataclass(frozen=True, eq=False)
class SurfaceAttachments(Force):
    """The attachments of all bodies.

    Attributes:
        links: Of each attachment.
    """

    links: tuple[SurfaceLinks, ...]
    kind: ClassVar[str] = "attachments"
    affects_quasistatic: ClassVar[bool] = True

    def restricted_to(self, bodies: Collection[int]) -> SurfaceAttachments | None:
        """Returns the attachments of the bodies of these numbers alone; None where there are none."""
        own = tuple(links for links in self.links if links.body in bodies)
        return replace(self, links=own) if own else None

    def surface_potential(self, step: ForceStep) -> AttachmentPotential:
        """Returns the energy of the attachments at the end of a step; raises as `Force.potential`."""
        strengths = [_strength(links, step) for links in self.links]
        active = [
            ActiveLinks(links, strength, _vertices(links, step))
            for links, strength in zip(self.links, strengths, strict=True)
            if strength > 0.0
        ]
        return AttachmentPotential(tuple(active), step.model.tets)

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns the strengths, and where what is animated is."""
        vertices = [_vertices(links, step) for links in self.links]
        return [np.array([_strength(links, step) for links in self.links]), *vertices]

    def remapped(self, whole: Model, tets: Indices) -> SurfaceAttachments:
        """Returns the same: links are bound to tets, which keep their numbers."""
        return self


def _vertices(links: SurfaceLinks, step: ForceStep) -> Floats:
    return NO_VERTICES if links.target.body is not None else links.target.animated_vertices(step.tracks, step.end)


def _strength(links: SurfaceLinks, step: ForceStep) -> float:
    return attachment_strength(links.key, links.strength, step.tracks, step.end, links.name)
