# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations at stored poses, interpolated over joint rotations.

Poses are points x of the entries of their joints' rotation matrices, where distances have no seam as angles do. An
affine function takes what poses have in common, and radial functions of the distance what it leaves over:

    θ(x) = c + w · x + Σ b_i k(|x − x_i| / σ),   k(r) = (1 + √5 r + 5/3 r²) e^(−√5 r)

θ equals θ_i at the poses, and a = h(θ) with h the cubic step clamp(θ)² (3 − 2 clamp(θ)), θ_i = h⁻¹(a_i): a is exact at
the poses, within 0 and 1, has continuous slopes, and beyond the outermost poses stays where they lead.

Source: RCB98, an affine part and radial functions of its residual; the kernel is that of Matérn with ν = 5/2; h is of
own derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats

# poses nearer to each other are one: 0.01 degrees of one joint
SAME_POSE_DISTANCE = 2.5e-4
# directions in which poses differ less, as a share of that in which they differ most, are left to the radial functions:
# fitted, what is hardly more than noise would rule far away
MIN_DIRECTION_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class PoseInterpolant:
    """Activation as a smooth function of joint rotations.

    Attributes:
        points: x_i, (p, 9 j).
        centre, slope: The affine part is `level` at `centre` and rises by w, (9 j,) each.
        level: Its value there.
        radial: b_i, (p,).
        width: σ.
    """

    points: Floats
    centre: Floats
    slope: Floats
    level: float
    radial: Floats
    width: float

    def activations(self, rotations: Floats) -> Floats:
        """Returns a in [0, 1] at poses, (m,), of the rotations of their joints, (m, j, 3, 3)."""
        x = rotations.reshape(len(rotations), -1)
        theta = self.level + (x - self.centre) @ self.slope
        return _step(theta + _kernel(_distances(x, self.points) / self.width) @ self.radial)


def interpolate_poses(rotations: Floats, activations: Floats) -> PoseInterpolant:
    """Returns the interpolant of activations in [0, 1], (p,), at poses of j joints, (p, j, 3, 3).

    Args:
        rotations: Of which no two are the same pose: see `same_poses`.
        activations: At the poses.
    """
    x = rotations.reshape(len(rotations), -1)
    theta, centre = _inverse_step(activations), x.mean(axis=0)
    level = float(theta.mean())
    slope = np.linalg.lstsq(x - centre, theta - level, rcond=MIN_DIRECTION_SHARE)[0]
    distances = _distances(x, x)
    np.fill_diagonal(distances, np.inf)
    # as wide as the loneliest pose is away from its next
    width = float(distances.min(axis=1).max()) if len(x) > 1 else 1.0
    np.fill_diagonal(distances, 0.0)
    radial = np.linalg.solve(_kernel(distances / width), theta - level - (x - centre) @ slope)
    return PoseInterpolant(x, centre, slope, level, radial, width)


def same_poses(rotations: Floats) -> tuple[int, int] | None:
    """Returns the numbers of the first two poses that are the same, (p, j, 3, 3); None where all differ."""
    x = rotations.reshape(len(rotations), -1)
    found = np.argwhere(np.triu(_distances(x, x) < SAME_POSE_DISTANCE, 1))
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None


def rotations_of_quaternions(quaternions: Floats) -> Floats:
    """Returns the matrices, (…, 3, 3), of unit quaternions w, x, y, z, (…, 4)."""
    q = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    w, v = q[..., :1, None], q[..., 1:]
    cross = np.cross(np.eye(3), v[..., None, :])
    identity = np.eye(3)
    square = np.einsum("...i,...j->...ij", v, v) - identity * (v * v).sum(-1)[..., None, None]
    return identity + 2.0 * w * cross + 2.0 * square


def _distances(a: Floats, b: Floats) -> Floats:
    return np.linalg.norm(a[:, None] - b[None], axis=2)


def _kernel(r: Floats) -> Floats:
    s = np.sqrt(5.0) * r
    return (1.0 + s + s * s / 3.0) * np.exp(-s)


def _step(theta: Floats) -> Floats:
    t = np.clip(theta, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _inverse_step(activations: Floats) -> Floats:
    return 0.5 - np.sin(np.arcsin(1.0 - 2.0 * np.clip(activations, 0.0, 1.0)) / 3.0)
