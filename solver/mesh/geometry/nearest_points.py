# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of some points are nearest to others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.arrays import Floats, Indices

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


class PointSearch:
    """A search among points that are asked for more than once."""

    def __init__(self, points: Floats) -> None:
        """Takes at least one point [m], (n, 3)."""
        self.points = points

    @cached_property
    def _tree(self) -> cKDTree:
        # SciPy's trees take a tenth of the time in which a bake loads, and few bakes need them
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def nearest(self, places: Floats, count: int, within: float = np.inf) -> tuple[Floats, Indices]:
        """Returns what `nearest_points` does."""
        return self._tree.query(places, k=list(range(1, count + 1)), distance_upper_bound=within)


def nearest_points(points: Floats, places: Floats, count: int, within: float = np.inf) -> tuple[Floats, Indices]:
    """Returns how far the nearest points are from each place and which they are, the nearest first, (k, count) each.

    Args:
        points: At least one [m], (n, 3).
        places: [m], (k, 3).
        count: How many to return, at most n.
        within: Only points nearer than this count [m]; in the place of others stand ∞ and n.
    """
    return PointSearch(points).nearest(places, count, within)
