# SPDX-License-Identifier: GPL-3.0-or-later
"""Torques on rigid cores that are linear in how they turn, as forces on points: six about the centre, and it.

With S = (tr(K)/2 I − K) / 2h², −S u at six places c ± h e and 6 S u at c are the torque −K θ, and no force. Own
derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import affine_weights
from ...runtime.arrays import Floats, Indices, floats
from ..point_forces import PointForces
from .rigid_body_batch import RigidBodyBatch
from .rigid_body_momentum import CoreBody

PLACES = np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])  # the centre, then ± e, in units of h
SHARES = np.array([-6.0, *[1.0] * 6])  # of S at each


@dataclass(frozen=True, eq=False)
class TorquePoints:
    """The points of b cores at the start of a step.

    Attributes:
        size: Radii of gyration h [m], (b,).
        tet, weights: Where they are, (7, b) and (7, b, 4).
    """

    size: Floats
    tet: Indices
    weights: Floats

    def torque_matrices(self, K: Floats) -> Floats:
        """Returns the matrices of the points, (7, b, 3, 3), which are K, (b, 3, 3), together."""
        half_trace = 0.5 * np.trace(K, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        S = (half_trace - K) / (2.0 * self.size**2)[:, None, None]
        return floats(SHARES[:, None, None, None] * S)

    def point_forces(self, stiffness: Floats | None = None, damping: Floats | None = None) -> PointForces:
        """Returns forces by matrices of the points [N/m] and [N s/m], (7, b, 3, 3); None: zero."""
        shape = (*self.tet.shape, 3, 3)
        matrices = [np.zeros(shape) if each is None else each for each in (stiffness, damping)]
        stiff, damp = (floats(each.reshape(-1, 3, 3)) for each in matrices)
        return PointForces(self.tet.ravel(), self.weights.reshape(-1, 4), np.zeros((len(stiff), 3)), stiff, damp)

    def selected(self, which: Indices) -> TorquePoints:
        """Returns the points of some cores, by their numbers here."""
        return TorquePoints(self.size[which], self.tet[:, which], self.weights[:, which])


def torque_points(model: Model, bodies: tuple[CoreBody, ...], x: Floats) -> TorquePoints:
    """Returns the points of cores where nodes are at x [m], (n, 3)."""
    tet = np.array([_largest_tet(model, body) for body in bodies], np.int32)
    mass, inertia = np.array([body.mass.sum() for body in bodies]), np.stack([body.inertia for body in bodies])
    return _points_about(model, x, tet, np.stack([body.centre for body in bodies]), _radii_of_gyration(mass, inertia))


def batch_torque_points(model: Model, bodies: RigidBodyBatch, x: Floats) -> TorquePoints:
    """Returns the points of rigid bodies, each of one tet, where nodes are at x [m], (n, 3)."""
    tet = np.array([model.cores[number].tets[0] for number in bodies.numbers], np.int32)
    size = _radii_of_gyration(bodies.mass.sum(axis=1), bodies.inertia)
    return _points_about(model, x, tet, bodies.centre, size)


def _points_about(model: Model, x: Floats, tet: Indices, centre: Floats, size: Floats) -> TorquePoints:
    at = centre + size[:, None] * PLACES[:, None]
    weights = affine_weights(x, model.tets, at, tet)
    return TorquePoints(floats(size), np.broadcast_to(tet, weights.shape[:2]).copy(), floats(weights))


def _radii_of_gyration(mass: Floats, inertia: Floats) -> Floats:
    return floats(np.sqrt(0.5 * np.trace(inertia, axis1=1, axis2=2) / mass))


def _largest_tet(model: Model, body: CoreBody) -> int:
    return int(body.core.tets[np.argmax(model.volume[body.core.tets])])
