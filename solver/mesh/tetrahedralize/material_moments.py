# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the material lies inside tets that a surface passes through: moments of it in barycentric coordinates λ.

A wall that fills a third of a tet bends as a wall does and not as the tet would with a third of its stiffness, which is
nine times as stiff. Integrals of stiffness and inertia over the material alone are those of quadratic tets as soon as
these moments are known, since strain is linear in such a tet.

They are taken at points spread over each tet, as its filled share is (`volume_fraction.py`). Too few points to span a
tet would leave displacements of it without stiffness: `FULL_SHARE` of the material counts as if it filled the tet.

Stress is largest at the surface: towards each corner of a tet, the way on from the last of its points that is inside is
bisected until the surface is met.

Source: Parvizian, Düster and Rank (2007), the finite cell method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats
from ..embedding import barycentric_weights
from ..geometry.closest_point import closest_points
from ..geometry.orient_outward import orient_outward
from ..geometry.triangle_bvh import Bvh, build_bvh
from ..geometry.triangle_surface import Surface
from ..geometry.winding_propagation import propagate_winding_numbers, winding_numbers_in_tets
from .inside_classification import INSIDE_WINDING
from .volume_fraction import FRACTURE_SAMPLES_PER_TET, low_discrepancy_barycentric

FULL_SHARE = 2.0e-4
BISECTIONS = 8
TETS_AT_ONCE = 4096
# ∫ λᵢ λⱼ λₖ dV / V of a full tet: 6 / 6! times the product of n! for how often each corner occurs among i, j, k
_TIMES = np.eye(4)[:, None, None] + np.eye(4)[None, :, None] + np.eye(4)[None, None, :]
FULL_THIRD = np.prod(np.array([1.0, 1.0, 2.0, 6.0])[_TIMES.astype(np.int64)], axis=-1, dtype=np.float64) / 120.0


@dataclass(frozen=True, eq=False)
class MaterialMoments:
    """Moments of the material in each of m tets.

    Attributes:
        third: ∫ λᵢ λⱼ λₖ dV / ∫ dV, (m, 4, 4, 4).
        nearest: About the point of the material nearest to each corner, in barycentric coordinates, (m, 4, 4): on the
            surface in tets that it passes through.
    """

    third: Floats
    nearest: Floats

    @property
    def second(self) -> Floats:
        """∫ λᵢ λⱼ dV / ∫ dV, (m, 4, 4)."""
        return floats(self.third.sum(axis=3))

    @property
    def first(self) -> Floats:
        """The centre of the material, (m, 4)."""
        return floats(self.third.sum(axis=(2, 3)))

    @property
    def is_full(self) -> Bools:
        """Which tets are full, or evenly filled, (m,)."""
        return np.asarray((self.third == FULL_THIRD).all(axis=(1, 2, 3)))

    def only_of(self, is_chosen: Bools) -> MaterialMoments:
        """Returns these, and of tets that are not chosen, (m,), those of full ones."""
        chosen = is_chosen[:, None, None]
        third = np.where(chosen[..., None], self.third, FULL_THIRD)
        return MaterialMoments(floats(third), floats(np.where(chosen, self.nearest, np.eye(4))))

    def of_tets(self, tets: Indices) -> MaterialMoments:
        """Returns those of some tets, (k,)."""
        return MaterialMoments(self.third[tets], self.nearest[tets])


def full_tets(count: int) -> MaterialMoments:
    """Returns the moments of tets that are full, or evenly filled."""
    return MaterialMoments(
        floats(np.broadcast_to(FULL_THIRD, (count, 4, 4, 4))), floats(np.broadcast_to(np.eye(4), (count, 4, 4)))
    )


def material_moments(nodes: Floats, tets: Indices, fill: Floats, surface: Surface) -> MaterialMoments:
    """Returns the moments of what a surface encloses in tets.

    Args:
        nodes: [m], (n, 3).
        tets: (m, 4).
        fill: Filled share of each, (m,): full ones are not sampled.
        surface: The surface; where none of a tet's points is inside, all of its material is where it is nearest.
    """
    outward = orient_outward(surface).surface
    bvh = build_bvh(outward.vertices, outward.triangles)
    made = full_tets(len(tets))
    third, nearest = made.third.copy(), made.nearest.copy()
    partly = np.flatnonzero(fill < 1.0)
    for begin in range(0, len(partly), TETS_AT_ONCE):
        rows = partly[begin : begin + TETS_AT_ONCE]
        inside_test = _InsideTest(bvh, nodes[tets[rows]])
        points, is_inside = _sampled(inside_test, rows)
        is_missed = ~is_inside.any(axis=1)
        points[is_missed] = _touched_places(outward, bvh, nodes[tets[rows[is_missed]]])[:, None]
        is_inside[is_missed] = True
        nearest[rows] = _last_towards_corners(inside_test, points, is_inside)
        nearest[rows[is_missed]] = points[is_missed, :4]
        inside = is_inside.astype(np.float64) / is_inside.sum(axis=1, keepdims=True)
        pairs = np.einsum("ksa,ksb->ksab", inside[:, :, None] * points, points, optimize=True)
        found = np.einsum("ksab,ksc->kabc", pairs, points, optimize=True)
        third[rows] = FULL_SHARE * FULL_THIRD + (1.0 - FULL_SHARE) * found
    return MaterialMoments(third, nearest)


def _touched_places(surface: Surface, bvh: Bvh, corners: Floats) -> Floats:
    """Returns about where a surface is nearest to the middles of tets, in barycentric coordinates, (k, 4).

    Args:
        surface, bvh: The surface.
        corners: Of the tets [m], (k, 4, 3).
    """
    tets = np.arange(4 * len(corners), dtype=np.int32).reshape(-1, 4)
    found = closest_points(bvh, corners.mean(axis=1))
    places = np.einsum("kc,kci->ki", found.weights, surface.vertices[surface.triangles[found.triangle]])
    each = np.arange(len(tets), dtype=np.int32)
    weights = barycentric_weights(floats(corners.reshape(-1, 3)), tets, floats(places), each)
    within = np.maximum(weights, 0.0)
    return floats(within / within.sum(axis=1, keepdims=True))


class _InsideTest:
    """Tells which points of tets a surface encloses."""

    def __init__(self, bvh: Bvh, corners: Floats) -> None:
        """Takes a surface, and the corners of the tets [m], (k, 4, 3)."""
        self.bvh, self.corners = bvh, corners
        self.start, self.winding = winding_numbers_in_tets(bvh, corners)

    def __call__(self, weights: Floats) -> Bools:
        """Returns whether a point of each tet, in barycentric coordinates, (k, 4), is inside, (k,)."""
        end = floats(np.einsum("kj,kji->ki", weights, self.corners))
        return np.asarray(propagate_winding_numbers(self.bvh, self.start, self.winding, end) > INSIDE_WINDING)


def _sampled(is_enclosed: _InsideTest, numbers: Indices) -> tuple[Floats, Bools]:
    """Returns points of tets in barycentric coordinates, (k, s, 4), and which are inside, (k, s).

    Args:
        is_enclosed: Of the tets.
        numbers: Of the tets, which decide where their points lie, (k,).
    """
    points = np.empty((len(numbers), FRACTURE_SAMPLES_PER_TET, 4))
    is_inside = np.zeros(points.shape[:2], bool)
    for sample in range(FRACTURE_SAMPLES_PER_TET):
        points[:, sample] = low_discrepancy_barycentric(numbers * FRACTURE_SAMPLES_PER_TET + sample)
        is_inside[:, sample] = is_enclosed(floats(points[:, sample]))
    return points, is_inside


def _last_towards_corners(is_enclosed: _InsideTest, points: Floats, is_inside: Bools) -> Floats:
    """Returns the last points of the material towards each corner of tets, in barycentric coordinates, (k, 4, 4).

    Args:
        is_enclosed: Of the tets.
        points: In each, (k, s, 4).
        is_inside: Which of them are inside, (k, s).
    """
    out = np.empty((len(points), 4, 4))
    for corner in range(4):
        best = np.where(is_inside, points[:, :, corner], -1.0).argmax(axis=1)
        from_point = points[np.arange(len(points), dtype=np.int64), best]
        way = np.eye(4)[corner] - from_point
        low, high = np.zeros((len(points), 1)), np.ones((len(points), 1))
        corner_is_inside = is_enclosed(floats(from_point + way))[:, None]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            goes_on = is_enclosed(floats(from_point + middle * way))[:, None]
            low, high = np.where(goes_on, middle, low), np.where(goes_on, high, middle)
        out[:, corner] = from_point + np.where(corner_is_inside, 1.0, low) * way
    return floats(out)
