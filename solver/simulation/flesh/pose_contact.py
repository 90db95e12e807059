# SPDX-License-Identifier: GPL-3.0-or-later
"""What quasistatic flesh touches at one sample: colliders that are felt then, those that deform included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...contact.colliders.deforming_collider import DeformingCollider, is_active
from ...contact.colliders.rigid_colliders import BuiltCollider, posed_collider
from ...quasistatic.contact import ContactPenalty, FleshContact, contact_penalty_at_poses
from ...quasistatic.contact.carried_contacts import CarriedContacts, carried_contacts
from ...quasistatic.contact.collider_sdf import SearchedPoints, penetration_depths, sheet_sides
from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader

IDENTITY_POSE = np.vstack([np.eye(3), np.zeros(3)])


class PoseContact:
    """Colliders around flesh at a sample, and at the one before, which says on which side of sheets its points are."""

    def __init__(
        self,
        contact: FleshContact,
        rigid: Sequence[BuiltCollider],
        deforming: Sequence[DeformingCollider],
        tracks: TrackReader,
        before: float,
        time: float,
    ) -> None:
        """Takes all colliders of a scene, and the times of both samples [s]."""
        felt = [collider for collider in rigid if is_active(collider.key, tracks, time, time)]
        soft = [collider for collider in deforming if is_active(collider.key, tracks, time, time)]
        at = [collider.vertices_at(tracks, time) for collider in soft]
        now = [posed_collider(*each) for each in zip(soft, at, strict=True)]
        earlier = (
            [posed_collider(collider, collider.vertices_at(tracks, before)) for collider in soft]
            if before < time
            else now
        )
        overlap = {each.key: _rest_overlap(contact, each) for each in soft if len(each.overlap_vertices)}
        self._felt, self._soft = felt, soft
        self.contact = replace(contact, colliders=(*felt, *now), rest_overlap=overlap)
        self.poses = [collider.pose(tracks, time) for collider in felt] + [IDENTITY_POSE] * len(now)
        self.before = [(c, c.pose(tracks, before)) for c in felt] + [(c, IDENTITY_POSE) for c in earlier]
        keys = "/".join([*(collider.key for collider in felt), *(collider.key for collider in soft)]).encode()
        self.asked: list[np.ndarray] = [np.frombuffer(keys, np.uint8), *self.poses, *at]

    def at(self, x: Floats) -> ContactPenalty:
        """Returns what acts after an equilibrium with nodes at x [m], (n, 3), whose contacts are carried along."""
        places = self.contact.positions(x)
        sides = [sheet_sides(collider, pose, places) for collider, pose in self.before]
        penalty = contact_penalty_at_poses(self.contact, self.poses, sides)
        penalty.carried = self._carried(penalty, x, places, sides)
        return penalty

    def _carried(
        self, penalty: ContactPenalty, x: Floats, places: Floats, sides: list[np.ndarray]
    ) -> CarriedContacts | None:
        """Returns the contacts with rigid colliders of the equilibrium before, x [m], (n, 3), for points at places."""
        count = len(self._felt)
        if not count:
            return None
        poses, earlier = [pose for _, pose in self.before[:count]], penalty
        if not all(map(np.array_equal, poses, self.poses)):
            earlier = contact_penalty_at_poses(replace(self.contact, colliders=(*self._felt,)), poses, sides[:count])
        number = {collider.key: k for k, collider in enumerate(self._felt)}
        return CarriedContacts.concatenate(
            [
                carried_contacts(each.point, places[each.point], each.normal, each.depth, poses[k], self.poses[k])
                for each in earlier.collider_penetrations(x)
                if (k := number.get(each.collider)) is not None
            ]
        )

    def at_rest(self, tracks: TrackReader, start: float) -> ContactPenalty:
        """Returns the same with the colliders where they are when the simulation starts [s], as flesh is at rest."""
        then = [posed_collider(collider, collider.vertices_at(tracks, start)) for collider in self._soft]
        poses = [collider.pose(tracks, start) for collider in self._felt] + [IDENTITY_POSE] * len(then)
        return contact_penalty_at_poses(replace(self.contact, colliders=(*self._felt, *then)), poses)


def _rest_overlap(contact: FleshContact, collider: DeformingCollider) -> Floats:
    """Returns how deep each point is at rest in a collider as it was modeled [m], (k,); 0 at open sheets."""
    modeled, points = posed_collider(collider, collider.overlap_vertices), contact.rest
    sides = sheet_sides(modeled, IDENTITY_POSE, points)
    searched = SearchedPoints(points, sides, np.zeros(len(points)), contact.extra_thickness)
    return penetration_depths(modeled, IDENTITY_POSE, searched)
