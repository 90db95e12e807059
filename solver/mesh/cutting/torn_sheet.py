# SPDX-License-Identifier: GPL-3.0-or-later
"""The render mesh of a sheet that has torn: its faces as they were, with a vertex for every copy of a node.

No face is cut, since edges inside of faces never tear: so UVs, materials and attributes stay those of the faces.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, indices
from ..geometry.connected_components import connected_components
from ..tet_mesh import TetMesh
from .final_mesh import FinalMesh
from .surface_tet_intersections import surface_edges
from .uncut_faces import face_outlines


def torn_sheet(
    mesh: TetMesh, tets: Indices, vertices: Floats, triangles: Indices, face_of_triangle: Indices
) -> FinalMesh:
    """Returns the mesh of a sheet whose nodes have split.

    Args:
        mesh: The whole sheet, whose first tets are its triangles (`sheet_mesh.py`).
        tets: Nodes of its tets now, (m, 4).
        vertices, triangles: Its render mesh [m], (v, 3) and (t, 3).
        face_of_triangle: The face of each triangle, (t,).
    """
    shifted = face_of_triangle + np.int32(1)  # zero stands for no face
    outlines = face_outlines(triangles, surface_edges(triangles), np.zeros(len(triangles), bool), shifted)
    triangle, corner = outlines.triangle, outlines.corner
    node, vertex = tets[triangle, corner], triangles[triangle, corner]
    pairs = np.stack([vertex, node], axis=1)
    _, first, corners = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    start = np.concatenate([[0], np.cumsum(outlines.size, dtype=np.int64)])
    pieces = connected_components(np.repeat(tets[:, 0], 3), tets[:, 1:].ravel(), int(tets.max()) + 1)
    of_face = triangle[start[:-1]]
    _, piece = np.unique(pieces[node[start[:-1]]], return_inverse=True)
    return FinalMesh(
        rest=vertices[vertex[first]],
        tet=indices(triangle[first]),
        weights=np.eye(4)[corner[first]],
        source_vertex=indices(vertex[first]),
        face_start=indices(start),
        corners=indices(corners.ravel()),
        source_face=indices(face_of_triangle[of_face]),
        face_tet=indices(of_face),
        partner=np.full(len(of_face), -1, np.int32),
        piece=indices(piece.ravel()),
        corner_triangle=indices(triangle),
        corner_weights=np.eye(3)[corner],
    )
