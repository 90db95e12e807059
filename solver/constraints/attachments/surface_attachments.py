# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments as a force: they slide along other surfaces, or are tied to them by springs.

Each has a strength, which may have a track "body.KEY.attachment.NUMBER.strength", and is 0 for good where it has
broken. Both sides feel the force where both are simulated. `surface_links.py` has the energy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats, Indices
from ..force import Force, ForceStep
from .attachment_loads import AttachmentLoad, attachment_load
from .attachment_potential import NO_VERTICES, ActiveLinks, AttachmentPotential
from .attachment_strength import attachment_strength
from .edge_links import edge_dampers
from .link_dampers import make_dampers
from .surface_links import SurfaceLinks
from .target_surface import TargetSurface


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
        own = tuple(links for links in self.links if _has(links) in bodies)
        return replace(self, links=own) if own else None

    def surface_potential(self, step: ForceStep) -> AttachmentPotential:
        """Returns the energy of the attachments at the end of a step; raises as `Force.potential`."""
        strengths = [_strength(links, step) for links in self.links]
        tets, start = step.model.tets, step.state.x
        active = list[ActiveLinks]()
        for links, strength in zip(self.links, strengths, strict=True):
            if strength <= 0.0:
                continue
            now = _links_at(links, strength, step, step.end)
            active.append(replace(now, dampers=make_dampers(links, strength, start, tets, step.dt)))
            if links.are_edges and len(links.damping):
                braking = edge_dampers(now, _links_at(links, strength, step, step.begin), start, tets, step.dt)
                active += [braking] if braking is not None else []
        return AttachmentPotential(tuple(active), tets)

    def end_step(self, step: ForceStep) -> None:
        """Breaks the rows whose springs carry more than their breaking force."""
        weak = [links for links in self.links if links.breaking_force is not None]
        limits = {(links.body_key, links.number): links for links in weak}
        for row, load in _loads(weak, step).items():
            if load.force > (limits[row].breaking_force or np.inf):
                step.state.fields[limits[row].broken_field] = np.ones(1, np.uint8)

    def attachment_loads(self, step: ForceStep) -> Mapping[tuple[str, int], AttachmentLoad]:
        """Returns what each attachment carries that has not broken, by key of the body and number."""
        return _loads(self.links, step)

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns the strengths, and where what is animated is."""
        vertices = [_vertices(links.target, step, step.end) for links in self.links]
        own = [_own_vertices(links, step, step.end) for links in self.links if links.animated is not None]
        return [np.array([_strength(links, step) for links in self.links]), *vertices, *own]

    def to_arrays(self, nodes: slice) -> dict[str, np.ndarray]:
        """Returns for `model/KEY.npz` the points at which a body with these nodes of the model is linked.

        `linked_attachment` is the number of the attachment of each, (p,); `linked_tet` and `linked_weights` say where
        it is in the tets of the body, (p,) and (p, 4).
        """
        own = [(links, links.own) for links in self.links if links.own is not None and links.own.nodes == nodes]
        if not own:
            return {}
        return {
            "linked_attachment": np.concatenate([np.full(len(each.tet), each.number, np.int32) for each, _ in own]),
            "linked_tet": np.concatenate([each.tet - np.int32(body.tets.start) for each, body in own]),
            "linked_weights": np.concatenate([each.weights for each, _ in own]),
        }

    def remapped(self, whole: Model, tets: Indices) -> SurfaceAttachments:
        """Returns the same: links are bound to tets, which keep their numbers."""
        return self


def _loads(links: Iterable[SurfaceLinks], step: ForceStep) -> dict[tuple[str, int], AttachmentLoad]:
    """Returns what attachments carry that are on, by key of the body and number."""
    rows = dict[tuple[str, int], list[ActiveLinks]]()
    for each in links:
        strength = _strength(each, step)
        if strength > 0.0 and len(each.tet):
            rows.setdefault((each.body_key, each.number), []).append(_links_at(each, strength, step, step.end))
    return {row: attachment_load(parts, step.state.x, step.model.tets) for row, parts in rows.items()}


def _has(links: SurfaceLinks) -> int | None:
    """Returns the number of the body that has an attachment, or that a collider has it to."""
    return links.target.body if links.body is None else links.body


def _links_at(links: SurfaceLinks, strength: float, step: ForceStep, time: float) -> ActiveLinks:
    """Returns links with what is animated as it is at a time of a step [s]."""
    return ActiveLinks(links, strength, _vertices(links.target, step, time), _own_vertices(links, step, time))


def _vertices(surface: TargetSurface, step: ForceStep, time: float) -> Floats:
    return NO_VERTICES if surface.body is not None else surface.animated_vertices(step.tracks, time)


def _own_vertices(links: SurfaceLinks, step: ForceStep, time: float) -> Floats:
    return NO_VERTICES if links.animated is None else _vertices(links.animated.surface, step, time)


def _strength(links: SurfaceLinks, step: ForceStep) -> float:
    if links.broken_field in step.state.fields:
        return 0.0
    return attachment_strength(links.key, links.strength, step.tracks, step.end, links.name)
