# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes from the search for tets to the search for surfaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class EnclosedPoints:
    """Points in tets that are not theirs, c of them.

    Attributes:
        point: Number of the point, rising, (c,).
        tet, weights: The tet and the barycentric coordinates in it, (c,) and (c, 4).
    """

    point: npt.NDArray[np.int64]
    tet: Indices
    weights: Floats

    def select(self, which: np.ndarray) -> EnclosedPoints:
        """Returns those of these numbers, or of this mask."""
        return EnclosedPoints(self.point[which], self.tet[which], self.weights[which])


@dataclass(frozen=True, eq=False)
class SurfacePenetrations:
    """Points that have gone through a surface, c of them.

    Attributes:
        point: Number of the point, (c,).
        triangle, weights: The place on the surface that it is pushed to, (c,) and (c, 3).
        normal: From the point to that place, of length one, (c, 3).
        depth: How far that is [m], (c,).
    """

    point: npt.NDArray[np.int64]
    triangle: Indices
    weights: Floats
    normal: Floats
    depth: Floats

    def select(self, which: np.ndarray) -> SurfacePenetrations:
        """Returns those of these numbers, or of this mask."""
        return SurfacePenetrations(
            self.point[which], self.triangle[which], self.weights[which], self.normal[which], self.depth[which]
        )

    @staticmethod
    def empty() -> SurfacePenetrations:
        """Returns no contacts."""
        return SurfacePenetrations(
            np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
        )

    @staticmethod
    def merge(first: SurfacePenetrations, second: SurfacePenetrations) -> SurfacePenetrations:
        """Returns the contacts of both, in the order of their points."""
        order = np.argsort(np.concatenate([first.point, second.point]), kind="stable")
        names = ("point", "triangle", "weights", "normal", "depth")
        return SurfacePenetrations(*(np.concatenate([getattr(first, n), getattr(second, n)])[order] for n in names))
