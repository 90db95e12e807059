# SPDX-License-Identifier: GPL-3.0-or-later
"""How what meets in a hit is curved there: by render meshes, and on faces of cracks as sharp as edges."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.principal_curvatures import SurfaceCurvature
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Floats, floats

EDGE_SHARE = 0.125  # radius of sharp edges, in sizes of tets: no mesh says how sharp they are


@dataclass(frozen=True, eq=False)
class HitSurface:
    """The closed render mesh of a body or a collider in its own space.

    Attributes:
        surface: It [m].
    """

    surface: Surface

    @functools.cached_property
    def _curvature(self) -> SurfaceCurvature:
        return SurfaceCurvature(orient_outward(self.surface).surface)

    @functools.cached_property
    def _bvh(self) -> Bvh:
        return build_bvh(self._curvature.surface.vertices, self._curvature.surface.triangles)

    def curvature_at(self, place: Floats, tet_size: float) -> Floats:
        """Returns the curvature at a place [m], (3,), as a tensor [1/m], (3, 3), with edges of tets of a size [m].

        A place that is farther from the mesh than a tet is on a face of a crack.
        """
        edge_radius = EDGE_SHARE * tet_size
        found = closest_points(self._bvh, floats(place).reshape(1, 3))
        if found.distance[0] > tet_size:
            return floats(np.eye(3) / edge_radius)
        triangle = int(found.triangle[0])
        corners = self._curvature.surface.vertices[self._curvature.surface.triangles[triangle]]
        return self._curvature.tensor_at(triangle, floats(found.weights[0] @ corners), edge_radius)[0]
