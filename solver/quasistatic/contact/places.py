# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes from the search for tets to the search for surfaces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Floats, Indices
from ...late_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Places:
    """Points in tets that are not theirs, c of them.

    Attributes:
        point: Number of the point, rising, (c,).
        tet, weights: The tet and the barycentric coordinates in it, (c,) and (c, 4).
    """

    point: npt.NDArray[np.int64]
    tet: Indices
    weights: Floats

    def some(self, which: np.ndarray) -> Places:
        """Returns those of these numbers, or of this mask."""
        return Places(self.point[which], self.tet[which], self.weights[which])


@dataclass(frozen=True, eq=False)
class Meetings:
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

    def some(self, which: np.ndarray) -> Meetings:
        """Returns those of these numbers, or of this mask."""
        return Meetings(
            self.point[which], self.triangle[which], self.weights[which], self.normal[which], self.depth[which]
        )

    @staticmethod
    def none() -> Meetings:
        """Returns no contacts."""
        return Meetings(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def together(first: Meetings, second: Meetings) -> Meetings:
        """Returns the contacts of both, in the order of their points."""
        order = np.argsort(np.concatenate([first.point, second.point]), kind="stable")
        names = ("point", "triangle", "weights", "normal", "depth")
        return Meetings(*(np.concatenate([getattr(first, n), getattr(second, n)])[order] for n in names))
