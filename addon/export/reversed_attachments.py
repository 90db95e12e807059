# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments of baked bodies to those that follow them: from the other side, since only what is simulated has any.

Where all are baked together, both sides feel such an attachment. A body that follows the other one is attached to it by
its own points instead, with the same kind and reach, and the strength that makes it as stiff.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solver.scene.attachment import Attachment, body_of_wrap, padded
from ...solver.scene.scene import Body, Scene
from ..evaluation.nearest_vertices import nearest_vertices
from .baked_grounds import BakedGround
from .buffered_track_writer import BufferedTrackWriter

MIN_THICKNESS = 1.0e-3  # of the longest side: open surfaces have no volume


@dataclass(frozen=True)
class ReversedStrength:
    """The animated strength of an attachment that was reversed.

    Attributes:
        ground: The baked body that has it.
        source: Its track there.
        track: The track of the body that follows.
        factor: On it.
    """

    ground: BakedGround
    source: str
    track: str
    factor: float

    def sample(self, track_writer: BufferedTrackWriter, time: float) -> None:
        """Adds the strength at a time [s]."""
        track_writer.add(self.track, time, self.factor * self.ground.tracks.sample(self.source, time))


def with_reversed_attachments(scene: Scene, grounds: Sequence[BakedGround]) -> tuple[Scene, list[ReversedStrength]]:
    """Returns a scene whose bodies have the attachments that baked ones have to them, and the strengths to sample."""
    bodies, strengths = [], list[ReversedStrength]()
    for body in scene.bodies:
        for ground, number, attachment in _reversed_attachments(body, grounds):
            source = f"body.{ground.body.key}.attachment.{number}.strength"
            if ground.tracks.has(source):
                track = f"body.{body.key}.attachment.{len(body.attachments)}.strength"
                strengths.append(ReversedStrength(ground, source, track, _strength_factor(body, ground.body)))
            body = replace(body, attachments=(*body.attachments, attachment))
        bodies.append(body)
    return replace(scene, bodies=tuple(bodies)), strengths


def _reversed_attachments(body: Body, grounds: Sequence[BakedGround]) -> Iterator[tuple[BakedGround, int, Attachment]]:
    """Yields the attachments of baked bodies to a body, from its side, with their numbers."""
    for ground in grounds:
        for number, given in enumerate(ground.body.attachments):
            for target in given.targets:
                if body_of_wrap(target) == body.key and ground.is_felt_by(body):
                    yield ground, number, _reverse(body, ground.body, replace(given, target=target))


def _reverse(body: Body, other: Body, given: Attachment) -> Attachment:
    """Returns an attachment of another body to this one from the side of this one.

    Its vertices are painted as the nearest ones of the other, times what that has painted on this one.
    """
    paint, count = given.paint, len(body.vertices)
    if len(paint):
        paint = paint[nearest_vertices(other.vertices, body.vertices)]
    if 0 < len(given.target_paint) <= count:
        paint = padded(given.target_paint, count) * (paint if len(paint) else 1.0)
    if given.target != body.key:  # to its Wrap, which are its last vertices
        is_wrap = np.arange(count, dtype=np.int64) >= count - body.wrap_vertices
        paint = is_wrap * (paint if len(paint) else np.ones(count))
    strength = given.strength * _strength_factor(body, other)
    return Attachment(other.key, given.kind, given.reach, strength, paint, given.stiffness, is_reversed=True)


def _strength_factor(body: Body, other: Body) -> float:
    """Returns what makes an attachment of a body to a baked one as stiff as that of the other one is to the body.

    Its stiffness per area is 30 E / L of the body that has it, and the E of the softer one where both are simulated.
    """
    own, others = body.material.youngs_modulus, other.material.youngs_modulus
    return min(own, others) / own * _thickness(body) / _thickness(other)


def _thickness(body: Body) -> float:
    """Returns L = 3 V / A of a body as it was modeled [m]."""
    a, b, c = (body.vertices[body.triangles[:, corner]] - body.vertices[0] for corner in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    volume = abs(np.einsum("ti,ti->", a, np.cross(b, c))) / 6.0
    return max(3.0 * volume / area, MIN_THICKNESS * float(np.ptp(body.vertices, axis=0).max()))
