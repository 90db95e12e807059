# SPDX-License-Identifier: GPL-3.0-or-later
"""The area over which a contact presses: tets can carry no force at a point, and pieces around a place all bear it.

A force goes to the corners and middles of edges of outer faces that are nearer to its place p than a radius r, or to
the material nearest to these where faces are outside it, by w (α + β · (x − p)) with w = 1 − |x − p|² / r²; α and β
are such that its sum and its moment about the place are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.local_tet_numbering import FACES_OPPOSITE_NODES
from ..mesh.node_splitting.face_adjacency import MIN_FILL
from ..mesh.node_splitting.plane_separation import FaceList
from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .brittle_body import BrittleBody
from .inertia_relief import PlacedForces

MIN_POINTS = 4
LARGEST_MISS = 1.0e-6  # of the sum and of the moment over r, above which the place is not amid the points
# corners and middles of edges of a face, in barycentric coordinates of it
FACE_POINTS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])


@dataclass(frozen=True, eq=False)
class ContactPatch:
    """The points around a place.

    Attributes:
        tet: A tet that has each point, (k,).
        weights: Barycentric coordinates in it, (k, 4).
        arms: From the place, over the radius, (k, 3).
        nearness: w, (k,), above 0.
    """

    tet: Indices
    weights: Floats
    arms: Floats
    nearness: Floats

    def within(self, is_own: Bools) -> ContactPatch:
        """Returns the points of some tets, (m,)."""
        rows = is_own[self.tet]
        return ContactPatch(self.tet[rows], self.weights[rows], self.arms[rows], self.nearness[rows])

    def nearest(self) -> int:
        """Returns which point is nearest to the place."""
        return int(self.nearness.argmax())

    def shares(self) -> Floats | None:
        """Returns what each point bears of a force at the place, (k,); None: they are not around it."""
        if len(self.tet) < MIN_POINTS:
            return None
        terms = np.concatenate([np.ones((len(self.arms), 1)), self.arms], axis=1)
        moments = (terms * self.nearness[:, None]).T @ terms
        share = self.nearness * (terms @ np.linalg.lstsq(moments, np.eye(4)[0], rcond=1e-9)[0])
        missed = max(abs(float(share.sum()) - 1.0), float(np.abs(share @ self.arms).max()))
        return floats(share) if missed <= LARGEST_MISS else None


def contact_patch(body: BrittleBody, outside: FaceList, at: PlacedForces, radius: float) -> ContactPatch:
    """Returns the points around the place of a force that it presses on.

    Args:
        body: The whole body.
        outside: Tets and faces that the force may press on, (f,) each.
        at: The force, k = 1.
        radius: r [m].
    """
    nodes, tets = body.nodes, body.tets
    place = at.places(nodes, tets)[0]
    tet, face = outside
    own = np.array(FACES_OPPOSITE_NODES, np.int64)[face]
    corners = nodes[np.take_along_axis(tets[tet], own, axis=1)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_near = (np.linalg.norm(corners - place, axis=2).min(axis=1) < radius) & (normal @ at.force[0] < 0.0)
    is_near &= ~body.is_thin[tet] | (body.load_share[tet] >= MIN_FILL)  # slivers give way to next to nothing
    tet, own = tet[is_near], own[is_near]
    # of each face: the material nearest to its corners
    nearest = np.take_along_axis(body.moments.nearest[tet], own[:, :, None], axis=1)
    weights = np.einsum("pc,fcw->fpw", FACE_POINTS, nearest)
    points = np.einsum("fpw,fwi->fpi", weights, nodes[tets[tet]]).reshape(-1, 3)
    # faces have points of their own where they meet: so the larger area bears more, and each piece its part
    arms = (points - place) / radius
    nearness = 1.0 - np.einsum("pi,pi->p", arms, arms)
    chosen = np.flatnonzero(nearness > 0.0)
    return ContactPatch(
        indices(tet[chosen // len(FACE_POINTS)]),
        floats(weights.reshape(-1, 4)[chosen]),
        floats(arms[chosen]),
        floats(nearness[chosen]),
    )


def spread_force(patch: ContactPatch, at: PlacedForces) -> PlacedForces:
    """Returns one force as many over a patch, or as it is where the patch is not around its place."""
    share = patch.shares()
    return at if share is None else PlacedForces(patch.tet, patch.weights, floats(share[:, None] * at.force[0]))
