# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of joints at the ends that they hold, and the coordinates of the second frame in the first one."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...mesh.embedding import affine_weights
from ...runtime.arrays import Bools, Floats, Indices, floats

MIN_COSINE = 1.0e-6  # of the middle angle, of which the two others are one from 90 degrees on


@dataclass(frozen=True, eq=False)
class JointEnd:
    """One end of k joints.

    Attributes:
        core: The rigid core of the model that each holds, −1 where the end is no body, (k,).
        tet: A tet of a rigid part that each holds, −1 where the end is no body, (k,).
        weights: Where the frame is in it at rest, also outside, (k, 4).
        inverse_edges: Inverses of the matrices of its edges at rest [1/m], columns of edges, (k, 3, 3).
        axes: Axes of the frame in the rest pose, columns, (k, 3, 3).
    """

    core: Indices
    tet: Indices
    weights: Floats
    inverse_edges: Floats
    axes: Floats

    @property
    def is_body(self) -> np.ndarray:
        """Which ends are bodies, (k,)."""
        return self.tet >= 0

    def frames(self, x: Floats, tets: Indices, animated: Floats) -> tuple[Floats, Floats]:
        """Returns origins [m], (k, 3), and axes, columns, (k, 3, 3), for nodes at x [m], (n, 3).

        Args:
            x, tets: Nodes, and the nodes of the tets.
            animated: World [m] ← frame where the end is no body, (k, 4, 4).
        """
        corners = x[tets[self.tet]]
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
        axes = edges @ self.inverse_edges @ self.axes
        origins = np.einsum("ka,kai->ki", self.weights, corners)
        is_body = self.is_body
        return (
            np.where(is_body[:, None], origins, animated[:, :3, 3]),
            np.where(is_body[:, None, None], axes, animated[:, :3, :3]),
        )

    def selected(self, which: Bools) -> JointEnd:
        """Returns the ends of some joints, (k,)."""
        return JointEnd(*(getattr(self, each.name)[which] for each in fields(self)))

    def weights_of(self, places: Floats, x: Floats, tets: Indices) -> Floats:
        """Returns the weights by which places [m], (…, k, 3), go with the tets, whose nodes are at x [m], (…, k, 4)."""
        return affine_weights(x, tets, places, self.tet)


def coordinates(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Floats:
    """Returns the six coordinates of second frames in first ones (`Joint`), (k, 6), of their origins and axes."""
    away = np.einsum("kji,kj->ki", first[1], second[0] - first[0])
    R = relative_turns(first, second)
    angles = np.stack(
        [
            np.arctan2(-R[:, 1, 2], R[:, 2, 2]),
            np.arcsin(np.clip(R[:, 0, 2], -1.0, 1.0)),
            np.arctan2(-R[:, 0, 1], R[:, 0, 0]),
        ],
        axis=1,
    )
    return floats(np.concatenate([away, angles], axis=1))


def relative_turns(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Floats:
    """Returns how second frames are turned in first ones, (k, 3, 3), of their origins and axes."""
    return floats(first[1].transpose(0, 2, 1) @ second[1])


def rotation_vectors(R: Floats) -> Floats:
    """Returns axes times angles [rad] of rotations by less than π, (k, 3, 3), (k, 3)."""
    skew = 0.5 * (R - R.transpose(0, 2, 1))
    vectors = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    sine, cosine = np.linalg.norm(vectors, axis=1), 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    return floats(vectors * (np.arctan2(sine, cosine) / np.maximum(sine, np.finfo(float).tiny))[:, None])


def coordinate_directions(first_axes: Floats, q: Floats) -> Floats:
    """Returns n with dq/dt = n · v for translations and n · ω for angles, in the world, (k, 6, 3).

    v is that of the second frame's origin, seen from the body of the first frame; ω is the relative one. The angles
    turn about x, R_x y and R_x R_y z; n are the rows of the inverse of these axes.

    Args:
        first_axes: Axes of the first frames, columns, (k, 3, 3).
        q: Coordinates, (k, 6).
    """
    sine_a, cosine_a = np.sin(q[:, 3]), np.cos(q[:, 3])
    sine_b, cosine_b = np.sin(q[:, 4]), np.cos(q[:, 4])
    cosine_b = np.where(np.abs(cosine_b) < MIN_COSINE, MIN_COSINE, cosine_b)
    zero, one = np.zeros(len(q)), np.ones(len(q))
    rows = np.stack(
        [
            np.stack([one, sine_a * sine_b / cosine_b, -cosine_a * sine_b / cosine_b], axis=1),
            np.stack([zero, cosine_a, sine_a], axis=1),
            np.stack([zero, -sine_a / cosine_b, cosine_a / cosine_b], axis=1),
        ],
        axis=1,
    )
    return floats(np.concatenate([first_axes.transpose(0, 2, 1), rows @ first_axes.transpose(0, 2, 1)], axis=1))
