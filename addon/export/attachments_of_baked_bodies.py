# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments of baked bodies to those that follow them.

Where all are baked together, both sides feel such an attachment. A body that follows the other one feels it at the same
points: those all over the surface of the baked body, which move as it is baked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solver.scene.attachment import NOTHING, AttachedSurface, Attachment, body_of_wrap
from ...solver.scene.contact import Collider
from ...solver.scene.scene import Scene
from .baked_grounds import BakedGround
from .buffered_track_writer import BufferedTrackWriter


@dataclass(frozen=True)
class GroundStrength:
    """The animated strength of an attachment of a baked body.

    Attributes:
        ground: The baked body.
        source: Its track there.
        track: The track of the collider that the body now is.
    """

    ground: BakedGround
    source: str
    track: str

    def sample(self, track_writer: BufferedTrackWriter, time: float) -> None:
        """Adds the strength at a time [s]."""
        track_writer.add(self.track, time, self.ground.tracks.sample(self.source, time))


def with_attachments_of_baked_bodies(
    scene: Scene, grounds: Sequence[BakedGround]
) -> tuple[Scene, list[GroundStrength]]:
    """Returns a scene whose bodies feel the attachments that baked ones have to them, and the strengths to sample.

    Raises:
        StorageFailed: The tets of a baked body cannot be read.
    """
    by_key, strengths = {ground.collider.key: ground for ground in grounds}, list[GroundStrength]()
    colliders = []
    for collider in scene.colliders:
        ground = by_key.get(collider.key)
        found = _attachments_to_bodies(ground, scene) if ground is not None else []
        if ground is None or not found:
            colliders.append(collider)
            continue
        colliders.append(replace(collider, attached_surface=_attached_surface(ground, collider, found)))
        for place, (number, _) in enumerate(found):
            source = f"body.{ground.body.key}.attachment.{number}.strength"
            if ground.tracks.has(source):
                track = f"collider.{collider.key}.attachment.{place}.strength"
                strengths.append(GroundStrength(ground, source, track))
    return replace(scene, colliders=tuple(colliders)), strengths


def _attachments_to_bodies(ground: BakedGround, scene: Scene) -> list[tuple[int, Attachment]]:
    """Returns the attachments of a baked body to bodies that feel it or Wraps inside of them, with their numbers."""
    feeling, found = {body.key for body in scene.bodies if ground.is_felt_by(body)}, []
    for number, each in enumerate(ground.body.attachments):
        first, *more = (target if body_of_wrap(target) in feeling else NOTHING for target in each.targets)
        if any(target != NOTHING for target in (first, *more)):
            found.append((number, replace(each, target=first, more_targets=tuple(more))))
    return found


def _attached_surface(
    ground: BakedGround, collider: Collider, found: Sequence[tuple[int, Attachment]]
) -> AttachedSurface:
    body, count = ground.body, len(collider.vertices)
    E = np.full(len(body.vertices), body.material.youngs_modulus / body.simulated_scale**2, np.float64)
    if len(body.material_paint.youngs_modulus):
        E *= body.material_paint.youngs_modulus
    a, b, c = (body.vertices[body.triangles[:, corner]] for corner in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    return AttachedSurface(
        attachments=tuple(replace(each, paint=each.paint[:count], is_exact=False) for _, each in found),
        youngs_modulus=E[:count],
        thickness=3.0 * ground.tet_volume() / area,
        spacing=ground.tet_size(),
    )
