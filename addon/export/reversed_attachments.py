# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments of baked bodies to those that follow them: from the other side, since only what is simulated has any.

Where all are baked together, both sides feel such an attachment. A body that follows the other one is attached to it by
its own points instead, with the same kind, reach and strength.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solver.scene.attachment import Attachment
from ...solver.scene.scene import Body, Scene
from ..evaluation.nearest_vertices import nearest_vertices
from .baked_grounds import BakedGround
from .buffered_track_writer import BufferedTrackWriter


@dataclass(frozen=True)
class ReversedStrength:
    """The animated strength of an attachment that was reversed.

    Attributes:
        ground: The baked body that has it.
        source: Its track there.
        track: The track of the body that follows.
    """

    ground: BakedGround
    source: str
    track: str

    def sample(self, track_writer: BufferedTrackWriter, time: float) -> None:
        """Adds the strength at a time [s]."""
        track_writer.add(self.track, time, self.ground.tracks.sample(self.source, time))


def with_reversed_attachments(scene: Scene, grounds: Sequence[BakedGround]) -> tuple[Scene, list[ReversedStrength]]:
    """Returns a scene whose bodies have the attachments that baked ones have to them, and the strengths to sample."""
    bodies, strengths = [], list[ReversedStrength]()
    for body in scene.bodies:
        for ground, number, attachment in _reversed_attachments(body, grounds):
            source = f"body.{ground.body.key}.attachment.{number}.strength"
            if ground.tracks.has(source):
                track = f"body.{body.key}.attachment.{len(body.attachments)}.strength"
                strengths.append(ReversedStrength(ground, source, track))
            body = replace(body, attachments=(*body.attachments, attachment))
        bodies.append(body)
    return replace(scene, bodies=tuple(bodies)), strengths


def _reversed_attachments(body: Body, grounds: Sequence[BakedGround]) -> Iterator[tuple[BakedGround, int, Attachment]]:
    """Yields the attachments of the skins of baked bodies to a body, from its side, with their numbers."""
    for ground in grounds:
        for number, given in enumerate(ground.body.attachments):
            if given.target == body.key:
                made = _reverse(body, ground.body, given)
                if made is not None:
                    yield ground, number, made


def _reverse(body: Body, other: Body, given: Attachment) -> Attachment | None:
    """Returns an attachment of another body to one from the side of this one; None where it is of a Wrap.

    A vertex is painted as the nearest one of the other body.
    """
    paint = given.paint if len(given.paint) else np.ones(len(other.vertices))
    skin = slice(other.played_count)
    if not paint[skin].any():
        return None
    return replace(given, target=other.key, paint=paint[skin][nearest_vertices(other.vertices[skin], body.vertices)])
