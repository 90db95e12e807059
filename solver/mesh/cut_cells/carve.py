# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a body out of tets along its closed surface, and cuts the body: tets for every part, and its closed surfaces.

Parts of the surface that come close share tets of the mesh; here each gets copies of its own, so lips, fingers and
thighs move apart. Where the surface overlaps itself, what it winds around at least once is material.

Source: Sifakis (2007), Simulation and Control of Human Anatomy, section 7.4: the cutting algorithm as a mesher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices, floats, indices
from ..cut_tets import CutTets
from ..geometry.connected_components import mesh_components
from .cut import divide_tets, with_open_faces
from .join_copies import face_contacts, join_copies, tet_copies
from .material_windings import copy_windings
from .piece_surfaces import PieceSurfaces, piece_surfaces


@dataclass(frozen=True, eq=False)
class CarvedTets:
    """A body that has been cut out of tets.

    Attributes:
        tets: Its tets; some of the tets before may have no copy.
        volume: Volume of the material in each [m³], (k,).
        piece: Its piece, what nodes hang together, (k,).
        surfaces: Of the material; `copy` numbers the tets.
        surface_piece: The piece of each polygon, (p,).
    """

    tets: CutTets
    volume: Floats
    piece: Indices
    surfaces: PieceSurfaces
    surface_piece: Indices


def carve_tets(
    nodes: Floats, tets: Indices, surface: tuple[Floats, Indices], cutter: tuple[Floats, Indices]
) -> CarvedTets:
    """Returns what a closed surface encloses, cut by triangles.

    Args:
        nodes: Rest positions [m], (n, 3).
        tets: Tets that hold the surface, (m, 4).
        surface: Vertices [m], (v, 3), and triangles, outward, (t, 3).
        cutter: The same of what cuts, which may be open, and cross itself.
    """
    nodes, tets = floats(nodes, -1, 3), indices(tets, -1, 4)
    vertices, triangles = floats(surface[0], -1, 3), indices(surface[1], -1, 3)
    blades = indices(cutter[1], -1, 3) + np.int32(len(vertices))
    divided = divide_tets(
        nodes,
        tets,
        nodes,
        np.concatenate([vertices, floats(cutter[0], -1, 3)]),
        np.concatenate([triangles, blades]),
    )
    all_tets = np.ones(len(tets), np.bool_)
    copies = tet_copies(len(tets), divided)
    contacts = face_contacts(tets, all_tets, divided, copies)
    kept = copy_windings(tets, nodes, (vertices, triangles), divided, copies, contacts) > 0
    within = (contacts.source >= 0) & (contacts.source < len(triangles))
    within &= kept[contacts.inside] & kept[contacts.outside]
    if within.any():  # the surface overlaps itself there, and material goes on across it
        of_cell = kept[copies.of_part[divided.parts.part]]
        divided = with_open_faces(divided, contacts.face[within], nodes)
        first_cell = np.unique(divided.parts.part, return_index=True)[1]
        is_whole = kept[copies.first]
        copies = tet_copies(len(tets), divided)
        kept = is_whole[copies.parent]
        kept[copies.of_part] = of_cell[first_cell]
        contacts = face_contacts(tets, all_tets, divided, copies)
    together = join_copies(tets, np.ones(len(nodes), np.bool_), copies, contacts, kept)
    corner = nodes[tets[together.parent]]
    size = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6.0
    piece = mesh_components(together.tets, len(together.origin))[together.tets[:, 0]]
    piece = indices(np.unique(piece, return_inverse=True)[1].ravel())
    surfaces = piece_surfaces(tets, divided, copies, kept)
    number = np.cumsum(kept, dtype=np.int64) - 1
    surfaces = PieceSurfaces(**{**vars(surfaces), "copy": indices(number[surfaces.copy])})
    return CarvedTets(together, size * copies.fraction[kept], piece, surfaces, piece[surfaces.copy])
