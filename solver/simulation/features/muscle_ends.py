# SPDX-License-Identifier: GPL-3.0-or-later
"""The ends of a muscle, from its surface to its nodes.

The nodes of the tets that hold the vertices of an end are that end. On coarse tets they lie up to a tet away from it,
on either side, so lengths along the fibres begin there at what is between them and the surface of the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.embedding import Binding
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, floats
from ...scene.muscle import END_WEIGHT
from ...scene.scene import Body

LEAST_FLATNESS = 0.1  # of an end: length of its area vector over its area; below it no side of it is the inner one


@dataclass(frozen=True, eq=False)
class EndNodes:
    """The nodes of an end of a muscle.

    Attributes:
        is_end: (n,).
        depth: How far along the fibres nodes of the end are from its surface, positive inside [m]; 0 elsewhere, (n,).
    """

    is_end: Bools
    depth: Floats


def end_nodes(weights: Floats, body: Body, mesh: TetMesh, binding: Binding) -> EndNodes:
    """Returns the nodes of an end.

    Args:
        weights: Of the end at the render vertices, or (0,) for an end that nobody needs.
        body: The muscle.
        mesh: Its tets.
        binding: Of its render vertices in them.
    """
    is_end, depth = np.zeros(len(mesh.nodes), np.bool_), np.zeros(len(mesh.nodes))
    if len(weights):
        is_end[mesh.tets[np.unique(binding.tet[weights > END_WEIGHT])]] = True
        depth[is_end] = _depths(weights > END_WEIGHT, body, mesh.nodes[is_end])
    return EndNodes(is_end, depth)


def _depths(is_end: Bools, body: Body, points: Floats) -> Floats:
    """Returns how far inside the surface of an end points are, along its mean normal [m], (k,)."""
    triangles = body.triangles[is_end[body.triangles].all(axis=1)]
    corners = body.vertices[triangles]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal, area = areas.sum(axis=0), np.linalg.norm(areas, axis=1).sum()
    if not len(triangles) or np.linalg.norm(normal) <= LEAST_FLATNESS * area:
        return np.zeros(len(points))
    inwards = normal / np.linalg.norm(normal)
    if inwards @ (body.vertices.mean(axis=0) - body.vertices[is_end].mean(axis=0)) < 0.0:
        inwards = -inwards
    near = closest_points(build_bvh(body.vertices, triangles), floats(points))
    places = np.einsum("ka,kai->ki", near.weights, corners[near.triangle])
    return np.asarray((points - places) @ inwards)
