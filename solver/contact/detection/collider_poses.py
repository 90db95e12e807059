# SPDX-License-Identifier: GPL-3.0-or-later
"""Where rigid colliders are during a step, and which of them are felt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders import teleports as jumps
from ..colliders.build_colliders import IDENTITY_MATRIX, BuiltCollider, pose_track_name
from ..colliders.deforming_collider import is_active
from .contact_set import ColliderPose

UP = np.array([0.0, 0.0, 1.0])


def collider_poses(
    colliders: Sequence[BuiltCollider], tracks: TrackReader, begin: float, end: float
) -> list[ColliderPose]:
    """Returns where all colliders are at both ends of a step [s], in their order.

    What is switched off has its place too, since contacts are numbered by it, but as a plane out of reach. What
    jumps stays at one place for a step, and does not hit what lies between.

    Raises:
        BadInput: A collider changes its scale or shear, or is at no place that is a number.
    """
    return [_pose_of(collider, tracks, begin, end) for collider in colliders]


def _pose_of(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> ColliderPose:
    first, last = _end_poses(collider, tracks, begin, end)
    at_end = collider.rigid_pose(last, end)
    at_start = at_end if first is last else collider.rigid_pose(first, begin)
    felt = collider if is_active(collider.key, tracks, begin, end) else _inactive_plane(collider)
    return ColliderPose(felt, np.concatenate([at_start, at_end]))


def _end_poses(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> tuple[Floats, Floats]:
    name = pose_track_name(collider.key)
    if not tracks.has(name):
        return IDENTITY_MATRIX, IDENTITY_MATRIX
    return jumps.values_at_step_ends(
        tracks, name, begin, end, 1.0 / collider.settings.fps, collider.size, collider.displacement
    )


def teleports(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> bool:
    """Whether a collider is elsewhere all at once in a step."""
    name, span = pose_track_name(collider.key), 1.0 / collider.settings.fps
    return tracks.has(name) and jumps.teleports(tracks, name, begin, end, span, collider.size, collider.displacement)


def _inactive_plane(collider: BuiltCollider) -> BuiltCollider:
    return replace(collider, bvh=None, normal=UP, thickness=-np.inf)
