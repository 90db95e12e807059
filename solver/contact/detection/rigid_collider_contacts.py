# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of rigid colliders during a step, and the contacts of points with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.collider_narrow_phase import PlanarContacts, collide_mesh, collide_plane
from ..colliders.deforming_collider import is_active
from ..colliders.rigid_colliders import BuiltCollider
from .collider_broad_phase import PUSH_OUT_REACH, NearbyPoints
from .contact_sample_points import ContactPoints
from .contact_set import ContactSet
from .persistent_contacts import PersistentContacts

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class ColliderPose:
    """A collider during one step: its pose at both ends, rows R0 | t0 | R1 | t1, (8, 3)."""

    collider: BuiltCollider
    pose: Floats


def collider_poses(
    colliders: Sequence[BuiltCollider], tracks: TrackReader, begin: float, end: float
) -> list[ColliderPose]:
    """Returns the poses of all colliders at both ends of a step [s], in their order.

    An inactive collider becomes a plane out of reach, since contacts are numbered by collider. A collider that
    teleports stays at one place for the step, and does not hit what lies in between.

    Raises:
        BadInput: A collider changes its scale or shear, or has coordinates that are not finite.
    """
    return [_pose_of(collider, tracks, begin, end) for collider in colliders]


def _pose_of(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> ColliderPose:
    first, last = collider.matrices_at_step_ends(tracks, begin, end)
    at_end = collider.rigid_pose(last, end)
    at_start = at_end if first is last else collider.rigid_pose(first, begin)
    active = collider if is_active(collider.key, tracks, begin, end) else _inactive_plane(collider)
    return ColliderPose(active, np.concatenate([at_start, at_end]))


def _inactive_plane(collider: BuiltCollider) -> BuiltCollider:
    return replace(collider, bvh=None, normal=UP, thickness=-np.inf)


def find_contacts(
    pose: ColliderPose, number: int, points: ContactPoints, nearby: NearbyPoints, previous: PersistentContacts
) -> ContactSet:
    """Returns the contacts of some points with one collider.

    Args:
        pose, number: The collider and its number.
        points: All points.
        nearby: The points to test, by rising number.
        previous: Contacts with this collider in the step before, whose points are among them.
    """
    collider = pose.collider
    if not collider.extra_thickness:
        return _find_contacts(pose, number, points, nearby, previous, collider.thickness)
    first_id, extra, parts = number * len(points), collider.extra_thickness_of(points.tet[nearby.point]), []
    if len(extra) and (extra == extra[0]).all():
        return _find_contacts(pose, number, points, nearby, previous, collider.thickness + float(extra[0]))
    for more in np.unique(extra):
        own, is_own = nearby.select(extra == more), np.zeros(len(points), bool)
        is_own[own.point] = True
        persistent = previous.select(is_own[previous.id - first_id])
        parts.append(_find_contacts(pose, number, points, own, persistent, collider.thickness + float(more)))
    contacts = ContactSet.concatenate(parts)
    return contacts.select(np.argsort(contacts.id, kind="stable"))


def _find_contacts(
    pose: ColliderPose,
    number: int,
    points: ContactPoints,
    nearby: NearbyPoints,
    previous: PersistentContacts,
    thickness: float,
) -> ContactSet:
    """Returns the contacts of points that all keep a distance of `thickness` [m]; see `find_contacts`."""
    point, start, end = nearby
    first_id, collider, count = number * len(points), pose.collider, 0
    out = PlanarContacts.allocate(len(point))
    if not len(point):
        pass
    elif collider.bvh is None:
        count = collide_plane(collider.normal, pose.pose, thickness, start, end, out)
    else:
        sides, reach = np.zeros(len(point), np.int8), PUSH_OUT_REACH * points.tet_size[point]
        sides[np.searchsorted(point, previous.id - first_id)] = previous.side
        mesh = collider.bvh.arrays
        count = collide_mesh(mesh, collider.kind, pose.pose, thickness, start, end, reach, sides, out)
    id = np.add(point[out.point[:count]], first_id, dtype=np.int64)
    contacts = ContactSet(id, out.normal[:count], out.gap[:count], out.carried[:count], out.side[:count])
    return contacts.select(collider.collides_with(points.tet[id - first_id])) if collider.ignored_tets else contacts
