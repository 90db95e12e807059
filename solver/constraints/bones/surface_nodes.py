# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes at the surface of a body: those on the boundary of its tets, and those outside of its material.

Tets that fit a surface have nodes on it. Tets that cover a body stick out of its surface, and what moves the surface
from without are the nodes out there: in fat, those in the hollow of its Wrap. The nodes on the inner side stay free, so
that the flesh under a held surface can strain, also where it is thinner than a tet.
"""

from __future__ import annotations

import numpy as np

from ...mesh.boundary_faces import boundary_faces
from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Bools, Floats, Indices
from ...scene.scene import Body

OUTSIDE_WINDING_NUMBER = 0.5  # below it a point is outside: 1 in the material, 0 outside and in the hollow of a Wrap


def surface_nodes(body: Body, nodes: Floats, tets: Indices) -> Bools:
    """Returns which nodes of a body are at its surface, (n,).

    Args:
        body: With its surface at rest.
        nodes: At rest [m], (n, 3).
        tets: (m, 4).
    """
    found = np.zeros(len(nodes), bool)
    found[boundary_faces(tets)] = True
    if has_inside(body.vertices, body.triangles):
        rest = np.flatnonzero(~found)
        winding = np.abs(winding_numbers(build_bvh(body.vertices, body.triangles), nodes[rest]))
        found[rest] = winding < OUTSIDE_WINDING_NUMBER
    return found
