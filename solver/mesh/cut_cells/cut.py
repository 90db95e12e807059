# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts tets by triangles: each connected part of a tet gets a copy of the tet, joined where neighbours share material.

Source: Sifakis (2007), Simulation and Control of Human Anatomy, sections 2.6 and 7.3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import Floats, Indices, floats, indices
from ..cut_tets import CutTets
from ..cutting.tet_complex import make_tet_complex
from ..geometry.triangle_tet_pairs import triangle_tet_pairs
from .cell_complex import FACES, OPEN, whole_tets, with_room
from .cutter_planes import make_cutter_planes
from .insert_triangles import insert_triangles
from .join_copies import DividedTets, face_contacts, join_copies, tet_copies
from .material_parts import material_parts
from .vertex_signs import PositionedTets

TOUCH_SLACK = 1.0e-9  # of the longest side of all: a triangle closer to a tet than this may touch it
ROOM = 4  # how many times as much as whole tets need cells have room for at first


def cut_tets(nodes: Floats, tets: Indices, positions: Floats, vertices: Floats, triangles: Indices) -> CutTets:
    """Returns tets cut by triangles, whichever way these cross each other and the tets.

    Args:
        nodes: Rest positions [m], by which tets are positive, (n, 3).
        tets: (m, 4).
        positions: Where the nodes are when the cutter comes [m], (n, 3); tets may be of any shape there.
        vertices: Of the cutter [m], (v, 3).
        triangles: Of the cutter, (t, 3); those without area cut nothing.
    """
    tets = indices(tets, -1, 4)
    divided = divide_tets(floats(nodes, -1, 3), tets, floats(positions, -1, 3), vertices, triangles)
    # only what touches nodes of divided tets can come apart
    is_near = np.zeros(len(nodes), np.bool_)
    is_near[tets[divided.touched]] = True
    copies = tet_copies(len(tets), divided)
    contacts = face_contacts(tets, is_near[tets].any(axis=1), divided, copies)
    return join_copies(tets, is_near, copies, contacts, np.ones(len(copies.parent), np.bool_))


def divide_tets(nodes: Floats, tets: Indices, positions: Floats, vertices: Floats, triangles: Indices) -> DividedTets:
    """Returns the cells into which triangles divide the tets that they touch; arguments as for `cut_tets`."""
    vertices, triangles = floats(vertices, -1, 3), indices(triangles, -1, 3)
    corner = vertices[triangles]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    number = np.flatnonzero(area > 0.0)
    size = float(np.ptp(np.concatenate([positions, vertices]), axis=0).max())
    tet, triangle = triangle_tet_pairs(positions, tets, vertices, triangles[number], TOUCH_SLACK * size)
    touched = indices(np.unique(tet))
    whole = make_tet_complex(nodes, tets[touched])
    positioned = PositionedTets(whole.tets, positions)
    cells = with_room(whole_tets(whole, positions), ROOM)
    planes = make_cutter_planes(vertices, triangles[number])
    cells = insert_triangles(cells, planes, positioned, triangle, indices(np.searchsorted(touched, tet)))
    source = cells.face_source[: cells.used[FACES]]
    source[source != OPEN] = number[source[source != OPEN]]
    cells = with_room(cells)
    return DividedTets(touched, whole, planes, cells, material_parts(cells, positioned))


def with_open_faces(divided: DividedTets, faces: Indices, positions: Floats) -> DividedTets:
    """Returns the same cells with some faces open, which no triangle is said to cover any more.

    Args:
        divided: Not changed.
        faces: Of its cells.
        positions: Of the nodes [m], (n, 3).
    """
    source = divided.cells.face_source.copy()
    source[faces] = OPEN
    cells = divided.cells._replace(face_source=source)
    return replace(divided, cells=cells, parts=material_parts(cells, PositionedTets(divided.whole.tets, positions)))
