# SPDX-License-Identifier: GPL-3.0-or-later
"""Averages over the part of each tet that is inside a surface: what a fine mesh carries over to coarse tets.

The points of the quadrature are spread evenly over each tet, the more of them the fewer tets there are, and have equal
weights. Where no point of a tet is inside, all of them count.

Source: Sifakis 2007, section 2.6, whose lattice takes the anatomy by volume.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Bools, Floats, floats
from .geometry.closest_point import closest_points
from .geometry.triangle_bvh import Bvh
from .geometry.winding_number import winding_numbers
from .geometry.winding_propagation import propagate_winding_numbers, winding_numbers_in_tets
from .tet_mesh import TetMesh
from .tetrahedralize.volume_fraction import low_discrepancy_barycentric

INSIDE_WINDING = 0.5  # winding number above which a place is inside a mesh
LEAST_PER_TET, MOST_PER_TET, MOST_POINTS = 8, 512, 200_000  # many tets are fine ones, for which few points do


@dataclass(frozen=True, eq=False)
class TetSamples:
    """The points at which averages over the m tets of a body are taken.

    Attributes:
        mesh: The tets at rest.
        barycentric: Coordinates of the q points in every tet, (q, 4).
        counts: Which points count, (m, q).
        is_whole: Tets that the surface does not meet, (m,).
    """

    mesh: TetMesh
    barycentric: Floats
    counts: Bools
    is_whole: Bools

    def at_points(self, values: Floats, rows: np.ndarray | slice = slice(None)) -> Floats:
        """Returns what is linear in every tet at the points of some of them, given it at the nodes, (k, q, …)."""
        return np.asarray(np.einsum("qa,ka...->kq...", self.barycentric, values[self.mesh.tets[rows]]))

    def average(self, values: Floats, rows: np.ndarray | slice = slice(None)) -> Floats:
        """Returns the averages over tets of values at their points, (k, q), as (k,)."""
        counts = self.counts[rows]
        return np.asarray((values * counts).sum(axis=1) / counts.sum(axis=1))

    def are_inside(self, surface: Bvh, rows: np.ndarray) -> Bools:
        """Returns which points of some tets a surface winds around, (k, q).

        From a place in each tet, whose winding number is summed over the whole surface, only the triangles between that
        place and a point change it.
        """
        start, winding = winding_numbers_in_tets(surface, self.mesh.nodes[self.mesh.tets[rows]])
        points, count = self.at_points(self.mesh.nodes, rows), len(self.barycentric)
        ends = floats(points.reshape(-1, 3))
        found = propagate_winding_numbers(surface, start.repeat(count, axis=0), winding.repeat(count), ends)
        return np.asarray(np.abs(found) > INSIDE_WINDING).reshape(points.shape[:2])

    def inside_share(self) -> Floats:
        """Returns the share of each tet's volume that counts, (m,)."""
        return np.asarray(self.counts.mean(axis=1))


def sample_tets(mesh: TetMesh, surface: Bvh) -> TetSamples:
    """Returns points of all tets, of which those inside a surface count.

    Args:
        mesh: The tets at rest.
        surface: The surface, whichever way its faces look.
    """
    barycentric = low_discrepancy_barycentric(np.arange(_point_count(len(mesh.tets)), dtype=np.int64))
    counts = np.ones((len(mesh.tets), len(barycentric)), np.bool_)
    is_cut = meets_surface(mesh, surface)
    made = TetSamples(mesh, barycentric, counts, ~is_cut)
    cut = np.flatnonzero(is_cut)
    counts[cut] = made.are_inside(surface, cut)
    counts[~counts.any(axis=1)] = True
    return made


def meets_surface(mesh: TetMesh, surface: Bvh, within: float = 0.0) -> Bools:
    """Returns which tets may come nearer to a surface than `within` [m]: their ball around the centroid does, (m,)."""
    corners = mesh.nodes[mesh.tets]
    centroids = corners.mean(axis=1)
    radius = within + np.linalg.norm(corners - centroids[:, None], axis=2).max(axis=1)
    return np.asarray(closest_points(surface, floats(centroids), float(radius.max())).distance <= radius)


def are_inside(surface: Bvh, points: Floats) -> Bools:
    """Returns which points, (k, q, 3), a surface winds around, (k, q)."""
    winding = winding_numbers(surface, floats(points.reshape(-1, 3)))
    return np.asarray(np.abs(winding) > INSIDE_WINDING).reshape(points.shape[:2])


def _point_count(tet_count: int) -> int:
    """Returns how many points each of so many tets has."""
    return min(max(MOST_POINTS // max(tet_count, 1), LEAST_PER_TET), MOST_PER_TET)
